"""Newton's method for smooth linear models: Cholesky steps for narrow data, conjugate gradients for wide.

The objective is Σ weight·loss + ½ Σ ridge·θ². Its value, gradient and Hessian are sums over rows, so these
solvers run on arrays, Parquet files and Dask collections alike. The certificate is the largest entry of the
gradient per unit of weight.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from gnomon.core.linalg import Array
from gnomon.core.rows import MemoryRows
from gnomon.core.sums import per_row, total, total_weight
from gnomon.core.threads import one_blas_thread
from gnomon.loops import few_rows
from gnomon.solvers import terms
from gnomon.solvers.terms import Model, Terms

LARGE = 1_000_000  # entries of X from which a pass is dear enough to keep an old Hessian
NEAR = 0.15  # root mean square change of the scores below which the Hessian hardly changes
STALE = 0.3  # an old Hessian is dropped when a step shrinks the gradient by less than this
FRESH = 100  # parameters of a class up to which a new preconditioner costs less than the products it saves


class Objective(NamedTuple):
    """Σ weight·loss(y, x·θ) + ½ Σ_j ridge_j θ_j²."""

    model: Model
    ridge: Array  # (D,), zero where nothing is penalized
    weight: float  # Σ of weights, the scale of the certificate


class NewtonState(NamedTuple):
    """A point with its value and gradient, and the factor of a Hessian that need not be this point's."""

    theta: Array
    value: float
    gradient: Array
    hessian: Array | None = None
    factor: Any = None


def evaluate(rows: Any, objective: Objective, theta: Array, *, curved: bool = False) -> Terms:
    """Return the objective's value, gradient and, if asked, Hessian at theta."""
    if curved and theta.ndim == 1 and terms.few(rows, len(theta)):
        return _evaluate_few(rows, objective, theta)
    found = total(terms.loss_terms, rows, theta, objective.model, curved)
    ridge = objective.ridge if theta.ndim == 1 else objective.ridge[:, None]
    value = found.value + 0.5 * float(np.sum(ridge * theta * theta))
    hessian = found.hessian
    if hessian is not None:
        hessian[np.diag_indices_from(hessian)] += objective.ridge
    return Terms(value, found.gradient + ridge * theta, hessian)


def _evaluate_few(rows, objective, theta):
    """The same in one compiled loop."""
    D, n = len(theta), rows.n_rows
    gradient, hessian, bend = np.empty(D), np.empty((D, D)), np.empty(n)
    arguments = terms.loop_arguments(rows, objective.model)
    value = few_rows.loss_terms(*arguments, objective.ridge, theta, np.empty(n), bend, gradient)
    few_rows.fill_hessian(arguments[1], bend, objective.ridge, hessian)
    return Terms(value, gradient, hessian)


def violation(objective: Objective, gradient: Array) -> float:
    """Return the certificate: the largest slope of the mean objective."""
    return float(np.abs(gradient).max(initial=0.0)) / objective.weight


def gradient_gap(objective: Objective, g: Array) -> float:
    """Return what at most is left to gain: ½ Σ g²/ridge, for the loss is convex and the ridge curves at least
    so much.
    """
    return left_to_gain(objective, g)[0]


def left_to_gain(objective: Objective, g: Array) -> tuple[float, float]:
    """Return the same, and the largest slope of a parameter without a ridge, of which it says nothing."""
    return few_rows.left_to_gain(g, objective.ridge)


def newton_start(rows: Any, objective: Objective, theta: Array, *, curved: bool = True) -> NewtonState:
    """Return the state at theta."""
    found = evaluate(rows, objective, theta, curved=curved and theta.ndim == 1)
    return NewtonState(theta, *found)


def every_nth(rows: Any, objective: Objective, n: int) -> tuple[MemoryRows, Objective]:
    """Return every n-th row, and the share of the objective that is theirs."""
    weight = rows.weight[::n] if rows.weighted else None
    X = rows.X[::n] if rows.sparse else np.ascontiguousarray(rows.X[::n])  # copied once, not at every pass
    few = MemoryRows(X, rows.y[::n], weight, classes=rows.classes)
    share = total_weight(few) / total_weight(rows)
    return few, objective._replace(ridge=objective.ridge * share, weight=objective.weight * share)


def is_representative(few: MemoryRows, part: Objective) -> bool:
    """Tell whether a sample has weight and rows of all classes."""
    return part.weight > 0.0 and (few.classes is None or len(np.unique(few.y)) == len(few.classes))


def sampled_start(rows: Any, objective: Objective, theta: Array, step: Any, every: int = 16) -> Array:
    """Return the optimum on every 16th row, where there are so many that this is a good place to begin."""
    if not rows.in_memory or rows.n_rows < every * max(2000, 20 * len(theta)):
        return theta
    few, part = every_nth(rows, objective, every)
    if not is_representative(few, part):
        return theta
    state = newton_start(few, part, theta, curved=False)
    for _ in range(8):
        if violation(part, state.gradient) <= 1e-4 or not np.abs(state.theta).max() < 1e3:
            break
        state = step(few, part, state)
    return state.theta if np.isfinite(state.value) and np.abs(state.theta).max() < 1e3 else theta


def newton_step(rows: Any, objective: Objective, state: NewtonState) -> NewtonState:
    """One Newton step by Cholesky, with back-tracking; the Hessian is reused while it serves."""
    factor = state.factor
    if factor is None:
        hessian = state.hessian
        if hessian is None:
            hessian = evaluate(rows, objective, state.theta, curved=True).hessian
        if terms.few(rows, len(state.theta)):
            new = _newton_step_few(rows, objective, state, hessian)
            if new is not None:
                return new
        factor = factorize(hessian)
    direction = -solve(factor, state.gradient)
    curved = _moves_far(rows, objective, state, direction)
    new = back_track(rows, objective, state, direction, curved=curved)
    if curved:
        return new
    shrunk = np.abs(new.gradient).max() <= STALE * np.abs(state.gradient).max()
    return new._replace(factor=factor if shrunk else None)


def _newton_step_few(rows, objective, state, hessian):
    """The same in one compiled loop; None where the Hessian is singular."""
    theta, gradient, curvature = (
        np.empty_like(state.theta),
        np.empty_like(state.gradient),
        np.empty_like(hessian),
    )
    arguments = terms.loop_arguments(rows, objective.model)
    value, found = few_rows.newton_step(
        *arguments, objective.ridge, *state[:3], hessian, theta, gradient, curvature
    )
    if found < 0:
        return None
    return NewtonState(theta, value, gradient, curvature) if found else state


def _moves_far(rows, objective, state, direction):
    """Tell whether the step changes the scores so much that a new Hessian is due."""
    bound = objective.model.loss.lipschitz
    if rows.n_rows * rows.n_features < LARGE or not np.isfinite(bound):
        return True
    energy = -float(np.vdot(state.gradient, direction))
    return energy > NEAR**2 * 0.5 * bound * objective.weight


def factorize(hessian: Array) -> tuple[str, Array]:
    """Return the Cholesky factor, or the pseudo-inverse of a singular Hessian."""
    try:
        return "cholesky", linalg.cholesky(hessian, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return "inverse", linalg.pinvh(hessian, atol=0.0, rtol=1e-12, check_finite=False)


def solve(factor: tuple[str, Array], b: Array) -> Array:
    """Solve with what `factorize` returned."""
    kind, A = factor
    return linalg.cho_solve((A, True), b, check_finite=False) if kind == "cholesky" else A @ b


def back_track(
    rows: Any, objective: Objective, state: NewtonState, direction: Array, *, curved: bool = False
) -> NewtonState:
    """Halve the step until the value falls as Armijo asks; stay when rounding leaves nothing to gain."""
    slope = float(np.vdot(state.gradient, direction))
    slack = 1e-14 * max(1.0, abs(state.value))
    for power in range(40):
        step = 0.5**power
        theta = state.theta + step * direction
        found = evaluate(rows, objective, theta, curved=curved)
        if found.value <= state.value + 1e-4 * step * slope + slack:
            return NewtonState(theta, *found)
    return state._replace(factor=None)


# -- conjugate gradients -------------------------------------------------------------------------------------


def newton_cg_step(
    rows: Any, objective: Objective, state: NewtonState, *, tol: float = 1e-4, factor_up_to: int = 600
) -> NewtonState:
    """One Newton step whose system is solved by preconditioned conjugate gradients, to the accuracy it
    deserves.
    """
    with one_blas_thread():  # vectors are short: more threads wait for each other
        return _newton_cg_step(rows, objective, state, tol, factor_up_to)


def _newton_cg_step(rows, objective, state, tol, factor_up_to):
    curvature = per_row(terms.curvature_rows, rows, state.theta, objective.model)
    factor = state.factor
    if factor is None:
        factor = preconditioner(rows, objective, curvature, factor_up_to)

    def product(v: Array) -> Array:
        return hessian_product(rows, objective, curvature, v)

    size = max(violation(objective, state.gradient), 1e-300)
    accuracy = min(0.25, max(size**0.5, 0.03 * tol / size, 1e-8))  # no more than this step deserves
    direction = conjugate_gradients(product, -state.gradient, lambda r: precondition(factor, r), accuracy)
    new = back_track(rows, objective, state, direction)
    return new._replace(factor=factor if len(objective.ridge) > FRESH else None)


def hessian_product(rows: Any, objective: Objective, curvature: Array, v: Array) -> Array:
    """Return the Hessian times v; `curvature` is what `terms.curvature_rows` says of every row."""
    ridge = objective.ridge if v.ndim == 1 else objective.ridge[:, None]
    return total(terms.hessian_product, rows, v, objective.model, curvature) + ridge * v


def preconditioner(rows: Any, objective: Objective, curvature: Array, factor_up_to: int) -> Any:
    """Return the factor of the Hessian averaged over classes, or its diagonal for wide data."""
    if len(objective.ridge) <= factor_up_to:
        matrix = total(terms.mean_curvature, rows, objective.model, curvature)
        matrix[np.diag_indices_from(matrix)] += objective.ridge
        matrix[np.diag_indices_from(matrix)] += 1e-10 * max(np.trace(matrix) / len(matrix), 1e-300)
        return factorize(matrix)
    diagonal = total(terms.diagonal_curvature, rows, objective.model, curvature) + objective.ridge
    return "diagonal", np.where(diagonal > 0.0, diagonal, 1.0)


def precondition(factor: Any, r: Array) -> Array:
    """Apply what `preconditioner` returned."""
    if factor[0] == "diagonal":
        return r / (factor[1] if r.ndim == 1 else factor[1][:, None])
    return solve(factor, r)


def conjugate_gradients(product: Any, b: Array, inverse: Any, accuracy: float, max_iter: int = 250) -> Array:
    """Solve A x = b to a residual `accuracy` times the first, in the norm of the preconditioner."""
    x, r = np.zeros_like(b), b.copy()
    z = inverse(r)
    p, rz = z.copy(), float(np.vdot(r, z))
    goal = accuracy**2 * rz
    for _ in range(max_iter):
        if not rz > goal:
            break
        Ap = product(p)
        curvature = float(np.vdot(p, Ap))
        if not curvature > 0.0:
            break
        step = rz / curvature
        x += step * p
        r -= step * Ap
        z = inverse(r)
        rz, before = float(np.vdot(r, z)), rz
        p = z + (rz / before) * p
    return x if np.any(x) else z
