"""What every loss knows."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnomon.core.errors import DataError

Floats = NDArray[np.float64]


class Loss:
    r"""A convex (or not) function :math:`\ell(y, z)` of a target and a score.

    Attributes
    ----------
    code : int
        How the compiled loops know this loss.
    parameters : (float, float)
        The two numbers that go with the code.
    link : str
        How a score becomes a prediction: ``"identity"``, ``"logit"`` or ``"log"``.
    is_convex, is_smooth, trainable : bool
    lipschitz : float
        Largest second derivative; infinite when there is none.
    kink : tuple of float
        Where, in margin or residual, the derivative jumps.
    """

    code: int = -1
    parameters: tuple[float, float] = (0.0, 0.0)
    link: ClassVar[str] = "identity"
    is_convex: bool = True
    trainable: ClassVar[bool] = True
    lipschitz: float = np.inf
    kink: tuple[float, ...] = ()

    @property
    def is_smooth(self) -> bool:
        """Whether the derivative is continuous."""
        return not self.kink

    def value(self, y: ArrayLike, z: ArrayLike) -> Floats:
        """Return the loss of every score `z` against its target `y`."""
        raise NotImplementedError

    def gradient(self, y: ArrayLike, z: ArrayLike) -> Floats:
        """Return the derivative in the score."""
        raise NotImplementedError

    def curvature(self, y: ArrayLike, z: ArrayLike) -> Floats:
        """Return the second derivative in the score, where it exists (0 at kinks)."""
        raise NotImplementedError

    def conjugate(self, y: ArrayLike, a: ArrayLike) -> Floats:
        r"""Return :math:`\ell^*(y, a) = \sup_z a z - \ell(y, z)`; infinite outside its domain."""
        raise NotImplementedError(f"{type(self).__name__} has no conjugate here: it is not convex.")

    def __repr__(self) -> str:
        """Show the name and the parameters that matter."""
        inside = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if name[0] != "_")
        return f"{type(self).__name__}({inside})"


class MarginLoss(Loss):
    """A loss of the margin m = y·z, for labels −1 and +1."""

    link = "logit"

    def on_margin(self, m: Floats) -> Floats:
        """Return the loss of margins."""
        raise NotImplementedError

    def slope(self, m: Floats) -> Floats:
        """Return its derivative."""
        raise NotImplementedError

    def bend(self, m: Floats) -> Floats:
        """Return its second derivative, where it exists."""
        return np.zeros_like(m)

    def _conjugate(self, u: Floats) -> Floats:
        raise NotImplementedError(f"{type(self).__name__} has no conjugate here: it is not convex.")

    def value(self, y, z):
        return self.on_margin(margins(y, z))

    def gradient(self, y, z):
        return np.asarray(y, dtype=float) * self.slope(margins(y, z))

    def curvature(self, y, z):
        return self.bend(margins(y, z))

    def conjugate(self, y, a):
        return self._conjugate(margins(y, a))


class ResidualLoss(Loss):
    """A loss of the residual r = y − z."""

    def on_residual(self, r: Floats) -> Floats:
        """Return the loss of residuals."""
        raise NotImplementedError

    def slope(self, r: Floats) -> Floats:
        """Return its derivative in r."""
        raise NotImplementedError

    def bend(self, r: Floats) -> Floats:
        """Return its second derivative, where it exists."""
        return np.zeros_like(r)

    def _conjugate(self, a: Floats) -> Floats:
        raise NotImplementedError(f"{type(self).__name__} has no conjugate here: it is not convex.")

    def value(self, y, z):
        return self.on_residual(residuals(y, z))

    def gradient(self, y, z):
        return -self.slope(residuals(y, z))

    def curvature(self, y, z):
        return self.bend(residuals(y, z))

    def conjugate(self, y, a):
        a = np.asarray(a, dtype=float)
        return a * np.asarray(y, dtype=float) + self._conjugate(a)


def residuals(y: ArrayLike, z: ArrayLike) -> Floats:
    """Return y − z as floats."""
    return np.asarray(y, dtype=float) - np.asarray(z, dtype=float)


def margins(y: ArrayLike, z: ArrayLike) -> Floats:
    """Return y·z after a look at the labels."""
    y = np.asarray(y, dtype=float)
    if not np.all(np.abs(y) == 1.0):
        wrong = y[np.abs(y) != 1.0].flat[0]
        raise DataError(
            f"labels of a margin loss are -1 and +1; y has {wrong!r}. For 0 and 1 use 2*y - 1; "
            "for other labels, estimators encode them, or see gnomon.linear.encode_labels."
        )
    return y * np.asarray(z, dtype=float)


def within(inside: Floats, value: Floats) -> Floats:
    """Return `value` where `inside` holds and +∞ elsewhere."""
    return np.where(inside, value, np.inf)
