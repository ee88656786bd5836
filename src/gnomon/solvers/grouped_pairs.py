"""Pairs within two groups of variables, each of which keeps its sum: the programs of machines with ν.

    minimize ½ βᵀKβ − tᵀβ,   Σ β of each group fixed,   low ≤ β ≤ high

Pairs of one group are moved as in `pairs`, many rows in working sets; what is left is solved for exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.threads import one_blas_thread
from gnomon.loops import smo
from gnomon.solvers.free_multipliers import EXACT_WORK, at_one_slope
from gnomon.solvers.kernel_rows import WORKING_SET, KernelRows
from gnomon.solvers.pairs import HANDFUL, SHARE, Pairs, largest, spread

AT_BOUND = 1e-10  # of the room between bounds
EXACT = 1e-9  # of the tolerance: what is left at the end is rounding
LOOKS = 15_000  # at variables, in pairs that are made as quickly as the free ones are solved for
TURNS = 12  # of the exact way and some pairs, before there are many


class GroupedProblem(NamedTuple):
    """Pairs within two groups of variables, so that the sum of each group stays."""

    rows: Array
    sign: Array  # of every variable
    cost: Array
    target: Array
    group: Array
    column: Array
    first: Array  # variables to begin with


def fill_up(total: float, cost: Array) -> Array:
    """Return variables that sum to `total`, the first ones at their bounds."""
    before = np.concatenate([[0.0], np.cumsum(cost)[:-1]])
    return np.clip(total - before, 0.0, cost)


class GroupedPairs:
    """Where the solution of a grouped problem stands: pairs are moved, or the free variables together."""

    def __init__(self, source: KernelRows, problem: GroupedProblem) -> None:
        rows = problem.rows
        K = source.block(rows, rows) if source.full is None or len(rows) < source.n else source.full
        self.K = np.ascontiguousarray(K, dtype=np.float64)
        self.problem = problem
        self.low = np.where(problem.sign > 0, 0.0, -problem.cost)
        self.high = np.where(problem.sign > 0, problem.cost, 0.0)
        self.diagonal = np.diagonal(self.K).copy()
        self.floor = 1e-12 * (float(np.abs(self.diagonal).max(initial=0.0)) or 1.0)
        self.beta = problem.sign * problem.first
        self.R = self.slopes()

    def slopes(self) -> Array:
        """Return t − Kβ of every variable, summed anew."""
        column = self.problem.column
        total = np.bincount(column, self.beta, minlength=len(self.K))
        return self.problem.target - (self.K @ total)[column]

    def move_pairs(self, tol: float, limit: int) -> tuple[int, float]:
        """Move pairs until none gains more than `tol`. Returns how many were moved and the gain that is left."""
        if len(self.R) <= WORKING_SET:
            _, made, gap = smo.grouped_steps(
                self.K, self.problem.column, self.problem.group, self.diagonal, self.low, self.high, self.floor,
                tol, limit, self.beta, self.R,
            )  # fmt: skip
        else:
            made, gap = self._move_in_sets(tol, limit)
        if made:
            self.R = self.slopes()
        return made, gap

    def _move_in_sets(self, tol: float, limit: int) -> tuple[int, float]:
        """Solve the worst variables of both groups among themselves, half of them kept from one set to the next."""
        made, held = 0, np.zeros(0, dtype=np.int64)
        while True:
            rise = np.where(self.beta < self.high, self.R, -np.inf)
            fall = np.where(self.beta > self.low, self.R, np.inf)
            gap, chosen = self._worst(rise, fall, held[-(WORKING_SET // 2) :])
            if not gap > tol or made >= limit:
                return made, gap
            count = self._solve_among(chosen, max(0.5 * tol, SHARE * gap), limit - made)
            if not count:
                return made, gap
            made, held = made + count, chosen

    def _worst(self, rise: Array, fall: Array, held: Array) -> tuple[float, Array]:
        """Return the largest gain of a pair, and the held variables with those that gain most against another."""
        room = (WORKING_SET - len(held)) // 4
        gap, chosen = -np.inf, [held]
        for g in (0, 1):
            mine = np.flatnonzero(self.problem.group == g)
            up, down = rise[mine], fall[mine]
            top, bottom = float(up.max(initial=-np.inf)), float(down.min(initial=np.inf))
            gap = max(gap, top - bottom)
            for gain in (up - bottom, top - down):
                best = largest(gain, room)
                chosen.append(mine[best[gain[best] > 0.0]])
        fresh = np.setdiff1d(np.concatenate(chosen[1:]), held)
        return gap, np.concatenate([held, fresh])

    def _solve_among(self, chosen: Array, tol: float, limit: int) -> int:
        """Move pairs among some variables, then tell the slopes of all. Returns how many pairs were moved."""
        columns, at = np.unique(self.problem.column[chosen], return_inverse=True)
        b, r = self.beta[chosen], self.R[chosen]
        _, made, _ = smo.grouped_steps(
            self.K[np.ix_(columns, columns)], at, self.problem.group[chosen], self.diagonal[columns],
            self.low[chosen], self.high[chosen], self.floor, tol, limit, b, r,
        )  # fmt: skip
        change = np.bincount(at, b - self.beta[chosen], minlength=len(columns))
        moved = np.flatnonzero(change)
        fall = np.zeros(len(self.K))
        spread(self.K, columns[moved], change[moved], fall)
        self.beta[chosen] = b
        self.R += fall[self.problem.column]
        return made

    def free(self) -> Array:
        """Tell which variables are between their bounds."""
        return (self.beta > self.low) & (self.beta < self.high)

    def move_free(self) -> bool:
        """Solve for the variables between their bounds together, the others held.

        False where there are none or too many, or where a kernel that is not positive makes that a step upward.
        """
        free = np.flatnonzero(self.free())
        if not 0 < len(free) ** 3 <= EXACT_WORK:
            return False
        at = self.problem.column[free]
        groups = np.equal.outer(self.problem.group[free], np.arange(2)).astype(np.float64)
        with one_blas_thread():
            found = at_one_slope(
                self.K[np.ix_(at, at)], self.beta[free], self.R[free], self.low[free], self.high[free], groups
            )
        if not (found - self.beta[free]) @ self.R[free] > 0.0:
            return False
        self.beta[free] = found
        self.R = self.slopes()
        return True


def solve_grouped(source: KernelRows, problem: GroupedProblem, tol: float, limit: int) -> Pairs:
    """Return the solution; β are the signed variables, R the slopes t − Kβ of each."""
    now = GroupedPairs(source, problem)
    n, exact = len(now.R), True
    few, some, many = LOOKS // n, 2 * n + 100, 200 * n + 10_000
    steps, gap = now.move_pairs(tol, min(limit, 10 * n + 1000))
    for _ in range(TURNS):  # pairs alone are slow where multipliers are far from their bounds
        if gap <= tol or steps >= limit or now.free().sum() > HANDFUL:
            break
        now.move_free()
        made, gap = now.move_pairs(tol, min(limit - steps, some))
        steps += made
    for turn, most in enumerate((limit, few, *[some] * TURNS, many)):
        if steps >= limit or gap <= EXACT * tol:
            break
        if turn >= 2 and exact:
            exact = now.move_free()
        made, gap = now.move_pairs(tol if turn == 0 else EXACT * tol, min(limit - steps, most))
        steps += made
    return Pairs(now.beta, now.R, steps, max(0.0, float(gap)) if np.isfinite(gap) else 0.0, True)


def group_level(beta: Array, R: Array, low: Array, high: Array, mine: Array) -> float:
    """Return the slope of the free variables of a group, or the middle of what is possible.

    A variable within rounding of a bound rests there: whether it reached the bound exactly is chance.
    """
    hair = AT_BOUND * (high - low)
    above, below = beta > low + hair, beta < high - hair
    free = mine & above & below
    if free.any():
        return float(R[free].mean())
    up, down = R[mine & below], R[mine & above]
    ends = [v for v in (up.max(initial=-np.inf), down.min(initial=np.inf)) if np.isfinite(v)]
    return float(np.mean(ends)) if ends else 0.0
