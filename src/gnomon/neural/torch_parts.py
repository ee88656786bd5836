"""Torch modules that PyTorch does not have. Imported only where torch is."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from gnomon.core.errors import nearest
from gnomon.loops.codes_of_dense import LEAK


class Bump(nn.Module):
    """exp(−z²)."""

    def forward(self, z: Any) -> Any:
        """Return the values."""
        return torch.exp(-z * z)


class Sign(nn.Module):
    """+1 from zero on, else −1."""

    def forward(self, z: Any) -> Any:
        """Return the values."""
        return torch.where(z >= 0, 1.0, -1.0).to(z.dtype)


class Largest(nn.Module):
    """The largest of `pieces` neighbors of the channels."""

    def __init__(self, pieces: int) -> None:
        super().__init__()
        self.pieces = pieces

    def forward(self, z: Any) -> Any:
        """Return the winners."""
        return z.unflatten(1, (-1, self.pieces)).max(dim=2).values


class CenteredMax(nn.Module):
    """The largest of a window around every `stride`-th place, cut at the border."""

    def __init__(self, size: int, stride: int, dims: int) -> None:
        super().__init__()
        left = size // 2
        self.pads = (left, size - 1 - left) * dims
        self.pool = (nn.MaxPool1d if dims == 1 else nn.MaxPool2d)(size, stride)

    def forward(self, x: Any) -> Any:
        """Return the windows' largest."""
        return self.pool(functional.pad(x, self.pads, value=float("-inf")))


class SideBySide(nn.Module):
    """Branches whose channels are put one after the other."""

    def __init__(self, branches: list[Any]) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: Any) -> Any:
        """Return the channels of all branches."""
        return torch.cat([branch(x) for branch in self.branches], dim=1)


class Around(nn.Module):
    """f(body(x) + way(x))."""

    def __init__(self, body: Any, way: Any, after: Any) -> None:
        super().__init__()
        self.body, self.way, self.after = body, way, after

    def forward(self, x: Any) -> Any:
        """Return the sum, activated."""
        return self.after(self.body(x) + self.way(x))


class PadChannels(nn.Module):
    """Every `stride`-th pixel, and channels of zeros at the end."""

    def __init__(self, stride: int, extra: int) -> None:
        super().__init__()
        self.stride, self.extra = stride, extra

    def forward(self, x: Any) -> Any:
        """Return the smaller, deeper image."""
        return functional.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.extra))


class SparseConv(nn.Module):
    """A 2-D convolution in which every filter sees some of the channels."""

    def __init__(self, conv: Any, table: Any) -> None:
        super().__init__()
        self.conv = conv
        self.register_buffer("table", torch.as_tensor(table, dtype=conv.weight.dtype)[:, :, None, None])

    def forward(self, x: Any) -> Any:
        """Return the feature maps."""
        return functional.conv2d(x, self.conv.weight * self.table, self.conv.bias)


MODULES = {
    "identity": nn.Identity,
    "logistic": nn.Sigmoid,
    "tanh": nn.Tanh,
    "relu": nn.ReLU,
    "leaky_relu": lambda: nn.LeakyReLU(LEAK),
    "elu": nn.ELU,
    "rbf": Bump,
    "sign": Sign,
    "softmax": lambda: nn.Softmax(dim=1),
}


def activation_module(name: str, pieces: int = 2) -> Any:
    """Return the torch module of an activation."""
    if name == "maxout":
        return Largest(pieces)
    if name not in MODULES:
        raise ValueError(
            f"activation must be one of {sorted(MODULES)}; got {name!r}.{nearest(name, MODULES)}"
        )
    return MODULES[name]()
