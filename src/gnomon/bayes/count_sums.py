"""Sums of counts by class, and scores linear in counts, in one pass over dense or sparse rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.bayes.class_moments import class_weights
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.rows import Rows
from gnomon.core.sums import Chunk, per_row
from gnomon.distributions.columns import product
from gnomon.loops import classes as loops


class CountSums(NamedTuple):
    """The weight of every class, the sums of its columns, and the weight of what is missing in them."""

    weight: Array  # (K,)
    counts: Array  # (K, d)
    missing: Any = 0.0  # (K, d), or 0 where nothing is

    @property
    def n_features(self) -> int:
        return int(self.counts.shape[1])

    @property
    def seen(self) -> Array:
        """The weight of the rows in which a column is known, by class."""
        return self.weight[:, None] - self.missing


def binarized(X: Any, threshold: float | None) -> Any:
    """Return 1 where X is above the threshold, and NaN where it is missing; X itself without a threshold."""
    if sparse.issparse(X) and np.isnan(X.data.sum()):
        raise DataError("a sparse X must not contain NaN; make it dense, where missing entries are left out.")
    if threshold is None:
        return X
    if not sparse.issparse(X):
        on = (X > threshold).astype(X.dtype)
        return np.where(np.isnan(X), np.nan, on).astype(X.dtype) if np.isnan(X.sum()) else on
    if threshold < 0:
        raise DataError("a sparse X cannot be binarized at a negative threshold; make it dense.")
    return sparse.csr_array(((X.data > threshold).astype(X.dtype), X.indices, X.indptr), shape=X.shape)


def count_sums(chunk: Chunk, n_classes: int, threshold: float | None) -> CountSums:
    """Return the column sums of every class."""
    X = binarized(chunk.X, threshold)
    sums, missing = np.zeros((n_classes, X.shape[1])), 0.0
    if sparse.issparse(X):
        loops.csr_class_sums(X.indptr, X.indices, X.data, chunk.y, chunk.weight, sums)
    else:
        member = np.zeros((len(chunk.y), n_classes))
        member[np.arange(len(member)), chunk.y] = chunk.weight
        X, holes = without_holes(X)
        sums += member.T @ X
        if holes is not None:
            missing = member.T @ holes
    return CountSums(class_weights(chunk, n_classes), sums, missing)


def without_holes(X: Any) -> tuple[Any, Array | None]:
    """Return a dense X with zeros for what is missing, and 1 where that is so; None where nothing is."""
    if not np.isnan(X.sum()):
        return X, None
    holes = np.isnan(X)
    return np.where(holes, 0.0, X), holes.astype(np.float64)


def scores(
    rows: Rows, weights: Array, offsets: Array, threshold: float | None = None, parts: Array | None = None
) -> Array:
    """Return x·w_k + b_k of every row; a weight of −∞ counts only where x is not zero.

    `parts` (K, d) is what every column adds to b_k; it is left out where the column is missing.
    """
    if not rows.sparse:
        return per_row(dense_scores, rows, weights, offsets, threshold, parts)
    impossible = np.isneginf(weights)
    if not impossible.any():
        return per_row(sparse_scores, rows, np.ascontiguousarray(weights.T), None, offsets, threshold)
    table, barred = np.where(impossible, 0.0, weights), np.ascontiguousarray(impossible.T, dtype=np.float64)
    return per_row(sparse_scores, rows, np.ascontiguousarray(table.T), barred, offsets, threshold)


def dense_scores(
    chunk: Chunk, weights: Array, offsets: Array, threshold: float | None, parts: Array | None
) -> Array:
    """Return x·w_k + b_k."""
    X, holes = without_holes(binarized(chunk.X, threshold))
    found = product(X, weights) + offsets
    return found if holes is None or parts is None else found - holes @ parts.T


def sparse_scores(
    chunk: Chunk, table: Array, barred: Array | None, offsets: Array, threshold: float | None
) -> Array:
    """Return x·table + b, −∞ where an entry of x that is not zero meets a barred one; table is (d, K)."""
    X = binarized(chunk.X, threshold)
    found = X @ table
    found += offsets
    if barred is not None:
        found[(X != 0) @ barred > 0] = -np.inf
    return found
