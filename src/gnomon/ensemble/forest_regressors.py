"""Random forests and extremely randomized trees, for numbers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import stats
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from gnomon.core.errors import DataError
from gnomon.core.parameters import StrOptions
from gnomon.ensemble.forest_base import Forest
from gnomon.ensemble.forest_state import FOREST_CONSTRAINTS, ForestState, ForestWork
from gnomon.trees import categories as cats
from gnomon.trees.absolute import check_absolute, grow_from_rows
from gnomon.trees.nodes import Tree
from gnomon.trees.problems import Problem, number_problem, positive
from gnomon.trees.tree import DecisionTreeRegressor

Array = np.ndarray


class _ForestRegressor(RegressorMixin, Forest):
    _reads = cats.READS._replace(y="numbers")
    _tree_kind = DecisionTreeRegressor
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FOREST_CONSTRAINTS,
        "criterion": [StrOptions({"squared_error", "friedman_mse", "absolute_error", "poisson"})],
        "keep_leaves": ["boolean"],
    }

    def _problem(self, y: Array, weight: Array, reps: Array, rows: Any) -> Problem:
        if self.criterion == "poisson" and (np.any(y < 0) or y.sum() <= 0):
            raise DataError("criterion='poisson' needs targets that are not negative and not all zero.")
        if self.criterion == "absolute_error":
            if self.feature_subset == "tree":
                raise DataError(
                    "criterion='absolute_error' draws features for every split; use feature_subset='split'."
                )
            check_absolute(rows)
        return number_problem(self.criterion, y.reshape(len(y), -1), weight, reps)

    def _grow(self, data: Any, problem: Problem, growth: Any, rng: Any, mask: Array | None) -> Tree:
        if self.criterion != "absolute_error":
            return super()._grow(data, problem, growth, rng, mask)
        keep = slice(None) if mask is None else mask
        weight, reps = problem.weight[keep], problem.reps[keep]
        return grow_from_rows(data.X[keep], problem.target[keep], weight, reps, growth, rng)

    def _values(self, tree: Tree) -> Array:
        return tree.value[:, :, 0]

    def _facts(self, run: Any, rows: Any) -> dict[str, Any]:
        X, y, weight = positive(rows)
        facts = {**super()._facts(run, rows), "training_": (y, weight), "_flat_": y.ndim == 1}
        facts["n_outputs_"] = 1 if y.ndim == 1 else y.shape[1]
        if self.keep_leaves:
            facts["training_leaves_"] = np.stack([tree.apply(X) for tree in run.state.trees], axis=1)
        return facts

    def _oob_loss(self, work: ForestWork, state: ForestState) -> float:
        seen = state.oob_count > 0
        guess = self._oob_mean(state)[seen]
        return float(np.mean((guess - work.target.reshape(len(seen), -1)[seen]) ** 2)) if seen.any() else 0.0

    def _oob_facts(self, mean: Array, state: ForestState, rows: Any) -> dict[str, Any]:
        seen, flat = state.oob_count > 0, rows.y.ndim == 1
        y = positive(rows)[1].reshape(len(seen), -1)
        metric = self.oob_score if callable(self.oob_score) else r2_score
        score = metric(y[seen], mean[seen]) if seen.sum() > 1 else np.nan
        return {"oob_score_": float(score), "oob_prediction_": mean[:, 0] if flat else mean}

    def _as_estimator(self, tree: Tree) -> DecisionTreeRegressor:
        model = self._tree_like()
        model.tree_, model._flat_, model.max_features_ = tree, self._flat_, self.max_features_
        model.n_features_in_, model.categories_, model.n_outputs_ = (
            self.n_features_in_,
            self.categories_,
            self.n_outputs_,
        )
        return model

    def predict(self, X: Any) -> Array:
        """Return the mean over the trees."""
        found = self._mean_values(X)
        return found[:, 0] if self._flat_ else found

    def predict_distribution(self, X: Any) -> Any:
        """Return a normal distribution with the mean and the spread of the trees' predictions."""
        rows = self._rows(X)
        each = np.stack([self._values(tree)[tree.apply(rows.X)] for tree in self.trees_])
        mean, spread = each.mean(axis=0), np.maximum(each.std(axis=0), 1e-150)
        return stats.norm(mean[:, 0], spread[:, 0]) if self._flat_ else stats.norm(mean, spread)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Return quantiles of the training targets, weighted by how often they share a leaf with the row.

        Needs ``keep_leaves=True``.
        """
        if not hasattr(self, "training_leaves_"):
            raise DataError(
                "predict_interval needs the training rows of every leaf; fit with keep_leaves=True."
            )
        y, weight = self.training_
        if y.ndim > 1:
            raise DataError("predict_interval takes one output.")
        order = np.argsort(y)
        ends = [self._quantiles(leaf, y[order], weight[order], order, level) for leaf in self.apply(X)]
        lower, upper = np.array(ends).T
        return lower, upper

    def _quantiles(
        self, leaf: Array, y: Array, weight: Array, order: Array, level: float
    ) -> tuple[float, float]:
        same = (self.training_leaves_ == leaf).astype(np.float64) * weight[np.argsort(order)][:, None]
        share = (same / np.maximum(same.sum(axis=0), 1e-300)).sum(axis=1)[order]
        cumulated = np.cumsum(share) / share.sum()
        low, high = np.searchsorted(cumulated, [(1 - level) / 2, (1 + level) / 2 - 1e-12])
        return float(y[low]), float(y[min(high, len(y) - 1)])


class RandomForestRegressor(_ForestRegressor):
    r"""Bagged regression trees: the mean of many trees, each grown on a bootstrap sample.

    .. math:: \hat f(x) = \frac1B \sum_b \hat f_b(x)

    A good first model for numbers in tables: nothing to scale, little to tune, no prediction outside the
    range of the training targets (so none beyond a trend). `HistGradientBoostingRegressor` is often more
    exact when tuned. `predict_interval` gives quantiles of the training targets in the leaves that a row
    falls into (quantile forest); `predict_distribution` the spread of the trees.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, default="squared_error"
        "absolute_error" puts medians into the leaves and is much slower.
    max_features : default=1.0
        All features are tried at every split.
    keep_leaves : bool, default=False
        Keep the leaf of every training row in every tree, for `predict_interval`.
    n_estimators, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes
        As in `RandomForestClassifier`.
    min_impurity_decrease, bootstrap, oob_score, n_jobs, random_state, verbose, warm_start, ccp_alpha
        As in `RandomForestClassifier`.
    max_samples, monotonic_cst, feature_subset, categorical_features, max_bins
        As in `RandomForestClassifier`.

    Attributes
    ----------
    trees_, estimators_, feature_importances_, oob_score_, oob_prediction_
        As in scikit-learn.

    Examples
    --------
    >>> X = np.arange(20.0)[:, None]
    >>> model = RandomForestRegressor(50, random_state=0).fit(X, X[:, 0])
    >>> model.predict([[3.0], [16.0]]).round(0)
    array([ 3., 16.])
    """

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="squared_error",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=1.0,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        feature_subset="split",
        categorical_features="from_dtype",
        max_bins=255,
        keep_leaves=False,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.feature_subset = feature_subset
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.keep_leaves = keep_leaves


class ExtraTreesRegressor(_ForestRegressor):
    r"""Regression trees with random thresholds, averaged.

    .. math:: \hat f(x) = \frac1B \sum_b \hat f_b(x), \qquad
              t_j \sim \mathcal U\bigl(\min_{i \in \text{node}} x_{ij}, \max_{i \in \text{node}} x_{ij}\bigr)

    Every split tries one random threshold per feature and takes the best of them. The predicted surface is
    smoother than that of a `RandomForestRegressor`, whose thresholds are the best ones; prefer the latter
    where few features matter. Parameters and attributes are those of `RandomForestRegressor`.

    Examples
    --------
    >>> X = np.arange(20.0)[:, None]
    >>> model = ExtraTreesRegressor(50, random_state=0).fit(X, X[:, 0])
    >>> model.predict([[3.0], [16.0]]).round(0)
    array([ 3., 16.])
    """

    _splitter = "random"

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="squared_error",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=1.0,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=False,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        feature_subset="split",
        categorical_features="from_dtype",
        max_bins=255,
        keep_leaves=False,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.feature_subset = feature_subset
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.keep_leaves = keep_leaves
