"""Logistic regression: probabilities of classes from a linear score."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.linalg import Array
from gnomon.core.parameters import Hidden, Interval, StrOptions
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import total_weight
from gnomon.core.validate import POSITIVE, Reads, warn
from gnomon.linear._centering import CentersColumns
from gnomon.linear._rows import check_classes, weigh_classes
from gnomon.linear._rules import JOBS, SEED, warn_of_ratio
from gnomon.linear.hyperplane import LinearClassifierMixin, SparseCoefficients
from gnomon.linear.likelihood import _solvers as solvers
from gnomon.linear.likelihood._separation import runs_away, separates
from gnomon.linear.likelihood._wald import WaldSummary, wald_table
from gnomon.losses.margin import Logistic
from gnomon.losses.scores import SoftmaxCrossEntropy
from gnomon.solvers import descent, nested, newton, row_space
from gnomon.solvers.terms import Model

NARROW = 600  # parameters up to which the Hessian is factorized
ROUNDED = 1e-10  # certificate from which a step without gain is the last: the rest is rounding


class PerfectSeparationWarning(ConvergenceWarning):
    """The classes can be separated, so the likelihood has no maximum and no solver converges."""


class LogisticState(NamedTuple):
    """State of the solver, and what is known about separation."""

    inner: Any  # the solver's own state; has .theta or .x
    separable: bool = False
    objective: float = np.inf
    violation: float = np.inf
    errors: Array | None = None  # standard errors, for maximum likelihood

    def theta(self) -> Array:
        """Return the parameters, intercept last."""
        return self.inner.x if isinstance(self.inner, descent.DescentState) else self.inner.theta


class LogisticRegression(SparseCoefficients, LinearClassifierMixin, CentersColumns, Learner):
    r"""Logistic regression, binary or multinomial.

    .. math:: \min_{w,b}\; C\sum_i s_i \ln\bigl(1 + e^{-y_i(w\cdot x_i+b)}\bigr)
              + \tfrac{1-\rho}{2}\lVert w\rVert_2^2 + \rho\lVert w\rVert_1

    and, for more than two classes, the softmax cross-entropy in place of the first term. ``C=np.inf`` is
    maximum likelihood; a finite C is the mode of the posterior under the prior N(0, C·I). Calibrated when the
    model is right; use trees or kernels when classes do not part along a plane.

    Parameters
    ----------
    penalty : {"l1", "l2", "elasticnet", None}, optional
        Old way to say `l1_ratio` and ``C=np.inf``.
    C, l1_ratio : float, default=1.0 and 0.0
        Inverse strength of the penalty (for Σ ln(1+e^{−m}) + (λ/2)‖w‖² use C = 1/λ), and ρ: 0 is ridge, 1 is lasso.
    tol : float, default=1e-4
        On the certificate: the largest slope of the mean objective (with ρ > 0, its distance from
        optimality).
    fit_intercept : bool, default=True
    dual, intercept_scaling
        Accepted for compatibility; the answer is the same. See `regularize_intercept`.
    class_weight : dict, "balanced" or None
    random_state : int, RandomState or None
        Not used: every solver here is deterministic.
    solver : str, default="auto"
        ``"auto"``, ``"newton-cholesky"``, ``"newton-cg"``, ``"lbfgs"``, ``"liblinear"``, ``"sag"``,
        ``"saga"`` or ``"gd"``: all reach the same optimum. ``"auto"`` takes Newton steps: by Cholesky for
        narrow data of two classes, by conjugate gradients for narrow data of several; for wide data and for
        many rows of several classes L-BFGS, and Newton's method where that is slow; L-BFGS in the space of the
        rows where these are dense and far fewer than the columns; with ρ > 0 proximal Newton on working sets.
        ``"liblinear"``, ``"sag"`` and ``"saga"`` are accepted so that code written for scikit-learn runs, but those
        methods are not here: they mean ``"auto"``.
    max_iter : int, default=100
    verbose : int, default=0
        Print a line after every step.
    warm_start, n_jobs
        As in scikit-learn.
    regularize_intercept : bool, default=False
        Penalize b like the weights.
    learning_rate : float or Schedule, default=0.1
        Of ``solver="gd"``.
    reduction : {"mean", "sum"}, default="mean"
        Which gradient ``"gd"`` follows.
    boundary : {"negative", "positive"}, default="negative"
        Class of points with score 0: the first or the second.

    Attributes
    ----------
    coef_ : array of shape (1, d) or (K, d)
    intercept_ : array of shape (1,) or (K,)
    classes_ : array
    objective_ : float
        Value of the formula above.
    gradient_norm_ : float
        The certificate reached.
    separable_ : bool
        Whether the classes were found to be separable (only looked for when C is infinite).
    standard_errors_ : array of shape (d + 1,)
        Of weights and intercept, for maximum likelihood with two classes.
    n_iter_ : array of shape (1,)
        Steps of the solver.
    converged_, trace_

    Examples
    --------
    >>> x = np.arange(6.0)[:, None]
    >>> model = LogisticRegression(tol=1e-8).fit(x, [0, 0, 1, 0, 1, 1])
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([[0.767054]]), array([-1.917634]))
    """

    _reads: ClassVar[Reads] = Reads(sparse=True, y="class", scales=True)
    _stop: ClassVar[str] = "certificate"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "penalty": [StrOptions({"l1", "l2", "elasticnet"}), Hidden(StrOptions({"deprecated"})), None],
        "C": [Interval(Real, 0, None, closed="right")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
        "dual": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "random_state": SEED,
        "solver": [
            StrOptions({"auto", "newton-cholesky", "newton-cg", "lbfgs", "liblinear", "sag", "saga", "gd"})
        ],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "intercept_scaling": [POSITIVE],
        "verbose": ["verbose"],
        "n_jobs": JOBS,
        "learning_rate": [POSITIVE, callable],
        "regularize_intercept": ["boolean"],
        "reduction": [StrOptions({"mean", "sum"})],
        "boundary": [StrOptions({"negative", "positive"})],
    }

    def __init__(
        self,
        penalty="deprecated",
        *,
        C=1.0,
        l1_ratio=0.0,
        dual=False,
        tol=1e-4,
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        random_state=None,
        solver="auto",
        max_iter=100,
        verbose=0,
        warm_start=False,
        n_jobs=None,
        regularize_intercept=False,
        learning_rate=0.1,
        reduction="mean",
        boundary="negative",
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.regularize_intercept = regularize_intercept
        self.learning_rate = learning_rate
        self.reduction = reduction
        self.boundary = boundary

    def _read(self, X, y=None, sample_weight=None, *, reset=True, **options):
        rows = super()._read(X, y, sample_weight, reset=reset, **options)
        if y is None:
            return rows
        check_classes(rows, type(self).__name__)
        if self.penalty is None and (self.C != 1.0 or self.l1_ratio):
            warn("Setting penalty=None will ignore the C and l1_ratio parameters; C=np.inf says the same.")
        if self.penalty in ("l1", "l2") and self.l1_ratio not in (None, 0.0, self._ratio()):
            warn_of_ratio(self.penalty, "l1_ratio", self.l1_ratio)
        return weigh_classes(rows, self.class_weight)

    def _intercept_is_free(self):
        return self.fit_intercept and not self.regularize_intercept

    def _prepare(self, rows):
        return self._solver(rows)

    def _start(self, solver, rng):
        return self._begin(solver, self._zeros(solver.rows), fresh=True)

    def _begin(self, solver, theta, *, fresh):
        return LogisticState(solver.begin(theta, fresh=fresh))

    def _step(self, solver, state):
        rows, inner = solver.rows, solver.step(state.inner)
        violation = solver.violation(inner)
        scale = self._C() if np.isfinite(self._C()) else 1.0
        rounded = ROUNDED >= violation >= state.violation and inner.value * scale >= state.objective
        state = LogisticState(inner, False, inner.value * scale, violation)
        runaway = not np.isfinite(self._C()) and runs_away(rows, state.theta(), state.objective)
        if runaway and separates(rows, state.theta(), self.fit_intercept):
            return state._replace(separable=True), Report(state.objective, violation, done=True)
        return state, Report(state.objective, violation, stalled=rounded)

    def _finish(self, solver, state):
        rows = solver.rows
        if np.isfinite(self._C()) or not rows.in_memory:
            return state
        theta = state.theta()
        if theta.ndim == 1 and not state.separable:
            state = state._replace(separable=separates(rows, theta, self.fit_intercept, quick=True))
        if state.separable:
            warn(
                "the classes are separable, so the likelihood has no maximum: the weights grow along "
                f"coef_ = {np.round(theta.ravel()[:4], 3).tolist()}{'…' if theta.size > 4 else ''}. "
                "Use a finite C.",
                PerfectSeparationWarning,
            )
        elif theta.ndim == 1:
            hessian = newton.evaluate(rows, solver.objective, theta, curved=True).hessian
            with np.errstate(invalid="ignore"):
                state = state._replace(errors=np.sqrt(np.diag(np.linalg.pinv(hessian))))
        return state

    def _attributes(self, state):
        theta = state.theta()
        if theta.ndim == 2 and not np.isfinite(self._C()):
            theta = theta - theta.mean(axis=1, keepdims=True)
        if theta.ndim == 2 and self._intercept_is_free():
            theta = theta.copy()
            theta[-1] -= theta[-1].mean()
        table = np.atleast_2d(theta.T)
        coef = table[:, :-1] if self.fit_intercept else table
        intercept = table[:, -1] if self.fit_intercept else np.zeros(len(table))
        found = {"coef_": coef.copy(), "intercept_": intercept.copy(), "separable_": state.separable}
        found |= {"objective_": state.objective, "gradient_norm_": state.violation}
        if state.errors is not None:
            found["standard_errors_"] = state.errors
        return found | ({"converged_": False} if state.separable else {})

    def _learned(self, run):
        return {**super()._learned(run), "n_iter_": np.array([run.n_iter])}

    def _state(self):
        raise NotImplementedError  # the loop asks `_first_state`

    def _first_state(self, solver, seed, index):
        if not self.warm_start:
            return super()._first_state(solver, seed, index)
        theta = self._zeros(solver.rows)
        known = self._known() if hasattr(self, "coef_") else None
        if known is None or known.shape != theta.shape:
            return self._start(solver, None)
        return self._begin(solver, known, fresh=False)

    def _zeros(self, rows):
        """Return parameters, intercept last; a column for every class where there are more than two."""
        D = rows.n_features + self.fit_intercept
        return np.zeros(D) if len(rows.classes) == 2 else np.zeros((D, len(rows.classes)))

    def _known(self):
        """Return the parameters of the fit before."""
        table = np.column_stack([self.coef_, self.intercept_]) if self.fit_intercept else self.coef_
        theta = np.asarray(table, dtype=float).T
        return np.ascontiguousarray(theta[:, 0] if len(table) == 1 else theta)

    # -- what is minimized, and how --------------------------------------------------------------------------

    def _C(self):
        C = np.inf if self.penalty is None else self.C
        if not C > 0:
            raise ValueError(f"C must be above 0; got {C!r}. C=np.inf is maximum likelihood.")
        return C

    def _ratio(self):
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise ValueError("penalty='elasticnet' needs l1_ratio, a number between 0 and 1.")
        return {"l1": 1.0, "l2": 0.0}.get(self.penalty, self.l1_ratio or 0.0)

    def _l1(self):
        return self._ratio() / self._C()

    def _objective(self, rows):
        K = len(rows.classes)
        model = (
            Model(Logistic(), self.fit_intercept, 1)
            if K == 2
            else Model(SoftmaxCrossEntropy(), self.fit_intercept, None, K)
        )
        ridge = np.full(rows.n_features + self.fit_intercept, (1.0 - self._ratio()) / self._C())
        if self._intercept_is_free():
            ridge[-1] = 0.0
        return newton.Objective(model, ridge, total_weight(rows))

    def _solver(self, rows):
        """Return the solver that is asked for, or the best for these rows."""
        given = rows, self._objective(rows), self.tol
        if self._l1() > 0.0:
            if self.solver in ("newton-cholesky", "newton-cg", "lbfgs", "sag", "gd"):
                raise ValueError(
                    f"solver={self.solver!r} takes no l1_ratio; use solver='auto', 'saga' or 'liblinear'."
                )
            return solvers.ProximalNewton(*given, self._l1())
        binary = len(rows.classes) == 2
        if self.solver == "gd":
            scale = given[1].weight if self.reduction == "mean" else 1.0
            return solvers.GradientDescent(*given, self.learning_rate, scale)
        if self.solver == "lbfgs":
            return solvers.PlainLBFGS(*given)
        if self.solver == "newton-cg":
            return solvers.NewtonCG(*given)
        if self.solver == "newton-cholesky" and binary:
            return solvers.Newton(*given)
        if rows.n_features > NARROW:
            few = row_space.is_worthwhile(rows, given[1])
            return solvers.RowSpaceLBFGS(*given) if few else solvers.WideLBFGS(*given)
        if binary:
            return solvers.Newton(*given)
        many = nested.is_worthwhile(rows, given[1])
        return solvers.NestedLBFGS(*given) if many else solvers.NewtonCG(*given)

    # -- prediction ------------------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every class."""
        scores = self.decision_function(X)
        return (
            np.column_stack([expit(-scores), expit(scores)]) if scores.ndim == 1 else softmax(scores, axis=1)
        )

    def predict_log_proba(self, X: Any) -> Array:
        """Return its logarithm, exact also where probabilities round to 0 or 1."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return log_softmax(scores, axis=1)

    def summary(self, level: float = 0.95) -> WaldSummary:
        """Return estimates with standard errors, z statistics, p values and intervals (maximum likelihood only).

        It assumes independent rows, a right model, and so many rows that the likelihood is close to Gaussian.
        ``print`` it, or take ``.to_frame()``.
        """
        return wald_table(self, level)
