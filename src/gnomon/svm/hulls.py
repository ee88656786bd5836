"""Convex hulls of points."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from gnomon.core.linalg import Array
from gnomon.core.validate import matrix


def convex_hull(P: Any) -> Array:
    """Return the numbers of the rows that are corners of the convex hull.

    In the plane they go around it counter-clockwise from the lowest of the leftmost (monotone chain); in more columns
    they are sorted, each found extreme by a linear program. Repeated points and points on an edge are left out.

    Examples
    --------
    >>> convex_hull([[0.0, 0], [2, 0], [1, 0], [2, 2], [1, 1], [0, 2]])
    array([0, 1, 3, 5])
    """
    P = np.asarray(matrix(P, name="P"), dtype=float)
    _, first = np.unique(P, axis=0, return_index=True)  # sorted by columns, each point once
    if P.shape[1] == 1:
        ends = first[[0, -1]] if len(first) > 1 else first
        return np.array(ends)
    if len(first) <= 1:
        return np.array(first)
    return _around(P, first) if P.shape[1] == 2 else _extreme(P, first)


def _around(P: Array, order: Array) -> Array:
    lower, upper = _chain(P, order), _chain(P, order[::-1])
    return np.array(lower[:-1] + upper[:-1])


def _chain(P: Array, order: Array) -> list[int]:
    kept: list[int] = []
    size = float(np.abs(P - P.mean(axis=0)).max()) ** 2
    for i in order:
        while len(kept) >= 2 and _turn(P[kept[-2]], P[kept[-1]], P[i]) <= 1e-14 * size:
            kept.pop()
        kept.append(int(i))
    return kept


def _turn(a: Array, b: Array, c: Array) -> float:
    """Positive where a → b → c turns left."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _extreme(P: Array, order: Array) -> Array:
    kept = list(np.sort(order))
    for i in list(kept):
        others = [j for j in kept if j != i]
        A = np.vstack([P[others].T, np.ones(len(others))])
        found = optimize.linprog(np.zeros(len(others)), A_eq=A, b_eq=np.append(P[i], 1.0), method="highs")
        if found.status == 0:
            kept = others
    return np.array(kept)
