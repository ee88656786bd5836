"""Dual coordinate descent with shrinking for hinge machines whose intercept is penalized (or absent).

Suited to wide and sparse rows. The certificate is the duality gap, computed over all rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array
from gnomon.core.threads import one_blas_thread
from gnomon.loops import dual as loops
from gnomon.loops.products import csr_norms
from gnomon.solvers.terms import add, dot, parts

PASSES = 4  # over the rows, between two looks at the gap


class DualState(NamedTuple):
    """Weights (intercept's last), multipliers, the slopes that allow shrinking, and both values."""

    theta: Array
    alpha: Array
    limits: tuple[float, float]
    epoch: int = 0
    primal: float = np.inf
    dual: float = -np.inf


class DualMachine(NamedTuple):
    """½‖θ‖² + Σ cost·hinge(y x·θ), or the square of the hinge; `constant` is the intercept's column.

    Multipliers lie between 0 and `box`; their squares cost ½ `extra`, which is 1/(2 cost) for the squared
    hinge.
    """

    y: Array
    cost: Array
    box: Array
    extra: Array
    norms: Array
    constant: float
    squared: bool


def dual_machine(rows: Any, y: Array, cost: Array, constant: float, *, squared: bool = False) -> DualMachine:
    """Return the problem with the norms of its rows."""
    box = np.where(cost > 0.0, np.inf, 0.0) if squared else cost
    extra = np.divide(0.5, cost, out=np.zeros(len(y)), where=(cost > 0.0) & squared)
    return DualMachine(y, cost, box, extra, _norms(rows) + constant**2, constant, squared)


def _norms(rows):
    """Squared lengths of the rows; they are kept with `rows`."""
    if not hasattr(rows, "square_norms"):
        if sparse.issparse(rows.X):
            rows.square_norms = np.empty(rows.n_rows)
            csr_norms(parts(rows.X)[0], rows.X.data, rows.square_norms)
        else:
            rows.square_norms = np.einsum("ij,ij->i", rows.X, rows.X, dtype=float)
    return rows.square_norms


def dual_start(rows: Any, machine: DualMachine) -> DualState:
    """Begin at zero."""
    width = rows.n_features + (machine.constant != 0.0)
    return DualState(np.zeros(width), np.zeros(rows.n_rows), (np.inf, -np.inf))


def dual_step(
    rows: Any,
    machine: DualMachine,
    state: DualState,
    rng: np.random.Generator,
    passes: int = PASSES,
    *,
    light: bool = False,
) -> DualState:
    """A few passes in random order, the first one over unshrunk rows, then the gap.

    Light passes over sparse rows keep the weights in float32, half as wide; the weights that belong to the
    multipliers are added up anew behind them, so nothing but the multipliers has felt it.
    """
    light = light and is_light(rows)
    theta = state.theta.astype(np.float32 if light else np.float64)
    alpha, limits = state.alpha.copy(), state.limits
    for k in range(passes):
        order = rng.permutation(rows.n_rows)
        found = _epoch(rows, order, machine, theta, alpha, (np.inf, -np.inf) if k == 0 else limits)
        limits = (found[0] if found[0] > 0 else np.inf, found[1] if found[1] < 0 else -np.inf)
    with one_blas_thread():  # vectors are short: more threads wait for each other
        theta = _weights(rows.X, machine, alpha) if light else theta
        return _valued(rows, machine, DualState(theta, alpha, limits, state.epoch + passes))


def is_light(rows: Any) -> bool:
    """Tell whether the rows are sparse and fit float32 well."""
    return sparse.issparse(rows.X) and float(_norms(rows).max(initial=0.0)) < 1e30


def _weights(X, m, alpha):
    """Σ α y x, with the intercept's last."""
    theta = np.zeros(X.shape[1] + (m.constant != 0.0))
    add(X, alpha * m.y, theta)
    if m.constant:
        theta[-1] = m.constant * float(alpha @ m.y)
    return theta


def _epoch(rows, order, m, theta, alpha, limits):
    given = order, m.y, m.box, m.extra, m.norms, m.constant, theta, alpha, limits
    if not sparse.issparse(rows.X):
        return loops.dual_epoch_dense(rows.X, *given)
    indptr, indices, data = parts(rows.X)
    return loops.dual_epoch_csr(indptr, indices, _like(rows, data, theta.dtype), *given)


def _like(rows, data, dtype):
    """The entries as they are or, for light weights, in float32: these are kept with `rows`."""
    if dtype == np.float64 or data.dtype == dtype:
        return data
    if not hasattr(rows, "light"):
        rows.light = data.astype(dtype)
    return rows.light


def _valued(rows, m, state):
    theta = state.theta
    scores = dot(rows.X, theta[:-1]) + m.constant * theta[-1] if m.constant else dot(rows.X, theta)
    slack = np.maximum(1.0 - m.y * scores, 0.0)
    half, alpha = 0.5 * float(theta @ theta), state.alpha
    primal = half + float(m.cost @ (slack * slack if m.squared else slack))
    return state._replace(
        primal=primal, dual=float(alpha.sum()) - half - 0.5 * float(m.extra @ (alpha * alpha))
    )
