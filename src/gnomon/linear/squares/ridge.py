"""Ridge regression: least squares with a price on the length of the coefficients."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from sklearn.base import MultiOutputMixin, RegressorMixin

from gnomon.core.closed_form import Additive
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.rows import MemoryRows
from gnomon.core.sums import total
from gnomon.core.validate import Reads
from gnomon.linear.squares import normal
from gnomon.linear.squares.least_squares import LinearPrediction, LinearRegression, check_moments
from gnomon.linear.squares.moments import LinearSums, sum_moments
from gnomon.linear.squares.normal import as_columns

SOLVERS = {"auto", "cholesky", "dual", "svd", "augmented", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}


def with_ones(sums: LinearSums) -> LinearSums:
    """Return the moments about the origin of the design with a column of ones put last."""
    raw = sums.without_centering()
    edge = np.append(sums.weight * sums.mean_x, sums.weight)
    xx = np.block([[raw.xx, edge[:-1, None]], [edge[None]]])
    xy = np.concatenate([raw.xy, np.expand_dims(sums.weight * sums.mean_y, 0)])
    return raw._replace(mean_x=np.zeros(len(edge)), xx=xx, xy=xy)


def standardized(sums: LinearSums) -> tuple[LinearSums, Array]:
    """Return the moments of columns divided by their deviation (1/n), and the deviations (1 if constant)."""
    scale = normal.column_scale(sums)
    deviation = np.divide(1.0, scale, out=np.ones_like(scale), where=scale > 0) / np.sqrt(sums.weight)
    deviation[scale == 0.0] = 1.0
    xy = (as_columns(sums.xy) / deviation[:, None]).reshape(sums.xy.shape)
    xx = sums.xx / np.outer(deviation, deviation)
    return sums._replace(mean_x=sums.mean_x / deviation, xx=xx, xy=xy), deviation


def ridge_coef(sums: LinearSums, alphas: Array, solve: Any) -> Array:
    """Return (d, t) coefficients, `solve(sums, alpha, targets)` called once for every distinct penalty."""
    coef = np.empty(as_columns(sums.xy).shape)
    for alpha in np.unique(alphas):
        columns = np.flatnonzero(alphas == alpha)
        part = sums._replace(
            xy=as_columns(sums.xy)[:, columns],
            yy=np.atleast_1d(sums.yy)[columns],
            mean_y=np.atleast_1d(sums.mean_y)[columns],
        )
        coef[:, columns] = solve(part, float(alpha), columns)
    return coef


def some(rows: Any, targets: Array, n_targets: int) -> Any:
    """Return the rows with some of their targets, or None where these cannot be had one by one."""
    if rows is None or len(targets) == n_targets:
        return rows
    if not rows.in_memory:
        return None
    return MemoryRows(rows.X, rows.y[:, targets], rows.weight if rows.weighted else None)


def augmented_coef(view: LinearSums, rows: Any, alpha: float) -> Array:
    """Least squares on [X; √α I], [y; 0], by a QR factorization of the rows."""
    ones = np.ones(view.n_features)
    r = total(normal.triangle_sums, rows, view, ones).r
    d, t = view.n_features, r.shape[1] - view.n_features
    extra = np.hstack([np.sqrt(alpha) * np.eye(d), np.zeros((d, t))])
    return normal.solve_triangle(np.vstack([r, extra]), ones, normal.EPS).coef


class Ridge(LinearPrediction, MultiOutputMixin, RegressorMixin, Additive):
    r"""Ridge regression.

    .. math:: \min_{w, b} \sum_i s_i\,(y_i - x_i^\top w - b)^2 + \alpha \lVert w \rVert^2

    Least squares that keeps its head when columns are many or nearly collinear: it shrinks the coefficients
    along directions in which the data vary little, by s²/(s² + α) for singular value s. It is the posterior
    mode under the prior w ~ N(0, I/λ) with noise variance σ² when α = λσ². The intercept is not penalized.
    On the scale of the *mean* half-squared loss with penalty (λ/2)‖w‖², use α = nλ.

    Choose α with `RidgeCV`; see all of them at once with `ridge_path`. For coefficients that are exactly
    zero use `Lasso`.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1.0
        Penalty; 0 gives least squares, the shortest solution where it is not unique.
    fit_intercept : bool, default=True
    copy_X : bool, default=True
        Kept for scikit-learn's sake; X is never written to.
    max_iter : int, default=None
        Kept for scikit-learn's sake; the solvers here stop by precision.
    tol : float, default=1e-4
        Precision of ``solver="lsqr"``.
    solver : {"auto", "cholesky", "dual", "svd", "augmented", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}
        Views of one answer: Cholesky of XᵀX + αI or of XXᵀ + αI (``"dual"``), singular vectors, least
        squares on rows extended by √α I, and LSQR, which never forms a matrix (the last four names).
        ``"auto"`` takes the smaller matrix.
    positive : bool, default=False
        Constrain the coefficients to be at least zero.
    random_state : ignored
        Nothing here is random.
    regularize_intercept : bool, default=False
        Penalize the intercept like a coefficient, as a column of ones would be.
    standardize : bool, default=False
        Penalize the coefficients of columns divided by their standard deviation (with 1/n); `coef_` is on the
        original scale all the same, and `coef_standardized_` on the other.

    Attributes
    ----------
    coef_ : array of shape (d,) or (n_targets, d)
    intercept_ : float or array of shape (n_targets,)
    dof_ : float or array
        Effective degrees of freedom Σ s²/(s² + α), without the intercept.
    solver_ : str
    sums_ : LinearSums
        The moments; ``partial_fit`` adds to them, ``from_sums`` fits from them.

    Examples
    --------
    >>> X, y = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]], [1.0, 2.0, 3.0, 5.0]
    >>> Ridge(alpha=1.0).fit(X, y).coef_.round(6)
    array([1.055556, 0.055556])
    """

    _reads = Reads(sparse=True, y="numbers", scales=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "max_iter": [None, Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "solver": [StrOptions(SOLVERS)],
        "positive": ["boolean"],
        "random_state": ["random_state"],
        "regularize_intercept": ["boolean"],
        "standardize": ["boolean"],
    }

    def __init__(
        self,
        alpha: float | Array = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
        regularize_intercept: bool = False,
        standardize: bool = False,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.regularize_intercept = regularize_intercept
        self.standardize = standardize

    # hooks

    def _statistics(self, rows: Any) -> LinearSums:
        return sum_moments(rows)

    def _estimate(self, statistics: LinearSums) -> tuple[dict[str, Any], float]:
        return self._from_moments(statistics, None)

    def _solve(self, rows: Any) -> tuple[dict[str, Any], float]:
        if self._without_gram(rows):
            return self._solve_rows(rows)
        sums = self._statistics(rows)
        attributes, objective = self._from_moments(sums, rows)
        return {"sums_": sums, **attributes}, objective

    def _from_moments(self, sums: LinearSums, rows: Any) -> tuple[dict[str, Any], float]:
        check_moments(sums)
        alphas = self._alphas(np.size(sums.mean_y))
        penalized_ones = self.fit_intercept and self.regularize_intercept
        view = self._centered(sums)
        deviation = np.ones(view.n_features)
        if self.standardize:
            view, deviation = standardized(view)
        if self.standardize or penalized_ones:
            rows = None  # refinement on the rows is for their own columns
        t = len(alphas)
        coef = ridge_coef(view, alphas, lambda part, alpha, k: self._one(part, alpha, some(rows, k, t)))
        single = np.ndim(view.mean_y) == 0
        penalty = float((alphas * coef**2).sum())
        objective = float(normal.gradient_of_sums(view, coef).rss.sum()) + penalty
        extra = {"coef_standardized_": self._shaped(coef, view)} if self.standardize else {}
        coef = coef / deviation[:, None]
        if penalized_ones:
            return {**self._attributes_of(coef[:-1], coef[-1], rows, single=single), **extra}, objective
        intercept = np.atleast_1d(sums.mean_y) - sums.mean_x @ coef
        return {**self._attributes_of(coef, intercept, rows, single=single), **extra}, objective

    def _centered(self, sums: LinearSums) -> LinearSums:
        if not self.fit_intercept:
            return sums.without_centering()
        return with_ones(sums) if self.regularize_intercept else sums

    def _alphas(self, targets: int) -> Array:
        alphas = np.asarray(self.alpha, dtype=np.float64).ravel()
        if not np.isfinite(alphas).all() or (alphas < 0).any():
            raise DataError(f"alpha must be finite and at least 0; got {self.alpha!r}.")
        if len(alphas) not in (1, targets):
            raise DataError(f"alpha has {len(alphas)} entries for {targets} targets; give one, or one each.")
        return np.broadcast_to(alphas, (targets,))

    def _one(self, view: LinearSums, alpha: float, rows: Any) -> Array:
        """Coefficients (d, t) for one penalty, from moments and, where those are poor, from the rows."""
        if self.positive:
            return normal.solve_positive(view, alpha).coef
        if alpha == 0.0:
            return normal.solve_eigen(view).coef if rows is None else self._unpenalized(view, rows)
        held = rows is not None and rows.in_memory
        wide = held and rows.n_rows < rows.n_features
        if self.solver == "svd" or (self.solver == "augmented" and rows is None):
            if wide or (held and not rows.sparse):
                return svd_coef(normal.center_rows(rows, intercept=self.fit_intercept), alpha)
            return spectral_coef(view, alpha)
        if self.solver == "augmented":
            return augmented_coef(view, rows, alpha)
        solution = normal.solve_gram(view, alpha)
        if solution is None and wide:
            return svd_coef(normal.center_rows(rows, intercept=self.fit_intercept), alpha)
        if solution is None:
            return spectral_coef(view, alpha) if rows is None else augmented_coef(view, rows, alpha)
        if rows is None:
            normal.warn_of_lost_digits(solution)
        elif solution.rcond < normal.CLEAN:
            solution = normal.refine(solution, view, rows, alpha)
        return solution.coef

    def _unpenalized(self, view: LinearSums, rows: Any) -> Array:
        return LinearRegression(fit_intercept=self.fit_intercept)._solution(view, rows)[0].coef

    # rows that are few, or sparse with many columns

    def _without_gram(self, rows: Any) -> bool:
        if not rows.in_memory or self.positive or self.standardize or self.regularize_intercept:
            return False
        if self.solver in ("lsqr", "sparse_cg", "sag", "saga", "lbfgs", "dual"):
            return True
        many = rows.n_features > normal.GRAM_COLUMNS
        wide = not rows.sparse and rows.n_rows < rows.n_features
        return many and (rows.sparse or wide) and self.solver == "auto"

    def _solve_rows(self, rows: Any) -> tuple[dict[str, Any], float]:
        data = normal.center_rows(rows, intercept=self.fit_intercept)
        alphas = self._alphas(data.target.shape[1])
        iterative = sparse.issparse(data.X) or self.solver not in ("auto", "dual")
        coef = np.empty((rows.n_features, len(alphas)))
        for alpha in np.unique(alphas):
            columns = np.flatnonzero(alphas == alpha)
            part = data._replace(target=data.target[:, columns])
            coef[:, columns] = self._krylov(part, alpha) if iterative else dual_coef(part, alpha)
        gradient = total(normal.residual_gradient, rows, coef, data.mean_x, data.mean_y)
        objective = float(gradient.rss.sum() + (alphas * coef**2).sum())
        single = rows.y.ndim == 1
        intercept = data.mean_y - data.mean_x @ coef
        sums = self._statistics(rows) if rows.n_features <= normal.GRAM_COLUMNS else None
        kept = self._attributes_of(coef, intercept, rows, single=single)
        return {"sums_": sums, **kept, "solver_": "lsqr" if iterative else "dual"}, objective

    def _krylov(self, data: normal.Centered, alpha: float) -> Array:
        return normal.solve_krylov(data, damp=float(np.sqrt(alpha)), tol=self.tol)

    # what is kept

    def _shaped(self, coef: Array, view: LinearSums) -> Array:
        return coef[:, 0] if np.ndim(view.mean_y) == 0 else coef.T

    def _attributes_of(self, coef: Array, intercept: Array, rows: Any, *, single: bool) -> dict[str, Any]:
        kind = np.float32 if rows is not None and rows.dtype == np.float32 else np.float64
        offset = np.asarray(intercept[0] if single else intercept).astype(kind)[()]
        return {
            "coef_": np.ascontiguousarray(coef[:, 0] if single else coef.T).astype(kind),
            "intercept_": offset if self.fit_intercept else 0.0,
            "solver_": "nnls" if self.positive else _direct(self.solver),
        }

    @property
    def dof_(self) -> float | Array:
        """Effective degrees of freedom of the fit, one for each distinct penalty of a target."""
        if getattr(self, "sums_", None) is None:
            raise AttributeError("dof_ needs the moments, which are not kept for so many columns.")
        view = self._centered(self.sums_)
        view = standardized(view)[0] if self.standardize else view
        e = np.maximum(linalg.eigvalsh(view.xx), 0.0)
        e = e[e > 1e-13 * e[-1]]
        dof = np.array([(e / (e + alpha)).sum() for alpha in self._alphas(np.size(view.mean_y))])
        return float(dof[0]) if np.ndim(view.mean_y) == 0 else dof


def _direct(solver: str) -> str:
    return solver if solver in ("svd", "augmented") else "cholesky"


def spectral_coef(view: LinearSums, alpha: float) -> Array:
    """V diag(1/(e + α)) Vᵀ Xᵀy with the eigenvalues e of XᵀX; directions without data get nothing."""
    e, V = linalg.eigh(view.xx)
    return V @ ((V.T @ as_columns(view.xy)) / (np.maximum(e, 0.0) + alpha)[:, None])


def svd_coef(data: normal.Centered, alpha: float) -> Array:
    """V diag(s/(s² + α)) Uᵀ y from the rows themselves: squares of small singular values are not lost."""
    U, s, Vt = linalg.svd(data.dense(), full_matrices=False)
    return Vt.T @ ((s / (s * s + alpha))[:, None] * (U.T @ data.target))


def dual_coef(data: normal.Centered, alpha: float) -> Array:
    """w = Zᵀ(ZZᵀ + αI)⁻¹T with the centered rows Z: one n × n factorization."""
    Z = data.dense()
    if alpha == 0.0:
        unit = data.unit() if data.mean_x.any() or data.mean_y.any() else None
        return normal.solve_wide(Z, data.target, unit, max(Z.shape) * normal.EPS).coef
    K = Z @ Z.T
    K.flat[:: len(K) + 1] += alpha
    return Z.T @ linalg.solve(K, data.target, assume_a="pos")
