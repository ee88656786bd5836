"""One maximum-margin problem at a time: which solver, and its steps."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.rows import MemoryRows
from gnomon.core.sums import total
from gnomon.losses.margin import SquaredHinge
from gnomon.solvers import dual, interior, near_margin, newton, sparse_newton, terms
from gnomon.solvers.margin_programs import hinge_program
from gnomon.solvers.terms import Model

NARROW = 600  # parameters up to which Newton factorizes
WIDE_RATIO = (
    4  # columns per dense row from which rows are few: with random ones their Gram matrix has condition 9
)
EXACT = 5000  # rows up to which problems are solved to the end
EPOCHS = 40  # of dual coordinate descent that are still worth while on wide data
LONGEST = 30  # passes without a look at the gap
ENOUGH = 2.5e-12  # share of the dual that a pass there ends with; the gap is then some times as large
FIRST = 12  # passes for the hinge before the first look
SHARP = 1e-2  # share of `tol` that its gap ends with
AIM = 0.6  # share of that gap which the passes aim at: falling short costs another look
INTERIOR = 1200  # parameters up to which interior points are taken for the hinge
UNEVEN = 1e4  # ratio of the sizes of columns (that of the intercept is 1) from which they are made even
SMALL = 100_000  # entries up to which sparse rows are small; with their zeros: no better than dense ones


class RowFacts:
    """What all problems of a fit ask of its rows, worked out once."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    @cached_property
    def norms(self) -> Array:
        """Squared lengths of the rows."""
        return dual.squared_norms(self.rows.X)

    @cached_property
    def even(self) -> tuple[Any, Array]:
        """Rows with even columns, and what these were divided by."""
        return even_columns(self.rows)


class Margin(NamedTuple):
    """A problem: labels ±1 (or numbers), cost of each row, and how the intercept is treated."""

    y: Array
    cost: Array
    positive: int  # class code that is +1
    C: float
    intercept: bool
    intercept_ridge: float  # 0: free
    loss: str
    l1: bool
    method: str
    facts: RowFacts
    objective: newton.Objective | None = None  # of Newton's method


class Iterate(NamedTuple):
    """Where a solver of a problem stands."""

    inner: Any
    theta: Array  # weights, intercept last if there is one
    primal: float
    gap: float  # relative to max(1, |primal|)
    alpha: Array | None = None
    scores: Array | None = None  # of the rows
    stalled: bool = False  # no smaller gap is possible, or worth while


def choose(margin: Margin, rows: Any, solver: str) -> str:
    """Return the method for a problem."""
    D = rows.n_features + margin.intercept
    if solver == "qp" or not np.isfinite(margin.C):
        return "qp"
    if margin.l1:
        return "sparse"
    if margin.loss == "squared_hinge":
        return "newton" if D <= NARROW else "wide"
    filled = not rows.sparse or rows.n_rows > 5 * D or rows.n_rows * D <= SMALL
    if D <= INTERIOR and filled:
        return "interior"
    if margin.intercept and margin.intercept_ridge == 0.0:
        raise DataError(
            f"the hinge with a free intercept and {D} parameters is beyond LinearSVC; use "
            "regularize_intercept=True, loss='squared_hinge', or gnomon.svm.SVC(kernel='linear')."
        )
    return "dual"


def ridge_of(margin: Margin, d: int) -> Array:
    """Return 1 for every weight and the intercept's own strength."""
    return np.append(np.ones(d), margin.intercept_ridge) if margin.intercept else np.ones(d)


def smooth_objective(margin: Margin, rows: Any) -> newton.Objective:
    """Return Σ s ξ² + ½ Σ ridge θ²/C."""
    if margin.objective is not None:
        return margin.objective
    ridge = (
        np.zeros(rows.n_features + margin.intercept)
        if margin.l1
        else ridge_of(margin, rows.n_features) / margin.C
    )
    return newton.Objective(
        Model(SquaredHinge(), margin.intercept, margin.positive), ridge, float(rows.n_rows)
    )


def begin(margin: Margin, rows: Any) -> Iterate:
    """Return the start of a problem."""
    D = rows.n_features + margin.intercept
    zero = np.zeros(D)
    if margin.method == "interior":
        inner: Any = interior.machine_start(*hinge_machine(margin, rows)[:2])
    elif margin.method == "dual":
        inner = dual.dual_start(rows, _dual_machine(margin))
    elif margin.method == "sparse":
        inner = sparse_newton.start(rows, smooth_objective(margin, rows), zero, 1.0 / margin.C)
    elif margin.method == "qp":
        inner = None
    elif margin.method == "wide":
        inner = _wide_start(margin, rows, zero)
    else:
        objective = smooth_objective(margin, rows)
        theta = newton.sampled_start(rows, objective, zero, newton.newton_step)
        inner = newton.newton_start(rows, objective, theta)
    return Iterate(inner, zero, np.inf, np.inf)


def _wide_start(margin, rows, zero):
    """Few rows of many columns are often nearly orthogonal: then multipliers one at a time are soon right.

    Sparse rows meet less, so more of them are few.
    """
    few = rows.in_memory and rows.n_rows * (1 if rows.sparse else WIDE_RATIO) <= rows.n_features
    if few and not (margin.intercept and margin.intercept_ridge == 0.0):
        return dual.dual_start(rows, _dual_machine(margin))
    return near_margin.start(rows, smooth_objective(margin, rows), zero)


def advance(margin: Margin, rows: Any, solved: Iterate, rng: Any, tol: float) -> Iterate:
    """One step of the problem's solver."""
    steps = {"interior": _interior, "dual": _hinge, "sparse": _sparse, "qp": _program, "wide": _wide}
    return steps.get(margin.method, _newton)(margin, rows, solved, rng, tol)


def hinge_machine(margin: Margin, rows: Any) -> tuple[Any, interior.Machine, Array]:
    """Return the hinge problem for interior points, on rows with even columns, and what divides its weights."""
    even, scale = even_parameters(margin.facts, margin.intercept)
    ridge, ones = ridge_of(margin, rows.n_features) / scale**2, np.ones(rows.n_rows)
    return even, interior.Machine(ridge, (margin.y,), (ones,), (margin.cost,), margin.intercept), scale


def even_parameters(facts: RowFacts, intercept: bool) -> tuple[Any, Array]:
    """Return rows with even columns and the scale of every parameter."""
    even, scale = facts.even
    return even, np.append(scale, 1.0) if intercept else scale


def even_columns(rows: Any) -> tuple[Any, Array]:
    """Return rows whose columns have a like size, and the powers of two by which they were divided.

    Interior points lose a column that is much smaller than another to rounding.
    """
    size = _sizes(rows.X)
    scale = np.where(size > 0.0, 2.0 ** np.round(np.log2(np.where(size > 0.0, size, 1.0))), 1.0)
    if max(scale.max(initial=1.0), 1.0) <= UNEVEN * min(scale.min(initial=1.0), 1.0):
        return rows, np.ones(len(scale))
    X = rows.X @ sparse.diags_array(1.0 / scale) if rows.sparse else rows.X / scale
    X = sparse.csr_array(X) if sparse.issparse(X) else X
    return MemoryRows(X, rows.y, rows._weight, classes=rows.classes), scale


def _sizes(X: Any) -> Array:
    """Largest magnitude in every column."""
    if sparse.issparse(X):
        return np.asarray(abs(X).max(axis=0).toarray(), dtype=float).ravel()
    return np.maximum(X.max(axis=0), -X.min(axis=0)).astype(float)


def _interior(margin, rows, solved, rng, tol):
    even, machine, scale = hinge_machine(margin, rows)
    with np.errstate(all="ignore"):
        inner = interior.machine_step(even, machine, solved.inner)
    gap = _relative(inner)
    if solved.gap <= 1e-5 and not gap < solved.gap:
        return solved._replace(stalled=True)
    return Iterate(inner, inner.theta / scale, inner.primal, gap, inner.alpha)


def _relative(state):
    """Gap as a share of the primal value; one below zero is no certificate but an error of that size."""
    return abs(state.primal - state.dual) / max(1.0, abs(state.primal))


def _dual_machine(margin):
    constant = 1.0 / np.sqrt(margin.intercept_ridge) if margin.intercept else 0.0
    squared = margin.loss == "squared_hinge"
    return dual.dual_machine(margin.facts.norms, margin.y, margin.cost, constant, squared=squared)


def _dual(margin, rows, solved, rng, *until):
    """A run of passes over the multipliers; `until` says when it ends, see `dual.dual_step`."""
    machine, draw = _dual_machine(margin), np.random.default_rng([rng, solved.inner.epoch])
    inner = dual.dual_step(rows, machine, solved.inner, draw, *until)
    theta = inner.theta.copy()
    if margin.intercept:
        theta[-1] *= machine.constant
    return Iterate(inner, theta, inner.primal, _relative(inner), inner.alpha, inner.scores)


def _hinge(margin, rows, solved, rng, tol):
    """Passes to a gap much below `tol`: gaps go with the roots of gains, so the first look tells where to end."""
    target, new = min(SHARP * tol, _pass_goal(rows, tol)), solved
    while new is solved or target < new.gap <= min(tol, 0.9 * solved.gap):
        solved = new
        share = new.inner.gain * (AIM * target / new.gap) ** 2 if new.inner.epoch else 0.0
        new = _dual(margin, rows, solved, rng, LONGEST if share else FIRST, share)
    best = solved if solved.gap <= min(tol, new.gap) else new
    return best._replace(stalled=best.gap <= tol)


def goal(rows: Any, tol: float, *, l1: bool = False) -> float:
    """Return the gap to reach: small problems are solved to the end, their multipliers are then exact, too."""
    return tol if rows.n_rows > EXACT or l1 else min(tol, 1e-13)


def _pass_goal(rows, tol):
    """The same for passes over the multipliers, which take their time at the end: sparse rows have to be small."""
    return tol if rows.sparse and rows.X.nnz > SMALL else goal(rows, tol)


def _wide(margin, rows, solved, rng, tol):
    """Passes over the multipliers while they are quick, to a gap no step would better; else Newton's kin."""
    if not isinstance(solved.inner, dual.DualState):
        return _newton(margin, rows, solved, rng, tol)
    until = LONGEST, min(ENOUGH, 1e-3 * _pass_goal(rows, tol)), EPOCHS
    new = _dual(margin, rows, solved, rng, *until)
    while new.gap <= min(tol, 0.5 * solved.gap) and new.inner.left > 0.0:  # new scores sharpen float32
        solved, new = new, _dual(margin, rows, new, rng, *until)
    if new.gap <= tol or new.inner.left <= EPOCHS:
        return new._replace(stalled=new.gap <= tol)
    zero = np.zeros_like(new.theta)
    theta = new.theta if new.primal < margin.cost.sum() else zero
    inner = near_margin.start(rows, smooth_objective(margin, rows), theta)
    return Iterate(inner, theta, inner.value * margin.C, np.inf)


def _newton(margin, rows, solved, rng, tol):
    objective = smooth_objective(margin, rows)
    with np.errstate(over="ignore", invalid="ignore"):
        if margin.method == "newton":
            inner = newton.newton_step(rows, objective, solved.inner)
        else:
            inner = near_margin.step(rows, objective, solved.inner, tol)
        gap, free = newton.left_to_gain(objective, inner.gradient)
    if not math.isfinite(gap):
        raise DataError(
            "the squares of X, or of C times sample_weight, overflow; divide the columns of X by their size, "
            "and the weights by their mean."
        )
    primal = inner.value * margin.C
    share = margin.C * max(gap, free) / max(1.0, primal)
    stuck = math.isfinite(solved.primal) and not share < solved.gap and not primal < solved.primal
    return Iterate(inner, inner.theta, primal, share, stalled=bool(stuck))


def _sparse(margin, rows, solved, rng, tol):
    objective = smooth_objective(margin, rows)
    inner = sparse_newton.step(rows, objective, solved.inner, 1.0 / margin.C, tol=tol)
    primal = inner.value * margin.C
    gap = max(primal - l1_dual(margin, rows, inner.theta), 0.0) / max(1.0, primal)
    return Iterate(inner, inner.theta, primal, gap, stalled=not primal < solved.primal)


class ClassPulls(NamedTuple):
    """Sums over the rows of the negative and of the positive class, of multipliers α = 2Csξ."""

    push: Array  # (2, d): Σ α x
    mass: Array  # (2,): Σ α
    square: Array  # (2,): Σ α²/(4Cs)


def class_pulls(chunk, theta, margin):
    """The pulls of one chunk."""
    sign = np.where(chunk.y == margin.positive, 1.0, -1.0)
    slack = np.maximum(1.0 - sign * terms.scores(chunk.X, theta, margin.intercept), 0.0)
    sides = [np.where(sign == side, margin.C * chunk.weight, 0.0) for side in (-1.0, 1.0)]
    push = np.zeros((2, chunk.X.shape[1]))
    for out, price in zip(push, sides):
        terms.add(chunk.X, 2.0 * price * slack, out)
    return ClassPulls(
        push,
        np.array([2.0 * float(price @ slack) for price in sides]),
        np.array([float(price @ slack**2) for price in sides]),
    )


def l1_dual(margin: Margin, rows: Any, theta: Array) -> float:
    r"""Value of a feasible point of the dual of ‖w‖₁ + C Σ s ξ², made from the slacks at theta.

    .. math:: \max_{\alpha\ge0} \sum_i\alpha_i - \sum_i \frac{\alpha_i^2}{4Cs_i},\quad
              \Bigl\lVert\sum_i\alpha_i y_i x_i\Bigr\rVert_\infty \le 1,\quad \sum_i\alpha_i y_i = 0

    The heavier class is scaled down to the mass of the lighter one (the last condition, which a free intercept
    brings), then both to the first condition.
    """
    pulls = total(class_pulls, rows, theta, margin._replace(y=np.empty(0), cost=np.empty(0)))
    if not (pulls.mass > 0.0).all() and margin.intercept:
        return 0.0
    share = pulls.mass.min() / pulls.mass if margin.intercept else np.ones(2)
    top = float(np.abs(share[1] * pulls.push[1] - share[0] * pulls.push[0]).max(initial=0.0))
    mass, square = float(share @ pulls.mass), float(share**2 @ pulls.square)
    scale = min(1.0 / top if top > 1.0 else 1.0, mass / (2.0 * square) if square > 0.0 else 1.0)
    return scale * mass - scale**2 * square


def _program(margin, rows, solved, rng, tol):
    """Small problems, hard margins: one dense quadratic program."""
    X = rows.X.toarray() if rows.sparse else np.asarray(rows.X, dtype=float)
    A = margin.y[:, None] * (np.column_stack([X, np.ones(len(X))]) if margin.intercept else X)
    theta, alpha, primal, gap = hinge_program(A, ridge_of(margin, X.shape[1]), margin.cost, margin.loss)
    return Iterate(None, theta, primal, gap / max(1.0, primal), alpha, stalled=True)
