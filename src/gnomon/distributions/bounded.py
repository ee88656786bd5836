"""Families on an interval: beta and uniform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, digamma

from gnomon.core.errors import DataError, DegenerateError
from gnomon.distributions.base import Array, Family, as_rows, as_weights, in_base, keep_where_empty
from gnomon.distributions.columns import ColumnFamily, ColumnSums
from gnomon.distributions.positive import nan_at_edges, unless
from gnomon.distributions.simplex import dirichlet_from_mean_logs


@dataclass(frozen=True, eq=False, repr=False)
class Beta(ColumnFamily):
    r"""Beta distribution on the unit interval; the conjugate prior of a probability.

    .. math:: p(x) = \frac{x^{a-1} (1-x)^{b-1}}{B(a, b)}, \qquad 0 < x < 1

    Maximum likelihood by Newton's method. a = 0 or b = 0 is the improper limit: it can be updated, not
    evaluated.

    Parameters
    ----------
    a, b : array-like of shape (K, d), optional
        Pseudo-counts of ones and zeros, plus one each against the exponents.

    Examples
    --------
    >>> Beta(2, 3).mean(), Beta(2, 2).mode()
    (array([[0.4]]), array([[0.5]]))
    """

    a: Any = None
    b: Any = None
    _parameters = ("a", "b")
    _filler = 0.5

    def _check_parameters(self) -> None:
        self._require(self.a >= 0, "a", "at least 0")
        self._require(self.b >= 0, "b", "at least 0")

    def _features(self, X: Array) -> tuple[Array, ...]:
        inside = np.clip(X, 0.0, 1.0)
        return np.log(inside), np.log1p(-inside)

    def _natural(self) -> tuple[tuple[Array, ...], Array]:
        if np.any((self.a == 0) | (self.b == 0)):
            raise DegenerateError("Beta with a = 0 or b = 0 is improper: update it with data first.")
        return (self.a - 1.0, self.b - 1.0), betaln(self.a, self.b)

    def _log_base(self, X: Array) -> Array:
        return unless((X < 0) | (X > 1))

    def _expected_features(self) -> tuple[Array, ...]:
        whole = digamma(self.a + self.b)
        return digamma(self.a) - whole, digamma(self.b) - whole

    def log_density(self, X: ArrayLike) -> Array:
        with np.errstate(invalid="ignore"):
            return nan_at_edges(super().log_density(X), self.to_scipy, X, self.n_features)

    def _maximize(self, statistics: ColumnSums) -> dict[str, Array]:
        logs = np.moveaxis(statistics.sums / statistics.weight, 0, -1)  # (K, d, 2)
        a, b = np.moveaxis(dirichlet_from_mean_logs(logs), -1, 0)
        return {"a": a, "b": b}

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        return rng.beta(self.a[labels], self.b[labels])

    def mean(self) -> Array:
        return self.a / (self.a + self.b)

    def variance(self) -> Array:
        total = self.a + self.b
        return self.a * self.b / (total**2 * (total + 1.0))

    def mode(self) -> Array:
        """Return the mode; on the border it is 0 or 1, and without a unique one it is an error."""
        up, down = np.maximum(self.a - 1.0, 0.0), np.maximum(self.b - 1.0, 0.0)
        if np.any(up + down == 0):
            raise DegenerateError("Beta with a ≤ 1 and b ≤ 1 has no unique mode; add data or use the mean.")
        return up / (up + down)

    @property
    def interior(self) -> bool:
        """Whether every mode lies strictly between 0 and 1."""
        return bool(np.all((self.a > 1) & (self.b > 1)))

    def entropy(self, base: float | None = None) -> Array:
        return self._entropy_without_base(base)

    def to_scipy(self) -> Any:
        from scipy.stats import beta

        return beta(self.a, self.b)


class Range(NamedTuple):
    """Smallest and largest entry that carries weight."""

    low: Array  # (K, d)
    high: Array

    def merge(self, other: Range) -> Range:
        return Range(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


@dataclass(frozen=True, eq=False, repr=False)
class Uniform(Family):
    r"""Constant density on an interval.

    .. math:: p(x) = 1/(b - a), \qquad a \le x \le b

    The maximum-likelihood interval is the range of the sample.

    Parameters
    ----------
    low, high : array-like of shape (K, d), optional
        Ends of the interval.

    Examples
    --------
    >>> Uniform().fit([1.0, 4.0, 2.0]).density([3.0, 5.0]).ravel().round(6)
    array([0.333333, 0.      ])
    """

    low: Any = None
    high: Any = None
    _parameters = ("low", "high")

    def _check_parameters(self) -> None:
        self._require(self.high >= self.low, "high", "at least low")

    def log_density(self, X: ArrayLike) -> Array:
        X = as_rows(X, self.n_features)
        if np.any(self.high == self.low):
            raise DegenerateError("Uniform: an interval of length zero has no density.")
        inside = [~((X < a) | (X > b)) for a, b in zip(self.low, self.high, strict=True)]
        each = [
            np.where(np.isnan(X), 0.0, -np.log(b - a)).sum(axis=1) + unless(~ok.all(axis=1))
            for a, b, ok in zip(self.low, self.high, inside, strict=True)
        ]
        return np.stack(each, axis=1)

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> Range:
        X = as_rows(X, self.n_features if self.fitted else None)
        rows = [np.where((w > 0)[:, None] & ~np.isnan(X), X, np.nan) for w in as_weights(weights, len(X)).T]
        low = np.stack([np.fmin.reduce(r, axis=0, initial=np.inf) for r in rows])
        high = np.stack([np.fmax.reduce(r, axis=0, initial=-np.inf) for r in rows])
        return Range(low, high)

    def estimate(self, statistics: Range, prior: Any = None) -> Self:
        if prior is not None:
            raise DataError("Uniform has no conjugate prior here; use prior=None.")
        empty = statistics.low > statistics.high
        return self.replace(
            low=keep_where_empty(statistics.low, self.low, empty, "low"),
            high=keep_where_empty(statistics.high, self.high, empty, "high"),
        )

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        return rng.uniform(self.low[labels], self.high[labels])

    def mean(self) -> Array:
        return (self.low + self.high) / 2.0

    def variance(self) -> Array:
        return (self.high - self.low) ** 2 / 12.0

    def mode(self) -> Array:
        return self.mean()

    def entropy(self, base: float | None = None) -> Array:
        return in_base(np.log(self.high - self.low).sum(axis=1), base)

    def kl(self, other: Self) -> Array:
        inside = (self.low >= other.low) & (self.high <= other.high)
        ratio = np.log(other.high - other.low) - np.log(self.high - self.low)
        return np.where(inside, ratio, np.inf).sum(axis=1)

    def to_scipy(self) -> Any:
        from scipy.stats import uniform

        return uniform(self.low, self.high - self.low)
