"""What classification and regression trees share: reading data, limits in numbers, pruning, inspection."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Bunch

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.parameters import Interval, RealNotInt, StrOptions
from gnomon.core.randomness import draw_seed, generator
from gnomon.core.rows import Chunk
from gnomon.core.steps import Report, Unseeded
from gnomon.core.sums import per_row
from gnomon.core.trace import Trace
from gnomon.core.validate import check_fitted
from gnomon.trees import categories as cats
from gnomon.trees import pruning
from gnomon.trees.growing import grow_tree, prepare
from gnomon.trees.levels import (
    Levels,
    LevelState,
    TreeWork,
    first_steps,
    impurity_trace,
    last_report,
    level_impurities,
    step_reports,
    total_impurity,
)
from gnomon.trees.nodes import (
    BLOCK_BYTES,
    PackedTrees,
    Tree,
    check_trees,
    leaf_sums,
    pack_trees,
    packed_trees_of,
    select,
)
from gnomon.trees.problems import (
    NO_LIMIT,
    Growth,
    Problem,
    check_one_direction,
    checked_signs,
    positive,
    repetitions,
)

Array = np.ndarray

CONSTRAINTS: dict[str, Any] = {
    "splitter": [StrOptions({"best", "random"})],
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
    ],
    "min_samples_leaf": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="neither"),
    ],
    "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
    "max_features": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
        StrOptions({"sqrt", "log2"}),
        None,
    ],
    "random_state": ["random_state", np.random.Generator],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
    "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
    "monotonic_cst": ["array-like", None],
    "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
    "max_bins": [Interval(Integral, 2, 255, closed="both"), None],
}


def feature_count(max_features: Any, d: int) -> int:
    """Return how many features a split may look at."""
    if max_features is None:
        return d
    if isinstance(max_features, str):
        return max(1, int({"sqrt": np.sqrt, "log2": np.log2}[max_features](d)))
    if isinstance(max_features, Integral):
        if max_features > d:
            raise DataError(f"max_features is {max_features}, and X has {d} features; ask for at most {d}.")
        return int(max_features)
    return max(1, int(max_features * d))


def share_or_number(value: Any, total: float) -> float:
    """Return a number of rows from a number or a share."""
    return float(value) if isinstance(value, Integral) else float(np.ceil(value * total))


def growth_of(model: Any, weight: Array, reps: Array, d: int) -> Growth:
    """Return the limits of a model's parameters, in numbers."""
    n = float(reps.sum())
    leaf = share_or_number(model.min_samples_leaf, n)
    limit = model.max_leaf_nodes
    if getattr(model, "growth", "auto") == "best_first" and limit is None:
        limit = NO_LIMIT
    if getattr(model, "growth", "auto") == "depth_first" and limit is not None:
        raise DataError(
            f"max_leaf_nodes={limit} opens the best leaf first, and growth='depth_first' the last one; "
            "use growth='best_first', or bound the depth."
        )
    return Growth(
        max_depth=NO_LIMIT if model.max_depth is None else int(model.max_depth),
        max_features=feature_count(model.max_features, d),
        max_leaf_nodes=0 if limit is None else int(limit),
        min_samples_split=max(2.0, share_or_number(model.min_samples_split, n), 2 * leaf),
        min_samples_leaf=1.0 if leaf < 1.0 and not (reps != np.floor(reps)).any() else leaf,
        min_weight_leaf=float(model.min_weight_fraction_leaf * weight.sum()),
        min_impurity_decrease=float(model.min_impurity_decrease),
        random=getattr(model, "splitter", "best") == "random",
        monotone=monotone_of(model, d),
    )


def monotone_of(model: Any, d: int) -> Array | None:
    """Return the signs of monotone constraints, checked."""
    return checked_signs(getattr(model, "monotonic_cst", None), d)


def _leaves(chunk: Chunk, tree: Tree) -> Array:
    return tree.apply(chunk.X)


class TreeModel(cats.ReadsCategories, Unseeded):
    """A single tree; subclasses say what it predicts."""

    _reads = cats.READS
    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS

    def _check_loaded(self) -> None:
        if hasattr(self, "tree_"):
            check_trees([self.tree_], int(self.n_features_in_))
            classes = getattr(self, "classes_", None)
            if isinstance(classes, np.ndarray) and self.tree_.value[0].size != len(classes):
                raise ModelFileError("its tree has another number of classes than it. Get a new copy.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Grow the tree.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, d)
            NaN marks a missing value; columns of categories are used as they are. Of a sparse matrix only the
            entries that are not zero are read, and every threshold is tried, whatever `max_bins` says.
        y : array of shape (n,) or (n, outputs)
            The target.
        sample_weight : array of shape (n,), optional
            How many times each row counts; whole numbers also count for `min_samples_leaf`.

        Returns
        -------
        self
            The fitted tree.
        """
        return super().fit(X, y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = self.categorical_features is not None
        tags.target_tags.multi_output = True
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = True
        return tags

    # the loop: a step is a level

    def _limit(self) -> int:
        return NO_LIMIT

    def _announced(self, rows: Any) -> int | None:
        return self.max_leaf_nodes - 1 if self._by_splits() else self.max_depth  # type: ignore[no-any-return]

    @property
    def _unit(self) -> str:  # type: ignore[override]
        return "split" if self._by_splits() else "level"

    def _by_splits(self) -> bool:
        """Tell whether a step is a split: the best leaf is opened first, up to some number of leaves."""
        return self.max_leaf_nodes is not None

    def _by_levels(self, rows: Any) -> bool:
        """Tell whether levels are shown while they grow; other trees are grown at once, and shown step by step then."""
        depth_first = self.max_leaf_nodes is None and self.growth != "best_first"
        return depth_first and self.max_bins is None and self.monotonic_cst is None and not rows.sparse

    def _prepare(self, rows: Any) -> TreeWork:
        check_one_direction(self.monotonic_cst, rows)
        return TreeWork(rows)

    def _step(self, work: TreeWork, state: LevelState | None) -> tuple[LevelState, Report]:
        rows = work.rows
        if not self._by_levels(rows):
            return self._next_shown(rows, state)
        if work.levels is None:
            work.levels = self._levels(rows, draw_seed(generator(self.random_state)))
        state, whole = work.levels.next()
        tree = self._shared(state.tree, rows)
        if whole:
            tree = self._pruned(tree)
            return LevelState(tree, state.key, ()), last_report(tree)
        impurity, leaves = level_impurities(tree)[-1]
        return state._replace(tree=tree), Report(impurity, info={"leaves": leaves})

    def _next_shown(self, rows: Any, state: LevelState | None) -> tuple[LevelState, Report]:
        """Show one more step of a tree that was grown at once; the last one shows it as it is kept."""
        whole = self._grown(rows) if state is None or state.whole is None else state.whole
        by_splits, count = self._by_splits(), 1 if state is None else state.shown + 1
        reports = step_reports(whole, by_splits)
        if count >= len(reports):
            tree = self._pruned(whole)
            return LevelState(tree, 0, ()), last_report(tree)
        shown = first_steps(whole, by_splits, count)
        return LevelState(shown, 0, (), whole, count), reports[count - 1]

    def _stretch(self, work: TreeWork, state: Any, most: int) -> tuple[LevelState, Any]:
        """Grow the tree at once; nobody sees its steps."""
        grown = self._grown(work.rows)
        tree = self._pruned(grown)
        return LevelState(tree, 0, ()), [*step_reports(grown, self._by_splits())[:-1], last_report(tree)]

    def _levels(self, rows: Any, key: int) -> Levels:
        return Levels(*self._grower(rows), key)

    def _snapshot(self, state: LevelState) -> LevelState:
        return state._replace(tree=None) if state.nodes or state.whole is not None else state

    def _restore(self, work: TreeWork, snapshot: LevelState) -> LevelState:
        if snapshot.whole is not None:
            return snapshot._replace(tree=first_steps(snapshot.whole, self._by_splits(), snapshot.shown))
        if not snapshot.nodes:
            return snapshot
        work.levels = self._levels(work.rows, snapshot.key)
        work.levels.go_on(snapshot.nodes)
        return snapshot._replace(tree=self._shared(work.levels.tree(snapshot.nodes), work.rows))

    def _attributes(self, state: LevelState) -> dict[str, Any]:
        return {"tree_": state.tree}

    def _keep(self, run: Any, rows: Any) -> None:
        self._adopt({**self._learned(run), **self._facts(run.state.tree, rows)}, rows)

    # growing

    def _problem(self, y: Array, weight: Array, reps: Array, rows: Any) -> Problem:
        raise NotImplementedError

    def _grower(self, rows: Any) -> tuple[Any, Problem, Growth]:
        """Return sorted columns, the problem, and the limits of growth."""
        X, y, weight = positive(rows)
        reps = repetitions(weight)
        self._check_target(y)
        problem = self._problem(y, self._weighted(y, weight, rows), reps, rows)
        growth = growth_of(self, problem.weight, reps, rows.n_features)
        prepared = prepare(X, cats.counts(rows.categories, rows.n_features), self.max_bins, weight)
        return prepared, problem, growth

    def _grown(self, rows: Any) -> Tree:
        rng = None if self.random_state is None else generator(self.random_state)
        return self._shared(grow_tree(*self._grower(rows), rng), rows)

    def _pruned(self, tree: Tree) -> Tree:
        return pruning.prune_tree(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree

    def _shared(self, tree: Tree, rows: Any) -> Tree:
        """Return a grown tree with the values that predictions need."""
        return tree

    def _check_target(self, y: Array) -> None:
        pass

    def _weighted(self, y: Array, weight: Array, rows: Any) -> Array:
        return weight

    def _facts(self, tree: Tree, rows: Any) -> dict[str, Any]:
        return {
            "tree_": tree,
            "max_features_": feature_count(self.max_features, rows.n_features),
            "n_outputs_": tree.value.shape[1],
        }

    def iterate(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Any]:
        """Yield the tree as a single leaf and after every split, in the order of growth.

        Each copy has `candidates_`: the best gain that every feature offered at the node split next.
        """
        from gnomon.trees.splits import candidate_gains

        whole = self._shell().fit(X, y, sample_weight)
        rows = whole._read(X, y, sample_weight)
        tree = whole.tree_
        order = np.sort(tree.split_order[tree.split_order > 0])  # a pruned tree lacks some numbers
        for step in range(len(order) + 1):
            copy = self._shell()
            part = select(tree, np.isin(tree.split_order, order[:step]))
            facts = {name: value for name, value in vars(whole).items() if name.endswith("_")}
            facts["tree_"] = part
            if step < len(order):
                facts["trace_"] = Trace([total_impurity(part)], [0.0])
                node = int(np.flatnonzero(tree.split_order == order[step])[0])
                facts["candidates_"] = candidate_gains(whole, rows, node)
            copy.__dict__.update(facts)
            yield copy

    def _shell(self) -> Any:
        from sklearn.base import clone

        return clone(self)

    # inspection

    @property
    def impurities_(self) -> Array:
        """Total impurity (share of weight times impurity over the leaves) before and after every split."""
        return impurity_trace(self.tree_)

    @property
    def feature_importances_(self) -> Array:
        """Share of the impurity that each feature removed; they sum to one once there is a split."""
        check_fitted(self)
        return self.tree_.importances(self.n_features_in_)

    def apply(self, X: Any) -> Array:
        """Return the index of the leaf in which each row ends."""
        rows = self._rows(X)
        return per_row(_leaves, rows, self.tree_)

    def _leaf_values(self, X: Any) -> Array:
        """Values of the leaf in which each row ends, (n, outputs or classes)."""
        rows, tree = self._rows(X), self.tree_
        if rows.in_memory and tree.is_walked_by(rows.X):
            return tree.value[tree.apply(rows.X)].reshape(rows.n_rows, -1)
        rows = rows.in_chunks_of(BLOCK_BYTES)
        return per_row(leaf_sums, rows, packed_trees_of(self, tree, self._lay_out))

    def _lay_out(self) -> PackedTrees:
        tree = self.tree_
        return pack_trees([tree], [tree.value.reshape(tree.node_count, -1)], [0], beside=True)

    def decision_path(self, X: Any) -> Any:
        """Return a CSR indicator matrix of the nodes that each row passes."""
        return self.tree_.paths_to(self.apply(X))

    def get_depth(self) -> int:
        """Return the depth of the tree."""
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return self.tree_.n_leaves

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Return the strictly increasing alphas of the nested prunings, with impurities and leaf counts."""
        grown = self._shell().set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        return pruning.pruning_path(grown.tree_)

    def rules(self) -> list[str]:
        """Return one readable condition per leaf, from left to right; they cover all rows once."""
        from gnomon.trees.text import rules_of

        return rules_of(self)

    def to_text(self, *, decimals: int = 2) -> str:
        """Return the tree as indented text."""
        from gnomon.trees.text import export_text

        return export_text(self, decimals=decimals)

    def explain(self, x: Any) -> list[str]:
        """Return the tests that one row passes, and the leaf in which it ends."""
        from gnomon.trees.text import explain_row

        return explain_row(self, x)

    def plot(self, ax: Any = None) -> Any:
        """Draw the tree; return the Axes."""
        from gnomon.plot.trees import tree

        return tree(self, ax=ax)
