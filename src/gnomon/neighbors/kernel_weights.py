"""Weights that fall with distance: logs of kernels, normalized where asked, in blocks of queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array, log_sum_exp
from gnomon.core.threads import in_order
from gnomon.loops.distances import pairwise

BLOCK = 2**19  # weights computed at once by a task
KERNELS = ("rbf", "epanechnikov", "tricube", "tophat")
COMPACT = KERNELS[1:]
GAMMAS = np.logspace(-4, 4, 33)  # times one over the median squared distance of neighbors


def log_kernel(squares: Array, gamma: float, kernel: Any) -> Array:
    """Return ln K of squared distances; −∞ beyond the reach of a compact kernel (√γ·d ≤ 1)."""
    if kernel == "rbf":
        return -gamma * squares
    u = np.sqrt(gamma * squares)
    with np.errstate(divide="ignore"):
        if callable(kernel):
            return np.log(np.maximum(np.asarray(kernel(u), dtype=np.float64), 0.0))
        if kernel == "tophat":
            return np.where(u <= 1.0, 0.0, -np.inf)
        power = {"epanechnikov": 2, "tricube": 3}
        if kernel not in power:
            raise DataError(f"kernel={kernel!r} is not one of {list(KERNELS)}.{nearest(kernel, KERNELS)}")
        inside = np.log(np.maximum(1.0 - u ** power[kernel], 0.0))
        return inside if kernel == "epanechnikov" else 3.0 * inside


def normalized(logs: Array) -> Array:
    """Return weights that sum to one in every row; a row of −∞ gives zeros."""
    total = log_sum_exp(logs)[:, None]
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(total), np.exp(logs - total), 0.0)


def squared_distances(Q: Array, X: Array, metric: str = "euclidean") -> Array:
    """Return squared distances of the rows of Q to the rows of X."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = pairwise(Q, X, "sqeuclidean") if metric == "euclidean" else pairwise(Q, X, metric) ** 2
    if not np.isfinite(squares.sum()) and not np.isfinite(squares).all():
        raise DataError("squared distances of rows of X are too large for floats; scale the columns.")
    return squares


def in_blocks(function: Callable[[slice], Any], n: int, width: int) -> Iterator[Any]:
    """Yield ``function(rows)`` for blocks of queries, in order."""
    size = max(1, BLOCK // max(1, width))
    return in_order(function, [slice(a, min(a + size, n)) for a in range(0, n, size)])


def candidate_gammas(X: Array, metric: str = "euclidean") -> Array:
    """Return a grid of widths around the scale at which rows have neighbors; order and repetition change nothing."""
    rows = np.unique(X, axis=0)
    some = rows[:: max(1, len(rows) // 500)]
    squares = squared_distances(some, rows, metric)
    squares = np.where(squares > 0, squares, np.inf)
    nearest_ones = squares.min(axis=1)
    scale = (
        float(np.median(nearest_ones[np.isfinite(nearest_ones)])) if np.isfinite(nearest_ones).any() else 1.0
    )
    return GAMMAS / scale
