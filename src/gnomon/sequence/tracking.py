"""Ready state-space models: moving targets, and linear stochastic differential equations made discrete."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import expm

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.sequence.state_space import KalmanFilter


def tracking_model(
    dt: float,
    *,
    alpha: float = 0.0,
    process_noise: Any = 1.0,
    measurement_noise: Any = 1.0,
    n_axes: int = 2,
    order: int = 3,
    **options: Any,
) -> KalmanFilter:
    r"""Return a model of position, velocity and acceleration along every axis, of which positions are
    measured.

    Per axis the transition is :math:`\begin{pmatrix}1 & Δ & Δ^2/2\\ 0 & 1 & Δ\\ 0 & 0 &
    e^{-αΔ}\end{pmatrix}`.

    Parameters
    ----------
    dt : float
        Time between measurements, Δ.
    alpha : float
        Rate at which acceleration dies away.
    process_noise, measurement_noise : float or matrix
        Covariances; a number means that multiple of the identity.
    n_axes : int
        Number of axes.
    order : {2, 3}
        3 with acceleration, 2 for constant velocity.
    **options
        Further arguments of `KalmanFilter`.

    Examples
    --------
    >>> tracking_model(0.5, n_axes=1).transition_matrices
    array([[1.   , 0.5  , 0.125],
           [0.   , 1.   , 0.5  ],
           [0.   , 0.   , 1.   ]])
    """
    if dt <= 0 or order not in (2, 3) or n_axes < 1:
        raise DataError(f"dt must be above 0, order 2 or 3, n_axes at least 1; got {dt}, {order}, {n_axes}.")
    block = np.array([[1.0, dt, dt * dt / 2], [0.0, 1.0, dt], [0.0, 0.0, np.exp(-alpha * dt)]])[
        :order, :order
    ]
    C = np.kron(np.eye(n_axes), block)
    D = np.kron(np.eye(n_axes), np.eye(1, order))
    return KalmanFilter(C, D, _noise(process_noise, len(C)), _noise(measurement_noise, len(D)), **options)


def _noise(value: Any, n: int) -> Array:
    return np.eye(n) * value if np.ndim(value) == 0 else np.asarray(value, dtype=np.float64)


def discretize(F: Any, L: Any, q: Any, dt: float) -> tuple[Array, Array]:
    r"""Turn the linear equation :math:`ds = F s\,dt + L\,dβ` into one step of length `dt`.

    .. math:: Φ = e^{FΔ}, \qquad Q_Δ = \int_0^Δ e^{Fu} L q L^\top e^{F^\top u}\,du,

    by one exponential of a block matrix (Van Loan). Steps compose: Φ(a+b) = Φ(a)Φ(b).

    Parameters
    ----------
    F : (d, d) array
    L : (d, k) array or (d,) vector
    q : float or (k, k) array
        Spectral density of the noise.
    dt : float
        Length of the step.

    Examples
    --------
    >>> Phi, Q = discretize([[0, 1], [0, 0]], [0, 1], q=0.3, dt=0.7)
    >>> Q.round(4)
    array([[0.0343, 0.0735],
           [0.0735, 0.21  ]])
    """
    F = np.atleast_2d(np.asarray(F, dtype=np.float64))
    d = len(F)
    L = np.asarray(L, dtype=np.float64).reshape(d, -1)
    noise = L @ _noise(q, L.shape[1]) @ L.T
    if dt <= 0:
        raise DataError(f"dt must be above 0; got {dt}.")
    block = np.zeros((2 * d, 2 * d))
    block[:d, :d], block[:d, d:], block[d:, d:] = -F, noise, F.T
    power = expm(block * dt)
    Phi = power[d:, d:].T
    Q = Phi @ power[:d, d:]
    return Phi, (Q + Q.T) / 2.0
