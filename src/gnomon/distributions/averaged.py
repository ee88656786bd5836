"""Predictive distributions: waiting times and trials whose rate or probability is averaged out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln

from gnomon.distributions.base import Array, Family, as_rows


@dataclass(frozen=True, eq=False, repr=False)
class Lomax(Family):
    r"""The next waiting time under a Gamma belief about the rate: heavier in the tail than any exponential.

    .. math:: p(x) = \frac{a}{b} \left(1 + \frac{x}{b}\right)^{-a-1}, \qquad x \ge 0

    >>> Lomax(2.0, 3.0).log_density(1.5).round(6)
    array([[-1.62186]])
    """

    shape: Any = None
    rate: Any = None
    _parameters = ("shape", "rate")

    def log_density(self, X: ArrayLike) -> Array:
        X = as_rows(X, self.n_features)
        each = []
        for a, b in zip(self.shape, self.rate, strict=True):
            inside = np.log(a / b) - (a + 1.0) * np.log1p(np.maximum(X, 0.0) / b)
            each.append(np.where(np.isnan(X), 0.0, np.where(X < 0, -np.inf, inside)).sum(axis=1))
        return np.stack(each, axis=1)

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        return rng.pareto(self.shape[labels]) * self.rate[labels]

    def mean(self) -> Array:
        with np.errstate(divide="ignore"):
            return np.where(self.shape > 1, self.rate / (self.shape - 1.0), np.inf)

    def variance(self) -> Array:
        a = self.shape
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self.rate**2 * a / ((a - 1.0) ** 2 * (a - 2.0))
        return np.where(a > 2, found, np.inf)

    def mode(self) -> Array:
        return np.zeros_like(self.shape)

    def to_scipy(self) -> Any:
        from scipy.stats import lomax

        return lomax(self.shape, scale=self.rate)


@dataclass(frozen=True, eq=False, repr=False)
class BetaGeometric(Family):
    r"""The trials until the next success under a Beta belief about its probability.

    .. math:: p(x) = \frac{B(a + 1, b + x - 1)}{B(a, b)}, \qquad x = 1, 2, \dots

    >>> BetaGeometric(2.0, 3.0).density([[1.0], [2.0]]).round(6).T
    array([[0.4, 0.2]])
    """

    a: Any = None
    b: Any = None
    _parameters = ("a", "b")

    def log_density(self, X: ArrayLike) -> Array:
        X = as_rows(X, self.n_features)
        each = []
        for a, b in zip(self.a, self.b, strict=True):
            possible = (X >= 1) & (np.floor(X) == X)
            inside = betaln(a + 1.0, b + np.where(possible, X, 1.0) - 1.0) - betaln(a, b)
            each.append(np.where(np.isnan(X), 0.0, np.where(possible, inside, -np.inf)).sum(axis=1))
        return np.stack(each, axis=1)

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        p = rng.beta(self.a[labels], self.b[labels])
        return rng.geometric(np.maximum(p, 1e-18)).astype(np.float64)

    def mean(self) -> Array:
        with np.errstate(divide="ignore"):
            return np.where(self.a > 1, (self.a + self.b - 1.0) / (self.a - 1.0), np.inf)

    def variance(self) -> Array:
        a, b = self.a, self.b
        with np.errstate(divide="ignore", invalid="ignore"):
            found = a * b * (a + b - 1.0) / ((a - 1.0) ** 2 * (a - 2.0))
        return np.where(a > 2, found, np.inf)

    def mode(self) -> Array:
        return np.ones_like(self.a)
