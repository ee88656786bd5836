"""The perceptron in all its variants."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import stream
from gnomon.core.validate import Reads
from gnomon.linear._rows import check_classes
from gnomon.linear.hyperplane import LinearClassifierMixin, SparseCoefficients
from gnomon.linear.online import _epochs
from gnomon.linear.online._mistakes import COMMON, MistakeDriven, Origin
from gnomon.linear.online._streams import ONES, StreamedClasses
from gnomon.linear.online.stochastic import SGDClassifier
from gnomon.loops import stochastic as loops


class Perceptron(SparseCoefficients, LinearClassifierMixin, StreamedClasses, MistakeDriven):
    r"""Rosenblatt's perceptron.

    .. math:: y_i(w\cdot x_i + b) \le 0 \Rightarrow w \leftarrow w + \eta y_i x_i, b \leftarrow b + \eta y_i

    On separable data it makes at most (R/γ)² mistakes, whatever the order of the rows. On other data it never
    comes to rest: take the average, or a loss with a minimum (`LogisticRegression`, `LinearSVC`).

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"}, optional
        Shrink the weights at every row, as `SGDClassifier(loss="perceptron")` does; `mistakes_` then counts the rows
        that are wrong after a pass.
    alpha, l1_ratio : float, default=1e-4 and 0.15
        Strength of the penalty, and the share of ℓ1 in ``"elasticnet"``.
    fit_intercept : bool, default=True
    max_iter : int, default=1000
        Passes over the data.
    tol : float or None, default=1e-3
        Stop when the mistakes have not fallen by tol·n for `n_iter_no_change` passes. None: only a pass
        without mistakes stops, as in the textbooks.
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
    early_stopping : bool, default=False
        Hold out a part of the rows and stop when the accuracy on it, instead of the number of mistakes, has
        not risen by tol for `n_iter_no_change` passes.
    validation_fraction : float, default=0.1
    n_iter_no_change : int, default=5
    verbose, n_jobs
        Accepted for compatibility.
    boundary : {"negative", "positive"}, default="negative"

    Attributes
    ----------
    coef_, intercept_, classes_
    n_iter_ : int
        Passes.
    t_ : float
        Steps made, plus one.
    mistakes_ : array of shape (n,) or (K, n)
        Updates on every row (after `partial_fit`, on the rows of the last call); n_mistakes_ is their sum
        (over all calls).
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
        "penalty": [StrOptions({"l1", "l2", "elasticnet"}), None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "stop_when_clean": ["boolean", StrOptions({"auto"})],
        "keep_log": ["boolean"],
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
            if self.penalty is not None and not self._single_steps():
                raise ValueError(
                    "a penalty is for plain updates; set update='mistake', batch=False, keep_log=False and an order "
                    "other than 'random_mistake', or penalty=None."
                )
        return rows

    def _targets(self, rows):
        return _epochs.signs(rows)

    def _weights(self, rows):
        return _epochs.row_weights(rows, self.class_weight)

    def _prepare(self, rows):
        work = super()._prepare(rows)
        work.rates = self.eta0 * work.weights[0]
        return work

    def _fresh_facts(self, work):
        return {
            "counts": np.zeros(work.targets.shape, dtype=np.int64),
            "before": 0,
            "log": (),
            "clean": False,
            "loss": 0.0,
            "map": Origin(work.rows),
        }

    def _single_steps(self):
        plain = self.update == "mistake" and not (self.batch or self.keep_log)
        return plain and not (isinstance(self.order, str) and self.order == "random_mistake")

    def _shrinking(self):
        """Return the learner of the perceptron loss that knows penalties; it makes the same updates."""
        names = ("penalty", "alpha", "l1_ratio", "fit_intercept", "eta0", "shuffle", "order", "average")
        return SGDClassifier(
            "perceptron", learning_rate="constant", **{name: getattr(self, name) for name in names}
        )

    def _shrinking_epoch(self, work, state):
        if state.owed is None:
            state = state._replace(owed=np.zeros_like(state.coef))
        new, loss = self._shrinking()._epoch(work, state)
        wrong = np.array([self._wrong(work, y, k, new) for k, y in enumerate(work.targets)])
        facts = {**state.facts, "counts": state.facts["counts"] + wrong, "clean": not wrong.any()}
        return new._replace(facts=facts), loss, float(wrong.sum()), False

    def _final(self, state):
        return super()._final(state) if self.penalty is None else self._shrinking()._shown(state)

    def _epoch(self, work, state):
        if self.penalty is not None:
            return self._shrinking_epoch(work, state)
        n_mistakes, new, before = 0, state, state.facts["loss"]
        for k, y in enumerate(work.targets):
            visit = self._batch_step if self.batch else self._pass
            new, mistakes = visit(work, y, k, new)
            n_mistakes += mistakes
        facts = {**new.facts, "clean": n_mistakes == 0}
        new = new._replace(epoch=state.epoch + 1, facts=facts)
        stop_clean = not self.average if self.stop_when_clean == "auto" else self.stop_when_clean
        return new, facts["loss"] - before, float(n_mistakes), bool(stop_clean and n_mistakes == 0)

    def _pass(self, work, y, k, state):
        if isinstance(self.order, str) and self.order == "random_mistake":
            return self._random_mistakes(work, y, k, state)
        order = self._order(work, state)
        if self.keep_log:
            total = 0
            for i in order:
                state, mistakes = self._visit(work, y, k, state, np.array([i]))
                total += mistakes
            return state, total
        return self._visit(work, y, k, state, order)

    def _pass_over(self, work, state):
        new = super()._pass_over(work, state)
        return new._replace(facts={**new.facts, "before": getattr(self, "n_mistakes_", 0)})

    def _can_be_quick(self):
        plain = not (self.average or self.batch or self.keep_log) and self.penalty is None
        return plain and not (isinstance(self.order, str) and self.order == "random_mistake")

    def _quick_pass(self, state, X, targets, order):
        always, n_mistakes = self.update == "always", 0
        counts = np.zeros((len(targets), len(X)), dtype=np.int64)
        eta = self.eta0 * ONES
        for k in range(len(targets)):
            state.intercept[k], _, steps, mistakes, _ = loops.perceptron_dense(
                X,
                targets[k],
                eta,
                order,
                self.fit_intercept,
                False,
                always,
                state.coef[k],
                state.intercept[k],
                state.average[k],
                0.0,
                state.steps,
                counts[k],
            )
            n_mistakes += mistakes
        self._shown_in_place(
            state,
            steps,
            coef_=state.coef,
            coef_last_=state.coef,
            mistakes_=counts[0] if len(counts) == 1 else counts,
            n_mistakes_=self.n_mistakes_ + int(counts.sum()),
            converged_=n_mistakes == 0,
        )

    def _visit(self, work, y, k, state, order):
        """Run the loop over some rows for one machine."""
        coef, u, counts = state.coef.copy(), state.average.copy(), state.facts["counts"].copy()
        loop = loops.perceptron_csr if sparse.issparse(work.X) else loops.perceptron_dense
        steps = state.steps if k == 0 else state.facts["begun"]
        b, ub, after, mistakes, loss = loop(
            *_epochs.dense_or_parts(work.X),
            y,
            work.rates,
            order,
            self.fit_intercept,
            bool(self.average),
            self.update == "always",
            coef[k],
            state.intercept[k],
            u[k],
            state.average_intercept[k],
            steps,
            counts[k],
        )
        intercept, average = state.intercept.copy(), state.average_intercept.copy()
        intercept[k], average[k] = b, ub
        facts = {**state.facts, "counts": counts, "begun": steps, "loss": state.facts["loss"] + loss}
        if self.keep_log and (mistakes or self.update == "always"):
            facts["log"] = (*state.facts["log"], (int(order[0]), coef[k].copy(), float(b)))
        return state._replace(
            coef=coef, intercept=intercept, average=u, average_intercept=average, steps=after, facts=facts
        ), mistakes

    def _wrong(self, work, y, k, state):
        """Tell which rows to learn from the machine k gets wrong."""
        wrong = y * (work.rows.X @ state.coef[k] + state.intercept[k]) <= 0.0
        if work.parts is not None:
            wrong[work.parts[1]] = False
        return wrong

    def _random_mistakes(self, work, y, k, state):
        """List the mistakes, pick one at random, again and again; a pass is as many updates as rows."""
        rng, made = stream(state.seed, state.epoch), 0
        for _ in range(work.n_rows):
            wrong = np.flatnonzero(self._wrong(work, y, k, state))
            if not len(wrong):
                break
            state, mistakes = self._visit(work, y, k, state, rng.choice(wrong, size=1))
            made += mistakes
        return state, made

    def _batch_step(self, work, y, k, state):
        """Add the sum over all present mistakes."""
        wrong = self._wrong(work, y, k, state)
        push = np.where(wrong, work.rates * y, 0.0)
        coef, intercept, counts = state.coef.copy(), state.intercept.copy(), state.facts["counts"].copy()
        coef[k] += work.rows.X.T @ push
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
        made = state.facts["before"] + int(counts.sum())
        found |= {"n_mistakes_": made, "converged_": bool(state.facts["clean"])}
        return found | ({"mistake_log_": list(state.facts["log"])} if self.keep_log else {})
