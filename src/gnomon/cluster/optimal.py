"""The global optimum of k-means on one column."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.loops.optimal import optimal_cuts


def optimal_1d(x: Array, weight: Array, k: int) -> Array:
    """Return the k optimal centers of weighted values on a line, ascending.

    Optimal clusters are intervals of the sorted values, and where the last one begins moves right with its
    end: divide and conquer fills each of the k layers in O(n log n).

    >>> optimal_1d(np.array([0.0, 1, 2, 10, 11, 12]), np.ones(6), 2)
    array([ 1., 11.])
    """
    values, place = np.unique(x.astype(np.float64), return_inverse=True)
    mass = np.bincount(place, weight)
    values, mass = values[mass > 0], mass[mass > 0]
    middle = np.average(values, weights=mass)
    spread = float(np.abs(values - middle).max()) or 1.0
    unit = (values - middle) / spread
    w, s, q = (_prefix(mass * unit**power) for power in (0, 1, 2))
    cuts = np.zeros(min(k, len(values)) + 1, dtype=np.int64)
    optimal_cuts(w, s, q, len(cuts) - 1, cuts)
    centers = np.array(
        [np.average(values[a:b], weights=mass[a:b]) for a, b in zip(cuts, cuts[1:], strict=False) if b > a]
    )
    return np.concatenate([centers, np.repeat(centers[-1:], k - len(centers))])  # fewer values than clusters


def _prefix(values: Any) -> Array:
    return np.concatenate([[0.0], np.cumsum(values)])
