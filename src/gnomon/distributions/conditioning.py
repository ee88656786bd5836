"""Conditioning: what a joint Gaussian says of the rest when some entries are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array

ROUNDING = 1e-12  # of the largest eigenvalue: below it a direction has no variance


def condition_gaussian(mean: Any, cov: Any, observed: Any = None, values: Any = None) -> tuple[Array, Array]:
    r"""Return mean and covariance of the entries that were not observed, given those that were.

    .. math:: \mu_a + \Sigma_{ab}\Sigma_{bb}^{-1}(x_b - \mu_b),\qquad
        \Sigma_{aa} - \Sigma_{ab}\Sigma_{bb}^{-1}\Sigma_{ba}

    Where :math:`\Sigma_{bb}` is singular, values that it allows are taken with its pseudo-inverse, others are an error.

    Parameters
    ----------
    mean : array of shape (d,)
    cov : array of shape (d, d)
        Symmetric, positive semi-definite.
    observed : indices or boolean mask, optional
        Which entries are known. Without it, `values` is a full vector with NaN for what is not.
    values : array
        Of the observed entries, in their order; or a full vector with NaN.

    Returns
    -------
    mean_a : array of shape (m,)
    cov_a : array of shape (m, m)
        Of the other entries, in their order; empty where all were observed.

    Examples
    --------
    >>> mean, cov = condition_gaussian([1.0, -1.0], [[2.0, 0.8], [0.8, 1.0]], [0], [2.0])
    >>> mean.round(6), cov.round(6)
    (array([-0.6]), array([[0.68]]))
    """
    mean, cov = np.asarray(mean, dtype=np.float64), np.asarray(cov, dtype=np.float64)
    d = len(mean)
    if cov.shape != (d, d):
        raise DataError(f"cov must have shape {(d, d)} for a mean of {d} entries; got {cov.shape}.")
    b, x = _known(d, observed, values)
    a = np.setdiff1d(np.arange(d), b)
    if not len(b):
        return mean.copy(), cov.copy()
    given, across, gap = cov[np.ix_(b, b)], cov[np.ix_(b, a)], x - mean[b]
    try:
        half = linalg.cholesky(given, lower=True)
        left = linalg.solve_triangular(half, across, lower=True)
        move = linalg.solve_triangular(half, gap, lower=True)
    except linalg.LinAlgError:
        left, move = _singular(given, across, gap)
    rest = cov[np.ix_(a, a)] - left.T @ left
    return mean[a] + left.T @ move, 0.5 * (rest + rest.T)


def _known(d: int, observed: Any, values: Any) -> tuple[Array, Array]:
    """Return which entries are known, and their values."""
    x = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if observed is None:
        if x.shape != (d,):
            raise DataError(f"values must be a full vector of {d} entries, NaN where unknown; got {x.shape}.")
        b = np.flatnonzero(~np.isnan(x))
        return b, x[b]
    b = np.atleast_1d(np.asarray(observed))
    b = np.flatnonzero(b) if b.dtype == bool else b.astype(np.int64)
    if len(b) and (b.min() < 0 or b.max() >= d or len(set(b.tolist())) < len(b)):
        raise DataError(f"observed must be different entries below {d}; got {b.tolist()}.")
    x = np.broadcast_to(x, b.shape)
    if np.isnan(x).any():
        raise DataError("values of observed entries must be numbers; leave out what is not known.")
    return b, x


def _singular(given: Array, across: Array, gap: Array) -> tuple[Array, Array]:
    """Return what the triangular solves would, in the directions that have variance."""
    spread, vectors = linalg.eigh(given)
    top = float(spread[-1])
    if spread[0] < -1e-8 * max(top, 1e-300):
        raise DegenerateError(
            f"covariance of the given columns is not positive definite: its smallest eigenvalue is {spread[0]:.3g}."
        )
    keep = spread > ROUNDING * top
    away = vectors[:, ~keep].T @ gap
    if np.abs(away).max(initial=0.0) > 1e-6 * max(np.abs(gap).max(), np.sqrt(max(top, 0.0))):
        raise DegenerateError(
            "covariance of the given columns is not positive definite (singular), and the values lie where the "
            "distribution has no mass: an exact relation between the observed entries is broken."
        )
    root = vectors[:, keep] / np.sqrt(spread[keep])
    return root.T @ across, root.T @ gap
