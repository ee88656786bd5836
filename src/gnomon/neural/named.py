"""Networks with a name: LeNet-5, AlexNet, ZFNet, VGG, GoogLeNet, ResNet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from gnomon.core.devices import import_torch
from gnomon.core.errors import DataError, nearest
from gnomon.neural.functions import Activation
from gnomon.neural.layer_base import Cost, Layer, Shape, channels_and_sides
from gnomon.neural.layer_kinds import (
    AvgPool,
    BatchNorm,
    Conv2d,
    Dense,
    Dropout,
    Flatten,
    GlobalAvgPool,
    Inception,
    LocalResponseNorm,
    MaxPool,
    Residual,
)
from gnomon.neural.network import Network

RELU = Activation("relu")
RECIPE = {
    "solver": "sgd", "batch_size": 128, "momentum": 0.9, "learning_rate_init": 1e-2, "learning_rate": "plateau",
    "weight_decay": 5e-4,
}  # fmt: skip
VGG = {
    "A": "64 M 128 M 256 256 M 512 512 M 512 512 M",
    "A-LRN": "64 N M 128 M 256 256 M 512 512 M 512 512 M",
    "B": "64 64 M 128 128 M 256 256 M 512 512 M 512 512 M",
    "C": "64 64 M 128 128 M 256 256 256/1 M 512 512 512/1 M 512 512 512/1 M",
    "D": "64 64 M 128 128 M 256 256 256 M 512 512 512 M 512 512 512 M",
    "E": "64 64 M 128 128 M 256 256 256 256 M 512 512 512 512 M 512 512 512 512 M",
}
MODULES = {
    "3a": (64, 96, 128, 16, 32, 32),
    "3b": (128, 128, 192, 32, 96, 64),
    "4a": (192, 96, 208, 16, 48, 64),
    "4b": (160, 112, 224, 24, 64, 64),
    "4c": (128, 128, 256, 24, 64, 64),
    "4d": (112, 144, 288, 32, 64, 64),
    "4e": (256, 160, 320, 32, 128, 128),
    "5a": (256, 160, 320, 32, 128, 128),
    "5b": (384, 192, 384, 48, 128, 128),
}
STAGES = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
SMALL = (20, 32, 44, 56)  # residual networks for images of 32×32
TABLE = (  # which of the 6 maps each of LeNet's 16 filters sees (LeCun et al., 1998, table 1)
    "012 123 234 345 045 015 0123 1234 2345 0345 0145 0125 0134 1245 0235 012345"
)


class TableConv(Layer):
    """LeNet-5's third layer: 5×5 filters that each see some of the six maps."""

    kind: ClassVar[str] = "conv"
    window = (5, 1)

    def _table(self) -> Any:
        table = np.zeros((16, 6))
        for row, maps in zip(table, TABLE.split()):
            row[[int(one) for one in maps]] = 1.0
        return table

    def shape(self, before: Shape) -> Shape:
        _, sides = channels_and_sides(before, 2, self)
        return (16, *(n - 4 for n in sides))

    def cost(self, before: Shape) -> Cost:
        after, weights = self.shape(before), int(self._table().sum()) * 25
        return Cost(int(np.prod(after)), weights, 16, weights * after[1] * after[2])

    def build(self, before: Shape) -> Any:
        from gnomon.neural.torch_parts import SparseConv

        return SparseConv(import_torch().nn.Conv2d(6, 16, 5), self._table())


def _dense_head(n_classes: int, dropout: float = 0.5) -> list[Layer]:
    drop = [Dropout(dropout)] if dropout else []
    return [Flatten(), *drop, Dense(4096), RELU, *drop, Dense(4096), RELU, Dense(n_classes)]


def lenet5(n_classes: int = 10, input_shape: Sequence[int] = (1, 32, 32), *, pool: str = "average",
           sparse_c3: bool = False, activation: str = "tanh") -> Network:  # fmt: skip
    """LeNet-5 (LeCun et al., 1998); on 28×28 images the first layer pads by 2."""
    f, down = Activation(activation), (AvgPool if pool == "average" else MaxPool)(2)
    pad = 2 if tuple(input_shape)[1:] == (28, 28) else 0
    second: Layer = TableConv() if sparse_c3 else Conv2d(16, 5)
    layers = [
        Conv2d(6, 5, padding=pad), f, down, second, f, down, Conv2d(120, 5), f, Flatten(), Dense(84), f,
        Dense(n_classes),
    ]  # fmt: skip
    recipe = {"solver": "sgd", "batch_size": 128, "learning_rate_init": 0.01}
    return Network(layers, input_shape, name="lenet5", recipe=recipe)


def alexnet(n_classes: int = 1000, input_shape: Sequence[int] = (3, 227, 227), *, groups: int = 1,
            norm: str = "after_pool", dropout: float = 0.5) -> Network:  # fmt: skip
    """AlexNet (Krizhevsky, Sutskever and Hinton, 2012)."""
    pool, lrn = MaxPool(3, 2), LocalResponseNorm()
    block = [lrn, pool] if norm == "before_pool" else [pool, lrn]
    layers = [
        Conv2d(96, 11, 4), RELU, *block, Conv2d(256, 5, padding=2, groups=groups), RELU, *block,
        Conv2d(384, 3, padding=1), RELU, Conv2d(384, 3, padding=1, groups=groups), RELU,
        Conv2d(256, 3, padding=1, groups=groups), RELU, MaxPool(3, 2), *_dense_head(n_classes, dropout),
    ]  # fmt: skip
    return Network(
        layers, input_shape, name="alexnet", recipe={**RECIPE, "ensemble": 7, "dropout": 0.5},
        top5_error={"single": 18.2, "ensemble of 7": 15.4},
    )  # fmt: skip


def zfnet(n_classes: int = 1000, input_shape: Sequence[int] = (3, 224, 224)) -> Network:
    """ZFNet (Zeiler and Fergus, 2014)."""
    low = {"rounding": "floor"}
    pool = MaxPool(3, 2, 1, **low)
    layers = [
        Conv2d(96, 7, 2, 1, **low), RELU, pool, LocalResponseNorm(), Conv2d(256, 5, 2, **low), RELU, pool,
        LocalResponseNorm(), Conv2d(512, 3, padding=1), RELU, Conv2d(1024, 3, padding=1), RELU,
        Conv2d(512, 3, padding=1), RELU, MaxPool(3, 2, **low), *_dense_head(n_classes),
    ]  # fmt: skip
    return Network(layers, input_shape, name="zfnet", recipe=RECIPE, top5_error={"ensemble": 14.8})


def vgg(n_classes: int = 1000, input_shape: Sequence[int] = (3, 224, 224), *, config: str = "D") -> Network:
    """VGG (Simonyan and Zisserman, 2015); configurations A, A-LRN, B, C, D (16 layers) and E (19)."""
    if config not in VGG:
        raise ValueError(f"config must be one of {sorted(VGG)}; got {config!r}.")
    layers: list[Layer] = []
    for word in VGG[config].split():
        if word == "M":
            layers.append(MaxPool(2))
        elif word == "N":
            layers.append(LocalResponseNorm())
        else:
            filters, _, size = word.partition("/")
            layers += [Conv2d(int(filters), int(size or 3), padding=0 if size else 1), RELU]
    layers += _dense_head(n_classes)
    return Network(layers, input_shape, name=f"vgg {config}", recipe=RECIPE, top5_error={"ensemble": 7.3})


def googlenet(n_classes: int = 1000, input_shape: Sequence[int] = (3, 224, 224)) -> Network:
    """GoogLeNet (Szegedy et al., 2015), without the auxiliary classifiers."""
    pool = MaxPool(3, 2, rounding="ceil")
    layers: list[Any] = [
        Conv2d(64, 7, 2, 3, rounding="floor"), RELU, pool, Conv2d(64, 1), RELU, Conv2d(192, 3, padding=1), RELU, pool,
    ]  # fmt: skip
    for name, sizes in MODULES.items():
        layers.append((name, Inception(*sizes)))
        if name in ("3b", "4e"):
            layers.append(pool)
    layers += [GlobalAvgPool(), Dropout(0.4), Dense(n_classes)]
    return Network(layers, input_shape, name="googlenet", recipe=RECIPE, top5_error={"ensemble": 6.7})


def _basic(filters: int, stride: int, shortcut: str) -> Residual:
    return Residual(
        [
            Conv2d(filters, 3, stride, 1, bias=False, rounding="floor"), BatchNorm(), RELU,
            Conv2d(filters, 3, padding=1, bias=False), BatchNorm(),
        ],
        shortcut,
    )  # fmt: skip


def _bottleneck(filters: int, stride: int) -> Residual:
    return Residual(
        [
            Conv2d(filters, 1, bias=False), BatchNorm(), RELU,
            Conv2d(filters, 3, stride, 1, bias=False, rounding="floor"), BatchNorm(), RELU,
            Conv2d(4 * filters, 1, bias=False), BatchNorm(),
        ]
    )  # fmt: skip


def resnet(
    n_classes: int | None = None, input_shape: Sequence[int] | None = None, *, depth: int = 18
) -> Network:
    """ResNet (He et al., 2016): depth 18, 34, 50, 101, 152, or 20, 32, 44, 56 for images of 32×32."""
    if depth not in (*STAGES, *SMALL):
        raise ValueError(f"depth must be one of {(*SMALL, *STAGES)}; got {depth}.")
    low = {"rounding": "floor"}
    if depth in SMALL:
        counts, widths, first = ((depth - 2) // 6,) * 3, (16, 32, 64), [Conv2d(16, 3, padding=1, bias=False)]
    else:
        counts, widths = STAGES[depth], (64, 128, 256, 512)
        first = [Conv2d(64, 7, 2, 3, bias=False, **low)]
    layers: list[Any] = [*first, BatchNorm(), RELU]
    layers += [] if depth in SMALL else [MaxPool(3, 2, 1, **low)]
    for stage, (count, width) in enumerate(zip(counts, widths)):
        for block in range(count):
            stride = 2 if stage and not block else 1
            deep = depth >= 50 and depth not in SMALL
            made = (
                _bottleneck(width, stride)
                if deep
                else _basic(width, stride, "pad" if depth in SMALL else "auto")
            )
            layers.append((f"block{stage + 1}_{block + 1}", made))
    layers += [GlobalAvgPool(), Dense(n_classes or (10 if depth in SMALL else 1000))]
    shape = input_shape or ((3, 32, 32) if depth in SMALL else (3, 224, 224))
    return Network(layers, shape, name=f"resnet {depth}", recipe=RECIPE, top5_error={"ensemble": 3.6})


NAMED: dict[str, Callable[..., Network]] = {
    "lenet5": lenet5,
    "alexnet": alexnet,
    "zfnet": zfnet,
    "vgg": vgg,
    "googlenet": googlenet,
    "resnet": resnet,
}
DEPTHS = (18, 34, 50, 101, 152, 20, 32, 44, 56)
SHORT: dict[str, tuple[str, dict[str, Any]]] = {  # a name with its number of weight layers
    **{f"resnet{depth}": ("resnet", {"depth": depth}) for depth in DEPTHS},
    **{f"vgg{n}": ("vgg", {"config": config}) for n, config in ((11, "A"), (13, "B"), (16, "D"), (19, "E"))},
}


def architecture(name: str, **options: Any) -> Network:
    """Return a named network: its layers, account, published recipe and published top-5 error on ImageNet.

    ================  ==============================================================================================
    name              options besides ``n_classes`` and ``input_shape``
    ================  ==============================================================================================
    ``"lenet5"``      ``pool`` ("average", "max"), ``sparse_c3`` (the historical partial connections), ``activation``
    ``"alexnet"``     ``groups`` (2 for two cards), ``norm`` ("after_pool", "before_pool"), ``dropout``
    ``"zfnet"``
    ``"vgg"``         ``config``: "A", "A-LRN", "B", "C", "D", "E"
    ``"googlenet"``
    ``"resnet"``      ``depth``: 18, 34, 50, 101, 152; 20, 32, 44, 56 for images of 32×32
    ================  ==============================================================================================

    Parameters
    ----------
    name : str
        One of the table; or, with its number of weight layers, ``"resnet18"`` and so on, and ``"vgg11"``, ``"vgg13"``,
        ``"vgg16"`` and ``"vgg19"``.
    **options
        As in the table.

    Returns
    -------
    Network

    Examples
    --------
    >>> net = architecture("vgg", config="A", n_classes=10)
    >>> net.describe().parameters, net.top5_error
    (128807306, {'ensemble': 7.3})
    >>> architecture("resnet18").describe().parameters
    11689512
    >>> architecture("alexnet").recipe["batch_size"]
    128
    """
    if name in SHORT:
        name, more = SHORT[name]
        options = {**more, **options}
    if name not in NAMED:
        raise ValueError(f"architecture must be one of {sorted(NAMED)}; got {name!r}.{nearest(name, NAMED)}")
    try:
        return NAMED[name](**options)
    except DataError as error:
        raise DataError(f"{error} {_smallest(name, options)}") from None


def _smallest(name: str, options: dict[str, Any]) -> str:
    """Return a hint with the smallest square image that goes through the network."""
    channels = (options.get("input_shape") or (3,))[0]
    for side in range(8, 256):
        try:
            NAMED[name](**{**options, "input_shape": (channels, side, side)})
        except DataError:
            continue
        return f"The smallest square image for {name} is {side}×{side}."
    return ""
