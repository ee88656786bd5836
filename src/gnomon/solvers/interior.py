"""Interior points: a dense quadratic program, and the support vector machine with many rows and few columns.

Both are primal–dual with Mehrotra's predictor and corrector; the second forms one d × d matrix a step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from gnomon.core.linalg import Array
from gnomon.core.sums import per_row, total
from gnomon.loops import few_rows
from gnomon.solvers import terms


class Program(NamedTuple):
    """Solution of a quadratic program."""

    x: Array
    multipliers: Array
    gap: float
    n_iter: int


def quadratic_program(
    Q: Array, c: Array, G: Array, h: Array, *, tol: float = 1e-14, max_iter: int = 200
) -> Program:
    r"""Minimize ½ xᵀQx + cᵀx subject to Gx ≥ h, for small dense problems.

    >>> quadratic_program(np.eye(1), np.zeros(1), np.eye(1), np.array([2.0])).x.round(6)
    array([2.])
    """
    m, n = G.shape
    x, z = np.zeros(n), np.ones(m)
    s = np.maximum(G @ x - h, 1.0)
    best, waited = (np.inf, x, z, float(m)), 0
    k = 0
    for k in range(max_iter):  # noqa: B007 - told at the end
        dual, slack = Q @ x + c - G.T @ z, G @ x - h - s
        mu, size = float(s @ z) / m, 1.0 + abs(float(0.5 * x @ Q @ x + c @ x))
        merit = max(mu * m, np.abs(dual).max(initial=0.0), np.abs(slack).max(initial=0.0)) / size
        waited = 0 if merit < best[0] else waited + 1
        if merit < best[0]:
            best = (merit, x, z, mu * m)
        if merit <= tol or waited > 3 or not np.isfinite(merit):
            break  # done, or rounding allows no more
        with np.errstate(all="ignore"):
            x, s, z = _program_step(Q, G, x, s, z, dual, slack, mu)
    return Program(best[1], best[2], best[3], k + 1)


def _program_step(Q, G, x, s, z, dual, slack, mu):
    """One predictor–corrector step of the dense program."""
    d = z / s
    H = Q + (G.T * d) @ G
    H[np.diag_indices_from(H)] += 1e-13 * max(1.0, float(np.abs(Q).max(initial=0.0)))
    factor = linalg.lu_factor(H, check_finite=False)

    def move(target):
        e = target / z - s - slack  # Δz = d (e − G Δx)
        dx = linalg.lu_solve(factor, G.T @ (d * e) - dual, check_finite=False)
        return dx, G @ dx + slack, d * (e - G @ dx)

    dx, ds, dz = move(np.zeros(len(s)))
    share = _room(s, ds, z, dz)
    sigma = (float((s + share * ds) @ (z + share * dz)) / (len(s) * mu)) ** 3
    dx, ds, dz = move(sigma * mu - ds * dz)
    share = min(1.0, 0.995 * _room(s, ds, z, dz))
    return x + share * dx, s + share * ds, z + share * dz


def _room(s, ds, z, dz, top=1.0):
    """Largest step that keeps both vectors positive."""
    room = top
    for value, change in ((s, ds), (z, dz)):
        falls = change < 0.0
        if falls.any():
            room = min(room, float(np.min(-value[falls] / change[falls])))
    return room


# -- hinge-type machines -------------------------------------------------------------------------------------


class Machine(NamedTuple):
    """½ Σ ridge θ² + Σ_k c_k max(0, p_k − sign_k · x_k·θ): each block of constraints uses every row once."""

    ridge: Array  # (D,)
    signs: tuple[Array, ...]  # one (n,) vector a block
    offsets: tuple[Array, ...]  # p
    costs: tuple[Array, ...]  # c
    intercept: bool


class InteriorState(NamedTuple):
    """Parameters, slacks and multipliers of all blocks, one after the other."""

    theta: Array
    s: Array  # of the margins
    xi: Array  # hinge part
    alpha: Array
    primal: float = np.inf
    dual: float = -np.inf


def margins_of(chunk, theta, intercept):
    """Scores of a chunk."""
    return terms.scores(chunk.X, theta, intercept)


def weighted_gram(chunk, D, weight):
    """Σ weight x xᵀ of a chunk, bordered by the intercept."""
    out = np.zeros((D, D))
    part = weight[chunk.start : chunk.start + len(chunk.weight)]
    for block in terms.blocks(chunk.X):
        terms.add_hessian(chunk.X[block], part[block], out, D > chunk.X.shape[1])
    return out


def combine(chunk, D, weight):
    """Σ weight x of a chunk."""
    out = np.zeros(D)
    part = weight[chunk.start : chunk.start + len(chunk.weight)]
    terms.add(chunk.X, part, out[: chunk.X.shape[1]])
    if D > chunk.X.shape[1]:
        out[-1] = part.sum()
    return out


class _Rows:
    """Products with A = sign∘X for all blocks."""

    def __init__(self, rows, machine):
        self.rows, self.m, self.D = rows, machine, len(machine.ridge)
        self.n = rows.n_rows

    def times(self, theta):
        z = per_row(margins_of, self.rows, theta, self.m.intercept)
        return np.concatenate([sign * z for sign in self.m.signs])

    def transposed(self, v):
        weight = sum(sign * part for sign, part in zip(self.m.signs, v.reshape(-1, self.n)))
        return total(combine, self.rows, self.D, weight)

    def gram(self, d):
        return total(weighted_gram, self.rows, self.D, d.reshape(-1, self.n).sum(axis=0))


def machine_start(rows: Any, machine: Machine) -> InteriorState:
    """Begin at θ = 0 with multipliers in the middle of their boxes."""
    p, c = np.concatenate(machine.offsets), np.concatenate(machine.costs)
    xi = np.maximum(p, 0.0) + 1.0
    return InteriorState(np.zeros(len(machine.ridge)), xi - p, xi, 0.5 * c)


def machine_step(rows: Any, machine: Machine, state: InteriorState) -> InteriorState:
    """One predictor–corrector step; returns the new point with its primal and dual value."""
    if terms.few(rows, len(machine.ridge)):
        new = _machine_step_few(terms.loop_array(rows.X), machine, state)
        if new is not None:
            return new
    A = _Rows(rows, machine)
    c = np.concatenate(machine.costs)
    live = c > 0.0
    theta, s, xi, alpha = state.theta, state.s, state.xi, state.alpha
    beta = np.where(live, c - alpha, 1.0)
    alpha = np.where(live, alpha, 1.0)
    count = 2.0 * live.sum()
    mu = float((alpha * s)[live].sum() + (beta * xi)[live].sum()) / count
    residual = machine.ridge * theta - A.transposed(np.where(live, alpha, 0.0))
    D = np.where(live, 1.0 / (s / alpha + xi / beta), 0.0)
    H = A.gram(D)
    H[np.diag_indices_from(H)] += machine.ridge + 1e-13 * (np.trace(H) / len(H) + 1.0)
    factor = linalg.cho_factor(H, check_finite=False)

    def move(first, second):
        rx = second / beta - xi
        e = first / alpha - s - rx
        dt = linalg.cho_solve(factor, A.transposed(D * e) - residual, check_finite=False)
        drop = A.times(dt)
        da = D * (e - drop)
        dx = rx + xi / beta * da
        return dt, drop + dx, dx, da

    zero = np.zeros_like(s)
    dt, ds, dx, da = move(zero, zero)
    share = min(
        _room(s[live], ds[live], alpha[live], da[live]), _room(xi[live], dx[live], beta[live], -da[live])
    )
    after = float(((alpha + share * da) * (s + share * ds))[live].sum())
    after += float(((beta - share * da) * (xi + share * dx))[live].sum())
    sigma = (after / count / mu) ** 3
    dt, ds, dx, da = move(sigma * mu - da * ds, sigma * mu + da * dx)
    share = min(
        _room(s[live], ds[live], alpha[live], da[live]), _room(xi[live], dx[live], beta[live], -da[live])
    )
    share = min(1.0, 0.995 * share)
    theta, alpha = theta + share * dt, np.where(live, alpha + share * da, 0.0)
    new = InteriorState(theta, s + share * ds, xi + share * dx, alpha)
    return new._replace(**machine_values(A, machine, theta, alpha))


def _machine_step_few(X, machine, state):
    """The same in one compiled loop; None where it finds no factor."""
    ridge, signs, offsets, costs, _ = machine
    theta, s, xi, alpha = (field.copy() for field in state[:4])
    if not few_rows.machine_step(X, ridge, signs, costs, theta, s, xi, alpha):
        return None
    values = few_rows.machine_values(X, ridge, signs, offsets, costs, theta, alpha)
    return InteriorState(theta, s, xi, alpha, *values)


def machine_values(A: Any, machine: Machine, theta: Array, alpha: Array) -> dict[str, float]:
    """Return primal value at θ and dual value at α; a free intercept is left out of the dual's norm."""
    p, c = np.concatenate(machine.offsets), np.concatenate(machine.costs)
    primal = 0.5 * float(machine.ridge @ theta**2) + float(c @ np.maximum(p - A.times(theta), 0.0))
    v = A.transposed(alpha)
    norm = np.divide(v * v, machine.ridge, out=np.zeros_like(v), where=machine.ridge > 0.0).sum()
    return {"primal": primal, "dual": float(p @ alpha) - 0.5 * float(norm)}
