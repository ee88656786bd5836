"""What boosted trees share: one round per step, early stopping, staged predictions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, DivergenceError, ModelFileError
from gnomon.core.randomness import draw_seed, stream
from gnomon.core.rows import Chunk
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import per_row
from gnomon.core.threads import one_blas_thread
from gnomon.core.validate import check_fitted
from gnomon.ensemble.judging import Judge, by_loss
from gnomon.losses.boosting import Objective, objective_of
from gnomon.trees import categories as cats
from gnomon.trees.nodes import BLOCK_BYTES, PackedTrees, Tree, check_trees, pack_trees, packed_trees_of
from gnomon.trees.problems import positive, repetitions

Array = np.ndarray
HELD_OUT = 2**62  # the stream that draws the validation rows


class BoostState(NamedTuple):
    """Rounds so far; round m has one tree per score, from stream m of the seed."""

    rounds: tuple[tuple[Tree, ...], ...]
    start: Array  # (n_raw,)
    raw: Array | None  # (n_raw, n) scores of the training rows; None after a warm start: not yet known
    raw_valid: Array | None
    seed: int
    losses: Array
    valid_losses: Array
    oob: tuple[Any, ...]  # what the loss of rows left out of a round fell by, and where to
    ahead: tuple[Any, ...]  # derivatives at `raw`, score by score; empty: not yet known
    init: Any = None  # a model to begin with; it follows from the rows, so no checkpoint holds it


@dataclass
class TrainingData:
    """What the trees of one fit grow from."""

    X: Array
    y: Array
    weight: Array
    reps: Array
    objective: Objective
    valid: tuple[Array, Array, Array] | None
    grower: Any
    judge: Judge | None = None  # None: there is no early stopping
    weighted: bool = False  # rows were given weights
    init: Any = None  # a fitted model to begin with
    monitor: Any = None  # ends the fit when it returns True
    left_out: Any = None  # which rows the present round learns from, and the loss of the others before it


class BoostWork:
    """The workspace of a fit; the seed of its start decides which rows are held out."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self.data: TrainingData | None = None


def _scores(chunk: Chunk, packed: PackedTrees, start: Array) -> Array:
    return packed.add(chunk.X, np.tile(start, (chunk.X.shape[0], 1)))


class Boosted(cats.ReadsCategories, Learner):
    """A sum of small trees, each fitted to the gradient of the loss at the sum so far."""

    _stop = "self"

    def _check_loaded(self) -> None:
        if hasattr(self, "rounds_"):
            rounds, start = self.rounds_, np.asarray(self.start_)
            if start.ndim != 1 or any(len(round_) != len(start) for round_ in rounds):
                raise ModelFileError("its rounds have another number of trees than classes. Get a new copy.")
            check_trees([tree for round_ in rounds for tree in round_], int(self.n_features_in_), 1)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Add trees until `_limit` rounds are done or the validation loss stops falling.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
            NaN marks a missing value.
        y : array of shape (n,)
            The target.
        sample_weight : array of shape (n,), optional
            How many times each row counts.

        Returns
        -------
        self
            The fitted model.
        """
        return super().fit(X, y, sample_weight)

    # the loop

    def _prepare(self, rows: Any) -> BoostWork:
        return BoostWork(rows)

    def _data(self, work: BoostWork, seed: int) -> TrainingData:
        if work.data is None:
            work.data = self._training_data(work.rows, stream(seed, HELD_OUT))
        return work.data

    def _training_data(self, rows: Any, rng: Any) -> TrainingData:
        X, y, weight = positive(rows)
        n_classes = 0 if rows.classes is None else len(rows.classes)
        y = np.asarray(y, dtype=np.float64)
        objective = objective_of(self, n_classes)
        if self.loss == "exponential":
            y = 2 * y - 1
        objective.check(y)
        weight = self._weighted(rows.classes, y, weight)
        reps, valid = repetitions(rows.weight[rows.weight > 0]), None
        stops = self._stops_early(len(y))
        judge = self._judge_by(objective, rows) if stops else None
        if stops:
            valid = self._given_rows(rows)
        if stops and valid is None and self.validation_fraction is not None:
            train, test = self._hold_out(len(y), y if n_classes else None, rng)
            valid = (X[test], y[test], weight[test])
            X, y, weight, reps = X[train], y[train], weight[train], reps[train]
        grower = self._make_grower(rows, X, y, weight, reps, objective)
        return TrainingData(X, y, weight, reps, objective, valid, grower, judge, rows.weighted)

    def _judge_by(self, objective: Objective, rows: Any) -> Judge:
        """Return what decides when to stop."""
        return by_loss(objective)

    def _given_rows(self, rows: Any) -> tuple[Array, Array, Array] | None:
        """Return X, y and weights to be judged by, where `fit` was given some."""
        return None

    def _weighted(self, classes: Any, y: Array, weight: Array) -> Array:
        return weight

    def _stops_early(self, n: int) -> bool:
        raise NotImplementedError

    def _make_grower(
        self, rows: Any, X: Array, y: Array, weight: Array, reps: Array, objective: Objective
    ) -> Any:
        raise NotImplementedError

    def _one_tree(
        self, data: TrainingData, k: int, state: BoostState, g: Array, h: Array, tops: Any, rng: Any
    ) -> Any:
        """Return a tree with shrunken values, and the leaf values of all training rows."""
        raise NotImplementedError

    def _hold_out(self, n: int, y: Array | None, rng: Any) -> tuple[Array, Array]:
        order = rng.permutation(n)
        if y is not None:  # the same share of every class
            order = order[np.argsort(y[order], kind="stable")]
        size = self.validation_fraction
        size = int(size) if size >= 1 else max(1, round(size * n))
        test = np.zeros(n, dtype=bool)
        test[order[np.linspace(0, n - 1, size).round().astype(int)]] = True
        return np.flatnonzero(~test), np.flatnonzero(test)

    def _start(self, work: BoostWork, rng: Any) -> BoostState:
        seed = draw_seed(rng)
        data = self._data(work, seed)
        start = self._first_scores(data)

        def scores(X: Any) -> Array:
            return np.ascontiguousarray(self._first_raw(X, start, data.init).T)

        held = None if data.valid is None else scores(data.valid[0])
        return BoostState((), start, scores(data.X), held, seed, np.empty(0), np.empty(0), (), (), data.init)

    def _snapshot(self, state: BoostState) -> BoostState:
        return state._replace(init=None)

    def _restore(self, work: BoostWork, snapshot: BoostState) -> BoostState:
        return snapshot._replace(init=self._data(work, snapshot.seed).init)

    def _first_scores(self, data: TrainingData) -> Array:
        return data.objective.start(data.y, data.weight)

    def _state(self) -> BoostState:
        grown, limit = len(self._boost_.rounds), self._limit()
        if limit < grown:
            name = "max_iter" if hasattr(self, "max_iter") else "n_estimators"
            raise DataError(
                f"{name}={limit} must be larger than or equal to n_iter_={grown} when warm_start==True: "
                "the old rounds are kept."
            )
        return self._boost_._replace(raw=None, raw_valid=None)

    def _replayed(self, data: TrainingData, state: BoostState) -> BoostState:
        """Return the state with the scores of all rows, from the rounds of an earlier fit."""
        trees = [tree for round_ in state.rounds for tree in round_]
        columns = list(range(len(state.start))) * len(state.rounds)
        packed = pack_trees(trees, [tree.value[:, :, 0] for tree in trees], columns)

        def scores(X: Any) -> Array:
            return np.ascontiguousarray(packed.add(X, self._first_raw(X, state.start, data.init)).T)

        held = None if data.valid is None else scores(data.valid[0])
        return state._replace(raw=scores(data.X), raw_valid=held, init=data.init)

    def _first_raw(self, X: Any, start: Array, init: Any) -> Array:
        """Return the scores before the first round, (n, n_raw)."""
        return np.tile(start, (X.shape[0], 1))

    def _step(self, work: BoostWork, state: BoostState) -> tuple[BoostState, Report]:
        with one_blas_thread():  # once a round, not once a loop
            return self._round(self._data(work, state.seed), state)

    def _round(self, data: TrainingData, state: BoostState) -> tuple[BoostState, Report]:
        index = len(state.rounds)
        if state.raw is None:
            state = self._replayed(data, state)
            if index >= self._limit():
                return state, Report(state.losses[-1], done=True)
        raw, trees = state.raw.copy(), []
        ahead = state.ahead or self._look_ahead(data, state.raw)
        for k in range(data.objective.n_raw):
            _, top_g, top_h, g, h = ahead[k]
            rng = stream(state.seed, index * data.objective.n_raw + k)
            tree, step = self._one_tree(data, k, state, g, h, (top_g, top_h), rng)
            raw[k] += step
            trees.append(tree)
        state = state._replace(rounds=(*state.rounds, tuple(trees)), raw=raw)
        return self._judge(data, state)

    def _look_ahead(self, data: TrainingData, raw: Array) -> tuple[Any, ...]:
        """Loss and derivatives of every score: what is told of this round serves the next."""
        g, h = np.empty((2, data.objective.n_raw, len(data.y)))
        told = data.objective.derivatives(data.y, raw, data.weight, g, h)
        return tuple((*one, *slopes) for one, *slopes in zip(told, g, h))

    def _judge(self, data: TrainingData, state: BoostState) -> tuple[BoostState, Report]:
        if not all(np.isfinite(one).all() for one in state.raw):
            raise DivergenceError(
                f"the scores of {type(self).__name__} left the numbers in round {len(state.rounds)}; lower "
                f"learning_rate (now {self.learning_rate:g})."
            )
        ahead = self._look_ahead(data, state.raw)
        loss = sum(part[0] for part in ahead) / float(data.weight.sum())
        state = state._replace(losses=np.append(state.losses, loss), ahead=ahead)
        if data.judge is not None:
            held, told = state.raw, (data.X, data.y, data.weight)
            if data.valid is not None:
                held, told = state.raw_valid.copy(), data.valid  # type: ignore[union-attr]
                for k, tree in enumerate(state.rounds[-1]):
                    held[k] += tree.value[tree.apply(told[0]), 0, 0]
                state = state._replace(raw_valid=held)
            judged = data.judge(held, *told)  # type: ignore[arg-type]
            state = state._replace(valid_losses=np.append(state.valid_losses, judged))
        done = self._is_enough(state) or len(state.rounds) >= self._limit()
        return state, Report(loss if np.isfinite(loss) else None, done=done)

    def _is_enough(self, state: BoostState) -> bool:
        patience = self.n_iter_no_change
        scores = state.valid_losses
        if not patience or len(scores) <= patience:
            return False
        return min(scores[-patience:]) >= scores[-patience - 1] - self.tol

    def _learned(self, run: Any) -> dict[str, Any]:
        return {**super()._learned(run), "n_iter_": len(run.state.rounds)}  # those of earlier fits count

    def _attributes(self, state: BoostState) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "rounds_": state.rounds,
            "start_": state.start,
            "train_score_": -np.asarray(state.losses),
            "n_trees_per_iteration_": len(state.start),
        }
        judged = -np.asarray(state.valid_losses)
        if state.raw_valid is not None:
            facts["validation_score_"] = judged
        elif len(judged):
            facts["train_score_"] = judged
        if self.warm_start:
            facts["_boost_"] = state._replace(ahead=(), init=None)
        return facts

    # prediction

    def _raw_predict(self, X: Any) -> Array:
        """Scores, (n, n_raw)."""
        rows = self._rows(X).in_chunks_of(BLOCK_BYTES)
        return per_row(_scores, rows, packed_trees_of(self, self.rounds_, self._lay_out), self.start_)

    def _lay_out(self) -> PackedTrees:
        trees = [tree for round_ in self.rounds_ for tree in round_]
        columns = list(range(len(self.start_))) * len(self.rounds_)
        return pack_trees(trees, [tree.value[:, :, 0] for tree in trees], columns)

    def _staged_raw(self, X: Any) -> Iterator[Array]:
        rows = self._rows(X)
        raw = self._first_raw(rows.X, self.start_, getattr(self, "init_", None))
        for round_ in self.rounds_:
            for k, tree in enumerate(round_):
                raw[:, k] += tree.value[tree.apply(rows.X), 0, 0]
            yield raw.copy()

    @property
    def feature_importances_(self) -> Array:
        """Share of the summed gains that each feature brought."""
        check_fitted(self)
        found = np.zeros(self.n_features_in_)
        for round_ in self.rounds_:
            for tree in round_:
                inner = tree.feature >= 0
                np.add.at(found, tree.feature[inner], tree.gain[inner])
        return found / found.sum() if found.sum() > 0 else found

    def to_rules(self, *, top: int = 10) -> list[str]:
        """Return the conditions of the leaves with the largest steps, most important first."""
        from gnomon.trees.text import rules_of

        found = []
        for m, round_ in enumerate(self.rounds_):
            for tree in round_:
                view = _View(tree, self)
                values = tree.value[tree.feature < 0, 0, 0]
                found += [(abs(v), f"round {m + 1}: {rule}") for v, rule in zip(values, rules_of(view))]
        return [rule for _, rule in sorted(found, key=lambda pair: -pair[0])[:top]]

    def plot(self, ax: Any = None) -> Any:
        """Draw training and validation loss against the round; return the Axes."""
        from gnomon.plot.trees import boosting_losses

        return boosting_losses(self, ax=ax)


class BoostedScores:
    """The scores of a boosted classifier, now and after every round."""

    def decision_function(self, X: Any) -> Array:
        """Return the scores: log-odds of the second class, or one score per class."""
        raw = self._raw_predict(X)  # type: ignore[attr-defined]
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Yield the scores after every round."""
        for raw in self._staged_raw(X):  # type: ignore[attr-defined]
            yield raw[:, 0] if raw.shape[1] == 1 else raw

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the class probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))  # type: ignore[attr-defined]


class _View:
    """One tree of a boosted model, dressed for `trees.text`."""

    def __init__(self, tree: Tree, model: Any) -> None:
        self.tree_, self.n_features_in_, self.categories_ = tree, model.n_features_in_, model.categories_
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
