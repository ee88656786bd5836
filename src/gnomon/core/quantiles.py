"""Order statistics of weighted numbers."""

from __future__ import annotations

import numpy as np

from gnomon.core.linalg import Array

TIE = 1e-12  # shares of the weight that differ by less are equal


def weighted_quantile(x: Array, w: Array, q: float) -> float:
    """Return the point with a share q of the weight below it; the midpoint of all such points.

    A weight of two is the number twice, and only ratios of weights matter.

    >>> weighted_quantile(np.array([1.0, 2.0, 4.0, 9.0]), np.ones(4), 0.5)
    3.0
    """
    order = np.argsort(x, kind="stable")
    x, w = x[order], w[order]
    if not w.all():
        x, w = x[w > 0], w[w > 0]
    below = np.cumsum(w)
    goal = q * below[-1]
    k = min(int(np.searchsorted(below, goal * (1.0 - TIE))), len(x) - 1)
    between = abs(below[k] - goal) <= TIE * below[-1] and k + 1 < len(x)
    return float(0.5 * (x[k] + x[k + 1]) if between else x[k])


def weighted_median(x: Array, w: Array) -> float:
    """Return the point with half of the weight on either side."""
    return weighted_quantile(x, w, 0.5)


def lower_medians(X: Array, w: Array) -> Array:
    """Return the lower weighted median of every column: an entry of it, also where a whole interval would do.

    >>> lower_medians(np.array([[0.0], [1.0], [2.0], [9.0]]), np.ones(4))
    array([1.])
    """
    order = np.argsort(X, axis=0, kind="stable")
    mass = np.cumsum(w[order], axis=0)
    at = (mass < mass[-1] / 2 * (1 - TIE)).sum(axis=0)
    return np.take_along_axis(X, np.take_along_axis(order, at[None], axis=0), axis=0)[0]
