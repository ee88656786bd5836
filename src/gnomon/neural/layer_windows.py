"""Layers that slide a window over a sequence or an image: convolutions and pools."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from gnomon.core.devices import import_torch
from gnomon.core.errors import DataError
from gnomon.neural.layer_base import Cost, Layer, Shape, channels_and_sides, output_size


class Conv1d(Layer):
    """Filters over a signal: f_i = Σ_j x_{i+j−⌊k/2⌋−1} w_j + b with padding="same"; a correlation, no flip.

    >>> Conv1d(4, 3, stride=2).shape((1, 5))
    (4, 3)
    """

    kind: ClassVar[str] = "conv"

    def __init__(
        self, filters: int, size: int, stride: int = 1, padding: Any = "same", rounding: str = "strict"
    ) -> None:
        self.filters, self.size, self.stride, self.padding = int(filters), int(size), int(stride), padding
        self.rounding = rounding

    @property
    def window(self) -> tuple[int, int]:  # type: ignore[override]
        return self.size, self.stride

    def shape(self, before: Shape) -> Shape:
        _, (n,) = channels_and_sides(before, 1, self)
        if self.padding == "same":
            return self.filters, -(-n // self.stride)
        return self.filters, output_size(n, self.size, self.stride, self.padding, self.rounding)

    def cost(self, before: Shape) -> Cost:
        after = self.shape(before)
        weights = self.size * before[0] * self.filters
        return Cost(math.prod(after), weights, self.filters, weights * after[1])

    def build(self, before: Shape) -> Any:
        nn = import_torch().nn
        pad = 0 if self.padding == "same" else self.padding
        conv = nn.Conv1d(before[0], self.filters, self.size, self.stride, pad)
        if self.padding != "same":
            return conv
        left = self.size // 2
        return nn.Sequential(nn.ConstantPad1d((left, self.size - 1 - left), 0.0), conv)


class Conv2d(Layer):
    """Filters over an image, spanning all its channels; a correlation, no flip.

    Each side becomes (n − size + 2·padding)/stride + 1; a filter has size²·channels weights and one bias.
    ``size=1`` is a
    dense layer for every pixel.

    >>> Conv2d(10, 5, padding=2).shape((3, 32, 32)), Conv2d(10, 5, padding=2).parameters((3, 32, 32))
    ((10, 32, 32), 760)
    """

    kind: ClassVar[str] = "conv"

    def __init__(
        self, filters: int, size: int, stride: int = 1, padding: Any = 0, groups: int = 1, bias: bool = True,
        rounding: str = "strict",
    ) -> None:  # fmt: skip
        self.filters, self.size, self.stride, self.padding = int(filters), int(size), int(stride), padding
        self.groups, self.bias, self.rounding = int(groups), bool(bias), rounding

    @property
    def window(self) -> tuple[int, int]:  # type: ignore[override]
        return self.size, self.stride

    def _pad(self) -> int:
        if self.padding != "same":
            return int(self.padding)
        if self.size % 2 == 0 or self.stride != 1:
            raise DataError(
                f"padding='same' needs an odd size and stride 1; got size={self.size}, stride={self.stride}. "
                "Give the padding as a number."
            )
        return (self.size - 1) // 2

    def shape(self, before: Shape) -> Shape:
        channels, sides = channels_and_sides(before, 2, self)
        if channels % self.groups or self.filters % self.groups:
            raise DataError(
                f"groups={self.groups} must divide the {channels} channels and the {self.filters} filters."
            )
        pad = self._pad()
        return (self.filters, *(output_size(n, self.size, self.stride, pad, self.rounding) for n in sides))

    def cost(self, before: Shape) -> Cost:
        after = self.shape(before)
        weights = self.size**2 * before[0] // self.groups * self.filters
        return Cost(math.prod(after), weights, self.filters * self.bias, weights * after[1] * after[2])

    def build(self, before: Shape) -> Any:
        nn = import_torch().nn
        return nn.Conv2d(
            before[0], self.filters, self.size, self.stride, self._pad(), groups=self.groups, bias=self.bias
        )


class _Pool(Layer):
    kind: ClassVar[str] = "pool"

    def __init__(
        self,
        size: int,
        stride: int | None = None,
        padding: int = 0,
        rounding: str = "strict",
        align: str = "valid",
    ) -> None:
        self.size, self.stride, self.padding = int(size), int(stride or size), int(padding)
        self.rounding, self.align = rounding, align
        if align not in ("valid", "centered"):
            raise ValueError(f"align must be 'valid' or 'centered'; got {align!r}.")

    @property
    def window(self) -> tuple[int, int]:  # type: ignore[override]
        return self.size, self.stride

    def shape(self, before: Shape) -> Shape:
        if len(before) not in (2, 3):
            raise DataError(
                f"{type(self).__name__} goes after signals or images; what comes in has shape {before}."
            )
        if self.align == "centered":
            return (before[0], *(-(-n // self.stride) for n in before[1:]))
        places = (output_size(n, self.size, self.stride, self.padding, self.rounding) for n in before[1:])
        return (before[0], *places)

    def cost(self, before: Shape) -> Cost:
        return Cost(activations=math.prod(self.shape(before)))


class MaxPool(_Pool):
    """The largest of every window, channel by channel.

    ``rounding="ceil"`` counts a window that sticks out; ``align="centered"`` lays a window around every
    `stride`-th place and cuts
    it at the border.

    >>> MaxPool(3, 2, rounding="ceil").shape((64, 112, 112))
    (64, 56, 56)
    """

    def build(self, before: Shape) -> Any:
        from gnomon.neural.torch_parts import CenteredMax

        nn = import_torch().nn
        if self.align == "centered":
            return CenteredMax(self.size, self.stride, len(before) - 1)
        pool = nn.MaxPool2d if len(before) == 3 else nn.MaxPool1d
        return pool(self.size, self.stride, self.padding, ceil_mode=self.rounding == "ceil")


class AvgPool(_Pool):
    """The mean of every window, channel by channel.

    >>> AvgPool(2).shape((6, 28, 28))
    (6, 14, 14)
    """

    def build(self, before: Shape) -> Any:
        nn = import_torch().nn
        if self.align == "centered":
            raise ValueError("AvgPool has no align='centered'; use MaxPool.")
        pool = nn.AvgPool2d if len(before) == 3 else nn.AvgPool1d
        return pool(self.size, self.stride, self.padding, ceil_mode=self.rounding == "ceil")


class GlobalAvgPool(Layer):
    """The mean of every channel.

    >>> GlobalAvgPool().shape((512, 7, 7))
    (512,)
    """

    kind: ClassVar[str] = "pool"
    window = None

    def shape(self, before: Shape) -> Shape:
        return (before[0],)

    def cost(self, before: Shape) -> Cost:
        return Cost(activations=before[0])

    def build(self, before: Shape) -> Any:
        nn = import_torch().nn
        pool = nn.AdaptiveAvgPool2d(1) if len(before) == 3 else nn.AdaptiveAvgPool1d(1)
        return nn.Sequential(pool, nn.Flatten())
