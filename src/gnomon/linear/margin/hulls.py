"""Separability: can a hyperplane or a circle part two classes, and if not, what proves it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import optimize

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import encode, matrix
from gnomon.solvers.margin_programs import hard_margin
from gnomon.solvers.separation import circle_between, common_point, soft_plane, widest_plane


class Separability(NamedTuple):
    """Whether two classes are separable, by what plane, or why not."""

    separable: bool
    coef: Array | None
    intercept: float
    margin: float  # of the plane found: the largest possible if asked for
    certificate: Array | None  # α ≥ 0, Σα = 1, Σ α_i y_i x_i = 0 (and Σ α_i y_i = 0): the hulls meet


def _signed(X: Any, y: Any) -> tuple[Array, Array]:
    X = np.asarray(matrix(X), dtype=float)
    classes, codes = encode(y)
    if len(classes) != 2:
        raise DataError(f"separability is about two classes; y has {len(classes)}: {classes[:3].tolist()}.")
    return X, 2.0 * codes - 1.0


def separability(
    X: Any, y: Any, *, origin: bool = False, margin: bool = False, tol: float = 1e-9
) -> Separability:
    r"""Tell whether a hyperplane separates two classes, with a proof either way.

    .. math:: \max_{w,b,t} t \quad\text{s.t.}\quad y_i(w\cdot x_i + b) \ge t,\; |w_j| \le 1,\; t \le 1

    The classes are separable iff the optimum is positive. If not, the dual gives α ≥ 0 with Σα = 1 and
    Σ α_i y_i x_i = 0 (and Σ α_i y_i = 0 unless `origin`): a point common to both convex hulls.

    Parameters
    ----------
    X, y : array of shape (n, d), array of shape (n,)
    origin : bool, default=False
        Only planes through the origin.
    margin : bool, default=False
        Return the plane of largest margin (hard-margin SVM) instead of any.
    tol : float, default=1e-9
        Touching hulls are not separable.

    Examples
    --------
    >>> separability([[0.0], [1.0]], [0, 1]).separable
    True
    >>> xor = separability([[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, 0, 0])
    >>> xor.separable, xor.certificate
    (False, array([0.25, 0.25, 0.25, 0.25]))
    """
    X, s = _signed(X, y)
    center = np.zeros(X.shape[1]) if origin else 0.5 * (X.min(axis=0) + X.max(axis=0))
    X = X - center  # where zero lies says nothing about the classes, but takes digits
    scale = np.abs(X).max(axis=0, initial=0.0)
    scale = np.where(scale > 0.0, scale, 1.0)
    w, b, t = widest_plane(X / scale, s, origin)
    if t <= tol:
        return Separability(False, None, 0.0, 0.0, common_point(X / scale, s, origin))
    w = w / scale
    if margin:
        w, b = hard_margin(X, s, origin=origin)
    narrowest = float((s * (X @ w + b)).min() / np.linalg.norm(w))
    return Separability(True, w, float(b - w @ center), narrowest, None)


def weight_constraints(X: Any, y: Any) -> Array:
    """Return y_i (x_i, 1): each row is a half-space {θ: row·θ > 0} that separating weights must lie in.

    >>> weight_constraints([[1.0], [2.0]], [1, 0])
    array([[ 1.,  1.],
           [-2., -1.]])
    """
    X, s = _signed(X, y)
    return s[:, None] * np.column_stack([X, np.ones(len(X))])


def feasible_region(X: Any, y: Any, box: float = 10.0) -> Array:
    """Return the corners of the separating weights through the origin for two features, inside a box.

    The region is a cone cut by the square |w_j| ≤ box; no corners means that there is none.

    >>> len(feasible_region([[1.0, 0.0], [-1.0, 0.1]], [1, 0]))
    5
    """
    X, s = _signed(X, y)
    if X.shape[1] != 2:
        raise DataError(f"the region can be drawn for two features; X has {X.shape[1]}.")
    corners = box * np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
    for normal in s[:, None] * X:
        corners = _clip(corners, normal)
    return corners


def _clip(corners, normal):
    """Keep the part of a polygon with normal·w ≥ 0."""
    kept = []
    for a, b in zip(corners, np.roll(corners, -1, axis=0)):
        da, db = normal @ a, normal @ b
        if da >= 0:
            kept.append(a)
        if (da > 0 > db) or (da < 0 < db):
            kept.append(a + da / (da - db) * (b - a))
    return np.array(kept).reshape(-1, 2)


class HullMembership(NamedTuple):
    """Whether a point is in a convex hull, and the weights that make it."""

    inside: bool
    weights: Array | None


def hull_contains(points: Any, q: Any, *, tol: float = 1e-9) -> HullMembership:
    """Tell whether q is a convex combination of the points, and which.

    >>> hull_contains([[0.0, 0], [2, 0], [0, 2]], [0.5, 0.5]).inside
    True
    """
    P, q = np.asarray(matrix(points), dtype=float), np.asarray(q, dtype=float)
    A, target = np.vstack([P.T, np.ones(len(P))]), np.r_[q, 1.0]
    found = optimize.linprog(np.zeros(len(P)), A_eq=A, b_eq=target, method="highs")
    inside = found.status == 0 and np.abs(A @ found.x - target).max() <= tol * max(1.0, np.abs(target).max())
    return HullMembership(bool(inside), found.x if inside else None)


class CircleFit(NamedTuple):
    """A circle that parts two classes: inside is class `inside`."""

    separable: bool
    center: Array | None
    radius: float
    inside: Any
    outside: Any = None

    def predict(self, X: Any) -> Array:
        """Return the class inside for rows nearer to the center than the radius, else the other."""
        if self.center is None:
            raise DataError("no circle separates the classes, so there is none to predict with.")
        far = np.linalg.norm(np.asarray(X, dtype=float) - self.center, axis=1)
        return np.where(far < self.radius, self.inside, self.outside)


def circle_separability(X: Any, y: Any, *, center: Any = None, tol: float = 1e-9) -> CircleFit:
    r"""Tell whether a circle (sphere) parts two classes.

    :math:`s\,y_i(r^2 - \lVert x_i - c\rVert^2) > 0` is linear in :math:`(2c, r^2 - \lVert c\rVert^2)`, so it
    is the separability of rows (x, −‖x‖²) with the last weight fixed.

    Parameters
    ----------
    X, y : array of shape (n, d), array of shape (n,)
    center : None, "origin" or array
        Free, or given: then it is a gap in the sorted distances.

    Examples
    --------
    >>> circle_separability([[0.1, 0], [2.0, 0], [0, -2]], [1, 0, 0], center="origin").separable
    True
    """
    X, s = _signed(X, y)
    classes = np.unique(np.asarray(y))
    if center is not None:
        middle = np.zeros(X.shape[1]) if isinstance(center, str) else np.asarray(center, dtype=float)
        return _circle_around(X, s, middle, classes, tol)
    for sign, inside, outside in ((1.0, classes[1], classes[0]), (-1.0, classes[0], classes[1])):
        found = circle_between(X, sign * s, tol)
        if found is not None:
            return CircleFit(True, *found, inside, outside)
    return CircleFit(False, None, 0.0, None)


def _circle_around(X, s, middle, classes, tol):
    far = np.linalg.norm(X - middle, axis=1)
    for sign, inside, outside in ((1.0, classes[1], classes[0]), (-1.0, classes[0], classes[1])):
        low, high = far[sign * s > 0].max(), far[sign * s < 0].min()
        if low < high - tol * max(1.0, high):
            return CircleFit(True, middle, float(0.5 * (low + high)), inside, outside)
    return CircleFit(False, None, 0.0, None)


class FewestErrors(NamedTuple):
    """Plane with the fewest mistakes, and whether that is proven."""

    coef: Array
    intercept: float
    n_errors: int
    proven: bool


def minimize_zero_one(
    X: Any, y: Any, *, origin: bool = False, margin: float = 0.0, max_nodes: int = 100_000
) -> FewestErrors:
    """Find the plane with the fewest mistakes (y·f ≤ 0, or < `margin`) by branch and bound.

    At a node some rows are given up and the rest must be right; if they cannot be, some row of an infeasible
    core has to be given up, too. With ``margin=1`` it counts margin errors of a plane of bounded length.

    >>> minimize_zero_one([[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, 0, 0]).n_errors
    1
    """
    X, s = _signed(X, y)
    Z = s[:, None] * np.column_stack([X, np.full(len(X), float(not origin))])
    best = _count(Z, soft_plane(Z, np.zeros(0, dtype=int), margin)[0], margin)
    queue, seen, nodes, proven = [frozenset()], {frozenset()}, 0, True
    while queue:
        given_up = queue.pop(0)  # breadth first: the first success is the smallest
        if len(given_up) >= best[0]:
            continue
        nodes += 1
        if nodes > max_nodes:
            proven = False
            break
        theta, slack = soft_plane(Z, np.array(sorted(given_up), dtype=int), margin)
        trial = _count(Z, theta, margin)
        if trial[0] < best[0]:
            best = trial
        core = [int(i) for i in np.flatnonzero(slack) if int(i) not in given_up]
        for row in core:
            child = given_up | {row}
            if child not in seen and len(child) < best[0]:
                seen.add(child)
                queue.append(child)
    theta = best[1]
    return FewestErrors(theta[:-1], float(theta[-1]), int(best[0]), proven)


def _count(Z, theta, margin):
    scores = Z @ theta
    wrong = scores <= 1e-9 if margin == 0 else scores < margin - 1e-9
    return int(wrong.sum()), theta
