"""The loop that mistake-driven learners share."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from gnomon.core.parameters import Interval
from gnomon.core.randomness import draw_seed, stream
from gnomon.core.steps import Learner, Report
from gnomon.linear._rules import JOBS, ORDER, SEED
from gnomon.linear.online import _epochs
from gnomon.linear.online._aggressive import mean_weights
from gnomon.linear.online._epochs import PassWork
from gnomon.linear.online._streams import Streamed

COMMON: dict[str, Any] = {
    "fit_intercept": ["boolean"],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left"), None],
    "shuffle": ["boolean"],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "warm_start": ["boolean"],
    "average": ["boolean"],
    "random_state": SEED,
    "verbose": ["verbose"],
    "n_jobs": JOBS,
    "order": ORDER,
}


class Origin:
    """Where the canonical rows come from."""

    def __init__(self, rows):
        self.origin, self.n_given = getattr(rows, "origin", None), getattr(rows, "n_given", rows.n_rows)


class MistakeDriven(Streamed, Learner):
    """The loop that perceptron and passive–aggressive learners share.

    A learner has `_epoch(work, state)`: one pass; it returns the new state, the loss met on the way, the number
    for the trace, and whether the learner has come to rest.
    """

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

    def _prepare(self, rows):
        return PassWork(rows, self._targets(rows), self._weights(rows), self.fit_intercept)

    def _start(self, work, rng):
        start = _epochs.start_pass(work.rows, len(work.targets), draw_seed(rng))
        return start._replace(facts=self._fresh_facts(work))

    def _first_state(self, work, seed, index):
        known = getattr(self, "pass_", None)
        if self.warm_start and known is not None and known.coef.shape[1] == work.rows.n_features:
            facts = self._fresh_facts(work)
            return known._replace(best=np.inf, waited=0, coef=known.coef.copy(), facts=facts)
        return (
            super()._first_state(work, seed, index)
            if not self.warm_start
            else self._start(work, stream(seed, 0))
        )

    def _step(self, work, state):
        if self.early_stopping:
            work.hold_out(self.validation_fraction, state.seed)
        new, loss, shown, rests = self._epoch(work, state)
        if self.early_stopping:
            new = _epochs.judge(new, -work.held_out_score(*self._final(new)), 1.0, self.tol, 0)
        else:
            new = _epochs.judge(new, loss, work.mass, self.tol, 0)
        return new, Report(
            shown, done=bool(rests or _epochs.out_of_patience(new, self.tol, self.n_iter_no_change))
        )

    def _order(self, work, state):
        """Rows of one pass, without those held out."""
        order = _epochs.row_order(self.order, self.shuffle, work.n_rows, state.seed, state.epoch)
        return order if work.parts is None else order[np.isin(order, work.parts[0])]

    # -- rows of a stream ------------------------------------------------------------------------------------

    def _pass_over(self, work, state):
        new, loss, _, _ = self._epoch(work, state._replace(facts=self._fresh_facts(work)))
        return _epochs.judge(new, loss, work.mass, self.tol, 0)

    def _can_be_quick(self):
        return not self.average

    def _shown_in_place(self, state, steps, **facts):
        """Show weights that the quick way moved in place; `facts` are what it counted."""
        state = state._replace(steps=steps, epoch=state.epoch + 1)
        self.__dict__ |= {"pass_": state, "intercept_": state.intercept, "t_": steps + 1.0, **facts}

    # -- what is shown ---------------------------------------------------------------------------------------

    def _final(self, state):
        return mean_weights(state) if self.average else (state.coef, state.intercept)
