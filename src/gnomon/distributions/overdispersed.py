"""Counts that vary more than their mean says: negative binomial and beta-binomial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, digamma, gammaln, polygamma, xlog1py, xlogy

from gnomon.core.errors import DataError, DegenerateError
from gnomon.distributions.base import Array, Family, as_rows, in_base, keep_where_empty
from gnomon.distributions.columns import require_counts
from gnomon.distributions.kept_rows import KeptRows, keep


@dataclass(frozen=True, eq=False, repr=False)
class NegativeBinomial(Family):
    r"""Failures before the r-th success; the predictive distribution of Gamma–Poisson.

    .. math:: p(x) = \frac{\Gamma(x+r)}{\Gamma(r)\,x!} p^r (1-p)^x, \qquad x = 0, 1, \dots

    Overdispersed counts: the variance exceeds the mean. r need not be whole. The estimate is of maximum
    likelihood (Newton's method on r) and exists when the variance is above the mean.

    Parameters
    ----------
    r, p : array-like of shape (K, d), optional
        Number of successes waited for; probability of success.

    Examples
    --------
    >>> NegativeBinomial(14, 4 / 5).density([0, 4]).ravel().round(6)
    array([0.04398 , 0.167478])
    """

    r: Any = None
    p: Any = None
    _parameters = ("r", "p")

    def _check_parameters(self) -> None:
        self._require(self.r > 0, "r", "above 0")
        self._require((self.p > 0) & (self.p <= 1), "p", "above 0 and at most 1")

    def log_density(self, X: ArrayLike) -> Array:
        X = as_rows(X, self.n_features)
        require_counts(X[~np.isnan(X)][:, None], "NegativeBinomial")
        columns = []
        for r, p in zip(self.r, self.p, strict=True):
            terms = gammaln(X + r) - gammaln(r) - gammaln(X + 1.0) + xlogy(r, p) + xlog1py(X, -p)
            columns.append(np.where(np.isnan(X), 0.0, terms).sum(axis=1))
        return np.stack(columns, axis=1)

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> KeptRows:
        return keep(X, weights, self.n_features if self.fitted else None)

    def estimate(self, statistics: KeptRows, prior: Any = None) -> Self:
        if prior is not None:
            raise DataError("NegativeBinomial has no conjugate prior here; use prior=None.")
        r = statistics.each(_best_successes)
        mean = statistics.each(lambda x, w: w @ x / w.sum())
        empty = np.isnan(r)
        return self.replace(
            r=keep_where_empty(r, self.r, empty, "r"), p=keep_where_empty(r / (r + mean), self.p, empty, "p")
        )

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        return rng.negative_binomial(self.r[labels], self.p[labels])

    def mean(self) -> Array:
        return self.r * (1.0 - self.p) / self.p

    def variance(self) -> Array:
        return self.r * (1.0 - self.p) / self.p**2

    def mode(self) -> Array:
        return np.floor(np.maximum(self.r - 1.0, 0.0) * (1.0 - self.p) / self.p)

    def to_scipy(self) -> Any:
        from scipy.stats import nbinom

        return nbinom(self.r, self.p)


def _best_successes(x: Array, w: Array) -> float:
    """Maximum-likelihood r of a negative binomial with p profiled out, by Newton's method on ln r."""
    total = w.sum()
    mean = w @ x / total
    variance = w @ (x - mean) ** 2 / total
    if variance <= mean:
        raise DegenerateError(
            f"NegativeBinomial: the variance {variance:.4g} is not above the mean {mean:.4g}; use Poisson."
        )
    r = mean**2 / (variance - mean)
    for _ in range(100):
        gradient = w @ (digamma(x + r) - digamma(r)) / total - np.log1p(mean / r)
        curvature = w @ (polygamma(1, x + r) - polygamma(1, r)) / total + mean / (r * (r + mean))
        slope = r * gradient + r * r * curvature  # second derivative in ln r
        step = -gradient / slope * r if slope < 0 else np.sign(gradient)
        r *= np.exp(np.clip(step, -2.0, 2.0))
        if abs(step) < 1e-12:
            break
    return float(r)


@dataclass(frozen=True, eq=False, repr=False)
class BetaBinomial(Family):
    r"""Heads in n tosses of a coin whose bias is drawn from Beta(a, b).

    .. math:: p(x) = \binom{n}{x} \frac{B(a + x, b + n - x)}{B(a, b)}

    Parameters
    ----------
    n : int
        Number of tosses.
    a, b : array-like of shape (K, d)
        Parameters of the Beta distribution.

    Examples
    --------
    >>> BetaBinomial(2, 1, 1).density([0, 1, 2]).ravel().round(6)
    array([0.333333, 0.333333, 0.333333])
    """

    n: int
    a: Any
    b: Any
    _parameters = ("a", "b")

    def log_density(self, X: ArrayLike) -> Array:
        X = as_rows(X, self.n_features)
        require_counts(X, "BetaBinomial", top=self.n)
        choose = gammaln(self.n + 1.0) - gammaln(X + 1.0) - gammaln(self.n - X + 1.0)
        each = [
            (choose + betaln(a + X, b + self.n - X) - betaln(a, b)).sum(axis=1)
            for a, b in zip(self.a, self.b, strict=True)
        ]
        return np.stack(each, axis=1)

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        return rng.binomial(self.n, rng.beta(self.a[labels], self.b[labels]))

    def mean(self) -> Array:
        return self.n * self.a / (self.a + self.b)

    def variance(self) -> Array:
        return self.to_scipy().var()

    def mode(self) -> Array:
        support = np.arange(self.n + 1.0)[:, None, None]
        return self.to_scipy().logpmf(support).argmax(axis=0).astype(np.float64)

    def entropy(self, base: float | None = None) -> Array:
        terms = self.to_scipy().logpmf(np.arange(self.n + 1.0)[:, None, None])
        return in_base(-(np.exp(terms) * terms).sum(axis=(0, 2)), base)

    def to_scipy(self) -> Any:
        from scipy.stats import betabinom

        return betabinom(self.n, self.a, self.b)
