"""What every layer knows: the shape it makes, what it costs, how it is built."""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

from gnomon.core.errors import DataError, nearest

Shape = tuple[int, ...]  # without the row: (channels, height, width), (channels, length) or (features,)
TRIED = 10_000  # strides and paddings, to name one that fits
ROUNDINGS = ("strict", "floor", "ceil")


class Cost(NamedTuple):
    """What one layer costs for one row."""

    activations: int = 0  # numbers that must be kept for the backward pass
    weights: int = 0
    biases: int = 0
    multiply_adds: int = 0

    def __add__(self, other: Any) -> Cost:
        return Cost(*(a + b for a, b in zip(self, other)))


class Layer:
    """A building block: settings only, no weights."""

    kind: ClassVar[str] = "layer"
    is_norm: ClassVar[bool] = False
    window: tuple[int, int] | None = (1, 1)  # size and stride; None: sees everything

    def shape(self, before: Shape) -> Shape:
        """Return the shape after the layer."""
        return before

    def cost(self, before: Shape) -> Cost:
        """Return what the layer costs after this shape."""
        return Cost()

    def build(self, before: Shape) -> Any:
        """Return the torch module that goes after this shape."""
        raise NotImplementedError

    def parameters(self, before: Shape) -> int:
        """Return the number of weights and biases."""
        found = self.cost(before)
        return found.weights + found.biases

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({inside})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(repr(self))


def output_size(n: int, size: int, stride: int = 1, padding: int = 0, rounding: str = "strict") -> int:
    """Return how many places a window of `size` takes on `n` entries: (n − size + 2·padding)/stride + 1.

    Parameters
    ----------
    n, size, stride, padding : int
        Entries of the side, of the window, steps between windows, zeros put at both ends.
    rounding : {"strict", "floor", "ceil"}, default="strict"
        What to do with a rest: refuse, leave it out, or let the last window stick out.

    Examples
    --------
    >>> output_size(7, 3), output_size(7, 3, 2), output_size(7, 3, 1, padding=1)
    (5, 3, 7)
    >>> output_size(224, 7, 2, 3, "floor"), output_size(112, 3, 2, 0, "ceil")
    (112, 56)
    """
    if rounding not in ROUNDINGS:
        raise ValueError(
            f"rounding must be one of {ROUNDINGS}; got {rounding!r}.{nearest(rounding, ROUNDINGS)}"
        )
    if min(size, stride) < 1 or padding < 0:
        raise ValueError(
            f"size and stride must be at least 1 and padding not negative; got {size}, {stride}, {padding}."
        )
    span = n + 2 * padding - size
    if span < 0:
        raise DataError(
            f"a window of {size} is larger than the input: {n} entries and {padding} zeros at each end."
        )
    if span % stride and rounding == "strict":
        raise DataError(
            f"(n - size + 2*padding)/stride + 1 = ({n} - {size} + 2*{padding})/{stride} + 1 = "
            f"{span / stride + 1:.2f} is no whole number. {_cure(n, size, stride, padding)}, or rounding='floor'."
        )
    places = math.ceil(span / stride) if rounding == "ceil" else span // stride
    if rounding == "ceil" and places * stride >= n + padding:
        places -= 1  # a window must begin on the input
    return places + 1


def _cure(n: int, size: int, stride: int, padding: int) -> str:
    """Return what to do; only so many settings are tried, for a file may ask for any stride."""
    span = n + 2 * padding - size
    tried = range(min(stride, span), 0, -1)[:TRIED]
    fitting = next((s for s in tried if span % s == 0), 1)
    paddings = range(padding + 1, padding + stride + size)[:TRIED]
    wider = next((p for p in paddings if (n + 2 * p - size) % stride == 0), None)
    also = f" or padding={wider}" if wider is not None else ""
    return f"Use stride={fitting}{also}"


def channels_and_sides(before: Shape, dims: int, layer: Any) -> tuple[int, tuple[int, ...]]:
    """Return channels and sides of an input, or say that the layer does not go there."""
    if len(before) != dims + 1:
        words = {1: "signals (channels, length)", 2: "images (channels, height, width)"}
        raise DataError(f"{type(layer).__name__} goes after {words[dims]}; what comes in has shape {before}.")
    return before[0], before[1:]
