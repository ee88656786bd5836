"""Concept classes of space: boxes, half-spaces, discs."""

from __future__ import annotations

from itertools import permutations
from math import inf
from typing import Any

import numpy as np
from scipy.optimize import linprog

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.theory.arrangement import Cells, cells, whole_vectors
from gnomon.theory.concepts import ConceptClass
from gnomon.theory.counting import sauer_bound


class Rectangles(ConceptClass):
    """Boxes with sides along the axes. Parameters are the lower and the upper corner.

    A set of points is cut out by a box exactly when the smallest box around it holds no other point.

    Examples
    --------
    >>> Rectangles(2).n_dichotomies([[0, 1], [1, 0], [0, -1], [-1, 0]]), Rectangles(2).growth(5)
    (16, 28)
    """

    _told = ("dim",)

    def __init__(self, dim: int = 2) -> None:
        if dim < 1:
            raise DataError(f"dim must be at least 1; got {dim}.")
        self.dim = self.n_columns = dim  # type: ignore[misc]
        self.vc_dimension = 2 * dim

    def growth(self, m: int) -> int | None:
        """Largest number of labelings: by formula on the line, over all orders of up to seven points in the plane."""
        if self.dim == 1:
            return sauer_bound(2, m)
        if m <= self.vc_dimension:
            return 2**m
        if self.dim > 2 or m > 7:
            return None
        first = np.arange(float(m))
        return max(
            len(self._closed(np.column_stack([first, order])))
            for order in permutations(range(m))
            if order[0] <= order[-1]
        )

    def shattered_example(self) -> Array:
        return np.vstack([np.eye(self.dim), -np.eye(self.dim)])

    def predict(self, parameters: Any, X: Any) -> Array:
        lower, upper = (np.asarray(corner, dtype=float) for corner in parameters)
        X = np.asarray(X, dtype=float).reshape(-1, self.dim)
        return ((lower <= X) & (X <= upper)).all(axis=1).astype(np.int8)

    def _closed(self, points: Array) -> list[int]:
        """Return every set that its smallest box cuts out, as bits, one point added at a time."""
        _, ranks = zip(*(np.unique(column, return_inverse=True) for column in points.T))
        at_least = [[_bits(rank >= value) for value in range(rank.max() + 1)] for rank in ranks]
        at_most = [[_bits(rank <= value) for value in range(rank.max() + 1)] for rank in ranks]
        places = np.array(ranks).T.tolist()
        found: dict[int, Any] = {}
        waiting = []

        def add(low: list[int], high: list[int]) -> None:
            inside = -1
            for axis, (a, b) in enumerate(zip(low, high)):
                inside &= at_least[axis][a] & at_most[axis][b]
            if inside not in found:
                found[inside] = low, high
                waiting.append(inside)

        for place in places:
            add(place, place)
        while waiting:
            inside = waiting.pop()
            low, high = found[inside]
            for i, place in enumerate(places):
                if not inside >> i & 1:
                    add(list(map(min, low, place)), list(map(max, high, place)))
        return [0, *found]

    def _dichotomies(self, points: Array) -> Array:
        return _rows_of_bits(self._closed(points), len(points))

    def _realize(self, points: Array, labels: Array) -> Any:
        if not labels.any():
            return np.full(self.dim, inf), np.full(self.dim, -inf)
        box = points[labels == 1]
        corners = box.min(axis=0), box.max(axis=0)
        return corners if (self.predict(corners, points) == labels).all() else None


class HalfSpaces(ConceptClass):
    """Half-spaces: 1 where w·x + b > 0, or w·x > 0 for those through the origin. Parameters are w and b.

    Labelings are the cells of an arrangement of hyperplanes, found in whole numbers: points in a line, on a sphere or
    in any other special position are counted right.

    Examples
    --------
    >>> [HalfSpaces(2).growth(m) for m in range(1, 8)]
    [2, 4, 8, 14, 22, 32, 44]
    >>> HalfSpaces(2).n_dichotomies([[0, 0], [1, 1], [2, 2]])
    6
    """

    _told = ("dim", "through_origin")

    def __init__(self, dim: int = 2, through_origin: bool = False) -> None:
        if dim < 1:
            raise DataError(f"dim must be at least 1; got {dim}.")
        self.dim = self.n_columns = dim  # type: ignore[misc]
        self.through_origin = through_origin
        self.vc_dimension = dim if through_origin else dim + 1

    def growth(self, m: int) -> int:
        return 2 * sauer_bound(int(self.vc_dimension) - 1, m - 1) if m else 1

    def shattered_example(self) -> Array:
        corners = np.eye(self.dim)
        return corners if self.through_origin else np.vstack([np.zeros(self.dim), corners])

    def predict(self, parameters: Any, X: Any) -> Array:
        w, b = parameters
        return (np.asarray(X, dtype=float).reshape(-1, self.dim) @ w + b > 0).astype(np.int8)

    def _lift(self, points: Array) -> Array:
        return points if self.through_origin else np.column_stack([points, np.ones(len(points))])

    def _cells(self, points: Array) -> tuple[Cells, Array]:
        """Return the cells of the points that are not zero, and which points those are."""
        lifted = self._lift(points)
        there = np.flatnonzero(lifted.any(axis=1))
        return cells(whole_vectors(lifted[there]), lifted.shape[1]), there

    def _dichotomies(self, points: Array) -> Array:
        found, there = self._cells(points)
        rows = np.zeros((len(found), len(points)), dtype=np.int8)
        rows[:, there] = _rows_of_bits(list(found), len(there))
        return rows

    def _realize(self, points: Array, labels: Array) -> Any:
        found, there = self._cells(points)
        w = found.get(_bits(labels[there]))
        if w is None or labels[np.setdiff1d(np.arange(len(points)), there)].any():
            return None
        weights = _clearest(self._lift(points)[there], labels[there], w)
        return (weights, 0.0) if self.through_origin else (weights[:-1], float(weights[-1]))


class Discs(ConceptClass):
    """Discs in the plane: 1 inside; two-sided also 1 outside. ``centered=True`` keeps them around the origin.

    Points are lifted to (x, y, x² + y²), where a disc is a half-space that opens downward. Parameters are a, b, c, e of
    the rule a x + b y + c (x² + y²) + e > 0.

    Examples
    --------
    >>> square = [[0, 0], [1, 0], [0, 2], [3, 3]]
    >>> Discs().n_dichotomies(square), Discs(two_sided=True).n_dichotomies(square)
    (15, 16)
    """

    n_columns = 2
    _told = ("two_sided", "centered")

    def __init__(self, two_sided: bool = False, centered: bool = False) -> None:
        self.two_sided = two_sided
        self.centered = centered
        self.vc_dimension = (1 if centered else 3) + two_sided

    def growth(self, m: int) -> int | None:
        if self.centered:
            return max(2 * m, 1) if self.two_sided else m + 1
        if self.two_sided:
            return 2 * sauer_bound(3, m - 1) if m else 1
        return 2**m if m <= 3 else None

    def shattered_example(self) -> Array:
        if self.centered:
            return np.array([[1.0, 0.0], [2.0, 0.0]])[: int(self.vc_dimension)]
        return np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])[: int(self.vc_dimension)]

    def predict(self, parameters: Any, X: Any) -> Array:
        X = np.asarray(X, dtype=float).reshape(-1, 2)
        return (self._features(X) @ np.asarray(parameters) > 0).astype(np.int8)

    def _features(self, points: Array) -> Array:
        return np.column_stack([points, (points**2).sum(axis=1), np.ones(len(points))])

    def _cells(self, points: Array) -> Cells:
        """Return the cells of the lifted points; one vector more says whether a rule opens downward."""
        lifted, axis = self._features(points), [0.0, 0.0, 1.0, 0.0]
        if self.centered:
            lifted, axis = lifted[:, 2:], axis[2:]
        vectors = whole_vectors(lifted)
        if self.two_sided:
            return cells(vectors, lifted.shape[1])
        up = 1 << len(points)
        found = cells([*vectors, *whole_vectors([axis])], lifted.shape[1])
        return {key: w for key, w in found.items() if not key & up}

    def _dichotomies(self, points: Array) -> Array:
        return _rows_of_bits(list(self._cells(points)), len(points))

    def _realize(self, points: Array, labels: Array) -> Any:
        w = self._cells(points).get(_bits(labels))
        if w is None:
            return None
        lifted = self._features(points)[:, 2 if self.centered else 0 :]
        if not self.two_sided:  # one row more: the rule opens downward
            lifted = np.vstack([lifted, np.eye(lifted.shape[1])[-2]])
            labels = np.append(labels, 0)
        weights = _clearest(lifted, labels, w)
        return np.concatenate([[0.0, 0.0], weights]) if self.centered else weights


def _bits(flags: Any) -> int:
    """Return a whole number whose bit i is flag i."""
    return sum(1 << i for i, flag in enumerate(flags) if flag)


def _rows_of_bits(keys: list[int], m: int) -> Array:
    return np.array([[key >> i & 1 for i in range(m)] for key in keys], dtype=np.int8).reshape(len(keys), m)


def _clearest(vectors: Array, labels: Array, w: Any) -> Array:
    """Return weights of largest margin, by a linear program; the exact `w`, known to do, where that fails."""
    signed = np.where(labels == 1, 1.0, -1.0)[:, None] * vectors
    signed = signed / np.linalg.norm(signed, axis=1, keepdims=True)
    d = signed.shape[1]
    program = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack([-signed, np.ones(len(signed))]),
        b_ub=np.zeros(len(signed)),
        bounds=[(-1.0, 1.0)] * d + [(None, None)],
    )
    if program.status == 0 and (signed @ program.x[:d] > 0).all():
        return np.asarray(program.x[:d])
    top = max(map(abs, w))
    return np.array([value / top for value in w])
