"""Linear support vector machines: the widest margin, in primal and dual form, with a gap that proves it."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import Reads
from gnomon.linear._centering import CentersColumns
from gnomon.linear._rows import check_classes, refuse_overflow, weigh_classes
from gnomon.linear._rules import SEED
from gnomon.linear.hyperplane import LinearClassifierMixin, SparseCoefficients
from gnomon.solvers import maximum_margin
from gnomon.solvers.margin_programs import multiclass_program, within_budget
from gnomon.solvers.optimality import describe


class NotSeparableError(DegenerateError):
    """No plane separates the classes; `certificate` proves it."""

    certificate: Array | None = None


class MachineState(NamedTuple):
    """The problems of all classes, where each stands, and facts about the rows of a finished one."""

    solved: tuple[maximum_margin.Iterate, ...]
    seed: int
    facts: dict[str, Any] | None = None


class MachineWork(NamedTuple):
    """The rows, and the problems of the classes where they are solved apart."""

    rows: Any
    problems: tuple[maximum_margin.Margin, ...]


class LinearSVC(SparseCoefficients, LinearClassifierMixin, CentersColumns, Learner):
    r"""Linear support vector classifier.

    .. math:: \min_{w,b} \tfrac12\lVert w\rVert^2 + C\sum_i s_i\max(0, 1 - y_i(w\cdot x_i + b))^q,\; q=1, 2

    Only rows on or inside the margin (the support vectors) matter. ``C=np.inf`` is the hard margin,
    `slack_budget` bounds the total slack instead of pricing it. For (1/n)Σ hinge + (λ/2)‖w‖² use C = 1/(λn).
    Use `LogisticRegression` for probabilities, kernel machines when a plane is not enough.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        ``"l1"`` selects features; squared hinge only, and the intercept is free.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
    dual : bool or "auto", default="auto"
        Accepted for compatibility: primal and dual value are both computed.
    tol : float, default=1e-4
        (primal − dual)/max(1, primal) at the end.
    C : float, default=1.0
    multi_class : {"ovr", "crammer_singer", "weston_watkins"}, default="ovr"
        One machine a class, or one for all with the largest or the sum of the violations.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1
        The larger, the weaker the penalty on b.
    class_weight : dict, "balanced" or None
    verbose, random_state
        The order of dual coordinate descent is drawn from `random_state`.
    max_iter : int, default=1000
    regularize_intercept : bool, default=True
        True penalizes b as liblinear does (with ``penalty="l2"``); False leaves it free, as in the textbooks and
        in ``SVC``.
    solver : {"auto", "qp"}, default="auto"
        ``"auto"``: Newton for the squared hinge (on wide dense data L-BFGS first, on wide sparse data by
        conjugate gradients inside the margin, for few rows that are nearly orthogonal dual coordinate descent),
        interior points for the hinge on narrow data, dual coordinate descent on wide or sparse data.
        ``"qp"``: a dense quadratic program, for reference.
    slack_budget : float, optional
        Minimize ½‖w‖² with Σξ at most this, free intercept.
    boundary : {"negative", "positive"}, default="negative"

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, converged_, trace_
    primal_, dual_, gap_ : float
    dual_coef_full_, slack_, point_types_, support_, margin_, support_fraction_, intercept_interval_,
    kkt_violation_
        Of the rows, for two classes and rows in memory: multipliers, slacks, "outside", "on_margin" or
        "margin_error", …

    Examples
    --------
    >>> X = np.array([[0.0, 0], [0, 2], [3, 1], [4, 1]])
    >>> model = LinearSVC(C=np.inf, loss="hinge", regularize_intercept=False).fit(X, [0, 0, 1, 1])
    >>> model.coef_.round(6) + 0.0, model.intercept_.round(6), round(model.margin_, 6)
    (array([[0.666667, 0.      ]]), array([-1.]), 1.5)
    """

    _stop: ClassVar[str] = "certificate"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "dual": ["boolean", StrOptions({"auto"})],
        "verbose": ["verbose"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "C": [Interval(Real, 0, None, closed="right")],
        "multi_class": [StrOptions({"ovr", "crammer_singer", "weston_watkins"})],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "random_state": SEED,
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "regularize_intercept": ["boolean"],
        "solver": [StrOptions({"auto", "qp"})],
        "slack_budget": [Interval(Real, 0, None, closed="left"), None],
        "boundary": [StrOptions({"negative", "positive"})],
    }

    def __init__(
        self,
        penalty="l2",
        loss="squared_hinge",
        *,
        dual="auto",
        tol=1e-4,
        C=1.0,
        multi_class="ovr",
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        verbose=0,
        random_state=None,
        max_iter=1000,
        regularize_intercept=True,
        solver="auto",
        slack_budget=None,
        boundary="negative",
    ):
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.regularize_intercept = regularize_intercept
        self.solver = solver
        self.slack_budget = slack_budget
        self.boundary = boundary

    @property
    def _reads(self) -> Reads:
        """The squared hinge is a smooth sum over rows; the other machines need all rows at once."""
        smooth = self.loss == "squared_hinge" and self.solver == "auto" and self.multi_class == "ovr"
        return Reads(sparse=True, y="class", scales=smooth and self.slack_budget is None)

    def _read(self, X, y=None, sample_weight=None, *, reset=True, **options):
        rows = super()._read(X, y, sample_weight, reset=reset, **options)
        if y is None:
            return rows
        check_classes(rows, type(self).__name__)
        if not rows.in_memory and not np.isfinite(self.C):
            raise DataError("the hard margin (C=inf) needs all rows in memory; give a finite C.")
        if self.penalty == "l1" and self.loss == "hinge":
            raise ValueError("penalty='l1' goes with loss='squared_hinge' only; got loss='hinge'.")
        rows = weigh_classes(rows, self.class_weight)
        if rows.in_memory:
            refuse_overflow(rows, self.C)
        return rows

    def _intercept_is_free(self):
        return self.fit_intercept and not self.regularize_intercept

    def _prepare(self, rows):
        K = len(rows.classes)
        apart = not self._joint(rows) and self.slack_budget is None
        facts = maximum_margin.RowFacts(rows)
        return MachineWork(
            rows, tuple(self._problem(rows, k, facts) for k in (range(K) if K > 2 else [1])) if apart else ()
        )

    def _problem(self, rows, k, facts=None):
        facts = maximum_margin.RowFacts(rows) if facts is None else facts
        price = 1.0 / self.intercept_scaling**2 if self.regularize_intercept else 0.0
        y, cost = self._rows_of(rows, k) if rows.in_memory else (np.empty(0), np.empty(0))
        margin = maximum_margin.Margin(
            y, cost, k, float(self.C), self.fit_intercept, price, self.loss, self.penalty == "l1", "", facts
        )
        margin = margin._replace(method=maximum_margin.choose(margin, rows, self.solver))
        smooth = margin.method in ("newton", "wide", "sparse")
        return margin._replace(objective=maximum_margin.smooth_objective(margin, rows) if smooth else None)

    def _rows_of(self, rows, k):
        """Sign and price of every row of a problem."""
        cost = self.C * rows.weight if np.isfinite(self.C) else np.where(rows.weight > 0, np.inf, 0.0)
        return np.where(rows.y == k, 1.0, -1.0), cost

    def _joint(self, rows):
        return self.multi_class != "ovr" and len(rows.classes) > 2

    def _start(self, work, rng):
        seed = draw_seed(rng)
        if work.problems and not np.isfinite(self.C):
            self._check_separable(work.rows)
        return MachineState(
            tuple(maximum_margin.begin(problem, work.rows) for problem in work.problems), seed
        )

    def _check_separable(self, rows):
        from gnomon.linear.margin.hulls import separability

        if len(rows.classes) > 2:
            raise DataError("the hard margin (C=inf) is for two classes; give a finite C.")
        X = rows.X.toarray() if rows.sparse else rows.X
        found = separability(X, rows.y, origin=not self.fit_intercept)
        if not found.separable:
            error = NotSeparableError(
                "no plane separates the classes, so C=np.inf has no answer; give a finite C."
            )
            error.certificate = found.certificate
            raise error

    def _step(self, work, state):
        rows = work.rows
        if self._joint(rows):
            solved = self._solve_joint(rows)
        elif self.slack_budget is not None:
            solved = (self._solve_budget(rows),)
        else:
            goal = self._goal(rows)
            solved = tuple(
                one
                if one.gap <= goal or one.stalled
                else maximum_margin.advance(problem, rows, one, state.seed, self.tol)
                for problem, one in zip(work.problems, state.solved)
            )
        gap = max(one.gap for one in solved)
        done = all(one.gap <= self._goal(rows) or (one.stalled and one.gap <= self.tol) for one in solved)
        whole = self._joint(rows) or self.slack_budget is not None  # solved in one step, as well as it can be
        done = done or (whole and gap <= self.tol)
        primal = sum(one.primal for one in solved)
        return state._replace(solved=solved), Report(primal, gap, done=done, stalled=whole)

    def _goal(self, rows):
        return maximum_margin.goal(rows, self.tol, l1=self.penalty == "l1")

    def _converged(self, report, objective, previous, tol):
        return False  # `_step` decides

    def _solve_budget(self, rows):
        if len(rows.classes) > 2:
            raise DataError("slack_budget is for two classes.")
        X = rows.X.toarray() if rows.sparse else np.asarray(rows.X, dtype=float)
        y = np.where(rows.y == 1, 1.0, -1.0)
        A = y[:, None] * np.column_stack([X, np.ones(len(X))])
        ridge = np.append(np.ones(X.shape[1]), 0.0)
        theta, alpha, primal, gap = within_budget(A, ridge, float(self.slack_budget))
        return maximum_margin.Iterate(None, theta if self.fit_intercept else theta[:-1], primal, gap, alpha)

    def _solve_joint(self, rows):
        X = rows.X.toarray() if rows.sparse else np.asarray(rows.X, dtype=float)
        price = 1.0 / self.intercept_scaling**2 if self.regularize_intercept else 0.0
        counts = rows.weight > 0  # a row without cost would leave its slack without a price
        theta, primal, gap = multiclass_program(
            X[counts],
            rows.y[counts],
            self.C * rows.weight[counts],
            K=len(rows.classes),
            kind=self.multi_class,
            intercept=self.fit_intercept,
            price=price,
        )
        share = gap / max(1.0, primal)
        return tuple(
            maximum_margin.Iterate(None, row, primal if k == 0 else 0.0, share) for k, row in enumerate(theta)
        )

    def _finish(self, work, state):
        rows = work.rows
        if len(state.solved) != 1 or not np.isfinite(state.solved[0].primal) or not rows.in_memory:
            return state
        one = state.solved[0]
        margin = work.problems[0] if work.problems else self._problem(rows, 1)
        if self.slack_budget is not None or margin.l1:
            return state
        facts, b = describe(margin, rows.X, one)
        theta = np.append(one.theta[:-1], b) if self.fit_intercept else one.theta
        return state._replace(solved=(one._replace(theta=theta),), facts=facts)

    def _attributes(self, state):
        table = np.array([one.theta for one in state.solved]) if state.solved else np.zeros((1, 1))
        coef = table[:, :-1] if self.fit_intercept else table
        intercept = table[:, -1] if self.fit_intercept else np.zeros(len(table))
        primal = sum(one.primal for one in state.solved)
        gap = max((one.gap for one in state.solved), default=np.inf) * max(1.0, primal)
        found = {"coef_": coef.copy(), "intercept_": intercept.copy(), "primal_": primal, "gap_": gap}
        return found | {"dual_": primal - gap} | (state.facts or {})
