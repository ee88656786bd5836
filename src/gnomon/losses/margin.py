"""Losses of the margin m = y·f(x): what a linear classifier pays for a row."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, xlogy

from gnomon.core.errors import nearest
from gnomon.losses.base import MarginLoss, within


class ZeroOne(MarginLoss):
    r"""Zero-one loss :math:`[m \le 0]`: the number of mistakes. It cannot be followed downhill.

    Examples
    --------
    >>> ZeroOne().value(1, [-1.0, 0.0, 2.0])
    array([1., 1., 0.])
    """

    code, is_convex, trainable, kink = 9, False, False, (0.0,)

    def on_margin(self, m):
        return (m <= 0.0).astype(float)

    def slope(self, m):
        return np.zeros_like(m)


class Perceptron(MarginLoss):
    r"""Perceptron loss :math:`\max(0, -m)`: a hinge without a margin.

    Examples
    --------
    >>> Perceptron().value(1, [-2.0, 0.5])
    array([2., 0.])
    """

    code, kink = 10, (0.0,)

    def on_margin(self, m):
        return np.maximum(0.0, -m)

    def slope(self, m):
        return np.where(m <= 0.0, -1.0, 0.0)

    def _conjugate(self, u):
        return within((u >= -1.0) & (u <= 0.0), np.zeros_like(u))


class Hinge(MarginLoss):
    r"""Hinge loss :math:`\max(0, 1 - m)` of the support vector machine.

    Parameters
    ----------
    kink : {"active", "inactive"}, default="active"
        The slope at m = 1: −1, or 0 as neural networks have it.

    Examples
    --------
    >>> Hinge().value(1, [0.0, 0.5, 2.0])
    array([1. , 0.5, 0. ])
    >>> Hinge().gradient(1, [1.0]), Hinge(kink="inactive").gradient(1, [1.0])
    (array([-1.]), array([0.]))
    """

    code, kink = 11, (1.0,)

    def __init__(self, kink: str = "active") -> None:
        if kink not in ("active", "inactive"):
            hint = nearest(kink, ("active", "inactive"))
            raise ValueError(f"kink must be 'active' or 'inactive'; got {kink!r}.{hint}")
        self.active = kink == "active"
        self.parameters = (float(self.active), 0.0)

    def on_margin(self, m):
        return np.maximum(0.0, 1.0 - m)

    def slope(self, m):
        return np.where(m <= 1.0 if self.active else m < 1.0, -1.0, 0.0)

    def _conjugate(self, u):
        return within((u >= -1.0) & (u <= 0.0), u)


class SquaredHinge(MarginLoss):
    r"""Squared hinge :math:`\max(0, 1 - m)^2`: smooth, and harsher on large violations.

    Examples
    --------
    >>> SquaredHinge().value(1, [-1.0, 0.5, 2.0])
    array([4.  , 0.25, 0.  ])
    """

    code, lipschitz = 12, 2.0

    def on_margin(self, m):
        return np.maximum(0.0, 1.0 - m) ** 2

    def slope(self, m):
        return -2.0 * np.maximum(0.0, 1.0 - m)

    def bend(self, m):
        return np.where(m < 1.0, 2.0, 0.0)

    def _conjugate(self, u):
        return within(u <= 0.0, u + u**2 / 4.0)


class ModifiedHuber(MarginLoss):
    r"""Modified Huber loss: :math:`\max(0, 1-m)^2` for m ≥ −1, then the line :math:`-4m`.

    Examples
    --------
    >>> ModifiedHuber().value(1, [-2.0, -1.0, 0.0, 0.5])
    array([8.  , 4.  , 1.  , 0.25])
    """

    code, lipschitz = 13, 2.0

    def on_margin(self, m):
        return np.where(m >= -1.0, np.maximum(0.0, 1.0 - m) ** 2, -4.0 * m)

    def slope(self, m):
        return np.where(m >= -1.0, -2.0 * np.maximum(0.0, 1.0 - m), -4.0)

    def bend(self, m):
        return np.where((m >= -1.0) & (m < 1.0), 2.0, 0.0)

    def _conjugate(self, u):
        return within((u >= -4.0) & (u <= 0.0), u + u**2 / 4.0)


class Logistic(MarginLoss):
    r"""Logistic loss :math:`\ln(1 + e^{-m})`, the negative log-likelihood of P(y=+1) = σ(z).

    Parameters
    ----------
    base : float, default=e
        Base of the logarithm. In base 2 the loss lies above the zero-one loss everywhere.

    Examples
    --------
    >>> Logistic().value(1, [-2.0, 0.0, 2.0]).round(6)
    array([2.126928, 0.693147, 0.126928])
    """

    code = 14

    def __init__(self, base: float = np.e) -> None:
        self.base = base
        self._unit = 1.0 if base == np.e else float(np.log(base))
        self.parameters = (self._unit, 0.0)
        self.lipschitz = 0.25 / self._unit

    def on_margin(self, m):
        return np.logaddexp(0.0, -m) / self._unit

    def slope(self, m):
        return -expit(-m) / self._unit

    def bend(self, m):
        return expit(m) * expit(-m) / self._unit

    def _conjugate(self, u):
        p = -u * self._unit
        safe = np.clip(p, 0.0, 1.0)
        return within((p >= 0.0) & (p <= 1.0), (xlogy(safe, safe) + xlogy(1 - safe, 1 - safe)) / self._unit)


class Exponential(MarginLoss):
    r"""Exponential loss :math:`e^{-m}` of boosting.

    Examples
    --------
    >>> Exponential().value(1, [0.0, 1.0]).round(6)
    array([1.      , 0.367879])
    """

    code = 15

    def on_margin(self, m):
        return np.exp(-m)

    def slope(self, m):
        return -np.exp(-m)

    def bend(self, m):
        return np.exp(-m)

    def _conjugate(self, u):
        v = np.maximum(-u, 0.0)
        return within(u <= 0.0, xlogy(v, v) - v)


class SquaredMargin(MarginLoss):
    r"""Squared loss on labels :math:`\tfrac12 (1 - m)^2`: it also punishes rows that are too right.

    Examples
    --------
    >>> SquaredMargin().value(1, [0.0, 1.0, 10.0])
    array([ 0.5,  0. , 40.5])
    """

    code, lipschitz = 16, 1.0

    def on_margin(self, m):
        return 0.5 * (1.0 - m) ** 2

    def slope(self, m):
        return m - 1.0

    def bend(self, m):
        return np.ones_like(m)

    def _conjugate(self, u):
        return u + u**2 / 2.0


class SigmoidSquared(MarginLoss):
    r"""Squared loss on the sigmoid, :math:`\tfrac12 (1 - \sigma(m))^2`.

    Not convex, and its slope vanishes for badly wrong rows: the reason to prefer the logistic loss.

    Examples
    --------
    >>> SigmoidSquared().value(1, [-2.0, 0.0]).round(6)
    array([0.387902, 0.125   ])
    """

    code, is_convex, lipschitz = 17, False, 0.07703

    def on_margin(self, m):
        return 0.5 * expit(-m) ** 2

    def slope(self, m):
        return -(expit(-m) ** 2) * expit(m)

    def bend(self, m):
        s = expit(-m)
        return s * s * (1.0 - s) * (2.0 - 3.0 * s)
