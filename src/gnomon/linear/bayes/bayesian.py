"""Bayesian linear regression: a Gaussian belief about the coefficients, sharpened row by row."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import linalg, sparse, special, stats
from sklearn.base import RegressorMixin

from gnomon.core.closed_form import Additive
from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array, cholesky, log_determinant
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import generator
from gnomon.core.sums import per_row
from gnomon.core.validate import Reads, check_fitted
from gnomon.linear.squares.least_squares import LinearPrediction, check_moments
from gnomon.linear.squares.moments import LinearSums, moments, sum_moments
from gnomon.linear.squares.normal import solve_gram


class Belief(NamedTuple):
    """A Gaussian over coefficients by its precision, with the parameters of the noise."""

    mean: Array  # (d,)
    factor: Array  # lower Cholesky factor of the precision (over σ² when the noise is unknown)
    shape: float  # of the inverse gamma over σ²; infinite when σ² is known
    rate: float

    def inverse(self) -> Array:
        """Return the inverse of the precision."""
        return linalg.cho_solve((self.factor, True), np.eye(len(self.mean)))


def quadratic_of(chunk: Any, center: Array, factor: Array) -> Array:
    """(x − center)ᵀ P⁻¹ (x − center) of each row, with P = LLᵀ."""
    dense = chunk.X.toarray() if sparse.issparse(chunk.X) else chunk.X
    Z = linalg.solve_triangular(factor, (dense - center).T, lower=True, check_finite=False)
    return np.einsum("ij,ij->j", Z, Z)


class BayesianLinearRegression(LinearPrediction, RegressorMixin, Additive):
    r"""Bayesian linear regression with a Gaussian prior.

    .. math::
        y \mid w \sim N(Xw + b, \sigma^2 I),\quad w \sim N(m_0, V_0):\qquad
        \Sigma^{-1} = V_0^{-1} + \sigma^{-2} X^\top X,\quad
        \mu = \Sigma\,(V_0^{-1} m_0 + \sigma^{-2} X^\top y)

    The answer is a distribution: of the coefficients, and of a new observation, N(xᵀμ, σ² + xᵀΣx). Rows may
    arrive one at a time (`partial_fit`); order does not matter. The mean equals `Ridge` with alpha = σ² ·
    prior_precision. An intercept has a flat prior. When σ² and the prior precision should come from the
    data, use `BayesianRidge`; with ``noise="conjugate"`` σ² itself gets an inverse-gamma prior and
    predictions are Student's t.

    Parameters
    ----------
    prior_precision : float, default=1.0
        λ of the prior N(0, I/λ); 0 is flat and needs independent columns.
    noise_variance : float, default=1.0
        σ², when it is known.
    fit_intercept : bool, default=True
    prior_mean : array of shape (d,), default=None
    prior_covariance : array of shape (d, d), default=None
        Takes the place of `prior_precision`. With conjugate noise it is in units of σ².
    noise : {"known", "conjugate"}, default="known"
    noise_shape, noise_rate : float, default=1.0
        Of the inverse-gamma prior over σ².

    Attributes
    ----------
    coef_ : array of shape (d,)
        Posterior mean.
    covariance_ : array of shape (d, d)
    intercept_ : float
    log_evidence_ : float
        ln p(y); with an intercept, of the contrasts orthogonal to the constant.
    noise_shape_, noise_rate_ : float
        Posterior of σ² (conjugate noise).
    sums_ : LinearSums

    Examples
    --------
    >>> X, y = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 2.0, 4.0]
    >>> model = BayesianLinearRegression(1.0, 0.5, fit_intercept=False).fit(X, y)
    >>> model.coef_.round(4), model.probability_positive().round(4)
    (array([0.8293, 1.3659]), array([0.9453, 0.9995]))
    """

    _reads = Reads(sparse=True, y="number", scales=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "prior_precision": [Interval(Real, 0, None, closed="left")],
        "noise_variance": [Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "prior_mean": [None, "array-like"],
        "prior_covariance": [None, "array-like"],
        "noise": [StrOptions({"known", "conjugate"})],
        "noise_shape": [Interval(Real, 0, None, closed="neither")],
        "noise_rate": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        prior_precision: float = 1.0,
        noise_variance: float = 1.0,
        *,
        fit_intercept: bool = True,
        prior_mean: Any = None,
        prior_covariance: Any = None,
        noise: str = "known",
        noise_shape: float = 1.0,
        noise_rate: float = 1.0,
    ) -> None:
        self.prior_precision = prior_precision
        self.noise_variance = noise_variance
        self.fit_intercept = fit_intercept
        self.prior_mean = prior_mean
        self.prior_covariance = prior_covariance
        self.noise = noise
        self.noise_shape = noise_shape
        self.noise_rate = noise_rate

    # hooks

    def _statistics(self, rows: Any) -> LinearSums:
        return sum_moments(rows)

    def _estimate(self, statistics: LinearSums) -> tuple[dict[str, Any], float | None]:
        check_moments(statistics)
        view = statistics if self.fit_intercept else statistics.without_centering()
        belief, evidence = self._posterior(view)
        variance = self.noise_variance
        attributes = {
            "coef_": belief.mean,
            "intercept_": float(view.mean_y - view.mean_x @ belief.mean) if self.fit_intercept else 0.0,
            "covariance_": belief.inverse(),
            "log_evidence_": evidence,
            "_factor_": belief.factor,
        }
        if self.noise == "conjugate":
            variance = belief.rate / (belief.shape - 1.0) if belief.shape > 1 else np.inf
            attributes["covariance_"] = variance * attributes["covariance_"]
            attributes |= {"noise_shape_": belief.shape, "noise_rate_": belief.rate}
        return attributes, -evidence if np.isfinite(evidence) else None

    def prior(self, n_features: int) -> Self:
        """Return a fitted model that has seen no rows: the posterior given nothing is the prior.

        It needs ``fit_intercept=False``, since a flat prior on the intercept predicts nothing.
        """
        if self.fit_intercept:
            raise DataError(
                "a flat intercept has no prior predictive; use fit_intercept=False and a ones column."
            )
        empty = moments(np.zeros((0, n_features)), np.zeros(0))
        return type(self).from_sums(empty, **self.get_params(deep=False))

    # the posterior

    def _prior(self, d: int) -> tuple[Array, Array]:
        """Mean and precision before any data."""
        mean = np.zeros(d) if self.prior_mean is None else np.asarray(self.prior_mean, dtype=np.float64)
        if mean.shape != (d,):
            raise DataError(f"prior_mean has shape {mean.shape}; X has {d} columns.")
        if self.prior_covariance is None:
            return mean, self.prior_precision * np.eye(d)
        covariance = np.asarray(self.prior_covariance, dtype=np.float64)
        if covariance.shape != (d, d) or not np.allclose(covariance, covariance.T):
            raise DataError(f"prior_covariance must be a symmetric {d} × {d} matrix.")
        L, _ = cholesky(covariance, what="prior_covariance")
        return mean, linalg.cho_solve((L, True), np.eye(d))

    def _posterior(self, view: LinearSums) -> tuple[Belief, float]:
        m0, P0 = self._prior(view.n_features)
        if not P0.any():
            _check_full_rank(view)
        unit = self.noise_variance if self.noise == "known" else 1.0
        L, _ = cholesky(P0 + view.xx / unit, what="the posterior precision (raise prior_precision)")
        mean = linalg.cho_solve((L, True), P0 @ m0 + view.xy / unit)
        count = view.weight - bool(self.fit_intercept)
        pull = mean - m0
        misfit = float(view.loss(mean, view.mean_y - view.mean_x @ mean)) / unit + float(pull @ P0 @ pull)
        change = _log_det_ratio(P0, L)
        if self.noise == "known":
            evidence = -0.5 * (count * np.log(2.0 * np.pi * unit) + misfit) + change
            return Belief(mean, L, np.inf, 0.0), float(evidence)
        a, b = self.noise_shape, self.noise_rate
        shape, rate = a + count / 2.0, b + misfit / 2.0
        evidence = a * np.log(b) - shape * np.log(rate) + special.gammaln(shape) - special.gammaln(a)
        return Belief(mean, L, shape, rate), float(evidence - 0.5 * count * np.log(2.0 * np.pi) + change)

    # what the posterior says

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Return the mean of a new observation at each row, with its deviation or covariance if asked."""
        mean = super().predict(X)
        if return_std:
            return mean, self.predict_distribution(X).std()
        if not return_cov:
            return mean
        rows = self._rows(X)
        Z = (rows.X.toarray() if rows.sparse else rows.X) - self._center()
        noise = self._noise()
        covariance = Z @ self.covariance_ @ Z.T + noise * np.eye(len(Z))
        return mean, covariance + noise / self.sums_.weight if self.fit_intercept else covariance

    def predict_distribution(self, X: Any) -> Any:
        """Return the predictive distribution at each row: a frozen ``scipy.stats.norm``, or ``t``."""
        spread = 1.0 + (1.0 / self.sums_.weight if self.fit_intercept else 0.0)
        q = per_row(quadratic_of, self._rows(X), self._center(), self._factor_)
        mean = super().predict(X)
        if self.noise == "known":
            return stats.norm(mean, np.sqrt(self.noise_variance * spread + q))
        scale = np.sqrt(self.noise_rate_ / self.noise_shape_ * (spread + q))
        return stats.t(2.0 * self.noise_shape_, mean, scale)

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[Array, Array]:
        """Return the central interval of a new observation at each row."""
        lower, upper = self.predict_distribution(X).interval(level)
        return lower, upper

    def posterior(self, index: int | tuple[int, ...] | None = None) -> Any:
        """Return the posterior of one coefficient, of several together, or of all: a ``scipy.stats`` law."""
        check_fitted(self)
        if isinstance(index, int | np.integer):
            return self._law(self.coef_[index], np.sqrt(self._scale()[index, index]))
        chosen = np.arange(len(self.coef_)) if index is None else np.asarray(index)
        mean, scale = self.coef_[chosen], self._scale()[np.ix_(chosen, chosen)]
        if self.noise == "known":
            return stats.multivariate_normal(mean, scale)
        return stats.multivariate_t(mean, scale, df=2.0 * self.noise_shape_)

    def probability_positive(self) -> Array:
        """Return P(w_j > 0) for every coefficient."""
        check_fitted(self)
        return self._law(self.coef_, np.sqrt(np.diagonal(self._scale()))).sf(0.0)

    def credible_intervals(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return the central interval of every coefficient."""
        check_fitted(self)
        lower, upper = self._law(self.coef_, np.sqrt(np.diagonal(self._scale()))).interval(level)
        return lower, upper

    def entropy(self) -> float:
        """Return the entropy of the coefficients: (d/2) ln 2πe + ½ ln|Σ| when the noise is known."""
        return float(self.posterior().entropy())

    def sample_coef(self, n: int = 1, random_state: Any = None) -> Array:
        """Draw `n` coefficient vectors from the posterior."""
        return np.atleast_2d(self.posterior().rvs(size=n, random_state=generator(random_state))).reshape(
            n, -1
        )

    def sample_y(self, X: Any, n: int = 1, random_state: Any = None) -> Array:
        """Draw `n` functions from the posterior and return their noisy values at the rows, (rows, n)."""
        rng = generator(random_state)
        Z = self._rows(X).X - self._center()
        lines = Z @ (self.sample_coef(n, rng)).T + self.intercept_ + self._center() @ self.coef_
        if self.fit_intercept:
            lines = lines + rng.normal(0.0, np.sqrt(self._noise() / self.sums_.weight), size=n)
        return lines + rng.normal(0.0, np.sqrt(self._noise()), size=lines.shape)

    def _center(self) -> Array:
        check_fitted(self)
        return self.sums_.mean_x if self.fit_intercept else np.zeros(self.n_features_in_)

    def _noise(self) -> float:
        if self.noise == "known":
            return float(self.noise_variance)
        return self.noise_rate_ / (self.noise_shape_ - 1.0) if self.noise_shape_ > 1 else np.inf

    def _scale(self) -> Array:
        """Scale matrix of the coefficients' law."""
        if self.noise == "known":
            return self.covariance_
        inverse = linalg.cho_solve((self._factor_, True), np.eye(len(self.coef_)))
        return self.noise_rate_ / self.noise_shape_ * inverse

    def _law(self, mean: Any, scale: Any) -> Any:
        if self.noise == "known":
            return stats.norm(mean, scale)
        return stats.t(2.0 * self.noise_shape_, mean, scale)


def _check_full_rank(view: LinearSums) -> None:
    solution = solve_gram(view)
    if solution is None or solution.rank < view.n_features:
        raise DegenerateError(
            "the columns of X are dependent, so a flat prior leaves the coefficients undetermined; "
            "use prior_precision > 0 (now 0)."
        )


def _log_det_ratio(P0: Array, L: Array) -> float:
    """½ ln|P0| − ½ ln|P|; −∞ for a flat prior."""
    sign, value = np.linalg.slogdet(P0)
    return 0.5 * (value if sign > 0 else -np.inf) - 0.5 * float(log_determinant(L))
