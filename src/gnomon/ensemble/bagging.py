"""Bagging: the same learner on many bootstrap samples, averaged or put to the vote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from scipy import stats
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.metaestimators import available_if

from gnomon.core.errors import DataError
from gnomon.core.parameters import StrOptions
from gnomon.core.routing import route
from gnomon.ensemble.bagging_base import RULES, Bagging
from gnomon.trees.tree import DecisionTreeClassifier, DecisionTreeRegressor

Array = np.ndarray


def _members_decide(model: Any) -> bool:
    """Tell whether the members have decision functions; raise AttributeError otherwise."""
    known = model.estimators_[0] if hasattr(model, "estimators_") else model._base()
    getattr(known, "decision_function")  # noqa: B009 - its error is the answer
    return True


class BaggingClassifier(ClassifierMixin, Bagging):
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
    _parameter_constraints: ClassVar[dict[str, Any]] = {**RULES, "voting": [StrOptions({"soft", "hard"})]}

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

    def _asks(self) -> str:
        soft = self.voting == "soft" and hasattr(self._base(), "predict_proba")
        return "predict_proba" if soft else "predict"

    def _outputs(self, X: Array, member: Any, features: Array, **metadata: Any) -> Array:
        part = X[:, features]
        out = np.zeros((X.shape[0], len(self.classes_)))
        if self.voting == "soft" and hasattr(member, "predict_proba"):
            out[:, np.searchsorted(self.classes_, member.classes_)] = member.predict_proba(part, **metadata)
        else:
            votes = np.searchsorted(self.classes_, member.predict(part, **metadata))
            out[np.arange(len(out)), votes] = 1.0
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

    def predict_proba(self, X: Any, **params: Any) -> Array:
        """Return the mean probabilities, or the shares of votes; `params` are metadata for the members."""
        return sum(self._each(X, "predict_proba", params)) / len(self.estimators_)

    def predict(self, X: Any, **params: Any) -> Array:
        """Return the class with the largest share; ties go to the lowest class. `params` are for the members."""
        best = sum(self._each(X, "predict", params)).argmax(axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X: Any, **params: Any) -> Array:
        """Return the logarithms of `predict_proba`."""
        mean = sum(self._each(X, "predict_log_proba", params)) / len(self.estimators_)
        with np.errstate(divide="ignore"):
            return np.log(mean)

    @available_if(_members_decide)
    def decision_function(self, X: Any, **params: Any) -> Array:
        """Return the mean of the members' decision functions; `params` are metadata for them."""
        rows = self._rows(X)
        metadata = route(self, "decision_function", params).estimator.decision_function
        pairs = zip(self.estimators_, self.estimators_features_, strict=True)
        found = [member.decision_function(rows.X[:, features], **metadata) for member, features in pairs]
        if any(len(member.classes_) < len(self.classes_) for member in self.estimators_):
            raise DataError("a member has not seen every class; its decision function cannot be averaged.")
        return sum(found) / len(found)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the prediction of the first 1, 2, ... members."""
        total = 0.0
        for found in self._each(X):
            total = total + found
            yield self.classes_[total.argmax(axis=1)]


class BaggingRegressor(RegressorMixin, Bagging):
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
    _parameter_constraints: ClassVar[dict[str, Any]] = RULES

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

    def _outputs(self, X: Array, member: Any, features: Array, **metadata: Any) -> Array:
        return member.predict(X[:, features], **metadata)

    def _score_oob(self, X: Array, y: Array) -> None:
        mean, seen = self._oob(X)
        self.oob_prediction_ = mean
        metric = self.oob_score if callable(self.oob_score) else r2_score
        self.oob_score_ = float(metric(y[seen], mean[seen])) if seen.sum() > 1 else np.nan

    def predict(self, X: Any, **params: Any) -> Array:
        """Return the mean of the members' predictions; `params` are metadata for them."""
        return sum(self._each(X, "predict", params)) / len(self.estimators_)

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
