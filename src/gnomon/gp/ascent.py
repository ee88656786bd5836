"""Uphill within bounds, one step at a time: a quasi-Newton method for a few hyper-parameters.

The curvature is kept whole (BFGS), coordinates that press against a bound rest, and a step that does not
gain enough is shortened. An objective that has no value somewhere counts as infinitely low.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.linalg import Array

Objective = Callable[[Array], tuple[float, Array, Any]]  # value, gradient, and what was fitted on the way

LONGEST = 3.0  # change of one logarithm in a step, at most
FLAT = 1e-9  # relative gain below which a step counts as none
LOST = 1e-12  # relative gain that rounding hides
SLOPE = 1e-5  # largest slope that counts as none
TRIES = 12  # shortenings of a step


class Ascent(NamedTuple):
    """A point with its value and gradient, and what is known of the curvature."""

    theta: Array
    value: float
    gradient: Array
    bend: Array  # minus the curvature, as far as it is known
    fit: Any
    still: int = 0  # steps in a row that gained next to nothing
    steps: int = 0
    done: bool = False


def begin(objective: Objective, theta: Array) -> Ascent:
    """Return the state at a point; without coordinates there is nothing to climb."""
    value, gradient, fit = objective(theta)
    return Ascent(theta, value, gradient, np.eye(len(theta)), fit, done=len(theta) == 0)


def slope(theta: Array, gradient: Array, bounds: Array) -> float:
    """Return the largest slope that no bound holds back."""
    moved = np.clip(theta + gradient, bounds[:, 0], bounds[:, 1]) - theta
    return float(np.abs(moved).max(initial=0.0))


def climb(objective: Objective, bounds: Array, state: Ascent) -> Ascent:
    """Return the state after one step; `done` where nothing is left to gain."""
    if state.done or slope(state.theta, state.gradient, bounds) <= SLOPE:
        return state._replace(done=True)
    new = None
    for bend in (state.bend, np.eye(len(state.theta))):  # the plain gradient where the curvature misleads
        direction = _direction(state, bounds, bend)
        if not direction @ state.gradient > 0:
            continue
        if state.steps == 0 or bend is not state.bend:
            direction /= max(1.0, float(np.abs(direction).sum()))
        direction *= min(1.0, LONGEST / float(np.abs(direction).max()))
        new = _line(objective, bounds, state, direction)
        if new is not None:
            break
    if new is None:
        return state._replace(done=True)
    theta, value, gradient, fit = new
    gain = value - state.value
    still = state.still + 1 if gain <= FLAT * max(1.0, abs(value)) else 0
    bend = _curvature(state, theta - state.theta, state.gradient - gradient)
    finished = still >= 2 or slope(theta, gradient, bounds) <= SLOPE
    return Ascent(theta, value, gradient, bend, fit, still, state.steps + 1, finished)


def _direction(state: Ascent, bounds: Array, bend: Array) -> Array:
    """Return Newton's direction for the coordinates that are free: none of them leaves through its bound."""
    low, high = state.theta <= bounds[:, 0], state.theta >= bounds[:, 1]
    free = ~((low & (state.gradient < 0)) | (high & (state.gradient > 0)))
    while True:
        direction = np.zeros(len(free))
        at = np.flatnonzero(free)
        direction[at] = np.linalg.solve(bend[np.ix_(at, at)], state.gradient[at])
        leaves = (low & (direction < 0)) | (high & (direction > 0))
        if not leaves.any():
            return direction
        free &= ~leaves


def _line(objective: Objective, bounds: Array, state: Ascent, direction: Array) -> Any:
    """Return the first point along the direction, bent at the bounds, that gains enough; None where none does."""
    t = 1.0
    for _ in range(TRIES):
        theta = np.clip(state.theta + t * direction, bounds[:, 0], bounds[:, 1])
        promised = float(state.gradient @ (theta - state.theta))
        if promised <= LOST * max(1.0, abs(state.value)) or np.array_equal(theta, state.theta):
            return None  # what is left to gain is lost in rounding
        value, gradient, fit = objective(theta)
        if np.isfinite(value) and value >= state.value + 1e-4 * promised:
            return theta, value, gradient, fit
        lost = state.value + promised - value
        t *= float(np.clip(0.5 * promised / lost, 0.1, 0.5)) if np.isfinite(lost) else 0.2
    return None


def _curvature(state: Ascent, move: Array, drop: Array) -> Array:
    """Return the curvature after a move along which the gradient dropped so much."""
    product = float(move @ drop)
    if product <= 1e-10 * float(np.linalg.norm(move) * np.linalg.norm(drop)):
        return state.bend
    bend = state.bend
    if state.steps == 0:
        bend = bend * (float(drop @ drop) / product)
    push = bend @ move
    return bend + np.outer(drop, drop) / product - np.outer(push, push) / float(move @ push)
