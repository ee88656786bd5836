"""L-BFGS for wide machines with the squared hinge, most of it on the rows inside the margin or near."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array
from gnomon.core.rows import MemoryRows
from gnomon.core.sums import per_row
from gnomon.solvers import newton, quasi, terms

MANY = 5000  # rows from which wide data are left to L-BFGS
LONGER = 100  # steps of L-BFGS more than elsewhere before Newton's method takes over
WORTH = 3e-10  # share of the objective that is still worth a step of L-BFGS
SETTLED = 30  # steps after which most rows stay on their side of the margin
BURST = 50  # steps between two looks at the rows that are far outside
NEAR = 0.3  # distance outside the margin that few rows cross in so many steps


def start(rows: Any, objective: newton.Objective, theta: Array) -> Any:
    """Return the state at theta: of L-BFGS, or of Newton's method where rows are few."""
    if rows.n_rows > MANY:
        return quasi.start(rows, objective, theta)._replace(k=-LONGER)
    return newton.newton_start(rows, objective, theta, curved=False)


def step(rows: Any, objective: newton.Objective, state: Any, tol: float) -> Any:
    """One step; more while the gap is small enough but the curvature seen promises a gain."""
    inner = _burst(rows, objective, state, tol)
    while not _is_flat(objective, inner, tol) and newton.gradient_gap(objective, inner.gradient) <= (
        tol * inner.value
    ):
        inner = _burst(rows, objective, inner, tol)
    return inner


def _is_flat(objective, inner, tol):
    """Tell whether the gap is small enough and nothing promises a gain."""
    if not isinstance(inner, quasi.QuasiState) or inner.k >= quasi.PATIENCE:
        return True
    small = newton.gradient_gap(objective, inner.gradient) <= tol * abs(inner.value)
    return small and inner.decrement() <= WORTH * abs(inner.value)


def _burst(rows, objective, state, tol):
    """Some steps on the sparse rows inside the margin or near, then a look at all; one step on all rows while
    the margin moves much, and where the rows outside were missed.
    """
    settled = isinstance(state, quasi.QuasiState) and SETTLED - LONGER <= state.k < quasi.PATIENCE
    if settled and sparse.issparse(rows.X):
        few, inner = near_margin(rows, objective.model, state.theta), state
        for _ in range(BURST):
            inner = quasi.step(few, objective, inner, tol=1e-2 * tol)
            if _is_flat(objective, inner, tol):
                break
        found = newton.evaluate(rows, objective, inner.theta)
        if found.value < state.value:
            return inner.seen(found.value, found.gradient)
    return quasi.step(rows, objective, state, tol=1e-2 * tol)


def near_margin(rows: Any, model: terms.Model, theta: Array) -> Any:
    """Return the rows that have a loss at theta, or nearly; the others have neither slope nor curvature."""
    keep = np.flatnonzero(per_row(margins, rows, theta, model) < 1.0 + NEAR)
    return terms.cut(MemoryRows(rows.X[keep], rows.y[keep], rows.weight[keep], classes=rows.classes))


def margins(chunk, theta, model):
    """y times the score of every row."""
    return terms.targets(chunk, model.positive) * terms.scores(chunk.X, theta, model.intercept)
