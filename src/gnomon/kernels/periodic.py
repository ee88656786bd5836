"""The kernel of functions that repeat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter

from gnomon.core.linalg import Array
from gnomon.kernels.base import WIDE, Kernel, is_free, numeric, positive
from gnomon.kernels.tiles import squared_distances


class ExpSineSquared(Kernel):
    r"""The periodic kernel :math:`\exp(-2\sin^2(\pi\lVert x-z\rVert/p)/\ell^2)`.

    Parameters
    ----------
    length_scale : float, default=1.0
    periodicity : float, default=1.0
        p, after which functions repeat.
    length_scale_bounds, periodicity_bounds : pair of floats or "fixed", default=(1e-5, 1e5)

    Examples
    --------
    >>> ExpSineSquared(1.0, 3.0)([[0.0]], [[0.8]]).round(7)
    array([[0.3313671]])
    """

    def __init__(
        self,
        length_scale: float = 1.0,
        periodicity: float = 1.0,
        length_scale_bounds: Any = WIDE,
        periodicity_bounds: Any = WIDE,
    ) -> None:
        self.length_scale = length_scale
        self.periodicity = periodicity
        self.length_scale_bounds = length_scale_bounds
        self.periodicity_bounds = periodicity_bounds

    @property
    def hyperparameter_length_scale(self) -> Hyperparameter:
        """The length scale."""
        return numeric(self, "length_scale")

    @property
    def hyperparameter_periodicity(self) -> Hyperparameter:
        """The period."""
        return numeric(self, "periodicity")

    def is_stationary(self) -> bool:
        """Return True."""
        return True

    @property
    def is_psd(self) -> bool | None:
        """Known for rows of one column; of several, the sine of a distance need not give a kernel."""
        return None

    def _check(self, d: int) -> None:
        positive(self, "length_scale", "periodicity")

    def _angle(self, A: Any, B: Any, same: bool) -> Array:
        return np.pi * np.sqrt(squared_distances(A, B, same)) / self.periodicity

    def _tile(self, A: Any, B: Any, same: bool) -> Array:
        return np.exp(-2.0 * (np.sin(self._angle(A, B, same)) / self.length_scale) ** 2)

    def _diag(self, A: Any) -> Array:
        return np.ones(A.shape[0])

    def _gradients(self, A: Any, K: Array) -> Iterator[Array]:
        angle = self._angle(A, A, True)
        sine = np.sin(angle)
        if is_free(self, "length_scale"):
            yield 4.0 * (sine / self.length_scale) ** 2 * K
        if is_free(self, "periodicity"):
            yield 4.0 * angle / self.length_scale**2 * np.cos(angle) * sine * K
