"""Machines that say what share of the rows may be support vectors instead of what slack costs."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, InfeasibleError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.steps import Report
from gnomon.core.threads import one_blas_thread
from gnomon.core.validate import warn
from gnomon.loops import smo
from gnomon.solvers.kernel_rows import WORKING_SET, KernelRows
from gnomon.solvers.pairs import EXACT_WORK, HANDFUL, NO_LIMIT, SHARE, Pairs, at_one_slope, largest, spread
from gnomon.svm.certificates import Machine
from gnomon.svm.machine import COMMON, MachineState, Work
from gnomon.svm.pairwise import PairwiseClassifier
from gnomon.svm.regressor import TubeRegressor

AT_BOUND = 1e-10  # of the room between bounds
EXACT = 1e-9  # of the tolerance: what is left at the end is rounding
LOOKS = 15_000  # at variables, in pairs that are made as quickly as the free ones are solved for
TURNS = 12  # of the exact way and some pairs, before there are many
BEYOND = 1e14  # multipliers this much above the targets leave two digits of them


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


def largest_nu(weight: Array, sign: Array) -> float:
    """Return the largest nu of two classes: twice the share of the lighter one."""
    return float(2.0 * min(weight[sign > 0].sum(), weight[sign < 0].sum()) / weight.sum())


class NuSVC(PairwiseClassifier):
    r"""Support vector classifier with ν instead of C.

    .. math:: \min \tfrac12\lVert w\rVert^2 - \nu\rho + \tfrac1n\sum_i\xi_i \quad\text{s.t.}\quad
              y_i(w\cdot\phi(x_i) + b) \ge \rho - \xi_i,\; \xi_i, \rho \ge 0

    At most a share ν of the rows is on the wrong side of its margin, at least a share ν are support vectors. The
    decision is divided by ρ, so it is that of an `SVC` with C = 1/(ρn).

    Parameters
    ----------
    nu : float, default=0.5
        Above 0 and at most twice the share of the smaller class.
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, class_weight, verbose, max_iter
        As in `SVC`; with `class_weight` the share is one of the weighted rows.
    decision_function_shape, break_ties, random_state
        As in `SVC`.

    Examples
    --------
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1]
    >>> NuSVC(nu=0.5, kernel="linear").fit(X, y).predict([[-0.5], [3.0]])
    array([0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON | {
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "probability": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: Any = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state

    def _shares(self, data: Any, kept: Array) -> Array:
        """Return the weights of rows by the largest; the decision does not depend on their scale."""
        weight = data.weight[kept] * self._class_factor(data)[data.y[kept]]
        return weight / weight.max()

    def _feasible(self, cost: Array, weight: Array, sign: Array) -> float:
        """Return nu; where class weights alone make it too large, the largest that they allow, with a warning."""
        nu, most, plain = float(self.nu), largest_nu(cost, sign), largest_nu(weight, sign)
        if nu <= most * (1 + 1e-12):
            return nu
        if nu > plain * (1 + 1e-12):
            raise InfeasibleError(
                f"specified nu is infeasible: nu={nu:g} is above {plain:g}, twice the share of the smaller class of "
                "some pair. Lower nu."
            )
        warn(
            f"with class_weight, nu={nu:g} is above {most:g}, the largest there is an answer for; that is taken."
        )
        return most

    def _problems(self, rows: KernelRows, data: Any, kept: Array) -> Any:
        weight = self._shares(data, kept)
        found = []
        for at, sign in self._tasks(data.y[kept], len(data.classes)):
            cost = weight[at]
            half = 0.5 * self._feasible(cost, data.weight[kept][at], sign) * cost.sum()
            first = np.zeros(len(at))
            for side in (1.0, -1.0):
                first[sign == side] = fill_up(half, cost[sign == side])
            group = (sign < 0).astype(np.int64)
            found.append(GroupedProblem(at, sign, cost, np.zeros(len(at)), group, np.arange(len(at)), first))
        return found

    def _start(self, work: Work, rng: Any) -> MachineState:
        pairs = tuple(
            Pairs(p.sign * p.first, np.zeros(len(p.first)), 0, np.inf, False) for p in work.problems
        )  # type: ignore[attr-defined]
        return MachineState(pairs, work.kept, work.gamma, {})

    def _step(self, work: Work, state: MachineState) -> tuple[MachineState, Report]:
        limit = self._steps_allowed()
        pairs = tuple(solve_grouped(work.rows, p, float(self.tol), limit) for p in work.problems)  # type: ignore[arg-type]
        value = sum(-0.5 * float(now.beta @ now.R) for now in pairs)
        return state._replace(pairs=pairs), self._told(value, pairs, float(self.tol))

    def _describe(self, state: MachineState, data: Any) -> dict[str, Any]:
        weight = self._shares(data, state.kept)
        machines = []
        for (at, sign), now in zip(
            self._tasks(data.y[state.kept], len(data.classes)), state.pairs, strict=True
        ):
            machines.append(self._machine(data, state.kept, at, sign, weight[at], now))
        found = self._described(state, data, machines)
        for name in ("margin_", "primal_", "dual_", "gap_"):
            del found[name]
        return found | self._calibrated(state, data, machines)

    def _beyond_a_class(
        self, now: Pairs, cost: Array, sign: Array, up: float, down: float
    ) -> tuple[float, float]:
        """Return the margins; where a class weighs so little that all of it may err, it lies on the other side.

        Its margin is then free on one end, and every place there is optimal.
        """
        light = [
            np.abs(now.beta[side]).sum() >= (1 - 1e-9) * cost[side].sum() for side in (sign > 0, sign < 0)
        ]
        room = 0.01 * (now.R.max() - now.R.min())
        if light == [False, True]:
            down = max(down, 2.0 * (now.R.max() + room) - up)
        if light == [True, False]:
            up = min(up, 2.0 * (now.R.min() - room) - down)
        return up, down

    def _machine(self, data: Any, kept: Array, at: Array, sign: Array, cost: Array, now: Pairs) -> Machine:
        """Divide by ρ, which makes the margin 1 as everywhere else."""
        low, high = np.where(sign > 0, 0.0, -cost), np.where(sign > 0, cost, 0.0)
        up = group_level(now.beta, now.R, low, high, sign > 0)
        down = group_level(now.beta, now.R, low, high, sign < 0)
        if self.class_weight is not None:
            up, down = self._beyond_a_class(now, cost, sign, up, down)
        rho, b = (down - up) / 2.0, (up + down) / 2.0  # R = −f, and f + b = ±ρ on the margins
        rho = rho if rho > 0 else 1.0
        beta = now.beta / rho
        b = b / rho
        slack = np.maximum(0.0, 1.0 - sign * (-now.R / rho + b))
        b -= self._offset(data, kept, at, beta)
        facts = {
            "primal_": np.nan,
            "dual_": np.nan,
            "gap_": np.nan,
            "margin_": np.nan,
            "kkt_violation_": now.violation,
        }
        return Machine(at, sign, beta, cost / rho, b, (b, b), slack, facts)


class NuSVR(TubeRegressor):
    r"""Support vector regression that finds the width of its tube.

    .. math:: \min \tfrac12\lVert w\rVert^2 + C\Bigl(\nu n\epsilon +
              \sum_i\max(0, |y_i - f(x_i)| - \epsilon)\Bigr)

    At most a share ν of the rows is outside the tube, at least a share ν is on its edge or outside.

    Parameters
    ----------
    nu : float, default=0.5
    C : float, default=1.0
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter
        As in `SVR`.

    Attributes
    ----------
    epsilon_ : float
        The width found.

    Examples
    --------
    >>> X, y = [[0.0], [1], [2], [3], [4], [5]], [0, 1, 1.5, 3.5, 4, 5.2]
    >>> model = NuSVR(nu=0.4, kernel="linear", C=10.0).fit(X, y)
    >>> model.coef_.round(3), round(model.epsilon_, 3)
    (array([[1.167]]), 0.333)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: rule for name, rule in COMMON.items() if name != "random_state"
    } | {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: Any = False,
        max_iter: int = -1,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def _problems(self, rows: KernelRows, data: Any, kept: Array) -> Any:
        n, cost, y = len(kept), float(self.C) * data.weight[kept], data.y[kept]
        spread, most = (
            float(y.std()) or 1.0,
            float(np.abs(rows.diagonal).max(initial=0.0)) * float(cost.max()),
        )
        if not most <= BEYOND * spread:
            raise DataError(
                f"C times sample_weight is as large as {cost.max():.3g}, so large that rounding hides the values of y. "
                "Lower C, or divide sample_weight by its mean."
            )
        half = 0.5 * float(self.nu) * cost.sum()
        sign = np.repeat([1.0, -1.0], n)
        first = np.concatenate([fill_up(half, cost)] * 2)
        middle = float(data.weight[kept] @ y / data.weight[kept].sum())
        target = np.tile(y - middle, 2)
        both = np.tile(np.arange(n), 2)
        return [
            GroupedProblem(
                np.arange(n), sign, np.tile(cost, 2), target, (sign < 0).astype(np.int64), both, first
            )
        ]

    _start = NuSVC._start

    def _step(self, work: Work, state: MachineState) -> tuple[MachineState, Report]:
        problem: Any = work.problems[0]
        spread = float(problem.target.std()) or 1.0
        tol = float(self.tol) * spread
        now = solve_grouped(work.rows, problem, tol, min(self._steps_allowed(), NO_LIMIT))
        value = float(-0.5 * now.beta @ (problem.target + now.R))
        return state._replace(pairs=(now,)), self._told(value, (now,), tol)

    def _describe(self, state: MachineState, data: Any) -> dict[str, Any]:
        now, n = state.pairs[0], len(state.kept)
        cost = np.tile(float(self.C) * data.weight[state.kept], 2)
        sign = np.repeat([1.0, -1.0], n)
        low, high = np.where(sign > 0, 0.0, -cost), np.where(sign > 0, cost, 0.0)
        up = group_level(now.beta, now.R, low, high, sign > 0)  # y − f = b + ε on the upper edge
        down = group_level(now.beta, now.R, low, high, sign < 0)
        weight = data.weight[state.kept]
        middle = float(weight @ data.y[state.kept] / weight.sum())
        beta = now.beta[:n] + now.beta[n:]
        found = self._kept_machine(state, data, beta, (up + down) / 2.0 + middle)
        return found | {"epsilon_": max(0.0, (up - down) / 2.0), "kkt_violation_": now.violation}
