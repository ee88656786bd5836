"""Losses of the residual r = y − f(x): what a linear regression pays for a row."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from gnomon.losses.base import Loss, ResidualLoss, within


def positive(name: str, value: float) -> float:
    """Return the parameter as a float after checking that it is above zero."""
    if not value > 0.0:
        raise ValueError(f"{name} must be above 0; got {value!r}.")
    return float(value)


class SquaredError(ResidualLoss):
    r"""Half squared error :math:`\tfrac12 r^2`.

    Examples
    --------
    >>> SquaredError().value(1.0, [10.0, 0.0])
    array([40.5,  0.5])
    """

    code, lipschitz = 0, 1.0

    def on_residual(self, r):
        return 0.5 * r**2

    def slope(self, r):
        return r

    def bend(self, r):
        return np.ones_like(r)

    def _conjugate(self, a):
        return 0.5 * a**2


class Absolute(ResidualLoss):
    r"""Absolute error :math:`|r|`, the negative log-density of Laplace noise.

    Examples
    --------
    >>> Absolute().value(0.0, [-2.0, 3.0])
    array([2., 3.])
    """

    code, kink = 1, (0.0,)

    def on_residual(self, r):
        return np.abs(r)

    def slope(self, r):
        return np.sign(r)

    def _conjugate(self, a):
        return within(np.abs(a) <= 1.0, np.zeros_like(a))


class Huber(ResidualLoss):
    r"""Huber's loss: :math:`\tfrac12 r^2` up to δ, then the line :math:`\delta(|r| - \delta/2)`.

    Examples
    --------
    >>> Huber(1.0).value(0.0, [0.5, 3.0])
    array([0.125, 2.5  ])
    """

    code, lipschitz = 2, 1.0

    def __init__(self, delta: float = 1.35) -> None:
        self.delta = positive("delta", delta)
        self.parameters = (self.delta, 0.0)

    def on_residual(self, r):
        size = np.abs(r)
        return np.where(size <= self.delta, 0.5 * r**2, self.delta * (size - 0.5 * self.delta))

    def slope(self, r):
        return np.clip(r, -self.delta, self.delta)

    def bend(self, r):
        return np.where(np.abs(r) <= self.delta, 1.0, 0.0)

    def _conjugate(self, a):
        return within(np.abs(a) <= self.delta, 0.5 * a**2)


class EpsilonInsensitive(ResidualLoss):
    r"""Loss of support vector regression :math:`\max(0, |r| - \epsilon)`.

    Examples
    --------
    >>> EpsilonInsensitive(0.5).value(0.0, [0.2, 2.0])
    array([0. , 1.5])
    """

    code = 3

    def __init__(self, epsilon: float = 0.1) -> None:
        if epsilon < 0.0:
            raise ValueError(f"epsilon must be at least 0; got {epsilon!r}.")
        self.epsilon = float(epsilon)
        self.parameters = (self.epsilon, 0.0)
        self.kink = (-self.epsilon, self.epsilon)

    def on_residual(self, r):
        return np.maximum(0.0, np.abs(r) - self.epsilon)

    def slope(self, r):
        return np.where(np.abs(r) > self.epsilon, np.sign(r), 0.0)

    def _conjugate(self, a):
        return within(np.abs(a) <= 1.0, self.epsilon * np.abs(a))


class SquaredEpsilonInsensitive(EpsilonInsensitive):
    r"""Squared version :math:`\max(0, |r| - \epsilon)^2`: smooth.

    Examples
    --------
    >>> SquaredEpsilonInsensitive(0.5).value(0.0, [0.2, 2.0])
    array([0.  , 2.25])
    """

    code, lipschitz = 4, 2.0

    def __init__(self, epsilon: float = 0.1) -> None:
        super().__init__(epsilon)
        self.kink = ()

    def on_residual(self, r):
        return np.maximum(0.0, np.abs(r) - self.epsilon) ** 2

    def slope(self, r):
        return 2.0 * np.sign(r) * np.maximum(0.0, np.abs(r) - self.epsilon)

    def bend(self, r):
        return np.where(np.abs(r) > self.epsilon, 2.0, 0.0)

    def _conjugate(self, a):
        return self.epsilon * np.abs(a) + 0.25 * a**2


class Pinball(ResidualLoss):
    r"""Quantile loss :math:`\max(\tau r, (\tau - 1) r)`: its minimizer is the τ-quantile.

    Examples
    --------
    >>> Pinball(0.9).value(0.0, [-1.0, 1.0]).round(6)
    array([0.9, 0.1])
    """

    code, kink = 5, (0.0,)

    def __init__(self, tau: float = 0.5) -> None:
        if not 0.0 < tau < 1.0:
            raise ValueError(f"tau must be between 0 and 1, both excluded; got {tau!r}.")
        self.tau = float(tau)
        self.parameters = (self.tau, 0.0)

    def on_residual(self, r):
        return np.maximum(self.tau * r, (self.tau - 1.0) * r)

    def slope(self, r):
        return np.where(r > 0.0, self.tau, np.where(r < 0.0, self.tau - 1.0, 0.0))

    def _conjugate(self, a):
        return within((a >= -self.tau) & (a <= 1.0 - self.tau), np.zeros_like(a))


class StudentT(ResidualLoss):
    r"""Student-t loss :math:`\frac{\nu+1}{2} \ln\!\bigl(1 + \frac{r^2}{\nu s^2}\bigr)`.

    With ν = 1 it is the Cauchy loss ln(1 + r²/s²). Not convex; the pull of a far row fades.

    Examples
    --------
    >>> StudentT(df=1).value(0.0, [1.0, 3.0]).round(6)
    array([0.693147, 2.302585])
    """

    code, is_convex = 6, False

    def __init__(self, df: float = 1.0, scale: float = 1.0) -> None:
        self.df, self.scale = positive("df", df), positive("scale", scale)
        self.parameters = (self.df, self.scale)
        self.lipschitz = (self.df + 1.0) / (self.df * self.scale**2)

    def on_residual(self, r):
        return 0.5 * (self.df + 1.0) * np.log1p(r**2 / (self.df * self.scale**2))

    def slope(self, r):
        return (self.df + 1.0) * r / (self.df * self.scale**2 + r**2)

    def bend(self, r):
        spread = self.df * self.scale**2
        return (self.df + 1.0) * (spread - r**2) / (spread + r**2) ** 2


class Poisson(Loss):
    r"""Half Poisson deviance with log link, :math:`e^z - y z + y \ln y - y`.

    Examples
    --------
    >>> Poisson().value([1.0, 3.0], [0.0, 0.0]).round(6)
    array([0.      , 1.295837])
    """

    code, link = 20, "log"

    def value(self, y, z):
        y, z = np.asarray(y, dtype=float), np.asarray(z, dtype=float)
        return np.exp(z) - y * z + xlogy(y, y) - y

    def gradient(self, y, z):
        return np.exp(z) - np.asarray(y, dtype=float)

    def curvature(self, y, z):
        return np.exp(np.asarray(z, dtype=float)) + 0.0 * np.asarray(y, dtype=float)

    def conjugate(self, y, a):
        y, v = np.asarray(y, dtype=float), np.asarray(a, dtype=float) + y
        safe = np.maximum(v, 0.0)
        return within(v >= 0.0, xlogy(safe, safe) - safe - xlogy(y, y) + y)


class Gamma(Loss):
    r"""Half Gamma deviance with log link, :math:`y e^{-z} + z - \ln y - 1`, for positive targets.

    Examples
    --------
    >>> Gamma().value([1.0, 2.0], [0.0, 0.0]).round(6)
    array([0.      , 0.306853])
    """

    code, link = 21, "log"

    def value(self, y, z):
        y, z = np.asarray(y, dtype=float), np.asarray(z, dtype=float)
        return y * np.exp(-z) + z - np.log(y) - 1.0

    def gradient(self, y, z):
        return 1.0 - np.asarray(y, dtype=float) * np.exp(-np.asarray(z, dtype=float))

    def curvature(self, y, z):
        return np.asarray(y, dtype=float) * np.exp(-np.asarray(z, dtype=float))

    def conjugate(self, y, a):
        y, v = np.asarray(y, dtype=float), 1.0 - np.asarray(a, dtype=float)
        safe = np.maximum(v, 0.0)
        return within(v >= 0.0, xlogy(safe, safe) - xlogy(safe, y) - safe + np.log(y) + 1.0)
