"""K-means on sparse rows: distances by products with the entries that are not zero; no matrix is filled."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array
from gnomon.core.threads import in_order

NOISE = (
    16 * np.finfo(np.float64).eps
)  # of a squared distance, relative to the squares it is the difference of
HASHED_TOGETHER = 2**18  # entries, zeros among them


def dense(X: Any) -> Array:
    """Return a few rows as a dense float64 array."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def squared_norms(X: Any) -> Array:
    """Return the squared length of every row."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.bincount(row, weights=X.data.astype(np.float64) ** 2, minlength=X.shape[0])


def squared_distances(X: Any, points: Array, norms: Array | None = None) -> Array:
    """Return (n, m) squared distances; what is within the rounding of the squares is zero."""
    norms = squared_norms(X) if norms is None else norms
    whole = norms[:, None] + np.einsum("ij,ij->i", points, points)
    found = whole - 2.0 * np.asarray(X @ points.T)
    return np.where(found < NOISE * whole, 0.0, found)


def nearest(X: Any, centers: Array) -> tuple[Array, Array]:
    """Return the nearest center of every row, the lower one of two, and the squared distance to it."""
    norms = squared_norms(X)
    found = squared_distances(X, centers, norms)
    labels = found.argmin(axis=1).astype(np.int32)
    return labels, found[np.arange(len(labels)), labels]


def sums_by_label(X: Any, weight: Array, labels: Array, k: int) -> Array:
    """Return the weighted sum of the rows of every label, (k, d)."""
    member = sparse.csr_array((weight, labels, np.arange(len(labels) + 1)), shape=(len(labels), k))
    return np.asarray((member.T @ X).toarray(), dtype=np.float64)


def column_moments(X: Any, weight: Array) -> tuple[float, Array, Array, Array, Array]:
    """Return the weight, and mean, scatter, smallest and largest entry of every column."""
    total, d = float(weight.sum()), X.shape[1]
    w = np.repeat(weight, np.diff(X.indptr))
    data = X.data.astype(np.float64)
    mean = np.bincount(X.indices, weights=w * data, minlength=d) / max(total, np.finfo(np.float64).tiny)
    inside = np.bincount(X.indices, weights=w * (data - mean[X.indices]) ** 2, minlength=d)
    filled = np.bincount(X.indices, weights=w, minlength=d)
    square = inside + np.maximum(total - filled, 0.0) * mean**2
    low, high = np.asarray(X.min(axis=0).todense()).ravel(), np.asarray(X.max(axis=0).todense()).ravel()
    return total, mean, square, low.astype(np.float64), high.astype(np.float64)


def hash_sparse(X: Any, hash_rows: Any) -> Array:
    """Return the keys that the rows have when they are dense; some rows are filled at a time."""
    step = max(1, HASHED_TOGETHER // max(1, X.shape[1]))
    blocks = range(0, X.shape[0], step)
    return np.concatenate(list(in_order(lambda a: hash_rows(X[a : a + step].toarray()), blocks)))
