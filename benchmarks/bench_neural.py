"""Networks against scikit-learn and a hand-written PyTorch loop: the same steps from starts of the same kind."""

from __future__ import annotations

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
        data=lambda: digits_like(10_000),
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
        "ConvNetClassifier lenet5 n=4000 28x28, 2 epochs",
        data=pictures,
        ours=our_lenet,
        peers={"torch (loop)": loop_lenet},
        goal=0.95,
    ),
    Case("describe five architectures", data=lambda: None, ours=accounts),
]
