"""Learners for which the theorems hold: the tightest box, and the elimination of literals."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Tags

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.validate import NUMBER, Reads
from gnomon.theory.bounds import Bound, rectangle_bound
from gnomon.theory.experiments import RectangleGame, rectangle_game


class TwoClasses(ClassifierMixin, OneStep):
    """A learner of two classes, the second of which is the positive one."""

    _reads: ClassVar[Reads] = Reads(y="class")

    def _labels(self, rows: Any) -> tuple[Array, Array, Array]:
        """Return the rows that count, whether each is positive, and their weights."""
        n_classes = len(rows.classes)
        if n_classes != 2:
            only = "only one class" if n_classes == 1 else f"{n_classes} classes"
            raise DataError(
                f"Only binary classification is supported. {type(self).__name__} parts two classes; y has {only}."
            )
        counts = rows.weight > 0
        return np.asarray(rows.X, dtype=float)[counts], rows.y[counts] == 1, rows.weight[counts]

    def _check_loaded(self) -> None:
        if len(getattr(self, "classes_", (0, 1))) != 2:
            raise ModelFileError("it parts two classes and has another number of them. Get a new copy.")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class RectangleLearner(TwoClasses):
    r"""The box around the positive rows.

    With ``strategy="tightest"`` the box is the smallest that holds them. If the truth is a box, it errs on one
    side only, and :math:`n \ge \frac{2d}{\varepsilon}\ln\frac{2d}{\delta}` rows make its error at most
    :math:`\varepsilon` with probability :math:`1-\delta`, whatever the distribution: see `bound`. For
    data with noise take a tree.

    Parameters
    ----------
    strategy : {"tightest", "loosest", "midway"}, default="tightest"
        "loosest" then moves the sides outward, lower 0, upper 0, lower 1, …, each up to (not including) the nearest
        negative row within the other sides, or to the end of the data. "midway" is the average of the two.

    Attributes
    ----------
    lower_, upper_ : arrays of shape (d,)
        Corners; of an empty box, infinite.
    empty_ : bool
        No row was positive: everything is negative.
    training_error_ : float
        Share of the rows on the wrong side.

    Examples
    --------
    >>> X = [[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [4.0, 1.0]]
    >>> model = RectangleLearner().fit(X, [0, 1, 1, 0])
    >>> model.lower_, model.upper_
    (array([1., 1.]), array([2., 2.]))
    >>> RectangleLearner(strategy="loosest").fit(X, [0, 1, 1, 0]).upper_
    array([4., 2.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "strategy": [StrOptions({"tightest", "loosest", "midway"})]
    }

    def __init__(self, *, strategy: str = "tightest") -> None:
        self.strategy = strategy

    def _solve(self, rows: Any) -> dict[str, Any]:
        X, positive, weight = self._labels(rows)
        inside = X[positive]
        if not len(inside):
            ends = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
            closed = np.ones((2, X.shape[1]), bool)
        else:
            tight = inside.min(axis=0), inside.max(axis=0)
            ends, closed = (
                (tight, np.ones((2, X.shape[1]), bool))
                if self.strategy == "tightest"
                else _loosest(*tight, X[~positive], X)
            )
            if self.strategy == "midway":
                ends = (ends[0] + tight[0]) / 2, (ends[1] + tight[1]) / 2
                closed = closed | (ends[0] == tight[0], ends[1] == tight[1])
        wrong = float((_in_box(X, *ends, closed) != positive) @ weight / weight.sum())
        if wrong and len(inside):
            warnings.warn(
                f"no box holds all positive rows and no other; {wrong:.3g} of the rows are on the wrong side.",
                stacklevel=4,
            )
        return {
            "lower_": ends[0],
            "upper_": ends[1],
            "closed_": closed,
            "empty_": not len(inside),
            "training_error_": wrong,
        }

    def predict(self, X: Any) -> Array:
        """Return the positive class inside the box, the other outside."""
        X = np.asarray(self._rows(X).X, dtype=float)
        return self.classes_[_in_box(X, self.lower_, self.upper_, self.closed_).astype(int)]

    @staticmethod
    def bound(
        n: Any = None, epsilon: Any = None, delta: Any = None, *, dim: Any = 2, form: str = "exact"
    ) -> Bound:
        r"""Relate n, epsilon and delta for the tightest box; leave out the one that is wanted.

        .. math:: \delta = 2d\,(1 - \varepsilon/2d)^n \;\le\; 2d\,e^{-n\varepsilon/2d}

        The error lies in 2d strips along the sides of the true box; if each has been hit, none weighs more than
        :math:`\varepsilon/2d`.

        Parameters
        ----------
        n, epsilon, delta : numbers or arrays
            Rows, accuracy, probability of failure. Exactly one is left out.
        dim : int or array
            Number of features.
        form : {"exact", "simple"}

        Examples
        --------
        >>> RectangleLearner.bound(epsilon=0.1, delta=0.05).value
        174
        >>> RectangleLearner.bound(epsilon=0.1, delta=0.05, form="simple").value
        176
        >>> round(RectangleLearner.bound(n=100, epsilon=0.1).value, 6)
        0.318069
        """
        return rectangle_bound(n, epsilon, delta, dim=dim, form=form)

    @staticmethod
    def game(
        m: int,
        epsilon: float = 0.1,
        *,
        lower: Any = (0.2, 0.2),
        upper: Any = (0.8, 0.8),
        draw: Any = None,
        n_trials: int = 1000,
        n_test: int = 20_000,
        random_state: Any = None,
    ) -> RectangleGame:
        """Play the game: points fall, those inside a hidden box are positive, the tightest box is guessed.

        Parameters
        ----------
        m : int
            Points in a sample.
        epsilon : float, default=0.1
            An error above it is a failure.
        lower, upper : arrays of shape (d,)
            Corners of the hidden box.
        draw : callable, optional
            ``draw(rng, size)`` returns points; uniform on the unit cube by default, for which errors are exact.
        n_trials : int, default=1000
        n_test : int, default=20000
            Points that measure an error, for other distributions.
        random_state : int, RandomState, Generator or None

        Returns
        -------
        RectangleGame
            How often the error exceeded epsilon (`failure`), the `bound` on that, all `errors`, and `plot`.

        Examples
        --------
        >>> found = RectangleLearner.game(100, n_trials=500, random_state=0)
        >>> found.failure < found.bound
        True
        """
        return rectangle_game(m, epsilon, lower, upper, draw, n_trials, n_test, random_state)


def _in_box(X: Array, lower: Array, upper: Array, closed: Array) -> Array:
    above = np.where(closed[0], X >= lower, X > lower)
    below = np.where(closed[1], X <= upper, X < upper)
    return (above & below).all(axis=1)


def _loosest(low: Array, high: Array, negative: Array, X: Array) -> tuple[tuple[Array, Array], Array]:
    """Move every side outward to the nearest negative row that the other sides let through."""
    low, high = low.copy(), high.copy()
    closed = np.ones((2, len(low)), bool)
    for axis in range(len(low)):
        others = np.delete(np.arange(len(low)), axis)
        for side in (0, 1):
            near = _in_box(negative[:, others], low[others], high[others], closed[:, others])
            column = negative[near, axis]
            stops = column[column < low[axis]] if side == 0 else column[column > high[axis]]
            end = X[:, axis].min() if side == 0 else X[:, axis].max()
            if len(stops):
                end, closed[side, axis] = (stops.max() if side == 0 else stops.min()), False
            (low if side == 0 else high)[axis] = end
    return (low, high), closed


class ConjunctionLearner(TwoClasses):
    r"""The longest conjunction of literals that every positive row satisfies.

    All 2d literals are kept at first; a positive row deletes those it falsifies. Negative rows are not looked at. If
    the truth is a conjunction, the learned one implies it: it never calls a negative row positive. There are
    :math:`3^d` conjunctions, so :math:`n \ge (d\ln 3 + \ln(1/\delta))/\varepsilon` rows are enough
    (`finite_class_bound`); online, at most :math:`d + 1` mistakes are made.

    Parameters
    ----------
    binarize : float or None, default=0.0
        Features above it are 1; None when they are zeros and ones already.

    Attributes
    ----------
    literals_ : array of shape (d, 2)
        Whether "feature" and "not feature" are in the conjunction.
    n_mistakes_ : int
        Rows that the conjunction of that moment got wrong, over all calls of `partial_fit` (or the one of `fit`).
    training_error_ : float
        Share of the rows of `fit` that the final conjunction gets wrong.

    Examples
    --------
    >>> model = ConjunctionLearner().fit([[1, 0, 1], [1, 0, 0], [0, 0, 1]], [1, 1, 0])
    >>> model.formula()
    'x0 and not x1'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"binarize": [NUMBER, None]}

    def __init__(self, *, binarize: float | None = 0.0) -> None:
        self.binarize = binarize

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # a single odd positive row deletes what matters
        return tags

    def _bits(self, X: Any) -> Array:
        X = np.asarray(X, dtype=float)
        if self.binarize is not None:
            return X > self.binarize
        if not np.isin(X, (0.0, 1.0)).all():
            raise DataError("X must hold zeros and ones; set binarize to a threshold for other numbers.")
        return X == 1.0

    def _solve(self, rows: Any) -> dict[str, Any]:
        X, positive, weight = self._labels(rows)
        bits = self._bits(X)
        literals, mistakes = _eliminate(np.ones((bits.shape[1], 2), bool), bits, positive)
        wrong = float((_satisfied(literals, bits) != positive) @ weight / weight.sum())
        if wrong:
            warnings.warn(
                f"no conjunction has all positive rows and no other; {wrong:.3g} of the rows are wrong.",
                stacklevel=4,
            )
        return {"literals_": literals, "n_mistakes_": mistakes, "training_error_": wrong}

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Take rows one by one: predict, then delete what a positive row falsifies.

        Parameters
        ----------
        X, y : rows and their labels
        classes : array of two labels
            Needed at the first call; the second in sorted order is the positive one.
        """
        first = not hasattr(self, "literals_")
        if first and classes is None:
            raise DataError("classes must be given at the first call of partial_fit.")
        known = classes if first else self.classes_
        if len(np.unique(known)) != 2:
            raise DataError(f"classes must hold two labels; got {known}.")
        rows = self._read(X, y, reset=first, classes=known)
        bits, positive = self._bits(rows.X), np.asarray(rows.y) == 1
        before = np.ones((bits.shape[1], 2), bool) if first else self.literals_
        literals, mistakes = _eliminate(before, bits, positive)
        total = mistakes + (0 if first else self.n_mistakes_)
        self._adopt({"literals_": literals, "n_mistakes_": total}, rows)
        return self

    def predict(self, X: Any) -> Array:
        """Return the positive class where all literals hold."""
        bits = self._bits(self._rows(X).X)
        return self.classes_[_satisfied(self.literals_, bits).astype(int)]

    def adversarial_stream(self, n: int) -> tuple[Array, Array]:
        """Return n + 1 rows of n features, and labels that force the learner into at least n mistakes online.

        The first row has every feature and is positive. Row j + 1 has every feature but the j-th; its label is the
        opposite of what the learner says, and the conjunction of the features of negative rows agrees with all.

        Examples
        --------
        >>> X, y = ConjunctionLearner().adversarial_stream(3)
        >>> y.tolist()
        [1, 1, 1, 1]
        >>> ConjunctionLearner().partial_fit(X, y, classes=[0, 1]).n_mistakes_
        4
        """
        if n < 1:
            raise DataError(f"n must be at least 1; got {n}.")
        online, X = clone(self), np.vstack([np.ones(n), 1.0 - np.eye(n)])
        online.partial_fit(X[:1], [1], classes=[0, 1])  # positive for every conjunction without negations
        labels = [1]
        for row in X[1:]:
            labels.append(1 - int(online.predict(row[None])[0]))
            online.partial_fit(row[None], labels[-1:])
        return X, np.array(labels)

    def formula(self) -> str:
        """Return the conjunction in words; "true" without literals, "false" if some feature is asked to be both."""
        if self.literals_.all(axis=1).any():
            return "false"
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(len(self.literals_))])
        words = [
            name if there else f"not {name}"
            for name, (there, absent) in zip(names, self.literals_)
            if there or absent
        ]
        return " and ".join(words) or "true"


def _satisfied(literals: Array, bits: Array) -> Array:
    return ~((literals[:, 0] & ~bits) | (literals[:, 1] & bits)).any(axis=1)


def _eliminate(literals: Array, bits: Array, positive: Array) -> tuple[Array, int]:
    """Return the literals after these rows, and how many rows the hypothesis of the moment got wrong."""
    literals, mistakes = literals.copy(), 0
    for row, label in zip(bits, positive):
        said = _satisfied(literals, row[None])[0]
        mistakes += int(said != label)
        if label:
            literals[:, 0] &= row
            literals[:, 1] &= ~row
    return literals, mistakes
