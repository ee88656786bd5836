"""Random forests and extremely randomized trees, for classes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from gnomon.core.parameters import StrOptions
from gnomon.ensemble.forest_base import Forest
from gnomon.ensemble.forest_state import FOREST_CONSTRAINTS, ForestState, ForestWork
from gnomon.trees.nodes import Tree
from gnomon.trees.outputs import Outputs, ReadsOutputs, outputs_of
from gnomon.trees.problems import Problem, class_problem, positive
from gnomon.trees.tree import DecisionTreeClassifier, class_weights

Array = np.ndarray


class _ForestClassifier(ClassifierMixin, ReadsOutputs, Forest):
    _tree_kind = DecisionTreeClassifier
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FOREST_CONSTRAINTS,
        "criterion": [StrOptions({"gini", "entropy", "log_loss", "error"})],
        "class_weight": [dict, list, StrOptions({"balanced", "balanced_subsample"}), None],
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Grow the forest; see `Forest.fit`. Several columns of classes in y make one forest for all of them."""
        return super().fit(X, y, sample_weight)

    def _problem(self, y: Array, weight: Array, reps: Array, rows: Any) -> Problem:
        outputs = rows.outputs
        if not self.bootstrap and self.class_weight is not None:
            balanced = "balanced" if self.class_weight == "balanced_subsample" else self.class_weight
            weight = _class_weighted(balanced, rows, self._target_of(rows, y), weight)
        if outputs is not None:
            return outputs.problem(self.criterion, y, weight, reps)
        return class_problem(self.criterion, y, len(rows.classes), weight, reps)

    def _target_of(self, rows: Any, y: Array) -> Array:
        return y if rows.outputs is None else rows.outputs.codes(y)

    def _bag_weight(self, data: ForestWork, counts: Array) -> Array:
        if self.class_weight is None:
            return counts
        if self.class_weight == "balanced_subsample":
            return _class_weighted("balanced", data.rows, data.target, counts)
        weight = data.problem.weight
        return counts * _class_weighted(self.class_weight, data.rows, data.target, weight) / weight

    def _pruned(self, data: ForestWork, tree: Tree) -> Tree:
        tree, outputs = super()._pruned(data, tree), data.rows.outputs
        return tree if outputs is None else outputs.shares(tree)

    def _values(self, tree: Tree) -> Array:
        return tree.value.reshape(tree.node_count, -1)

    def _summands(self, tree: Tree) -> Array:
        return tree.value[:, 0, 1:] if tree.value.shape[1:] == (1, 2) else self._values(tree)

    def _facts(self, run: Any, rows: Any) -> dict[str, Any]:
        facts, outputs = super()._facts(run, rows), rows.outputs
        if outputs is None:
            return {**facts, "n_classes_": len(rows.classes), "n_outputs_": 1}
        classes = list(outputs.classes)
        sizes = {"n_classes_": [len(c) for c in classes], "n_outputs_": len(classes)}
        return {**facts, **sizes, "classes_": classes}

    def _oob_loss(self, work: ForestWork, state: ForestState) -> float:
        seen = state.oob_count > 0
        guess = _guessed(work.rows.outputs, self._oob_mean(state)[seen])
        return float(np.mean(guess != work.target[seen])) if seen.any() else 1.0

    def _oob_facts(self, mean: Array, state: ForestState, rows: Any) -> dict[str, Any]:
        seen, names = state.oob_count > 0, rows.outputs
        y, guess = self._target_of(rows, positive(rows)[1])[seen], _guessed(names, mean[seen])
        if names is not None:
            shares = [part[seen] for part in names.split(mean)]
            y = np.stack([c[codes] for c, codes in zip(names.classes, y.T, strict=True)], axis=1)
            metric = self.oob_score if callable(self.oob_score) else _all_right
            score = metric(y, names.labels(shares)) if seen.any() else np.nan
            mean = np.stack(np.split(mean, len(names.classes), axis=1), axis=2)  # (n, classes, outputs)
            return {"oob_score_": float(score), "oob_decision_function_": mean}
        metric = self.oob_score if callable(self.oob_score) else accuracy_score
        score = metric(rows.classes[y], rows.classes[guess]) if seen.any() else np.nan
        return {"oob_score_": float(score), "oob_decision_function_": mean}

    def _as_estimator(self, tree: Tree) -> DecisionTreeClassifier:
        model, several_columns = self._tree_like(), isinstance(self.classes_, list)
        classes = [np.arange(len(c)) for c in (self.classes_ if several_columns else [self.classes_])]
        model.tree_, model.classes_ = tree, classes if several_columns else classes[0]
        model.n_classes_, model.n_outputs_ = self.n_classes_, self.n_outputs_
        model.n_features_in_, model.categories_ = self.n_features_in_, self.categories_
        model.max_features_ = self.max_features_
        return model

    def predict_proba(self, X: Any) -> Any:
        """Return the mean over the trees of the class shares in the leaf of each row; a list for several outputs."""
        mean, outputs = self._mean_values(X), outputs_of(self)
        if outputs is not None:
            return outputs.split(mean)
        return np.hstack([1.0 - mean, mean]) if len(self.classes_) == 2 else mean

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the mean class shares."""
        found = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(share) for share in found] if isinstance(found, list) else np.log(found)

    def predict(self, X: Any) -> Array:
        """Return the class with the largest mean share; ties go to the lowest class."""
        found = self.predict_proba(X)
        if isinstance(found, list):
            return outputs_of(self).labels(found)  # type: ignore[union-attr]
        return self.classes_[found.argmax(axis=1)]


def _all_right(y: Array, guess: Array) -> float:
    """Share of the rows whose outputs are all right, as `score` counts them."""
    return float(np.mean((y == guess).all(axis=1)))


def _class_weighted(class_weight: Any, rows: Any, codes: Array, weight: Array) -> Array:
    """Return the weights of rows times those of their classes."""
    if rows.outputs is not None:
        return rows.outputs.weights(class_weight, codes, weight)
    return class_weights(class_weight, rows.classes, codes, weight)


def _guessed(outputs: Outputs | None, mean: Array) -> Array:
    """Codes of the classes of largest mean share."""
    if outputs is None:
        return mean.argmax(axis=1)
    return np.stack([part.argmax(axis=1) for part in outputs.split(mean)], axis=1)


class RandomForestClassifier(_ForestClassifier):
    r"""Bagged trees that see a random subset of features at every split.

    .. math:: \hat p(x) = \frac1B \sum_b \hat p_b(x)

    Each tree is grown on a bootstrap sample, and each split looks at `max_features` features drawn anew,
    which makes the trees less alike: the variance of an average of B trees with correlation :math:`\rho` is
    :math:`\rho\sigma^2 + (1-\rho)\sigma^2/B`. A good first model for tables: nothing to scale, little to
    tune. Boosted trees (`HistGradientBoostingClassifier`) are often more exact when tuned.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes
        As in `DecisionTreeClassifier`.
    min_impurity_decrease, class_weight, ccp_alpha, monotonic_cst, categorical_features
        As in `DecisionTreeClassifier`; "balanced_subsample" weighs the classes of every bootstrap sample.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Features drawn for every split.
    bootstrap : bool, default=True
        Grow every tree on as many rows drawn with replacement, in proportion to `sample_weight`.
    oob_score : bool or callable, default=False
        Judge the forest on rows that its trees did not see.
    n_jobs : int or None
        Threads; the result does not depend on it.
    random_state, verbose, warm_start, max_samples
        As in scikit-learn; `warm_start` keeps the trees and adds new ones.
    feature_subset : {"split", "tree"}, default="split"
        Draw features anew for every split, or once per tree.
    max_bins : int or None, default=255
        Cut each column into at most that many bins, exact for columns with fewer values; None tries every
        threshold.

    Attributes
    ----------
    trees_ : tuple of Tree
    estimators_ : list of DecisionTreeClassifier
    classes_, n_classes_, n_features_in_, feature_names_in_, feature_importances_, oob_score_,
    oob_decision_function_
        As in scikit-learn.

    Examples
    --------
    >>> X = np.arange(20.0)[:, None]
    >>> y = (X[:, 0] > 9).astype(int)
    >>> RandomForestClassifier(10, random_state=0).fit(X, y).predict([[1.0], [18.0]])
    array([0, 1])
    """

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        class_weight=None,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        feature_subset="split",
        categorical_features="from_dtype",
        max_bins=255,
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
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.feature_subset = feature_subset
        self.categorical_features = categorical_features
        self.max_bins = max_bins


class ExtraTreesClassifier(_ForestClassifier):
    r"""Trees with random thresholds: one per drawn feature, uniform between its extremes in the node.

    .. math:: \hat p(x) = \frac1B \sum_b \hat p_b(x), \qquad
              t_j \sim \mathcal U\bigl(\min_{i \in \text{node}} x_{ij}, \max_{i \in \text{node}} x_{ij}\bigr)

    Of the drawn features, the one whose random threshold lowers the impurity most is taken. The trees are
    less alike than those of a `RandomForestClassifier`, so their mean varies less, at the price of some bias;
    they see all rows unless `bootstrap` is set. Good where many features carry a little each; prefer the
    random forest where few do. Parameters and attributes are those of `RandomForestClassifier`.

    Examples
    --------
    >>> X = np.arange(20.0)[:, None]
    >>> y = (X[:, 0] > 9).astype(int)
    >>> ExtraTreesClassifier(10, random_state=0).fit(X, y).predict([[1.0], [18.0]])
    array([0, 1])
    """

    _splitter = "random"

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=False,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        class_weight=None,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        feature_subset="split",
        categorical_features="from_dtype",
        max_bins=255,
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
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.feature_subset = feature_subset
        self.categorical_features = categorical_features
        self.max_bins = max_bins
