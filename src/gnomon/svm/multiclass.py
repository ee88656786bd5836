"""All classes in one machine: Crammer–Singer and Weston–Watkins, in the dual."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.steps import Report
from gnomon.loops import smo

SWEEPS = 50  # passes a step


def solve_together(model: Any, work: Any, state: Any) -> tuple[Any, Report]:
    """Make passes over the rows until the multipliers rest; a step of the loop is some passes."""
    data = work.data
    codes = data.y[work.kept]
    n, k = len(codes), len(data.classes)
    K = np.ascontiguousarray(
        work.rows.full if work.rows.full is not None else work.kernel(work.rows.X), dtype=np.float64
    )
    cost = model._costs(data, work.kept)
    single = model.multi_class == "crammer_singer"
    A = state.extra.get("A", np.zeros((n, k))).copy()
    S = K @ coefficients(A, codes, single)
    order, sweep = np.arange(n), smo.simplex_sweep if single else smo.pairwise_sweep
    sweeps, worst, limit = state.extra.get("sweeps", 0), np.inf, model._steps_allowed()
    goal = min(float(model.tol), 1e-3) * 1e-4
    for _ in range(SWEEPS):
        worst = float(sweep(K, codes, cost, A, S, order))
        sweeps += 1
        if worst <= goal or sweeps >= limit:
            break
    coef = coefficients(A, codes, single)
    S = K @ coef
    primal, dual = values(coef, A, S, codes, cost, single)
    done = worst <= goal or (primal - dual) <= 1e-13 * max(1.0, abs(primal))
    extra = {"A": A, "coef": coef, "sweeps": sweeps, "primal": primal, "dual": dual, "violation": worst}
    return state._replace(extra=extra), Report(
        -dual, certificate=primal - dual, done=done, stalled=sweeps >= limit
    )


def coefficients(A: Array, codes: Array, single: bool) -> Array:
    """Return the coefficient of every row in every class's weights."""
    if single:
        return A
    coef = -A.copy()
    coef[np.arange(len(codes)), codes] = A.sum(axis=1) - A[np.arange(len(codes)), codes]
    return coef


def values(coef: Array, A: Array, S: Array, codes: Array, cost: Array, single: bool) -> tuple[float, float]:
    """Return primal and dual value."""
    at = np.arange(len(codes))
    square = float(np.vdot(coef, S))
    lead = 1.0 + S - S[at, codes][:, None]
    lead[at, codes] = 0.0
    lead = np.maximum(lead, 0.0)
    loss = lead.max(axis=1) if single else lead.sum(axis=1)
    gained = float(A[at, codes].sum()) if single else float(A.sum() - A[at, codes].sum())
    return 0.5 * square + float(cost @ loss), gained - 0.5 * square
