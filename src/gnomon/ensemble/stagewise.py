"""Stagewise additive models: one learner at a time, for any loss."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import RegressorMixin, clone

from gnomon.core.errors import DataError
from gnomon.core.parameters import HasMethods, Interval, StrOptions
from gnomon.core.quantiles import weighted_median
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import Reads
from gnomon.trees.problems import positive
from gnomon.trees.stump import fit_stump, sort_columns

Array = np.ndarray

LOSSES: dict[str, Any] = {
    "exponential": (lambda f, t: np.exp(-t * f), lambda f, t: -t * np.exp(-t * f)),
    "squared": (lambda f, t: (t - f) ** 2, lambda f, t: 2 * (f - t)),
    "logistic": (lambda f, t: np.logaddexp(0, -t * f), lambda f, t: -t / (1 + np.exp(t * f))),
    "absolute": (lambda f, t: np.abs(t - f), lambda f, t: np.sign(f - t)),
}


class StagewiseState(NamedTuple):
    """Learners, their coefficients, and the model's value on the training rows."""

    learners: tuple[Any, ...]
    coefs: tuple[float, ...]
    values: Array


class Workspace(NamedTuple):
    """The rows that count, and their sorted columns where stumps are grown on them."""

    X: Array
    t: Array
    weight: Array
    columns: Any


class StagewiseAdditiveModel(RegressorMixin, Learner):
    r"""A sum of learners, each added where it lowers the loss most.

    .. math:: (h_m, \alpha_m) = \arg\min_{h, \alpha} \sum_i w_i L(H_{m-1}(x_i) + \alpha h(x_i), t_i), \qquad
              H_m = H_{m-1} + \alpha_m h_m, \quad H_0 = 0

    With the exponential loss and ±1 stumps this *is* AdaBoost. With the squared loss and stumps,
    :math:`h_m` maximizes :math:`|\sum_i w_i r_i h(x_i)|` over the residuals. For other losses or
    learners, h is fitted to the negative gradient and :math:`\alpha` found by a line search, so the loss
    never rises.

    Parameters
    ----------
    loss : {"exponential", "squared", "logistic", "absolute"} or callable, default="squared"
        A callable takes (values, targets) and returns the loss of every row.
    estimator : regressor, optional
        What is fitted to the gradient; ±1 stumps by default.
    n_estimators : int, default=50
    line_search : {"exact", "newton", "golden"}, default="exact"
        Closed form where there is one; one Newton step; or a golden-section search.
    shrinkage : float, default=1.0
        Factor on every coefficient.

    Attributes
    ----------
    estimators_ : list
        `Stump` tuples with sides 0 and 1 for -1 and +1, or fitted regressors.
    coefs_ : array
    trace_ : Trace
        Summed loss after every stage.

    Examples
    --------
    >>> X, t = np.arange(1.0, 7.0)[:, None], [1, 1, -1, 1, -1, -1]
    >>> model = StagewiseAdditiveModel("squared", n_estimators=3).fit(X, t)
    >>> model.coefs_.round(4), np.asarray(model.trace_).round(4)
    (array([ 0.6667,  0.4444, -0.4074]), array([3.3333, 2.1481, 1.1523]))
    """

    _reads = Reads(y="number")
    _stop = "self"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "loss": [StrOptions(set(LOSSES)), callable],
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "line_search": [StrOptions({"exact", "newton", "golden"})],
        "shrinkage": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self, loss="squared", *, estimator=None, n_estimators=50, line_search="exact", shrinkage=1.0
    ):
        self.loss = loss
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.line_search = line_search
        self.shrinkage = shrinkage

    def _limit(self) -> int:
        return int(self.n_estimators)

    def _functions(self) -> tuple[Any, Any]:
        if callable(self.loss):
            return self.loss, lambda f, t: (self.loss(f + 1e-6, t) - self.loss(f - 1e-6, t)) / 2e-6
        return LOSSES[self.loss]

    def _prepare(self, rows: Any) -> Workspace:
        X, t, weight = positive(rows)
        return Workspace(X, t, weight, sort_columns(X) if self.estimator is None else None)

    def _start(self, work: Workspace, rng: Any) -> StagewiseState:
        t = work.t
        if self.loss in ("exponential", "logistic") and not np.isin(t, (-1.0, 1.0)).all():
            raise DataError(f"loss={self.loss!r} needs targets -1 and +1.")
        return StagewiseState((), (), np.zeros(len(t)))

    def _step(self, work: Workspace, state: StagewiseState) -> tuple[StagewiseState, Report]:
        t, weight = work.t, work.weight
        value, slope = self._functions()
        pull = -weight * slope(state.values, t)  # negative gradient, weighted
        before = float((weight * value(state.values, t)).sum())
        if np.abs(pull).max() <= 1e-14 * max(1.0, before):
            return state, Report(before, done=True)
        learner, h = self._fit_learner(work, pull)
        alpha = self.shrinkage * self._coefficient(state.values, h, t, weight)
        values = state.values + alpha * h
        state = StagewiseState((*state.learners, learner), (*state.coefs, float(alpha)), values)
        return state, Report(
            float((weight * value(values, t)).sum()), done=len(state.coefs) >= self.n_estimators
        )

    def _fit_learner(self, work: Workspace, pull: Array) -> tuple[Any, Array]:
        """The ±1 stump with the largest correlation with the pull, or a regressor fitted to it."""
        X, sorted_ = work.X, work.columns
        if self.estimator is not None:
            learner = clone(self.estimator).fit(X, pull / work.weight, sample_weight=work.weight)
            return learner, learner.predict(X)
        found = fit_stump(sorted_, (pull > 0).astype(np.int64), np.abs(pull), 2, allow_constant=False)
        if found.feature < 0:
            found = fit_stump(sorted_, (pull > 0).astype(np.int64), np.abs(pull), 2)
        if self.loss == "squared" and found.feature >= 0 and found.left == 0:  # the sign goes to alpha
            found = found._replace(left=1, right=0)
        return found, 2.0 * found.answers(X) - 1.0

    def _coefficient(self, values: Array, h: Array, t: Array, weight: Array) -> float:
        signs = self.estimator is None
        if self.line_search == "exact" and self.loss == "squared":
            return float((weight * (t - values) * h).sum() / (weight * h * h).sum())
        if self.line_search == "exact" and self.loss == "exponential" and signs:
            w = weight * np.exp(-t * values)
            wrong = float(w[h != t].sum() / w.sum())
            if wrong <= 0.0:  # more than half is never wrong: a stump answers as the heavier side does
                return 18.0  # as sure as double precision lets the loss be
            return 0.5 * float(np.log((1 - wrong) / wrong))
        if self.line_search == "exact" and self.loss == "absolute":
            moves = h != 0  # Σ w|t - f - αh| is least at a median of (t - f)/h with weights w|h|
            return weighted_median((t - values)[moves] / h[moves], (weight * np.abs(h))[moves])
        return self._search(values, h, t, weight)

    def _search(self, values: Array, h: Array, t: Array, weight: Array) -> float:
        value, slope = self._functions()

        def at(a: float) -> float:
            return float((weight * value(values + a * h, t)).sum())

        if self.line_search == "newton":
            e = 1e-4
            curvature = (weight * h * (slope(values + e * h, t) - slope(values - e * h, t))).sum() / (2 * e)
            step = -float((weight * h * slope(values, t)).sum()) / max(float(curvature), 1e-12)
            while at(step) > at(0.0) and abs(step) > 1e-12:
                step /= 2
            return step
        found = minimize_scalar(at, method="golden" if self.line_search == "golden" else "brent", tol=1e-10)
        return float(found.x) if found.fun <= at(0.0) else 0.0

    def _attributes(self, state: StagewiseState) -> dict[str, Any]:
        return {"estimators_": list(state.learners), "coefs_": np.array(state.coefs)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def predict(self, X: Any) -> Array:
        """Return H(x); its sign is the class where targets are -1 and +1."""
        rows = self._rows(X)
        total = np.zeros(rows.n_rows)
        for learner, alpha in zip(self.estimators_, self.coefs_):
            if hasattr(learner, "answers"):
                total += alpha * (2.0 * learner.answers(rows.X) - 1.0)
            else:
                total += alpha * learner.predict(rows.X)
        return total
