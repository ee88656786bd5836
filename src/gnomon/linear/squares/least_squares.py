"""Least squares: the coefficients that leave the smallest sum of squared residuals."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg, sparse
from sklearn.base import MultiOutputMixin, RegressorMixin

from gnomon.core.closed_form import Additive
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.sums import per_row, total
from gnomon.core.validate import Reads, warn
from gnomon.linear.squares import normal
from gnomon.linear.squares.inference import GaussianInference
from gnomon.linear.squares.moments import LinearSums, sum_moments
from gnomon.linear.squares.normal import Solution


def linear_values(chunk: Any, coef: Array, intercept: Any) -> Array:
    """X coefᵀ + intercept of one chunk."""
    return chunk.X @ coef.T + intercept


class LinearPrediction:
    """Prediction of a model with coef_ and intercept_."""

    def predict(self, X: Any) -> Array:
        """Return X @ coef_.T + intercept_ for every row."""
        rows = self._rows(X)
        return per_row(linear_values, rows, self.coef_, self.intercept_)


class KeepsPrecision:
    """A linear model whose coefficients have the precision of its rows, as scikit-learn's have."""

    def _adopt(self, attributes: dict[str, Any], rows: Any = None) -> None:
        if rows is not None and rows.dtype == np.float32 and "coef_" in attributes:
            single = {"coef_": np.asarray(attributes["coef_"], dtype=np.float32)}
            if np.ndim(attributes.get("intercept_", 0.0)) == 0:
                single["intercept_"] = float(attributes["intercept_"])  # a plain number changes no precision
            attributes = {**attributes, **single}
        super()._adopt(attributes, rows)  # type: ignore[misc]


def check_moments(sums: LinearSums) -> None:
    """Refuse targets that are missing, and numbers whose squares leave the floating-point range."""
    if np.isnan(sums.mean_y).any():
        raise DataError("y holds NaN or None; drop those rows.")
    lengths = np.diagonal(sums.xx)
    if not np.isfinite(lengths).all():
        j = int(np.argmin(np.isfinite(lengths)))
        raise DataError(
            f"the squares of column {j} of X overflow; divide the column by its size before fitting."
        )
    if not np.isfinite(sums.yy).all():
        raise DataError("the squares of y overflow; divide y by its size before fitting.")


class Largest(NamedTuple):
    """Largest magnitude in every column."""

    size: Array

    def merge(self, other: Largest) -> Largest:
        """Keep the larger."""
        return Largest(np.maximum(self.size, other.size))


def largest(chunk: Any) -> Largest:
    """Largest magnitudes of one chunk."""
    size = abs(chunk.X).max(axis=0)
    return Largest(np.asarray(size.toarray().ravel() if sparse.issparse(size) else size, dtype=np.float64))


def squared_size(chunk: Any) -> float:
    """Sum of the squares of all entries of one chunk."""
    entries = chunk.X.data if sparse.issparse(chunk.X) else chunk.X.ravel()
    return float(np.vdot(entries, entries))


def check_magnitude(rows: Any) -> None:
    """Refuse columns whose squares leave the floating-point range, for models that form no moments."""
    with np.errstate(over="ignore"):
        if total(squared_size, rows) < 1e290:
            return
    size = total(largest, rows).size
    if (size > 1e145).any():
        j = int(np.argmax(size))
        raise DataError(
            f"the squares of column {j} of X overflow; divide the column by its size before fitting."
        )


class LinearRegression(GaussianInference, LinearPrediction, MultiOutputMixin, RegressorMixin, Additive):
    r"""Ordinary least squares.

    .. math:: \min_{w, b} \sum_i s_i\,(y_i - x_i^\top w - b)^2

    The first model to try for a numeric target, and the yardstick for all others. It assumes that the mean
    of y is linear in the features and that no row is wild; with many or nearly collinear features prefer
    `Ridge`, with outliers `HuberRegressor`. Where the minimizer is not unique the shortest one is returned.

    It reads the data once: moments are added up in blocks on all cores, on disk or on a cluster, and solved
    by Cholesky. When the scaled columns are nearly collinear two refinement steps on the data restore the
    accuracy of a QR factorization; beyond that a rank-revealing factorization (TSQR and SVD) decides.

    Parameters
    ----------
    fit_intercept : bool, default=True
    copy_X : bool, default=True
        Kept for scikit-learn's sake; X is never written to.
    tol : float, default=1e-6
        Precision of the iterative solver, used for sparse X with more than 1000 columns.
    n_jobs : int, default=None
        Threads; None means all.
    positive : bool, default=False
        Constrain the coefficients to be at least zero (Lawson and Hanson).
    solver : {"auto", "cholesky", "qr", "svd", "lsqr"}, default="auto"
        ``"qr"`` and ``"svd"`` both factor the rows themselves and reveal the rank; ``"lsqr"`` never forms a
        matrix of d × d numbers.
    rank_tol : float, default=None
        Singular values of the scaled columns below ``rank_tol`` times the largest count as zero; None means
        max(n, d) machine epsilons.

    Attributes
    ----------
    coef_ : array of shape (d,) or (n_targets, d)
    intercept_ : float or array of shape (n_targets,)
    rank_ : int
        Rank of the (centered) columns.
    unique_ : bool
        False when other coefficients fit as well; then the shortest are given.
    singular_, condition_number_ :
        Singular values of the (centered) columns and the ratio of the extreme ones.
    noise_variance_ : float or array of shape (n_targets,)
        Maximum-likelihood variance RSS/n.
    optimality_ : float
        :math:`\lVert X^\top r\rVert_\infty / (\lVert X\rVert_F \lVert y\rVert)`; for ``positive=True`` the
        violation of the Karush–Kuhn–Tucker conditions on the same scale.
    solver_ : str
        The solver that was used.
    sums_ : LinearSums
        The moments; ``partial_fit`` adds to them, ``from_sums`` fits from them.

    Examples
    --------
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    >>> model.coef_.round(6), round(float(model.intercept_), 6)
    (array([1.5]), 0.833333)
    >>> model.summary().standard_error.round(6)
    array([0.372678, 0.288675])
    """

    _reads = Reads(sparse=True, y="numbers", scales=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [None, Integral],
        "positive": ["boolean"],
        "solver": [StrOptions({"auto", "cholesky", "qr", "svd", "lsqr"})],
        "rank_tol": [None, Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
        solver: str = "auto",
        rank_tol: float | None = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive
        self.solver = solver
        self.rank_tol = rank_tol

    # hooks

    def _statistics(self, rows: Any) -> LinearSums:
        return sum_moments(rows)

    def _estimate(self, statistics: LinearSums) -> tuple[dict[str, Any], float]:
        """Solve from moments alone."""
        check_moments(statistics)
        view = statistics if self.fit_intercept else statistics.without_centering()
        if self.positive:
            return self._describe(normal.solve_positive(view), view, "nnls")
        solution = normal.solve_gram(view)
        if solution is None:
            return self._describe(normal.solve_eigen(view), view, "svd")
        normal.warn_of_lost_digits(solution)
        return self._describe(solution, view, "cholesky")

    def _solve(self, rows: Any) -> tuple[dict[str, Any], float]:
        """Solve from moments, going back to the rows where moments do not decide."""
        if self._without_gram(rows):
            return self._solve_rows(rows)
        sums = self._statistics(rows)
        check_moments(sums)
        view = sums if self.fit_intercept else sums.without_centering()
        solution, solver = self._solution(view, rows)
        attributes, objective = self._describe(solution, view, solver, rows)
        return {"sums_": sums, **attributes}, objective

    def _solution(self, view: LinearSums, rows: Any) -> tuple[Solution, str]:
        if self.positive:
            return normal.solve_positive(view), "nnls"
        solution = normal.solve_gram(view) if self.solver in ("auto", "cholesky") else None
        if solution is not None:
            exact = solution.rcond >= normal.CLEAN
            return (solution if exact else normal.refine(solution, view, rows)), "cholesky"
        scale = normal.column_scale(view)
        r = total(normal.triangle_sums, rows, view, scale).r
        solution = normal.solve_triangle(r, scale, self._rank_tol(rows))
        if solution.rank < len(scale):
            _warn_collinear(solution, rows.names())
        return solution, "qr" if self.solver == "qr" else "svd"

    def _rank_tol(self, rows: Any) -> float:
        if self.rank_tol is not None:
            return float(self.rank_tol)
        exact = max(rows.n_rows, rows.n_features) * normal.EPS
        return max(exact, 10.0 * float(np.finfo(rows.dtype).eps))

    # rows that are few, or sparse with many columns

    def _without_gram(self, rows: Any) -> bool:
        if self.positive:
            return False
        if self.solver == "lsqr" and not rows.in_memory:
            raise DataError("solver='lsqr' needs the rows in memory; use solver='auto' for tables and Dask.")
        many = rows.in_memory and rows.sparse and rows.n_features > normal.GRAM_COLUMNS
        return self.solver == "lsqr" or many or _is_wide(rows)

    def _solve_rows(self, rows: Any) -> tuple[dict[str, Any], float]:
        data = normal.center_rows(rows, intercept=self.fit_intercept)
        if sparse.issparse(data.X) or self.solver == "lsqr":
            coef = normal.solve_krylov(data, tol=self.tol)
            solution, solver = Solution(coef, min(len(data.target) - self.fit_intercept, len(coef))), "lsqr"
        else:
            unit = data.unit() if self.fit_intercept else None
            solution = normal.solve_wide(data.dense(), data.target, unit, self._rank_tol(rows))
            solver = "dual"
        sums = self._statistics(rows) if rows.n_features <= normal.GRAM_COLUMNS else None
        view = _thin_view(data, rows)
        attributes, objective = self._describe(solution, view, solver, rows)
        return {"sums_": sums, **attributes}, objective

    # what is kept

    def _describe(
        self, solution: Solution, view: LinearSums, solver: str, rows: Any = None
    ) -> tuple[dict[str, Any], float]:
        """Return the learned attributes and the residual sum of squares."""
        coef = solution.coef
        gradient = _gradient(view, coef, rows)
        kind = np.float32 if rows is not None and rows.dtype == np.float32 else np.float64
        intercept = view.mean_y - view.mean_x @ (coef if view.mean_y.ndim else coef[:, 0])
        single = np.ndim(view.mean_y) == 0
        noise = gradient.rss / view.weight
        attributes = {
            "coef_": (coef[:, 0] if single else coef.T).astype(kind),
            "intercept_": np.asarray(intercept).astype(kind)[()] if self.fit_intercept else 0.0,
            "rank_": solution.rank,
            "unique_": solution.rank == len(coef),
            "noise_variance_": noise[0] if single else noise,
            "optimality_": self._optimality(gradient.xr, coef, view),
            "solver_": solver,
            "_singular_": solution.singular,
        }
        return attributes, float(gradient.rss.sum())

    def _optimality(self, xr: Array, coef: Array, view: LinearSums) -> float:
        """Violation of the optimality conditions, relative to ‖X‖ ‖y‖."""
        if self.positive:
            xr = np.where(coef > 0, np.abs(xr), np.maximum(xr, 0.0))
        size = np.sqrt(np.trace(view.xx) if view.xx.ndim == 2 else view.xx.sum()) * np.sqrt(np.sum(view.yy))
        return float(np.abs(xr).max() / size) if size > 0 else 0.0

    @property
    def singular_(self) -> Array:
        """Singular values of the (centered) columns, largest first."""
        if getattr(self, "_singular_", None) is None:
            values = linalg.eigvalsh(self._view().xx)[::-1]
            self._singular_ = np.sqrt(np.maximum(values, 0.0))
        return self._singular_

    @property
    def condition_number_(self) -> float:
        """Ratio of the extreme singular values; infinite when the columns are dependent."""
        s = self.singular_
        return float(s[0] / s[-1]) if self.unique_ and s[-1] > 0 else np.inf


def _is_wide(rows: Any) -> bool:
    return rows.in_memory and not rows.sparse and rows.n_rows < rows.n_features


def _gradient(view: LinearSums, coef: Array, rows: Any) -> normal.Gradient:
    """Residuals from moments, or from the rows where moments would lose their digits."""
    if view.xx.ndim == 2:
        gradient = normal.gradient_of_sums(view, coef)
        if rows is None or bool((gradient.rss > 1e-7 * view.yy).all()):
            return gradient
    return total(normal.residual_gradient, rows, coef, view.mean_x, view.mean_y)


def _thin_view(data: normal.Centered, rows: Any) -> LinearSums:
    """Means and sizes of rows for which no Gram matrix is formed: xx holds its diagonal only."""
    single = rows.y.ndim == 1
    squares = data.X.multiply(data.X) if sparse.issparse(data.X) else data.X * data.X
    lengths = np.asarray((data.root**2) @ squares) - (data.root @ data.root) * data.mean_x**2
    yy = (data.target**2).sum(axis=0)
    mean_y = data.mean_y[0] if single else data.mean_y
    weight = float(data.root @ data.root)
    return LinearSums(len(data.root), weight, data.mean_x, mean_y, np.maximum(lengths, 0.0), yy, yy)


def _warn_collinear(solution: Solution, names: list[str]) -> None:
    """Name the columns that take part in a linear dependence."""
    weights = np.abs(solution.null).max(axis=1)
    involved = [name for name, w in zip(names, weights, strict=True) if w > 1e-6 * weights.max()]
    listed = ", ".join(involved[:8]) + (", …" if len(involved) > 8 else "")
    warn(
        f"columns {listed} are linearly dependent (rank {solution.rank} of {len(weights)}): the coefficients "
        "are the shortest of many that fit as well. Drop columns, or use Ridge.",
        linalg.LinAlgWarning,
    )
