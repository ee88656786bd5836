"""Training steps of our networks and of hand-written PyTorch loops, both with the data on the device.

    PYTHONPATH=src python benchmarks/gpu_neural.py            # on a machine with a GPU
    PYTHONPATH=src python benchmarks/gpu_neural.py --tiny     # a trial on the CPU, in seconds

Needs torch, NumPy, SciPy, scikit-learn with what it brings (joblib, threadpoolctl, narwhals), pandas or not; neither
numba nor matplotlib is imported. One line a case: milliseconds a step of both, medians over epochs that take turns,
and ours over theirs; the bar is 1.10. The loops have fused optimizers, cuDNN's search for the fastest kernels, and
no wait for the device within an epoch.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
import traceback
import warnings

import numpy as np
import torch
from torch import nn

from gnomon.neural import ConvNetClassifier, RecurrentClassifier, RecurrentLanguageModel

BAR = 1.10


def lenet(classes):
    """LeNet-5 for 28×28 images: padding to 32×32 and tanh units."""
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2),
        nn.Conv2d(16, 120, 5), nn.Tanh(), nn.Flatten(), nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, classes),
    )  # fmt: skip


class Block(nn.Module):
    """Two 3×3 convolutions and a shortcut."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU(),
            nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after),
        )  # fmt: skip
        self.shortcut = nn.Identity()
        if stride != 1 or before != after:
            self.shortcut = nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)
            )

    def forward(self, x):
        return nn.functional.relu(self.body(x) + self.shortcut(x))


def resnet18(classes):
    """ResNet-18 for images of any size."""
    parts = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    before = 64
    for after in (64, 128, 256, 512):
        parts += [Block(before, after, 1 if after == 64 else 2), Block(after, after, 1)]
        before = after
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, classes))


class LastState(nn.Module):
    """An LSTM whose last state is read."""

    def __init__(self, width, m, classes):
        super().__init__()
        self.cells, self.output = nn.LSTM(width, m, batch_first=True), nn.Linear(m, classes)

    def forward(self, x):
        return self.output(self.cells(x)[0][:, -1])


class NextWord(nn.Module):
    """An LSTM over word vectors that predicts the next word at every place."""

    def __init__(self, words, m):
        super().__init__()
        self.vectors = nn.Embedding(words, m)
        self.cells, self.output = nn.LSTM(m, m, bias=False, batch_first=True), nn.Linear(m, words, bias=False)

    def forward(self, x):
        return self.output(self.cells(self.vectors(x))[0]).flatten(0, 1)


def loop_epochs(module, X, y, batch, epochs, device, *, adam, clip, mixed):
    """Seconds of every epoch of a hand-written loop."""
    module = module.to(device)
    X, y = torch.as_tensor(X, device=device), torch.as_tensor(y, device=device)
    if adam:
        optimizer = torch.optim.Adam(module.parameters(), lr=1e-2, fused=True)
    else:
        optimizer = torch.optim.SGD(module.parameters(), lr=1e-2, momentum=0.9, weight_decay=5e-4, fused=True)
    seconds = []
    for _ in range(epochs):
        begin, losses = time.perf_counter(), []
        for rows in torch.randperm(len(X), device=device).split(batch):
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(device, torch.bfloat16) if mixed else contextlib.nullcontext():
                loss = nn.functional.cross_entropy(module(X[rows]), y[rows].flatten())
            loss.backward()
            if clip:
                nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.detach())
        float(torch.stack(losses).mean())  # waits for the device
        seconds.append(time.perf_counter() - begin)
    return seconds


def our_epochs(model, X, y):
    """Seconds of every epoch of one of our estimators."""
    fitted = model.fit(X) if y is None else model.fit(X, y)
    return np.diff(fitted.trace_.seconds, prepend=0.0).tolist()


def cases(tiny, device, epochs):
    """Yield name, batch, steps an epoch, our estimator and its data, the loop's module, data and options."""
    rng = np.random.default_rng(0)
    common = {"device": device, "max_iter": epochs, "early_stopping": False, "tol": 0.0, "n_iter_no_change": 10**6,
              "learning_rate": "constant", "learning_rate_init": 1e-2, "random_state": 0}  # fmt: skip

    def images(n, *shape):
        return rng.normal(size=(n, *shape)).astype(np.float32), np.arange(n) % 10

    n, batch = (32, 16) if tiny else (60_000, 128)
    X, y = images(n, 1, 28, 28)
    yield ("LeNet 28x28", batch, n, lambda p: ConvNetClassifier("lenet5", batch_size=batch, precision=p, **common),
           (X, y), lambda: lenet(10), (X, y), {"adam": False, "clip": False})  # fmt: skip

    n, batch, side = (8, 4, 32) if tiny else (4096, 128, 224)
    X, y = images(n, 3, side, side)
    yield (f"ResNet-18 {side}x{side}", batch, n,
           lambda p: ConvNetClassifier("resnet18", batch_size=batch, precision=p, **common),
           (X, y), lambda: resnet18(10), (X, y), {"adam": False, "clip": False})  # fmt: skip

    n, batch, T, d, m = (64, 16, 10, 8, 16) if tiny else (16_384, 128, 100, 64, 256)
    X, y = images(n, T, d)
    yield (f"LSTM {m}, {T} steps of {d}", batch, n,
           lambda p: RecurrentClassifier("lstm", m, batch_size=batch, clip_norm=1.0, precision=p, **common),
           (list(X), y), lambda: LastState(d, m, 10), (X, y), {"adam": True, "clip": True})  # fmt: skip

    n, batch, T, words, m = (64, 16, 10, 20, 16) if tiny else (8192, 128, 64, 2000, 256)
    W = rng.integers(1, words, size=(n, T - 1))
    codes = np.concatenate([np.zeros((n, 1), np.int64), W, np.zeros((n, 1), np.int64)], axis=1)
    yield (f"LSTM language {m}, {T} words of {words}", batch, n,
           lambda p: RecurrentLanguageModel("lstm", m, batch_size=batch, precision=p, **common),
           (W.tolist(), None), lambda: NextWord(words, m), (codes[:, :-1], codes[:, 1:]),
           {"adam": True, "clip": False})  # fmt: skip


def compare(case, rounds, epochs, device, precision):
    """Return milliseconds a step, ours and theirs: medians without each round's first epoch."""
    _, batch, n, ours, our_data, theirs, their_data, options = case
    steps, mine, loop = -(-n // batch), [], []
    for _ in range(rounds):
        mine += our_epochs(ours(precision), *our_data)[1:]
        loop += loop_epochs(
            theirs(), *their_data, batch, epochs, device, mixed=precision == "mixed", **options
        )[1:]
    return [1000 * statistics.median(part) / steps for part in (mine, loop)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes on the CPU")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=4, help="of every round; the first is not counted")
    given = parser.parse_args()
    if given.tiny:
        torch.set_num_threads(1)
        given.rounds, given.epochs = 1, 2
    device = "cpu" if given.tiny or not torch.cuda.is_available() else "cuda"
    warnings.simplefilter("ignore")
    torch.backends.cudnn.benchmark = True
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    print(f"{name}, torch {torch.__version__}, {given.rounds} rounds of {given.epochs} epochs")
    print(f"{'case':<40}{'precision':>10}{'ours ms':>10}{'loop ms':>10}{'ours/loop':>11}")
    for case in cases(given.tiny, device, given.epochs):
        for precision in ("float32", "mixed"):
            try:
                mine, loop = compare(case, given.rounds, given.epochs, device, precision)
            except Exception:
                print(f"{case[0]:<40}{precision:>10}   failed\n{traceback.format_exc(limit=-4)}")
                continue
            word = "" if mine <= BAR * loop else "  over the bar"
            print(
                f"{case[0]:<40}{precision:>10}{mine:>10.3f}{loop:>10.3f}{mine / loop:>11.3f}{word}",
                flush=True,
            )


if __name__ == "__main__":
    main()
