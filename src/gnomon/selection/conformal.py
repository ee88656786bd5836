"""Intervals and sets that keep their promise, around any regressor or classifier."""

from __future__ import annotations

import copy
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.model_selection import KFold, LeaveOneOut, check_cv
from sklearn.utils import (
    Tags,
    assert_all_finite,
    check_array,
    check_consistent_length,
    column_or_1d,
    get_tags,
)
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.estimator import is_learned
from gnomon.core.linalg import Array
from gnomon.core.parameters import HasMethods, Interval, StrOptions
from gnomon.core.promises import Promises
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.threads import in_order
from gnomon.core.validate import check_parameters, encode, unmasked
from gnomon.selection.intervals import check_level, error_interval

ROWS_AT_ONCE = 512
SHARE = Interval(Real, 0, 1, closed="neither")


def indexable_rows(X: Any, estimator: Any = None) -> Any:
    """Return rows that can be taken by number: a data frame, CSR, or an array, checked as the estimator asks for."""
    if hasattr(X, "iloc"):
        return X
    if estimator is None:
        return X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    tags = get_tags(estimator).input_tags
    X = unmasked(X, tags.allow_nan, "X")
    kind = {
        "accept_sparse": "csr" if tags.sparse else False,
        "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
    }
    plain = hasattr(X, "tocsr") or (isinstance(X, np.ndarray) and X.dtype.kind in "fiub")
    return check_array(X, dtype=None if plain else "numeric", estimator=estimator, input_name="X", **kind)


def finite_labels(y: Any) -> Array:
    """Return labels as a vector without NaN or infinity."""
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    return labels


def learn_at_once(model: Any, *data: Any) -> Any:
    """Let a copy of the model learn, and take over what it learned in one step: whole, or not at all."""
    other = copy.copy(model)
    other.__dict__ = {name: value for name, value in vars(model).items() if not is_learned(name)}
    other._learn(*data)
    model.__dict__ = other.__dict__
    return model


class Conformal(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """What both wrappers share: a fitted model, held-out scores, and groups with quantiles of their own."""

    _promises: ClassVar[Promises] = Promises(
        order="no: rows are parted by their place", weights="no: takes none"
    )

    def _take(self, X: Any, index: Array) -> Any:
        return X.iloc[index] if hasattr(X, "iloc") else X[index]

    def _parts(self, n: int) -> tuple[Array, Array]:
        """Return rows to learn from and rows to calibrate with, at random."""
        held = max(1, int(round(self.calibration_size * n)))
        if held >= n:
            raise DataError(f"n_samples={n} is too few to learn from some rows and calibrate with others.")
        order = stream(draw_seed(generator(self.random_state)), 0).permutation(n)
        return np.sort(order[held:]), np.sort(order[:held])

    def _folds(self, n: int) -> list[tuple[Array, Array]]:
        if self.method == "jackknife+":
            return list(LeaveOneOut().split(np.empty((n, 1))))
        if isinstance(self.cv, int):
            if n < 2:
                raise DataError(f"n_samples={n}: folds need at least two rows.")
            rng = draw_seed(generator(self.random_state)) % 2**31
            return list(KFold(min(self.cv, n), shuffle=True, random_state=rng).split(np.empty((n, 1))))
        return list(check_cv(self.cv).split(np.empty((n, 1))))

    def _keep_scores(self, scores: Array, groups: Any, rows: Array) -> None:
        """Sort the scores of every group; the key None holds them all."""
        self.scores_ = {None: np.sort(scores)}
        self.grouped_ = groups is not None
        if groups is not None:
            mine = np.asarray(groups)[rows]
            self.scores_ |= {group: np.sort(scores[mine == group]) for group in np.unique(mine).tolist()}

    def _limits(self, n: int, level: float, groups: Any) -> Array:
        """Return for every row the score that new rows stay below with probability `level`."""
        check_level(level)
        if not self.grouped_:
            if groups is not None:
                raise DataError("groups were not given to fit; fit with groups to have a promise for each.")
            return np.full(n, _quantile(self.scores_[None], level))
        if groups is None:
            raise DataError("the model was fitted with groups; give the group of every row.")
        groups = np.asarray(groups)
        known = {
            group: _quantile(scores, level) for group, scores in self.scores_.items() if group is not None
        }
        strange = [group for group in np.unique(groups).tolist() if group not in known]
        if strange:
            raise DataError(
                f"groups holds {strange[:3]}, which fit has not seen; there are {list(known)[:8]}."
            )
        return np.array([known[group] for group in groups.tolist()])

    def coverage_band(self, level: float = 0.9, probability: float = 0.95) -> tuple[float, float]:
        """Return between which values the true coverage lies, over all calibration sets, with this probability.

        With n scores that have no ties, the coverage of the split method follows a Beta distribution.
        """
        check_is_fitted(self, "estimator_")
        n = len(self.scores_[None])
        k = int(np.ceil((n + 1) * level - 1e-9))
        if k > n:
            return 1.0, 1.0
        ends = stats.beta.ppf([(1 - probability) / 2, (1 + probability) / 2], k, n + 1 - k)
        return float(ends[0]), float(ends[1])

    def _coverage(self, inside: Array, size: Array, groups: Any) -> Any:
        import pandas as pd

        names, codes = (
            (["all"], np.zeros(len(inside), int))
            if groups is None
            else np.unique(groups, return_inverse=True)
        )
        rows = []
        for code in range(len(names)):
            mine = codes == code
            low, high = error_interval(int(inside[mine].sum()), int(mine.sum()), method="exact")
            rows.append((int(mine.sum()), float(inside[mine].mean()), low, high, float(size[mine].mean())))
        columns = ["rows", "coverage", "low", "high", "size"]
        return pd.DataFrame(rows, index=pd.Index(list(names), name="group"), columns=columns)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._base()).input_tags
        return tags

    @property
    def n_features_in_(self) -> int:
        """Number of columns seen by `fit`."""
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> Array:
        """Names of the columns seen by `fit`."""
        return self.estimator_.feature_names_in_


def _quantile(ranked: Array, level: float) -> float:
    """Return the ⌈(n + 1) level⌉-th smallest score; infinite when there are too few of them."""
    k = int(np.ceil((len(ranked) + 1) * level - 1e-9))
    return float(ranked[k - 1]) if k <= len(ranked) else np.inf


class ConformalRegressor(RegressorMixin, Conformal):
    r"""Intervals with a guaranteed coverage around any regressor.

    .. math:: P\bigl(y \in [\hat f(x) - q,\ \hat f(x) + q]\bigr) \ge 1 - \alpha, \qquad
              q = \text{the } \lceil (n+1)(1-\alpha)\rceil\text{-th smallest } \lvert y_i - \hat f(x_i)\rvert

    The promise needs no model to be right, only rows that might have come in any other order. It holds on average over
    x: give groups for one promise each (Mondrian), and for data that drift in time take `AdaptiveConformal`.

    Parameters
    ----------
    estimator : regressor
        Least squares when not given.
    method : {"split", "cv+", "jackknife+"}, default="split"
        One part of the rows calibrates; or every row does, by fits that left its fold (or itself) out, at the price of
        a guarantee of :math:`1 - 2\alpha` (Barber, Candès, Ramdas and Tibshirani, Predictive inference with the
        jackknife+, 2021).
    residual : {"absolute", "interval"}, default="absolute"
        "interval" widens (or narrows) the intervals of an estimator that has `predict_interval`, so that their width
        follows x; for "split".
    calibration_size : float, default=0.25
        Share of the rows that calibrates, for "split".
    cv : int or splitter, default=5
        For "cv+".
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    estimator_ : regressor
        Fitted to the learning part, or to all rows.
    scores_ : dict
        Sorted scores of every group.

    Examples
    --------
    >>> from gnomon.linear import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, (400, 1))
    >>> y = 3 * X[:, 0] + rng.normal(0, 0.5, 400)
    >>> model = ConformalRegressor(LinearRegression(), random_state=0).fit(X[:300], y[:300])
    >>> low, high = model.predict_interval(X[300:], level=0.9)
    >>> bool(0.82 < np.mean((low <= y[300:]) & (y[300:] <= high)) <= 0.98)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "method": [StrOptions({"split", "cv+", "jackknife+"})],
        "residual": [StrOptions({"absolute", "interval"})],
        "calibration_size": [SHARE],
        "cv": ["cv_object"],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "split",
        residual: str = "absolute",
        calibration_size: float = 0.25,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.residual = residual
        self.calibration_size = calibration_size
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> ConformalRegressor:
        """Fit the regressor and keep held-out scores.

        Parameters
        ----------
        X, y : rows and targets
        groups : array of shape (n,), optional
            A promise is kept within every group; for "split".
        """
        return learn_at_once(self, X, y, groups)

    def _learn(self, X: Any, y: Any, groups: Any) -> None:
        check_parameters(self)
        X_, y_ = self._arrays(X, y)
        if self.method != "split":
            if groups is not None or self.residual != "absolute":
                raise DataError("groups and residual='interval' need method='split'.")
            self.estimator_ = clone(self._base()).fit(X, y)
            self._fit_folds(X_, y_)
            return
        train, held = self._parts(len(y_))
        self.estimator_ = clone(self._base()).fit(self._take(X_, train), y_[train])
        self._keep_scores(self._score(self.estimator_, self._take(X_, held), y_[held]), groups, held)

    def _arrays(self, X: Any, y: Any) -> tuple[Any, Array]:
        if y is None:
            raise DataError("y is missing: this regressor requires y to be passed, but the target y is None.")
        rows = indexable_rows(X, self._base())
        y = column_or_1d(y, warn=True, dtype=np.float64)
        check_consistent_length(rows, y)
        assert_all_finite(y, input_name="y")
        return rows, y

    def _score(self, model: Any, X: Any, y: Array) -> Array:
        if self.residual == "absolute":
            return np.abs(y - np.ravel(model.predict(X)))
        low, high = self._base_interval(model, X)
        return np.maximum(low - y, y - high)

    def _base_interval(self, model: Any, X: Any) -> tuple[Array, Array]:
        if not hasattr(model, "predict_interval"):
            raise DataError(
                f"residual='interval' needs an estimator with predict_interval; {type(model).__name__} has none."
            )
        low, high = model.predict_interval(X)
        return np.ravel(low), np.ravel(high)

    def _fit_folds(self, X: Any, y: Array) -> None:
        folds = self._folds(len(y))

        def held_out(fold: tuple[Array, Array]) -> tuple[Any, Array]:
            train, test = fold
            model = clone(self._base()).fit(self._take(X, train), y[train])
            return model, np.abs(y[test] - np.ravel(model.predict(self._take(X, test))))

        residual, fold_of = np.full(len(y), np.nan), np.zeros(len(y), dtype=int)
        self.models_ = []
        for k, ((_, test), (model, scores)) in enumerate(zip(folds, in_order(held_out, folds))):
            residual[test], fold_of[test] = scores, k
            self.models_.append(model)
        if np.isnan(residual).any():
            raise DataError("cv must hold every row out once; take KFold or another partition.")
        self.residuals_, self.fold_of_ = residual, fold_of
        self._keep_scores(residual, None, np.arange(len(y)))

    def predict(self, X: Any) -> Array:
        """Return the regressor's predictions."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    def predict_interval(self, X: Any, level: float = 0.9, *, groups: Any = None) -> tuple[Array, Array]:
        """Return the lower and the upper ends of the intervals; infinite when there are too few scores.

        Parameters
        ----------
        X : rows
        level : float, default=0.9
            Promised coverage.
        groups : array, optional
            The group of every row, when fitted with groups.
        """
        check_is_fitted(self, "estimator_")
        check_level(level)
        if self.method != "split":
            return self._from_folds(X, level)
        if self.residual == "interval":
            low, high = self._base_interval(self.estimator_, X)
        else:
            low = high = np.ravel(self.estimator_.predict(X))
        q = self._limits(len(low), level, groups)
        return low - q, high + q

    def _from_folds(self, X: Any, level: float) -> tuple[Array, Array]:
        said = np.column_stack([np.ravel(model.predict(X)) for model in self.models_])
        n = len(self.residuals_)
        k = int(np.ceil((n + 1) * level - 1e-9))
        if k > n:
            return np.full(len(said), -np.inf), np.full(len(said), np.inf)
        order = np.argsort(self.fold_of_, kind="stable")
        r, fold = self.residuals_[order], self.fold_of_[order]

        def some(first: int) -> tuple[Array, Array]:
            mine = said[first : first + ROWS_AT_ONCE][:, fold]
            high = np.partition(mine + r, k - 1, axis=1)[:, k - 1]
            low = np.partition(mine - r, n - k, axis=1)[:, n - k]
            return low, high

        parts = list(in_order(some, range(0, len(said), ROWS_AT_ONCE)))
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    def coverage(self, X: Any, y: Any, level: float = 0.9, *, groups: Any = None) -> Any:
        """Return a table of the coverage on new rows, by group, with exact intervals, and the mean width."""
        low, high = self.predict_interval(
            X, level, groups=groups if getattr(self, "grouped_", False) else None
        )
        y = np.asarray(y, dtype=float)
        return self._coverage((low <= y) & (y <= high), high - low, groups)

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from gnomon.linear import LinearRegression

        return LinearRegression()


class ConformalClassifier(ClassifierMixin, Conformal):
    r"""Sets of classes with a guaranteed coverage around any classifier with probabilities.

    Parameters
    ----------
    estimator : classifier with `predict_proba`
        Gaussian naive Bayes when not given.
    method : {"split", "cv+"}, default="split"
    rule : {"lac", "aps"}, default="lac"
        "lac", one minus the probability of the class: the smallest sets on average. "aps", the probabilities of all
        classes at least as likely, added up: sets whose size follows the difficulty of the row (Romano, Sesia and
        Candès, Classification with valid and adaptive coverage, 2020).
    randomized : bool, default=True
        Let a random share of the last class count, for "aps": coverage is exact; otherwise it is higher.
    conditional : {None, "class"}, default=None
        "class" keeps the promise within every true class; for "split".
    calibration_size, cv, random_state
        As in `ConformalRegressor`.

    Examples
    --------
    >>> from gnomon.bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 3, 600)
    >>> X = rng.normal(size=(600, 2)) + 1.5 * np.column_stack([y == 1, y == 2])
    >>> model = ConformalClassifier(GaussianNB(), random_state=0).fit(X[:400], y[:400])
    >>> sets = model.predict_set(X[400:], level=0.9)
    >>> bool(0.83 < sets[np.arange(200), y[400:]].mean() <= 0.98)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        "method": [StrOptions({"split", "cv+"})],
        "rule": [StrOptions({"lac", "aps"})],
        "randomized": ["boolean"],
        "conditional": [StrOptions({"class"}), None],
        "calibration_size": [SHARE],
        "cv": ["cv_object"],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "split",
        rule: str = "lac",
        randomized: bool = True,
        conditional: str | None = None,
        calibration_size: float = 0.25,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.rule = rule
        self.randomized = randomized
        self.conditional = conditional
        self.calibration_size = calibration_size
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> ConformalClassifier:
        """Fit the classifier and keep held-out scores.

        Parameters
        ----------
        X, y : rows and labels
        groups : array of shape (n,), optional
            A promise is kept within every group; for "split".
        """
        return learn_at_once(self, X, y, groups)

    def _learn(self, X: Any, y: Any, groups: Any) -> None:
        check_parameters(self)
        if y is None:
            raise DataError(
                "y is missing: this classifier requires y to be passed, but the target y is None."
            )
        rows = indexable_rows(X, self._base())
        classes, codes = encode(finite_labels(y))
        check_consistent_length(rows, codes)
        if len(classes) < 2:
            raise DegenerateError(f"sets need two classes or more; y has only one class, {classes[0]!r}.")
        if self.method == "cv+" and (groups is not None or self.conditional):
            raise DataError("groups and conditional need method='split'.")
        if groups is not None and self.conditional:
            raise DataError("give groups or conditional='class', not both.")
        self.classes_ = classes
        self.seed_ = draw_seed(generator(self.random_state))
        folds = self._folds(len(codes)) if self.method == "cv+" else [self._class_parts(codes)]

        def held_out(fold: tuple[Array, Array]) -> tuple[Any, Array]:
            train, test = fold
            model = clone(self._base()).fit(self._take(rows, train), codes[train])
            table = self._scores(self._probabilities(model, self._take(rows, test)), 1 + int(test[0]))
            return model, table[np.arange(len(test)), codes[test]]

        scores, fold_of = np.full(len(codes), np.nan), np.zeros(len(codes), dtype=int)
        self.models_ = []
        for k, ((_, test), (model, values)) in enumerate(zip(folds, in_order(held_out, folds))):
            scores[test], fold_of[test] = values, k
            self.models_.append(model)
        held = np.flatnonzero(~np.isnan(scores))
        if self.method == "cv+" and len(held) < len(codes):
            raise DataError("cv must hold every row out once; take KFold or another partition.")
        self.estimator_ = self.models_[0] if self.method == "split" else clone(self._base()).fit(rows, codes)
        self.fold_of_ = fold_of[held]
        self.held_scores_ = scores[held]
        by = classes[codes] if self.conditional else groups
        self._keep_scores(scores[held], by, held)

    def _class_parts(self, codes: Array) -> tuple[Array, Array]:
        """Part the rows so that every class is learned from."""
        train, held = self._parts(len(codes))
        missing = np.setdiff1d(np.arange(codes.max() + 1), codes[train])
        back = [held[codes[held] == k][0] for k in missing]
        kept = np.setdiff1d(held, back)
        if not len(kept):
            raise DataError(
                f"n_samples={len(codes)} is too few: every class must be learned from, and some rows calibrate."
            )
        return np.sort(np.append(train, back).astype(int)), kept

    def _probabilities(self, model: Any, X: Any) -> Array:
        found = model.predict_proba(X)
        k = len(self.classes_)
        if found.shape[1] == k:
            return found
        P = np.zeros((len(found), k))
        P[:, np.asarray(model.classes_, dtype=int)] = found
        return P

    def _scores(self, P: Array, salt: int) -> Array:
        """Return the score of every class for every row: how unlikely it is, given what is likelier."""
        if self.rule == "lac":
            return 1.0 - P
        order = np.argsort(-P, axis=1, kind="stable")
        ranked = np.take_along_axis(P, order, axis=1)
        u = stream(self.seed_, salt).random((len(P), 1)) if self.randomized else np.zeros((len(P), 1))
        cumulated = np.cumsum(ranked, axis=1) - u * ranked
        table = np.empty_like(P)
        np.put_along_axis(table, order, cumulated, axis=1)
        return table

    def predict(self, X: Any) -> Array:
        """Return the most probable class."""
        check_is_fitted(self, "estimator_")
        return self.classes_[np.asarray(self.estimator_.predict(X), dtype=int)]

    def predict_proba(self, X: Any) -> Array:
        """Return the classifier's probabilities."""
        check_is_fitted(self, "estimator_")
        return self._probabilities(self.estimator_, X)

    def predict_set(self, X: Any, level: float = 0.9, *, groups: Any = None) -> Array:
        """Return which classes are in the set of each row: booleans of shape (n, classes).

        Parameters
        ----------
        X : rows
        level : float, default=0.9
            Promised coverage.
        groups : array, optional
            The group of every row, when fitted with groups.
        """
        check_is_fitted(self, "estimator_")
        check_level(level)
        if self.method == "cv+":
            return self._from_folds(X, level)
        table = self._scores(self._probabilities(self.models_[0], X), 0)
        if self.conditional:
            q = np.array([_quantile(self.scores_.get(c, np.empty(0)), level) for c in self.classes_.tolist()])
            return table <= q + 1e-12
        return table <= self._limits(len(table), level, groups)[:, None] + 1e-12

    def _from_folds(self, X: Any, level: float) -> Array:
        """Keep a class unless its score is above too many of the held-out scores, each by its own fold's model."""
        n, beaten = len(self.held_scores_), 0
        for k, model in enumerate(self.models_):
            ranked = np.sort(self.held_scores_[self.fold_of_ == k])
            beaten = beaten + np.searchsorted(ranked, self._scores(self._probabilities(model, X), 0) - 1e-12)
        return np.asarray(beaten < level * (n + 1))

    def coverage(self, X: Any, y: Any, level: float = 0.9, *, groups: Any = None) -> Any:
        """Return a table of the coverage on new rows, by group, with exact intervals, and the mean size of a set."""
        sets = self.predict_set(X, level, groups=groups if self.grouped_ and not self.conditional else None)
        inside = sets[np.arange(len(sets)), np.searchsorted(self.classes_, y)]
        return self._coverage(inside, sets.sum(axis=1).astype(float), groups)

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from gnomon.bayes import GaussianNB

        return GaussianNB()
