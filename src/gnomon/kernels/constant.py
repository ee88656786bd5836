"""Kernels of no distance: one number everywhere, and noise of every row of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter

from gnomon.core.linalg import Array
from gnomon.kernels.base import WIDE, Kernel, is_free, numeric


class ConstantKernel(Kernel):
    r"""The constant :math:`k(x, z) = c`: an offset in sums, a scale in products.

    Parameters
    ----------
    constant_value : float, default=1.0
        c, at least 0.
    constant_value_bounds : pair of floats or "fixed", default=(1e-5, 1e5)

    Examples
    --------
    >>> ConstantKernel(2.0)([[0.0], [1.0]])
    array([[2., 2.],
           [2., 2.]])
    """

    def __init__(self, constant_value: float = 1.0, constant_value_bounds: Any = WIDE) -> None:
        self.constant_value = constant_value
        self.constant_value_bounds = constant_value_bounds

    @property
    def hyperparameter_constant_value(self) -> Hyperparameter:
        """The constant."""
        return numeric(self, "constant_value")

    @property
    def requires_vector_input(self) -> bool:
        """Rows may be anything."""
        return False

    @property
    def is_psd(self) -> bool | None:
        """A constant is a kernel where it is not negative."""
        return bool(self.constant_value >= 0)

    def is_stationary(self) -> bool:
        """Return True."""
        return True

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        return np.full((A.shape[0], B.shape[0]), float(self.constant_value))

    def _diag(self, A: Any) -> Array:
        return np.full(A.shape[0], float(self.constant_value))

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        if is_free(self, "constant_value"):
            yield K.copy()

    def _weighted(self, A: Any, W: Array) -> Array:
        return np.full(self.n_dims, float(self.constant_value * W.sum()))

    def _map(self, A: Array, max_degree: int | None) -> Array:
        return np.full((len(A), 1), np.sqrt(self.constant_value))


class WhiteKernel(Kernel):
    r"""Independent noise: :math:`\sigma^2` for a row and itself, else 0.

    "Itself" means the same row of one call ``k(X)``. In ``k(X, Z)`` all entries are 0, even where values agree:
    two measurements at one place have two noises.

    Parameters
    ----------
    noise_level : float, default=1.0
        The variance σ².
    noise_level_bounds : pair of floats or "fixed", default=(1e-5, 1e5)

    Examples
    --------
    >>> WhiteKernel(0.5)([[1.0], [1.0]])
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    def __init__(self, noise_level: float = 1.0, noise_level_bounds: Any = WIDE) -> None:
        self.noise_level = noise_level
        self.noise_level_bounds = noise_level_bounds

    @property
    def hyperparameter_noise_level(self) -> Hyperparameter:
        """The variance."""
        return numeric(self, "noise_level")

    @property
    def requires_vector_input(self) -> bool:
        """Rows may be anything."""
        return False

    @property
    def is_psd(self) -> bool | None:
        """A variance is not negative."""
        return bool(self.noise_level >= 0)

    def is_stationary(self) -> bool:
        """Return True."""
        return True

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        K = np.zeros((A.shape[0], B.shape[0]))
        if same:
            np.fill_diagonal(K, float(self.noise_level))
        return K

    def _diag(self, A: Any) -> Array:
        return np.full(A.shape[0], float(self.noise_level))

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        if is_free(self, "noise_level"):
            yield K.copy()

    def _weighted(self, A: Any, W: Array) -> Array:
        return np.full(self.n_dims, float(self.noise_level * np.trace(W)))
