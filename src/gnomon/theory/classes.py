"""Concept classes of the line and of the cube: rays, intervals, signs of polynomials, sines, conjunctions."""

from __future__ import annotations

from itertools import combinations, product
from math import inf
from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
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
        roots = np.asarray(roots, dtype=float)
        below = (x < roots).sum(axis=1)
        return (((side > 0) ^ (below % 2 == 1)) & (x != roots).all(axis=1)).astype(np.int8)

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
