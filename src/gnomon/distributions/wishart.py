"""Beliefs about the mean and spread of a Gaussian: normal–inverse-gamma and normal–inverse-Wishart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, multigammaln

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.randomness import generator
from gnomon.distributions.base import Array, Family
from gnomon.distributions.moments import DiagonalMoments, FullMoments
from gnomon.distributions.normal import LOG_2PI, Gaussian
from gnomon.distributions.positive import InverseGamma
from gnomon.distributions.robust import MultivariateStudentT, StudentT


@dataclass(frozen=True, eq=False, repr=False)
class NormalInverseGamma(Family):
    r"""Belief about the mean and the variance of a normal distribution, column by column.

    .. math:: \sigma^2 \sim \mathrm{InvGamma}(a, b), \qquad \mu \mid \sigma^2 \sim N(m, \sigma^2/\kappa)

    Parameters
    ----------
    location, kappa, shape, rate : array-like of shape (K, d)
        m, κ, a and b.

    Examples
    --------
    >>> from gnomon.distributions import Conjugate, Gaussian
    >>> belief = Conjugate(Gaussian(covariance_type="diag"), NormalInverseGamma(0, 1, 1, 1)).update([1, 2, 4])
    >>> belief.prior.location, belief.prior.rate
    (array([[1.75]]), array([[5.375]]))
    """

    location: Any
    kappa: Any
    shape: Any
    rate: Any
    _parameters = ("location", "kappa", "shape", "rate")

    def posterior(self, statistics: DiagonalMoments | FullMoments) -> NormalInverseGamma:
        """Return the belief after rows with these moments."""
        n, mean, scatter = statistics
        if scatter.ndim == 3:
            scatter = np.diagonal(scatter, axis1=1, axis2=2)
        kappa = self.kappa + n
        between = self.kappa * n / kappa * (mean - self.location) ** 2
        location = (self.kappa * self.location + n * mean) / kappa
        return NormalInverseGamma(
            location, kappa, self.shape + n / 2.0, self.rate + (scatter + between) / 2.0
        )

    def absorb(self, statistics: Any, covariance_type: str) -> tuple[Any, float]:
        """Add the prior to the moments, as `NormalInverseWishart.absorb` does."""
        if (
            covariance_type not in ("diag", "full")
            or statistics.mean.shape[1] != 1
            and covariance_type == "full"
        ):
            raise DataError("NormalInverseGamma is a prior for covariance_type='diag'.")
        wishart = NormalInverseWishart(
            self.location, self.kappa[0, 0], 2.0 * self.shape[0, 0], 2.0 * self.rate[0]
        )
        return wishart.absorb(statistics, covariance_type)

    def log_density(self, mean: ArrayLike, variance: ArrayLike) -> Array:  # type: ignore[override]
        """Return ln p(mean, variance), shape (K,)."""
        mean, variance = np.atleast_2d(mean), np.asarray(variance).reshape(np.atleast_2d(mean).shape)
        gamma = (
            self.shape * np.log(self.rate)
            - gammaln(self.shape)
            - (self.shape + 1.0) * np.log(variance)
            - self.rate / variance
        )
        square = self.kappa * (mean - self.location) ** 2 / variance
        return (gamma - 0.5 * (LOG_2PI + np.log(variance / self.kappa) + square)).sum(axis=1)

    def mean(self) -> Any:
        """Return the expected mean, (K, d), and the expected variances as diagonal matrices, (K, d, d)."""
        if np.any(self.shape <= 1):
            raise DegenerateError("NormalInverseGamma: the expected variance is infinite for shape ≤ 1.")
        return np.array(self.location), _diagonals(self.rate / (self.shape - 1.0))

    def mode(self) -> Any:
        """Return the joint mode of mean and variance, as `mean` does."""
        return np.array(self.location), _diagonals(self.rate / (self.shape + 1.5))

    def predictive(self) -> StudentT:
        """Return the distribution of the next value."""
        scale = np.sqrt(self.rate * (self.kappa + 1.0) / (self.shape * self.kappa))
        return StudentT(2.0 * self.shape, self.location, scale)

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return central intervals of the mean (a t distribution)."""
        marginal = StudentT(2.0 * self.shape, self.location, np.sqrt(self.rate / (self.shape * self.kappa)))
        return marginal.interval(level)

    def sample(self, n: Any, random_state: Any = None) -> Any:
        """Draw n means (n, d) and variances (n, d) of a single belief."""
        rng = generator(random_state)
        variance = InverseGamma(self.shape, self.rate).sample(n, rng)
        return self.location[0] + rng.standard_normal(variance.shape) * np.sqrt(
            variance / self.kappa[0]
        ), variance


def _diagonals(variances: Array) -> Array:
    return variances[:, :, None] * np.eye(variances.shape[1])


@dataclass(frozen=True, eq=False, repr=False)
class NormalInverseWishart(Family):
    r"""Belief about the mean vector and the covariance matrix of a Gaussian.

    .. math:: \Sigma \sim \mathrm{InvWishart}(\nu, S), \qquad \mu \mid \Sigma \sim N(m, \Sigma/\kappa)

    As the `prior` of `Gaussian.fit` it gives the most probable parameters, Σ = (S + scatter + …)/(ν + n + d
    + 2);
    with ``kappa=0`` the mean has a flat prior and the denominator is ν + n + d + 1; with ``df=None`` the
    covariance has.

    Parameters
    ----------
    location : array-like of shape (K, d)
        m.
    kappa : array-like of shape (K,)
        Observations that the prior mean is worth.
    df : array-like of shape (K,) or None
        ν, above d − 1.
    scale : array-like of shape (K, d, d)
        S; for diagonal covariances its diagonal is used, and a vector or number is a diagonal.

    Examples
    --------
    >>> prior = NormalInverseWishart([0, 0], 1, 4, np.eye(2))
    >>> prior.predictive().df, prior.predictive().scale[0]
    (array([3.]), array([[0.66666667, 0.        ],
           [0.        , 0.66666667]]))
    """

    location: Any
    kappa: Any
    df: Any
    scale: Any
    _parameters = ("location", "kappa", "scale", "df")

    def _promoted(self, given: dict[str, Any]) -> dict[str, Array]:
        location = np.array(given["location"], dtype=np.float64, ndmin=2)
        K, d = location.shape
        scale = np.asarray(given["scale"], dtype=np.float64)
        scale = scale * np.eye(d) if scale.ndim < 2 else scale
        out = {"location": location, "scale": np.array(np.broadcast_to(scale, (K, d, d)))}
        for name in ("kappa", "df"):
            if name in given:
                out[name] = np.array(np.broadcast_to(np.asarray(given[name], dtype=np.float64), (K,)))
        return out

    def _check_parameters(self) -> None:
        self._require(self.kappa >= 0, "kappa", "at least 0")
        if self.df is not None and np.any(self.df <= self.n_features - 1):
            raise DataError(
                f"NormalInverseWishart: df must exceed d − 1 = {self.n_features - 1}; got {self.df.min()}."
            )

    def posterior(self, statistics: FullMoments) -> NormalInverseWishart:
        """Return the belief after rows with these moments."""
        if not isinstance(statistics, FullMoments):
            raise DataError("NormalInverseWishart needs covariance_type='full'.")
        n, mean, scatter = statistics
        kappa = self.kappa + n[:, 0]
        gap = mean - self.location
        between = (self.kappa * n[:, 0] / kappa)[:, None, None] * gap[:, :, None] * gap[:, None, :]
        location = (self.kappa[:, None] * self.location + n * mean) / kappa[:, None]
        return NormalInverseWishart(location, kappa, self.df + n[:, 0], self.scale + scatter + between)

    def absorb(self, statistics: Any, covariance_type: str) -> tuple[Any, float]:
        """Return the moments with the prior added, and what to add to the divisor of the scatter."""
        n, mean, scatter = statistics
        K, d = mean.shape
        kappa, m = float(self.kappa[0]), self.location[0]
        mass = n + kappa
        share = np.divide(kappa, mass, out=np.zeros_like(mass), where=mass > 0)
        gap = m - mean
        between = n * share  # κn/(κ+n)
        S, diagonal = self.scale[0], np.diagonal(self.scale[0])
        proper = self.df is not None
        if covariance_type in ("full", "fixed"):
            scatter = scatter + between[:, :, None] * gap[:, :, None] * gap[:, None, :] + proper * S
        elif covariance_type == "tied":
            scatter = scatter + (between * gap).T @ gap + proper * S
        else:
            copies = {"diag": 1, "spherical": d, "tied_spherical": K * d}.get(covariance_type, 1)
            scatter = scatter + between * gap**2 + proper * diagonal / copies
        means_behind = {"spherical": d, "tied": K, "tied_spherical": K * d}.get(covariance_type, 1)
        width = d if covariance_type in ("full", "tied", "fixed") else 1
        extra = (float(self.df[0]) + width + 1.0 if proper else 0.0) + means_behind * (
            float(kappa > 0) - kappa
        )
        return type(statistics)(mass, mean + share * gap, scatter), extra

    def log_density(self, mean: ArrayLike, covariance: ArrayLike) -> Array:  # type: ignore[override]
        """Return ln p(mean, covariance), shape (K,); flat parts of the prior count as zero."""
        mean, covariance = np.atleast_2d(mean), np.asarray(covariance, dtype=np.float64)
        covariance = covariance.reshape(-1, self.n_features, self.n_features)
        return self._log_wishart(covariance) + self._log_normal(mean, covariance)

    def _log_wishart(self, covariance: Array) -> Array:
        if self.df is None:
            return np.zeros(len(covariance))
        d, v = self.n_features, self.df
        _, log_scale = np.linalg.slogdet(self.scale)
        _, log_covariance = np.linalg.slogdet(covariance)
        trace = np.trace(
            np.linalg.solve(covariance, np.broadcast_to(self.scale, covariance.shape)), axis1=1, axis2=2
        )
        constant = v / 2.0 * log_scale - v * d / 2.0 * np.log(2.0) - multigammaln(v / 2.0, d)
        return constant - (v + d + 1.0) / 2.0 * log_covariance - trace / 2.0

    def _log_normal(self, mean: Array, covariance: Array) -> Array:
        if np.all(self.kappa == 0):
            return np.zeros(len(mean))
        gap = mean - self.location
        square = np.einsum("kd,kd->k", gap, np.linalg.solve(covariance, gap[:, :, None])[:, :, 0])
        _, log_covariance = np.linalg.slogdet(covariance)
        d = self.n_features
        return -0.5 * (d * (LOG_2PI - np.log(self.kappa)) + log_covariance + self.kappa * square)

    def mean(self) -> Any:
        """Return the expected mean vectors (K, d) and covariance matrices (K, d, d)."""
        spare = self.df - self.n_features - 1.0
        if np.any(spare <= 0):
            raise DegenerateError("NormalInverseWishart: the expected covariance is infinite for df ≤ d + 1.")
        return np.array(self.location), self.scale / spare[:, None, None]

    def mode(self) -> Any:
        """Return the joint mode of mean vector and covariance matrix."""
        return np.array(self.location), self.scale / (self.df + self.n_features + 2.0)[:, None, None]

    def predictive(self) -> MultivariateStudentT:
        """Return the distribution of the next row."""
        df = self.df - self.n_features + 1.0
        factor = (self.kappa + 1.0) / (self.kappa * df)
        return MultivariateStudentT(df, self.location, self.scale * factor[:, None, None])

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return central intervals of the entries of the mean (t distributions)."""
        df = (self.df - self.n_features + 1.0)[:, None]
        spread = np.sqrt(np.diagonal(self.scale, axis1=1, axis2=2) / (self.kappa[:, None] * df))
        return StudentT(np.broadcast_to(df, spread.shape), self.location, spread).interval(level)

    def sample(self, n: Any, random_state: Any = None) -> Any:
        """Draw n mean vectors (n, d) and covariance matrices (n, d, d) of a single belief."""
        from scipy.stats import invwishart

        rng = generator(random_state)
        matrices = np.reshape(
            invwishart(self.df[0], self.scale[0]).rvs(int(n), random_state=rng),
            (-1, self.n_features, self.n_features),
        )
        noise = Gaussian(np.zeros_like(matrices[:, 0]), matrices).sample(np.arange(len(matrices)), rng)
        return self.location[0] + noise / np.sqrt(self.kappa[0]), matrices
