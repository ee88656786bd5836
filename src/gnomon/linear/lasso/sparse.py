"""Lasso and elastic net: least squares that sets most coefficients to zero, with a gap that proves the
answer.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin, clone

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.rows import MemoryRows
from gnomon.core.steps import Learner, Report
from gnomon.core.threads import one_blas_thread
from gnomon.core.validate import Reads, warn
from gnomon.linear._rules import SEED
from gnomon.linear.squares.least_squares import LinearPrediction
from gnomon.linear.squares.moments import LinearSums, sum_moments
from gnomon.solvers.coordinate import Check, Design, Penalized
from gnomon.solvers.sparse_coordinate import SparseDesign, SparseEngine
from gnomon.solvers.working_sets import MomentEngine, WorkingSetEngine

SMALL = 2**16  # entries of a sparse X up to which it is worked on as a dense one
GRAM_WIDTH = 2000  # features up to which, with more rows than features, the whole Gram matrix is formed


class Prepared(NamedTuple):
    """An engine with what leads from its units back to the user's."""

    engine: Any
    mass: float  # Σ of weights
    mean_x: Array
    mean_y: float
    yy: float  # ‖y‖² about its mean

    def intercept(self, coef: Array, fitted: bool) -> float:
        """Return b = ȳ − x̄·w."""
        return float(self.mean_y - self.mean_x @ coef) if fitted else 0.0


def prepare(rows: Any, intercept: bool, coef: Array | None = None) -> Prepared:
    """Choose the engine: sparse columns, the Gram matrix of everything, or working sets."""
    with np.errstate(over="ignore", invalid="ignore"):
        prepared = _prepare(rows, intercept, coef)
    for name, values in (("y", prepared.yy), ("X", prepared.engine.corr)):
        if not np.isfinite(values).all():
            raise DataError(
                f"the entries of {name} are so large that their squares overflow; divide them by a constant."
            )
    return prepared


def _prepare(rows: Any, intercept: bool, coef: Array | None) -> Prepared:
    if rows.in_memory and rows.sparse and np.prod(rows.X.shape) <= SMALL:
        rows = MemoryRows(rows.X.toarray(), rows.y, rows._weight)
    if not rows.in_memory or (not rows.sparse and _is_tall(rows)):
        return prepare_sums(sum_moments(rows), intercept, coef)
    weight = rows.weight if rows.weighted else None
    y = np.asarray(rows.y, dtype=np.float64)
    if rows.sparse:
        design: Any = SparseDesign(rows.X, y, weight, intercept)
        engine: Any = SparseEngine(design, coef)
    else:
        design = Design(rows.X, y, weight, intercept)
        engine = WorkingSetEngine(design, coef)
    return Prepared(engine, design.mass, design.mean, design.y_mean, design.yy)


def prepare_sums(sums: LinearSums, intercept: bool, coef: Array | None = None) -> Prepared:
    """Return the engine that needs nothing but moments."""
    view = sums if intercept else sums.without_centering()
    mean_x = sums.mean_x if intercept else np.zeros_like(sums.mean_x)
    mean_y = float(sums.mean_y) if intercept else 0.0
    G = np.array(view.xx)
    flat = np.diagonal(G) <= sums.weight * (64.0 * np.finfo(float).eps * sums.mean_x) ** 2
    G[flat], G[:, flat] = 0.0, 0.0
    engine = MomentEngine(G, np.where(flat, 0.0, view.xy), float(view.yy), coef)
    return Prepared(engine, float(sums.weight), mean_x, mean_y, float(view.yy))


def _is_tall(rows) -> bool:
    return rows.n_rows >= rows.n_features and rows.n_features <= GRAM_WIDTH


def strengths(prepared: Prepared, alpha: float, l1_ratio: float, positive: bool) -> Penalized:
    """Return α and ρ on the scale of the sum over rows."""
    return Penalized(prepared.mass * alpha * l1_ratio, prepared.mass * alpha * (1.0 - l1_ratio), positive)


class SparseState(NamedTuple):
    """The engine (which carries the coefficients) and the last certificate."""

    prepared: Prepared
    check: Check
    dual_point: Array | None = None


class ElasticNet(LinearPrediction, RegressorMixin, Learner):
    r"""Linear regression with an ℓ1 and a ridge penalty.

    .. math:: \min_{w,b}\; \frac{1}{2n}\lVert y - Xw - b\rVert_2^2 + \alpha\rho\lVert w\rVert_1
              + \tfrac12\alpha(1-\rho)\lVert w\rVert_2^2

    For many features of which few matter. With ρ < 1, correlated features share their weight instead of one
    of them taking all. Weights of rows are scaled to sum to n. For ‖y−Xw‖² + λ₁‖w‖₁ + λ₂‖w‖² use
    α = (λ₁+2λ₂)/(2n) and ρ = λ₁/(λ₁+2λ₂).

    Parameters
    ----------
    alpha : float, default=1.0
        α; 0 is least squares.
    l1_ratio : float, default=0.5
        ρ; 1 is the lasso, 0 ridge regression with penalty n·α.
    fit_intercept : bool, default=True
        The intercept is never penalized.
    precompute : bool or array, default=False
        Accepted for compatibility: the Gram matrix is formed where that is faster.
    max_iter : int, default=1000
        Working sets tried; where the Gram matrix is formed, sweeps and exact steps.
    copy_X : bool, default=True
        X is never written to.
    tol : float, default=1e-4
        The duality gap is at most ``tol·‖y − ȳ‖²/n``.
    warm_start : bool, default=False
    positive : bool, default=False
        Allow no negative coefficient.
    random_state, selection
        Accepted for compatibility: sweeps are cyclic, the answer does not depend on the order.

    Attributes
    ----------
    coef_ : array of shape (d,), or (targets, d) where y has several columns
    intercept_ : float, or one for each target
    dual_gap_ : float, or one for each target
        Objective minus the best lower bound known: the optimum is at most this much better.
    dual_point_ : array of shape (n,)
        The dual feasible point behind the bound (rows in memory only).
    support_ : array of int
        Features with a non-zero coefficient.
    n_iter_, converged_, trace_

    Examples
    --------
    >>> X, y = np.array([[1.0, 2], [2, 1], [3, 4], [4, 3]]), [1.0, 2, 3, 5]
    >>> ElasticNet(alpha=0.5, l1_ratio=0.5, tol=1e-10).fit(X, y).coef_.round(6)
    array([0.916667, 0.      ])
    """

    _reads: ClassVar[Reads] = Reads(sparse=True, y="number", scales=True)
    _stop: ClassVar[str] = "certificate"
    _draws: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "positive": ["boolean"],
        "selection": [StrOptions({"cyclic", "random"})],
        "precompute": ["boolean", "array-like"],
        "copy_X": ["boolean"],
        "random_state": SEED,
    }

    def __init__(
        self,
        alpha=1.0,
        *,
        l1_ratio=0.5,
        fit_intercept=True,
        precompute=False,
        max_iter=1000,
        copy_X=True,
        tol=1e-4,
        warm_start=False,
        positive=False,
        random_state=None,
        selection="cyclic",
    ):
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Any:
        """Learn from rows; several columns of targets are fitted one by one.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame, Dask collection, or path of Parquet files
            The rows.
        y : array of shape (n,) or (n, targets)
            The target.
        sample_weight : array or column name, optional
            How many times each row counts.
        check_input : bool, default=True
            Kept for scikit-learn's sake: what is given is always looked at.

        Returns
        -------
        self
            The fitted model.
        """
        if isinstance(y, str):  # a column
            return super().fit(X, y, sample_weight)
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
        if len(shape) == 2 and shape[1] > 1:
            return self._fit_targets(X, np.asarray(y), sample_weight)
        return super().fit(X, y, sample_weight)

    def _fit_targets(self, X: Any, y: Array, sample_weight: Any) -> Any:
        known = (
            np.atleast_2d(getattr(self, "coef_", np.zeros((0, 0)))) if self.warm_start else np.zeros((0, 0))
        )
        models = []
        for j, column in enumerate(y.T):
            model = clone(self)
            if len(known) == y.shape[1]:
                model.coef_ = known[j]
            models.append(model.fit(X, column, sample_weight))
        facts = {name: value for name, value in vars(models[0]).items() if name.endswith("_")}
        for name in ("coef_", "intercept_", "dual_gap_", "dual_point_"):
            if name in facts:
                facts[name] = np.array([getattr(model, name) for model in models])
        facts["support_"] = np.flatnonzero(np.any(facts["coef_"] != 0, axis=0))
        facts["converged_"] = all(model.converged_ for model in models)
        facts["n_iter_"] = [model.n_iter_ for model in models]
        facts["trace_"] = max((model.trace_ for model in models), key=len)
        self.__dict__.update(facts)
        return self

    def _start(self, rows, rng, coef=None):
        if self.alpha == 0:
            warn("alpha=0 is least squares, for which LinearRegression is faster and exact.")
        prepared = prepare(rows, self.fit_intercept, coef)
        return SparseState(prepared, prepared.engine.check(self._penalty(prepared)))

    def _first_state(self, rows, seed, index):
        known = self.warm_start and np.shape(getattr(self, "coef_", None)) == (rows.n_features,)
        return self._start(rows, None, np.asarray(self.coef_, dtype=float) if known else None)

    def _step(self, rows, state):
        state, reports = self._stretch(rows, state, 1)
        return state, reports[-1]

    def _stretch(self, rows, state, most):
        prepared = state.prepared
        pen, goal = self._penalty(prepared), self.tol * prepared.yy
        engine, check = prepared.engine, state.check
        told, by_sweeps = [(check.primal, check.gap)], isinstance(engine, MomentEngine)
        with one_blas_thread():
            if by_sweeps and (
                check.gap > goal or engine.turn is not None
            ):  # what is begun is brought to its end
                told, check = engine.steps(pen, goal, most)
            elif check.gap > goal:
                check = engine.advance(pen, goal)
                told = [(check.primal, check.gap)]
        ended = check.gap <= goal and not (by_sweeps and engine.turn is not None)
        mass, yy = prepared.mass, prepared.yy
        reports = [Report(primal / mass, gap / yy if yy > 0 else 0.0) for primal, gap in told]
        reports[-1] = reports[-1]._replace(done=ended)
        return SparseState(prepared, check), reports

    def _converged(self, report, objective, previous, tol):
        return False  # a sweep may be near enough before its solution is: `Report.done` says when

    def _snapshot(self, state):
        return state.prepared.engine.snapshot(), tuple(state.check)

    def _restore(self, rows, snapshot):
        prepared = prepare(rows, self.fit_intercept)
        prepared.engine.restore(snapshot[0])
        return SparseState(prepared, Check(*snapshot[1]))

    def _finish(self, rows, state):
        pen = self._penalty(state.prepared)
        if not rows.in_memory or pen.t == 0.0:
            return state
        r = np.asarray(rows.y - state.prepared.mean_y, dtype=float)
        coef = state.prepared.engine.w
        r = r - rows.X @ coef + state.prepared.mean_x @ coef
        return state._replace(dual_point=state.check.scale * r / pen.t)

    def _attributes(self, state):
        prepared = state.prepared
        coef = prepared.engine.w.copy()
        found = {"coef_": coef, "intercept_": prepared.intercept(coef, self.fit_intercept)}
        found |= {"dual_gap_": state.check.gap / prepared.mass, "support_": np.flatnonzero(coef)}
        return found if state.dual_point is None else found | {"dual_point_": state.dual_point}

    def _penalty(self, prepared):
        return strengths(prepared, self.alpha, self.l1_ratio, self.positive)

    def _limit(self):
        return int(self.max_iter or 1000)

    def _adopt(self, attributes, rows=None):
        if rows is not None and rows.dtype == np.float32 and "coef_" in attributes:
            attributes = {**attributes, "coef_": attributes["coef_"].astype(np.float32)}
        super()._adopt(attributes, rows)

    @property
    def sparse_coef_(self):
        """Coefficients as a sparse row."""
        return sparse.csr_array(np.atleast_2d(self.coef_))


class Lasso(ElasticNet):
    r"""Linear regression with an ℓ1 penalty.

    .. math:: \min_{w,b}\; \frac{1}{2n}\lVert y - Xw - b\rVert_2^2 + \alpha\lVert w\rVert_1

    Selects features: everything is zero from α_max = ‖Xᵀ(y−ȳ)‖∞/n on. For ‖y−Xw‖² + λ‖w‖₁ use α = λ/(2n).
    Parameters and attributes are those of `ElasticNet` with ``l1_ratio=1``.

    Examples
    --------
    >>> X, y = np.array([[1.0, 2], [2, 1], [3, 4], [4, 3]]), [1.0, 2, 3, 5]
    >>> model = Lasso(alpha=0.5, tol=1e-10).fit(X, y)
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([0.9, 0. ]), 0.5)
    """

    l1_ratio = 1.0

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        precompute=False,
        copy_X=True,
        max_iter=1000,
        tol=1e-4,
        warm_start=False,
        positive=False,
        random_state=None,
        selection="cyclic",
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: rule for name, rule in ElasticNet._parameter_constraints.items() if name != "l1_ratio"
    }
