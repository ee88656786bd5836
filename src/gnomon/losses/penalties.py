"""Penalties: value, proximal step and conjugate of what is added to the loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

Floats = NDArray[np.float64]


def soft_threshold(z: ArrayLike, t: ArrayLike) -> Floats:
    r"""Return :math:`\operatorname{sign}(z)\max(|z| - t, 0)`.

    >>> soft_threshold([3.0, -1.0, 0.2], 0.5)
    array([ 2.5, -0.5,  0. ])
    """
    z = np.asarray(z, dtype=float)
    return np.sign(z) * np.maximum(np.abs(z) - t, 0.0)


def lp_norm(w: ArrayLike, p: float) -> float:
    r"""Return :math:`\lVert w \rVert_p`; p = 0 counts the non-zeros, p = ∞ takes the largest magnitude.

    >>> [round(lp_norm([3.0, -4.0, 0.0], p), 6) for p in (0, 0.5, 1, 2, np.inf)]
    [2.0, 13.928203, 7.0, 5.0, 4.0]
    """
    size = np.abs(np.asarray(w, dtype=float)).ravel()
    if p == 0:
        return float(np.count_nonzero(size))
    if p == np.inf:
        return float(size.max(initial=0.0))
    if not p > 0:
        raise ValueError(f"p must be 0, positive or infinite; got {p!r}.")
    top = size.max(initial=0.0)
    return float(top * np.sum((size / top) ** p) ** (1.0 / p)) if top > 0 else 0.0


class Penalty:
    """A function of the coefficients that is added to the loss."""

    is_convex = True

    def value(self, w: ArrayLike) -> float:
        """Return the penalty of `w`."""
        raise NotImplementedError

    def prox(self, w: ArrayLike, step: float = 1.0) -> Floats:
        r"""Return :math:`\arg\min_u \tfrac12\lVert u - w\rVert^2 + step\cdot\Omega(u)`."""
        raise NotImplementedError

    def conjugate(self, g: ArrayLike) -> float:
        r"""Return :math:`\sup_w \langle g, w\rangle - \Omega(w)`."""
        raise NotImplementedError(f"{type(self).__name__} has no conjugate here: it is not convex.")


class L2(Penalty):
    r"""Ridge penalty :math:`\tfrac{\alpha}{2}\lVert w\rVert_2^2`.

    Examples
    --------
    >>> L2(2.0).value([1.0, 2.0]), L2(1.0).prox([2.0, 4.0])
    (5.0, array([1., 2.]))
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def value(self, w):
        return 0.5 * self.alpha * float(np.sum(np.square(w)))

    def prox(self, w, step=1.0):
        return np.asarray(w, dtype=float) / (1.0 + step * self.alpha)

    def conjugate(self, g):
        if self.alpha == 0.0:
            return 0.0 if not np.any(g) else np.inf
        return float(np.sum(np.square(g))) / (2.0 * self.alpha)


class L1(Penalty):
    r"""Lasso penalty :math:`\alpha\lVert w\rVert_1`; its dual norm is the largest magnitude.

    Examples
    --------
    >>> L1(0.5).prox([3.0, -1.0, 0.2])
    array([ 2.5, -0.5,  0. ])
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def value(self, w):
        return self.alpha * float(np.sum(np.abs(w)))

    def prox(self, w, step=1.0):
        return soft_threshold(w, step * self.alpha)

    def dual_norm(self, g):
        """Return max |g|."""
        return lp_norm(g, np.inf)

    def conjugate(self, g):
        return 0.0 if self.dual_norm(g) <= self.alpha * (1.0 + 1e-12) else np.inf


class ElasticNet(Penalty):
    r"""Elastic net :math:`\alpha\rho\lVert w\rVert_1 + \tfrac{\alpha(1-\rho)}{2}\lVert w\rVert_2^2`.

    Examples
    --------
    >>> ElasticNet(1.0, l1_ratio=0.5).prox([2.0, 0.4])
    array([1., 0.])
    """

    def __init__(self, alpha: float = 1.0, *, l1_ratio: float = 0.5) -> None:
        self.alpha, self.l1_ratio = alpha, l1_ratio

    def _parts(self):
        return L1(self.alpha * self.l1_ratio), L2(self.alpha * (1.0 - self.l1_ratio))

    def value(self, w):
        return sum(part.value(w) for part in self._parts())

    def prox(self, w, step=1.0):
        lasso, ridge = self._parts()
        return ridge.prox(lasso.prox(w, step), step)

    def conjugate(self, g):
        lasso, ridge = self._parts()
        return ridge.conjugate(soft_threshold(g, lasso.alpha)) if ridge.alpha else lasso.conjugate(g)


class GroupL2(Penalty):
    r"""Group lasso :math:`\alpha\sum_g\lVert w_g\rVert_2`; rows of a matrix are groups by default.

    Parameters
    ----------
    alpha : float
    groups : array of int, optional
        Group of every coefficient (of a vector).

    Examples
    --------
    >>> GroupL2(1.0).prox([[3.0, 4.0], [0.3, 0.4]])
    array([[2.4, 3.2],
           [0. , 0. ]])
    """

    def __init__(self, alpha: float = 1.0, groups: ArrayLike | None = None) -> None:
        self.alpha = alpha
        self.groups = None if groups is None else np.asarray(groups)

    def _norms(self, w):
        """Return the norm of its group for every coefficient."""
        if self.groups is None:
            return np.broadcast_to(np.linalg.norm(w, axis=1, keepdims=True), w.shape), w.shape[1]
        squares = np.bincount(self.groups, weights=w**2)
        return np.sqrt(squares)[self.groups], np.bincount(self.groups)[self.groups]

    def value(self, w):
        norms, repeats = self._norms(np.asarray(w, dtype=float))
        return self.alpha * float(np.sum(norms / repeats))

    def prox(self, w, step=1.0):
        w = np.asarray(w, dtype=float)
        norms, _ = self._norms(w)
        scale = np.divide(step * self.alpha, norms, out=np.full(w.shape, np.inf), where=norms > 0)
        return w * np.maximum(0.0, 1.0 - scale)

    def dual_norm(self, g):
        """Return the largest norm of a group."""
        return float(self._norms(np.asarray(g, dtype=float))[0].max(initial=0.0))

    def conjugate(self, g):
        return 0.0 if self.dual_norm(g) <= self.alpha * (1.0 + 1e-12) else np.inf


class Lp(Penalty):
    r"""Bridge penalty :math:`\alpha\sum_j|w_j|^p`; p = ∞ is α·max|w_j|, p = 0 counts the non-zeros.

    Convex for p ≥ 1. Below 1 the proximal step compares 0 with the larger stationary point; ties give 0.

    Examples
    --------
    >>> Lp(0.5, p=0.5).prox([2.0]).round(6)
    array([1.814402])
    """

    def __init__(self, alpha: float = 1.0, *, p: float = 1.0) -> None:
        if not p >= 0:
            raise ValueError(f"p must be 0, positive or infinite; got {p!r}.")
        self.alpha, self.p = alpha, p

    @property
    def is_convex(self):
        """Whether p ≥ 1."""
        return self.p >= 1

    def value(self, w):
        if self.p in (0, np.inf):
            return self.alpha * lp_norm(w, self.p)
        return self.alpha * float(np.sum(np.abs(w) ** self.p))

    def prox(self, w, step=1.0):
        z, t = np.asarray(w, dtype=float), step * self.alpha
        if self.p == np.inf:
            return z - project_l1_ball(z, t)
        if self.p == 1:
            return soft_threshold(z, t)
        if self.p == 2:
            return z / (1.0 + 2.0 * t)
        return np.sign(z) * np.vectorize(lambda a: _scalar_prox(a, t, self.p), otypes=[float])(np.abs(z))


def project_l1_ball(z: Floats, radius: float) -> Floats:
    """Return the nearest point with Σ|u_j| ≤ radius (sort and threshold).

    >>> project_l1_ball(np.array([3.0, 1.0]), 2.0)
    array([2., 0.])
    """
    size = np.abs(z).ravel()
    if size.sum() <= radius:
        return z.copy()
    ordered = np.sort(size)[::-1]
    excess = (np.cumsum(ordered) - radius) / np.arange(1, len(ordered) + 1)
    threshold = excess[np.flatnonzero(ordered > excess)[-1]] if radius > 0 else size.max()
    return soft_threshold(z, threshold)


def _scalar_prox(a: float, t: float, p: float) -> float:
    """Minimize ½(w − a)² + t·w^p over w ≥ 0, for a ≥ 0."""
    if a == 0.0 or t == 0.0:
        return a
    if p == 0:
        return a if a * a > 2.0 * t else 0.0

    def slope(w: float) -> float:
        return w - a + t * p * w ** (p - 1.0)

    if p > 1:
        return float(brentq(slope, 0.0, a, xtol=1e-16, rtol=8.9e-16))
    bottom = (t * p * (1.0 - p)) ** (1.0 / (2.0 - p))  # the slope's own minimum
    if bottom >= a or slope(bottom) >= 0.0:
        return 0.0
    w = float(brentq(slope, bottom, a, xtol=1e-16, rtol=8.9e-16))
    return w if 0.5 * (w - a) ** 2 + t * w**p < 0.5 * a * a else 0.0
