"""Gradient boosting on histograms: fast for many rows."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from gnomon.core.parameters import Interval, StrOptions
from gnomon.ensemble.boosting_base import BoostedScores
from gnomon.ensemble.hist_base import RULES, HistBoosted
from gnomon.trees import categories as cats
from gnomon.trees.tree import class_weights

Array = np.ndarray


class HistGradientBoostingClassifier(ClassifierMixin, BoostedScores, HistBoosted):
    r"""Boosted trees on histograms, for classes.

    .. math:: F_m = F_{m-1} + \nu \, T_m, \qquad
              T_m \text{ has leaf values } -\frac{\sum g_i}{\sum h_i + \lambda}

    with g and h the first two derivatives of the log loss at :math:`F_{m-1}`. Columns are cut into at most
    `max_bins` bins; each tree is grown leaf by leaf, the largest gain first. Often the most exact model for
    tables with more than a few thousand rows. Missing values go to the side that fits them better; categories
    are used as they are.

    Parameters
    ----------
    loss : {"log_loss"}, default="log_loss"
    learning_rate : float, default=0.1
        Share of every step that is taken.
    max_iter : int, default=100
        Rounds; each adds one tree (one per class when there are more than two).
    max_leaf_nodes : int or None, default=31
    max_depth : int or None
    min_samples_leaf : int, default=20
        Rows in a leaf; whole-number weights count as repetitions.
    l2_regularization : float, default=0.0
    max_features : float, default=1.0
        Share of the features drawn for every split.
    max_bins : int, default=255
    categorical_features, monotonic_cst, class_weight, random_state
        As in `DecisionTreeClassifier`.
    warm_start : bool, default=False
        Keep the rounds of the last fit and add new ones.
    early_stopping : "auto" or bool, default="auto"
        Hold rows out and stop when they are not predicted better; "auto" does so above 10 000 rows.
    scoring : str, callable or None, default="loss"
        What tells whether they are: the loss, or a score of scikit-learn (None: that of `score`).
    validation_fraction, n_iter_no_change, tol
        Size of the held-out part (None: the training rows are judged by), patience, and least improvement.
    verbose : int, default=0
        Above 0 a line is printed after every round.

    Attributes
    ----------
    rounds_ : tuple of tuples of Tree
    start_ : array
        Scores before the first round.
    train_score_, validation_score_ : arrays
        Minus the loss (or the score of `scoring`, where it decides) after every round.
    classes_, n_features_in_, n_iter_, trace_

    Examples
    --------
    >>> X = np.arange(200.0)[:, None]
    >>> y = (X[:, 0] % 100 > 49).astype(int)
    >>> HistGradientBoostingClassifier(max_iter=20).fit(X, y).predict([[20.0], [70.0], [120.0]])
    array([0, 1, 0])
    """

    _reads = cats.READS._replace(sparse=False, y="class")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RULES,
        "loss": [StrOptions({"log_loss"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        loss="log_loss",
        *,
        learning_rate=0.1,
        max_iter=100,
        max_leaf_nodes=31,
        max_depth=None,
        min_samples_leaf=20,
        l2_regularization=0.0,
        max_features=1.0,
        max_bins=255,
        categorical_features="from_dtype",
        monotonic_cst=None,
        warm_start=False,
        early_stopping="auto",
        scoring="loss",
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-7,
        verbose=0,
        random_state=None,
        class_weight=None,
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.class_weight = class_weight

    def _weighted(self, classes: Any, y: Array, weight: Array) -> Array:
        return class_weights(self.class_weight, classes, y.astype(np.int64), weight)

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities."""
        return _probabilities(self._raw_predict(X), len(self.classes_))

    def predict(self, X: Any) -> Array:
        """Return the most probable class."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """Yield class probabilities after every round."""
        for raw in self._staged_raw(X):
            yield _probabilities(raw, len(self.classes_))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield predictions after every round."""
        for p in self.staged_predict_proba(X):
            yield self.classes_[p.argmax(axis=1)]


def _probabilities(raw: Array, n_classes: int) -> Array:
    from gnomon.losses.boosting import LogLoss, SoftmaxLoss

    if n_classes == 1:
        return np.ones((len(raw), 1))
    return (LogLoss() if n_classes == 2 else SoftmaxLoss(n_classes)).mean(np.ascontiguousarray(raw.T))


class HistGradientBoostingRegressor(RegressorMixin, HistBoosted):
    r"""Boosted trees on histograms, for numbers.

    .. math:: F_m = F_{m-1} + \nu \, T_m, \qquad
              T_m \text{ has leaf values } -\frac{\sum g_i}{\sum h_i + \lambda}

    Losses: squared error; absolute error and quantiles (leaf values are medians or quantiles of the
    residuals); Poisson and Gamma deviance, which predict positive numbers through an exponential.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "quantile", "poisson", "gamma"}, default="squared_error"
    quantile : float, optional
        Which quantile ``loss="quantile"`` predicts.
    learning_rate, max_iter, max_leaf_nodes, max_depth, min_samples_leaf, l2_regularization
        As in `HistGradientBoostingClassifier`.
    max_features, max_bins, categorical_features, monotonic_cst, warm_start, early_stopping, scoring
        As in `HistGradientBoostingClassifier`.
    validation_fraction, n_iter_no_change, tol, random_state
        As in `HistGradientBoostingClassifier`.

    Attributes
    ----------
    rounds_, start_, train_score_, validation_score_, n_features_in_, n_iter_, trace_
        As in `HistGradientBoostingClassifier`.

    Examples
    --------
    >>> X = np.arange(200.0)[:, None]
    >>> HistGradientBoostingRegressor().fit(X, X[:, 0] > 99).predict([[20.0], [170.0]]).round(2)
    array([0., 1.])
    """

    _reads = cats.READS._replace(sparse=False, y="number")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RULES,
        "loss": [StrOptions({"squared_error", "absolute_error", "quantile", "poisson", "gamma"})],
        "quantile": [Interval(Real, 0, 1, closed="both"), None],
    }

    def __init__(
        self,
        loss="squared_error",
        *,
        quantile=None,
        learning_rate=0.1,
        max_iter=100,
        max_leaf_nodes=31,
        max_depth=None,
        min_samples_leaf=20,
        l2_regularization=0.0,
        max_features=1.0,
        max_bins=255,
        categorical_features="from_dtype",
        monotonic_cst=None,
        warm_start=False,
        early_stopping="auto",
        scoring="loss",
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-7,
        verbose=0,
        random_state=None,
    ):
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def _mean(self, raw: Array) -> Array:
        return np.exp(raw[:, 0]) if self.loss in ("poisson", "gamma") else raw[:, 0]

    def predict(self, X: Any) -> Array:
        """Return the predicted numbers."""
        return self._mean(self._raw_predict(X))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield predictions after every round."""
        for raw in self._staged_raw(X):
            yield self._mean(raw)
