"""Gradient boosting with exact splits: small data, robust losses, subsampling."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.sums import per_row
from gnomon.ensemble.boosting_base import Boosted, BoostedScores, BoostState, TrainingData
from gnomon.ensemble.objectives import Objective
from gnomon.trees import categories as cats
from gnomon.trees import pruning
from gnomon.trees.base import CONSTRAINTS, growth_of
from gnomon.trees.growing import Prepared, grow_tree, prepare
from gnomon.trees.nodes import Tree
from gnomon.trees.problems import Growth, number_problem
from gnomon.trees.sparse_columns import SparseColumns
from gnomon.trees.tree import DecisionTreeRegressor

Array = np.ndarray

_NAMES = ("max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_features",
          "max_leaf_nodes", "min_impurity_decrease", "ccp_alpha", "random_state")  # fmt: skip
_RULES: dict[str, Any] = {
    **{name: CONSTRAINTS[name] for name in _NAMES},
    "learning_rate": [Interval(Real, 0, None, closed="left")],
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "criterion": [StrOptions({"friedman_mse", "squared_error"})],
    "subsample": [Interval(Real, 0, 1, closed="right")],
    "warm_start": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
    "tol": [Interval(Real, 0, None, closed="left")],
    "verbose": ["verbose"],
}


class _Grower(NamedTuple):
    prepared: Prepared | SparseColumns
    growth: Growth


def _leaves(chunk: Any, tree: Tree) -> Array:
    return tree.apply(chunk.X)


class _ExactBoosted(Boosted):
    def fit(self, X: Any, y: Any, sample_weight: Any = None, monitor: Any = None) -> Any:
        """Add trees; see `Boosted.fit`.

        ``monitor(round, self, state)`` is called after every round and ends the fit when it returns True.
        """
        self._monitor = monitor
        try:
            return super().fit(X, y, sample_weight)
        finally:
            del self._monitor

    def _is_enough(self, state: BoostState) -> bool:
        monitor = getattr(self, "_monitor", None)
        if monitor is not None and monitor(len(state.rounds) - 1, self, {"state": state}):
            return True
        return super()._is_enough(state)

    def _attributes(self, state: BoostState) -> dict[str, Any]:
        facts = super()._attributes(state)
        factor = self._deviance(len(state.start))
        facts["train_score_"] = factor * np.array(state.losses)
        facts["n_estimators_"] = len(state.rounds)
        if state.oob:
            facts["oob_improvement_"] = factor * np.array(state.oob)
        return facts

    def _deviance(self, n_raw: int) -> float:
        """Return what the loss counts in `train_score_`: scikit-learn's is twice ours where ours is a half."""
        return 2.0 if self.loss == "squared_error" or (self.loss == "log_loss" and n_raw == 1) else 1.0

    @property
    def estimators_(self) -> Array:
        """The trees as fitted estimators, (rounds, scores)."""
        found = np.empty((len(self.rounds_), len(self.start_)), dtype=object)
        for m, round_ in enumerate(self.rounds_):
            for k, tree in enumerate(round_):
                model = DecisionTreeRegressor(criterion=self.criterion, max_depth=self.max_depth)
                model.tree_, model._flat_, model.n_outputs_ = tree, True, 1
                model.n_features_in_, model.categories_ = self.n_features_in_, {}
                found[m, k] = model
        return found

    def apply(self, X: Any) -> Array:
        """Return the leaf of every row in every tree, (n, rounds), or (n, rounds, classes) for a classifier."""
        rows = self._rows(X)
        leaves = [[per_row(_leaves, rows, tree) for tree in round_] for round_ in self.rounds_]
        found = np.array(leaves).transpose(2, 0, 1)
        return found if hasattr(self, "classes_") else found[:, :, 0]

    def _limit(self) -> int:
        return int(self.n_estimators)

    def _stops_early(self, n: int) -> bool:
        return self.n_iter_no_change is not None

    def _make_grower(self, X: Array, y: Array, weight: Array, reps: Array, objective: Objective) -> _Grower:
        d = X.shape[1]
        return _Grower(prepare(X, np.zeros(d, np.int64), None), growth_of(self, weight, reps, d))

    def _first_scores(self, data: TrainingData) -> Array:
        if self.init == "zero":
            return np.zeros(data.objective.n_raw)
        return super()._first_scores(data)

    def _one_tree(
        self, data: TrainingData, k: int, state: BoostState, g: Array, h: Array, tops: Any, rng: Any
    ) -> Any:
        keep = None
        if self.subsample < 1.0:
            size = max(1, int(self.subsample * len(data.y)))
            keep = np.zeros(len(data.y), dtype=bool)
            keep[rng.permutation(len(data.y))[:size]] = True
        problem = number_problem(self.criterion, (-g / data.weight)[:, None], data.weight, data.reps)
        tree = grow_tree(data.grower.prepared, problem, data.grower.growth, rng, keep)
        if self.ccp_alpha > 0:
            tree = pruning.prune_tree(tree, self.ccp_alpha)
        leaf = tree.apply(data.X)
        tree = self._with_values(tree, data, state, k, g, h, leaf, keep)
        step = tree.value[leaf, 0, 0]
        if keep is not None:
            self._note_improvement(data, state, k, step, keep)
        return tree, step

    def _with_values(
        self,
        tree: Tree,
        data: TrainingData,
        state: BoostState,
        k: int,
        g: Array,
        h: Array,
        leaf: Array,
        keep: Any,
    ) -> Tree:
        inside = np.arange(len(leaf)) if keep is None else np.flatnonzero(keep)
        n = tree.node_count
        if data.objective.newton:
            a = np.bincount(leaf[inside], weights=g[inside], minlength=n)
            b = np.bincount(leaf[inside], weights=h[inside], minlength=n)
            with np.errstate(divide="ignore", invalid="ignore"):
                value = np.where(np.abs(b) > 1e-150, -a / b, 0.0)
        else:
            value = np.zeros(n)
            order = inside[np.argsort(leaf[inside], kind="stable")]
            starts = np.searchsorted(leaf[order], np.arange(n + 1))
            for t in np.flatnonzero(np.diff(starts)):
                rows = order[starts[t] : starts[t + 1]]
                value[t] = data.objective.leaf_value(data.y[rows] - state.raw[k, rows], data.weight[rows])
        return tree._replace(value=(value * self.learning_rate)[:, None, None])

    def _note_improvement(
        self, data: TrainingData, state: BoostState, k: int, step: Array, keep: Array
    ) -> None:
        """Remember how much the loss of the rows left out fell in this round."""
        out, raw = ~keep, state.raw.copy()
        before = data.objective.loss(data.y[out], np.ascontiguousarray(raw[:, out]), data.weight[out])
        raw[k] += step
        after = data.objective.loss(data.y[out], np.ascontiguousarray(raw[:, out]), data.weight[out])
        self._gain = (getattr(self, "_gain", 0.0) if k else 0.0) + before - after

    def _judge(self, data: TrainingData, state: BoostState) -> Any:
        if self.subsample < 1.0:
            state = state._replace(oob=(*state.oob, float(self.__dict__.pop("_gain"))))
        return super()._judge(data, state)


class GradientBoostingClassifier(ClassifierMixin, BoostedScores, _ExactBoosted):
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
    init : {"zero"} or None
        Start from zero or from the best constant.
    warm_start, validation_fraction, n_iter_no_change, tol, verbose
        As in scikit-learn; early stopping is off unless `n_iter_no_change` is set.

    Attributes
    ----------
    estimators_, n_estimators_, train_score_, oob_improvement_
        As in scikit-learn: trees, their number, the deviance after every round and what it fell by out of the bag.
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
        **_RULES,
        "loss": [StrOptions({"log_loss", "exponential"})],
        "init": [StrOptions({"zero"}), None],
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
        from gnomon.ensemble.objectives import objective_of

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


class GradientBoostingRegressor(RegressorMixin, _ExactBoosted):
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
    estimators_, n_estimators_, train_score_, oob_improvement_
        As in scikit-learn: trees, their number, the deviance after every round and what it fell by out of the bag.
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
        **_RULES,
        "loss": [StrOptions({"squared_error", "absolute_error", "huber", "quantile"})],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "init": [StrOptions({"zero"}), None],
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
