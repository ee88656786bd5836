"""Gaussians on rows with missing entries: one pass for every pattern of holes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError, DegenerateError
from gnomon.distributions.base import Array
from gnomon.distributions.geometry import LOG_2PI
from gnomon.distributions.moments import FullMoments, patterns, recentered
from gnomon.loops import densities as loops

HUGE = 1e150  # entries beyond it may have squares that overflow


def incomplete_log_density(family: Any, X: Array, missing: Array) -> Array:
    """Return the log-density of the entries that are there, (n, K)."""
    if family._is_diagonal:
        z = np.where(missing[:, None, :], 0.0, (X[:, None, :] - family.means) / family.factors)  # one block
        constant = np.where(missing, 0.0, 1.0) @ (2.0 * np.log(family.factors) + LOG_2PI).T
        return -0.5 * (np.einsum("ikj,ikj->ik", z, z) + constant)
    out = np.empty((len(X), family.n_components))
    loops.pattern_log_density(X, *patterns(missing), family.means, family._stack(), out)
    if np.isnan(out).any():
        k = int(np.isnan(out).any(axis=0).argmax())
        if np.nanmax(np.abs(X)) > HUGE:
            raise DataError("X has entries so large that their squares overflow; scale its columns.")
        raise DegenerateError(
            f"covariance of component {k} is singular on observed entries; {family._cure()}"
        )
    return out


def completed_moments(family: Any, X: Array, missing: Array, weights: Array) -> FullMoments:
    """Return moments with missing entries at their conditional means, and their conditional covariances added."""
    if not family.fitted or family.covariances is None:
        raise DataError(
            "X has missing entries: a full covariance needs a current estimate to complete them. "
            "Use gnomon.mixture.MissingGaussian, or covariance_type='diag'."
        )
    K, d = family.means.shape
    first, second = np.zeros((K, d)), np.zeros((K, d, d))
    weights = np.ascontiguousarray(weights)
    loops.pattern_moments(X, *patterns(missing), weights, family.means, family._stack(), first, second)
    return recentered(weights.sum(axis=0)[:, None], first, second, family.means)
