"""Families of counts: Bernoulli, binomial, Poisson, geometric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from gnomon.distributions.averaged import BetaGeometric
from gnomon.distributions.base import Array, Family, as_rows
from gnomon.distributions.bounded import Beta
from gnomon.distributions.columns import ColumnFamily, ColumnSums, log_factorial, require_counts
from gnomon.distributions.overdispersed import BetaBinomial, NegativeBinomial
from gnomon.distributions.positive import Gamma


def log(p: Array) -> Array:
    """ln p with ln 0 = −∞ and no warning."""
    with np.errstate(divide="ignore"):
        return np.log(p)


def as_beta(prior: Any) -> Beta:
    """A Beta prior as it is; a number λ is λ pseudo-counts on either side, Beta(λ+1, λ+1)."""
    return prior if isinstance(prior, Beta) else Beta(np.asarray(prior) + 1.0, np.asarray(prior) + 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Bernoulli(ColumnFamily):
    r"""Independent coin flips.

    .. math:: p(x) = p^x (1-p)^{1-x}, \qquad x \in \{0, 1\}

    The maximum-likelihood estimate is the mean. With a `Beta` prior (or a number λ of pseudo-counts on either
    side) `fit` returns the posterior mode. p = 0 and p = 1 are legal: the other outcome has log-density −∞.

    Parameters
    ----------
    p : array-like of shape (K, d), optional
        Probability of a one.
    binarize : float, optional
        Entries above this number count as ones, the others as zeros; by default X must hold zeros and ones.

    Examples
    --------
    >>> coin = Bernoulli().fit([1, 1, 0, 1])
    >>> coin.p
    array([[0.75]])
    >>> coin.log_density([0, 1]).round(6)
    array([[-1.386294],
           [-0.287682]])
    """

    p: Any = None
    binarize: float | None = None
    _parameters = ("p",)
    _filler = 0.0

    def _check_parameters(self) -> None:
        self._require((self.p >= 0) & (self.p <= 1), "p", "between 0 and 1")

    def _observed(self, X: ArrayLike) -> tuple[Array, Array | None]:
        if self.binarize is not None:
            X = as_rows(X, self.n_features if self.fitted else None)
            X = np.where(np.isnan(X), np.nan, X > self.binarize)
        return super()._observed(X)

    def _check(self, X: Array) -> None:
        require_counts(X, "Bernoulli", top=1)

    def _features(self, X: Array) -> tuple[Array, ...]:
        return X, 1.0 - X

    def _natural(self) -> tuple[tuple[Array, ...], Array]:
        return (log(self.p), log(1.0 - self.p)), np.zeros_like(self.p)

    def _expected_features(self) -> tuple[Array, ...]:
        return self.p, 1.0 - self.p

    def _maximize(self, statistics: ColumnSums) -> dict[str, Array]:
        return {"p": statistics.sums[0] / statistics.sums.sum(axis=0)}

    def posterior(self, statistics: ColumnSums, prior: Any) -> Beta:
        prior = as_beta(prior)
        return Beta(prior.a + statistics.sums[0], prior.b + statistics.sums[1])

    def predictive(self, prior: Any) -> Bernoulli:
        """Return the distribution of the next observation under a Beta belief about p."""
        return self._at_mean(as_beta(prior))

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        p = self.p[labels]
        return rng.random(p.shape) < p

    def mean(self) -> Array:
        return np.array(self.p)

    def variance(self) -> Array:
        return self.p * (1.0 - self.p)

    def mode(self) -> Array:
        return (self.p > 0.5).astype(np.float64)

    def entropy(self, base: float | None = None) -> Array:
        return self._entropy_without_base(base)

    def to_scipy(self) -> Any:
        from scipy.stats import bernoulli

        return bernoulli(self.p)


@dataclass(frozen=True, eq=False, repr=False)
class Binomial(Bernoulli):
    r"""Heads in n tosses.

    .. math:: p(x) = \binom{n}{x} p^x (1-p)^{n-x}, \qquad x = 0, \dots, n

    ``ordered=True`` leaves the coefficient out: the likelihood of one particular sequence of tosses.

    Parameters
    ----------
    n : int
        Number of tosses behind every entry.
    p : array-like of shape (K, d), optional
        Probability of heads.
    ordered : bool, default False
        Whether the order of the tosses is known.
    fractional : bool, default False
        Whether counts may lie between the whole numbers.

    Examples
    --------
    >>> Binomial(3, 0.5).density([0, 1]).ravel()
    array([0.125, 0.375])
    >>> Binomial(3).fit([3, 0, 3, 0, 3]).p.round(6)
    array([[0.6]])
    """

    n: Any = 1
    p: Any = None
    ordered: bool = False
    fractional: bool = False

    def __init__(
        self,
        n: int = 1,
        p: ArrayLike | None = None,
        *,
        ordered: bool = False,
        fractional: bool = False,
        binarize: None = None,
    ) -> None:
        options = {"p": p, "binarize": binarize, "n": n, "ordered": ordered, "fractional": fractional}
        for name, value in options.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    def _check(self, X: Array) -> None:
        top = np.inf if self.fractional else self.n  # more heads than tosses are then impossible, no error
        require_counts(X, "Binomial", top=top, fractional=self.fractional)

    def _features(self, X: Array) -> tuple[Array, ...]:
        return X, np.maximum(self.n - X, 0.0)

    def _log_base(self, X: Array) -> Array | float:
        tails = np.maximum(self.n - X, 0.0)
        base = 0.0 if self.ordered else gammaln(self.n + 1.0) - log_factorial(X) - log_factorial(tails)
        return np.where(X > self.n, -np.inf, base)

    def _expected_features(self) -> tuple[Array, ...]:
        return self.n * self.p, self.n * (1.0 - self.p)

    def predictive(self, prior: Any) -> BetaBinomial:  # type: ignore[override]
        prior = as_beta(prior)
        return BetaBinomial(self.n, prior.a, prior.b)

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        return rng.binomial(int(self.n), self.p[labels])

    def mean(self) -> Array:
        return self.n * self.p

    def variance(self) -> Array:
        return self.n * self.p * (1.0 - self.p)

    def mode(self) -> Array:
        return np.minimum(np.floor((self.n + 1) * self.p), self.n)

    def entropy(self, base: float | None = None) -> Array:
        return Family.entropy(self, base)

    def to_scipy(self) -> Any:
        from scipy.stats import binom

        return binom(self.n, self.p)


@dataclass(frozen=True, eq=False, repr=False)
class Poisson(ColumnFamily):
    r"""Counts of rare events.

    .. math:: p(x) = e^{-\lambda} \lambda^x / x!, \qquad x = 0, 1, \dots

    The maximum-likelihood rate is the mean count; a `Gamma` prior gives the posterior mode. Rate 0 is the
    point mass at zero.

    Parameters
    ----------
    rate : array-like of shape (K, d), optional
        Expected count.
    fractional : bool, default False
        Whether counts may lie between the whole numbers.

    Examples
    --------
    >>> Poisson(2.5).log_density(4).round(6)
    array([[-2.012891]])
    >>> Poisson().fit([3, 5, 4]).rate
    array([[4.]])
    """

    rate: Any = None
    fractional: bool = False
    _parameters = ("rate",)
    _filler = 0.0

    def _check_parameters(self) -> None:
        self._require(np.isfinite(self.rate) & (self.rate >= 0), "rate", "finite and at least 0")

    def _check(self, X: Array) -> None:
        require_counts(X, "Poisson", fractional=self.fractional)

    def _features(self, X: Array) -> tuple[Array, ...]:
        return (X,)

    def _natural(self) -> tuple[tuple[Array, ...], Array]:
        return (log(self.rate),), self.rate

    def _log_base(self, X: Array) -> Array | float:
        return -log_factorial(X)

    def _expected_features(self) -> tuple[Array, ...]:
        return (self.rate,)

    def _maximize(self, statistics: ColumnSums) -> dict[str, Array]:
        return {"rate": statistics.sums[0] / statistics.weight}

    def posterior(self, statistics: ColumnSums, prior: Any) -> Gamma:
        return Gamma(prior.shape + statistics.sums[0], prior.rate + statistics.weight)

    def predictive(self, prior: Gamma) -> NegativeBinomial:
        """Return the distribution of the next count under a Gamma belief about the rate."""
        return NegativeBinomial(prior.shape, prior.rate / (prior.rate + 1.0))

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        return rng.poisson(self.rate[labels])

    def mean(self) -> Array:
        return np.array(self.rate)

    def variance(self) -> Array:
        return np.array(self.rate)

    def mode(self) -> Array:
        return np.floor(self.rate)

    def to_scipy(self) -> Any:
        from scipy.stats import poisson

        return poisson(self.rate)


@dataclass(frozen=True, eq=False, repr=False)
class Geometric(ColumnFamily):
    r"""Trials until the first success.

    .. math:: p(x) = p (1-p)^{x-1}, \qquad x = 1, 2, \dots

    Parameters
    ----------
    p : array-like of shape (K, d), optional
        Probability of success, above 0.

    Examples
    --------
    >>> Geometric().fit([1, 3, 2]).p
    array([[0.5]])
    """

    p: Any = None
    _parameters = ("p",)

    def _check_parameters(self) -> None:
        self._require((self.p > 0) & (self.p <= 1), "p", "above 0 and at most 1")

    def _check(self, X: Array) -> None:
        require_counts(X, "Geometric", bottom=1)

    def _features(self, X: Array) -> tuple[Array, ...]:
        return (X - 1.0,)

    def _natural(self) -> tuple[tuple[Array, ...], Array]:
        return (log(1.0 - self.p),), -log(self.p)

    def _expected_features(self) -> tuple[Array, ...]:
        return (1.0 / self.p - 1.0,)

    def _maximize(self, statistics: ColumnSums) -> dict[str, Array]:
        return {"p": statistics.weight / (statistics.weight + statistics.sums[0])}

    def posterior(self, statistics: ColumnSums, prior: Any) -> Beta:
        prior = as_beta(prior)
        return Beta(prior.a + statistics.weight, prior.b + statistics.sums[0])

    def predictive(self, prior: Any) -> BetaGeometric:
        """Return the distribution of the next number of trials under a Beta belief about p."""
        prior = as_beta(prior)
        return BetaGeometric(prior.a, prior.b)

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        return rng.geometric(self.p[labels])

    def mean(self) -> Array:
        return 1.0 / self.p

    def variance(self) -> Array:
        return (1.0 - self.p) / self.p**2

    def mode(self) -> Array:
        return np.ones_like(self.p)

    def entropy(self, base: float | None = None) -> Array:
        return self._entropy_without_base(base)

    def to_scipy(self) -> Any:
        from scipy.stats import geom

        return geom(self.p)
