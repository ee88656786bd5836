"""The sample itself as a distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from gnomon.core.errors import DataError
from gnomon.distributions.base import Array, Family, as_rows, as_weights, in_base
from gnomon.distributions.counting import log


@dataclass(frozen=True, eq=False, repr=False)
class Empirical(Family):
    r"""The sample itself as a distribution.

    .. math:: p(x) = \sum_i w_i [x = x_i] / \sum_i w_i

    Parameters
    ----------
    support : array-like of shape (m, d), optional
        Distinct points.
    weights : array-like of shape (K, m), optional
        Their probabilities.

    Examples
    --------
    >>> Empirical().fit([2.0, 1.0, 2.0, 4.0]).density([2.0, 3.0]).ravel()
    array([0.5, 0. ])
    """

    support: Any = None
    weights: Any = None
    _parameters = ("weights", "support")

    def _promoted(self, given: dict[str, Any]) -> dict[str, Array]:
        support = np.array(as_rows(given["support"], None))
        weights = np.array(given.get("weights", np.full(len(support), 1.0 / len(support))), float, ndmin=2)
        if (
            weights.shape[1] != len(support)
            or np.any(weights < 0)
            or np.any(np.abs(weights.sum(axis=1) - 1) > 1e-8)
        ):
            raise DataError("Empirical: weights must be probabilities, one per point of the support.")
        return {"weights": weights, "support": support}

    @property
    def n_features(self) -> int:
        return self.support.shape[1]

    def _index(self, X: Array) -> Array:
        places = {tuple(row): i for i, row in enumerate(self.support.tolist())}
        return np.array([places.get(tuple(row), -1) for row in X.tolist()])

    def log_density(self, X: ArrayLike) -> Array:
        where = self._index(as_rows(X, self.n_features))
        return np.where(where[:, None] >= 0, log(self.weights.T[where]), -np.inf)

    def fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None, prior: Any = None) -> Empirical:
        X = as_rows(X, None)
        if len(X) == 0:
            raise DataError("Empirical.fit needs at least one row.")
        support, where = np.unique(X, axis=0, return_inverse=True)
        masses = [np.bincount(where.ravel(), w, len(support)) for w in as_weights(sample_weight, len(X)).T]
        return Empirical(support, np.stack([mass / mass.sum() for mass in masses]))

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        u, bars = rng.random(len(labels)), self.weights.cumsum(axis=1)
        bars /= bars[:, -1:]
        return self.support[
            [np.searchsorted(bars[k], v, side="right") for k, v in zip(labels, u, strict=True)]
        ]

    def mean(self) -> Array:
        return self.weights @ self.support

    def variance(self) -> Array:
        return np.stack([w @ (self.support - m) ** 2 for w, m in zip(self.weights, self.mean(), strict=True)])

    def mode(self) -> Array:
        return self.support[self.weights.argmax(axis=1)]

    def entropy(self, base: float | None = None) -> Array:
        return in_base(entr(self.weights).sum(axis=1), base)

    def cdf(self, X: ArrayLike) -> Array:
        X = as_rows(X, self.n_features)
        return np.stack([self.weights @ (self.support <= x).all(axis=1) for x in X])

    def quantile(self, q: float) -> Array:
        """Return the smallest point with at least mass q at or below it (one column)."""
        if self.n_features != 1:
            raise DataError("Empirical.quantile needs a single column.")
        order = self.support[:, 0].argsort()
        bars = self.weights[:, order].cumsum(axis=1)
        return np.stack(
            [self.support[order][np.searchsorted(b, q - 1e-15).clip(0, len(b) - 1)] for b in bars]
        )
