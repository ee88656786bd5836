"""What classifier and regressor of dense layers share: epochs, stopping rules, prediction of scores."""

from __future__ import annotations

import math
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from gnomon.core.errors import DataError, DivergenceError
from gnomon.core.linalg import Array
from gnomon.core.promises import Promises
from gnomon.core.randomness import copied, generator
from gnomon.core.settings import check_parameters
from gnomon.core.steps import Learner, Report
from gnomon.core.tables import is_table
from gnomon.core.trace import Trace
from gnomon.core.validate import read, warn
from gnomon.neural import dense_plan, starts
from gnomon.neural.dense_plan import Memory, Stack
from gnomon.neural.earlier import check_same_kind
from gnomon.neural.functions import Activation
from gnomon.neural.mlp_fitted import FittedDense
from gnomon.neural.mlp_state import RULES, MLPState, MLPWork, blank
from gnomon.solvers import descent
from gnomon.solvers.schedules import Constant, InverseDecay, Schedule

LOWEST_RATE = 1e-6  # below which a rate is not divided any more
FLAT = 2.22e-9  # relative change at which L-BFGS has nothing to gain
AS_SCIPY = descent.Options(armijo=1e-3, unit_start=True)  # L-BFGS whose first steps are scikit-learn's


class DenseLearner(FittedDense, Learner):
    """Multilayer perceptrons."""

    _monotone: ClassVar[bool] = False
    _stop: ClassVar[str] = "self"
    _unit: ClassVar[str] = "epoch"
    _promises: ClassVar[Promises] = Promises(
        order="statistical: rows are dealt into batches in their order",
        weights="statistical: a row of weight two is in one batch, a row given twice may be in two",
        places="statistical: a table is shuffled within its parts",
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = RULES

    # what a subclass writes

    def _loss_name(self, rows: Any) -> str:
        """Return the name of the loss in the loops, for these targets."""
        raise NotImplementedError

    def _targets(self, rows: Any) -> tuple[Array, int]:
        """Return the targets as a matrix and the number of outputs."""
        raise NotImplementedError

    def _held_score(self, work: MLPWork, rows: Array, params: Array) -> float:
        """Return the score on held-out rows."""
        raise NotImplementedError

    # hooks of the loop

    def _prepare(self, rows: Any) -> MLPWork:
        self._check_combination()
        if self.warm_start and hasattr(self, "coefs_"):
            check_same_kind(self, rows.facts())
        single = rows.dtype == np.float32 and self.solver != "lbfgs"  # whose line searches need every digit
        dtype = np.float32 if single else np.float64
        if not rows.in_memory:
            return self._on_disk(rows, dtype)
        T, n_outputs = self._targets(rows)
        stack = self._stack(rows.n_features, n_outputs, self._loss_name(rows))
        weight = self._row_weights(rows)
        return MLPWork(rows.X, T.astype(dtype), weight.astype(dtype), stack, rows.y, rows.classes)

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Any:
        if not is_table(X):
            return super()._read(X, y, sample_weight, reset=reset, **options)
        if reset:
            check_parameters(self)
        return read(self, X, y, sample_weight, reads=self._reads._replace(scales=True), reset=reset)

    def _on_disk(self, rows: Any, dtype: Any) -> MLPWork:
        """Return the work on a table that is read in parts, again in every epoch."""
        if self.solver == "lbfgs" or self.early_stopping or getattr(self, "class_weight", None) == "balanced":
            raise DataError(
                "a table on disk is read part by part: solver='lbfgs', early_stopping and class_weight='balanced' "
                "need all rows at once. Load the table first, or use solver='adam' without them."
            )

        def read_part(chunk: Any) -> tuple[Any, Array, Array]:
            part = SimpleNamespace(y=chunk.y, weight=chunk.weight, classes=rows.classes)
            return chunk.X, self._targets(part)[0].astype(dtype), self._row_weights(part).astype(dtype)

        first = next(iter(rows.chunks()))
        part = SimpleNamespace(y=first.y, classes=rows.classes)
        stack = self._stack(rows.n_features, self._targets(part)[1], self._loss_name(part))
        return MLPWork(None, np.empty(0, dtype), None, stack, None, rows.classes, (rows, read_part))

    def _row_weights(self, rows: Any) -> Array:
        return rows.weight

    def _start(self, work: MLPWork, rng: Any) -> MLPState:
        draws = self._own_draws(rng)
        coefs, intercepts = starts.starting_weights(work.stack, self.init, self.init_scale, draws)
        return self._fresh(work, dense_plan.flat(coefs, intercepts, work.T.dtype), draws)

    def _fresh(self, work: MLPWork, params: Array, draws: Any) -> MLPState:
        return blank(work.stack, params, draws, float(self.learning_rate_init))

    def _step(self, work: MLPWork, state: MLPState) -> tuple[MLPState, Report]:
        if self.early_stopping and state.held is None and self.solver != "lbfgs":
            draws = copied(state.draws)
            order, held = self._split(work, draws)
            state = state._replace(draws=draws, order=order, held=held)
        if self.solver == "lbfgs":
            return self._quasi_step(work, state)
        state, loss = self._epoch(work, state)
        return self._judge(work, state, loss)

    def _finish(self, work: MLPWork, state: MLPState) -> MLPState:
        if self.early_stopping and state.best is not None:
            return state._replace(params=state.best)
        return state

    def _attributes(self, state: MLPState) -> dict[str, Any]:
        return {**self._learned_network(state), **self._output_facts(state.stack)}

    def _output_facts(self, stack: Stack) -> dict[str, Any]:
        """Return what is learned of the outputs."""
        raise NotImplementedError

    # epochs

    def _epoch(self, work: MLPWork, state: MLPState) -> tuple[MLPState, float]:
        """One pass over the rows in batches; a table on disk comes in parts, each shuffled by itself."""
        draws, rule, engine = state.draws, self._rule(), self._engine()
        dropout = any(work.stack.dropout)
        memory, rows_seen, order = Memory(state.params, state.first, state.second, state.step), 0, state.order
        found, masses, rates = [], [], np.empty(0)
        for X, T, weight in work.parts():
            n = X.shape[0] if state.order is None else len(state.order)
            batch = min(200, n) if self.batch_size == "auto" else min(int(self.batch_size), n)
            order = state.order
            shuffle = self.shuffle and batch < n  # a single batch has no order
            if (shuffle or dropout) and draws is state.draws:
                draws = copied(draws)
            if shuffle:
                places = np.arange(n)
                draws.shuffle(places)
                order = places if order is None else order[places]
            rates = self._rates(state._replace(step=memory.step), -(-n // batch))
            seed = int(draws.randint(2**31 - 1)) if dropout else 0
            memory, one = engine(work.stack, rule, memory, X, T, weight, order, batch, rates, seed)
            found.append(one)
            masses.append(float(weight.sum() if order is None else weight[order].sum()))
            rows_seen += n
        found = dense_plan.mean_pass(found, masses)
        epoch = len(state.losses) + 1
        if not math.isfinite(found.loss) or not np.isfinite(memory.params).all():
            raise self._divergence(epoch, "loss", found.steepest)
        new = state._replace(
            params=memory.params, first=memory.first, second=memory.second, step=memory.step,
            t=state.t + rows_seen, draws=draws, order=None if work.table is not None else order,
            losses=np.append(state.losses, found.loss), rates=np.append(state.rates, rates[-1]),
            norms=np.vstack([state.norms, found.norms]),
        )  # fmt: skip
        return new, found.loss

    def _divergence(self, epoch: int, what: str, steepest: float | None = None) -> DivergenceError:
        slope = "" if steepest is None else f", largest slope {steepest:.3g}"
        return DivergenceError(
            f"the {what} of {type(self).__name__} is not finite in epoch {epoch}: learning_rate_init="
            f"{self.learning_rate_init:g}{slope}. Lower learning_rate_init, scale the columns of X, or set clip_norm."
        )

    def _judge(self, work: MLPWork, state: MLPState, loss: float) -> tuple[MLPState, Report]:
        """Decide whether to go on, by scikit-learn's rules."""
        info, tol = {}, float(self.tol)
        if state.held is not None:
            with np.errstate(all="ignore"):
                score = self._held_score(work, state.held, state.params)
            if not math.isfinite(score):
                raise self._divergence(len(state.losses), "score of held-out rows")
            info["validation_score"] = score
            state = state._replace(scores=np.append(state.scores, score))
            stale = state.stale + 1 if score < state.best_score + tol else 0
            if score > state.best_score or state.best is None:
                state = state._replace(best=state.params, best_score=score)
        else:
            best = state.losses[:-1].min(initial=math.inf)
            stale = state.stale + 1 if loss > best - tol else 0
        state = state._replace(stale=stale)
        patience = self.plateau_patience if self.learning_rate == "plateau" else self.n_iter_no_change
        done = stale > patience
        divided = {"adaptive": 5.0, "plateau": 10.0}.get(str(self.learning_rate))
        if self.learning_rate == "adaptive" and self.solver != "sgd":
            divided = None
        if done and divided is not None and state.rate > LOWEST_RATE:
            rate = state.rate / divided
            state, done = state._replace(rate=rate, stale=0), False
        return state, Report(loss, done=done, info=info)

    def _rates(self, state: MLPState, steps: int) -> Array:
        """Return the learning rate of every update of the next pass."""
        rule, first = self.learning_rate, float(self.learning_rate_init)
        if rule in ("adaptive", "plateau"):
            return np.full(steps, state.rate)
        if rule == "invscaling" and self.solver == "sgd":
            return np.full(steps, first / (state.t + 1) ** self.power_t if state.t else first)
        schedule = rule if isinstance(rule, Schedule) else Constant(first)
        schedule = InverseDecay(first) if rule == "inverse" else schedule
        return np.array([schedule(state.step + k) for k in range(steps)])

    def _rule(self) -> Any:
        from gnomon.loops.dense import Rule

        alpha, decay = (self.alpha, 0.0) if self.weight_decay is None else (0.0, self.weight_decay)
        return Rule(
            dense_plan.SOLVERS[self.solver], float(self.momentum), bool(self.nesterovs_momentum),
            float(self.beta_1), float(self.beta_2), float(self.epsilon), self.adagrad_scope == "node",
            float(self.clip_norm or 0.0), float(alpha), float(decay),
        )  # fmt: skip

    def _engine(self) -> Any:
        if self.engine == "torch" or self.device == "cuda":
            from gnomon.neural.torch_dense import pass_on

            return pass_on(self.device)
        return dense_plan.train_pass

    def _quasi_step(self, work: MLPWork, state: MLPState) -> tuple[MLPState, Report]:
        """One step of L-BFGS on all rows."""
        calls = 0
        rows = None if state.order is None else state.order
        X, T, weight = (work.X, work.T, work.weight) if rows is None else (
            work.X[rows], work.T[rows], work.weight[rows])  # fmt: skip

        def function(theta: Array) -> tuple[float, Array]:
            nonlocal calls
            calls += 1
            value, gradient = dense_plan.objective(
                work.stack, theta.astype(work.T.dtype), X, T, weight, *self._strength()
            )
            return value, gradient.astype(float)

        here = descent.DescentState(
            state.params.astype(float), state.value, state.gradient, state.step, state.pairs
        )
        if state.gradient is None:
            here = descent.at(function, here.x)
        new = descent.lbfgs_step(function, here, AS_SCIPY)
        if not math.isfinite(new.value):
            raise DivergenceError(f"the loss of {type(self).__name__} is not finite; scale the columns of X.")
        steepest = float(np.abs(new.gradient).max(initial=0.0))
        change = here.value - new.value
        flat = abs(change) <= FLAT * max(abs(here.value), abs(new.value), 1.0)
        calls += state.calls
        state = state._replace(
            params=new.x.astype(work.T.dtype), step=new.k, t=state.t + X.shape[0], value=new.value, calls=calls,
            gradient=new.gradient, pairs=new.memory, losses=np.append(state.losses, new.value),
        )  # fmt: skip
        done = steepest <= self.tol or flat
        return state, Report(new.value, certificate=steepest, done=done, stalled=calls >= self.max_fun)

    def _warn_not_converged(self, run: Any) -> None:
        if self.solver == "lbfgs" and run.state.calls >= self.max_fun:
            warn(
                f"{type(self).__name__} used up max_fun={self.max_fun} evaluations of its objective before it "
                "converged. Raise max_fun, or scale the columns.",
                ConvergenceWarning,
            )
        else:
            super()._warn_not_converged(run)

    def _strength(self) -> tuple[float, float]:
        """Return alpha, which is divided by the number of rows, and the decay, which is not."""
        return (float(self.alpha), 0.0) if self.weight_decay is None else (0.0, float(self.weight_decay))

    # starting

    def _own_draws(self, rng: Any) -> np.random.RandomState:
        """Return scikit-learn's generator for the seed given, so that both draw the same weights."""
        if isinstance(self.random_state, Integral):
            return np.random.RandomState(int(self.random_state))
        return np.random.RandomState(rng.integers(0, 2**31 - 1, size=4))

    def _split(self, work: MLPWork, draws: Any) -> tuple[Array, Array]:
        """Return the rows to train on and those to validate with."""
        stratify = self._stratify(work)
        order, held = train_test_split(
            np.arange(work.X.shape[0]),
            random_state=draws,
            test_size=self.validation_fraction,
            stratify=stratify,
        )
        if len(held) < 2 or (stratify is not None and len(np.unique(stratify[held])) < 2):
            raise DataError(
                "The validation set is too small. Increase 'validation_fraction' or the size of your dataset."
            )
        return order, held

    def _stratify(self, work: MLPWork) -> Any:
        return None

    def _sizes(self) -> tuple[int, ...]:
        sizes = self.hidden_layer_sizes
        sizes = (int(sizes),) if isinstance(sizes, Integral) else tuple(int(n) for n in sizes)
        if any(n < 1 for n in sizes):
            raise ValueError(f"hidden_layer_sizes must be > 0, got {list(sizes)}.")
        return sizes

    def _per_layer(self, name: str, count: int) -> tuple[Any, ...]:
        value = getattr(self, name)
        if isinstance(value, str | Real):
            return (value,) * count
        if len(value) != count:
            raise ValueError(
                f"{name} must be one value or one for each of the {count} hidden layers; got {value!r}."
            )
        return tuple(value)

    def _stack(self, n_in: int, n_outputs: int, loss: str) -> Stack:
        sizes = self._sizes()
        activations = tuple(Activation(name).name for name in self._per_layer("activation", len(sizes)))
        dropout = tuple(float(p) for p in self._per_layer("dropout", len(sizes)))
        if any(not 0.0 <= p < 1.0 for p in dropout):
            raise ValueError(
                f"dropout must be at least 0 and below 1, for hidden layers only; got {dropout}."
            )
        parameter = float(getattr(self, "huber_delta", 1.0))
        return Stack(
            (n_in, *sizes, n_outputs),
            activations,
            dropout,
            int(self.pieces),
            loss,
            parameter,
            self.dropout_scaling,
        )

    def _check_combination(self) -> None:
        if self.weight_decay is not None and self.alpha not in (0.0, 1e-4):
            raise ValueError(
                f"give alpha or weight_decay, not both: alpha={self.alpha} is divided by the size of the batch, "
                f"weight_decay={self.weight_decay} is not."
            )
        names = self._per_layer("activation", len(self._sizes()))
        if "sign" in names:
            raise ValueError("activation='sign' has slope 0 everywhere and cannot be trained; use 'tanh'.")
        if "softmax" in names:
            raise ValueError(
                "activation='softmax' belongs to the output; use 'relu' or 'tanh' in hidden layers."
            )
        if self.solver == "lbfgs" and any(self._per_layer("dropout", len(self._sizes()))):
            raise ValueError(
                "solver='lbfgs' needs the same objective at every step; use dropout=0 or solver='adam'."
            )
        if self.learning_rate == "plateau" and not self.early_stopping:
            warn(
                "learning_rate='plateau' watches the training loss; set early_stopping=True to watch a held-out score."
            )

    def _state(self) -> MLPState:
        """Go on from the weights of the earlier fit, with a new optimizer."""
        draws = copied(self.optimizer_.draws)
        state = blank(self._fitted_stack(), self._params(), draws, float(self.learning_rate_init))
        return state._replace(
            losses=np.array(self.loss_curve_, dtype=float),
            rates=self.learning_rates_,
            norms=self.gradient_norms_,
        )

    def _continued(self, work: MLPWork) -> MLPState:
        """Return the state of an earlier `partial_fit`, optimizer and all; a fresh one where there is none."""
        if not hasattr(self, "coefs_"):
            return self._start(work, generator(self.random_state))
        return self._state()._replace(**self.optimizer_._asdict())

    def _one_epoch(self, rows: Any) -> Self:
        if self.early_stopping:
            raise ValueError(
                "partial_fit does not support early_stopping=True: it sees a part of the rows only."
            )
        with self._threads():
            work = self._prepare(rows)
            state, loss = self._epoch(work, self._continued(work))
        trace = Trace(state.losses, np.zeros(len(state.losses)))
        self._adopt(
            {**self._attributes(state), "trace_": trace, "n_iter_": len(state.losses), "converged_": False},
            rows,
        )
        return self
