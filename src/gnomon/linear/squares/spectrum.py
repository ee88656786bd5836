"""Ridge for many penalties from one decomposition of the moments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.linear._rules import listed_penalties
from gnomon.linear.squares.least_squares import check_moments
from gnomon.linear.squares.moments import LinearSums, sum_moments
from gnomon.linear.squares.normal import EPS, as_columns, center_rows
from gnomon.linear.squares.ridge import Ridge


class Spectrum(NamedTuple):
    """Eigenvalues e of XᵀX, eigenvectors V, and VᵀXᵀy: all a ridge path needs."""

    e: Array  # (r,) positive
    V: Array  # (d, r)
    c: Array  # (r, t)

    def coef(self, alphas: Array) -> Array:
        """Return (d, t, A) coefficients."""
        shrunk = self.c[:, :, None] / (self.e[:, None] + alphas)[:, None, :]
        return np.tensordot(self.V, shrunk, axes=1)

    def dof(self, alphas: Array) -> Array:
        """Return Σ e/(e + α) for each penalty."""
        return (self.e[:, None] / (self.e[:, None] + alphas)).sum(axis=0)


def spectrum(view: LinearSums) -> Spectrum:
    """Decompose the Gram matrix; directions without data are left out, as the shortest solution asks."""
    e, V = linalg.eigh(view.xx)
    kept = e > 1e-14 * max(float(e[-1]), 0.0) * len(e)
    V = V[:, kept]
    return Spectrum(e[kept], V, V.T @ as_columns(view.xy))


def spectrum_of_rows(rows: Any, view: LinearSums, intercept: bool) -> Spectrum:
    """Decompose the rows where they are fewer than the columns, which is less work and squares nothing."""
    if not rows.in_memory or rows.sparse or rows.n_rows >= rows.n_features:
        return spectrum(view)
    data = center_rows(rows, intercept=intercept)
    U, s, Vt = linalg.svd(data.dense(), full_matrices=False)
    kept = s > EPS * rows.n_features * s.max(initial=0.0)
    U, s, Vt = U[:, kept], s[kept], Vt[kept]
    return Spectrum(s * s, Vt.T, s[:, None] * (U.T @ data.target))


class RidgePath(NamedTuple):
    """Coefficients, intercepts, degrees of freedom and training errors along the penalties."""

    alphas: Array  # (A,)
    coefs: Array  # (d, A), or (t, d, A) with several targets
    intercepts: Array  # (A,) or (t, A)
    dofs: Array  # (A,)
    train_errors: Array  # (A,) or (t, A): mean squared error


def ridge_path(
    X: Any, y: Any, alphas: Any, *, fit_intercept: bool = True, sample_weight: Any = None
) -> RidgePath:
    r"""Return ridge solutions for many penalties from one decomposition.

    .. math:: w(\alpha) = V \operatorname{diag}\Bigl(\frac{1}{e + \alpha}\Bigr) V^\top X^\top y

    with the eigenvalues e and eigenvectors V of the centered XᵀX. After it, a penalty costs O(d²).

    Parameters
    ----------
    X, y, sample_weight
        As in `Ridge.fit`.
    alphas : array of shape (A,)
        Penalties, at least 0.
    fit_intercept : bool

    Examples
    --------
    >>> X, y = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]], [1.0, 2.0, 3.0, 5.0]
    >>> ridge_path(X, y, [1.0, 10.0]).coefs.round(4)
    array([[1.0556, 0.4028],
           [0.0556, 0.1528]])
    """
    alphas = check_alphas(alphas)
    sums = sum_moments(Ridge()._read(X, y, sample_weight))
    check_moments(sums)
    view = sums if fit_intercept else sums.without_centering()
    path = spectrum(view)
    coef = path.coef(alphas)
    intercept = np.atleast_1d(view.mean_y)[:, None] - np.tensordot(view.mean_x, coef, axes=1)
    losses = losses_of(sums, coef, intercept) / sums.weight
    if np.ndim(sums.mean_y) == 0:
        return RidgePath(alphas, coef[:, 0], intercept[0], path.dof(alphas), losses[0])
    return RidgePath(alphas, coef.transpose(1, 0, 2), intercept, path.dof(alphas), losses)


def check_alphas(alphas: Any) -> Array:
    """Return the penalties as a vector, or say what is wrong."""
    values = listed_penalties(alphas)
    if not len(values):
        raise DataError("alphas is empty; give at least one penalty.")
    if not np.isfinite(values).all():
        raise DataError("alphas must be finite; one is infinite.")
    return values


def losses_of(sums: LinearSums, coef: Array, intercept: Array) -> Array:
    """Return (t, A) sums of squared errors of (d, t, A) coefficients on the rows behind the moments."""
    xy, yy = as_columns(sums.xy), np.atleast_1d(sums.yy)
    curved = np.einsum("dta,dta->ta", coef, np.tensordot(sums.xx, coef, axes=1) - 2.0 * xy[:, :, None])
    offset = np.atleast_1d(sums.mean_y)[:, None] - np.tensordot(sums.mean_x, coef, axes=1) - intercept
    return np.maximum(yy[:, None] + curved, 0.0) + sums.weight * offset * offset
