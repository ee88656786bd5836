"""Kernels made from kernels: every rule here keeps positive semi-definite what was."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.kernels.base import Kernel
from gnomon.kernels.constant import ConstantKernel
from gnomon.kernels.tiles import dense


class Combined(Kernel):
    """A kernel with kernels inside; their hyper-parameters are its own."""

    _inside: ClassVar[tuple[str, ...]] = ("kernel",)

    @property
    def parts(self) -> list[Any]:
        """The kernels inside."""
        return [getattr(self, name) for name in self._inside]

    @property
    def tiled(self) -> bool:  # type: ignore[override]
        """Whether all parts may be computed in blocks."""
        return all(getattr(part, "tiled", False) for part in self.parts)

    @property
    def requires_vector_input(self) -> bool:
        """Whether some part needs rows of numbers."""
        return any(part.requires_vector_input for part in self.parts)

    @property
    def is_psd(self) -> bool | None:
        """True where all parts are; None where one is not known."""
        return True if all(getattr(part, "is_psd", True) for part in self.parts) else None

    def is_stationary(self) -> bool:
        """Return whether all parts are stationary."""
        return all(part.is_stationary() for part in self.parts)

    def _check(self, d: int) -> None:
        for part in self.parts:
            if isinstance(part, Kernel):
                part._check(d)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, those of the parts as ``part__name``."""
        names = [name for name in signature(type(self).__init__).parameters if name != "self"]
        params = {name: getattr(self, name) for name in names}
        if deep:
            for name in self._inside:
                inner = getattr(self, name).get_params()
                params.update({f"{name}__{key}": value for key, value in inner.items()})
        return params

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """The hyper-parameters of all parts."""
        return [
            Hyperparameter(f"{name}__{h.name}", h.value_type, h.bounds, h.n_elements)
            for name in self._inside
            for h in getattr(self, name).hyperparameters
        ]

    @property
    def theta(self) -> Array:
        """Logarithms of the free hyper-parameters."""
        return np.concatenate([part.theta for part in self.parts])

    @theta.setter
    def theta(self, theta: Array) -> None:
        theta, first = np.asarray(theta, dtype=float), 0
        if len(theta) != self.n_dims:
            raise ValueError(f"theta needs {self.n_dims} entries; got {len(theta)}.")
        for part in self.parts:
            count = part.n_dims
            part.theta = theta[first : first + count]
            first += count

    @property
    def bounds(self) -> Array:
        """Bounds of `theta`."""
        found = [part.bounds for part in self.parts if part.bounds.size]
        return np.vstack(found) if found else np.array([])


class Sum(Combined):
    r"""The sum :math:`k_1(x, z) + k_2(x, z)`; its features are those of both, side by side.

    Examples
    --------
    >>> from gnomon.kernels import Linear
    >>> (Linear() + 1.0)([[2.0]])
    array([[5.]])
    """

    _inside = ("k1", "k2")

    def __init__(self, k1: Any, k2: Any) -> None:
        self.k1 = k1
        self.k2 = k2

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        K = tile_of(self.k1, A, B, same)
        K += tile_of(self.k2, A, B, same)
        return K

    def _diag(self, A: Any) -> Array:
        return self.k1.diag(A) + self.k2.diag(A)

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        for part in self.parts:
            yield from slopes_of(part, A)

    def _weighted(self, A: Any, W: Array) -> Array:
        return np.concatenate([weighted_of(part, A, W) for part in self.parts])

    def _map(self, A: Array, max_degree: int | None) -> Array:
        return np.hstack([part._map(A, max_degree) for part in self.parts])

    def feature_dim(self, d: int, max_degree: int | None = None) -> int:
        """Return how many features rows of `d` columns have."""
        return sum(part.feature_dim(d, max_degree) for part in self.parts)

    def __repr__(self) -> str:
        return f"{self.k1!r} + {self.k2!r}"


class Product(Combined):
    r"""The product :math:`k_1(x, z)\,k_2(x, z)`; its features are all products of one of each.

    Examples
    --------
    >>> from gnomon.kernels import Linear
    >>> (Linear() * Linear()).feature_map([[2.0, 3.0]])
    array([[4., 6., 6., 9.]])
    """

    _inside = ("k1", "k2")

    def __init__(self, k1: Any, k2: Any) -> None:
        self.k1 = k1
        self.k2 = k2

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        K = tile_of(self.k1, A, B, same)
        K *= tile_of(self.k2, A, B, same)
        return K

    def _diag(self, A: Any) -> Array:
        return self.k1.diag(A) * self.k2.diag(A)

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        for part, other in ((self.k1, self.k2), (self.k2, self.k1)):
            if part.n_dims:
                factor = tile_of(other, A, A, True)
                yield from (slope * factor for slope in slopes_of(part, A))

    def _weighted(self, A: Any, W: Array) -> Array:
        found = [np.zeros(0)]
        for part, other in ((self.k1, self.k2), (self.k2, self.k1)):
            if part.n_dims and isinstance(other, ConstantKernel):
                found.append(weighted_of(part, A, W) * float(other.constant_value))
            elif part.n_dims and isinstance(part, ConstantKernel):
                found.append(np.array([float(part.constant_value * np.vdot(W, other(A)))]))
            elif part.n_dims:
                found.append(weighted_of(part, A, W * tile_of(other, A, A, True)))
        return np.concatenate(found)

    def _map(self, A: Array, max_degree: int | None) -> Array:
        first, second = (part._map(A, max_degree) for part in self.parts)
        return (first[:, :, None] * second[:, None, :]).reshape(len(A), -1)

    def feature_dim(self, d: int, max_degree: int | None = None) -> int:
        """Return how many features rows of `d` columns have."""
        return self.k1.feature_dim(d, max_degree) * self.k2.feature_dim(d, max_degree)

    def __repr__(self) -> str:
        return " * ".join(f"({part!r})" if isinstance(part, Sum) else repr(part) for part in self.parts)


class Exponentiation(Combined):
    r"""The power :math:`k(x, z)^p` for a whole number p ≥ 0.

    A fractional power of a kernel need not be a kernel: it is refused unless ``allow_indefinite=True``, and
    then `is_psd` is None.

    Examples
    --------
    >>> from gnomon.kernels import Linear
    >>> (Linear() ** 2)([[2.0]], [[3.0]])
    array([[36.]])
    """

    def __init__(self, kernel: Any, exponent: float, allow_indefinite: bool = False) -> None:
        self.kernel = kernel
        self.exponent = exponent
        self.allow_indefinite = allow_indefinite

    @property
    def is_psd(self) -> bool | None:
        """Known for whole exponents alone."""
        return super().is_psd if _whole(self.exponent) else None

    def _check(self, d: int) -> None:
        super()._check(d)
        whole_power(self.exponent, self.allow_indefinite, "exponent")

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        return power(tile_of(self.kernel, A, B, same), self.exponent)

    def _diag(self, A: Any) -> Array:
        return power(self.kernel.diag(A), self.exponent)

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        p = self.exponent
        if self.n_dims:
            outer = p * power(tile_of(self.kernel, A, A, True), p - 1) if p else np.zeros_like(K)
            yield from (outer * slope for slope in slopes_of(self.kernel, A))

    def _map(self, A: Array, max_degree: int | None) -> Array:
        if not _whole(self.exponent):
            return super()._map(A, max_degree)
        features = np.ones((len(A), 1))
        for _ in range(int(self.exponent)):
            inner = self.kernel._map(A, max_degree)
            features = (features[:, :, None] * inner[:, None, :]).reshape(len(A), -1)
        return features

    def feature_dim(self, d: int, max_degree: int | None = None) -> int:
        """Return how many features rows of `d` columns have."""
        return int(self.kernel.feature_dim(d, max_degree) ** int(self.exponent))

    def __repr__(self) -> str:
        inner = f"({self.kernel!r})" if isinstance(self.kernel, Sum | Product) else repr(self.kernel)
        return f"{inner} ** {self.exponent!r}"


def _in_brackets(kernel: Any) -> str:
    return f"({kernel!r})" if isinstance(kernel, Sum | Product | Exponentiation) else repr(kernel)


def tile_of(kernel: Any, A: Any, B: Any, same: bool) -> Array:
    """Return the block of a part, ours or scikit-learn's."""
    if isinstance(kernel, Kernel):
        return kernel._tile(A, B, same)
    found = kernel(dense(A)) if same else kernel(dense(A), dense(B))
    return np.array(found, dtype=np.float64)


def slopes_of(kernel: Any, A: Any) -> Iterator[Array]:
    """Yield the derivatives of a part, ours or scikit-learn's."""
    if isinstance(kernel, Kernel):
        if kernel.n_dims:
            yield from kernel._gradients(A, kernel._tile(A, A, True))
        return
    yield from np.moveaxis(kernel(dense(A), eval_gradient=True)[1], 2, 0)


def weighted_of(kernel: Any, A: Any, W: Array) -> Array:
    """Return Σ W ∂K of a part."""
    if isinstance(kernel, Kernel):
        return kernel._weighted(A, W) if kernel.n_dims else np.zeros(0)
    return np.array([float(np.vdot(W, slope)) for slope in slopes_of(kernel, A)])


def inverse_root(diagonal: Array) -> Array:
    """Return 1/√k, zero where k is zero."""
    return np.divide(1.0, np.sqrt(np.maximum(diagonal, 0.0)), out=np.zeros_like(diagonal), where=diagonal > 0)


def power(K: Array, exponent: float) -> Array:
    """Return K to a power; a small whole one by multiplication, which is exact in sign and faster."""
    if _whole(exponent) and 0 <= exponent <= 8:
        out = np.ones_like(K)
        for _ in range(int(exponent)):
            out *= K
        return out
    return np.asarray(np.power(K, exponent))


def _whole(value: Any) -> bool:
    return isinstance(value, Integral) or float(value).is_integer()


def whole_power(value: Any, allow_indefinite: bool, name: str) -> None:
    """Raise an error for a power that does not keep a kernel a kernel."""
    if not allow_indefinite and (not _whole(value) or value < 0):
        raise DataError(
            f"{name} must be a whole number of at least 0, else the power of a kernel need not be one; got "
            f"{value}. Say allow_indefinite=True where that is wanted."
        )


def needed(max_degree: int | None, what: str) -> int:
    """Return the highest degree, or ask for it."""
    if max_degree is None:
        raise DataError(f"the features of {what} are infinitely many; say max_degree, the highest to keep.")
    if max_degree < 0:
        raise DataError(f"max_degree must not be negative; got {max_degree}.")
    return int(max_degree)
