"""Kalman filters of models that are not linear: extended (by derivatives) and unscented (by points)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import matrix
from gnomon.sequence.linear_gaussian import Filtered, root, singular


def numerical_jacobian(f: Callable[[Array], Any], x: Array) -> Array:
    """Derivatives by central differences, (outputs, inputs)."""
    steps = np.cbrt(np.finfo(float).eps) * np.maximum(1.0, np.abs(x))
    columns = []
    for k, h in enumerate(steps):
        e = np.zeros_like(x)
        e[k] = h
        columns.append((np.atleast_1d(f(x + e)) - np.atleast_1d(f(x - e))) / (2.0 * h))
    return np.stack(columns, axis=1)


class _NonlinearFilter:
    """The loop both filters share; subclasses move a Gaussian through a function."""

    def __init__(
        self,
        transition: Callable[[Array], Any],
        observation: Callable[[Array], Any],
        *,
        transition_covariance: Any,
        observation_covariance: Any,
        initial_state_mean: Any,
        initial_state_covariance: Any,
        initial_at: str = "first",
    ) -> None:
        if initial_at not in ("first", "before"):
            raise DataError(f"initial_at must be 'first' or 'before'; got {initial_at!r}.")
        self.transition, self.observation = transition, observation
        self.Q = np.atleast_2d(np.asarray(transition_covariance, dtype=np.float64))
        self.V = np.atleast_2d(np.asarray(observation_covariance, dtype=np.float64))
        self.m0 = np.atleast_1d(np.asarray(initial_state_mean, dtype=np.float64))
        self.P0 = np.atleast_2d(np.asarray(initial_state_covariance, dtype=np.float64))
        self.initial_at = initial_at

    def filter(self, X: Any) -> Filtered:
        """Return moments of the state given the rows up to it; NaN components were not seen.

        Parameters
        ----------
        X : (T, p) array
            Measurements.
        """
        X = np.asarray(matrix(np.reshape(X, (-1, 1)) if np.ndim(X) == 1 else X, nan=True), dtype=np.float64)
        T, p, d = len(X), X.shape[1], len(self.m0)
        shapes = [(T, d), (T, d, d), (T, d), (T, d, d), (T,), (T, d, p)]
        out = Filtered(*(np.zeros(shape) for shape in shapes), np.zeros(T, dtype=bool))
        mean, P = self.m0, self.P0
        for t, x in enumerate(X):
            if t > 0 or self.initial_at == "before":
                mean, P = self._predict(mean, P)
            out.predicted_means[t], out.predicted_covariances[t] = mean, P
            seen = ~np.isnan(x)
            if seen.any():
                mean, P, gain, out.loglik_terms[t] = self._update(mean, P, x, seen, t)
                out.gains[t][:, seen] = gain
            out.means[t], out.covariances[t] = mean, P
        return out

    def loglikelihood(self, X: Any) -> float:
        """Return the approximate ln p of one sequence."""
        return self.filter(X).loglik

    def _predict(self, mean: Array, P: Array) -> tuple[Array, Array]:
        raise NotImplementedError

    def _update(
        self, mean: Array, P: Array, x: Array, seen: Array, t: int
    ) -> tuple[Array, Array, Array, float]:
        raise NotImplementedError


def log_normal(residual: Array, S: Array, t: int) -> float:
    """ln N(residual; 0, S)."""
    try:
        L = linalg.cholesky(S, lower=True)
    except linalg.LinAlgError:
        singular(t)
    white = linalg.solve_triangular(L, residual, lower=True)
    return float(-0.5 * (white @ white + len(white) * np.log(2 * np.pi)) - np.log(np.diag(L)).sum())


class ExtendedKalmanFilter(_NonlinearFilter):
    r"""Kalman filter of s_t = f(s_{t−1}) + ε, x_t = h(s_t) + ν, linearized where the state is believed to be.

    .. math:: P^- = F P F^\top + Q,\ F = \nabla f(m); \qquad r = x - h(m^-),\ H = \nabla h(m^-)

    Good where the functions are smooth over the spread of the state; the unscented filter needs no
    derivatives and bears more curvature.

    Parameters
    ----------
    transition, observation : functions
        f and h; take and return vectors.
    transition_jacobian, observation_jacobian : functions, optional
        Their derivatives, (outputs, inputs); by central differences where not given.
    transition_covariance, observation_covariance : arrays
        Q and V.
    initial_state_mean, initial_state_covariance : arrays
    initial_at : {"first", "before"}
        Whether the initial moments describe the state at the first row or one step before.
    n_iterations : int
        Above 1, the update is repeated with h linearized at its own result.

    Examples
    --------
    >>> ekf = ExtendedKalmanFilter(
    ...     lambda s: s,
    ...     lambda s: s**2,
    ...     transition_covariance=0.1,
    ...     observation_covariance=0.5,
    ...     initial_state_mean=1,
    ...     initial_state_covariance=0.2,
    ...     initial_at="before",
    ... )
    >>> ekf.filter([1.5, 2.0]).means.ravel().round(6)
    array([1.176471, 1.353364])
    """

    def __init__(
        self,
        transition: Callable[[Array], Any],
        observation: Callable[[Array], Any],
        *,
        transition_jacobian: Callable[[Array], Any] | None = None,
        observation_jacobian: Callable[[Array], Any] | None = None,
        transition_covariance: Any,
        observation_covariance: Any,
        initial_state_mean: Any,
        initial_state_covariance: Any,
        initial_at: str = "first",
        n_iterations: int = 1,
    ) -> None:
        super().__init__(
            transition,
            observation,
            transition_covariance=transition_covariance,
            observation_covariance=observation_covariance,
            initial_state_mean=initial_state_mean,
            initial_state_covariance=initial_state_covariance,
            initial_at=initial_at,
        )
        self.by_transition = transition_jacobian or (lambda s: numerical_jacobian(transition, s))
        self.by_observation = observation_jacobian or (lambda s: numerical_jacobian(observation, s))
        self.n_iterations = n_iterations

    def _predict(self, mean: Array, P: Array) -> tuple[Array, Array]:
        F = np.atleast_2d(self.by_transition(mean))
        return np.atleast_1d(self.transition(mean)), F @ P @ F.T + self.Q

    def _update(
        self, mean: Array, P: Array, x: Array, seen: Array, t: int
    ) -> tuple[Array, Array, Array, float]:
        V, z, value = self.V[np.ix_(seen, seen)], mean, 0.0
        for step in range(self.n_iterations):
            H = np.atleast_2d(self.by_observation(z))[seen]
            residual = (x - np.atleast_1d(self.observation(z)))[seen] - H @ (mean - z)
            S = H @ P @ H.T + V
            if step == 0:
                value = log_normal(residual, S, t)
            gain = linalg.solve(S, H @ P, assume_a="pos").T
            z = mean + gain @ residual
        keep = np.eye(len(mean)) - gain @ H
        return z, keep @ P @ keep.T + gain @ V @ gain.T, gain, value


class UnscentedKalmanFilter(_NonlinearFilter):
    r"""Kalman filter of s_t = f(s_{t−1}) + ε, x_t = h(s_t) + ν that sends 2d + 1 points through f and h.

    The points :math:`m, m \pm \sqrt{(d + λ) P}` carry mean and covariance exactly; what comes out is
    weighted back into a Gaussian. Exact for linear functions, good to third order otherwise, and no
    derivatives are needed.

    Parameters
    ----------
    transition, observation : functions
        f and h; take and return vectors.
    transition_covariance, observation_covariance : arrays
        Q and V.
    initial_state_mean, initial_state_covariance : arrays
    initial_at : {"first", "before"}
        Whether the initial moments describe the state at the first row or one step before.
    alpha, beta, kappa : float
        Spread of the points, knowledge of the distribution (2 for Gaussian), secondary scale.

    Examples
    --------
    >>> ukf = UnscentedKalmanFilter(
    ...     lambda s: s,
    ...     lambda s: s,
    ...     transition_covariance=0.5,
    ...     observation_covariance=1,
    ...     initial_state_mean=0,
    ...     initial_state_covariance=1,
    ...     initial_at="before",
    ... )
    >>> ukf.filter([1.0, 2.0, 1.5]).means.ravel().round(6)
    array([0.6     , 1.333333, 1.417647])
    """

    def __init__(
        self,
        transition: Callable[[Array], Any],
        observation: Callable[[Array], Any],
        *,
        transition_covariance: Any,
        observation_covariance: Any,
        initial_state_mean: Any,
        initial_state_covariance: Any,
        initial_at: str = "first",
        alpha: float = 1.0,
        beta: float = 2.0,
        kappa: float = 0.0,
    ) -> None:
        super().__init__(
            transition,
            observation,
            transition_covariance=transition_covariance,
            observation_covariance=observation_covariance,
            initial_state_mean=initial_state_mean,
            initial_state_covariance=initial_state_covariance,
            initial_at=initial_at,
        )
        d = len(self.m0)
        self.reach = alpha**2 * (d + kappa)
        if self.reach <= 0:
            raise DataError(f"alpha² (d + kappa) must be above 0; got {self.reach}.")
        self.by_mean = np.full(2 * d + 1, 0.5 / self.reach)
        self.by_mean[0] = 1.0 - d / self.reach
        self.by_spread = self.by_mean.copy()
        self.by_spread[0] += 1.0 - alpha**2 + beta

    def _points(self, mean: Array, P: Array) -> Array:
        spread = np.sqrt(self.reach) * root(P).T
        return np.vstack([mean, mean + spread, mean - spread])

    def _through(self, f: Callable[[Array], Any], points: Array) -> tuple[Array, Array]:
        """Images of the points and their mean."""
        images = np.stack([np.atleast_1d(f(point)) for point in points])
        return images, self.by_mean @ images

    def _predict(self, mean: Array, P: Array) -> tuple[Array, Array]:
        images, center = self._through(self.transition, self._points(mean, P))
        gap = images - center
        return center, (self.by_spread[:, None] * gap).T @ gap + self.Q

    def _update(
        self, mean: Array, P: Array, x: Array, seen: Array, t: int
    ) -> tuple[Array, Array, Array, float]:
        points = self._points(mean, P)
        images, center = self._through(self.observation, points)
        gap = (images - center)[:, seen]
        weighted = self.by_spread[:, None] * gap
        S = weighted.T @ gap + self.V[np.ix_(seen, seen)]
        residual = (x - center)[seen]
        gain = linalg.solve(S, weighted.T @ (points - mean), assume_a="pos").T
        value = log_normal(residual, S, t)
        return mean + gain @ residual, P - gain @ S @ gain.T, gain, value
