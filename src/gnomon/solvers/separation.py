"""Linear programs about two classes: a plane or a circle between them, a point common to their hulls, least slack."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from gnomon.core.linalg import Array


def widest_plane(X: Array, s: Array, origin: bool) -> tuple[Array, float, float]:
    """Return w, b and the largest t with s(Xw + b) ≥ t in a box."""
    n, d = X.shape
    A = np.column_stack([-s[:, None] * X, -s * (not origin), np.ones(n)])
    reach = 1.0 + float(np.abs(X).sum(axis=1).max(initial=0.0))
    bounds = [(-1, 1)] * d + [(-reach, reach), (None, 1)]
    found = optimize.linprog(np.r_[np.zeros(d + 1), -1.0], A, np.zeros(n), bounds=bounds, method="highs")
    return found.x[:d], float(found.x[d]) * (not origin), float(-found.fun)


def common_point(X: Array, s: Array, origin: bool) -> Array:
    """Return α ≥ 0, Σα = 1, Σ α s x = 0, Σ α s = 0: least squares norm for a unique answer."""
    n = len(s)
    rows = [(s[:, None] * X).T] + ([] if origin else [s[None]]) + [np.ones((1, n))]
    A = np.vstack(rows)
    target = np.r_[np.zeros(len(A) - 1), 1.0]
    alpha, _ = optimize.nnls(
        np.vstack([1e4 * A, 1e-4 * np.eye(n)]), np.r_[1e4 * target, np.zeros(n)], maxiter=100 * n
    )
    if np.abs(A @ alpha - target).max() > 1e-9:
        alpha = optimize.linprog(np.zeros(n), A_eq=A, b_eq=target, method="highs").x
    return alpha


def quasi_separable(X: Any, s: Array, *, origin: bool = False) -> bool:
    """Tell whether some plane leaves no row on the wrong side and at least one strictly on the right one."""
    n, d = X.shape
    scale = np.abs(X).max(axis=0)
    Z = s[:, None] * np.column_stack([X / np.where(scale > 0, scale, 1.0), np.full(n, float(not origin))])
    found = optimize.linprog(-Z.sum(axis=0), -Z, np.zeros(n), bounds=[(-1, 1)] * (d + 1), method="highs")
    return bool(-found.fun > 1e-7)


def least_slack(A: Array) -> float:
    """Return the smallest total slack of any plane."""
    n, D = A.shape
    cost = np.r_[np.zeros(D), np.ones(n)]
    bounds = [(None, None)] * D + [(0, None)] * n
    return float(
        optimize.linprog(
            cost, -np.column_stack([A, np.eye(n)]), -np.ones(n), bounds=bounds, method="highs"
        ).fun
    )


def soft_plane(Z: Array, given_up: Array, margin: float) -> tuple[Array, Array]:
    """Return the plane of least slack on the rows kept, and the rows of an infeasible core: the dual's support."""
    kept = np.setdiff1d(np.arange(len(Z)), given_up)
    n, D = len(kept), Z.shape[1]
    A = np.column_stack([-Z[kept], -np.eye(n)])
    bounds = [(None, None)] * D + [(0, None)] * n
    cost = np.r_[np.zeros(D), np.ones(n)]
    found = optimize.linprog(cost, A, -np.full(n, margin or 1.0), bounds=bounds, method="highs")
    theta, core = found.x[:D], np.zeros(len(Z))
    if found.fun > 1e-9:
        core[kept] = np.abs(found.ineqlin.marginals) > 1e-9
    return theta, core


def circle_between(X: Array, s: Array, tol: float) -> tuple[Array, float] | None:
    """Find c, r with s(2c·x + k − ‖x‖²) ≥ t > 0, k = r² − ‖c‖²; the box keeps the LP bounded."""
    n, d = X.shape
    squares = np.sum(X * X, axis=1)
    size = max(1.0, float(squares.max(initial=0.0)))
    A = np.column_stack([-s[:, None] * X, -s, np.ones(n)])
    bounds = [(-1e4 * size, 1e4 * size)] * (d + 1) + [(None, size)]
    found = optimize.linprog(np.r_[np.zeros(d + 1), -1.0], A, -s * squares, bounds=bounds, method="highs")
    if found.status != 0 or -found.fun <= tol * size:
        return None
    center = found.x[:d] / 2.0
    square = float(found.x[d] + center @ center)
    return (center, float(np.sqrt(square))) if square > 0 else None
