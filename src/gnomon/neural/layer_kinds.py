"""Layers: settings that know the shape they make, their weights, and how PyTorch builds them.

A list of them is a network: ``[Conv2d(6, 5), Activation("relu"), MaxPool(2), Flatten(), Dense(10)]``.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from gnomon.core.devices import import_torch
from gnomon.neural.functions import Activation
from gnomon.neural.layer_base import Cost, Layer, Shape, channels_and_sides
from gnomon.neural.layer_windows import AvgPool, Conv1d, Conv2d, GlobalAvgPool, MaxPool

__all__ = [
    "Activation", "AvgPool", "BatchNorm", "Conv1d", "Conv2d", "Dense", "Dropout", "Flatten", "GlobalAvgPool",
    "Inception", "LocalResponseNorm", "MaxPool", "Maxout", "Residual",
]  # fmt: skip


class Dense(Layer):
    """Fully connected layer xW + b of `n` units; an input with sides is flattened first.

    >>> Dense(10).parameters((120,))
    1210
    """

    kind: ClassVar[str] = "dense"
    window = None

    def __init__(self, n: int) -> None:
        self.n = int(n)

    def shape(self, before: Shape) -> Shape:
        return (self.n,)

    def cost(self, before: Shape) -> Cost:
        weights = math.prod(before) * self.n
        return Cost(self.n, weights, self.n, weights)

    def build(self, before: Shape) -> Any:
        nn = import_torch().nn
        dense = nn.Linear(math.prod(before), self.n)
        return dense if len(before) == 1 else nn.Sequential(nn.Flatten(), dense)


class Maxout(Layer):
    """`n` units, each the largest of `pieces` linear forms with weights of their own (Goodfellow et al., 2013).

    >>> Maxout(3, pieces=2).parameters((5,))
    36
    """

    kind: ClassVar[str] = "maxout"
    window = None

    def __init__(self, n: int, pieces: int = 2) -> None:
        self.n, self.pieces = int(n), int(pieces)

    def shape(self, before: Shape) -> Shape:
        return (self.n,)

    def cost(self, before: Shape) -> Cost:
        weights = math.prod(before) * self.n * self.pieces
        return Cost(self.n, weights, self.n * self.pieces, weights)

    def build(self, before: Shape) -> Any:
        from gnomon.neural.torch_parts import Largest

        nn = import_torch().nn
        return nn.Sequential(
            nn.Flatten(), nn.Linear(math.prod(before), self.n * self.pieces), Largest(self.pieces)
        )


class LocalResponseNorm(Layer):
    """b_i = a_i/(k + α Σ_j a_j²)^β over the n nearest channels, cut at the ends (Krizhevsky et al., 2012)."""

    kind: ClassVar[str] = "norm"
    is_norm: ClassVar[bool] = True

    def __init__(self, n: int = 5, k: float = 2.0, alpha: float = 1e-4, beta: float = 0.75) -> None:
        self.n, self.k, self.alpha, self.beta = int(n), k, alpha, beta

    def build(self, before: Shape) -> Any:
        return import_torch().nn.LocalResponseNorm(
            self.n, self.alpha * self.n, self.beta, self.k
        )  # torch divides by n


class BatchNorm(Layer):
    """Standardize every channel over the batch, then scale and shift it (Ioffe and Szegedy, 2015)."""

    kind: ClassVar[str] = "norm"
    is_norm: ClassVar[bool] = True

    def cost(self, before: Shape) -> Cost:
        return Cost(weights=before[0], biases=before[0])

    def build(self, before: Shape) -> Any:
        nn = import_torch().nn
        return {1: nn.BatchNorm1d, 2: nn.BatchNorm1d, 3: nn.BatchNorm2d}[len(before)](before[0])


class Dropout(Layer):
    """Set entries to zero with probability p while training, and multiply the rest by 1/(1−p)."""

    kind: ClassVar[str] = "dropout"

    def __init__(self, p: float = 0.5) -> None:
        if not 0.0 <= p < 1.0:
            raise ValueError(f"dropout must be at least 0 and below 1; got {p}.")
        self.p = float(p)

    def build(self, before: Shape) -> Any:
        return import_torch().nn.Dropout(self.p)


class Flatten(Layer):
    """All entries in one row."""

    kind: ClassVar[str] = "flatten"
    window = None

    def shape(self, before: Shape) -> Shape:
        return (math.prod(before),)

    def build(self, before: Shape) -> Any:
        return import_torch().nn.Flatten()


class Inception(Layer):
    """Four branches side by side: 1×1; 1×1 → 3×3; 1×1 → 5×5; 3×3 max pool → 1×1 (Szegedy et al., 2015).

    >>> (
    ...     Inception(64, 96, 128, 16, 32, 32).shape((192, 28, 28)),
    ...     Inception(64, 96, 128, 16, 32, 32).cost((192, 28, 28)).weights,
    ... )
    ((256, 28, 28), 163328)
    """

    kind: ClassVar[str] = "inception"
    window = (5, 1)

    def __init__(self, c1: int, r3: int, c3: int, r5: int, c5: int, pool: int) -> None:
        self.c1, self.r3, self.c3, self.r5, self.c5, self.pool = c1, r3, c3, r5, c5, pool

    def branches(self) -> list[list[Layer]]:
        """Return the four stacks."""
        f = Activation("relu")
        return [
            [Conv2d(self.c1, 1), f],
            [Conv2d(self.r3, 1), f, Conv2d(self.c3, 3, padding=1), f],
            [Conv2d(self.r5, 1), f, Conv2d(self.c5, 5, padding=2), f],
            [MaxPool(3, 1, 1), Conv2d(self.pool, 1), f],
        ]

    def shape(self, before: Shape) -> Shape:
        channels_and_sides(before, 2, self)
        return (self.c1 + self.c3 + self.c5 + self.pool, *before[1:])

    def cost(self, before: Shape) -> Cost:
        return sum((stack_cost(branch, before) for branch in self.branches()), Cost())

    def build(self, before: Shape) -> Any:
        from gnomon.neural.torch_parts import SideBySide

        return SideBySide([build_stack(branch, before) for branch in self.branches()])


class Residual(Layer):
    """y = f(body(x) + x): the body learns what is to be added (He et al., 2016).

    Where the body changes the shape, the way around it is a 1×1 convolution with a batch norm
    (``shortcut="auto"``) or takes
    every second pixel and fills up with channels of zeros (``"pad"``).

    >>> Residual([Dense(3)]).shape((3,))
    (3,)
    """

    kind: ClassVar[str] = "residual"

    def __init__(self, body: list[Layer], shortcut: str = "auto", activation: str = "relu") -> None:
        if shortcut not in ("auto", "pad"):
            raise ValueError(f"shortcut must be 'auto' or 'pad'; got {shortcut!r}.")
        self.body, self.shortcut, self.activation = list(body), shortcut, activation

    @property
    def window(self) -> tuple[int, int]:  # type: ignore[override]
        field, jump = 1, 1
        for layer in self.body:
            size, stride = layer.window or (1, 1)
            field, jump = field + (size - 1) * jump, jump * stride
        return field, jump

    def shape(self, before: Shape) -> Shape:
        after = before
        for layer in self.body:
            after = layer.shape(after)
        return after

    def _projection(self, before: Shape) -> list[Layer]:
        after = self.shape(before)
        if after == before or self.shortcut == "pad":
            return []
        stride = -(-before[1] // after[1]) if len(after) == 3 else 1
        if len(after) == 1:
            return [Dense(after[0])]
        return [Conv2d(after[0], 1, stride, bias=False, rounding="floor"), BatchNorm()]

    def cost(self, before: Shape) -> Cost:
        return stack_cost(self.body, before) + stack_cost(self._projection(before), before)

    def build(self, before: Shape) -> Any:
        from gnomon.neural.torch_parts import Around, PadChannels, activation_module

        nn, after = import_torch().nn, self.shape(before)
        if after == before:
            way = nn.Identity()
        elif self.shortcut == "pad":
            way = PadChannels(before[1] // after[1], after[0] - before[0])
        else:
            way = build_stack(self._projection(before), before)
        return Around(build_stack(self.body, before), way, activation_module(self.activation))


def stack_cost(layers: list[Layer], before: Shape) -> Cost:
    """Return the summed cost of layers one after the other."""
    found = Cost()
    for layer in layers:
        found, before = found + layer.cost(before), layer.shape(before)
    return found


def build_stack(layers: list[Layer], before: Shape) -> Any:
    """Return the torch modules of layers one after the other."""
    modules = []
    for layer in layers:
        modules.append(layer.build(before))
        before = layer.shape(before)
    return import_torch().nn.Sequential(*modules)
