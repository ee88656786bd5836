"""Mistake-driven learners: the perceptron in all its variants, and passive–aggressive updates."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions

from gnomon.core.randomness import draw_seed, stream
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import Reads
from gnomon.linear import _epochs
from gnomon.linear._rows import check_classes
from gnomon.linear.hyperplane import LinearClassifierMixin
from gnomon.linear.least_squares import LinearPrediction
from gnomon.loops import stochastic as loops

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
    "random_state": ["random_state"],
}


class _Origin:
    """Where the canonical rows come from."""

    def __init__(self, rows):
        self.origin, self.n_given = getattr(rows, "origin", None), getattr(rows, "n_given", rows.n_rows)


class MistakeDriven(_epochs.Mixed, Learner):
    """The loop that perceptron and passive–aggressive learners share."""

    _stop: ClassVar[str] = "self"

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

    def _start(self, rows, rng):
        return self._prepared(rows, _epochs.start_pass(rows, len(self._targets(rows)), draw_seed(rng)))

    def _first_state(self, rows, seed, index):
        known = getattr(self, "pass_", None)
        if self.warm_start and known is not None and known.coef.shape[1] == rows.n_features:
            return self._prepared(rows, known._replace(best=np.inf, waited=0, coef=known.coef.copy()))
        return (
            super()._first_state(rows, seed, index)
            if not self.warm_start
            else self._start(rows, stream(seed, 0))
        )

    def _prepared(self, rows, state):
        """Convert the rows once, and note what is counted by row."""
        rows.loops = _epochs.prepare_rows(rows.X)
        return state._replace(facts=self._fresh_facts(rows))

    def _mean(self, state):
        """Average of the weights after every step, from the sums of steps·change."""
        if state.steps == 0:
            return state.coef, state.intercept
        return (
            state.coef - state.average / state.steps,
            state.intercept - state.average_intercept / state.steps,
        )

    def _final(self, state):
        return self._mean(state) if self.average else (state.coef, state.intercept)


class Perceptron(LinearClassifierMixin, MistakeDriven):
    r"""Rosenblatt's perceptron.

    .. math:: \text{if } y_i(w\cdot x_i + b) \le 0:\quad w \leftarrow w + \eta\,y_i x_i,\; b \leftarrow b + \eta\,y_i

    On separable data it makes at most (R/γ)² mistakes, whatever the order of the rows. On other data it never comes
    to rest: take the average, or a loss with a minimum (`LogisticRegression`, `LinearSVC`).

    Parameters
    ----------
    penalty, alpha, l1_ratio
        Accepted for compatibility; penalties on the perceptron loss are `SGDClassifier(loss="perceptron")`.
    fit_intercept : bool, default=True
    max_iter : int, default=1000
        Passes over the data.
    tol : float or None, default=1e-3
        Stop when the mistakes have not fallen by tol·n for `n_iter_no_change` passes. None: only a pass without
        mistakes stops, as in the textbooks.
    shuffle : bool, default=True
    eta0 : float, default=1.0
        Length of the updates; from a zero start it only scales the weights.
    random_state : int, default=0
    class_weight : dict, "balanced" or None
        Multiplies the updates of a class.
    warm_start : bool, default=False
    average : bool, default=False
        Return the mean of the weights after every step, mistakes or not.
    order : None, "given", "random", "random_mistake" or array of row numbers
        None: `shuffle` decides. ``"random_mistake"`` picks one wrong row at random until none is left.
    update : {"mistake", "always"}, default="mistake"
        ``"always"`` adds y·x on every visit, as Hebb's rule does.
    batch : bool, default=False
        One step with the sum over all present mistakes.
    stop_when_clean : bool or "auto", default="auto"
        A pass without mistakes ends the run; "auto" is not so when averaging.
    keep_log : bool, default=False
        Keep (row, weights, intercept) after every update in `mistake_log_` (two classes).
    verbose, n_jobs, early_stopping, validation_fraction, n_iter_no_change
        As in scikit-learn.
    boundary : {"negative", "positive"}, default="negative"

    Attributes
    ----------
    coef_, intercept_, classes_
    n_iter_ : int
        Passes.
    t_ : float
        Steps made, plus one.
    mistakes_ : array of shape (n,) or (K, n)
        Updates on every row; n_mistakes_ is their sum.
    coef_last_ : array
        The last weights, where `coef_` is their average.
    converged_ : bool
        Whether the last pass was clean.
    trace_
        Mistakes per pass.

    Examples
    --------
    >>> X, y = [[-3.0, 2], [-1, 1], [-1, -1], [2, 2], [1, -1]], [1, 1, -1, -1, -1]
    >>> model = Perceptron(shuffle=False, tol=None).fit(X, y)
    >>> model.coef_, model.intercept_, model.mistakes_
    (array([[-3.,  2.]]), array([-2.]), array([1, 0, 2, 1, 0]))
    """

    _reads: ClassVar[Reads] = Reads(sparse=True, y="class")
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON | {
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "update": [StrOptions({"mistake", "always"})],
        "batch": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "boundary": [StrOptions({"negative", "positive"})],
    }

    def __init__(
        self,
        *,
        penalty=None,
        alpha=1e-4,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        eta0=1.0,
        n_jobs=None,
        random_state=0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        class_weight=None,
        warm_start=False,
        average=False,
        order=None,
        update="mistake",
        batch=False,
        stop_when_clean="auto",
        keep_log=False,
        boundary="negative",
    ):
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average
        self.order = order
        self.update = update
        self.batch = batch
        self.stop_when_clean = stop_when_clean
        self.keep_log = keep_log
        self.boundary = boundary

    def _plain_read(self, X, y=None, sample_weight=None, *, reset=True, **options):
        rows = super()._plain_read(X, y, sample_weight, reset=reset, **options)
        if y is not None:
            check_classes(rows, type(self).__name__)
            if self.penalty is not None:
                raise ValueError(
                    "Perceptron takes no penalty; use SGDClassifier(loss='perceptron', penalty=...)."
                )
        return rows

    def _targets(self, rows):
        return _epochs.signs(rows)

    def _fresh_facts(self, rows):
        targets = self._targets(rows)
        rows.eta = self.eta0 * _epochs.row_weights(rows, self.class_weight)
        return {
            "counts": np.zeros((len(targets), rows.n_rows), dtype=np.int64),
            "log": (),
            "clean": False,
            "loss": 0.0,
            "map": _Origin(rows),
        }

    def _step(self, rows, state):
        n_mistakes, new, before = 0, state, state.facts["loss"]
        for k, y in enumerate(self._targets(rows)):
            visit = self._batch_step if self.batch else self._pass
            new, mistakes = visit(rows, y, k, new, state.epoch)
            n_mistakes += mistakes
        facts = {**new.facts, "clean": n_mistakes == 0}
        new = _epochs.judge(
            new._replace(epoch=state.epoch + 1, facts=facts), float(n_mistakes), rows.n_rows, self.tol, 0
        )
        stop_clean = not self.average if self.stop_when_clean == "auto" else self.stop_when_clean
        done = (stop_clean and n_mistakes == 0) or _epochs.tired(new, self.tol, self.n_iter_no_change)
        return new, Report(float(n_mistakes), done=bool(done))

    def _pass(self, rows, y, k, state, epoch):
        if isinstance(self.order, str) and self.order == "random_mistake":
            return self._random_mistakes(rows, y, k, state, epoch)
        order = _epochs.row_order(self.order, self.shuffle, rows.n_rows, state.seed, epoch)
        if self.keep_log:
            total = 0
            for i in order:
                state, mistakes = self._visit(rows, y, k, state, np.array([i]))
                total += mistakes
            return state, total
        return self._visit(rows, y, k, state, order)

    def _visit(self, rows, y, k, state, order):
        """Run the loop over some rows for one machine."""
        coef, u, counts = state.coef.copy(), state.average.copy(), state.facts["counts"].copy()
        loop = loops.perceptron_csr if sparse.issparse(rows.loops) else loops.perceptron_dense
        steps = state.steps if k == 0 else state.facts["begun"]
        b, ub, after, mistakes, loss = loop(
            *_epochs.dense_or_parts(rows.loops), y, rows.eta, order, self.fit_intercept, self.update == "always",
            coef[k], state.intercept[k], u[k], state.average_intercept[k], steps, counts[k],
        )  # fmt: skip
        intercept, average = state.intercept.copy(), state.average_intercept.copy()
        intercept[k], average[k] = b, ub
        facts = {**state.facts, "counts": counts, "begun": steps, "loss": state.facts["loss"] + loss}
        if self.keep_log and (mistakes or self.update == "always"):
            facts["log"] = (*state.facts["log"], (int(order[0]), coef[k].copy(), float(b)))
        return state._replace(
            coef=coef, intercept=intercept, average=u, average_intercept=average, steps=after, facts=facts
        ), mistakes

    def _random_mistakes(self, rows, y, k, state, epoch):
        """List the mistakes, pick one at random, again and again; a pass is as many updates as rows."""
        rng, made = stream(state.seed, epoch), 0
        for _ in range(rows.n_rows):
            wrong = np.flatnonzero(y * (rows.X @ state.coef[k] + state.intercept[k]) <= 0.0)
            if not len(wrong):
                break
            state, mistakes = self._visit(rows, y, k, state, rng.choice(wrong, size=1))
            made += mistakes
        return state, made

    def _batch_step(self, rows, y, k, state, epoch):
        """Add the sum over all present mistakes."""
        wrong = y * (rows.X @ state.coef[k] + state.intercept[k]) <= 0.0
        push = np.where(wrong, rows.eta * y, 0.0)
        coef, intercept, counts = state.coef.copy(), state.intercept.copy(), state.facts["counts"].copy()
        coef[k] += rows.X.T @ push
        intercept[k] += push.sum() * self.fit_intercept
        counts[k] += wrong
        facts = {**state.facts, "counts": counts, "loss": state.facts["loss"] + float(wrong.sum())}
        return state._replace(coef=coef, intercept=intercept, steps=state.steps + 1, facts=facts), int(
            wrong.sum()
        )

    def _attributes(self, state):
        coef, intercept = self._final(state)
        counts = _epochs.in_given_rows(state.facts["map"], state.facts["counts"])
        found = {"coef_": coef.copy(), "intercept_": intercept.copy(), "coef_last_": state.coef.copy()}
        found |= {
            "t_": state.steps + 1.0,
            "mistakes_": counts[0] if len(counts) == 1 else counts,
            "pass_": state,
        }
        found |= {"n_mistakes_": int(counts.sum()), "converged_": bool(state.facts["clean"])}
        return found | ({"mistake_log_": list(state.facts["log"])} if self.keep_log else {})


class Aggressive(MistakeDriven):
    """What both passive–aggressive learners do in a pass."""

    def _fresh_facts(self, rows):
        X = rows.loops
        squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
        rows.norms = np.asarray(squares, dtype=float).ravel() + float(self.fit_intercept)
        return {"taus": np.zeros((len(self._targets(rows)), rows.n_rows)), "map": _Origin(rows)}

    def _step(self, rows, state):
        loss, new, kind = 0.0, state, self.KINDS[self.loss]
        weight = self._weights(rows)
        order = _epochs.row_order(self.order, self.shuffle, rows.n_rows, state.seed, state.epoch)
        coef, u, taus = state.coef.copy(), state.average.copy(), state.facts["taus"].copy()
        intercept, ub = state.intercept.copy(), state.average_intercept.copy()
        loop = loops.aggressive_csr if sparse.issparse(rows.loops) else loops.aggressive_dense
        for k, y in enumerate(self._targets(rows)):
            intercept[k], ub[k], steps, part = loop(
                *_epochs.dense_or_parts(rows.loops), y, weight, rows.norms, order, kind, float(self.C),
                float(getattr(self, "epsilon", 0.0)), self.fit_intercept, coef[k], intercept[k], u[k], ub[k],
                state.steps, taus[k],
            )  # fmt: skip
            loss += part
        new = state._replace(
            coef=coef, intercept=intercept, average=u, average_intercept=ub, steps=steps, facts={**state.facts, "taus": taus},
            epoch=state.epoch + 1,
        )  # fmt: skip
        new = _epochs.judge(new, loss, float(rows.weight.sum()), self.tol, 0)
        done = _epochs.tired(new, self.tol, self.n_iter_no_change)
        return new, Report(loss / float(rows.weight.sum()), done=done)

    def _attributes(self, state):
        coef, intercept = self._final(state)
        taus = _epochs.in_given_rows(state.facts["map"], state.facts["taus"])
        found = {
            "coef_": coef.copy(),
            "intercept_": intercept.copy(),
            "t_": state.steps + 1.0,
            "pass_": state,
        }
        return found | {"step_sizes_": taus[0] if len(taus) == 1 else taus}


class PassiveAggressiveClassifier(LinearClassifierMixin, Aggressive):
    r"""Passive–aggressive classifier: move just far enough to be right about the present row.

    .. math:: w \leftarrow \arg\min_v\; \tfrac{1}{2C}\lVert v - w\rVert^2 + \ell(y_i, v\cdot x_i)

    Steps are τ = min(C, ℓ/‖x‖²) for the hinge, ℓ/(‖x‖²+1/(2C)) for its square; with an intercept ‖x‖²+1. For streams;
    sensitive to wrong labels when C is large. With (λ/2)‖θ−θ_k‖² use C = 1/λ.

    Parameters
    ----------
    C : float, default=1.0
        Longest step; ``np.inf`` always reaches the margin.
    loss : {"hinge", "squared_hinge", "zero_one"}, default="hinge"
        ``"zero_one"`` flips the sign of the score where that costs less than the mistake.
    average : bool, default=False
        Mean of the weights after every step.
    order : None, "given", "random" or array of row numbers
    fit_intercept, max_iter, tol, shuffle, n_iter_no_change, class_weight, warm_start, random_state, …
        As in `Perceptron`.

    Attributes
    ----------
    coef_, intercept_, classes_, t_, n_iter_, trace_
    step_sizes_ : array of shape (n,)
        τ of the last visit of every row.

    Examples
    --------
    >>> X, y = [[-1.0, 1], [0, -1], [1.5, 1]], [1, -1, 1]
    >>> model = PassiveAggressiveClassifier(fit_intercept=False, order="given", max_iter=1, tol=None).fit(
    ...     X, y
    ... )
    >>> model.coef_.round(6), model.step_sizes_.round(6)
    (array([[-0.153846,  1.230769]]), array([0.5     , 0.5     , 0.230769]))
    """

    KINDS: ClassVar[dict[str, int]] = {"hinge": 0, "squared_hinge": 1, "zero_one": 2}
    _reads: ClassVar[Reads] = Reads(sparse=True, y="class")
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON | {
        "C": [Interval(Real, 0, None, closed="right")],
        "loss": [StrOptions({"hinge", "squared_hinge", "zero_one"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "boundary": [StrOptions({"negative", "positive"})],
    }

    def __init__(
        self,
        *,
        C=1.0,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        shuffle=True,
        verbose=0,
        loss="hinge",
        n_jobs=None,
        random_state=None,
        warm_start=False,
        class_weight=None,
        average=False,
        order=None,
        boundary="negative",
    ):
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.average = average
        self.order = order
        self.boundary = boundary

    def _plain_read(self, X, y=None, sample_weight=None, *, reset=True, **options):
        rows = super()._plain_read(X, y, sample_weight, reset=reset, **options)
        if y is not None:
            check_classes(rows, type(self).__name__)
        return rows

    def _targets(self, rows):
        return _epochs.signs(rows)

    def _weights(self, rows):
        return _epochs.row_weights(rows, self.class_weight)


class PassiveAggressiveRegressor(LinearPrediction, RegressorMixin, Aggressive):
    r"""Passive–aggressive regression: w ← w + sign(r)·τ·x with τ = min(C, max(0, |r| − ε)/‖x‖²).

    Parameters
    ----------
    C, loss, epsilon
        ``"epsilon_insensitive"`` or ``"squared_epsilon_insensitive"``, for which τ = ℓ/(‖x‖² + 1/(2C)).
    average, order, fit_intercept, max_iter, tol, shuffle, …
        As in `PassiveAggressiveClassifier`.

    Attributes
    ----------
    coef_, intercept_, t_, step_sizes_, n_iter_, trace_

    Examples
    --------
    >>> X, y = [[1.0, 0], [1, 1], [1, 2]], [1.0, 2, 4]
    >>> model = PassiveAggressiveRegressor(fit_intercept=False, order="given", max_iter=1, tol=None).fit(X, y)
    >>> model.coef_.round(6), model.step_sizes_.round(6)
    (array([1.7, 1.1]), array([0.9, 0.5, 0.3]))
    """

    KINDS: ClassVar[dict[str, int]] = {"epsilon_insensitive": 3, "squared_epsilon_insensitive": 4}
    _reads: ClassVar[Reads] = Reads(sparse=True, y="number")
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON | {
        "C": [Interval(Real, 0, None, closed="right")],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "epsilon": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        C=1.0,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        shuffle=True,
        verbose=0,
        loss="epsilon_insensitive",
        epsilon=0.1,
        random_state=None,
        warm_start=False,
        average=False,
        order=None,
    ):
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.epsilon = epsilon
        self.random_state = random_state
        self.warm_start = warm_start
        self.average = average
        self.order = order

    def _targets(self, rows):
        return np.asarray(rows.y, dtype=float)[None]

    def _weights(self, rows):
        return rows.weight

    def _attributes(self, state):
        found = super()._attributes(state)
        return found | {"coef_": found["coef_"][0]}


__all__ = ["PassiveAggressiveClassifier", "PassiveAggressiveRegressor", "Perceptron"]
