"""The dual of the maximum-margin machine: the nearest points of the two classes' convex hulls."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import DataError, InfeasibleError
from gnomon.core.linalg import Array
from gnomon.core.validate import encode, matrix, warn
from gnomon.solvers.hulls import nearest_points


class HullPair(NamedTuple):
    """Nearest points of two hulls, and the plane halfway between them."""

    weights: Array  # (n,): of each class they sum to 1
    u: Array  # Σ weights·x over the second class
    v: Array  # the same over the first
    distance: float  # ‖u − v‖, twice the margin
    gap: float  # the hulls are at least distance − gap apart

    @property
    def coef(self) -> Array:
        """The weights w = 2(u − v)/‖u − v‖² of the maximum-margin machine."""
        if self.distance == 0.0:
            raise DataError("the hulls meet, so no plane lies between them; lower max_weight.")
        return 2.0 * (self.u - self.v) / self.distance**2

    @property
    def intercept(self) -> float:
        """Its intercept −w·(u + v)/2: the plane halves the segment from u to v."""
        return float(-self.coef @ (self.u + self.v) / 2.0)


def nearest_hulls(X: Any, y: Any, *, max_weight: float = 1.0, tol: float = 1e-10) -> HullPair:
    r"""Return the nearest points of the convex hulls of two classes.

    .. math:: \min \lVert u - v\rVert^2,\quad u = \sum_{i \in +} a_i x_i,\; v = \sum_{j \in -} a_j x_j,\quad
              \sum_+ a_i = \sum_- a_j = 1,\; 0 \le a_i \le \mu

    This is the dual of the support vector machine. With μ = 1 the plane halfway between u and v is that of
    the hard margin, which is half the distance; the multipliers are α = 2a/‖u − v‖². With a smaller μ hulls
    are reduced: no row may pull alone, and the plane is that of a soft margin, so that classes which overlap
    have one, too. Distance 0: the hulls meet, and the weights are those of a common point.

    Parameters
    ----------
    X, y : array of shape (n, d), array of shape (n,)
        Two classes; u belongs to the second in sorted order.
    max_weight : float, default=1.0
        μ, at least one over the size of the smaller class.
    tol : float, default=1e-10
        On the gap, in units of the largest distance of a row from the mean of all.

    Returns
    -------
    HullPair
        `weights`, `u`, `v`, `distance`, `gap`, and the plane as `coef` and `intercept`.

    Examples
    --------
    >>> found = nearest_hulls([[0.0, 0], [0, 2], [3, 1], [4, 1]], [0, 0, 1, 1])
    >>> found.u, found.v, found.distance
    (array([3., 1.]), array([0., 1.]), 3.0)
    >>> found.coef.round(6), round(found.intercept, 6)
    (array([0.666667, 0.      ]), -1.0)
    """
    X = np.asarray(matrix(X), dtype=float)
    classes, codes = encode(y)
    if len(classes) != 2 or len(codes) != len(X):
        raise DataError(f"y must hold two classes, one entry for each of the {len(X)} rows of X.")
    _check_weight(max_weight, int(np.bincount(codes).min()))
    centered = X - X.mean(axis=0)
    radius = float(np.linalg.norm(centered, axis=1).max())
    if radius == 0.0:
        raise DataError("all rows of X are the same point.")
    Z, sign = centered / radius, np.where(codes == 1, 1.0, -1.0)
    found = nearest_points(
        lambda rows: Z[rows] @ Z[rows].T,
        lambda signed: Z @ (signed @ Z),
        sign,
        cap=float(max_weight),
        goal=float(tol),
    )
    if found.gap > max(float(tol), 1e-7) and found.distance > tol:
        warn(
            f"nearest_hulls ended with a gap of {radius * found.gap:.3g}: the hulls may be nearer by that much. "
            "Look for rows that are nearly the same, or raise tol.",
            ConvergenceWarning,
        )
    weights = found.weights
    u, v = weights[codes == 1] @ X[codes == 1], weights[codes == 0] @ X[codes == 0]
    meet = found.distance <= tol
    distance = 0.0 if meet else float(np.linalg.norm(u - v))
    return HullPair(weights, u, v, distance, 0.0 if meet else radius * found.gap)


def _check_weight(max_weight, smallest):
    if not 0.0 < max_weight <= 1.0:
        raise ValueError(f"max_weight must be above 0 and at most 1; got {max_weight!r}.")
    if max_weight * smallest < 1.0 - 1e-12:
        raise InfeasibleError(
            f"max_weight={max_weight:g} leaves an empty hull: the smaller class has {smallest} rows, so it "
            f"must be at least {1.0 / smallest:g}."
        )
