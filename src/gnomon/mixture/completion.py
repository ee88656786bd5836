"""What a Gaussian mixture believes about the missing entries of a row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from gnomon.core.linalg import Array, cholesky, log_sum_exp
from gnomon.distributions.normal import Gaussian


class Completion(NamedTuple):
    """What is believed about missing entries; observed ones have no variance."""

    mean: Array  # (n, d)
    covariance: Array  # (n, d, d)


def completed(chunk: Any, family: Gaussian, log_weights: Array) -> tuple[Array, Array]:
    """Return the conditional mean and covariance of the missing entries of every row, given the others."""
    X = np.array(chunk.X, dtype=np.float64)
    n, d = X.shape
    covariance = np.zeros((n, d, d))
    missing = np.isnan(X)
    joint = family.log_density(X) + log_weights
    resp = np.exp(joint - log_sum_exp(joint)[:, None])
    for pattern in np.unique(missing[missing.any(axis=1)], axis=0):
        rows = np.flatnonzero((missing == pattern).all(axis=1))
        m, o = np.flatnonzero(pattern), np.flatnonzero(~pattern)
        means, spreads = conditionals(family, o, m, X[rows])
        center = np.einsum("ik,ikm->im", resp[rows], means)
        gaps = means - center[:, None, :]
        block = np.einsum("ik,kab->iab", resp[rows], spreads) + np.einsum(
            "ik,ika,ikb->iab", resp[rows], gaps, gaps
        )
        X[np.ix_(rows, m)] = center
        covariance[np.ix_(rows, m, m)] = block
    return X, covariance


def conditionals(family: Gaussian, o: Array, m: Array, X: Array) -> tuple[Array, Array]:
    """Means (n, K, |m|) and covariances (K, |m|, |m|) of columns m given columns o, under every component."""
    means, spreads = [], []
    for mean, C in zip(family.means, family.covariance_matrices(), strict=True):
        if len(o) == 0:
            means.append(np.tile(mean[m], (len(X), 1)))
            spreads.append(C[np.ix_(m, m)])
            continue
        L, _ = cholesky(C[np.ix_(o, o)], jitter=1e-12, what="covariance of the observed columns")
        half = linalg.solve_triangular(L, C[np.ix_(o, m)], lower=True)
        z = linalg.solve_triangular(L, (X[:, o] - mean[o]).T, lower=True)
        means.append(mean[m] + z.T @ half)
        spreads.append(C[np.ix_(m, m)] - half.T @ half)
    return np.stack(means, axis=1), np.stack(spreads)
