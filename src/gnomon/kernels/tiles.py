"""Tiles: a kernel matrix is computed in blocks that fit the cache, on the library's threads.

The borders of the tiles depend on the shape of the data alone, so the number of threads changes no bit. Of a
symmetric matrix the tiles on and above the diagonal are computed, and mirrored.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.threads import shared

ROWS, COLUMNS = 256, 1024  # of a tile
BLOCK = 64  # of a tile that is mirrored at a time
SMALL = 2**18  # entries up to which one tile is all
CANCELLED = 4e-10  # of the squared norms: below this a squared distance keeps fewer than six digits
FEW = 2**13  # differences that are squared and summed as quickly as products are made
LARGE = 1e307  # squared norms from here on overflow in sums

Tile = Callable[[Any, Any, bool], Array]


def fill(tile: Tile, X: Any, Z: Any | None, out: Array | None = None) -> Array:
    """Return the matrix of ``tile(A, B, same)`` over row blocks A of X and B of Z (of X where Z is None)."""
    other = X if Z is None else Z
    n, m = X.shape[0], other.shape[0]
    if n * m <= SMALL and out is None:
        found = tile(X, other, Z is None)
        return mirrored(found) if Z is None else found
    K = np.empty((n, m)) if out is None else out
    height, width, corners = tiled(X, Z)

    def work(corner: tuple[int, int]) -> None:
        i, j = corner
        A, B = X[i : i + height], other[j : j + width]
        same = Z is None and i == j
        found = tile(A, A if same else B, same)
        K[i : i + height, j : j + width] = mirrored(found) if same else found
        if Z is None and not same:
            K[j : j + width, i : i + height] = K[i : i + height, j : j + width].T

    shared(work, corners)
    return K


def tiled(X: Any, Z: Any | None = None) -> tuple[int, int, list[tuple[int, int]]]:
    """Return height and width of the tiles and where each begins; on and above the diagonal where Z is None."""
    n, m = X.shape[0], (X if Z is None else Z).shape[0]
    height, width = (n, m) if n * m <= SMALL else _shape(X, Z is None)
    starts = [(i, j) for i in range(0, n, height) for j in range(0, m, width)] if n * m else []
    return height, width, [(i, j) for i, j in starts if Z is not None or j + width > i]


def mirrored(K: Array) -> Array:
    """Return the matrix with its upper half written over its lower half, block by block."""
    for i in range(0, len(K), BLOCK):
        j = i + BLOCK
        K[j:, i:j] = K[i:j, j:].T
        corner = K[i:j, i:j]
        np.copyto(corner, corner.T.copy(), where=_below(len(corner)))
    return K


@lru_cache(maxsize=4)
def _below(n: int) -> Array:
    """Mark the entries below the diagonal."""
    return np.tri(n, k=-1, dtype=bool)


def _shape(X: Any, symmetric: bool) -> tuple[int, int]:
    """Height and width of the tiles: square for a symmetric matrix, larger where rows are sparse."""
    if sparse.issparse(X):
        return (1024, 1024) if symmetric else (1024, 4096)
    if not symmetric:
        return ROWS, COLUMNS
    return (256, 256) if X.shape[0] <= 2048 else (512, 512)


def dot_products(A: Any, B: Any) -> Array:
    """Return A Bᵀ as a dense matrix of float64."""
    if sparse.issparse(A) or sparse.issparse(B):
        product = A @ B.T
        return np.asarray(product.toarray() if sparse.issparse(product) else product, dtype=np.float64)
    left = wide(A)
    return left @ (left if A is B else wide(B)).T  # of one matrix: half the work, and exactly symmetric


def wide(A: Array) -> Array:
    """Return an array as float64."""
    return np.asarray(A, dtype=np.float64)


def dense(A: Any) -> Array:
    """Return rows as a dense matrix of float64."""
    return wide(A.toarray() if sparse.issparse(A) else A)


def square_norms(A: Any) -> Array:
    """Return ‖x‖² of every row."""
    if sparse.issparse(A):
        return wide(A.multiply(A).sum(axis=1)).ravel()
    A = wide(A)
    return np.einsum("ij,ij->i", A, A)


def squared_distances(A: Any, B: Any, same: bool, scale: Any = 1.0) -> Array:
    """Return Σ (a_j − b_j)²/scale_j² of all pairs of rows; never negative, and zero for a row and itself.

    Dense rows are shifted to the mean of B first. Where the product form still cancels, the differences are
    squared and summed one by one; so are they all where squared norms overflow, and distances that overflow
    are infinite. So are those of few rows, for which that is quicker.
    """
    if (
        not same
        and A.shape[0] * B.shape[0] * B.shape[1] <= FEW
        and not (sparse.issparse(A) or sparse.issparse(B))
    ):
        return _one_by_one(A, B, scale)
    with np.errstate(over="ignore", invalid="ignore"):
        near, other = _shifted(A, B, same, np.asarray(scale, dtype=np.float64))
        a = square_norms(near)
        b = a if same else square_norms(other)
    if not (a.max(initial=0.0) < LARGE and b.max(initial=0.0) < LARGE):
        return _of_huge_rows(A, B, scale)
    D = dot_products(near, other)
    D *= -2.0
    D += a[:, None]
    D += b
    if same:
        np.fill_diagonal(D, np.inf)
    if D.size:
        near_rows = np.flatnonzero(D.min(axis=1) <= CANCELLED * (a + b.max()))
        if len(near_rows):
            _mend(D, A, B, a, b, scale, near_rows)
    if same:
        np.fill_diagonal(D, 0.0)
    return D


def _one_by_one(A: Array, B: Array, scale: Any) -> Array:
    """Return squared distances of dense rows as sums of squared differences."""
    with np.errstate(over="ignore"):
        gap = wide(A)[:, None, :] - wide(B)
        gap /= scale
        D: Array = np.einsum("ijk,ijk->ij", gap, gap)
    return D


def _of_huge_rows(A: Any, B: Any, scale: Any) -> Array:
    """Return squared distances of rows whose squared norms overflow."""
    if sparse.issparse(A) or sparse.issparse(B):
        raise DataError(
            "X has values so large that distances of its sparse rows overflow; scale its columns."
        )
    D = cdist(wide(A) / scale, wide(B) / scale, "sqeuclidean")
    if np.isnan(D).any():
        raise DataError("X has values so large for the kernel's scale that they overflow; scale its columns.")
    return D


def _shifted(A: Any, B: Any, same: bool, scale: Array) -> tuple[Any, Any]:
    """Return both blocks around the mean of B, in units of the scale; sparse rows stay where they are."""
    if sparse.issparse(A) or sparse.issparse(B):
        B = scaled(B, scale)
        return (B if same else scaled(A, scale)), B
    center = wide(B).mean(axis=0) if len(B) else np.zeros(B.shape[1])
    B = (wide(B) - center) / scale
    return (B if same else (wide(A) - center) / scale), B


def scaled(A: Any, scale: Array) -> Any:
    """Return rows divided by one number or one a column."""
    if not sparse.issparse(A):
        return A / scale
    return sparse.csr_array(A.multiply(1.0 / scale)) if scale.ndim else A * (1.0 / float(scale))


def _mend(D: Array, A: Any, B: Any, a: Array, b: Array, scale: Any, near: Array) -> None:
    """Sum again, from differences, the distances of some rows that cancellation has spoiled."""
    rows, columns = np.nonzero(D[near] <= CANCELLED * (a[near, None] + b))
    rows = near[rows]
    step = max(1, 2**20 // max(1, A.shape[1]))
    for first in range(0, len(rows), step):
        i, j = rows[first : first + step], columns[first : first + step]
        gap = A[i] - B[j] if sparse.issparse(A) else wide(A[i]) - wide(B[j])
        D[i, j] = square_norms(scaled(gap, np.asarray(scale, dtype=np.float64)))
