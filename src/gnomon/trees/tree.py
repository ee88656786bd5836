"""Classification and regression trees."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import stats
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import compute_class_weight

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.parameters import StrOptions
from gnomon.trees import categories as cats
from gnomon.trees.absolute import grow_absolute
from gnomon.trees.base import CONSTRAINTS, TreeModel, growth_of
from gnomon.trees.multiway import grow_multiway
from gnomon.trees.nodes import Tree
from gnomon.trees.outputs import ReadsOutputs, outputs_of
from gnomon.trees.problems import Problem, class_problem, number_problem, positive, repetitions

Array = np.ndarray


def class_weights(class_weight: Any, classes: Array, y: Array, weight: Array) -> Array:
    """Return the weights of the rows times those of their classes; "balanced" counts by weight."""
    if class_weight is None:
        return weight
    if isinstance(class_weight, str):
        share = np.bincount(y, weights=weight, minlength=len(classes))
        with np.errstate(divide="ignore"):
            factor = np.where(share > 0, weight.sum() / (len(classes) * share), 0.0)
    else:
        factor = compute_class_weight(class_weight, classes=classes, y=classes[y])
    return weight * factor[y]


class DecisionTreeClassifier(ClassifierMixin, ReadsOutputs, TreeModel):
    r"""A tree of questions that ends in classes.

    Every node asks whether :math:`x_j \le t`; the question is the one that lowers the impurity most:

    .. math:: \Delta = u(R) - \tfrac{W_-}{W} u(R_-) - \tfrac{W_+}{W} u(R_+), \qquad
              u = 1 - \sum_k p_k^2 \ \text{(gini)}, \quad -\sum_k p_k \log_2 p_k \ \text{(entropy)}

    A leaf predicts the class shares of its rows. Trees are readable, need no scaling, and take categories and
    missing values as they are; a deep one remembers its training set, so prune it (`ccp_alpha`,
    `max_leaf_nodes`) or average many of them (`RandomForestClassifier`). Splits of zero gain are allowed, or
    quadrants could not be learned. Ties go to the lowest feature, then to the lowest threshold.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "error", "gain_ratio"}, default="gini"
        The impurity; "gain_ratio" is for multiway splits only.
    splitter : {"best", "random"}, default="best"
        "random" draws one threshold per feature between its extremes.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features, max_leaf_nodes
        Limits as in scikit-learn; with `max_leaf_nodes` the leaf with the largest gain is split first.
    random_state : int, RandomState, Generator or None
        Draws the features of every split when `max_features` leaves some out.
    min_impurity_decrease : float, default=0.0
        Least share of the total impurity that a split must remove.
    class_weight : dict, "balanced" or None
        Factors on the weights of the classes.
    ccp_alpha : float, default=0.0
        Cost of a leaf; the tree is cut back to the smallest one that minimizes impurity plus cost.
    monotonic_cst : array of {-1, 0, 1}, optional
        Direction in which each feature may move the share of the second class.
    categorical_features : "from_dtype", array of names, indices or bool, or None
        Which columns hold categories; "from_dtype" takes those of type category, string or object.
    split : {"binary", "multiway"}, default="binary"
        "multiway" (ID3) gives every category of a feature a branch of its own.
    growth : {"auto", "depth_first", "best_first"}, default="auto"
        The order of splits; "auto" is best-first when `max_leaf_nodes` is set.
    max_bins : int or None, default=None
        None tries every threshold; a number cuts each column into that many bins first.

    Attributes
    ----------
    tree_ : Tree
        The nodes as arrays.
    classes_, n_classes_, n_features_in_, feature_names_in_, n_outputs_, max_features_
        As in scikit-learn; lists, one entry a column, where y has several columns.
    feature_importances_ : array of shape (d,)
        Share of the impurity that each feature removed.
    categories_ : dict
        Categories of every categorical column.
    impurities_ : array
        Total impurity before and after every split.
    trace_ : Trace
        Total impurity and number of `leaves` after every level; with `max_leaf_nodes`, after every split.

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> model = DecisionTreeClassifier().fit(X, y)
    >>> float(model.tree_.threshold[0]), model.predict([[2.4], [2.6]])
    (2.5, array(['no', 'yes'], dtype='<U3'))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "criterion": [StrOptions({"gini", "entropy", "log_loss", "error", "gain_ratio"})],
        "class_weight": [dict, list, StrOptions({"balanced"}), None],
        "split": [StrOptions({"binary", "multiway"})],
        "growth": [StrOptions({"auto", "depth_first", "best_first"})],
    }

    def __init__(
        self,
        *,
        criterion="gini",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        class_weight=None,
        ccp_alpha=0.0,
        monotonic_cst=None,
        categorical_features="from_dtype",
        split="binary",
        growth="auto",
        max_bins=None,
    ):
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.split = split
        self.growth = growth
        self.max_bins = max_bins

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Grow the tree; see `TreeModel.fit`. Several columns of classes in y make one tree for all of them."""
        return super().fit(X, y, sample_weight)

    def _prepare(self, rows: Any) -> Any:
        if rows.outputs is not None and self.split != "binary":
            raise DataError("split='multiway' takes one column of classes.")
        if self.criterion == "gain_ratio" and self.split != "multiway":
            raise DataError("criterion='gain_ratio' compares branches of many; use it with split='multiway'.")
        return super()._prepare(rows)

    def _grown(self, rows: Any) -> Tree:
        if self.split == "binary":
            return super()._grown(rows)
        if rows.sparse:
            raise DataError("split='multiway' needs a dense X; use split='binary' for sparse rows.")
        X, y, weight = positive(rows)
        weight = self._weighted(y, weight, rows)
        counts = cats.counts(rows.categories, rows.n_features)
        if self.max_leaf_nodes is not None or self.max_features is not None or self.splitter != "best":
            raise DataError(
                "split='multiway' looks at every feature and opens one branch a category, so it takes neither "
                "max_leaf_nodes nor max_features nor splitter='random'; bound it with max_depth, min_samples_leaf "
                "or ccp_alpha."
            )
        growth = growth_of(self, weight, repetitions(weight), rows.n_features)
        return grow_multiway(X, y, weight, len(rows.classes), counts, self.criterion, growth)

    def _by_levels(self, rows: Any) -> bool:
        return self.split == "binary" and super()._by_levels(rows)

    def _by_splits(self) -> bool:
        return self.split == "binary" and super()._by_splits()

    def _shared(self, tree: Tree, rows: Any) -> Tree:
        return tree if rows.outputs is None else rows.outputs.shares(tree)

    def _problem(self, y: Array, weight: Array, reps: Array, rows: Any) -> Problem:
        if rows.outputs is not None:
            return rows.outputs.problem(self.criterion, y, weight, reps)
        return class_problem(self.criterion, y, len(rows.classes), weight, reps)

    def _weighted(self, y: Array, weight: Array, rows: Any) -> Array:
        if rows.outputs is not None:
            return rows.outputs.weights(self.class_weight, rows.outputs.codes(y), weight)
        return class_weights(self.class_weight, rows.classes, y, weight)

    def _facts(self, tree: Tree, rows: Any) -> dict[str, Any]:
        facts = super()._facts(tree, rows)
        if rows.outputs is None:
            return {**facts, "n_classes_": len(rows.classes)}
        classes = list(rows.outputs.classes)
        return {**facts, "classes_": classes, "n_classes_": [len(c) for c in classes]}

    def predict_proba(self, X: Any) -> Any:
        """Return the class shares of the leaf of each row; a list of them for several outputs."""
        outputs = outputs_of(self)
        return self._leaf_values(X) if outputs is None else outputs.split(self._leaf_values(X))

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the class shares."""
        found = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(share) for share in found] if isinstance(found, list) else np.log(found)

    def predict(self, X: Any) -> Array:
        """Return the most frequent class of the leaf of each row; ties go to the lowest class."""
        if (outputs := outputs_of(self)) is not None:
            return outputs.labels(outputs.split(self._leaf_values(X)))
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


class DecisionTreeRegressor(RegressorMixin, TreeModel):
    r"""A tree of questions that ends in numbers.

    Splits remove as much of the loss as they can,

    .. math:: \sum_i w_i (y_i - \bar y)^2 \ \text{(squared_error)}, \quad
              \sum_i w_i |y_i - \operatorname{med}| \ \text{(absolute_error)}, \quad
              \sum_i w_i y_i \log \tfrac{y_i}{\bar y} \ \text{(poisson)},

    and a leaf predicts the mean (or median) of its rows. The prediction is a staircase: it never leaves the
    range of the training targets and does not extrapolate. For a smooth or more exact answer average many
    trees (`RandomForestRegressor`) or add small ones (`HistGradientBoostingRegressor`).

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, default="squared_error"
        The loss; "friedman_mse" names the same number as "squared_error".
    splitter, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features
        As in `DecisionTreeClassifier`.
    random_state, max_leaf_nodes, min_impurity_decrease, ccp_alpha, monotonic_cst, categorical_features
        As in `DecisionTreeClassifier`.
    growth, max_bins
        As in `DecisionTreeClassifier`.

    Attributes
    ----------
    tree_, feature_importances_, n_features_in_, n_outputs_, max_features_, categories_, impurities_, trace_
        As in `DecisionTreeClassifier`.
    leaf_targets_ : tuple of arrays
        Training targets grouped by leaf and where each group begins, for `predict_interval`.

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [1.0, 1.0, 5.0, 7.0]
    >>> DecisionTreeRegressor(max_depth=1).fit(X, y).predict([[0.0], [9.0]])
    array([1., 6.])
    """

    _reads = cats.READS._replace(y="numbers")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "criterion": [StrOptions({"squared_error", "friedman_mse", "absolute_error", "poisson"})],
        "growth": [StrOptions({"auto", "depth_first", "best_first"})],
    }

    def __init__(
        self,
        *,
        criterion="squared_error",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        monotonic_cst=None,
        categorical_features="from_dtype",
        growth="auto",
        max_bins=None,
    ):
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.growth = growth
        self.max_bins = max_bins

    def _grown(self, rows: Any) -> Tree:
        if self.criterion == "absolute_error":
            return grow_absolute(self, rows)
        return super()._grown(rows)

    def _by_levels(self, rows: Any) -> bool:
        return self.criterion != "absolute_error" and super()._by_levels(rows)

    def _check_target(self, y: Array) -> None:
        if self.criterion == "poisson" and (np.any(y < 0) or y.sum() <= 0):
            raise DataError("criterion='poisson' needs targets that are not negative and not all zero.")

    def _problem(self, y: Array, weight: Array, reps: Array, rows: Any) -> Problem:
        return number_problem(self.criterion, y.reshape(len(y), -1), weight, reps)

    def _facts(self, tree: Tree, rows: Any) -> dict[str, Any]:
        X, y, _ = positive(rows)
        leaf = tree.apply(X)
        order = np.argsort(leaf, kind="stable")
        starts = np.append(0, np.bincount(leaf, minlength=tree.node_count).cumsum())
        return {**super()._facts(tree, rows), "leaf_targets_": (y[order], starts), "_flat_": y.ndim == 1}

    def predict(self, X: Any) -> Array:
        """Return the value of the leaf of each row."""
        found = self._leaf_values(X)
        return found[:, 0] if self._flat_ else found

    def predict_distribution(self, X: Any) -> Any:
        """Return a normal distribution with the mean and standard deviation of the leaf of each row."""
        mean, leaf = self.predict(X), self.apply(X)
        spread = np.sqrt(np.maximum(self.tree_.impurity[leaf], 1e-300))
        return stats.norm(mean, spread if mean.ndim == 1 else spread[:, None])

    def _check_loaded(self) -> None:
        super()._check_loaded()
        targets, starts = getattr(self, "leaf_targets_", ((), None))
        if starts is not None and (
            starts.shape != (self.tree_.node_count + 1,)
            or starts.dtype.kind not in "iu"
            or not (0 <= starts[0] and (np.diff(starts) >= 0).all() and starts[-1] <= len(targets))
            or not (np.diff(starts)[self.tree_.feature < 0] > 0).all()
        ):
            raise ModelFileError("the targets of its leaves do not fit its tree. Get a new copy.")

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Return quantiles of the training targets in each row's leaf that enclose `level` of them."""
        targets, starts = self.leaf_targets_
        ends = np.array([(1 - level) / 2, (1 + level) / 2])
        leaf = self.apply(X)
        table = {t: np.quantile(targets[starts[t] : starts[t + 1]], ends, axis=0) for t in np.unique(leaf)}
        found = np.array([table[t] for t in leaf])
        return found[:, 0], found[:, 1]
