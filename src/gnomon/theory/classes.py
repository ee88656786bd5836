"""Concept classes of the courses: rays, intervals, boxes, half-spaces, discs, polynomials, conjunctions, sines."""

from __future__ import annotations

from itertools import combinations, permutations, product
from math import inf
from typing import Any

import numpy as np
from scipy.optimize import linprog

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.theory.arrangement import Cells, cells, whole_vectors
from gnomon.theory.concepts import MOST_POINTS, ConceptClass
from gnomon.theory.counting import sauer_bound


class Thresholds(ConceptClass):
    """Rays on the line: 1 from a threshold on; two-sided also 1 up to a threshold.

    Parameters are the threshold and the side, 1 or -1.

    Examples
    --------
    >>> Thresholds().dichotomies([3.0, 1.0, 2.0]).tolist()
    [[0, 0, 0], [1, 0, 0], [1, 0, 1], [1, 1, 1]]
    """

    n_columns = 1
    _told = ("two_sided",)

    def __init__(self, two_sided: bool = False) -> None:
        self.two_sided = two_sided
        self.vc_dimension = 2 if two_sided else 1

    def growth(self, m: int) -> int:
        return max(2 * m, 1) if self.two_sided else m + 1

    def shattered_example(self) -> Array:
        return np.arange(float(self.vc_dimension))[:, None]

    def predict(self, parameters: Any, X: Any) -> Array:
        threshold, side = parameters
        return (side * (np.asarray(X, dtype=float).reshape(-1) - threshold) >= 0).astype(np.int8)

    def _dichotomies(self, points: Array) -> Array:
        m = len(points)
        up = (np.arange(m) >= np.arange(m + 1)[:, None]).astype(np.int8)
        return np.vstack([up, 1 - up]) if self.two_sided else up

    def _realize(self, points: Array, labels: Array) -> Any:
        x = points[:, 0]
        for side in (1, -1) if self.two_sided else (1,):
            inside = x[labels == 1]
            edge = (inside.min() if side == 1 else inside.max()) if len(inside) else side * inf
            if (self.predict((edge, side), x) == labels).all():
                return float(edge), side
        return None


class Intervals(ConceptClass):
    """Unions of at most k closed intervals of the line; any number of them for ``k=None``.

    Parameters are a list of ends. The VC dimension is 2k, and infinite without a limit: such a class realizes every
    labeling, so that no amount of data rules anything out.

    Examples
    --------
    >>> [Intervals(2).growth(m) for m in range(1, 7)]
    [2, 4, 8, 16, 31, 57]
    >>> Intervals(1).realize([1.0, 2.0, 3.0], [1, 0, 1]) is None
    True
    """

    n_columns = 1
    _told = ("k",)

    def __init__(self, k: int | None = 1) -> None:
        if k is not None and k < 1:
            raise DataError(f"k must be at least 1, or None for any number; got {k}.")
        self.k = k
        self.vc_dimension = inf if k is None else 2 * k

    def growth(self, m: int) -> int:
        return 2**m if self.k is None else sauer_bound(2 * self.k, m)

    def shattered_example(self) -> Array:
        if self.k is None:
            return super().shattered_example()
        return np.arange(2.0 * self.k)[:, None]

    def epsilon_net(self, epsilon: float) -> Array:
        """Return points of [0, 1] that hit every interval of length epsilon: 0, ε/2, ε, …, 1."""
        if not 0 < epsilon <= 1:
            raise DataError(f"epsilon must lie between 0 and 1; got {epsilon}.")
        return np.minimum(np.arange(int(np.ceil(2 / epsilon - 1e-9)) + 1) * epsilon / 2, 1.0)

    def predict(self, parameters: Any, X: Any) -> Array:
        x = np.asarray(X, dtype=float).reshape(-1, 1)
        ends = np.asarray(parameters, dtype=float).reshape(-1, 2)
        return ((ends[:, 0] <= x) & (x <= ends[:, 1])).any(axis=1).astype(np.int8)

    def _dichotomies(self, points: Array) -> Array:
        m = len(points)
        if self.k is None and m > MOST_POINTS:
            raise DataError(f"there are 2^{m} labelings of {m} points; give at most {MOST_POINTS}.")
        runs = (m + 1) // 2 if self.k is None else min(self.k, (m + 1) // 2)
        rows = []
        for r in range(runs + 1):
            for cuts in combinations(range(m + 1), 2 * r):  # where the label changes
                change = np.zeros(m + 1, dtype=np.int8)
                change[list(cuts)] = 1
                rows.append(np.cumsum(change)[:m] % 2)
        return np.array(rows, dtype=np.int8)

    def _realize(self, points: Array, labels: Array) -> Any:
        edges = np.flatnonzero(np.diff(np.concatenate([[0], labels, [0]])))
        x = points[:, 0]
        ends = [(float(x[a]), float(x[b - 1])) for a, b in zip(edges[::2], edges[1::2])]
        return ends if self.k is None or len(ends) <= self.k else None


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


class SignPolynomials(ConceptClass):
    """Signs of polynomials of one variable: 1 where the polynomial is positive.

    Labels change at most `degree` times along the line. Parameters are the roots and the sign at plus infinity.

    Examples
    --------
    >>> SignPolynomials(2).vc_dimension, SignPolynomials(2).growth(4)
    (3, 14)
    """

    n_columns = 1
    _told = ("degree",)

    def __init__(self, degree: int = 1) -> None:
        if degree < 0:
            raise DataError(f"degree must not be negative; got {degree}.")
        self.degree = degree
        self.vc_dimension = degree + 1

    def growth(self, m: int) -> int:
        return 2 * sauer_bound(self.degree, m - 1) if m else 1

    def shattered_example(self) -> Array:
        return np.arange(self.degree + 1.0)[:, None]

    def predict(self, parameters: Any, X: Any) -> Array:
        roots, side = parameters
        x = np.asarray(X, dtype=float).reshape(-1, 1)
        below = (x < np.asarray(roots, dtype=float)).sum(axis=1)
        return ((side > 0) ^ (below % 2 == 1)).astype(np.int8)

    def _dichotomies(self, points: Array) -> Array:
        m = len(points)
        rows = []
        for changes in range(min(self.degree, m - 1) + 1):
            for cuts in combinations(range(1, m), changes):
                step = np.zeros(m, dtype=np.int8)
                step[list(cuts)] = 1
                rows += [np.cumsum(step) % 2, 1 - np.cumsum(step) % 2]
        return np.array(rows, dtype=np.int8)

    def _realize(self, points: Array, labels: Array) -> Any:
        x, cuts = points[:, 0], np.flatnonzero(np.diff(labels))
        if len(cuts) > self.degree:
            return None
        return ((x[cuts] + x[cuts + 1]) / 2).tolist(), 1 if labels[-1] else -1


class Conjunctions(ConceptClass):
    """Conjunctions of literals of n Boolean variables: 3ⁿ rules. Parameters hold 1 (x), -1 (not x) or 0 (absent).

    Examples
    --------
    >>> from itertools import product
    >>> Conjunctions(3).vc_search(list(product([0, 1], repeat=3))).dimension
    3
    """

    _told = ("n",)

    def __init__(self, n: int) -> None:
        if not 1 <= n <= 10:
            raise DataError(f"n must be between 1 and 10: all 3^n conjunctions are listed; got {n}.")
        self.n = self.n_columns = n  # type: ignore[misc]
        self.vc_dimension = n

    def size(self) -> int:
        return 3**self.n

    def growth(self, m: int) -> int | None:
        """Largest number of labelings: 2^m up to n, over all sets of points for n up to 3."""
        if m <= self.n:
            return 2**m
        if self.n > 3 or m > 2**self.n:
            return None
        cube = list(product([0, 1], repeat=self.n))
        return max(self.n_dichotomies(chosen) for chosen in combinations(cube, m))

    def shattered_example(self) -> Array:
        return 1.0 - np.eye(self.n)

    def predict(self, parameters: Any, X: Any) -> Array:
        X = np.asarray(X, dtype=float).reshape(-1, self.n)
        return self._table(np.asarray(parameters)[None], X)[0]

    def _table(self, literals: Array, X: Array) -> Array:
        if not np.isin(X, (0, 1)).all():
            raise DataError("conjunctions label rows of zeros and ones.")
        broken = (literals == 1).astype(int) @ (1 - X).T + (literals == -1).astype(int) @ X.T
        return (broken == 0).astype(np.int8)

    def _rules(self) -> Array:
        return np.array(list(product((0, 1, -1), repeat=self.n)))

    def _dichotomies(self, points: Array) -> Array:
        return np.unique(self._table(self._rules(), points), axis=0)

    def _realize(self, points: Array, labels: Array) -> Any:
        rules = self._rules()
        found = np.flatnonzero((self._table(rules, points) == labels).all(axis=1))
        return rules[found[0]] if len(found) else None


class Sine(ConceptClass):
    r"""Signs of sin(ωx): one parameter, infinite VC dimension.

    The points :math:`10^{-1}, \dots, 10^{-m}` are shattered by
    :math:`\omega = \pi(1 + \sum_i (1-y_i)10^i)`; other points are not enumerated.

    Examples
    --------
    >>> points = [0.1, 0.01, 0.001]
    >>> omega = Sine().realize(points, [1, 0, 1])
    >>> Sine().predict(omega, points)
    array([1, 0, 1], dtype=int8)
    """

    n_columns = 1

    def growth(self, m: int) -> int:
        return 2**m

    def predict(self, parameters: Any, X: Any) -> Array:
        return (np.sin(parameters * np.asarray(X, dtype=float).reshape(-1)) > 0).astype(np.int8)

    def _powers(self, points: Array) -> Array:
        powers = -np.log10(np.where(points[:, 0] > 0, points[:, 0], 1.0))
        whole = np.round(powers)
        if (whole < 1).any() or (whole > 8).any() or np.abs(powers - whole).max() > 1e-9:
            raise DataError("labelings by sines are known for the points 0.1, 0.01, …, 1e-8 only.")
        return whole

    def _dichotomies(self, points: Array) -> Array:
        m = len(self._powers(points))
        return ((np.arange(2**m)[:, None] >> np.arange(m)) & 1).astype(np.int8)

    def _realize(self, points: Array, labels: Array) -> float:
        return float(np.pi * (1 + ((1 - labels) * 10 ** self._powers(points)).sum()))


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
