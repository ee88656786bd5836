"""The scatter of rows about their mean: all that principal components and factor models need of the data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.sums import Chunk, total

TALL = 2**23  # bytes of a chunk: adding d × d matrices should cost little beside computing them
BLOCK_BYTES = 2**19  # rows whose products are added at a time, small enough to stay in cache
WASTE = 64.0  # products about the origin are accepted while (mean/deviation)² of every column stays below


class Scatter(NamedTuple):
    r"""Weight, mean and centered scatter :math:`S = \sum_i w_i (x_i-\bar x)(x_i-\bar x)^T` of some rows.

    Two records merge exactly, so batches, files and machines can be added up and give the answer of all rows
    at once.
    """

    n_rows: float  # rows of positive weight
    weight: float  # sum of the weights
    mean: Array  # (d,)
    scatter: Array  # (d, d)

    def merge(self, other: Scatter) -> Scatter:
        """Return the record of both sets of rows."""
        weight = self.weight + other.weight
        share = other.weight / weight if weight else 0.0
        gap = other.mean - self.mean
        scatter = self.scatter + other.scatter
        if share and self.weight:
            scatter += (self.weight * share * gap)[:, None] * gap
        return Scatter(self.n_rows + other.n_rows, weight, self.mean + share * gap, scatter)

    def about_origin(self) -> Scatter:
        """Return the record of rows whose mean is taken to be zero."""
        return self._replace(
            mean=np.zeros_like(self.mean),
            scatter=self.scatter + self.weight * np.outer(self.mean, self.mean),
        )


def scatter_sums(chunk: Chunk) -> Scatter:
    """The record of one chunk."""
    weight = None if bool((chunk.weight == 1.0).all()) else chunk.weight
    mass = float(chunk.X.shape[0]) if weight is None else float(weight.sum())
    count = float(chunk.X.shape[0]) if weight is None else float(np.count_nonzero(weight))
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused by name later
        if sparse.issparse(chunk.X):
            return Scatter(count, mass, *_of_sparse(chunk.X, weight, mass))
        return Scatter(count, mass, *_of_dense(chunk.X, weight, mass))


def sum_scatter(rows: Any) -> Scatter:
    """Return the record of all rows, in memory, on disk or on a cluster."""
    size = max(TALL, 32 * rows.n_features**2)
    sums = total(scatter_sums, rows.unchecked().in_chunks_of(size))
    check_scatter(sums, rows)
    return sums


def check_scatter(sums: Scatter, rows: Any = None) -> None:
    """Refuse sums that are not finite, with the reason."""
    if np.isfinite(sums.scatter).all() and np.isfinite(sums.mean).all():
        return
    if rows is not None and rows.in_memory:
        _ = rows.X  # refuses entries that are not finite
    raise DataError("X has entries so large that their squares overflow; scale its columns.")


def _of_dense(X: Array, weight: Array | None, mass: float) -> tuple[Array, Array]:
    d = X.shape[1]
    if mass == 0.0:
        return np.zeros(d), np.zeros((d, d))
    first, second = _products(X, weight, None)
    mean = first / mass
    if (mass * mean * mean * (1.0 + 1.0 / WASTE) <= second.diagonal()).all():
        return mean, second - (mass * mean)[:, None] * mean
    first, second = _products(X, weight, mean)
    step = first / mass
    return mean + step, second - (mass * step)[:, None] * step


def _products(X: Array, weight: Array | None, shift: Array | None) -> tuple[Array, Array]:
    """Σ w z and Σ w z zᵀ of z = x − shift, block by block."""
    d = X.shape[1]
    first, second = np.zeros(d), np.zeros((d, d))
    rows = max(256, 2 * d, BLOCK_BYTES // max(1, 8 * d))
    for start in range(0, len(X), rows):
        part = slice(start, start + rows)
        Z = np.asarray(X[part], dtype=np.float64)
        if shift is not None:
            Z = Z - shift
        if weight is not None:
            first += weight[part] @ Z
            Z = Z * np.sqrt(weight[part])[:, None]
        else:
            first += np.ones(len(Z)) @ Z
        second += Z.T @ Z
    return first, second


def _of_sparse(X: Any, weight: Array | None, mass: float) -> tuple[Array, Array]:
    """CSR rows without densifying them: products about the origin, then centered."""
    X = X.astype(np.float64)
    d = X.shape[1]
    if mass == 0.0:
        return np.zeros(d), np.zeros((d, d))
    s = np.ones(X.shape[0]) if weight is None else weight
    mean = (X.T @ s) / mass
    weighted = X if weight is None else sparse.diags_array(s) @ X
    return mean, (X.T @ weighted).toarray() - (mass * mean)[:, None] * mean
