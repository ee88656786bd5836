"""L-BFGS for smooth linear models with many parameters: every step reads the data once.

A product with the Hessian costs as much as a gradient, so for wide data that is not badly conditioned the
curvature seen along the way is the better bargain; where it is not enough, Newton's method by conjugate
gradients takes over. Besides the certificate (the largest slope) a state knows the decrement ½ gᵀH⁻¹g, what
its model of the curvature says is left to gain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import daxpy

from gnomon.core.linalg import Array
from gnomon.core.sums import per_row, total
from gnomon.core.threads import one_blas_thread
from gnomon.solvers import newton, terms

PAIRS = 30  # of moves and changes of the gradient that are kept
PATIENCE = 50  # steps after which conjugate gradients take over
UNEVEN = 30.0  # spread of the curvatures of the columns from which they are made even
EVERY = 16  # rows of the sample that tells their curvatures


class Pair(NamedTuple):
    """A move, the change of the gradient along it, and their product."""

    move: Array
    change: Array
    bend: float


class LbfgsState(NamedTuple):
    """A point with its value and gradient, and what is known of the curvature."""

    theta: Array
    value: float
    gradient: Array
    scale: Array  # first guess of the inverse curvature, up to a factor, by parameter or by class
    pull: Array  # H⁻¹g, flat
    pairs: tuple[Pair, ...] = ()
    k: int = 0
    factor: None = None

    def decrement(self) -> float:
        """Return ½ gᵀH⁻¹g."""
        return 0.5 * float(self.gradient.ravel() @ self.pull)

    def seen(self, value: float, gradient: Array) -> LbfgsState:
        """Return the same point with another value and gradient, such as those over more rows."""
        with one_blas_thread():
            pull = two_loops(gradient.ravel(), self.pairs, self.scale)
        return self._replace(value=value, gradient=gradient, pull=pull)


def start(rows: Any, objective: newton.Objective, theta: Array) -> LbfgsState:
    """Return the state at theta, after a look at the curvature on a sample of the rows."""
    found = newton.evaluate(rows, objective, theta)
    few, part, share = _sample(rows, objective)
    bends = per_row(terms.curvature_rows, few, theta, objective.model)
    scale = _even_scale(few, part, bends)
    direction = -(scale * found.gradient.ravel()).reshape(theta.shape)
    bend = float(np.vdot(direction, newton.hessian_product(few, part, bends, direction))) * share
    slope = -float(np.vdot(direction, found.gradient))
    scale = scale * (slope / bend if bend > 0.0 else 1.0)
    return LbfgsState(theta, found.value, found.gradient, scale, scale * found.gradient.ravel())


def _sample(rows, objective):
    """Every 16th row of a dense array, their objective, and by how much it falls short of that of all rows."""
    if not rows.in_memory or rows.sparse or rows.n_rows < EVERY * 64:
        return rows, objective, 1.0
    few, part = newton.every_nth(rows, objective, EVERY)
    return (few, part, objective.weight / part.weight) if part.weight > 0.0 else (rows, objective, 1.0)


def _even_scale(rows, objective, bends):
    """One for every parameter, or the inverse of its curvature where columns differ much in scale."""
    diagonal = total(terms.diagonal_curvature, rows, objective.model, bends) + objective.ridge
    columns = diagonal[:-1] if objective.model.intercept else diagonal
    outputs = max(1, objective.model.n_outputs)
    low = float(columns.min(initial=np.inf))
    if not low > 0.0 or float(columns.max(initial=0.0)) <= UNEVEN * low:
        return np.ones(len(diagonal) * outputs)
    scale = 1.0 / diagonal
    if objective.model.intercept:
        scale[-1] = scale[:-1].mean()
    return np.repeat(scale, outputs)


def first_guess(scale: Array, g: Array) -> Array:
    """Return H₀⁻¹g: H₀⁻¹ is a diagonal, a matrix, or blocks (K, D, D) whose moves sum to zero."""
    if scale.ndim == 1:
        return scale * g
    if len(scale) == 1:
        return scale[0] @ g
    table = np.ascontiguousarray(g.reshape(-1, len(scale)).T)  # (K, D)
    moves = (scale @ table[:, :, None])[:, :, 0].T
    return (moves - moves.mean(axis=1, keepdims=True)).ravel()


def two_loops(g: Array, pairs: tuple[Pair, ...], scale: Array) -> Array:
    """Return the L-BFGS approximation of H⁻¹g from a first guess."""
    q, factors = g.copy(), []
    for s, y, bend in reversed(pairs):
        factors.append(float(s @ q) / bend)
        q = daxpy(y, q, a=-factors[-1])  # in place: temporaries cost more than the arithmetic
    q = first_guess(scale, q)
    if pairs:
        _, y, bend = pairs[-1]
        q *= bend / float(y @ first_guess(scale, y))
    for (s, y, bend), factor in zip(pairs, reversed(factors)):
        q = daxpy(s, q, a=factor - float(y @ q) / bend)
    return q


def step(rows: Any, objective: newton.Objective, state: Any, *, tol: float = 1e-4) -> Any:
    """One step of L-BFGS or, after many, of Newton's method by conjugate gradients."""
    if not isinstance(state, LbfgsState) or state.k >= PATIENCE:
        plain = newton.NewtonState(state.theta, state.value, state.gradient, None, state.factor)
        return newton.newton_cg_step(rows, objective, plain, tol=tol)
    with one_blas_thread():  # vectors are short: more threads wait for each other
        return _lbfgs_step(rows, objective, state)


def _lbfgs_step(rows, objective, state):
    direction = -state.pull.reshape(state.theta.shape)
    new = newton.back_track(rows, objective, newton.NewtonState(*state[:3]), direction)
    s, y = (new.theta - state.theta).ravel(), (new.gradient - state.gradient).ravel()
    pairs, bend = state.pairs, float(s @ y)
    if bend > 1e-10 * np.linalg.norm(s) * np.linalg.norm(y):
        pairs = (*pairs, Pair(s, y, bend))[-PAIRS:]
    elif not np.any(s):
        return state._replace(k=PATIENCE)
    pull = two_loops(new.gradient.ravel(), pairs, state.scale)
    return LbfgsState(new.theta, new.value, new.gradient, state.scale, pull, pairs, state.k + 1)
