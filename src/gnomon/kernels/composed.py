"""Kernels of one other kernel: its exponential, rescaled, normalized, of warped rows and of some columns."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.kernels.algebra import (
    Combined,
    _in_brackets,
    inverse_root,
    needed,
    slopes_of,
    tile_of,
    weighted_of,
)
from gnomon.kernels.base import Kernel, rows_of, things
from gnomon.kernels.monomials import exponents, monomials


class Exp(Combined):
    r"""The exponential :math:`e^{k(x, z)}`, a sum of all powers of k over their factorials."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        K = tile_of(self.kernel, A, B, same)
        return np.exp(K, out=K)

    def _diag(self, A: Any) -> Array:
        return np.exp(self.kernel.diag(A))

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        yield from (K * slope for slope in slopes_of(self.kernel, A))

    def _map(self, A: Array, max_degree: int | None) -> Array:
        inner = self.kernel._map(A, max_degree)
        terms = exponents(inner.shape[1], range(needed(max_degree, "exp") + 1))
        return monomials(inner, terms, "factorial")

    def feature_dim(self, d: int, max_degree: int | None = None) -> int:
        """Return how many features rows of `d` columns have."""
        top = needed(max_degree, "exp")
        return comb(self.kernel.feature_dim(d, max_degree) + top, top)

    def __repr__(self) -> str:
        return f"{_in_brackets(self.kernel)}.exp()"


class Scaled(Combined):
    r"""The kernel :math:`f(x)\,k(x, z)\,f(z)` of a real function f; its features are f(x) φ(x)."""

    def __init__(self, kernel: Any, f: Any) -> None:
        self.kernel = kernel
        self.f = f

    def __repr__(self) -> str:
        return f"{_in_brackets(self.kernel)}.scaled({self.f!r})"

    def _factor(self, A: Any) -> Array:
        found = np.asarray(self.f(A), dtype=np.float64)
        if found.shape != (A.shape[0],):
            raise DataError(f"f must give one number a row, {A.shape[0]} in all; its shape is {found.shape}.")
        return found

    def is_stationary(self) -> bool:
        """Return False: f may depend on where x is."""
        return False

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        K = tile_of(self.kernel, A, B, same)
        K *= self._factor(A)[:, None]
        K *= self._factor(B)
        return K

    def _diag(self, A: Any) -> Array:
        return self._factor(A) ** 2 * self.kernel.diag(A)

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        f = self._factor(A)
        yield from (f[:, None] * slope * f for slope in slopes_of(self.kernel, A))

    def _map(self, A: Array, max_degree: int | None) -> Array:
        return self._factor(A)[:, None] * self.kernel._map(A, max_degree)

    def feature_dim(self, d: int, max_degree: int | None = None) -> int:
        """Return how many features rows of `d` columns have."""
        return int(self.kernel.feature_dim(d, max_degree))


class Normalized(Combined):
    r"""The kernel :math:`k(x, z)/\sqrt{k(x, x)\,k(z, z)}`: the cosine of the angle between features."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def __repr__(self) -> str:
        return f"{_in_brackets(self.kernel)}.normalized()"

    def _factor(self, A: Any) -> Array:
        return inverse_root(self.kernel.diag(A))

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        K = tile_of(self.kernel, A, B, same)
        K *= self._factor(A)[:, None]
        K *= self._factor(B)
        return K

    def _diag(self, A: Any) -> Array:
        return (self.kernel.diag(A) > 0).astype(np.float64)

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        f = self._factor(A)
        for slope in slopes_of(self.kernel, A):
            share = 0.5 * np.diagonal(slope) * f**2
            yield f[:, None] * slope * f - K * (share[:, None] + share)

    def _map(self, A: Array, max_degree: int | None) -> Array:
        return self._factor(A)[:, None] * self.kernel._map(A, max_degree)

    def feature_dim(self, d: int, max_degree: int | None = None) -> int:
        """Return how many features rows of `d` columns have."""
        return int(self.kernel.feature_dim(d, max_degree))


class Warped(Combined):
    r"""The kernel :math:`k(g(x), g(z))` of rows changed by a function g."""

    def __init__(self, kernel: Any, g: Any) -> None:
        self.kernel = kernel
        self.g = g

    def __repr__(self) -> str:
        return f"{_in_brackets(self.kernel)}.warp({self.g!r})"

    @property
    def requires_vector_input(self) -> bool:
        """Whether rows must be numbers before g."""
        return False

    def is_stationary(self) -> bool:
        """Return False: g may do anything."""
        return False

    def _moved(self, A: Any) -> Any:
        moved = self.g(A)
        if not self.kernel.requires_vector_input:
            return things(moved)
        moved = rows_of(moved, "g(X)")
        if isinstance(self.kernel, Kernel):
            self.kernel._check(moved.shape[1])
        return moved

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        moved = self._moved(A)
        return tile_of(self.kernel, moved, moved if same else self._moved(B), same)

    def _diag(self, A: Any) -> Array:
        return self.kernel.diag(self._moved(A))

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        yield from slopes_of(self.kernel, self._moved(A))

    def _map(self, A: Array, max_degree: int | None) -> Array:
        return self.kernel._map(self._moved(A), max_degree)


class OnColumns(Combined):
    r"""The kernel of some columns: k(x[columns], z[columns])."""

    def __init__(self, kernel: Any, columns: Any) -> None:
        self.kernel = kernel
        self.columns = columns

    def __repr__(self) -> str:
        return f"{_in_brackets(self.kernel)}.on({self.columns!r})"

    @property
    def requires_vector_input(self) -> bool:
        """Columns are those of rows of numbers."""
        return True

    def _index(self, d: int) -> Array:
        index = np.atleast_1d(np.asarray(self.columns))
        if index.dtype == bool:
            index = np.flatnonzero(index)
        if index.dtype.kind not in "iu" or (len(index) and (index.min() < -d or index.max() >= d)):
            raise DataError(f"columns must be numbers of columns below {d}; got {self.columns!r}.")
        return index

    def _check(self, d: int) -> None:
        super()._check(len(self._index(d)))

    def _chosen(self, A: Any) -> Any:
        index = self._index(A.shape[1])
        return A[:, index] if sparse.issparse(A) else np.ascontiguousarray(A[:, index])

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        chosen = self._chosen(A)
        return tile_of(self.kernel, chosen, chosen if same else self._chosen(B), same)

    def _diag(self, A: Any) -> Array:
        return self.kernel.diag(self._chosen(A))

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        yield from slopes_of(self.kernel, self._chosen(A))

    def _weighted(self, A: Any, W: Array) -> Array:
        return weighted_of(self.kernel, self._chosen(A), W)

    def _map(self, A: Array, max_degree: int | None) -> Array:
        return self.kernel._map(self._chosen(A), max_degree)

    def feature_dim(self, d: int, max_degree: int | None = None) -> int:
        """Return how many features rows of `d` columns have."""
        return int(self.kernel.feature_dim(len(self._index(d)), max_degree))
