"""Reduced sets: a machine said with fewer vectors."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy import linalg, optimize, sparse

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.kernels.base import Kernel
from gnomon.kernels.stationary import RBF


def reduced_machine(model: Any, count: int, max_iter: int, tol: float) -> Any:
    """Return a copy of a machine of two classes with at most `count` support vectors."""
    if count < 1:
        raise DataError(f"n_vectors must be at least 1; got {count}.")
    if model._precomputed or model._of_things:
        raise DataError("a reduced set needs rows of numbers and a kernel of them; this machine has neither.")
    X = model.support_vectors_
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    c = np.ravel(model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_)
    kernel = model._fitted_kernel()
    Z, beta, path = shrink(kernel, X, c, count, max_iter, tol)
    fresh = copy.copy(model)
    fresh.__dict__ = dict(vars(model))
    before = kernel(X) @ c
    after = kernel(X, Z) @ beta
    fresh.support_vectors_ = Z
    fresh.support_ = np.arange(len(Z), dtype=np.int32)
    fresh.dual_coef_ = beta[None]
    fresh.intercept_ = model.intercept_ + float((before - after).mean())
    fresh.n_support_ = np.array([int((beta < 0).sum()), int((beta >= 0).sum())], dtype=np.int32)
    fresh._sparse_ = False
    fresh.reduction_error_, fresh.reduction_error_path_ = path[-1], np.array(path)
    return fresh


def shrink(
    kernel: Kernel, X: Array, c: Array, count: int, max_iter: int = 100, tol: float = 1e-8
) -> tuple[Array, Array, list[float]]:
    """Return vectors, coefficients and the error ‖Σ c φ(x) − Σ β φ(z)‖² after every vector.

    >>> Z, beta, error = shrink(RBF(np.sqrt(0.5)), np.array([[-0.5], [0.5]]), np.ones(2), 1)
    >>> (abs(Z.round(4)), beta.round(4), round(error[-1], 4))
    (array([[0.]]), array([1.5576]), 0.3096)
    """
    square = float(c @ kernel(X) @ c)
    if count >= len(X):
        return X.copy(), c.copy(), [0.0]
    smooth = isinstance(kernel, RBF)
    Z, beta, path = np.empty((0, X.shape[1])), np.empty(0), []
    for _ in range(count):
        z = _next_vector(kernel, X, c, Z, beta, max_iter, tol) if smooth else _best_of(kernel, X, c, Z, beta)
        trial = np.vstack([Z, z])
        if smooth:
            trial = _together(kernel, X, c, trial, max_iter)
        fitted, error = refit(kernel, X, c, trial, square)
        if path and error > path[-1]:  # rounding: keep what was better
            trial = np.vstack([Z, _best_of(kernel, X, c, Z, beta)])
            fitted, error = refit(kernel, X, c, trial, square)
        Z, beta = trial, fitted
        path.append(min(error, path[-1]) if path else error)
    return Z, beta, path


def refit(kernel: Kernel, X: Array, c: Array, Z: Array, square: float) -> tuple[Array, float]:
    """Return the best coefficients of given vectors and the error left."""
    K, right = kernel(Z), kernel(Z, X) @ c
    beta = linalg.lstsq(K, right, cond=1e-13)[0]
    return beta, max(0.0, square - 2.0 * float(beta @ right) + float(beta @ K @ beta))


def _centers(X: Array, c: Array, Z: Array, beta: Array) -> tuple[Array, Array]:
    return np.vstack([X, Z]), np.concatenate([c, -beta])


def _best_of(kernel: Kernel, X: Array, c: Array, Z: Array, beta: Array) -> Array:
    """Return the support vector along which the residual is longest."""
    points, weights = _centers(X, c, Z, beta)
    score = np.abs(kernel(X, points) @ weights) / np.sqrt(np.maximum(kernel.diag(X), 1e-300))
    return X[int(np.argmax(score))][None]


def _next_vector(kernel: Any, X: Array, c: Array, Z: Array, beta: Array, max_iter: int, tol: float) -> Array:
    """Return the fixed point of weighted means that starts at the best center."""
    points, weights = _centers(X, c, Z, beta)
    best, most = _best_of(kernel, X, c, Z, beta)[0], -1.0
    starts = X[np.argsort(-np.abs(kernel(X, points) @ weights))[:3]]
    for z in starts:
        for _ in range(max_iter):
            pull = weights * kernel(z[None], points)[0]
            if abs(pull.sum()) <= 1e-10 * np.abs(pull).sum():
                break
            moved = pull @ points / pull.sum()
            if not np.isfinite(moved).all() or np.abs(moved - z).max() <= tol * (1.0 + np.abs(z).max()):
                break
            z = moved
        found = abs(float(kernel(z[None], points)[0] @ weights))
        if found > most:
            best, most = z, found
    return best[None]


def _together(kernel: Any, X: Array, c: Array, Z: Array, max_iter: int) -> Array:
    """Move all vectors at once to lower the error, their coefficients being the best of every moment."""
    shape, scale = Z.shape, np.asarray(kernel.length_scale, dtype=float) ** 2

    def loss(flat: Array) -> tuple[float, Array]:
        z = flat.reshape(shape)
        K, cross = kernel(z), kernel(z, X)
        right = cross @ c
        beta = linalg.lstsq(K, right, cond=1e-12)[0]
        own, other = beta[:, None] * K * beta, beta[:, None] * cross * c
        slope = -2.0 * (own.sum(axis=1)[:, None] * z - own @ z) + 2.0 * (
            other.sum(axis=1)[:, None] * z - other @ X
        )
        return float(-beta @ right), (slope / scale).ravel()

    found = optimize.minimize(
        loss, Z.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": max_iter, "ftol": 1e-15}
    )
    return found.x.reshape(shape) if found.fun <= loss(Z.ravel())[0] else Z
