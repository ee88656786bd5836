"""Families on the half-line: exponential, gamma, inverse gamma."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln, polygamma

from gnomon.core.errors import DegenerateError
from gnomon.distributions.averaged import Lomax
from gnomon.distributions.base import Array, as_rows
from gnomon.distributions.columns import ColumnFamily, ColumnSums


def unless(outside: Array) -> Array:
    """−∞ where the entry is outside the support, 0 elsewhere."""
    return np.where(outside, -np.inf, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class Exponential(ColumnFamily):
    r"""Waiting times without memory.

    .. math:: p(x) = \lambda e^{-\lambda x}, \qquad x \ge 0

    Parameters
    ----------
    rate : array-like of shape (K, d), optional
        Inverse mean.
    min_mean : float, default 0.0
        Smallest mean of an estimate; above 0 a column of zeros has a rate.

    Examples
    --------
    >>> Exponential().fit([1.0, 2.0, 6.0]).rate.round(6)
    array([[0.333333]])
    """

    rate: Any = None
    min_mean: float = 0.0
    _parameters = ("rate",)

    def _check_parameters(self) -> None:
        self._require(np.isfinite(self.rate) & (self.rate > 0), "rate", "finite and above 0")

    def _features(self, X: Array) -> tuple[Array, ...]:
        return (X,)

    def _natural(self) -> tuple[tuple[Array, ...], Array]:
        return (-self.rate,), -np.log(self.rate)

    def _log_base(self, X: Array) -> Array:
        return unless(X < 0)

    def _expected_features(self) -> tuple[Array, ...]:
        return (1.0 / self.rate,)

    def _maximize(self, statistics: ColumnSums) -> dict[str, Array]:
        mean = np.maximum(statistics.sums[0] / statistics.weight, self.min_mean)
        if np.any((mean <= 0) & (statistics.weight > 0)):
            raise DegenerateError(
                "Exponential: the mean of a column is not above zero, so its rate is infinite."
            )
        return {"rate": 1.0 / mean}

    def posterior(self, statistics: ColumnSums, prior: Any) -> Gamma:
        return Gamma(prior.shape + statistics.weight, prior.rate + statistics.sums[0])

    def predictive(self, prior: Any) -> Lomax:
        """Return the distribution of the next waiting time under a Gamma belief about the rate."""
        return Lomax(prior.shape, prior.rate)

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        return rng.exponential(1.0 / self.rate[labels])

    def mean(self) -> Array:
        return 1.0 / self.rate

    def variance(self) -> Array:
        return 1.0 / self.rate**2

    def mode(self) -> Array:
        return np.zeros_like(self.rate)

    def entropy(self, base: float | None = None) -> Array:
        return self._entropy_without_base(base)

    def to_scipy(self) -> Any:
        from scipy.stats import expon

        return expon(scale=1.0 / self.rate)


@dataclass(frozen=True, eq=False, repr=False)
class Gamma(ColumnFamily):
    r"""Gamma distribution by shape and rate; the conjugate prior of Poisson and exponential rates.

    .. math:: p(x) = \frac{b^a}{\Gamma(a)} x^{a-1} e^{-bx}, \qquad x > 0

    Parameters
    ----------
    shape, rate : array-like of shape (K, d), optional
        a and b.

    Examples
    --------
    >>> Gamma(14, 4).mean(), Gamma(14, 4).mode()
    (array([[3.5]]), array([[3.25]]))
    """

    shape: Any = None
    rate: Any = None
    _parameters = ("shape", "rate")

    def _check_parameters(self) -> None:
        self._require(self.shape >= 0, "shape", "at least 0")
        self._require(self.rate >= 0, "rate", "at least 0")

    def _features(self, X: Array) -> tuple[Array, ...]:
        safe = np.maximum(X, 0.0)
        return np.log(safe), X

    def _natural(self) -> tuple[tuple[Array, ...], Array]:
        return (self.shape - 1.0, -self.rate), gammaln(self.shape) - self.shape * np.log(self.rate)

    def _log_base(self, X: Array) -> Array:
        return unless(X < 0)

    def _expected_features(self) -> tuple[Array, ...]:
        return digamma(self.shape) - np.log(self.rate), self.shape / self.rate

    def log_density(self, X: ArrayLike) -> Array:
        with np.errstate(invalid="ignore"):
            return nan_at_edges(super().log_density(X), self.to_scipy, X, self.n_features)

    def _maximize(self, statistics: ColumnSums) -> dict[str, Array]:
        mean = statistics.sums[1] / statistics.weight
        shape = gamma_shape(np.log(mean) - statistics.sums[0] / statistics.weight)
        return {"shape": shape, "rate": shape / mean}

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        return rng.gamma(self.shape[labels], 1.0 / self.rate[labels])

    def mean(self) -> Array:
        return self.shape / self.rate

    def variance(self) -> Array:
        return self.shape / self.rate**2

    def mode(self) -> Array:
        return np.maximum(self.shape - 1.0, 0.0) / self.rate

    @property
    def interior(self) -> bool:
        """Whether every mode lies inside the half-line."""
        return bool(np.all(self.shape > 1))

    def entropy(self, base: float | None = None) -> Array:
        return self._entropy_without_base(base)

    def to_scipy(self) -> Any:
        from scipy.stats import gamma

        return gamma(self.shape, scale=1.0 / self.rate)


def nan_at_edges(table: Array, to_scipy: Any, X: ArrayLike, d: int) -> Array:
    """Repair the rows where ∞ − ∞ arose at the edge of the support with SciPy's careful formula."""
    rows = np.isnan(table).any(axis=1)
    if rows.any():
        X = as_rows(X, d)[rows]
        terms = to_scipy().logpdf(X[:, None, :])
        table[rows] = np.where(np.isnan(X)[:, None, :], 0.0, terms).sum(axis=-1)
    return table


def gamma_shape(gap: Array) -> Array:
    """Solve ln a − ψ(a) = gap for a by Newton's method on 1/a (Minka's start)."""
    if np.any(gap <= 1e-14):
        raise DegenerateError("Gamma: all values of a column are equal, so the shape grows without bound.")
    a = (3.0 - gap + np.sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)
    for _ in range(50):
        step = (np.log(a) - digamma(a) - gap) / (a * a * (1.0 / a - polygamma(1, a)))
        new = 1.0 / (1.0 / a + step)
        done = np.nanmax(np.abs(new - a) / a) < 1e-14
        a = new
        if done:
            break
    return a


@dataclass(frozen=True, eq=False, repr=False)
class InverseGamma(Gamma):
    r"""Distribution of 1/x for x ~ Gamma(shape, rate); the conjugate prior of a variance.

    .. math:: p(x) = \frac{b^a}{\Gamma(a)} x^{-a-1} e^{-b/x}, \qquad x > 0

    Parameters
    ----------
    shape, rate : array-like of shape (K, d), optional
        a and b of the gamma distribution of 1/x.

    Examples
    --------
    >>> InverseGamma(3, 4).mean(), InverseGamma(3, 4).mode()
    (array([[2.]]), array([[1.]]))
    """

    def _features(self, X: Array) -> tuple[Array, ...]:
        safe = np.maximum(X, 0.0)
        return np.log(safe), 1.0 / safe

    def _natural(self) -> tuple[tuple[Array, ...], Array]:
        return (-self.shape - 1.0, -self.rate), gammaln(self.shape) - self.shape * np.log(self.rate)

    def _log_base(self, X: Array) -> Array:
        return unless(X <= 0)

    def _expected_features(self) -> tuple[Array, ...]:
        return np.log(self.rate) - digamma(self.shape), self.shape / self.rate

    def _maximize(self, statistics: ColumnSums) -> dict[str, Array]:
        mean = statistics.sums[1] / statistics.weight
        shape = gamma_shape(np.log(mean) + statistics.sums[0] / statistics.weight)
        return {"shape": shape, "rate": shape / mean}

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        return 1.0 / super()._draw(labels, rng)

    def mean(self) -> Array:
        return np.where(self.shape > 1, self.rate / np.where(self.shape > 1, self.shape - 1.0, 1.0), np.inf)

    def variance(self) -> Array:
        a = np.where(self.shape > 2, self.shape, 3.0)
        return np.where(self.shape > 2, self.rate**2 / ((a - 1.0) ** 2 * (a - 2.0)), np.inf)

    def mode(self) -> Array:
        return self.rate / (self.shape + 1.0)

    def to_scipy(self) -> Any:
        from scipy.stats import invgamma

        return invgamma(self.shape, scale=self.rate)
