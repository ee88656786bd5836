"""What can be done with Gaussians: marginals, conditionals, linear maps, whitening, contours, divergences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from gnomon.core.errors import DataError
from gnomon.distributions.base import Array, Family, as_rows, in_base
from gnomon.distributions.conditioning import condition_gaussian

LOG_2PI = float(np.log(2.0 * np.pi))


class Geometry(Family):
    """The methods of `Gaussian` that neither learn nor evaluate its density."""

    means: Any
    factors: Any
    whiteners: Any
    _is_diagonal: bool
    covariance_matrices: Any
    log_determinants: Any
    mahalanobis: Any
    precisions: Any

    def marginal(self, columns: ArrayLike) -> Self:
        """Return the distribution of the chosen columns."""
        c = np.atleast_1d(np.asarray(columns))
        if self._is_diagonal:
            return type(self)(self.means[:, c], self.variance()[:, c], covariance_type="diag")
        return type(self)(self.means[:, c], self.covariance_matrices()[:, c[:, None], c])

    def condition(self, columns: Sequence[int], values: ArrayLike) -> Self:
        """Return the distribution of the other columns given that `columns` have these values.

        μ_a + Σ_ab Σ_bb⁻¹ (x_b − μ_b) and Σ_aa − Σ_ab Σ_bb⁻¹ Σ_ba.
        """
        b = np.atleast_1d(np.asarray(columns))
        a = np.setdiff1d(np.arange(self.n_features), b)
        if len(a) == 0:
            raise DataError("condition: at least one column must be left.")
        values = np.broadcast_to(np.asarray(values, dtype=np.float64), b.shape)
        pairs = [
            condition_gaussian(mean, C, b, values)
            for mean, C in zip(self.means, self.covariance_matrices(), strict=True)
        ]
        means, matrices = (np.stack(part) for part in zip(*pairs, strict=True))
        return type(self)(means, matrices)

    def transform(self, A: ArrayLike, b: ArrayLike = 0.0) -> Self:
        """Return the distribution of A x + b, which is N(Aμ + b, A Σ Aᵀ)."""
        A = np.atleast_2d(np.asarray(A, dtype=np.float64))
        matrices = A @ self.covariance_matrices() @ A.T
        return type(self)(self.means @ A.T + b, (matrices + np.swapaxes(matrices, 1, 2)) / 2.0)

    def whiten(self, X: ArrayLike) -> Array:
        """Return L⁻¹(x − μ) of a single distribution: rows with mean zero and unit covariance."""
        if self.n_components != 1:
            raise DataError("whiten needs a single distribution; select a component first.")
        W = self.whiteners[0]
        Z = as_rows(X, self.n_features) - self.means[0]
        return Z * W if W.ndim == 1 else Z @ W.T

    def ellipse(self, level: float = 0.95, n_points: int = 100) -> Array:
        """Return points on the contour that encloses `level` of the mass of two columns: (K, n_points, 2)."""
        if self.n_features != 2:
            raise DataError("ellipse needs two columns; take a marginal first.")
        angle = np.linspace(0.0, 2.0 * np.pi, n_points)
        circle = np.stack([np.cos(angle), np.sin(angle)]) * np.sqrt(-2.0 * np.log1p(-level))
        L = np.stack([np.diag(f) for f in self.factors]) if self._is_diagonal else self.factors
        return self.means[:, None, :] + np.swapaxes(L @ circle, 1, 2)

    def mean(self) -> Array:
        return np.array(self.means)

    def mode(self) -> Array:
        return np.array(self.means)

    def entropy(self, base: float | None = None) -> Array:
        return in_base(0.5 * (self.n_features * (1.0 + LOG_2PI) + self.log_determinants), base)

    def kl(self, other: Self) -> Array:
        K = max(self.n_components, other.n_components)
        ours, theirs = self.select([0] * K if self.n_components == 1 else slice(None)), other
        theirs = other.select([0] * K) if other.n_components == 1 else other
        distance = np.array([theirs.select(k).mahalanobis(ours.means[k])[0, 0] for k in range(K)])
        P = theirs.precisions()
        P = np.stack([np.diag(p) for p in P]) if P.ndim == 2 else P
        trace = np.einsum("kab,kba->k", P, ours.covariance_matrices())
        gap = trace + distance - self.n_features + theirs.log_determinants - ours.log_determinants
        return np.maximum(0.5 * gap, 0.0)

    def quantile(self, q: float) -> Array:
        from scipy.special import ndtri

        return self.means + np.sqrt(self.variance()) * ndtri(q)

    def cdf(self, X: ArrayLike) -> Array:
        X = as_rows(X, self.n_features)
        if self._is_diagonal or self.n_features == 1:
            from scipy.special import ndtr

            return ndtr((X[:, None, :] - self.means) / np.sqrt(self.variance())).prod(axis=-1)
        one = [self.select(k).to_scipy() for k in range(self.n_components)]
        return np.stack([np.atleast_1d(scipy_one.cdf(X)) for scipy_one in one], axis=1)

    def to_scipy(self) -> Any:
        """Return independent normals for diagonal types or one column, else one multivariate normal."""
        from scipy.stats import multivariate_normal, norm

        if self._is_diagonal or self.n_features == 1:
            return norm(self.means, np.sqrt(self.variance()))
        if self.n_components > 1:
            raise DataError("scipy.stats holds one multivariate normal at a time; select a component first.")
        return multivariate_normal(self.means[0], self.covariance_matrices()[0])
