"""Dual coordinate descent with shrinking for hinge machines whose intercept is penalized (or absent).

Suited to wide and sparse rows. The certificate is the duality gap, computed over all rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array
from gnomon.loops import dual as loops
from gnomon.solvers.terms import parts


class DualState(NamedTuple):
    """Weights (intercept's last), multipliers, the slopes that allow shrinking, and both values."""

    theta: Array
    alpha: Array
    limits: tuple[float, float]
    epoch: int = 0
    primal: float = np.inf
    dual: float = -np.inf


class DualMachine(NamedTuple):
    """½‖θ‖² + Σ cost·hinge(y x·θ), or with `extra` = 1/(2C) the squared hinge; `constant` is the intercept's
    column.
    """

    y: Array
    cost: Array
    extra: Array
    norms: Array
    constant: float


def dual_machine(rows: Any, y: Array, cost: Array, constant: float) -> DualMachine:
    """Return the problem with the norms of its rows."""
    X = rows.X
    squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
    return DualMachine(
        y, cost, np.zeros(len(y)), np.asarray(squares, dtype=float).ravel() + constant**2, constant
    )


def dual_start(rows: Any, machine: DualMachine) -> DualState:
    """Begin at zero."""
    width = rows.n_features + (machine.constant != 0.0)
    return DualState(np.zeros(width), np.zeros(rows.n_rows), (np.inf, -np.inf))


def dual_step(
    rows: Any, machine: DualMachine, state: DualState, rng: np.random.Generator, epochs: int = 5
) -> DualState:
    """A few passes in random order, the last ones over unshrunk rows, then the gap."""
    theta, alpha, limits = state.theta.copy(), state.alpha.copy(), state.limits
    for k in range(epochs):
        order = rng.permutation(rows.n_rows)
        found = _epoch(rows.X, order, machine, theta, alpha, (np.inf, -np.inf) if k == 0 else limits)
        limits = (found[0] if found[0] > 0 else np.inf, found[1] if found[1] < 0 else -np.inf)
    return _valued(rows, machine, DualState(theta, alpha, limits, state.epoch + epochs))


def _epoch(X, order, m, theta, alpha, limits):
    if sparse.issparse(X):
        return loops.dual_epoch_csr(
            *parts(X), order, m.y, m.cost, m.extra, m.norms, m.constant, theta, alpha, limits
        )
    return loops.dual_epoch_dense(X, order, m.y, m.cost, m.extra, m.norms, m.constant, theta, alpha, limits)


def _valued(rows, m, state):
    theta = state.theta
    scores = rows.X @ (theta[:-1] if m.constant else theta) + (m.constant * theta[-1] if m.constant else 0.0)
    slack = np.maximum(1.0 - m.y * scores, 0.0)
    half = 0.5 * float(theta @ theta)
    return state._replace(primal=half + float(m.cost @ slack), dual=float(state.alpha.sum()) - half)
