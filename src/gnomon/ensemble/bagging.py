"""Bagging: the same learner on many bootstrap samples, averaged or put to the vote."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse, stats
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from gnomon.core.errors import DataError
from gnomon.core.parameters import HasMethods, Interval, StrOptions
from gnomon.core.randomness import draw_seed, stream
from gnomon.core.steps import Learner, Report
from gnomon.core.threads import in_order
from gnomon.core.validate import Reads, warn
from gnomon.ensemble.sampling import draw_counts, make_pool, n_draws
from gnomon.trees.base import positive
from gnomon.trees.tree import DecisionTreeClassifier, DecisionTreeRegressor

Array = np.ndarray

_RULES: dict[str, Any] = {
    "estimator": [HasMethods(["fit", "predict"]), None],
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "max_samples": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0, 1, closed="right"),
        None,
    ],
    "max_features": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="right")],
    "bootstrap": ["boolean"],
    "bootstrap_features": ["boolean"],
    "oob_score": ["boolean", callable],
    "warm_start": ["boolean"],
    "n_jobs": [Integral, None],
    "random_state": ["random_state", np.random.Generator],
    "verbose": ["verbose"],
}


class BagState(NamedTuple):
    """Members so far with the features and rows they saw."""

    members: tuple[Any, ...]
    features: tuple[Array, ...]
    counts: tuple[Array, ...]
    seed: int


class _Bagging(MetaEstimatorMixin, Learner):
    _stop = "self"
    _target: ClassVar[str] = "class"
    _default: ClassVar[Any] = None

    @property
    def _reads(self) -> Reads:
        if self.estimator is None:
            return Reads(y=self._target, nan=True, sparse=True)
        tags = get_tags(self.estimator).input_tags
        return Reads(y=self._target, nan=bool(tags.allow_nan), sparse=bool(tags.sparse))

    def _limit(self) -> int:
        return int(self.n_estimators)

    def _base(self) -> Any:
        return self._default() if self.estimator is None else self.estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the members; see `Learner.fit`. Members of sparse rows get them in the format they were given in."""
        self._format = type(X) if sparse.issparse(X) else None  # while fitting
        try:
            return super().fit(X, y, sample_weight)
        finally:
            del self._format

    def iterate(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Any]:
        """Yield a fitted copy of the committee; a committee without members is left out."""
        yield from (copy for copy in super().iterate(X, y, sample_weight) if copy.estimators_)

    def _start(self, rows: Any, rng: Any) -> BagState:
        if self.oob_score and not self.bootstrap:
            raise DataError("oob_score needs bootstrap=True: without it no row is out of the bag.")
        return BagState((), (), (), draw_seed(rng))

    def _state(self) -> BagState:
        grown = len(self._bag_.members)
        if self.n_estimators < grown:
            raise DataError(
                f"n_estimators={self.n_estimators} must be at least {grown} when warm_start=True: "
                "the old members are kept."
            )
        if self.n_estimators == grown:
            warn("Warm-start fitting without increasing n_estimators does not fit new members.")
        return self._bag_

    def _step(self, rows: Any, state: BagState) -> tuple[BagState, Report]:
        X, y, weight = positive(rows)
        pool = make_pool(X, y, weight)
        n = X.shape[0]
        size = n_draws(self.max_samples, pool.size if self.bootstrap else n)
        width = (
            self.max_features
            if isinstance(self.max_features, Integral)
            else int(self.max_features * X.shape[1])
        )
        first, last = len(state.members), self.n_estimators
        labels = y if rows.classes is None else rows.classes[y]

        def one(index: int) -> tuple[Any, Array, Array]:
            rng = stream(state.seed, index)
            if self.bootstrap:
                counts = draw_counts(pool, size, rng)
            else:
                counts = weight.copy()
                if size < n:
                    counts[pool.order[np.sort(rng.permutation(n)[size:])]] = 0.0
            features = np.arange(X.shape[1])
            if width < X.shape[1] or self.bootstrap_features:
                features = np.sort(rng.choice(X.shape[1], max(1, width), replace=self.bootstrap_features))
            return self._member(X, labels, counts, features, rng), features, counts

        grown = list(in_order(one, range(first, last)))
        state = BagState(
            state.members + tuple(member for member, _, _ in grown),
            state.features + tuple(features for _, features, _ in grown),
            state.counts + tuple(counts for _, _, counts in grown),
            state.seed,
        )
        return state, Report(None, done=True)

    def _member(self, X: Array, y: Array, counts: Array, features: Array, rng: Any) -> Any:
        member = clone(self._base())
        seed = int(rng.integers(2**31))
        member.set_params(**{name: seed for name in member.get_params() if name.endswith("random_state")})
        part = (
            X if len(features) == X.shape[1] and (features == np.arange(X.shape[1])).all() else X[:, features]
        )
        keep, given = counts > 0, getattr(self, "_format", None) or (lambda rows: rows)
        if has_fit_parameter(member, "sample_weight"):
            if (
                self._target == "class" and len(np.unique(y[keep])) < 2
            ):  # many classifiers ask for two classes: the others stay, with weight 0
                keep = slice(None)
            member.fit(given(part[keep]), y[keep], sample_weight=counts[keep])
            return member
        chosen = np.repeat(np.arange(X.shape[0]), np.round(counts).astype(np.int64))
        member.fit(given(part[chosen]), y[chosen])
        return member

    def _attributes(self, state: BagState) -> dict[str, Any]:
        facts = {
            "estimators_": list(state.members),
            "estimator_": self._base(),
            "estimators_features_": list(state.features),
            "_bag_": state,
        }
        return facts

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: int) -> Any:
        return self.estimators_[index]

    def _keep(self, run: Any, rows: Any) -> None:
        super()._keep(run, rows)
        self._kept_ = np.flatnonzero(rows.weight > 0)
        if self.oob_score:
            X, y, _ = positive(rows)
            self._score_oob(X, y)

    @property
    def estimators_samples_(self) -> list[Array]:
        """Rows that each member saw, repeated as drawn."""
        if not self.bootstrap:
            return [self._kept_[c > 0] for c in self._bag_.counts]
        return [np.repeat(self._kept_, np.round(c).astype(np.int64)) for c in self._bag_.counts]

    def _outputs(self, X: Array, member: Any, features: Array) -> Array:
        raise NotImplementedError

    def _each(self, X: Any) -> Iterator[Array]:
        rows = self._rows(X)
        pairs = list(zip(self.estimators_, self.estimators_features_))
        yield from in_order(lambda pair: self._outputs(rows.X, *pair), pairs)

    def _oob(self, X: Array) -> tuple[Array, Array]:
        n = X.shape[0]
        total, count = None, np.zeros(n)
        for member, features, counts in zip(*self._bag_[:3]):
            out = np.flatnonzero(counts == 0)
            if not len(out):
                continue
            found = self._outputs(X[out], member, features)
            total = np.zeros((n, *found.shape[1:])) if total is None else total
            total[out] += found
            count[out] += 1
        missing = int(np.count_nonzero(count == 0))
        if missing:
            warn(f"{missing} rows are in every bag and have no out-of-bag prediction; use more members.")
        total = np.zeros(n) if total is None else total
        with np.errstate(invalid="ignore", divide="ignore"):
            return total / (count if total.ndim == 1 else count[:, None]), count > 0

    def _score_oob(self, X: Array, y: Array) -> None:
        raise NotImplementedError


def _members_decide(model: Any) -> bool:
    """Tell whether the members have decision functions; raise AttributeError otherwise."""
    known = model.estimators_[0] if hasattr(model, "estimators_") else model._base()
    getattr(known, "decision_function")  # noqa: B009 - its error is the answer
    return True


class BaggingClassifier(ClassifierMixin, _Bagging):
    r"""The same classifier on many bootstrap samples; the members vote.

    .. math:: \hat p(x) = \frac1B \sum_b \hat p_b(x) \ \text{(soft)}, \qquad
              \hat v_k(x) = \frac1B \sum_b \mathbb{1}\{f_b(x) = k\} \ \text{(hard)}

    Averaging keeps the bias and lowers the variance, so it helps unstable learners (deep trees, nearest
    neighbors with small k) and does nothing in expectation for linear ones. With two classes the second wins
    only with *more* than one half. Members of different kinds belong into a `VotingClassifier`.

    Parameters
    ----------
    estimator : classifier, optional
        A `DecisionTreeClassifier` by default.
    n_estimators, max_samples, max_features, bootstrap, bootstrap_features
        As in scikit-learn. Rows are drawn in proportion to `sample_weight`; whole numbers are repetitions.
    oob_score, warm_start, n_jobs, random_state, verbose
        As in scikit-learn.
    voting : {"soft", "hard"}, default="soft"
        Average probabilities, or count votes. Members without `predict_proba` vote hard.

    Attributes
    ----------
    estimators_, estimators_features_, estimators_samples_, classes_, oob_score_, oob_decision_function_
        As in scikit-learn.

    Examples
    --------
    >>> X = np.arange(20.0)[:, None]
    >>> y = (X[:, 0] > 9).astype(int)
    >>> BaggingClassifier(n_estimators=5, random_state=0).fit(X, y).predict([[1.0], [18.0]])
    array([0, 1])
    """

    _default = DecisionTreeClassifier
    _parameter_constraints: ClassVar[dict[str, Any]] = {**_RULES, "voting": [StrOptions({"soft", "hard"})]}

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=None,
        max_features=1.0,
        bootstrap=True,
        bootstrap_features=False,
        oob_score=False,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        voting="soft",
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.voting = voting

    def _outputs(self, X: Array, member: Any, features: Array) -> Array:
        part = X[:, features]
        out = np.zeros((X.shape[0], len(self.classes_)))
        if self.voting == "soft" and hasattr(member, "predict_proba"):
            out[:, np.searchsorted(self.classes_, member.classes_)] = member.predict_proba(part)
        else:
            out[np.arange(len(out)), np.searchsorted(self.classes_, member.predict(part))] = 1.0
        return out

    def _score_oob(self, X: Array, y: Array) -> None:
        mean, seen = self._oob(X)
        self.oob_decision_function_ = mean
        metric = self.oob_score if callable(self.oob_score) else accuracy_score
        guess = self.classes_[mean[seen].argmax(axis=1)]
        self.oob_score_ = float(metric(self.classes_[y[seen]], guess)) if seen.any() else np.nan

    def votes(self, X: Any) -> Array:
        """Return how many members vote for each class, (n, classes)."""
        rows = self._rows(X)
        found = np.zeros((rows.n_rows, len(self.classes_)), dtype=np.int64)
        for member, features in zip(self.estimators_, self.estimators_features_):
            codes = np.searchsorted(self.classes_, member.predict(rows.X[:, features]))
            found[np.arange(len(found)), codes] += 1
        return found

    def predict_proba(self, X: Any) -> Array:
        """Return the mean probabilities, or the shares of votes."""
        return sum(self._each(X)) / len(self.estimators_)

    def predict(self, X: Any) -> Array:
        """Return the class with the largest share; ties go to the lowest class."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @available_if(_members_decide)
    def decision_function(self, X: Any) -> Array:
        """Return the mean of the members' decision functions."""
        rows = self._rows(X)
        pairs = zip(self.estimators_, self.estimators_features_, strict=True)
        found = [member.decision_function(rows.X[:, features]) for member, features in pairs]
        if any(len(member.classes_) < len(self.classes_) for member in self.estimators_):
            raise DataError("a member has not seen every class; its decision function cannot be averaged.")
        return sum(found) / len(found)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the prediction of the first 1, 2, ... members."""
        total = 0.0
        for found in self._each(X):
            total = total + found
            yield self.classes_[total.argmax(axis=1)]


class BaggingRegressor(RegressorMixin, _Bagging):
    r"""The same regressor on many bootstrap samples; predictions are averaged.

    .. math:: f(x) = \frac1B \sum_b f_b(x)

    The mean of B members with variance :math:`\sigma^2` and correlation :math:`\rho` has variance
    :math:`\rho\sigma^2 + (1-\rho)\sigma^2/B`, and their bias. So it helps learners that change much with
    their sample, deep trees above all, and hardly a linear model. For trees alone `RandomForestRegressor` is
    faster and makes them less alike.

    Parameters
    ----------
    estimator : regressor, optional
        A `DecisionTreeRegressor` by default.
    n_estimators, max_samples, max_features, bootstrap, bootstrap_features
        As in `BaggingClassifier`.
    oob_score, warm_start, n_jobs, random_state, verbose
        As in `BaggingClassifier`.

    Attributes
    ----------
    estimators_, estimators_features_, estimators_samples_, oob_score_, oob_prediction_
        As in scikit-learn.

    Examples
    --------
    >>> X = np.arange(20.0)[:, None]
    >>> BaggingRegressor(n_estimators=50, random_state=0).fit(X, X[:, 0]).predict([[3.0], [16.0]]).round(0)
    array([ 3., 16.])
    """

    _target = "numbers"
    _default = DecisionTreeRegressor
    _parameter_constraints: ClassVar[dict[str, Any]] = _RULES

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=None,
        max_features=1.0,
        bootstrap=True,
        bootstrap_features=False,
        oob_score=False,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _outputs(self, X: Array, member: Any, features: Array) -> Array:
        return member.predict(X[:, features])

    def _score_oob(self, X: Array, y: Array) -> None:
        mean, seen = self._oob(X)
        self.oob_prediction_ = mean
        metric = self.oob_score if callable(self.oob_score) else r2_score
        self.oob_score_ = float(metric(y[seen], mean[seen])) if seen.sum() > 1 else np.nan

    def predict(self, X: Any) -> Array:
        """Return the mean of the members' predictions."""
        return sum(self._each(X)) / len(self.estimators_)

    def predict_distribution(self, X: Any) -> Any:
        """Return a normal distribution with the mean and the spread of the members' predictions."""
        each = np.stack(list(self._each(X)))
        return stats.norm(each.mean(axis=0), np.maximum(each.std(axis=0), 1e-150))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the mean of the first 1, 2, ... members."""
        total = 0.0
        for count, found in enumerate(self._each(X), 1):
            total = total + found
            yield total / count
