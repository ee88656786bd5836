"""Newton's method for the squared hinge on sparse rows in memory, in the margins of the rows.

The objective Σ weight·max(0, 1 − m)² + ½ Σ ridge·θ² is quadratic while no margin m = y x·θ crosses one, so each
step solves a system of the rows inside the margin by conjugate gradients. These know how every margin moves:
the best length of the step is then found without reading the data. Parameters are weighed by the root of their
curvature with all rows inside; its inverse would let rare columns, of which text has many, run ahead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.sums import total
from gnomon.core.threads import one_blas_thread, shared
from gnomon.loops.margins import slope_along
from gnomon.loops.products import ones_add, ones_dot, rows_add, rows_dot
from gnomon.solvers import newton, terms

LEFT = 0.15  # share of the gradient that a system leaves: margins move on before less would pay
SYSTEM = 500  # products in one system, at most
PIECES = 8  # of the rows that threads share
ENTRIES = 16  # a column in every sum that has a vector of all columns to itself
COPIED_SHARE = (
    0.85  # share of the rows up to which those inside are copied side by side, where they are read faster
)


class MarginState(NamedTuple):
    """A point with its value and gradient, the margins of all rows, their classes, and how parameters are weighed."""

    theta: Array
    value: float
    gradient: Array
    margins: Array
    sign: Array  # ±1
    scale: Array
    ones: bool = False  # every entry is 1


class Some(NamedTuple):
    """Some rows of a CSR matrix, shared out among threads; the borders depend on the rows alone."""

    csr: tuple[Array, ...]  # indptr, indices and, unless every entry is 1, data
    rows: Array
    borders: Array
    intercept: bool
    room: Array  # (sums, D): one sum, or one for so many pieces

    def dot(self, v: Array) -> Array:
        """Return the scores of the rows."""
        out, cuts = np.empty(len(self.rows)), self.borders
        loop = rows_dot if len(self.csr) == 3 else ones_dot
        shared(lambda k: loop(*self.csr, self.rows, cuts[k], cuts[k + 1], v, out), range(len(cuts) - 1))
        return out + v[-1] if self.intercept else out

    def add(self, u: Array) -> Array:
        """Return Σ u x over the rows."""
        room, cuts = self.room, self.borders[:: PIECES // len(self.room)]
        loop = rows_add if len(self.csr) == 3 else ones_add
        shared(lambda k: loop(*self.csr, self.rows, cuts[k], cuts[k + 1], u, room[k]), range(len(cuts) - 1))
        out = room.sum(axis=0)
        if self.intercept:
            out[-1] = u.sum()
        return out


def some(X: Any, rows: Array, intercept: bool, ones: bool = False) -> Some:
    """Return the rows with these numbers, in pieces that have about as many entries each."""
    csr, width = terms.parts(X)[: 2 if ones else 3], X.shape[1] + intercept
    sums = max(k for k in (1, 2, 4, PIECES) if k == 1 or k * ENTRIES * width <= X.nnz)
    ends = np.cumsum(csr[0][rows + 1] - csr[0][rows])
    inner = np.searchsorted(ends, np.arange(1, PIECES) * (ends[-1] / PIECES if len(ends) else 0.0))
    borders = np.concatenate([[0], inner, [len(rows)]]).astype(np.int64)
    return Some(csr, rows, borders, intercept, np.empty((sums, width)))


def has_ones(rows: Any) -> bool:
    """Tell whether every entry is 1, as in sets of words or codes."""
    return bool((rows.X.data == 1.0).all())


def start(rows: Any, objective: newton.Objective, theta: Array) -> MarginState:
    """Return the state at theta."""
    bend = 2.0 * rows.weight
    curvature = total(terms.diagonal_curvature, rows, objective.model, bend) + objective.ridge
    scale = np.sqrt(np.where(curvature > 0.0, curvature, 1.0))
    ones = has_ones(rows)
    everything = _these(rows, objective, np.arange(rows.n_rows), ones)
    sign = np.where(rows.y == objective.model.positive, 1.0, -1.0)
    margins = sign * everything.dot(theta) if theta.any() else np.zeros(rows.n_rows)
    return MarginState(theta, *_at(rows, objective, theta, margins, sign, ones), margins, sign, scale, ones)


def _at(rows, objective, theta, margins, sign, ones):
    """Value and gradient."""
    inside = np.flatnonzero(margins < 1.0)
    slack, weight = 1.0 - margins[inside], rows.weight[inside]
    pull = _these(rows, objective, inside, ones).add(-2.0 * weight * sign[inside] * slack)
    return float(weight @ slack**2) + 0.5 * float(objective.ridge @ theta**2), pull + objective.ridge * theta


def step(rows: Any, objective: newton.Objective, state: MarginState, goal: float) -> MarginState:
    """One Newton step; no system is solved better than a gap of `goal` times the value asks for."""
    with one_blas_thread():  # vectors are short: more threads wait for each other
        gap = newton.gradient_gap(objective, state.gradient)
        left = min(0.5, max(LEFT, 0.5 * np.sqrt(goal * state.value / gap))) if gap > 0.0 else LEFT
        direction, scores = _direction(rows, objective, state, left)
        moves = state.sign * scores
        t = _length(rows, objective, state, direction, moves)
        theta, margins = state.theta + t * direction, state.margins + t * moves
        value, gradient = _at(rows, objective, theta, margins, state.sign, state.ones)
    if not value <= state.value:
        return state
    return state._replace(theta=theta, value=value, gradient=gradient, margins=margins)


def _these(rows, objective, index, ones):
    """The rows with these numbers, where they lie."""
    return some(rows.X, index, objective.model.intercept, ones)


def _direction(rows, objective, state, left):
    """The Newton direction, and how it moves the scores of all rows."""
    inside = np.flatnonzero(state.margins < 1.0)
    near = _side_by_side(rows, objective, inside, state.ones)
    scores = np.empty(rows.n_rows)
    direction, scores[inside] = _solve(near, 2.0 * rows.weight[inside], objective.ridge, state, left)
    outside = _these(rows, objective, np.flatnonzero(state.margins >= 1.0), state.ones)
    scores[outside.rows] = outside.dot(direction)
    return direction, scores


def _side_by_side(rows, objective, index, ones):
    """The same, copied together where they are few enough to pay."""
    if len(index) > COPIED_SHARE * rows.n_rows:
        return _these(rows, objective, index, ones)
    return some(rows.X[index], np.arange(len(index)), objective.model.intercept, ones)


def _solve(near, bend, ridge, state, left):
    """Conjugate gradients until the residual is a share of the gradient; moves are the scores of the answer."""
    x, moves, r = np.zeros_like(state.theta), np.zeros(len(bend)), -state.gradient
    p = r / state.scale
    rz, enough = float(r @ p), left * float(np.linalg.norm(r))
    for _ in range(SYSTEM):
        z = near.dot(p)
        Ap = near.add(bend * z) + ridge * p
        curvature = float(p @ Ap)
        if not curvature > 0.0:
            break
        size = rz / curvature
        x += size * p
        moves += size * z
        r -= size * Ap
        if float(np.linalg.norm(r)) <= enough:
            break
        q = r / state.scale
        rz, before = float(r @ q), rz
        p = q + (rz / before) * p
    return x, moves


def _length(rows, objective, state, direction, moves):
    """The best length of the step: Newton's method on the slope along it, which rises piece by piece."""
    pull = objective.ridge * direction
    first, second = float(pull @ state.theta), float(pull @ direction)
    weight, low, high, t = rows.weight, 0.0, np.inf, 1.0
    for _ in range(60):
        slope, bend = slope_along(state.margins, moves, weight, t)
        slope, bend = slope + first + second * t, bend + second
        low, high = (low, t) if slope > 0.0 else (t, high)
        new = t - slope / bend if bend > 0.0 else t
        if not low <= new <= high:
            new = 0.5 * (low + high) if np.isfinite(high) else 2.0 * t
        if abs(new - t) <= 1e-12 * t:
            break
        t = new
    return t
