"""Quantile and least-absolute-deviation regression, by an interior point method on the dual."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.quantiles import weighted_quantile
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import Reads, warn
from gnomon.linear._centering import CentersColumns
from gnomon.linear.squares.least_squares import LinearPrediction
from gnomon.solvers.quantile_program import (
    Interior,
    Program,
    certificate,
    crossover,
    interior_start,
    interior_step,
    primal_value,
    row_space,
    scaled,
)

NEAR = 1e-8  # share of the absolute deviations of y that a gap may be
LIMIT = 200
SMALL = 2**20  # entries of a sparse X up to which it is worked on as a dense one


class QuantileRegressor(LinearPrediction, RegressorMixin, CentersColumns, Learner):
    r"""Linear regression that predicts a quantile.

    .. math:: \min_{w,b} \frac{1}{W}\sum_i s_i\,\rho_\tau(y_i - x_i^\top w - b) + \alpha\lVert w\rVert_1,
        \qquad \rho_\tau(r) = \max(\tau r, (\tau-1) r)

    The median (τ = ½) resists outliers in y; two quantiles make an interval without any assumption on the
    noise. Solved to an exact vertex by an interior point method whose steps cost as much as a weighted
    least-squares fit; the certificate in `trace_` is the duality gap.

    Parameters
    ----------
    quantile : float, default=0.5
    alpha : float, default=1.0
        L1 penalty; 0 for plain quantile regression.
    fit_intercept : bool, default=True
    solver, solver_options : kept for scikit-learn's sake

    Attributes
    ----------
    coef_, intercept_, n_iter_, trace_
    dual_gap_ : float
        Objective minus the dual bound, on the scale of the objective above.

    Examples
    --------
    >>> x = np.arange(5.0)[:, None]
    >>> model = QuantileRegressor(alpha=0.0).fit(x, [0.0, 1.0, 2.0, 3.0, 20.0])
    >>> model.coef_.round(6), round(abs(float(model.intercept_)), 6)
    (array([1.]), 0.0)
    """

    _reads = Reads(y="number", sparse=True)
    _stop = "self"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "quantile": [Interval(Real, 0, 1, closed="neither")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "solver": [
            StrOptions({"auto", "highs-ds", "highs-ipm", "highs", "interior-point", "revised simplex"})
        ],
        "solver_options": [None, dict],
    }

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options

    # hooks

    def _limit(self) -> int:
        return LIMIT

    def _check_loss(self) -> tuple[float, float]:
        """Quantile, and the L1 penalty beside the mean check loss."""
        return float(self.quantile), float(self.alpha)

    def _worth(self, program: Program) -> float:
        """Return what one of the program is in the objective: a mean over the weight, in units of y."""
        return program.units.size / float(program.cap[: program.count].sum())

    def _prepare(self, rows: Any) -> tuple[Any, Program]:
        return rows, self._program(rows)

    def _start(self, work: tuple[Any, Program], rng: Any) -> Interior:
        rows, program = work
        if program.A.shape[1] == 0 or (self.fit_intercept and self._flat(rows).all()):
            return self._location(rows, program)
        return interior_start(program)

    def _snapshot(self, state: Interior) -> Interior:
        return state._replace(program=None)

    def _restore(self, work: tuple[Any, Program], snapshot: Interior) -> Interior:
        return snapshot._replace(program=work[1])

    def _step(self, work: Any, state: Interior) -> tuple[Interior, Report]:
        unit = self._worth(state.program)
        if not len(state.z):
            return state, Report(state.least * unit, 0.0, done=True)
        with np.errstate(all="ignore"):
            new = interior_step(state)
        stuck = not np.isfinite(new.beta).all() or not (new.x > 0).all() or not (new.slack > 0).all()
        state = state if stuck else new
        gap, lost = certificate(state, state.beta)
        size = float(state.program.cap @ np.abs(state.program.y))
        end = stuck or gap <= max(1e-11 * state.value, 1e-300, 1e-13 * size)
        if end:
            best = crossover(state)
            state = state._replace(best=best, least=primal_value(state.program, best))
            gap, lost = certificate(state, state.best)
        report = Report(
            state.least * unit,
            (gap + lost) * unit,
            done=end and gap + lost <= NEAR * size,
            stalled=end,
        )
        if end and not report.done:
            warn(
                f"{type(self).__name__} ended with a duality gap of {(gap + lost) * unit:.3g}, below which "
                "rounding lets it make no step. Scale the columns, or leave out those that repeat others.",
                ConvergenceWarning,
            )
        return state, report

    def _attributes(self, state: Interior) -> dict[str, Any]:
        program = state.program
        gap = sum(certificate(state, state.best)) if len(state.z) else 0.0
        unit = self._worth(program)
        coef, intercept = program.units.coefficients(state.best)
        intercept = intercept if self.fit_intercept else 0.0
        return {"coef_": coef, "intercept_": intercept, "dual_gap_": gap * unit}

    def _flat(self, rows: Any) -> Array:
        if rows.sparse:
            return (rows.X.max(axis=0) != rows.X.min(axis=0)).toarray().ravel() == 0
        return rows.X.max(axis=0) == rows.X.min(axis=0)

    def _program(self, rows: Any) -> Program:
        """Rows of positive weight, then one row for each penalized coefficient."""
        tau, alpha = self._check_loss()
        kept = rows.weight > 0
        X, y, s = rows.X[kept].astype(np.float64), rows.y[kept], rows.weight[kept]
        if rows.sparse and np.prod(X.shape) <= SMALL:
            X = X.toarray()
        thin = sparse.issparse(X)
        s = s / s.max()
        s = s * (len(s) / s.sum())
        X, y, units = scaled(X, y, s, intercept=self.fit_intercept)
        side, below = (sparse.hstack, sparse.vstack) if thin else (np.hstack, np.vstack)
        A = side([X, np.ones((len(s), 1))]) if self.fit_intercept else X
        low, cap = (1.0 - tau) * s, s
        if alpha > 0:
            d, bound = X.shape[1], alpha * s.sum() / units.scale
            A = below([A, np.eye(d, A.shape[1]) if side is np.hstack else sparse.eye_array(d, A.shape[1])])
            y, low = np.append(y, np.zeros(d)), np.append(low, bound)
            cap = np.append(cap, 2.0 * bound)
        basis = np.eye(A.shape[1]) if thin else row_space(A)
        A = A if basis.shape[0] == basis.shape[1] else A @ basis
        return Program(sparse.csr_array(A) if thin else A, y, low, cap, len(s), units._replace(basis=basis))

    def _location(self, rows: Any, program: Program) -> Interior:
        """No column says anything: the quantile of the target itself."""
        units, best = program.units, np.zeros(program.A.shape[1])
        if self.fit_intercept and len(best):
            y = (rows.y - units.center) / units.size
            best = units.basis[-1] * weighted_quantile(y, rows.weight, self._check_loss()[0])
        least = primal_value(program, best)
        return Interior(*np.zeros((4, 0)), best, program, best, least, least)


class LaplaceRegression(QuantileRegressor):
    r"""Least absolute deviations: maximum likelihood under Laplace noise.

    .. math:: \min_{w,b} \frac1W\sum_i s_i\,\lvert y_i - x_i^\top w - b\rvert + \alpha\lVert w\rVert_1

    One wild target does not move it; a wild row of X may. The fit passes through as many rows as it has parameters.

    Parameters
    ----------
    alpha : float, default=0.0
    fit_intercept : bool, default=True

    Attributes
    ----------
    coef_, intercept_, dual_gap_, trace_
    scale_ : float
        Mean absolute residual, the maximum-likelihood scale of the noise.

    Examples
    --------
    >>> x = np.arange(5.0)[:, None]
    >>> round(LaplaceRegression().fit(x, [0.0, 1.0, 2.0, 3.0, 20.0]).scale_, 6)
    3.2
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
    }

    def __init__(self, *, alpha: float = 0.0, fit_intercept: bool = True) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept

    def _check_loss(self) -> tuple[float, float]:
        return 0.5, 0.5 * float(self.alpha)

    def _worth(self, program: Program) -> float:
        return 2.0 * super()._worth(program)  # the check loss of the median is half of the absolute value

    def _attributes(self, state: Interior) -> dict[str, Any]:
        found = super()._attributes(state)
        A, y, low, _, n, units = state.program
        r = np.abs(y[:n] - A[:n] @ state.best) * units.size
        return {**found, "scale_": float(low[:n] @ r / low[:n].sum())}
