"""Support vector classification: hard, soft, squared, budgeted and counted slack, for two classes and more."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.steps import Report
from gnomon.solvers.kernel_rows import KernelRows
from gnomon.solvers.pairs import PairProblem
from gnomon.svm import special
from gnomon.svm.certificates import Machine, certify
from gnomon.svm.machine import COMMON, MachineState, Work
from gnomon.svm.multiclass import solve_together
from gnomon.svm.pairwise import PairwiseClassifier
from gnomon.svm.questions import MachineQuestions


class SVC(MachineQuestions, PairwiseClassifier):
    r"""Support vector classifier.

    .. math:: \min_{w,b,\xi\ge0} \tfrac12\lVert w\rVert^2 + \sum_i C_i\xi_i^q \quad\text{s.t.}\quad
              y_i(w\cdot\phi(x_i) + b) \ge 1 - \xi_i

    The surface with the widest empty street between two classes, in the space of a kernel; rows inside the street pay.
    Only rows on or inside it (the support vectors) matter. Good up to some ten thousands of rows; for more, or for wide
    sparse rows, use `gnomon.linear.LinearSVC`, or `gnomon.kernels.Nystroem` before it. Scale the columns first.

    ============================  ============================================================================
    ``slack="l1"``                :math:`\sum C_i\xi_i`; the dual has :math:`0\le\alpha_i\le C_i`
    ``C=np.inf``                  hard margin: no slack, else `NotSeparableError` with a common point of the hulls
    ``slack="l2"``                :math:`\sum C_i\xi_i^2`; the hard margin of the kernel plus 1/(2C) for equal rows
    ``slack_budget=B``            smallest ‖w‖ with :math:`\sum\xi_i\le B`; the price is `C_`
    ``slack="l0"``                fewest rows on the wrong side of their margin, then smallest ‖w‖ (60 rows at most)
    ============================  ============================================================================

    For :math:`\frac\lambda2\lVert w\rVert^2 + \frac1n\sum\mathrm{hinge}` use C = 1/(λn). A sample weight multiplies C.

    Solved two multipliers at a time with second-order pairs, then finished exactly where the free multipliers are few
    enough to be solved for together. The gap is computed from the final decisions, so it proves how far the
    answer can be from the best.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack; ``np.inf`` for none.
    kernel : str, Kernel or callable, default="rbf"
        A name ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "precomputed", ...), an object of
        `gnomon.kernels`, or a function of two matrices.
    degree, gamma, coef0
        Of the named kernels; ``gamma="scale"`` is 1/(columns · variance of X), ``"auto"`` 1/columns.
    shrinking : bool, default=True
        Set rows aside whose multipliers rest at a bound.
    probability : bool, default=False
        Offer `predict_proba`, calibrated on leave-one-out decisions in closed form (the span rule of Vapnik &
        Chapelle, 2000). Nothing is fitted twice, and the likeliest class is the predicted one.
    tol : float, default=1e-3
        Largest violation of the conditions of optimality.
    cache_size : float, default=200
        Megabytes for the kernel matrix, or for a cache of its rows.
    class_weight : dict or "balanced", optional
        Factors of C.
    verbose
        Accepted for compatibility.
    max_iter : int, default=-1
        Most pair steps of a machine; −1 for no limit.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
    break_ties : bool, default=False
        Decide equal votes by confidence.
    random_state
        Accepted for compatibility: nothing is random.
    slack : {"l1", "l2", "l0"}, default="l1"
    slack_budget : float, optional
        Bound of the total slack, instead of C.
    multi_class : {"ovo", "ovr", "crammer_singer", "weston_watkins"}, default="ovo"
        One machine a pair of classes, one a class, or one for all (without intercept).
    solver : {"smo", "qp", "hull"}, default="smo"
        "qp" solves the same dual by a dense interior point method, as a check; "hull" is the way of the hard margin.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, classes_
        As in scikit-learn; `coef_` for a linear kernel.
    dual_coef_full_ : array of shape (n,)
        α of every row. This and what follows with a row each is there for two classes.
    slack_ : array of shape (n,)
    point_types_ : array of shape (n,)
        "outside" (α = 0), "on_margin" (0 < α < C) or "margin_error" (α = C).
    intercept_interval_ : (float, float)
        All intercepts that are optimal; a point where a row is on the margin.
    margin_ : float
        1/‖w‖, half the width of the street.
    primal_, dual_, gap_, kkt_violation_ : float, or array with one a machine
        The gap proves how much better any other machine could be.
    support_fraction_, C_ : float
    n_iter_ : int
        Rounds of the loop.
    n_pair_steps_ : array with one a machine
        Pairs of multipliers that were moved; `max_iter` bounds it.
    trace_
        Dual objective and violation as the fit went on.

    Examples
    --------
    >>> X, y = [[0.0, 0], [1, 0], [2, 1], [1, 2], [3, 3], [2.5, 1.5]], [0, 0, 0, 1, 1, 1]
    >>> model = SVC(kernel="linear", C=1.0).fit(X, y)
    >>> model.coef_.round(4), model.intercept_.round(4)
    (array([[0.3333, 1.    ]]), array([-1.3333]))
    >>> model.dual_coef_full_.round(4)
    array([0.    , 0.2222, 1.    , 0.3333, 0.    , 0.8889])
    >>> model.point_types_.tolist()
    ['outside', 'on_margin', 'margin_error', 'on_margin', 'outside', 'on_margin']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON | {
        "C": [Interval(Real, 0.0, None, closed="right")],
        "probability": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "slack": [StrOptions({"l1", "l2", "l0"})],
        "slack_budget": [Interval(Real, 0.0, None, closed="left"), None],
        "multi_class": [StrOptions({"ovo", "ovr", "crammer_singer", "weston_watkins"})],
        "solver": [StrOptions({"smo", "qp", "hull"})],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
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
        slack: str = "l1",
        slack_budget: float | None = None,
        multi_class: str = "ovo",
        solver: str = "smo",
    ) -> None:
        self.C = C
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
        self.slack = slack
        self.slack_budget = slack_budget
        self.multi_class = multi_class
        self.solver = solver

    # what is solved

    def _check_data(self, data: Any) -> None:
        super()._check_data(data)
        two = len(data.classes) == 2
        if self.slack_budget is not None and self.slack != "l1":
            raise ValueError(f"slack_budget goes with slack='l1'; got slack={self.slack!r}.")
        if not two and (self.slack_budget is not None or self.slack == "l0"):
            raise DataError(f"slack_budget and slack='l0' are for two classes; y has {len(data.classes)}.")
        if self.solver == "hull" and not self._is_hard:
            raise ValueError("solver='hull' is the way of the hard margin; it goes with C=np.inf.")

    @property
    def _is_hard(self) -> bool:
        return self.C == np.inf and self.slack == "l1" and self.slack_budget is None

    @property
    def _centers_linear(self) -> bool:  # type: ignore[override]
        return not self._together  # without intercept a shift of the rows would change the answer

    @property
    def _together(self) -> bool:
        return self.multi_class in ("crammer_singer", "weston_watkins")

    def _costs(self, data: Any, kept: Array, price: float | None = None) -> Array:
        cost = float(self.C) if price is None else price
        return cost * data.weight[kept] * self._class_factor(data)[data.y[kept]]

    def _problem(self, rows: KernelRows, at: Array, sign: Array, cost: Array) -> PairProblem:
        ridge, top = None, cost
        if self.slack == "l2":
            ridge, top = 0.5 / cost, np.full(len(cost), np.inf)
        if self.slack == "l0" or self._is_hard:
            top = np.full(len(cost), np.inf)
        return PairProblem(
            rows, at, sign, np.where(sign > 0, 0.0, -top), np.where(sign > 0, top, 0.0),
            ridge=ridge, tol=float(self.tol), shrinking=bool(self.shrinking), max_steps=self._steps_allowed(),
        )  # fmt: skip

    def _problems(self, rows: KernelRows, data: Any, kept: Array) -> list[PairProblem]:
        if self._together:
            return []
        cost = self._costs(data, kept)
        tasks = self._tasks(data.y[kept], len(data.classes))
        return [self._problem(rows, at, sign, cost[at]) for at, sign in tasks]

    @property
    def _by_pairs(self) -> bool:
        special_slack = self.slack == "l0" or self.slack_budget is not None or self._is_hard
        return not (special_slack or self._together or self.solver == "qp")

    def _step(self, work: Work, state: MachineState) -> tuple[MachineState, Report]:
        if self._by_pairs:
            return super()._step(work, state)
        if self._together:
            return solve_together(self, work, state)
        solved, extra = zip(*(self._solve_special(work, problem) for problem in work.problems), strict=True)
        worst = max(now.violation for now in solved)
        value = -0.5 * sum(float(now.beta @ now.beta) for now in solved)
        return state._replace(pairs=solved, extra=extra[0]), Report(value, certificate=worst, done=True)

    def _solve_special(self, work: Work, problem: PairProblem) -> tuple[Any, dict[str, Any]]:
        rows, at, sign = work.rows, problem.rows, problem.target
        if self.slack_budget is not None:
            weight = self._costs(work.data, work.kept, 1.0)
            now, price = special.slack_budget(
                lambda price: self._problem(rows, at, sign, price * weight),
                sign, weight, float(self.slack_budget), lambda: special.least_slack(rows, at, sign, weight),
            )  # fmt: skip
            return now, {"C": price}
        if self.slack == "l0":
            beta = special.counted_slack(rows, at, sign)
            given_up = None
            return special.Pairs(beta, problem.residuals(beta), 1, 0.0, True), {"given_up": given_up}
        if self.solver == "qp":
            K = rows.block(at, at).astype(np.float64)
            if problem.ridge is not None:
                K[np.diag_indices(len(at))] += problem.ridge
            beta = special.dense_program(K, sign, problem.low, problem.high)
            if self._is_hard and not np.isfinite(beta).all():
                raise special.not_separable(None)
            return special.Pairs(beta, problem.residuals(beta), 1, 0.0, True), {}
        return special.settled(problem, special.hard_margin(rows, at, sign)), {}

    # what is kept

    def _describe(self, state: MachineState, data: Any) -> dict[str, Any]:
        if self._together:
            return self._described_together(state, data)
        price = state.extra.get("C")
        cost = self._costs(data, state.kept, price if price else None)
        machines = []
        for (at, sign), now in zip(
            self._tasks(data.y[state.kept], len(data.classes)), state.pairs, strict=True
        ):
            machine = self._certified(at, sign, cost[at], now)
            off = self._offset(data, state.kept, at, now.beta)
            ends = (machine.interval[0] - off, machine.interval[1] - off)
            machines.append(machine._replace(intercept=machine.intercept - off, interval=ends))
        found = self._described(state, data, machines)
        found["C_"] = float(self.C if price is None else price)
        return found | self._calibrated(state, data, machines)

    def _certified(self, at: Array, sign: Array, cost: Array, now: Any) -> Machine:
        ridge = 0.5 / cost if self.slack == "l2" else None
        if self.slack == "l0" or self._is_hard or self.slack == "l2":
            cost = np.full(len(cost), np.inf)
        return certify(at, sign, cost, ridge, now, counted=self.slack == "l0", budget=self.slack_budget)

    def _described_together(self, state: MachineState, data: Any) -> dict[str, Any]:
        extra = state.extra
        full = np.zeros((data.n_rows, len(data.classes)))
        full[state.kept] = extra["coef"]
        used = np.flatnonzero(full.any(axis=1))
        order = used[np.argsort(data.y[used], kind="stable")]
        dual = full[order].T
        if len(data.classes) == 2:
            dual = dual[1:] - dual[:1]
        return {
            "support_": order.astype(np.int32),
            "support_vectors_": self._support(data, order),
            "n_support_": np.bincount(data.y[order], minlength=len(data.classes)).astype(np.int32),
            "dual_coef_": sparse.csr_array(dual) if data.sparse else np.ascontiguousarray(dual),
            "intercept_": np.zeros(len(dual)),
            "support_fraction_": len(used) / data.n_rows,
            "class_weight_": self._class_factor(data),
            "n_pair_steps_": np.array([extra["sweeps"]]),
            "primal_": extra["primal"],
            "dual_": extra["dual"],
            "gap_": extra["primal"] - extra["dual"],
            "kkt_violation_": extra["violation"],
            "C_": float(self.C),
        }
