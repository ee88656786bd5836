"""How kernels between two sets of rows change with their hyper-parameters, summed with weights.

Sums, products, constants and kernels of a distance have formulas; every other kernel is moved a little.
A WhiteKernel is noise: it is an addend, and says nothing about two different rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as theirs

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.kernels import RBF, ConstantKernel, Matern, Product, Sum, WhiteKernel
from gnomon.kernels.base import is_free
from gnomon.kernels.tiles import dense

SUMS, PRODUCTS = (Sum, theirs.Sum), (Product, theirs.Product)
WHITE, CONSTANT = (WhiteKernel, theirs.WhiteKernel), (ConstantKernel, theirs.ConstantKernel)
MOVE = 1e-5  # of a logarithm


def noise_level(kernel: Any) -> float:
    """Return the variance of the noise in a kernel: that of its white addends."""
    if isinstance(kernel, WHITE):
        return float(kernel.noise_level)
    if isinstance(kernel, SUMS):
        return noise_level(kernel.k1) + noise_level(kernel.k2)
    if _has_white(kernel):
        raise DataError(
            "inducing points need a WhiteKernel that is added to the rest, not multiplied with it."
        )
    return 0.0


def _has_white(kernel: Any) -> bool:
    parts = [getattr(kernel, name) for name in ("k1", "k2", "kernel") if hasattr(kernel, name)]
    return isinstance(kernel, WHITE) or any(_has_white(part) for part in parts)


def noise_gradient(kernel: Any) -> Array:
    """Return ∂σ²/∂θ."""
    if isinstance(kernel, WHITE):
        return np.full(kernel.n_dims, float(kernel.noise_level))
    if isinstance(kernel, SUMS):
        return np.concatenate([noise_gradient(kernel.k1), noise_gradient(kernel.k2)])
    return np.zeros(kernel.n_dims)


def signal_diagonal(kernel: Any, X: Any) -> Array:
    """Return k(x, x) without noise."""
    return kernel.diag(X) - noise_level(kernel)


def diagonal_gradient(kernel: Any, X: Any, w: Array) -> Array:
    """Return Σ w_i ∂k(x_i, x_i)/∂θ without noise."""
    if isinstance(kernel, WHITE) or kernel.n_dims == 0:
        return np.zeros(kernel.n_dims)
    if isinstance(kernel, SUMS):
        return np.concatenate([diagonal_gradient(kernel.k1, X, w), diagonal_gradient(kernel.k2, X, w)])
    if isinstance(kernel, PRODUCTS):
        first, second = kernel.k1.diag(X), kernel.k2.diag(X)
        parts = diagonal_gradient(kernel.k1, X, w * second), diagonal_gradient(kernel.k2, X, w * first)
        return np.concatenate(parts)
    if isinstance(kernel, CONSTANT):
        return np.array([float(kernel.constant_value * w.sum())])
    if isinstance(kernel, RBF | Matern):
        return np.zeros(kernel.n_dims)
    return _moved(kernel, lambda k: float(w @ k.diag(X)))


def cross_gradient(kernel: Any, A: Any, B: Any, W: Array) -> Array:
    """Return Σ W_ij ∂k(a_i, b_j)/∂θ for rows that are different, whatever their values."""
    if isinstance(kernel, WHITE) or kernel.n_dims == 0:
        return np.zeros(kernel.n_dims)
    if isinstance(kernel, SUMS):
        return np.concatenate([cross_gradient(kernel.k1, A, B, W), cross_gradient(kernel.k2, A, B, W)])
    if isinstance(kernel, PRODUCTS):
        parts = []
        for part, other in ((kernel.k1, kernel.k2), (kernel.k2, kernel.k1)):
            if part.n_dims:
                parts.append(cross_gradient(part, A, B, W * other(A, _other(A, B))))
        return np.concatenate(parts)
    if isinstance(kernel, CONSTANT):
        return np.array([float(kernel.constant_value * W.sum())])
    if isinstance(kernel, RBF | Matern):
        return _lengths(kernel, A, B, W)
    return _moved(kernel, lambda k: float(np.vdot(W, k(A, _other(A, B)))))


def _other(A: Any, B: Any) -> Any:
    return B.copy() if B is A else B


def _lengths(kernel: Any, A: Any, B: Any, W: Array) -> Array:
    """Σ_ij M_ij (a_i − b_j)² of every column is Σ_i r_i a_i² + Σ_j c_j b_j² − 2 aᵀM b."""
    if not is_free(kernel, "length_scale"):
        return np.zeros(0)
    squares = kernel._squares(A, B, False)
    if np.size(kernel.length_scale) == 1:
        return np.array([float(np.vdot(W, kernel._slope(squares.copy()) * squares))])
    M = kernel._slope(squares)
    M *= W
    a, b = dense(kernel._scaled(A)), dense(kernel._scaled(B))
    center = a.mean(axis=0)
    a, b = a - center, b - center
    return M.sum(axis=1) @ a**2 + M.sum(axis=0) @ b**2 - 2.0 * np.einsum("ij,ij->j", a, M @ b)


def _moved(kernel: Any, value: Any) -> Array:
    """Return the derivative by every θ from values a little to both sides."""
    theta, found = kernel.theta, np.empty(kernel.n_dims)
    for j in range(len(theta)):
        aside = np.zeros(len(theta))
        aside[j] = MOVE
        ahead, behind = (
            value(kernel.clone_with_theta(theta + aside)),
            value(kernel.clone_with_theta(theta - aside)),
        )
        found[j] = (ahead - behind) / (2.0 * MOVE)
    return found
