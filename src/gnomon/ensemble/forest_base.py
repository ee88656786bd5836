"""What all forests share: bins once, one random stream per tree, trees side by side on threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.rows import Chunk
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import per_row
from gnomon.core.threads import in_order
from gnomon.core.validate import check_fitted, warn
from gnomon.ensemble.forest_state import FOREST_CONSTRAINTS, ForestState, ForestWork, tree_seeds
from gnomon.ensemble.sampling import SamplingPool, draw_counts, draw_places, make_pool, n_draws
from gnomon.trees import categories as cats
from gnomon.trees import pruning
from gnomon.trees.base import feature_count, growth_of
from gnomon.trees.growing import grow_tree, prepare
from gnomon.trees.nodes import (
    BLOCK_BYTES,
    PackedTrees,
    Tree,
    check_trees,
    leaf_sums,
    pack_trees,
    packed_trees_of,
)
from gnomon.trees.problems import Growth, Problem, check_one_direction, positive, repetitions

Array = np.ndarray
AHEAD = 20  # trees grown side by side before the first of them is told of


def _all_leaves(chunk: Chunk, trees: tuple[Tree, ...]) -> Array:
    return np.stack([tree.apply(chunk.X) for tree in trees], axis=1)


class Forest(cats.ReadsCategories, Learner):
    """Many trees whose predictions are averaged."""

    _stop = "self"
    _splitter: ClassVar[str] = "best"
    _tree_kind: ClassVar[Any] = None
    _parameter_constraints: ClassVar[dict[str, Any]] = FOREST_CONSTRAINTS

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = self.categorical_features is not None
        tags.target_tags.multi_output = True
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = True
        return tags

    def _check_loaded(self) -> None:
        if hasattr(self, "trees_"):
            check_trees(self.trees_, int(self.n_features_in_))
            if len({tree.value[0].size for tree in self.trees_}) > 1:
                raise ModelFileError("its trees differ in the number of their classes. Get a new copy.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Grow the forest.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, d)
            NaN marks a missing value; columns of categories are used as they are. Of a sparse matrix only the
            entries that are not zero are read, and every threshold is tried, whatever `max_bins` says.
        y : array
            The target.
        sample_weight : array of shape (n,), optional
            With `bootstrap`, rows are drawn in proportion to it; whole numbers are repetitions.

        Returns
        -------
        self
            The fitted forest.
        """
        return super().fit(X, y, sample_weight)

    def iterate(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Any]:
        """Yield a fitted copy of the forest after every tree."""
        yield from (copy for copy in super().iterate(X, y, sample_weight) if copy.trees_)

    def _keep(self, run: Any, rows: Any) -> None:
        self._adopt({**self._learned(run), **self._facts(run, rows)}, rows)

    def _facts(self, run: Any, rows: Any) -> dict[str, Any]:
        """Return what the rows tell beside the trees."""
        facts: dict[str, Any] = {"max_features_": feature_count(self.max_features, rows.n_features)}
        facts["_n_rows_"] = rows.n_rows
        if run.state.sample is not None:
            facts["_draws_"] = run.state.sample
        if run.state.oob_sum is not None:
            facts |= self._oob_facts(self._oob_mean(run.state), run.state, rows)
        return facts

    # the loop

    def _limit(self) -> int:
        return int(self.n_estimators)

    def _prepare(self, rows: Any) -> ForestWork:
        if self.max_samples is not None and not self.bootstrap:
            raise DataError("max_samples needs bootstrap=True; without it every tree sees all rows.")
        if self.oob_score and not self.bootstrap:
            raise DataError("oob_score needs bootstrap=True: without it no row is out of the bag.")
        check_one_direction(self.monotonic_cst, rows)
        X, y, weight = positive(rows)
        reps = repetitions(weight)
        problem = self._problem(y, weight, reps, rows)
        counts, target = cats.counts(rows.categories, rows.n_features), self._target_of(rows, y)
        prepared = prepare(X, counts, self.max_bins, weight)
        growth = growth_of(self, problem.weight, reps, rows.n_features)
        if not self.bootstrap:
            growth = growth._replace(random=self._splitter == "random")
            return ForestWork(rows, X, target, prepared, problem, growth, None, 0)
        pool = make_pool(X, y, weight)
        draws = n_draws(self.max_samples, pool.size)
        part = growth_of(self, np.full(1, float(draws)), np.full(1, float(draws)), rows.n_features)
        part = part._replace(random=self._splitter == "random")
        return ForestWork(rows, X, target, prepared, problem, part, pool, draws)

    def _target_of(self, rows: Any, y: Array) -> Array:
        """Return the targets of rows that count as scores compare them."""
        return y

    def _problem(self, y: Array, weight: Array, reps: Array, rows: Any) -> Problem:
        raise NotImplementedError

    def _start(self, work: ForestWork, rng: Any) -> ForestState:
        return ForestState((), draw_seed(rng), None, None)

    def _first_state(self, work: ForestWork, seed: int, index: int) -> ForestState:
        state: ForestState = super()._first_state(work, seed, index)
        return state._replace(sample=work.sample())

    def _snapshot(self, state: ForestState) -> ForestState:
        return state._replace(sample=None)

    def _restore(self, work: ForestWork, snapshot: ForestState) -> ForestState:
        return snapshot._replace(sample=work.sample())

    def _state(self) -> ForestState:
        if self.n_estimators < len(self.trees_):
            raise DataError(
                f"n_estimators={self.n_estimators} must be at least {len(self.trees_)} when warm_start=True: "
                "the old trees are kept."
            )
        if self.n_estimators == len(self.trees_):
            warn("Warm-start fitting without increasing n_estimators does not fit new trees.")
        return ForestState(self.trees_, self.seed_, *getattr(self, "_oob_", (None, None)))

    def _step(self, work: ForestWork, state: ForestState) -> tuple[ForestState, Report]:
        index, objective = len(state.trees), None
        if self.oob_score and state.oob_sum is None:  # trees of a warm start that was not judged
            for number, tree in enumerate(state.trees):
                counts = draw_counts(work.pool, work.draws, stream(state.seed, number))
                state = self._add_oob(work, state, tree, counts)
        if index < self.n_estimators:
            tree, counts = self._next_tree(work, state.seed, index)
            state = state._replace(trees=(*state.trees, tree))
            if self.oob_score:
                state = self._add_oob(work, state, tree, counts)
                objective = self._oob_loss(work, state)
        return state, Report(objective, done=index + 1 >= self.n_estimators)

    def _next_tree(self, work: ForestWork, seed: int, index: int) -> tuple[Tree, Array | None]:
        """Return a tree; the ones after it grow at the same time and wait for their turn."""
        if not work.ahead:
            last = min(index + AHEAD, self.n_estimators)
            own = list(enumerate(tree_seeds(seed, last)))[index:]
            work.ahead = list(in_order(lambda pair: self._one_tree(work, seed, *pair), own))[::-1]
        return work.ahead.pop()

    def _one_tree(self, data: ForestWork, seed: int, index: int, own: int) -> tuple[Tree, Array | None]:
        """Return a tree and its sample: that of a tree with this `random_state`, grown on the sample."""
        rng = stream(seed, index)
        counts, problem = None, data.problem
        if self.bootstrap:
            counts = draw_counts(data.pool, data.draws, rng)
            problem = problem._replace(weight=self._bag_weight(data, counts), reps=counts)
        growth = data.growth
        if self.feature_subset == "tree":
            chosen = np.sort(rng.permutation(len(data.prepared.categories))[: growth.max_features])
            return self._subset_tree(data, problem, rng, counts, chosen), counts
        mask = None if counts is None else counts > 0
        return self._pruned(data, self._grow(data, problem, growth, generator(own), mask)), counts

    def _grow(self, data: ForestWork, problem: Problem, growth: Growth, rng: Any, mask: Array | None) -> Tree:
        return grow_tree(data.prepared, problem, growth, rng, mask)

    def _bag_weight(self, data: ForestWork, counts: Array) -> Array:
        return counts

    def _subset_tree(self, data: ForestWork, problem: Problem, rng: Any, counts: Any, chosen: Array) -> Tree:
        part, growth = data.prepared.choose(chosen), data.growth
        monotone = None if growth.monotone is None else growth.monotone[chosen]
        growth = growth._replace(max_features=len(chosen), monotone=monotone)
        tree = grow_tree(part, problem, growth, rng, None if counts is None else counts > 0)
        feature = np.where(tree.feature >= 0, chosen[np.maximum(tree.feature, 0)], tree.feature)
        return self._pruned(data, tree._replace(feature=feature.astype(np.int32)))

    def _pruned(self, data: ForestWork, tree: Tree) -> Tree:
        return pruning.prune_tree(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree

    # out of the bag

    def _add_oob(self, work: ForestWork, state: ForestState, tree: Tree, drawn: Array) -> ForestState:
        X = work.X
        width = self._values(tree).shape[1]
        total = np.zeros((X.shape[0], width)) if state.oob_sum is None else state.oob_sum.copy()
        count = np.zeros(X.shape[0]) if state.oob_count is None else state.oob_count.copy()
        out = np.flatnonzero(drawn == 0)
        total[out] += self._values(tree)[tree.apply(X[out])]
        count[out] += 1
        return state._replace(oob_sum=total, oob_count=count)

    def _oob_mean(self, state: ForestState) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return state.oob_sum / state.oob_count[:, None]

    def _oob_loss(self, work: ForestWork, state: ForestState) -> float | None:
        raise NotImplementedError

    def _values(self, tree: Tree) -> Array:
        """Per-node predictions, (nodes, width)."""
        raise NotImplementedError

    def _summands(self, tree: Tree) -> Array:
        """Per-node numbers that are added up over the trees, (nodes, width)."""
        return self._values(tree)

    def _attributes(self, state: ForestState) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "trees_": state.trees,
            "seed_": state.seed,
        }
        if state.oob_sum is not None:
            facts["_oob_"] = (state.oob_sum, state.oob_count)
            missing = int(np.count_nonzero(state.oob_count == 0))
            if missing and len(state.trees) >= self.n_estimators:
                warn(f"{missing} rows are in every bag and have no out-of-bag prediction; use more trees.")
        return facts

    def _oob_facts(self, mean: Array, state: ForestState, rows: Any) -> dict[str, Any]:
        raise NotImplementedError

    # prediction and inspection

    def _mean_values(self, X: Any) -> Array:
        rows = self._rows(X).in_chunks_of(BLOCK_BYTES)
        return per_row(leaf_sums, rows, packed_trees_of(self, self.trees_, self._lay_out)) / len(self.trees_)

    def _lay_out(self) -> PackedTrees:
        values = [self._summands(tree) for tree in self.trees_]
        return pack_trees(self.trees_, values, [0] * len(values))

    def apply(self, X: Any) -> Array:
        """Return the leaf of every row in every tree, (n, trees)."""
        rows = self._rows(X)
        return per_row(_all_leaves, rows, self.trees_)

    def decision_path(self, X: Any) -> tuple[Any, Array]:
        """Return a CSR indicator matrix of the nodes of all trees that each row passes, and where each tree begins."""
        paths = [tree.decision_path(X) for tree in self.estimators_]
        return sparse.hstack(paths, format="csr"), np.append(0, np.cumsum([path.shape[1] for path in paths]))

    @property
    def estimators_(self) -> list[Any]:
        """The trees as fitted estimators."""
        seeds = tree_seeds(self.seed_, len(self.trees_))
        return [self._member(tree, own) for tree, own in zip(self.trees_, seeds, strict=True)]

    @property
    def estimator(self) -> Any:
        """A tree with the parameters of this forest, not fitted."""
        return self._tree_like()

    @property
    def estimator_(self) -> Any:
        """The same as `estimator`."""
        return self._tree_like()

    @property
    def estimators_samples_(self) -> list[Array]:
        """Rows that each tree was grown on, repeated as drawn."""
        if not self.bootstrap:
            return [np.arange(self._n_rows_, dtype=np.int32) for _ in self.trees_]
        *pool, draws = self._draws_
        found = []
        for index in range(len(self.trees_)):
            places = draw_places(SamplingPool(*pool), draws, stream(self.seed_, index))
            found.append(np.sort(pool[0][places]).astype(np.int32))
        return found

    def _tree_like(self) -> Any:
        """Return an unfitted tree with the parameters that it shares with this forest."""
        kind = self._tree_kind
        own = {name: getattr(self, name) for name in kind._get_param_names() if hasattr(self, name)}
        own |= {"splitter": self._splitter, "random_state": None}
        if isinstance(own.get("class_weight"), str):
            own["class_weight"] = "balanced"
        return kind(**own)

    def _member(self, tree: Tree, own: int) -> Any:
        """Return a tree as an estimator with the `random_state` that it was grown by."""
        model = self._as_estimator(tree)
        model.random_state = own
        return model

    def _as_estimator(self, tree: Tree) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.trees_)

    def __getitem__(self, index: int) -> Any:
        return self._member(self.trees_[index], tree_seeds(self.seed_, len(self.trees_))[index])

    @property
    def feature_importances_(self) -> Array:
        """Mean over the trees of the share of impurity that each feature removed."""
        check_fitted(self)
        found = [tree.importances(self.n_features_in_) for tree in self.trees_ if tree.node_count > 1]
        mean = np.mean(found, axis=0) if found else np.zeros(self.n_features_in_)
        return mean / mean.sum() if mean.sum() > 0 else mean

    def permutation_importances(self, X: Any, y: Any, *, n_repeats: int = 5, random_state: Any = None) -> Any:
        """Return scikit-learn's permutation importances of the fitted forest on (X, y)."""
        from sklearn.inspection import permutation_importance

        return permutation_importance(self, X, y, n_repeats=n_repeats, random_state=random_state)

    def proximity(self, X: Any) -> Array:
        """Return the share of trees in which each pair of rows falls into one leaf, (n, n)."""
        leaves = self.apply(X)
        return np.mean([leaf[:, None] == leaf[None, :] for leaf in leaves.T], axis=0)
