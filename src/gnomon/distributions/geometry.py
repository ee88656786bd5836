"""What can be done with Gaussians: marginals, conditionals, linear maps, whitening, contours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from gnomon.core.errors import DataError
from gnomon.core.linalg import cholesky
from gnomon.distributions.base import Array, Family, as_rows


class Geometry(Family):
    """The geometric methods of `Gaussian`."""

    means: Any
    factors: Any
    whiteners: Any
    _is_diagonal: bool
    covariance_matrices: Any

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
        means, matrices = [], []
        for mean, C in zip(self.means, self.covariance_matrices(), strict=True):
            L, _ = cholesky(C[np.ix_(b, b)], what="covariance of the given columns")
            half = linalg.solve_triangular(L, C[np.ix_(b, a)], lower=True)
            means.append(mean[a] + half.T @ linalg.solve_triangular(L, values - mean[b], lower=True))
            matrices.append(C[np.ix_(a, a)] - half.T @ half)
        return type(self)(np.stack(means), np.stack([(C + C.T) / 2.0 for C in matrices]))

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
