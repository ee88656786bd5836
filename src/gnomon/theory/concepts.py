"""Concept classes: which labelings of points a class of rules can give, and how rich that makes it."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, log2
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.progress import told
from gnomon.core.validate import weights as check_weights
from gnomon.theory.bounds import Bound, finite_class_bound, vc_bound
from gnomon.theory.hypotheses import Hypothesis

MOST_POINTS = 25  # for what lists all 2^m labelings


class VCSearch(NamedTuple):
    """A VC dimension with its certificate: a shattered set, and that no larger one was found."""

    dimension: int
    shattered: list[int]  # rows of the domain
    complete: bool  # whether all larger sets were ruled out


class ConceptClass:
    r"""A class of rules that label points 0 or 1.

    A set of m points is *shattered* when all :math:`2^m` labelings are realized; the *VC dimension* is the size
    of the largest shattered set, the *growth function* :math:`\Pi(m)` the largest number of labelings of m points.

    Subclasses say how to list labelings (`dichotomies`), to find a rule for one (`realize`) and to apply it
    (`predict`). Coordinates are taken as they are, without rounding.

    Examples
    --------
    >>> from gnomon.theory import HalfSpaces
    >>> plane = HalfSpaces(2)
    >>> plane.n_dichotomies([[0, 0], [1, 0], [0, 1], [1, 1]]), plane.vc_dimension
    (14, 3)
    >>> plane.missing_dichotomies([[0, 0], [1, 0], [0, 1], [1, 1]]).tolist()
    [[0, 1, 1, 0], [1, 0, 0, 1]]
    """

    vc_dimension: float = inf
    n_columns: ClassVar[int | None] = None  # of the points; None: any number

    def predict(self, parameters: Any, X: Any) -> Array:
        """Return the labels that the rule with these parameters gives to the rows of X."""
        raise NotImplementedError

    def _dichotomies(self, points: Array) -> Array:
        """Return all labelings of different points, one a row."""
        raise NotImplementedError

    def _realize(self, points: Array, labels: Array) -> Any:
        """Return the parameters of a rule that gives these labels to different points, or None."""
        raise NotImplementedError

    def growth(self, m: int) -> int | None:
        """Return the largest number of labelings of m points; None where no formula is known."""
        return None

    def shattered_example(self) -> Array:
        """Return a shattered set of as many points as the VC dimension."""
        raise DataError(f"no largest shattered set of {self!r} is known.")

    def dichotomies(self, X: Any) -> Array:
        """Return the labelings of the rows of X that some rule gives, in lexical order, one a row."""
        points, place = self._points(X)
        return np.unique(self._dichotomies(points)[:, place], axis=0)

    def n_dichotomies(self, X: Any) -> int:
        """Return how many labelings of the rows of X the class realizes."""
        return len(self.dichotomies(X))

    def bits(self, X: Any) -> float:
        """Return the base-2 logarithm of the number of labelings: what it takes to say which rule, on X."""
        return log2(self.n_dichotomies(X))

    def shatters(self, X: Any) -> bool:
        """Tell whether all labelings of the rows of X are realized."""
        points, place = self._points(X)
        m = len(place)
        if len(points) < m or m > self.vc_dimension:
            return False
        return self.n_dichotomies(X) == 2**m

    def missing_dichotomies(self, X: Any) -> Array:
        """Return the labelings of the rows of X that no rule gives."""
        there = {tuple(row) for row in self.dichotomies(X).tolist()}
        m = len(self._points(X)[1])
        if m > MOST_POINTS:
            raise DataError(f"there are 2^{m} labelings of {m} points; give at most {MOST_POINTS}.")
        every = (np.arange(2**m)[:, None] >> np.arange(m)[::-1]) & 1
        return np.array([row for row in every.tolist() if tuple(row) not in there], dtype=np.int8).reshape(
            -1, m
        )

    def obstruction(self, X: Any) -> str:
        """Say why the rows of X are not shattered; an empty text if they are."""
        points, place = self._points(X)
        if len(points) < len(place):
            return "two points are the same and can never have different labels"
        if self.shatters(X):
            return ""
        first = "".join(map(str, self.missing_dichotomies(X)[0]))
        return f"no rule gives the labels {first}"

    def realize(self, X: Any, labels: Any) -> Any:
        """Return the parameters of a rule that gives these labels to the rows of X, or None."""
        points, place = self._points(X)
        labels = _binary(labels, len(place))
        of_points = np.zeros(len(points), dtype=np.int8)
        of_points[place] = labels
        return self._realize(points, of_points) if (of_points[place] == labels).all() else None

    def learn(self, X: Any, y: Any, sample_weight: Any = None, *, consistent: bool = False) -> Hypothesis:
        """Return the rule with the smallest training error: empirical risk minimization by enumeration.

        Of equally good ones the first in lexical order of the labels is taken.

        Parameters
        ----------
        X, y : points and labels 0 or 1
        sample_weight : array, optional
            On a finite domain, the probability of each point: then the training error is the best possible one.
        consistent : bool, default=False
            Refuse rules with errors: a consistent learner.
        """
        labels = self.dichotomies(X)
        y = _binary(y, labels.shape[1])
        w = np.ones(len(y)) if sample_weight is None else check_weights(sample_weight, len(y))
        errors = (labels != y) @ (w / w.sum())
        best = int(errors.argmin())
        wrong = (labels != y)[:, w > 0].any(axis=1)
        if consistent and wrong.all():
            raise DataError(
                f"no rule of {self!r} is right on all rows; the best is wrong on {errors[best]:.3g}."
            )
        return Hypothesis(self, self.realize(X, labels[best]), float(errors[best]), int((~wrong).sum()))

    def error_regions(self, X: Any, labels: Any) -> FiniteTable:
        """Return the class of regions where a rule differs from the given labels: as rich as the class itself."""
        y = _binary(labels, len(self._points(X)[1]))
        return FiniteTable(self.dichotomies(X) ^ y)

    def is_epsilon_net(self, net: Any, X: Any, labels: Any, epsilon: float, weights: Any = None) -> bool:
        """Tell whether the rows `net` of the domain X hit every error region of weight epsilon or more.

        Then every rule that is right on the net is wrong on less than epsilon of the domain.
        """
        if epsilon <= 0:
            raise DataError(f"epsilon must be positive; got {epsilon}.")
        regions = self.error_regions(X, labels).table
        p = np.ones(regions.shape[1]) if weights is None else check_weights(weights, regions.shape[1])
        heavy = regions[regions @ (p / p.sum()) >= epsilon - 1e-12]
        return bool(heavy[:, np.asarray(net, dtype=int)].any(axis=1).all())

    def vc_search(self, X: Any, max_size: int | None = None) -> VCSearch:
        """Search the rows of X for the largest shattered set, depth first; supersets of others are skipped.

        The search is exhaustive unless it stops at `max_size`.
        """
        columns = self.dichotomies(X).T
        masks = [int("".join(map(str, column)), 2) for column in columns.tolist()]
        every = (1 << columns.shape[1]) - 1
        best: list[int] = []
        most = min(len(masks), int(log2(columns.shape[1])), len(masks) if max_size is None else max_size)
        complete = max_size is None or most < max_size

        def grow(chosen: list[int], parts: list[int], columns: Iterable[int]) -> None:
            nonlocal best
            if len(chosen) > len(best):
                best = list(chosen)
            for j in columns:
                if len(best) == most or len(chosen) + len(masks) - j <= len(best):
                    return
                split = [half for part in parts for half in (part & masks[j], part & ~masks[j])]
                if all(split):
                    grow([*chosen, j], split, range(j + 1, len(masks)))

        grow([], [every], told(range(len(masks)), "VC search", len(masks)))
        return VCSearch(len(best), best, complete or len(best) < most)

    def pac_report(self, n: int, delta: float = 0.05) -> dict[str, Bound]:
        """Return what n rows promise with probability 1 − delta: for consistent rules, and for any rule."""
        size = self.size()
        if size is not None:
            return {
                "consistent": finite_class_bound(n=n, delta=delta, size=size, realizable=True),
                "every rule": finite_class_bound(n=n, delta=delta, size=size),
                "best rule": finite_class_bound(n=n, delta=delta, size=size, target="optimum"),
            }
        if self.vc_dimension == inf:
            raise DegenerateError(
                f"{self!r} has infinite VC dimension: training error zero promises nothing, whatever n."
            )
        return {
            "consistent": vc_bound(
                n=n, delta=delta, d=self.vc_dimension, kind="double sampling", growth="phi"
            ),
            "every rule": vc_bound(n=n, delta=delta, d=self.vc_dimension, growth="phi"),
        }

    def ghost_sample(
        self,
        concept: Any,
        domain: Any,
        m: int,
        epsilon: float,
        *,
        n_trials: int = 200,
        random_state: Any = None,
    ) -> Any:
        r"""Watch the proof by double sampling at work on a finite domain with equally likely points.

        Event A, a bad rule that looks right on m rows, is at most twice as likely as event B, that a second sample of
        m rows shows its errors; and B does not change when the 2m rows are parted anew by chance, which makes it rare:

        .. math:: \binom ml \Big/ \binom{2m}l \;\le\; 2^{-l}, \qquad l = \lceil \varepsilon m/2\rceil

        Parameters
        ----------
        concept : parameters of the true rule
        domain : array of points
        m : int
            Rows in either sample.
        epsilon : float
        n_trials : int, default=200
        random_state : int, RandomState, Generator or None

        Examples
        --------
        >>> from gnomon.theory import Intervals
        >>> found = Intervals(1).ghost_sample([(5, 12)], np.arange(20), 56, 0.1, random_state=0)
        >>> found.bad <= 2 * found.caught <= 2 * found.bound
        True
        """
        from gnomon.theory.experiments import ghost_sample

        return ghost_sample(self, concept, domain, m, epsilon, n_trials, random_state)

    def adversary(self, m: int, learner: Any = None, *, n_trials: int = 500, random_state: Any = None) -> Any:
        r"""Show that no learner learns a class that shatters 2m points from m of them.

        Points are uniform on 2m shattered ones and labels are coins. What was not seen cannot be known: the expected
        error of any consistent learner is :math:`\tfrac12(1 - \tfrac1{2m})^m \ge \tfrac14`.

        Parameters
        ----------
        m : int
            Rows the learner sees, drawn with replacement; at most half of the VC dimension.
        learner : estimator, optional
            Learns from one column, the number of the point; by default it answers 0 where it has seen nothing.
        n_trials : int, default=500
        random_state : int, RandomState, Generator or None

        Examples
        --------
        >>> from gnomon.theory import Intervals
        >>> round(Intervals(k=None).adversary(10, n_trials=2, random_state=0).expected, 6)
        0.299368
        """
        from gnomon.theory.experiments import shattered_adversary

        if 2 * m > self.vc_dimension:
            raise DataError(
                f"{self!r} shatters at most {self.vc_dimension} points, and {m} rows are half of {2 * m}; lower m."
            )
        return shattered_adversary(m, learner, n_trials, random_state)

    def plot(self, X: Any = None, *, most: int = 12, ax: Any = None) -> Any:
        """Draw the growth function; or, for a few points X, every labeling with the region of a rule that gives it.

        Parameters
        ----------
        X : array of shape (m, 1) or (m, 2), optional
            At most five points; returns an array of Axes.
        most : int, default=12
            Points up to which the growth function is drawn, beside 2^m, Sauer's sum and its polynomial bound.
        ax : matplotlib Axes, optional
            For the growth function.
        """
        from gnomon.plot.theory import growth, shatter_panels

        return growth(self, most, ax) if X is None else shatter_panels(self, X)

    def size(self) -> int | None:
        """Return how many rules there are; None for infinitely many."""
        return None

    def _points(self, X: Any) -> tuple[Array, Array]:
        """Return the different rows of X and where each row is among them."""
        points = np.asarray(X, dtype=float)
        points = points[:, None] if points.ndim == 1 else points
        if points.ndim != 2 or not len(points) or not np.isfinite(points).all():
            raise DataError("X must hold points: a matrix of finite numbers with at least one row.")
        if self.n_columns is not None and points.shape[1] != self.n_columns:
            raise DataError(
                f"{self!r} labels points of {self.n_columns} coordinates; X has {points.shape[1]}."
            )
        unique, place = np.unique(points, axis=0, return_inverse=True)
        return unique, place.reshape(-1)

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if name in self._told)
        return f"{type(self).__name__}({told})"

    _told: ClassVar[tuple[str, ...]] = ()


class FiniteTable(ConceptClass):
    """A class written down: one row for each concept, one column for each point of a finite domain.

    Points are column numbers. There are at most ``log2(rows)`` shattered points.

    Examples
    --------
    >>> table = FiniteTable([[1, 1, 1], [0, 1, 1], [1, 0, 0], [0, 0, 0]])
    >>> table.vc_dimension, table.shatters([0, 2]), table.n_dichotomies([1, 2])
    (2, True, 2)
    """

    n_columns = 1

    def __init__(self, table: Any) -> None:
        self.table = np.unique(np.asarray(table, dtype=np.int8), axis=0)
        if self.table.ndim != 2 or not self.table.size or not np.isin(self.table, (0, 1)).all():
            raise DataError("table must hold zeros and ones, with at least one row and one column.")

    @property
    def vc_dimension(self) -> int:  # type: ignore[override]
        """Size of the largest shattered set of columns, by search."""
        return self.vc_search(np.arange(self.table.shape[1])).dimension

    def shattered_example(self) -> Array:
        return np.array(self.vc_search(np.arange(self.table.shape[1])).shattered)[:, None]

    def size(self) -> int:
        return len(self.table)

    def predict(self, parameters: Any, X: Any) -> Array:
        return self.table[int(parameters), self._columns(np.asarray(X).reshape(-1))]

    def shatters(self, X: Any) -> bool:
        points, place = self._points(X)
        return len(points) == len(place) and self.n_dichotomies(X) == 2 ** len(place)

    def _columns(self, points: Array) -> Array:
        columns = points.astype(int)
        if (columns < 0).any() or (columns >= self.table.shape[1]).any():
            raise DataError(f"points of a table are column numbers from 0 to {self.table.shape[1] - 1}.")
        return columns

    def _dichotomies(self, points: Array) -> Array:
        return self.table[:, self._columns(points[:, 0])]

    def _realize(self, points: Array, labels: Array) -> Any:
        found = np.flatnonzero((self._dichotomies(points) == labels).all(axis=1))
        return int(found[0]) if len(found) else None

    def __repr__(self) -> str:
        return f"FiniteTable({self.table.shape[0]} concepts on {self.table.shape[1]} points)"


def _binary(labels: Any, m: int) -> Array:
    values = np.asarray(labels)
    if values.shape != (m,) or not np.isin(values, (0, 1)).all():
        raise DataError(
            f"labels must be {m} zeros and ones; got {np.unique(values)[:5]} of shape {values.shape}."
        )
    return values.astype(np.int8)
