"""Generator of Gaussian mixtures: clusters, classes and overlapping populations."""

from __future__ import annotations

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.randomness import generator


def make_mixture(
    weights, means, covariances, n_samples: int = 100, *, random_state=None
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw rows from a mixture of Gaussians and the component each row came from.

    .. math:: z_i \sim \pi, \qquad x_i \mid z_i = k \sim N(\mu_k, \Sigma_k)

    Parameters
    ----------
    weights : array-like (k,)
        The probabilities of the components; they sum to one.
    means : array-like (k, d) or (k,)
        The means; a vector means one dimension.
    covariances : float or array-like
        One number (spherical, shared), k numbers (spherical), a (k, d) array (diagonal) or a (k, d, d) array
        (full). These are variances, not standard deviations.
    n_samples : int
        Number of rows.
    random_state : None, int, RandomState or Generator
        Where the randomness comes from.

    Returns
    -------
    X : ndarray (n_samples, d)
    labels : ndarray (n_samples,)

    Examples
    --------
    >>> X, labels = make_mixture([0.7, 0.3], [[0.0, 0.0], [9.0, 9.0]], 1.0, 1000, random_state=0)
    >>> X[labels == 1].mean(axis=0).round(), np.bincount(labels)
    (array([9., 9.]), array([678, 322]))
    """
    weights = np.asarray(weights, dtype=float)
    means = np.asarray(means, dtype=float)
    means = means[:, None] if means.ndim == 1 else means
    if weights.shape != (len(means),) or (weights < 0).any() or abs(weights.sum() - 1) > 1e-8:
        raise DataError(f"weights must be {len(means)} probabilities that sum to one, not {weights}")
    factors = _factors(np.asarray(covariances, dtype=float), *means.shape)
    rng = generator(random_state)
    labels = rng.choice(len(weights), size=n_samples, p=weights / weights.sum())
    X = rng.normal(size=(n_samples, means.shape[1]))
    for k, (mean, factor) in enumerate(zip(means, factors)):
        mine = labels == k
        X[mine] = mean + X[mine] @ factor.T
    return X, labels


def _factors(covariances: np.ndarray, k: int, d: int) -> np.ndarray:
    """Return a square root of every covariance: (k, d, d)."""
    if covariances.shape == (k, d, d):
        try:
            return np.linalg.cholesky(covariances)
        except np.linalg.LinAlgError:
            raise DataError("every covariance must be symmetric and positive definite") from None
    if covariances.ndim == 1 and len(covariances) == k:
        covariances = covariances[:, None]
    if covariances.shape not in {(), (k, 1), (k, d)}:
        raise DataError(
            f"covariances must be a number or of shape ({k},), ({k}, {d}) or ({k}, {d}, {d}), "
            f"not {covariances.shape}"
        )
    if (covariances < 0).any():
        raise DataError("variances must not be negative")
    return np.sqrt(np.broadcast_to(covariances, (k, d)))[:, :, None] * np.eye(d)
