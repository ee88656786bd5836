"""Wide machines with the squared hinge: Newton's method near the margin for sparse rows, else L-BFGS."""

from __future__ import annotations

from typing import Any

from gnomon.core.linalg import Array
from gnomon.solvers import lbfgs, margins, newton

MOST_WIDE_ROWS = 5000  # rows from which wide data are left to L-BFGS
LONGER = 100  # steps of L-BFGS more than elsewhere before Newton's method takes over
WORTH = 3e-10  # share of the objective that is still worth a step of L-BFGS
FINE = 1e-5  # share of `tol` to which Newton's method goes on: near the end each step is worth many


def start(rows: Any, objective: newton.Objective, theta: Array) -> Any:
    """Return the state at theta: in the margins of sparse rows, else of L-BFGS, or Newton's where rows are few."""
    if rows.in_memory and rows.sparse:
        return margins.start(rows, objective, theta)
    if rows.n_rows > MOST_WIDE_ROWS:
        return lbfgs.start(rows, objective, theta)._replace(k=-LONGER)
    return newton.newton_start(rows, objective, theta, curved=False)


def step(rows: Any, objective: newton.Objective, state: Any, tol: float) -> Any:
    """One step; more while the gap is small enough but more is soon gained."""
    inner = _one(rows, objective, state, tol)
    while _gap(objective, inner) <= tol * inner.value and not _is_flat(objective, inner, tol):
        inner, before = _one(rows, objective, inner, tol), inner
        if not _gap(objective, inner) < _gap(objective, before) and not inner.value < before.value:
            break
    return inner


def _one(rows, objective, state, tol):
    if isinstance(state, margins.MarginState):
        return margins.step(rows, objective, state, FINE * tol)
    return lbfgs.step(rows, objective, state, tol=1e-2 * tol)


def _gap(objective, inner):
    return newton.gradient_gap(objective, inner.gradient)


def _is_flat(objective, inner, tol):
    """Tell whether nothing promises a gain."""
    if isinstance(inner, margins.MarginState):
        return _gap(objective, inner) <= FINE * tol * inner.value
    if not isinstance(inner, lbfgs.LbfgsState) or inner.k >= lbfgs.PATIENCE:
        return True
    return inner.decrement() <= WORTH * abs(inner.value)
