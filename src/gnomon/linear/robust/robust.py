"""Huber's regression: squares for the rows that fit, absolute values for the others, a scale of its own."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import optimize
from sklearn.base import RegressorMixin

from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import per_row, total
from gnomon.core.validate import Reads
from gnomon.linear._centering import CentersColumns
from gnomon.linear.squares.least_squares import LinearPrediction, LinearRegression
from gnomon.solvers.newton import factorize, solve


class HuberTerms(NamedTuple):
    """Value, gradient and Hessian of the objective in (w, b, σ)."""

    value: float
    gradient: Array
    hessian: Array


class HuberState(NamedTuple):
    """A point (w, b, σ) with its terms; `outliers` at the end."""

    theta: Array
    value: float
    gradient: Array
    hessian: Array
    outliers: Array | None = None


def huber_terms(chunk: Any, theta: Array, epsilon: float, intercept: bool) -> HuberTerms:
    """Σ s (σ + σ H(r/σ)) of one chunk, H(z) = z² within ε and 2ε|z| − ε² beyond."""
    X, s, sigma = chunk.X, chunk.weight, float(theta[-1])
    d = X.shape[1]
    r = chunk.y - X @ theta[:d] - (theta[d] if intercept else 0.0)
    inside = np.abs(r) <= epsilon * sigma
    sign = np.sign(r)
    value = s @ np.where(inside, sigma + r * r / sigma, sigma + 2 * epsilon * np.abs(r) - epsilon**2 * sigma)
    slope = -2.0 * s * np.where(inside, r / sigma, epsilon * sign)
    in_sigma = s @ np.where(inside, 1.0 - (r / sigma) ** 2, 1.0 - epsilon**2)
    gradient = [X.T @ slope, [slope.sum()], [in_sigma]] if intercept else [X.T @ slope, [in_sigma]]
    return HuberTerms(
        float(value), np.concatenate(gradient), _huber_hessian(X, s, r, sigma, inside, intercept)
    )


def _huber_hessian(X: Any, s: Array, r: Array, sigma: float, inside: Array, intercept: bool) -> Array:
    """Curvature 2s/σ (x, 1, r/σ)(x, 1, r/σ)ᵀ of the rows within."""
    dense = X[inside].toarray() if hasattr(X, "toarray") else X[inside]
    extra = [np.ones((len(dense), 1))] if intercept else []
    Z = np.hstack([dense, *extra, (r[inside] / sigma)[:, None]]) * np.sqrt(2.0 * s[inside] / sigma)[:, None]
    return Z.T @ Z


def outlier_rows(chunk: Any, coef: Array, intercept: float, bound: float) -> Array:
    """Which rows lie beyond the bound."""
    return np.abs(chunk.y - chunk.X @ coef - intercept) > bound


class HuberRegressor(LinearPrediction, RegressorMixin, CentersColumns, Learner):
    r"""Linear regression with Huber's loss and a scale learned along.

    .. math:: \min_{w,b,\sigma} \sum_i s_i\Bigl(\sigma + H_\epsilon\Bigl(\frac{y_i-x_i^\top w-b}{\sigma}\Bigr)
        \sigma\Bigr) + \alpha\lVert w\rVert^2

    with H(z) = z² for |z| ≤ ε and 2ε|z| − ε² beyond: rows within ε scales count as in least squares, the
    others only by their sign. The objective is convex in (w, b, σ) together; Newton steps solve it in a few
    passes.

    Parameters
    ----------
    epsilon : float, default=1.35
        At least 1; smaller is more robust, 1.35 is 95 % as efficient as least squares under Gaussian noise.
    max_iter : int, default=100
    alpha : float, default=0.0001
    warm_start : bool, default=False
    fit_intercept : bool, default=True
    tol : float, default=1e-5
        On the largest entry of the gradient, per unit of weight.

    Attributes
    ----------
    coef_, intercept_, n_iter_, trace_
    scale_ : float
    outliers_ : array of bool of shape (n,)
        Rows beyond ε scales.

    Examples
    --------
    >>> x = np.arange(20.0)[:, None]
    >>> y = 2.0 * x[:, 0] + 0.1 * (-1.0) ** np.arange(20)
    >>> y[3] = 90.0
    >>> model = HuberRegressor().fit(x, y)
    >>> model.coef_.round(2), bool(model.outliers_[3])
    (array([2.]), True)
    """

    _reads = Reads(sparse=True, y="number", scales=True)
    _stop = "certificate"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "epsilon": [Interval(Real, 1.0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "fit_intercept": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        max_iter: int = 100,
        alpha: float = 0.0001,
        warm_start: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-05,
    ) -> None:
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol

    # hooks

    def _start(self, rows: Any, rng: Any) -> HuberState:
        least = LinearRegression(fit_intercept=self.fit_intercept)._solve(rows)[0]
        scale = max(float(np.sqrt(least["noise_variance_"])), 1e-12)
        parts = [least["coef_"], [least["intercept_"]], [scale]]
        theta = np.concatenate(parts if self.fit_intercept else [parts[0], parts[2]]).astype(np.float64)
        return self._at(rows, theta)

    def _at(self, rows: Any, theta: Array) -> HuberState:
        value, gradient, hessian = total(huber_terms, rows, theta, float(self.epsilon), self.fit_intercept)
        d = rows.n_features
        gradient[:d] += 2.0 * self.alpha * theta[:d]
        hessian[np.arange(d), np.arange(d)] += 2.0 * self.alpha
        return HuberState(theta, value + self.alpha * float(theta[:d] @ theta[:d]), gradient, hessian)

    def _step(self, rows: Any, state: HuberState) -> tuple[HuberState, Report]:
        direction = -solve(factorize(state.hessian + _ridge(state.hessian)), state.gradient)
        new = self._search(rows, state, direction)
        weight = float(rows.weight.sum()) if rows.in_memory else float(rows.n_rows)
        moved, certificate = new.theta is not state.theta, float(np.abs(new.gradient).max()) / weight
        if not moved and certificate > self.tol:
            new = self._descend(rows, state)
            certificate = float(np.abs(new.gradient).max()) / weight
        return new, Report(new.value, certificate, stalled=not moved)

    def _descend(self, rows: Any, state: HuberState) -> HuberState:
        """Go down from the start by gradients alone: with few rows within the bound the curvature misleads."""

        def terms(theta: Array) -> tuple[float, Array]:
            here = self._at(rows, theta)
            return here.value, here.gradient

        first = self._start(rows, None).theta
        limits = [(None, None)] * (len(first) - 1) + [(1e-8 * first[-1], None)]
        options = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-15, "gtol": self.tol * 1e-2}
        found = optimize.minimize(terms, first, jac=True, method="L-BFGS-B", bounds=limits, options=options)
        new = self._at(rows, found.x)
        return new if new.value < state.value else state

    def _search(self, rows: Any, state: HuberState, direction: Array) -> HuberState:
        """Halve the step until the value falls; the scale keeps at least a tenth of itself."""
        step, slope = 1.0, float(state.gradient @ direction)
        if direction[-1] < 0:
            step = min(1.0, -0.9 * state.theta[-1] / direction[-1])
        slack = 1e-13 * max(1.0, abs(state.value))
        for _ in range(40):
            new = self._at(rows, state.theta + step * direction)
            if new.value <= state.value + 1e-4 * step * slope + slack:
                return new
            step *= 0.5
        return state

    def _finish(self, rows: Any, state: HuberState) -> HuberState:
        coef, intercept, scale = self._split(state.theta)
        return state._replace(outliers=per_row(outlier_rows, rows, coef, intercept, scale * self.epsilon))

    def _split(self, theta: Array) -> tuple[Array, float, float]:
        if self.fit_intercept:
            return theta[:-2], float(theta[-2]), float(theta[-1])
        return theta[:-1], 0.0, float(theta[-1])

    def _attributes(self, state: HuberState) -> dict[str, Any]:
        coef, intercept, scale = self._split(state.theta)
        found = {"coef_": coef, "intercept_": intercept, "scale_": scale}
        return found if state.outliers is None else {**found, "outliers_": state.outliers}

    def _first_state(self, rows: Any, seed: int, index: int) -> HuberState:
        if self.warm_start and self.__sklearn_is_fitted__() and len(self.coef_) == rows.n_features:
            middle = [self.intercept_] if self.fit_intercept else []
            return self._at(rows, np.concatenate([self.coef_, middle, [self.scale_]]))
        return self._start(rows, None)


def _ridge(H: Array) -> Array:
    """The slightest lift, for rows that all lie beyond the bound."""
    return 1e-12 * max(float(np.trace(H)), 1e-300) * np.eye(len(H))
