"""The Dirichlet distribution and its Newton solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln, polygamma

from gnomon.core.errors import DataError, DegenerateError
from gnomon.distributions.base import Array, Family, as_rows, as_weights, in_base, keep_where_empty


def inverse_digamma(y: Array) -> Array:
    """Solve ψ(x) = y for positive x."""
    x = np.where(y >= -2.22, np.exp(y) + 0.5, -1.0 / (y - digamma(1.0)))
    for _ in range(6):
        x = x - (digamma(x) - y) / polygamma(1, x)
    return x


def dirichlet_from_mean_logs(logs: Array) -> Array:
    """Solve ψ(α_v) − ψ(Σα) = mean ln p_v on the last axis: fixed-point steps, then Newton's method; NaN of NaN."""
    known = ~np.isnan(logs).any(axis=-1)
    if not known.all():  # no weight, no mean
        found = np.full(logs.shape, np.nan)
        if known.any():
            found[known] = dirichlet_from_mean_logs(logs[known])
        return found
    alpha = np.ones_like(logs)
    for _ in range(20):
        alpha = inverse_digamma(digamma(alpha.sum(axis=-1, keepdims=True)) + logs)
    for _ in range(200):
        whole = alpha.sum(axis=-1, keepdims=True)
        gradient = digamma(whole) - digamma(alpha) + logs
        q, z = -polygamma(1, alpha), polygamma(1, whole)
        shared = (gradient / q).sum(axis=-1, keepdims=True) / (
            1.0 / z + (1.0 / q).sum(axis=-1, keepdims=True)
        )
        step = (gradient - shared) / q
        new = alpha - step
        alpha, before = np.where(new > 0, new, alpha / 2.0), alpha
        if not np.all(np.isfinite(alpha)) or alpha.max() > 1e12:
            raise DegenerateError("Dirichlet: all rows are equal or on the border, so no estimate exists.")
        if np.all(np.abs(alpha - before) <= 1e-13 * before):
            break
    return alpha


class MeanLogs(NamedTuple):
    """Weight and weighted logarithms."""

    weight: Array  # (K,)
    logs: Array  # (K, V)


@dataclass(frozen=True, eq=False, repr=False)
class Dirichlet(Family):
    r"""Distribution over probability vectors; the conjugate prior of categorical and multinomial.

    .. math:: p(x) = \frac{\Gamma(\sum_v \alpha_v)}{\prod_v \Gamma(\alpha_v)} \prod_v x_v^{\alpha_v - 1}

    Large α concentrate near the mean, α below one near the corners. Two entries make a Beta distribution.
    Maximum likelihood by Newton's method.

    Parameters
    ----------
    alpha : array-like of shape (K, V), optional
        Concentrations. α_v = λ_v + 1 for a prior written as ∏ p_v^λ_v.

    Examples
    --------
    >>> prior = Dirichlet([2, 3, 5])
    >>> prior.mode().round(6)
    array([[0.142857, 0.285714, 0.571429]])
    >>> prior.log_density([0.2, 0.3, 0.5]).round(6)
    array([[2.140654]])
    """

    alpha: Any = None
    _parameters = ("alpha",)

    def _check_parameters(self) -> None:
        self._require(np.isfinite(self.alpha) & (self.alpha >= 0), "alpha", "finite and at least 0")

    @property
    def total(self) -> Array:
        """Σ_v α_v, shape (K,)."""
        return self.alpha.sum(axis=1)

    def log_density(self, X: ArrayLike) -> Array:
        X = as_rows(X, self.n_features)
        if np.isnan(X).any():
            raise DataError("Dirichlet: a row of probabilities cannot have missing entries.")
        if np.any(self.alpha == 0):
            raise DegenerateError(
                "Dirichlet with a zero concentration is improper: update it with data first."
            )
        outside = (X < 0).any(axis=1) | (np.abs(X.sum(axis=1) - 1.0) > 1e-8)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.maximum(X, 0.0))
            each = [np.where(a == 1, 0.0, (a - 1.0) * logs).sum(axis=1) for a in self.alpha]
        out = np.stack(each, axis=1) + (gammaln(self.total) - gammaln(self.alpha).sum(axis=1))
        out[outside] = -np.inf
        return out

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> MeanLogs:
        X = as_rows(X, self.n_features if self.fitted else None)
        weights = as_weights(weights, len(X))
        if np.any(X <= 0) or np.any(np.abs(X.sum(axis=1) - 1.0) > 1e-8):
            raise DataError("Dirichlet: rows must be positive and sum to one.")
        return MeanLogs(weights.sum(axis=0), weights.T @ np.log(X))

    def estimate(self, statistics: MeanLogs, prior: Any = None) -> Self:
        if prior is not None:
            raise DataError("Dirichlet has no conjugate prior here; use prior=None.")
        empty = np.broadcast_to(statistics.weight[:, None] <= 0, statistics.logs.shape)
        logs = statistics.logs / np.where(empty, np.nan, statistics.weight[:, None])
        return self.replace(
            alpha=keep_where_empty(dirichlet_from_mean_logs(logs), self.alpha, empty, "alpha")
        )

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        draws = rng.standard_gamma(self.alpha[labels])
        lost = draws.sum(axis=1) == 0  # tiny concentrations underflow: put the mass on one corner
        draws[lost, 0] = 1.0
        return draws / draws.sum(axis=1, keepdims=True)

    def mean(self) -> Array:
        return self.alpha / self.total[:, None]

    def variance(self) -> Array:
        mean = self.mean()
        return mean * (1.0 - mean) / (self.total[:, None] + 1.0)

    def mode(self) -> Array:
        """Return the mode; exponents below zero count as zero (the mode is on the border)."""
        up = np.maximum(self.alpha - 1.0, 0.0)
        whole = up.sum(axis=1, keepdims=True)
        if np.any(whole == 0):
            raise DegenerateError("Dirichlet with all α ≤ 1 has no unique mode; add data or use the mean.")
        return up / whole

    @property
    def interior(self) -> bool:
        """Whether every mode lies inside the simplex."""
        return bool(np.all(self.alpha > 1))

    def _log_normalizer(self) -> Array:
        return gammaln(self.alpha).sum(axis=1) - gammaln(self.total)

    def entropy(self, base: float | None = None) -> Array:
        A, V = self.total, self.n_features
        inner = ((self.alpha - 1.0) * digamma(self.alpha)).sum(axis=1)
        return in_base(self._log_normalizer() + (A - V) * digamma(A) - inner, base)

    def kl(self, other: Self) -> Array:
        logs = digamma(self.alpha) - digamma(self.total)[:, None]
        gap = (
            other._log_normalizer() - self._log_normalizer() + ((self.alpha - other.alpha) * logs).sum(axis=1)
        )
        return np.maximum(gap, 0.0)

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return central intervals of the entries (each one is Beta distributed)."""
        from scipy.stats import beta

        marginal = beta(self.alpha, self.total[:, None] - self.alpha)
        return marginal.ppf((1 - level) / 2), marginal.ppf((1 + level) / 2)

    def to_scipy(self) -> Any:
        """Return a single distribution of ``scipy.stats``."""
        from scipy.stats import dirichlet

        if self.n_components > 1:
            raise DataError("scipy.stats holds one Dirichlet at a time; select a component first.")
        return dirichlet(self.alpha[0])
