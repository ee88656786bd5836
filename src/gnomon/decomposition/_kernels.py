"""Kernel matrices by scikit-learn's names, and their centering in feature space."""

from __future__ import annotations

from typing import Any

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
