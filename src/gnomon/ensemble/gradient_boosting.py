"""Gradient boosting with exact splits: small data, robust losses, subsampling."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from gnomon.core.parameters import HasMethods, Interval, StrOptions
from gnomon.ensemble.boosting_base import BoostedScores
from gnomon.ensemble.gradient_base import RULES, ExactBoosted
from gnomon.trees import categories as cats

Array = np.ndarray


class GradientBoostingClassifier(ClassifierMixin, BoostedScores, ExactBoosted):
    r"""Boosted trees with exact splits, for classes.

    .. math:: F_m(x) = F_{m-1}(x) + \nu \sum_j \gamma_{jm} \mathbb{1}\{x \in R_{jm}\}, \qquad
              \gamma_{jm} = -\frac{\sum_{R_{jm}} g_i}{\sum_{R_{jm}} h_i}

    The regions are those of a regression tree on :math:`-g`. The exponential loss follows AdaBoost. For more
    than a few thousand rows `HistGradientBoostingClassifier` is much faster and as exact.

    Parameters
    ----------
    loss : {"log_loss", "exponential"}, default="log_loss"
    learning_rate : float, default=0.1
    n_estimators : int, default=100
        Rounds; each adds one tree (one per class when there are more than two).
    subsample : float, default=1.0
        Share of the rows each tree is grown on; below one `oob_improvement_` is recorded.
    criterion, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_depth
        As in `DecisionTreeRegressor`; `max_depth` is 3.
    min_impurity_decrease, random_state, max_features, max_leaf_nodes, ccp_alpha
        As in `DecisionTreeRegressor`.
    init : {"zero"}, model or None
        Start from zero, from the predictions of a model that is fitted first (`init_`), or from the best constant.
    warm_start, validation_fraction, n_iter_no_change, tol, verbose
        As in scikit-learn; early stopping is off unless `n_iter_no_change` is set.

    Attributes
    ----------
    estimators_, n_estimators_, train_score_, oob_improvement_, oob_scores_, oob_score_
        As in scikit-learn: trees, their number, the deviance after every round; out of the bag what it fell by and
        where to.
    rounds_, start_, feature_importances_, classes_, n_iter_, trace_

    Examples
    --------
    >>> X = np.arange(20.0)[:, None]
    >>> y = (X[:, 0] > 9).astype(int)
    >>> GradientBoostingClassifier(n_estimators=10).fit(X, y).predict([[1.0], [18.0]])
    array([0, 1])
    """

    _reads = cats.READS._replace(y="class")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RULES,
        "loss": [StrOptions({"log_loss", "exponential"})],
        "init": [StrOptions({"zero"}), HasMethods(["fit", "predict_proba"]), None],
    }

    def __init__(
        self,
        *,
        loss="log_loss",
        learning_rate=0.1,
        n_estimators=100,
        subsample=1.0,
        criterion="squared_error",
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_depth=3,
        min_impurity_decrease=0.0,
        init=None,
        random_state=None,
        max_features=None,
        verbose=0,
        max_leaf_nodes=None,
        warm_start=False,
        validation_fraction=0.1,
        n_iter_no_change=None,
        tol=1e-4,
        ccp_alpha=0.0,
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha

    def _probability(self, raw: Array) -> Array:
        from gnomon.losses.boosting import objective_of

        if len(self.classes_) == 1:
            return np.ones((len(raw), 1))
        return objective_of(self, len(self.classes_)).mean(np.ascontiguousarray(raw.T))

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities."""
        return self._probability(self._raw_predict(X))

    def predict(self, X: Any) -> Array:
        """Return the most probable class."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """Yield class probabilities after every round."""
        for raw in self._staged_raw(X):
            yield self._probability(raw)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield predictions after every round."""
        for p in self.staged_predict_proba(X):
            yield self.classes_[p.argmax(axis=1)]


class GradientBoostingRegressor(RegressorMixin, ExactBoosted):
    r"""Boosted trees with exact splits, for numbers.

    .. math:: F_m(x) = F_{m-1}(x) + \nu \sum_j \gamma_{jm} \mathbb{1}\{x \in R_{jm}\}

    Leaf steps :math:`\gamma` are mean residuals (squared error), medians (absolute error), quantiles, or a
    median plus a clipped mean (Huber), so a few wild targets need not spoil the fit. For some thousand rows
    with every threshold tried; `HistGradientBoostingRegressor` is much faster for more.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile"}, default="squared_error"
    alpha : float, default=0.9
        The quantile, or the share of residuals that Huber's loss takes as small.
    learning_rate, n_estimators, subsample, criterion, min_samples_split, min_samples_leaf
        As in `GradientBoostingClassifier`.
    min_weight_fraction_leaf, max_depth, min_impurity_decrease, init, random_state, max_features
        As in `GradientBoostingClassifier`.
    max_leaf_nodes, warm_start, validation_fraction, n_iter_no_change, tol, ccp_alpha
        As in `GradientBoostingClassifier`.

    Attributes
    ----------
    estimators_, n_estimators_, train_score_, oob_improvement_, oob_scores_, oob_score_
        As in scikit-learn: trees, their number, the deviance after every round; out of the bag what it fell by and
        where to.
    rounds_, start_, feature_importances_, n_iter_, trace_

    Examples
    --------
    >>> X, y = np.arange(1.0, 7.0)[:, None], [1.0, 1.5, 2.0, 5.0, 5.5, 4.5]
    >>> model = GradientBoostingRegressor(n_estimators=3, max_depth=1, learning_rate=1.0).fit(X, y)
    >>> (2 * len(X) * np.asarray(model.trace_)).round(6)
    array([1.   , 0.7  , 0.268])
    """

    _reads = cats.READS._replace(y="number")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RULES,
        "loss": [StrOptions({"squared_error", "absolute_error", "huber", "quantile"})],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "init": [StrOptions({"zero"}), HasMethods(["fit", "predict"]), None],
    }

    def __init__(
        self,
        *,
        loss="squared_error",
        learning_rate=0.1,
        n_estimators=100,
        subsample=1.0,
        criterion="squared_error",
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_depth=3,
        min_impurity_decrease=0.0,
        init=None,
        random_state=None,
        max_features=None,
        alpha=0.9,
        verbose=0,
        max_leaf_nodes=None,
        warm_start=False,
        validation_fraction=0.1,
        n_iter_no_change=None,
        tol=1e-4,
        ccp_alpha=0.0,
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.alpha = alpha
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha

    def predict(self, X: Any) -> Array:
        """Return the predicted numbers."""
        return self._raw_predict(X)[:, 0]

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield predictions after every round."""
        for raw in self._staged_raw(X):
            yield raw[:, 0]
