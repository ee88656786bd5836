"""Proximal Newton for smooth losses with an ℓ1 penalty: Σ weight·loss + ½ Σ ridge·θ² + l1·Σ|w_j|.

Each step replaces the loss by its quadratic model at the present point, restricted to a working set of
features whose slopes matter, minimizes model plus penalty by coordinate descent in Gram form, and goes as far
along the way as the objective falls. The certificate is the largest distance of a slope from what optimality
allows, per unit of weight. Several classes are treated as the columns of one matrix.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.sums import per_row, total
from gnomon.loops import coordinate as loops
from gnomon.solvers import newton, terms
from gnomon.solvers.coordinate import Penalized, solve_gram


class SparseNewtonState(NamedTuple):
    """A point, its smooth value and gradient, the objective and how far it is from optimal."""

    theta: Array
    gradient: Array
    value: float
    violation: float


def start(rows: Any, objective: newton.Objective, theta: Array, l1: float) -> SparseNewtonState:
    """Return the state at theta."""
    found = newton.evaluate(rows, objective, theta)
    return _state(objective, theta, found, l1)


def _state(objective, theta, found, l1):
    value = found.value + l1 * float(np.abs(_weights(objective, theta)).sum())
    miss = slope_misses(objective, theta, found.gradient, l1)
    return SparseNewtonState(theta, found.gradient, value, float(miss.max(initial=0.0)) / objective.weight)


def _weights(objective, theta):
    return theta[:-1] if objective.model.intercept and objective.ridge[-1] == 0.0 else theta


def thresholds(objective: newton.Objective, theta: Array, l1: float) -> Array:
    """Return l1 for every weight and 0 for a free intercept."""
    t = np.full(theta.shape, l1)
    if objective.model.intercept:
        t[-1] = 0.0 if objective.ridge[-1] == 0.0 and l1 >= 0.0 else l1
    return t


def slope_misses(objective: newton.Objective, theta: Array, gradient: Array, l1: float) -> Array:
    """Return how far every slope is from the subdifferential of the penalty."""
    t = thresholds(objective, theta, l1)
    off = np.maximum(np.abs(gradient) - t, 0.0)
    return np.where(theta != 0.0, np.abs(gradient + t * np.sign(theta)), off)


def step(rows: Any, objective: newton.Objective, state: SparseNewtonState, l1: float, *, tol: float):
    """One proximal Newton step."""
    theta = state.theta if state.theta.ndim == 2 else state.theta[:, None]
    gradient = state.gradient.reshape(theta.shape)
    miss = slope_misses(objective, theta, gradient, l1)
    used = (theta != 0.0).any(axis=1) | (miss.max(axis=1) > 0.0)
    if objective.model.intercept:
        used[-1] = True
    index = np.flatnonzero(used)
    room = max(100, 2 * int((theta != 0.0).any(axis=1).sum()))
    if len(index) > room:
        rank = np.where((theta[index] != 0.0).any(axis=1), np.inf, miss[index].max(axis=1))
        if objective.model.intercept:
            rank[-1] = np.inf
        index = np.sort(index[np.argpartition(-rank, room)[:room]])
    curvature = per_row(terms.curvature_rows, rows, state.theta, objective.model)
    direction = np.zeros_like(theta)
    for k in range(theta.shape[1]):
        direction[index, k] = _model_step(
            rows, objective, theta, gradient, curvature, index, k, l1, state.violation
        )
    return _search(rows, objective, state, direction.reshape(state.theta.shape), l1)


def _model_step(rows, objective, theta, gradient, curvature, index, k, l1, violation):
    """Minimize the quadratic model of one output over the working set; return the move."""
    H = total(working_hessian, rows, objective.model, curvature, index, k)
    H[np.diag_indices_from(H)] += objective.ridge[index] + 1e-12 * np.diagonal(H)
    w = theta[index, k].copy()
    g = -gradient[index, k].copy()
    t = thresholds(objective, theta, l1)[index, k]
    goal = max(0.1 * violation * objective.weight, 1e-13 * np.abs(g).max(initial=0.0))
    pen = Penalized(l1, 0.0)
    solve_gram(H, t, pen, w, g, lambda w, g: loops.gram_violation(t, 0.0, False, w, g) <= goal, 50)
    return w - theta[index, k]


def working_hessian(chunk, model, rows, index, k):
    """Σ h_i x_i x_iᵀ over the features of the working set, bordered by the intercept if it is among them."""
    bend = rows[chunk.start : chunk.start + len(chunk.weight)]
    if model.n_outputs:
        bend = chunk.weight * bend[:, k] * (1.0 - bend[:, k])
    d = chunk.X.shape[1]
    features = index[index < d]
    hessian = np.zeros((len(index), len(index)))
    terms.add_hessian(chunk.X[:, features], bend, hessian, len(features) < len(index))
    return hessian


def _search(rows, objective, state, direction, l1):
    """Halve the step until the objective falls."""
    t = thresholds(objective, state.theta, l1)
    promise = float(np.vdot(state.gradient, direction))
    promise += float(np.sum(t * (np.abs(state.theta + direction) - np.abs(state.theta))))
    slack = 1e-14 * max(1.0, abs(state.value))
    for power in range(40):
        share = 0.5**power
        theta = state.theta + share * direction
        new = _state(objective, theta, newton.evaluate(rows, objective, theta), l1)
        if new.value <= state.value + 1e-4 * share * min(promise, 0.0) + slack:
            return new
    return state
