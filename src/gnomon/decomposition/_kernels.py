"""Kernel matrices by scikit-learn's names, and their centering in feature space."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.kernels.base import Kernel
from gnomon.kernels.names import NAMES, as_kernel

KERNELS = tuple(name for name in NAMES if name != "precomputed")


def kernel_of(kernel: Any, d: int, gamma: Any, degree: float, coef0: float, params: Any = None) -> Kernel:
    """The kernel object behind a name, an object or a function of two rows."""
    return as_kernel(kernel, d=d, gamma=gamma, degree=degree, coef0=coef0, params=params)


def centered_kernel(K: Array) -> tuple[Array, Array, float]:
    """H K H with H = I − 11ᵀ/n, and the column means and grand mean that new rows are centered by."""
    means = K.mean(axis=0)
    grand = float(means.mean())
    return K - means - means[:, None] + grand, means, grand


def rounding(K: Array) -> float:
    """How large an eigenvalue of K with its means taken out may be from rounding alone."""
    size = max(float(K.max(initial=0.0)), -float(K.min(initial=0.0)))  # no copy of K is made
    return 4 * len(K) * float(np.finfo(np.float64).eps) * size


def chosen_landmarks(kernel: Kernel, X: Array, count: int) -> tuple[Array, list[int], float]:
    """Pivoted incomplete Cholesky without the whole matrix: factor (m, n), the rows chosen, the trace left over."""
    left = np.asarray(kernel.diag(X), dtype=np.float64).copy()
    R, pivots, start = np.zeros((count, len(X))), [], float(left.sum())
    while len(pivots) < count and left.sum() > 1e-10 * start:
        r, j = len(pivots), int(left.argmax())
        row = np.asarray(kernel(X[j : j + 1], X))[0]
        R[r] = (row - R[:r, j] @ R[:r]) / np.sqrt(left[j])
        pivots.append(j)
        left = np.maximum(left - R[r] ** 2, 0.0)
        left[pivots] = 0.0
    return R[: len(pivots)], pivots, float(left.sum())
