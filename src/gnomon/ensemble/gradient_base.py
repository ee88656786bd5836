"""What boosting with exact splits shares: subsamples, the rows left out of them, and a model to start from."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.sums import per_row
from gnomon.ensemble.boosting_base import Boosted, BoostState, TrainingData
from gnomon.ensemble.initial import fit_initial, initial_scores
from gnomon.losses.boosting import Objective
from gnomon.trees import pruning
from gnomon.trees.base import CONSTRAINTS, feature_count, growth_of
from gnomon.trees.growing import Prepared, grow_tree, prepare
from gnomon.trees.nodes import Tree
from gnomon.trees.problems import Growth, number_problem
from gnomon.trees.sparse_columns import SparseColumns
from gnomon.trees.tree import DecisionTreeRegressor

Array = np.ndarray

_NAMES = ("max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_features",
          "max_leaf_nodes", "min_impurity_decrease", "ccp_alpha", "random_state")  # fmt: skip
RULES: dict[str, Any] = {
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


class ExactBoosted(Boosted):
    """Boosted trees with exact splits; subclasses say what they predict."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, monitor: Any = None) -> Any:
        """Add trees; see `Boosted.fit`.

        ``monitor(round, self, state)`` is called after every round and ends the fit when it returns True.
        """
        rows = self._read(X, y, sample_weight)
        rows.given = monitor
        return self._learn(rows, X=X, y=y, sample_weight=sample_weight)

    def _attributes(self, state: BoostState) -> dict[str, Any]:
        facts = super()._attributes(state)
        factor = self._deviance(len(state.start))
        facts["train_score_"] = factor * np.asarray(state.losses)
        facts["n_estimators_"] = len(state.rounds)
        if state.oob:
            fell, left = np.zeros((2, len(state.rounds)))
            fell[-len(state.oob) :], left[-len(state.oob) :] = factor * np.reshape(state.oob, (-1, 2)).T
            facts |= {"oob_improvement_": fell, "oob_scores_": left, "oob_score_": float(left[-1])}
        if state.init is not None:
            facts["init_"] = state.init
        return facts

    def _deviance(self, n_raw: int) -> float:
        """Return what the loss counts in `train_score_`: scikit-learn's is twice ours where ours is a half."""
        return 2.0 if self.loss == "squared_error" or (self.loss == "log_loss" and n_raw == 1) else 1.0

    @property
    def estimators_(self) -> Array:
        """The trees as fitted estimators, (rounds, scores)."""
        found = np.empty((len(self.rounds_), len(self.start_)), dtype=object)
        own = {name: getattr(self, name) for name in ("criterion", *_NAMES)}
        for m, round_ in enumerate(self.rounds_):
            for k, tree in enumerate(round_):
                model = DecisionTreeRegressor(**{**own, "random_state": None})
                model.max_features_ = self.max_features_
                model.tree_, model._flat_, model.n_outputs_ = tree, True, 1
                model.n_features_in_, model.categories_ = self.n_features_in_, {}
                found[m, k] = model
        return found

    @property
    def max_features_(self) -> int:
        """How many features a split may look at."""
        return feature_count(self.max_features, self.n_features_in_)

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

    def _make_grower(
        self, rows: Any, X: Array, y: Array, weight: Array, reps: Array, objective: Objective
    ) -> _Grower:
        d = X.shape[1]
        return _Grower(prepare(X, np.zeros(d, np.int64), None), growth_of(self, weight, reps, d))

    def _training_data(self, rows: Any, rng: Any) -> TrainingData:
        data = super()._training_data(rows, rng)
        if self._has_init():
            known = self.warm_start and hasattr(self, "init_")
            data.init = self.init_ if known else fit_initial(self.init, data)
        data.monitor = rows.given
        return data

    def _has_init(self) -> bool:
        return self.init is not None and not isinstance(self.init, str)

    def _first_scores(self, data: TrainingData) -> Array:
        if self.init is not None:
            return np.zeros(data.objective.n_raw)
        return super()._first_scores(data)

    def _first_raw(self, X: Any, start: Array, init: Any) -> Array:
        raw = super()._first_raw(X, start, init)
        return raw if init is None else raw + initial_scores(init, X, self.loss, len(start))

    def _raw_predict(self, X: Any) -> Array:
        found = super()._raw_predict(X)
        if hasattr(self, "init_"):
            found += initial_scores(self.init_, self._rows(X).X, self.loss, len(self.start_))
        return found

    def _one_tree(
        self, data: TrainingData, k: int, state: BoostState, g: Array, h: Array, tops: Any, rng: Any
    ) -> Any:
        keep = None
        if self.subsample < 1.0:
            keep = self._sample(data, k, state, rng)
        problem = number_problem(self.criterion, (-g / data.weight)[:, None], data.weight, data.reps)
        tree = grow_tree(data.grower.prepared, problem, data.grower.growth, rng, keep)
        if self.ccp_alpha > 0:
            tree = pruning.prune_tree(tree, self.ccp_alpha)
        leaf = tree.apply(data.X)
        tree = self._with_values(tree, data, state, k, g, h, leaf, keep)
        return tree, tree.value[leaf, 0, 0]

    def _sample(self, data: TrainingData, k: int, state: BoostState, rng: Any) -> Array:
        """Return which rows the trees of a round are grown on; the first tree draws, the others follow."""
        if k == 0:
            keep = np.zeros(len(data.y), dtype=bool)
            keep[rng.permutation(len(data.y))[: max(1, int(self.subsample * len(data.y)))]] = True
            data.left_out = keep, self._loss_without(data, state.raw, keep)
        return data.left_out[0]

    def _loss_without(self, data: TrainingData, raw: Any, keep: Array) -> float:
        """Mean loss of the rows that are left out."""
        out = ~keep
        return float(data.objective.loss(data.y[out], np.ascontiguousarray(raw[:, out]), data.weight[out]))

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

    def _judge(self, data: TrainingData, state: BoostState) -> Any:
        if self.subsample < 1.0:
            keep, before = data.left_out
            after = self._loss_without(data, state.raw, keep)
            state = state._replace(oob=(*state.oob, (before - after, after)))
        state, report = super()._judge(data, state)
        told = data.monitor is not None and data.monitor(len(state.rounds) - 1, self, {"state": state})
        return state, report._replace(done=True) if told else report
