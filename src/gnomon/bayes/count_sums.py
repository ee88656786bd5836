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
    if threshold is None:
        return X
    if not sparse.issparse(X):
        return _above(X, threshold)
    if threshold < 0:
        raise DataError("a sparse X cannot be binarized at a negative threshold; make it dense.")
    return sparse.csr_array((_above(X.data, threshold), X.indices, X.indptr), shape=X.shape)


def _above(values: Array, threshold: float) -> Array:
    on = (values > threshold).astype(values.dtype)
    return np.where(np.isnan(values), np.nan, on).astype(values.dtype) if np.isnan(values.sum()) else on


def count_sums(chunk: Chunk, n_classes: int, threshold: float | None) -> CountSums:
    """Return the column sums of every class."""
    X, missing = binarized(chunk.X, threshold), 0.0
    sums = class_sums(X, chunk, n_classes)
    known, holes = without_holes(X) if np.isnan(sums.sum()) else (X, None)
    if holes is not None:
        sums, missing = class_sums(known, chunk, n_classes), class_sums(holes, chunk, n_classes)
    return CountSums(class_weights(chunk, n_classes), sums, missing)


def class_sums(X: Any, chunk: Chunk, n_classes: int) -> Array:
    """Return the weighted column sums of the rows of every class, (K, d)."""
    if not sparse.issparse(X):
        member = np.zeros((len(chunk.y), n_classes))
        member[np.arange(len(member)), chunk.y] = chunk.weight
        return member.T @ X
    sums = np.zeros((n_classes, X.shape[1]))
    loops.csr_class_sums(X.indptr, X.indices, X.data, chunk.y, chunk.weight, sums)
    return sums


def without_holes(X: Any) -> tuple[Any, Any]:
    """Return X with zeros for what is missing, and 1 where that is so; None where nothing is."""
    values = X.data if sparse.issparse(X) else X
    if not np.isnan(values.sum()):
        return X, None
    gone = np.isnan(values)
    known, holes = np.where(gone, 0.0, values).astype(values.dtype), gone.astype(values.dtype)
    if not sparse.issparse(X):
        return known, holes
    places = X.indices, X.indptr
    return sparse.csr_array((known, *places), shape=X.shape), sparse.csr_array(
        (holes, *places), shape=X.shape
    )


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
        return per_row(sparse_scores, rows, np.ascontiguousarray(weights.T), None, offsets, threshold, parts)
    table, barred = np.where(impossible, 0.0, weights), np.ascontiguousarray(impossible.T, dtype=np.float64)
    return per_row(sparse_scores, rows, np.ascontiguousarray(table.T), barred, offsets, threshold, parts)


def dense_scores(
    chunk: Chunk, weights: Array, offsets: Array, threshold: float | None, parts: Array | None
) -> Array:
    """Return x·w_k + b_k."""
    X, holes = without_holes(binarized(chunk.X, threshold))
    found = product(X, weights) + offsets
    return found if holes is None or parts is None else found - holes @ parts.T


def sparse_scores(
    chunk: Chunk,
    table: Array,
    barred: Array | None,
    offsets: Array,
    threshold: float | None,
    parts: Array | None,
) -> Array:
    """Return x·table + b, −∞ where an entry of x that is not zero meets a barred one; table is (d, K)."""
    X, holes = without_holes(binarized(chunk.X, threshold))
    found = X @ table
    found += offsets
    if holes is not None and parts is not None:
        found -= holes @ parts.T
    if barred is not None:
        found[(X != 0) @ barred > 0] = -np.inf
    return found
