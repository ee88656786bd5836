"""The loop of stochastic gradient learners: passes, schedules, validation, and the fast way for streams."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import DataError
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed, stream
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import warn
from gnomon.linear._rules import BATCH, JOBS, ORDER, SEED
from gnomon.linear.online import _aggressive, _batches, _epochs
from gnomon.linear.online._epochs import PassWork
from gnomon.linear.online._streams import ONES, Streamed
from gnomon.loops import epochs
from gnomon.loops import stochastic as loops
from gnomon.losses import margin, residual
from gnomon.solvers.schedules import Schedule, named_schedule

FEW_VISITS = 10_000  # of rows in a pass below which Python's share of it is felt
MOST_VISITS = 1_000_000  # in one call, so that a fit can be interrupted

MARGIN_LOSSES = {
    "hinge": margin.Hinge,
    "log_loss": margin.Logistic,
    "modified_huber": margin.ModifiedHuber,
    "squared_hinge": margin.SquaredHinge,
    "perceptron": margin.Perceptron,
    "exponential": margin.Exponential,
    "sigmoid_squared": margin.SigmoidSquared,
}


def residual_loss(name: str, epsilon: float) -> Any:
    """Return the regression loss that an estimator names."""
    return {
        "squared_error": residual.SquaredError,
        "huber": lambda: residual.Huber(max(epsilon, 1e-300)),
        "epsilon_insensitive": lambda: residual.EpsilonInsensitive(epsilon),
        "squared_epsilon_insensitive": lambda: residual.SquaredEpsilonInsensitive(epsilon),
        "absolute": residual.Absolute,
        "cauchy": residual.StudentT,
    }[name]()


RESIDUAL_LOSSES = (
    "squared_error",
    "huber",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
    "absolute",
    "cauchy",
)

RULES: dict[str, Any] = {
    "penalty": [StrOptions({"l2", "l1", "elasticnet"}), None],
    "alpha": [Interval(Real, 0, None, closed="left")],
    "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
    "fit_intercept": ["boolean"],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left"), None],
    "shuffle": ["boolean"],
    "epsilon": [Interval(Real, 0, None, closed="left")],
    "random_state": SEED,
    "verbose": ["verbose"],
    "n_jobs": JOBS,
    "order": ORDER,
    "batch_size": BATCH,
    "eta0": [Interval(Real, 0, None, closed="left")],
    "power_t": [Interval(Real, None, None, closed="neither")],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    "warm_start": ["boolean"],
    "average": ["boolean", Interval(Integral, 0, None, closed="left")],
    "momentum": [Interval(Real, 0, 1, closed="left")],
    "nesterov": ["boolean"],
    "optimizer": [StrOptions({"sgd", "adagrad"})],
    "learning_rate": [
        StrOptions({"constant", "optimal", "invscaling", "inverse", "adaptive", *_aggressive.RATES}),
        Schedule,
    ],
}


class Stochastic(Streamed, Learner):
    """The loop that classifier and regressor share."""

    _stop: ClassVar[str] = "self"
    _monotone: ClassVar[bool] = False  # single steps may go up

    def fit(self, X, y, coef_init=None, intercept_init=None, sample_weight=None) -> Self:
        """Learn from the data, from zero or from given weights.

        Parameters
        ----------
        X, y : array or sparse matrix of shape (n, d), array of shape (n,)
        coef_init, intercept_init : array, optional
            Where to begin.
        sample_weight : array, optional

        Returns
        -------
        self
        """
        rows = self._read(X, y, sample_weight)
        rows.initial = (coef_init, intercept_init)
        return self._learn(rows, X=X, y=y, sample_weight=sample_weight)

    # -- the fast way for rows of a stream -------------------------------------------------------------------

    def _pass_over(self, work, state):
        return self._epoch(work, state)[0]

    def _can_be_quick(self):
        return not (self._batched() or self.average or self._aggressive())

    def _quick_pass(self, state, X, targets, order):
        setup = self._setup(state)
        for k in range(len(targets)):
            found = loops.sgd_dense(
                X,
                targets[k],
                ONES,
                order,
                *setup[:8],
                self.fit_intercept,
                setup[8],
                state.coef[k],
                state.intercept[k],
                state.steps,
                state.average[k],
                0.0,
                -1.0,
                state.owed[k],
                state.debt,
            )
            state.intercept[k] = found[0]
        if not np.isfinite(state.intercept).all():
            raise DataError("the weights left the finite numbers; lower eta0 or scale the columns.")
        self.__dict__["pass_"] = state._replace(steps=found[1], debt=found[4], epoch=state.epoch + 1)
        self.__dict__["t_"] = found[1] + 1.0

    def _setup(self, state):
        """The same numbers for a stream, worked out once and kept."""
        key = (self.loss, self.alpha, self.eta0, self.power_t, self.penalty, self.l1_ratio, state.rate)
        known = self.__dict__.get("_numbers")
        if known is None or known[0] != key or isinstance(self.learning_rate, Schedule):
            known = self.__dict__["_numbers"] = (key, self._fresh_setup(state))
        return known[1]

    def _fresh_setup(self, state):
        """Numbers of loss, schedule and penalty, and whether ℓ1 clips."""
        loss, schedule, (alpha, ratio) = self._loss(), self._schedule(), self._strength()
        a, b = schedule.numbers
        numbers = (loss.code, *map(float, loss.parameters), schedule.code, float(a) * state.rate, float(b))
        return (*numbers, alpha, ratio, ratio > 0.0 and alpha > 0.0)

    # -- the loop --------------------------------------------------------------------------------------------

    def _prepare(self, rows):
        return PassWork(rows, self._targets(rows), self._row_weights(rows), self.fit_intercept)

    def _start(self, work, rng):
        return _epochs.start_pass(work.rows, len(work.targets), draw_seed(rng), zero_like_clip=True)

    def _first_state(self, work, seed, index):
        state = self._start(work, stream(seed, index))
        shape = state.coef.shape
        given = getattr(work.rows, "initial", (None, None))
        if self.warm_start and hasattr(self, "coef_") and np.atleast_2d(self.coef_).shape == shape:
            coef = np.array(self.coef_, dtype=float).reshape(shape) if given[0] is None else state.coef
            intercept = np.array(self.intercept_, dtype=float) if given[1] is None else state.intercept
            return state._replace(coef=coef, intercept=intercept.reshape(shape[0]))
        return state

    def _step(self, work, state):
        if self.early_stopping:
            work.hold_out(self.validation_fraction, state.seed)
        new, loss = self._epoch(work, state)
        watched = -work.held_out_score(new.coef, new.intercept) if self.early_stopping else loss
        scale = 1.0 if self.early_stopping else work.mass
        new = _epochs.judge(new, watched, scale, self.tol, 0)
        done = _epochs.out_of_patience(new, self.tol, self.n_iter_no_change)
        if done and self.learning_rate == "adaptive" and self.eta0 * new.rate > 1e-6:
            new, done = new._replace(rate=new.rate / 5.0, waited=0), False
        full = self.batch_size == "full"
        objective = self._objective(work, new) if full else loss / work.mass
        if full and self.tol is not None and state.epoch > 0:
            done = abs(objective - state.facts["objective"]) <= self.tol * max(1.0, abs(objective))
        lost = done and not self.early_stopping and loss > 2.0 * self._loss_of_zero(work) > 0.0
        return new._replace(facts={**(new.facts or {}), "objective": objective}), Report(
            objective, done=bool(done and not lost), stalled=bool(lost)
        )

    def _stretch(self, work, state, most):
        """Passes over few dense rows in one compiled call, with the numbers of single ones."""
        plain = not (self.early_stopping or self._batched() or self._aggressive())
        order = ("shuffle" if self.shuffle else "given") if self.order is None else self.order
        plain = plain and isinstance(order, str) and order == "shuffle" and self.learning_rate != "adaptive"
        visits = work.targets.size
        if not plain or visits > FEW_VISITS or sparse.issparse(work.X):
            return self._step(work, state)
        code, p, q, rate, a, b, alpha, ratio, clip = self._fresh_setup(state)
        numbers = (code, p, q, rate, a, b, alpha, ratio, clip, bool(self.fit_intercept))
        start = float(self.average) if self.average else -1.0
        kept = [
            field.copy() for field in (state.coef, state.intercept, state.average, state.average_intercept)
        ]
        owed, losses = state.owed.copy(), np.empty(min(most, MOST_VISITS // visits))
        tol, patience = (
            (-np.inf, np.inf) if self.tol is None else (self.tol * work.mass, self.n_iter_no_change)
        )
        made, steps, debt, best, waited = epochs.sgd_epochs(
            work.X, work.targets, np.ascontiguousarray(work.weights), state.seed, state.epoch, (*numbers, start),
            (*kept, owed, state.steps, state.debt), (state.best, state.waited, float(tol), float(patience)), losses,
        )  # fmt: skip
        found = losses[:made].tolist()
        _epochs.refuse_divergence(found[-1])
        done = self.tol is not None and waited >= patience
        lost = done and found[-1] > 2.0 * self._loss_of_zero(work) > 0.0
        values = [loss / work.mass for loss in found]
        coef, intercept, average, average_intercept = kept
        new = state._replace(
            coef=coef, intercept=intercept, average=average, average_intercept=average_intercept, owed=owed,
            steps=steps, debt=debt, epoch=state.epoch + made, loss=found[-1], best=best, waited=int(waited),
            facts={**(state.facts or {}), "objective": values[-1]},
        )  # fmt: skip
        last = Report(values[-1], done=bool(done and not lost), stalled=bool(lost))
        return new, [*map(Report, values[:-1]), last]

    def _loss_of_zero(self, work):
        """Return the loss of weights that are all zero: whoever ends above it has run away."""
        loss = self._loss()
        pairs = zip(work.targets, work.weights, strict=True)
        return sum(float(weight @ loss.value(target, np.zeros_like(target))) for target, weight in pairs)

    def _warn_not_converged(self, run):
        if len(run.trace) >= self._limit():
            super()._warn_not_converged(run)
            return
        warn(
            f"{type(self).__name__} ran away: after {len(run.trace)} passes its loss is more than twice that of "
            "weights of zero. Scale the columns, or lower eta0.",
            ConvergenceWarning,
        )

    def _epoch(self, work, state):
        """One pass over the rows for every output; returns the new state and the loss met on the way."""
        if self._aggressive():
            return self._aggressive_pass(work, state)
        if self._batched():
            return _batches.batched_pass(self, work, state)
        order = self._order(work, state)
        setup, X, targets, weight = self._fresh_setup(state), work.X, work.targets, work.weights
        coef, owed, average = state.coef.copy(), state.owed.copy(), state.average.copy()
        intercept, average_intercept = state.intercept.copy(), state.average_intercept.copy()
        start = float(self.average) if self.average else -1.0
        loop, total = loops.sgd_csr if sparse.issparse(X) else loops.sgd_dense, 0.0
        for k in range(len(targets)):
            found = loop(
                *_epochs.dense_or_parts(X),
                targets[k],
                weight[k],
                order,
                *setup[:8],
                self.fit_intercept,
                setup[8],
                coef[k],
                intercept[k],
                state.steps,
                average[k],
                average_intercept[k],
                start,
                owed[k],
                state.debt,
            )
            intercept[k], average_intercept[k] = found[0], found[3]
            total += found[2]
        return state._replace(
            coef=coef,
            intercept=intercept,
            average=average,
            average_intercept=average_intercept,
            owed=owed,
            steps=found[1],
            debt=found[4],
            epoch=state.epoch + 1,
        ), total

    def _aggressive(self):
        return isinstance(self.learning_rate, str) and self.learning_rate in _aggressive.RATES

    def _aggressive_pass(self, work, state):
        """The same by passive–aggressive steps: as far as the row asks, at most eta0."""
        if self.penalty is not None or self._batched():
            raise ValueError(
                f"learning_rate={self.learning_rate!r} takes one row a step and no penalty; "
                "set penalty=None, batch_size=1, momentum=0 and optimizer='sgd'."
            )
        kind = _aggressive.RATES.index(self.learning_rate) + (3 if work.rows.classes is None else 0)
        fitting = "hinge" if work.rows.classes is not None else "epsilon_insensitive"
        if self.loss != fitting:
            raise ValueError(
                f"learning_rate={self.learning_rate!r} needs loss={fitting!r}; got {self.loss!r}."
            )
        numbers = (kind, float(self.eta0), float(self.epsilon), self.fit_intercept, bool(self.average))
        taus = np.zeros(work.targets.shape)
        return _aggressive.one_pass(work, self._order(work, state), numbers, state, taus)

    def _order(self, work, state):
        order = _epochs.row_order(self.order, self.shuffle, work.n_rows, state.seed, state.epoch)
        if work.parts is None:
            return order
        return order[np.isin(order, work.parts[0])]

    def _batched(self):
        return self.batch_size != 1 or self.momentum > 0 or self.optimizer != "sgd"

    def _objective(self, work, state):
        """Mean loss plus penalty, over all rows."""
        loss, (alpha, ratio) = self._loss(), self._strength()
        Z = work.X @ state.coef.T + state.intercept
        value = sum(float(np.sum(w * loss.value(y, z))) for y, z, w in zip(work.targets, Z.T, work.weights))
        w = state.coef
        return value / work.mass + alpha * (ratio * np.abs(w).sum() + 0.5 * (1 - ratio) * np.sum(w * w))

    def _strength(self):
        if self.penalty is None:
            return 0.0, 0.0
        ratio = {"l2": 0.0, "l1": 1.0}.get(self.penalty, self.l1_ratio)
        if ratio is None:
            raise ValueError(
                "l1_ratio must be set when penalty is 'elasticnet', to a number between 0 and 1."
            )
        return float(self.alpha), float(ratio)

    def _schedule(self):
        loss = self._loss()
        typical = np.sqrt(1.0 / np.sqrt(self.alpha)) if self.alpha > 0 else 1.0
        slope = abs(float(loss.gradient(1.0, -typical)))
        if self.learning_rate == "optimal" and not self.alpha > 0:
            raise ValueError("learning_rate='optimal' needs alpha above 0; use 'invscaling' or 'constant'.")
        if self.learning_rate in ("constant", "invscaling", "adaptive", "inverse") and not self.eta0 > 0:
            raise ValueError(f"learning_rate={self.learning_rate!r} needs eta0 above 0; got {self.eta0!r}.")
        return named_schedule(self.learning_rate, self.eta0 or 1.0, self.power_t, self.alpha or 1.0, slope)

    def _shown(self, state):
        if self.average and self._aggressive():
            return _aggressive.mean_weights(state)
        if self.average and state.steps + 1.0 > float(self.average):
            return state.average, state.average_intercept
        return state.coef, state.intercept
