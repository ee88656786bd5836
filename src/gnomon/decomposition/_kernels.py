"""Kernel matrices by scikit-learn's names, and their centering in feature space."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from gnomon.core.linalg import Array

KERNELS = ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2", "additive_chi2")


def kernel_matrix(
    X: Any, Y: Any, kernel: Any, gamma: Any, degree: float, coef0: float, params: dict[str, Any] | None
) -> Array:
    """K[i, j] = k(x_i, y_j) for a kernel given by name or as a function of two matrices (or two rows)."""
    if callable(kernel):
        options = params or {}
        return np.asarray(pairwise_kernels(X, Y, metric=kernel, **options), dtype=np.float64)
    width = gamma if gamma is not None else 1.0 / X.shape[1]
    if kernel == "rbf" and not sparse.issparse(X) and not sparse.issparse(Y):
        return rbf(X, Y, width)
    options = {"gamma": width, "degree": degree, "coef0": coef0}
    return np.asarray(pairwise_kernels(X, Y, metric=kernel, filter_params=True, **options), dtype=np.float64)


def rbf(X: Array, Y: Array, gamma: float) -> Array:
    """exp(−γ‖x − y‖²), about a point near the rows so that shifts cost no digits."""
    center = Y.mean(axis=0)
    same = X is Y
    X, Y = X - center, Y - center
    half = 0.5 * (Y * Y).sum(axis=1)
    mine = half if same else 0.5 * (X * X).sum(axis=1)
    K = X @ Y.T
    K -= half
    K -= mine[:, None]
    K *= 2.0 * gamma
    np.minimum(K, 0.0, out=K)
    np.exp(K, out=K)
    if same:
        np.fill_diagonal(K, 1.0)
    return K


def kernel_diagonal(X: Any, kernel: Any, gamma: Any, degree: float, coef0: float, params: Any) -> Array:
    """k(x_i, x_i) of every row."""
    if kernel in ("rbf", "laplacian", "cosine"):
        return np.ones(X.shape[0])
    if kernel in ("linear", "poly", "sigmoid"):
        width = gamma if gamma is not None else 1.0 / X.shape[1]
        squares = np.asarray(
            X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X), dtype=np.float64
        ).ravel()
        if kernel == "linear":
            return squares
        inner = width * squares + coef0
        return inner**degree if kernel == "poly" else np.tanh(inner)
    rows = [
        kernel_matrix(X[i : i + 1], X[i : i + 1], kernel, gamma, degree, coef0, params)
        for i in range(X.shape[0])
    ]
    return np.array([float(K[0, 0]) for K in rows])


def centered_kernel(K: Array) -> tuple[Array, Array, float]:
    """H K H with H = I − 11ᵀ/n, and the column means and grand mean that new rows are centered by."""
    means = K.mean(axis=0)
    grand = float(means.mean())
    return K - means - means[:, None] + grand, means, grand
