"""Machines that say what share of the rows may be support vectors instead of what slack costs."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from gnomon.core.errors import DataError, InfeasibleError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.steps import Report
from gnomon.core.validate import warn
from gnomon.solvers.grouped_pairs import GroupedProblem, fill_up, group_level, solve_grouped
from gnomon.solvers.kernel_rows import KernelRows
from gnomon.solvers.pairs import NO_LIMIT, Pairs
from gnomon.svm.certificates import Machine
from gnomon.svm.machine import COMMON, MachineState, Work
from gnomon.svm.pairwise import PairwiseClassifier
from gnomon.svm.regressor import TubeRegressor

BEYOND = 1e14  # multipliers this much above the targets leave two digits of them


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
