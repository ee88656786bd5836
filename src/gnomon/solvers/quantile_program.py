"""The program behind quantile regression, and an interior point method on its dual.

The fit minimizes Σ s ρ_τ(y − x·w − b) + W α‖w‖₁. Its dual is a linear program in one bounded variable per row,

    max yᵀd   s.t.   Aᵀd = 0,   (τ−1) s ≤ d ≤ τ s,

with one more row (a unit vector, bounds ±Wα) for each penalized coefficient. Each step solves d × d equations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from gnomon.core.linalg import Array

STEP = 0.99995  # share of the way to the border that a step may go


class Units(NamedTuple):
    """How the program's numbers become the user's: columns centered and scaled, and turned where dependent."""

    mean: Array  # (d,)
    scale: Array  # (d,)
    center: float  # of y
    size: float  # of y
    basis: Array  # (width, p) spans the rows of the design; the intercept is number d

    def coefficients(self, beta: Array) -> tuple[Array, float]:
        """Return coefficients and intercept in the units of the data."""
        full, d = self.basis @ beta, len(self.mean)
        coef = full[:d] * self.size / self.scale
        last = full[d] * self.size if len(full) > d else 0.0
        return coef, last + self.center - float(self.mean @ coef)


class Program(NamedTuple):
    """max yᵀd s.t. Aᵀd = 0, −low ≤ d ≤ cap − low."""

    A: Array  # (m, p)
    y: Array  # (m,)
    low: Array  # (m,) positive
    cap: Array  # (m,) width of the box
    count: int  # of the rows that are data
    units: Units


class Interior(NamedTuple):
    """A point of the interior: x = d + low, the slack of its upper bound, duals, coefficients."""

    x: Array
    slack: Array
    z: Array  # duals of x ≥ 0
    w: Array  # duals of slack ≥ 0
    beta: Array  # (p,)
    program: Program  # it follows from the rows, so no checkpoint holds it
    best: Array  # coefficients to be kept
    value: float  # what `beta` costs
    least: float  # what `best` costs


def interior_start(program: Program) -> Interior:
    """d = 0 and the least-squares fit, residuals split into two positive duals."""
    A, y, low, cap, *_ = program
    if sparse.issparse(A):
        beta = _normal_solver(A, np.ones(len(y)))(A.T @ y)
    else:
        beta = linalg.lstsq(A, y, lapack_driver="gelsy")[0]
    r = A @ beta - y
    margin = 1e-3 * max(float(np.abs(r).mean()), 1e-10)
    z = np.maximum(r, 0.0) + margin
    value = primal_value(program, beta)
    return Interior(low.copy(), cap - low, z, z - r, beta, program, beta, value, value)


def interior_step(s: Interior) -> Interior:
    """Mehrotra's predictor and corrector: one factorization, two solves."""
    x, slack, z, w, beta, program, best, _, least = s
    A = program.A
    q = 1.0 / (z / x + w / slack)
    solve = _normal_solver(A, q)
    r = z - w
    dx = q * (A @ solve(A.T @ (q * r)) - r)
    dz, dw = -z * (1.0 + dx / x), -w * (1.0 - dx / slack)
    fp, fd = _reach(x, dx, slack), _dual_reach(z, dz, w, dw)
    mu = z @ x + w @ slack
    ahead = (z + fd * dz) @ (x + fp * dx) + (w + fd * dw) @ (slack - fp * dx)
    mu *= (ahead / mu) ** 3 / (2.0 * len(x))
    bent = dx * dz / x + dx * dw / slack  # of the second order
    pull = r - mu * (1.0 / x - 1.0 / slack) + bent
    dbeta = solve(A.T @ (q * pull))
    dz_first, dw_first = dx * dz, -dx * dw
    dx = q * (A @ dbeta - pull)
    dz = (mu - dz_first) / x - z - z / x * dx
    dw = (mu - dw_first) / slack - w + w / slack * dx
    fp, fd = _reach(x, dx, slack), _dual_reach(z, dz, w, dw)
    beta = beta - fd * dbeta
    value = primal_value(program, beta)
    if not value > least:
        best, least = beta, value
    return Interior(x + fp * dx, slack - fp * dx, z + fd * dz, w + fd * dw, beta, program, best, value, least)


def _normal_solver(A: Array, q: Array) -> Any:
    """Return b ↦ (AᵀQA)⁻¹b, with the slightest ridge where the matrix is singular."""
    if sparse.issparse(A):
        scaled = sparse.csr_array(A.multiply(np.sqrt(q)[:, None]))
        M = (scaled.T @ scaled).toarray()
    else:
        scaled = A * np.sqrt(q)[:, None]
        M = scaled.T @ scaled
    size = max(float(np.trace(M)) / len(M), np.finfo(float).tiny)
    for jitter in (0.0, 1e-14, 1e-12, 1e-10, 1e-8):
        factor, failed = linalg.lapack.dpotrf(M + jitter * size * np.eye(len(M)), lower=1)
        if not failed:
            return lambda b: linalg.cho_solve((factor, True), b, check_finite=False)
    return lambda b: linalg.lstsq(M, b)[0]


def _reach(x: Array, dx: Array, slack: Array) -> float:
    """Longest step that keeps 0 < x < cap."""
    with np.errstate(divide="ignore", invalid="ignore"):
        down = np.where(dx < 0, -x / dx, np.inf).min()
        up = np.where(dx > 0, slack / dx, np.inf).min()
    return min(1.0, STEP * float(min(down, up)))


def _dual_reach(z: Array, dz: Array, w: Array, dw: Array) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.minimum(np.where(dz < 0, -z / dz, np.inf).min(), np.where(dw < 0, -w / dw, np.inf).min())
    return min(1.0, STEP * float(steps))


def primal_value(program: Program, beta: Array) -> float:
    """Σ of the check losses of every row of the program."""
    return check_losses(program, program.y - program.A @ beta)


def check_losses(program: Program, r: Array) -> float:
    """Σ of the check losses of residuals: each costs (cap − low) r above zero, −low r below."""
    return float((program.cap - program.low) @ np.maximum(r, 0.0) - program.low @ np.minimum(r, 0.0))


def certificate(s: Interior, beta: Array) -> tuple[float, float]:
    """What beta costs above the dual bound, and what the bound may lose because rounding left Aᵀd ≠ 0.

    With r = y − A beta the dual value yᵀd is rᵀd + betaᵀAᵀd; the losses exceed rᵀd row by row.
    """
    d = s.x - s.program.low
    r = s.program.y - s.program.A @ beta
    gap = check_losses(s.program, r) - float(r @ d)
    return abs(gap), float(np.abs(beta) @ np.abs(s.program.A.T @ d))


def crossover(s: Interior) -> Array:
    """Return an exact vertex: the fit through the p rows whose duals lie deepest inside their boxes."""
    A, y = s.program.A, s.program.y
    p = A.shape[1]
    depth = np.minimum(s.x, s.slack) / s.program.cap
    rows = np.argsort(-depth, kind="stable")[: 4 * p + 10]
    A = A[rows].toarray() if sparse.issparse(A) else A[rows]
    y = y[rows]
    scaled = A * depth[rows, None] ** 0.5
    _, R, pivot = linalg.qr(scaled.T, mode="economic", pivoting=True)
    diagonal = np.abs(np.diagonal(R))
    rank = int((diagonal > 1e-10 * diagonal[0]).sum()) if len(diagonal) else 0
    chosen = pivot[:rank]
    vertex = linalg.lstsq(A[chosen], y[chosen], lapack_driver="gelsy")[0]
    if s.program.units.basis.shape == (p, p):  # rows of the penalty say that a coefficient is zero
        vertex[rows[chosen[rows[chosen] >= s.program.count]] - s.program.count] = 0.0
    better = primal_value(s.program, vertex) <= s.least * (1 + 1e-12) + 1e-300
    return vertex if better else s.best


def scaled(X: Array, y: Array, s: Array, *, intercept: bool) -> tuple[Array, Array, Units]:
    """Center (for an intercept) and scale columns and target to the size of one."""
    if sparse.issparse(X):
        return _scaled_sparse(X, y, s, intercept=intercept)
    share = intercept * s / s.sum()
    mean, center = share @ X, float(share @ y)
    X, y = X - mean, y - center
    scale, size = np.abs(X).max(axis=0), float(np.abs(y).max())
    flat = (scale <= 64 * np.finfo(float).eps * np.abs(mean)) | (scale < 1e-290)
    scale = np.where(flat, 1.0, scale)
    X = np.where(flat, 0.0, X / scale)
    size = size if size > 0 else 1.0
    return X, y / size, Units(mean, scale, center, size, np.zeros((0, 0)))


def _scaled_sparse(X: Any, y: Array, s: Array, *, intercept: bool) -> tuple[Any, Array, Units]:
    """Scale the columns of a sparse X, which are not centered: that would fill them."""
    center = float(intercept * (s @ y) / s.sum())
    scale, size = abs(X).max(axis=0).toarray().ravel(), float(np.abs(y - center).max())
    scale, size = np.where(scale < 1e-290, 1.0, scale), size if size > 0 else 1.0
    units = Units(np.zeros(X.shape[1]), scale, center, size, np.zeros((0, 0)))
    return sparse.csr_array(X.multiply(1.0 / scale)), (y - center) / size, units


def row_space(A: Array) -> Array:
    """Orthonormal basis of the space that the rows span: the identity, unless columns depend on each other.

    Coefficients within it are the shortest of all that fit equally well.
    """
    p = A.shape[1]
    R, pivot = linalg.qr(A, mode="r", pivoting=True)
    diagonal = np.abs(np.diagonal(R))
    rank = int((diagonal > 1e-11 * diagonal[0]).sum()) if len(diagonal) and diagonal[0] > 0 else 0
    if rank in (0, p):
        return np.eye(p, rank)
    basis = np.zeros((p, rank))
    basis[pivot] = linalg.svd(R[:rank], full_matrices=False)[2].T
    return basis
