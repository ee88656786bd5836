"""What a factorization knows of its rows before the first step, and after the last."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.rows import MemoryRows, sparse_blocks
from gnomon.core.sums import Chunk
from gnomon.decomposition._nonnegative import Penalty, dense_blocks


class NonNegativeWork(NamedTuple):
    """The rows, their squared norm and mean, whether entries are missing, and the penalties."""

    rows: Any
    squares: float
    mean: float  # of the observed entries
    holes: bool
    fill: Array | None  # column means of observed entries, where some are missing
    penalty: Penalty
    smallest: float


class EntrySums(NamedTuple):
    """Squares, missing entries, and observed sums of the columns."""

    squares: float
    holes: float
    counts: Array
    sums: Array


def entry_sums(chunk: Chunk) -> EntrySums:
    """What is known of the entries before the first step."""
    X, w = chunk.X, chunk.weight
    p = X.shape[1]
    if sparse.issparse(X):
        squares = sum(float(w[part] @ S.multiply(S).sum(axis=1)) for part, S in sparse_blocks(X))
        return EntrySums(squares, 0.0, np.full(p, w.sum()), np.asarray(X.T @ w, dtype=np.float64))
    seen = ~np.isnan(X)
    Z = np.where(seen, X, 0.0).astype(np.float64)
    return EntrySums(float(w @ (Z * Z).sum(axis=1)), float((~seen).sum()), w @ seen, w @ Z)


def smallest_entry(chunk: Chunk) -> Array:
    """The smallest entry of every row."""
    X = chunk.X
    least = X.min(axis=1).toarray().ravel() if sparse.issparse(X) else np.nanmin(X, axis=1, initial=np.inf)
    return np.asarray(least, dtype=np.float64)


def squared_errors(chunk: Chunk, W: Array, H: Array) -> Array:
    """½ Σ w ‖x − Wh‖² over observed entries."""
    V, found = W[chunk.start : chunk.start + chunk.X.shape[0]], 0.0
    for part, X in dense_blocks(chunk.X):
        gap = X - V[part] @ H
        gap = np.where(np.isnan(gap), 0.0, gap)
        found += 0.5 * float(chunk.weight[part] @ (gap * gap).sum(axis=1))
    return np.asarray(found)


def dense_rows(rows: Any) -> Any:
    if rows.n_rows * rows.n_features > 2**26:
        raise DataError("X is sparse, large, and has missing entries (NaN); fill them, or use a dense X.")
    return _with_matrix(rows, rows.X.toarray())


def replaced_rows(rows: Any, fill: Array) -> Any:
    if not rows.in_memory:
        raise DataError("X has missing entries (NaN): with rows not in memory use init='random'.")
    return _with_matrix(rows, np.where(np.isnan(rows.X), fill, rows.X))


def _with_matrix(rows: Any, X: Array) -> Any:
    fresh = MemoryRows(X, None, rows.weight if rows.weighted else None, feature_names=rows.feature_names)
    fresh.given = rows.given
    return fresh
