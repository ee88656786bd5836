"""Regression with Student-t errors: rows far away lose their influence altogether."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg, optimize, special, stats
from sklearn.base import RegressorMixin

from gnomon.core.canonical import order_by_value
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.quantiles import weighted_quantile
from gnomon.core.randomness import stream
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import per_row, total
from gnomon.core.validate import Reads, warn
from gnomon.linear._centering import CentersColumns
from gnomon.linear.robust.quantile import LaplaceRegression
from gnomon.linear.squares import normal
from gnomon.linear.squares.least_squares import LinearPrediction, check_magnitude
from gnomon.linear.squares.moments import LinearSums, moments


class StudentState(NamedTuple):
    """Coefficients, intercept, scale and degrees of freedom."""

    coef: Array
    intercept: float
    scale: float
    df: float
    collapsed: bool


class StudentSums(NamedTuple):
    """Moments under the weights u of EM, and the log-likelihood before the step."""

    linear: LinearSums
    likelihood: float

    def merge(self, other: StudentSums) -> StudentSums:
        """Merge the moments, add the likelihoods."""
        return StudentSums(self.linear.merge(other.linear), self.likelihood + other.likelihood)


def student_sums(chunk: Any, state: StudentState) -> StudentSums:
    """Expectation step on one chunk: u = (ν + 1)/(ν + r²/s²)."""
    r = chunk.y - chunk.X @ state.coef - state.intercept
    z2 = (r / state.scale) ** 2
    u = (state.df + 1.0) / (state.df + z2)
    likelihood = chunk.weight @ stats.t.logpdf(r / state.scale, state.df) - chunk.weight.sum() * np.log(
        state.scale
    )
    return StudentSums(moments(chunk.X, chunk.y, chunk.weight * u), float(likelihood))


def residual_rows(chunk: Any, coef: Array, intercept: float) -> Array:
    """Residual and weight of each row."""
    return np.column_stack([chunk.y - chunk.X @ coef - intercept, chunk.weight])


class StudentTRegression(LinearPrediction, RegressorMixin, CentersColumns, Learner):
    r"""Linear regression with Student-t errors (Cauchy for ``df=1``), by EM.

    .. math:: \min_{w,b,s}\; \frac{\nu+1}{2}\sum_i \ln\Bigl(1+\frac{r_i^2}{\nu s^2}\Bigr) + n\ln s

    A row far away loses its influence altogether, unlike under Huber's or the absolute loss; the price is
    that the likelihood has several maxima. EM is weighted least squares with u = (ν+1)/(ν+r²/s²); it starts
    from least squares, then from least absolute deviations, then from fits through random rows, `n_init`
    times in all, and keeps the best.

    Parameters
    ----------
    df : float or "learn", default=1.0
        Degrees of freedom ν; learned within [0.5, 200].
    scale : float or "learn", default="learn"
    alpha : float, default=0.0
        Ridge penalty (α/2)‖w‖² beside the negative log-likelihood.
    fit_intercept : bool, default=True
    n_init : int, default=6
    max_iter : int, default=1000
    tol : float, default=1e-10
        On the change of the objective, relative to its size.
    scale_floor : float, default=1e-8
        When more than n·ν/(ν+1) rows lie on one plane the likelihood grows without bound as s → 0: EM stops
        at this share of the standard deviation of y.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    coef_, intercept_, scale_, df_, trace_
    collapsed_ : bool
        Whether the scale ran into its floor.
    is_global_ : bool
        False: nobody can promise the global maximum.

    Examples
    --------
    >>> x = np.arange(5.0)[:, None]
    >>> model = StudentTRegression(scale=1.0, random_state=0).fit(x, [0.0, 1.0, 2.0, 3.0, 20.0])
    >>> model.coef_.round(4), round(float(model.intercept_), 4)
    (array([1.0314]), -0.0314)
    """

    _reads = Reads(y="number")
    _stop = "relative"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "df": [Interval(Real, 0, None, closed="neither"), StrOptions({"learn"})],
        "scale": [Interval(Real, 0, None, closed="neither"), StrOptions({"learn"})],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "scale_floor": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        df: float | str = 1.0,
        *,
        scale: float | str = "learn",
        alpha: float = 0.0,
        fit_intercept: bool = True,
        n_init: int = 6,
        max_iter: int = 1000,
        tol: float = 1e-10,
        scale_floor: float = 1e-8,
        random_state: Any = None,
    ) -> None:
        self.df = df
        self.scale = scale
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.scale_floor = scale_floor
        self.random_state = random_state

    # hooks

    def _first_state(self, rows: Any, seed: int, index: int) -> StudentState:
        check_magnitude(rows)
        if index == 0:
            coef, intercept = plane(rows.X, rows.y, rows.weight, intercept=self.fit_intercept)
        elif index == 1:
            median = LaplaceRegression(fit_intercept=self.fit_intercept).fit(rows.X, rows.y, rows.weight)
            coef, intercept = median.coef_, float(median.intercept_)
        else:
            chosen = self._few_rows(rows, stream(seed, index))
            ones = np.ones(len(chosen))
            coef, intercept = plane(rows.X[chosen], rows.y[chosen], ones, intercept=self.fit_intercept)
        return self._with_scale(rows, coef, intercept)

    def _few_rows(self, rows: Any, rng: np.random.Generator) -> Array:
        """Draw as many rows as there are parameters, whatever the order of the rows."""
        order = order_by_value(rows.y, rows.X[:, ::-1])
        share = np.cumsum(rows.weight[order]) / rows.weight.sum()
        places = np.searchsorted(share, rng.random(rows.n_features + self.fit_intercept))
        return order[np.minimum(places, len(order) - 1)]

    def _with_scale(self, rows: Any, coef: Array, intercept: float) -> StudentState:
        df = 4.0 if self.df == "learn" else float(self.df)
        if self.scale != "learn":
            return StudentState(coef, intercept, float(self.scale), df, False)
        r = np.abs(rows.y - rows.X @ coef - intercept)
        floor = self._floor(rows)
        return StudentState(
            coef, intercept, max(weighted_quantile(r, rows.weight, 0.5), 10 * floor), df, False
        )

    def _floor(self, rows: Any) -> float:
        spread = float(
            np.sqrt(np.average((rows.y - np.average(rows.y, weights=rows.weight)) ** 2, weights=rows.weight))
        )
        return float(self.scale_floor) * (spread if spread > 1e-100 else 1.0)

    def _step(self, rows: Any, state: StudentState) -> tuple[StudentState, Report]:
        sums = total(student_sums, rows, state)
        objective = -sums.likelihood + 0.5 * self.alpha * float(state.coef @ state.coef)
        view = sums.linear if self.fit_intercept else sums.linear.without_centering()
        coef = self._weighted_fit(view, state)
        intercept = float(view.mean_y - view.mean_x @ coef) if self.fit_intercept else 0.0
        scale, collapsed = state.scale, False
        if self.scale == "learn":
            scale = float(np.sqrt(sums.linear.loss(coef, intercept) / rows.weight.sum()))
            floor = self._floor(rows)
            collapsed = scale <= floor
            scale = max(scale, floor)
        new = StudentState(coef, intercept, scale, state.df, collapsed)
        if self.df == "learn":
            new = new._replace(df=self._likeliest_df(rows, new))
        return new, Report(objective, done=collapsed)

    def _weighted_fit(self, view: LinearSums, state: StudentState) -> Array:
        solution = normal.solve_gram(view, self.alpha * state.scale**2)
        return (normal.solve_eigen(view) if solution is None else solution).coef[:, 0]

    def _likeliest_df(self, rows: Any, state: StudentState) -> float:
        """Root of the likelihood's slope in ν, within [0.5, 200]."""
        table = per_row(residual_rows, rows, state.coef, state.intercept)
        z2, s = (table[:, 0] / state.scale) ** 2, table[:, 1] / table[:, 1].sum()

        def slope(nu: float) -> float:
            gap = special.digamma((nu + 1) / 2) - special.digamma(nu / 2) - 1.0 / nu
            return float(gap + s @ ((nu + 1.0) / nu * z2 / (nu + z2) - np.log1p(z2 / nu)))

        low, high = slope(0.5), slope(200.0)
        if low <= 0 or high >= 0:
            return 0.5 if low <= 0 else 200.0
        return float(optimize.brentq(slope, 0.5, 200.0, xtol=1e-10))

    def _attributes(self, state: StudentState) -> dict[str, Any]:
        return {
            "coef_": state.coef,
            "intercept_": state.intercept,
            "scale_": state.scale,
            "df_": state.df,
            "collapsed_": state.collapsed,
            "is_global_": False,
        }

    def _finish(self, rows: Any, state: StudentState) -> StudentState:
        if state.collapsed:
            warn(
                f"the scale of the errors shrank to its floor {state.scale:.3g}: more than n·ν/(ν+1) rows "
                "lie on one plane, and the likelihood has no maximum. Give the scale, or raise df."
            )
        return state

    def predict_distribution(self, X: Any) -> Any:
        """Return the law of a new observation at each row: a frozen ``scipy.stats.t``."""
        return stats.t(self.df_, self.predict(X), self.scale_)


def plane(X: Array, y: Array, weight: Array, *, intercept: bool) -> tuple[Array, float]:
    """Shortest weighted least-squares fit of few rows."""
    root = np.sqrt(weight)
    share = intercept * weight / weight.sum()
    mean_x, mean_y = share @ X, float(share @ y)
    coef = linalg.lstsq((X - mean_x) * root[:, None], (y - mean_y) * root)[0]
    coef = np.where(np.isfinite(coef), coef, 0.0)
    return coef, mean_y - float(mean_x @ coef)
