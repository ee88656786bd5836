"""Linear support vector regression: errors within a tube are free."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import RegressorMixin

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import Reads
from gnomon.linear._centering import CentersColumns
from gnomon.linear._rows import rows_that_count
from gnomon.linear._rules import SEED
from gnomon.linear.squares.least_squares import LinearPrediction
from gnomon.losses.residual import SquaredEpsilonInsensitive
from gnomon.solvers import interior, maximum_margin, newton
from gnomon.solvers.terms import Model


class TubeWork(NamedTuple):
    """A problem made once for a fit: the rows, and the objective of the squared loss or the machine of the other."""

    rows: Any
    objective: newton.Objective | None = None
    machine: interior.Machine | None = None
    scale: Array | None = None  # what divides the machine's weights: its rows have even columns


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

    def _prepare(self, rows):
        rows = rows_that_count(rows)
        D = rows.n_features + self.fit_intercept
        if self.loss == "squared_epsilon_insensitive":
            model = Model(SquaredEpsilonInsensitive(self.epsilon), self.fit_intercept)
            return TubeWork(rows, newton.Objective(model, self._ridge(rows) / self.C, float(rows.n_rows)))
        if D > 3000:
            raise DataError(
                f"loss='epsilon_insensitive' with {D} parameters is beyond LinearSVR; "
                "use loss='squared_epsilon_insensitive' or SGDRegressor."
            )
        y, cost, one = np.asarray(rows.y, dtype=float), self.C * rows.weight, np.ones(rows.n_rows)
        even, scale = maximum_margin.even_parameters(maximum_margin.RowFacts(rows), self.fit_intercept)
        offsets, ridge = (y - self.epsilon, -y - self.epsilon), self._ridge(rows) / scale**2
        machine = interior.Machine(ridge, (one, -one), offsets, (cost, cost), self.fit_intercept)
        return TubeWork(even, None, machine, scale)

    def _intercept_is_free(self):
        return self.fit_intercept and not self.regularize_intercept

    def _start(self, work, rng):
        if work.objective is not None:
            narrow = len(work.objective.ridge) <= maximum_margin.NARROW
            zero = np.zeros(len(work.objective.ridge))
            inner = newton.newton_start(work.rows, work.objective, zero, curved=narrow)
        else:
            inner = interior.machine_start(work.rows, work.machine)
        return maximum_margin.Iterate(inner, inner.theta, np.inf, np.inf)

    def _step(self, work, state):
        step = self._newton if work.objective is not None else self._interior
        inner, theta, primal, gap = step(work, state.inner)
        share = gap / max(1.0, primal)
        if state.gap <= 1e-5 and not share < state.gap:  # rounding allows no more
            return state, Report(state.primal, state.gap, done=state.gap <= self.tol)
        done = share <= (self.tol if work.rows.n_rows > 5000 else min(self.tol, 1e-13))
        return maximum_margin.Iterate(inner, theta, primal, share), Report(primal, share, done=done)

    def _newton(self, work, state):
        objective = work.objective
        step = newton.newton_step if len(objective.ridge) <= maximum_margin.NARROW else newton.newton_cg_step
        inner = step(work.rows, objective, state)
        gap = self.C * max(newton.left_to_gain(objective, inner.gradient))
        return inner, inner.theta, inner.value * self.C, gap

    def _interior(self, work, state):
        with np.errstate(all="ignore"):
            inner = interior.machine_step(work.rows, work.machine, state)
        return inner, inner.theta / work.scale, inner.primal, abs(inner.primal - inner.dual)

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
