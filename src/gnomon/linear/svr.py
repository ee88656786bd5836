"""Linear support vector regression: errors within a tube are free."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import Reads
from gnomon.linear import _margin_solvers
from gnomon.linear._centering import CentersColumns
from gnomon.linear._rows import rows_that_count
from gnomon.linear._rules import SEED
from gnomon.linear.least_squares import LinearPrediction
from gnomon.losses.residual import SquaredEpsilonInsensitive
from gnomon.solvers import interior, newton
from gnomon.solvers.terms import Model


class LinearSVR(LinearPrediction, RegressorMixin, CentersColumns, Learner):
    r"""Linear support vector regression: errors below ε are free.

    .. math:: \min_{w,b}\; \tfrac12\lVert w\rVert^2 + C\sum_i s_i \max(0, |y_i - w\cdot x_i - b| - \epsilon)

    or the square of the last term. Robust against outliers in y; use `Ridge` when errors are Gaussian.

    Parameters
    ----------
    epsilon, tol, C, loss, fit_intercept, intercept_scaling, dual, verbose, random_state, max_iter
        As in scikit-learn; `tol` is on the relative duality gap.
    regularize_intercept : bool, default=True
        Penalize b as liblinear does.

    Attributes
    ----------
    coef_, intercept_, gap_, n_iter_, converged_, trace_

    Examples
    --------
    >>> X = np.arange(5.0)[:, None]
    >>> model = LinearSVR(C=100.0, regularize_intercept=False).fit(X, [0.0, 1, 2, 3, 20])
    >>> model.coef_.round(3), model.intercept_.round(3) + 0.0
    (array([1.]), array([0.]))
    """

    _reads: ClassVar[Reads] = Reads(sparse=True, y="number")
    _stop: ClassVar[str] = "certificate"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "dual": ["boolean", StrOptions({"auto"})],
        "verbose": ["verbose"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "random_state": SEED,
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "regularize_intercept": ["boolean"],
    }

    def __init__(
        self,
        *,
        epsilon=0.0,
        tol=1e-4,
        C=1.0,
        loss="epsilon_insensitive",
        fit_intercept=True,
        intercept_scaling=1.0,
        dual="auto",
        verbose=0,
        random_state=None,
        max_iter=1000,
        regularize_intercept=True,
    ):
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.regularize_intercept = regularize_intercept

    def _ridge(self, rows):
        price = 1.0 / self.intercept_scaling**2 if self.regularize_intercept else 0.0
        return np.append(np.ones(rows.n_features), price) if self.fit_intercept else np.ones(rows.n_features)

    def _machine(self, rows):
        """The problem for interior points, on rows with even columns, and what divides its weights."""
        y, cost, one = np.asarray(rows.y, dtype=float), self.C * rows.weight, np.ones(rows.n_rows)
        even, scale = _margin_solvers.even_parameters(rows, self.fit_intercept)
        offsets, ridge = (y - self.epsilon, -y - self.epsilon), self._ridge(rows) / scale**2
        return even, interior.Machine(ridge, (one, -one), offsets, (cost, cost), self.fit_intercept), scale

    def _objective(self, rows):
        model = Model(SquaredEpsilonInsensitive(self.epsilon), self.fit_intercept)
        return newton.Objective(model, self._ridge(rows) / self.C, float(rows.n_rows))

    def _intercept_is_free(self):
        return self.fit_intercept and not self.regularize_intercept

    def _prepare(self, rows):
        return rows_that_count(rows)

    def _start(self, rows, rng):
        D = rows.n_features + self.fit_intercept
        if self.loss == "squared_epsilon_insensitive":
            inner = newton.newton_start(
                rows, self._objective(rows), np.zeros(D), curved=D <= _margin_solvers.NARROW
            )
            return _margin_solvers.Solved(inner, inner.theta, np.inf, np.inf)
        if D > 3000:
            raise DataError(
                f"loss='epsilon_insensitive' with {D} parameters is beyond LinearSVR; "
                "use loss='squared_epsilon_insensitive' or SGDRegressor."
            )
        inner = interior.machine_start(*self._machine(rows)[:2])
        return _margin_solvers.Solved(inner, inner.theta, np.inf, np.inf)

    def _step(self, rows, state):
        step = self._newton if self.loss == "squared_epsilon_insensitive" else self._interior
        inner, theta, primal, gap = step(rows, state.inner)
        share = gap / max(1.0, primal)
        if state.gap <= 1e-5 and not share < state.gap:  # rounding allows no more
            return state, Report(state.primal, state.gap, done=state.gap <= self.tol)
        done = share <= (self.tol if rows.n_rows > 5000 else min(self.tol, 1e-13))
        return _margin_solvers.Solved(inner, theta, primal, share), Report(primal, share, done=done)

    def _newton(self, rows, state):
        objective = self._objective(rows)
        step = newton.newton_step if len(objective.ridge) <= _margin_solvers.NARROW else newton.newton_cg_step
        inner = step(rows, objective, state)
        g, gap = inner.gradient, newton.gradient_gap(objective, inner.gradient)
        gap = self.C * max(gap, np.abs(g[objective.ridge == 0.0]).max(initial=0.0))
        return inner, inner.theta, inner.value * self.C, gap

    def _interior(self, rows, state):
        even, machine, scale = self._machine(rows)
        with np.errstate(all="ignore"):
            inner = interior.machine_step(even, machine, state)
        return inner, inner.theta / scale, inner.primal, max(inner.primal - inner.dual, 0.0)

    def _converged(self, report, objective, previous, tol):
        return False  # `_step` decides

    def _attributes(self, state):
        theta, gap = state.theta, state.gap * max(1.0, state.primal) if np.isfinite(state.primal) else np.inf
        coef = theta[:-1] if self.fit_intercept else theta
        intercept = theta[-1:] if self.fit_intercept else np.zeros(1)
        return {"coef_": coef.copy(), "intercept_": intercept.copy(), "gap_": gap}

    def predict(self, X: Any) -> Array:
        """Return w·x + b for every row."""
        return super().predict(X).ravel()
