"""Cross-validated lasso and elastic net: the penalty that predicts held-out rows best."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.pieces import InPieces, n_folds
from gnomon.core.rows import MemoryRows
from gnomon.core.validate import COUNT, Reads, warn
from gnomon.linear._folds import RoutesFolds
from gnomon.linear._rules import JOBS, SEED
from gnomon.linear.lasso.sparse import prepare
from gnomon.linear.lasso.sparse_path import alpha_grid, follow, given_alphas
from gnomon.linear.squares.least_squares import KeepsPrecision, LinearPrediction


class Plan(NamedTuple):
    """What the folds share."""

    rows: Any
    ratios: Array
    folds: list[tuple[Array, Array]]
    whole: Any  # all rows, prepared
    grids: list[Array]  # of penalties, one for every ratio
    sizes: Array  # weight of the rows held out


class ElasticNetCV(RoutesFolds, LinearPrediction, KeepsPrecision, RegressorMixin, InPieces):
    r"""Elastic net whose α (and ρ) minimize the squared error of held-out rows.

    .. math:: (\hat\alpha, \hat\rho) = \arg\min \sum_f \frac{1}{n_f}\sum_{i\in f} (y_i - \hat y_i^{(-f)})^2

    Paths of all folds start from the same grid and run side by side on the threads. Every step of the fit is one fold
    (for one ρ); the last fits all rows.

    Parameters
    ----------
    l1_ratio : float or list, default=0.5
    eps, n_alphas, alphas
        Grid of penalties, as in `enet_path`; `alphas` may be an integer (their number) or an array.
    cv : int, splitter or iterable, default=None
        Five folds by default.
    fit_intercept, max_iter, tol, positive
        As in `ElasticNet`.
    precompute, copy_X, verbose, n_jobs, random_state, selection
        Accepted for compatibility.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        The best.
    coef_, intercept_
        Of the fit to all rows.
    mse_path_ : array of shape (n_l1_ratio, n_alphas, n_folds) or (n_alphas, n_folds)
    alphas_ : array
    dual_gap_ : float
    n_sweeps_ : int
        Over the coordinates, for the best penalty.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> model = ElasticNetCV(l1_ratio=1.0).fit(X, 3 * X[:, 0] + 0.1 * rng.normal(size=100))
    >>> model.coef_.round(1)
    array([3., 0., 0., 0., 0.])
    """

    _reads: ClassVar[Reads] = Reads(sparse=True, y="number")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "eps": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "positive": ["boolean"],
        "cv": ["cv_object"],
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), "array-like"],
        "n_alphas": [COUNT],
        "alphas": [COUNT, "array-like", None],
        "precompute": [StrOptions({"auto"}), "boolean", "array-like"],
        "copy_X": ["boolean"],
        "verbose": ["verbose"],
        "n_jobs": JOBS,
        "random_state": SEED,
        "selection": [StrOptions({"cyclic", "random"})],
    }

    def __init__(
        self,
        *,
        l1_ratio=0.5,
        eps=1e-3,
        n_alphas=100,
        alphas=None,
        fit_intercept=True,
        precompute="auto",
        max_iter=1000,
        tol=1e-4,
        cv=None,
        copy_X=True,
        verbose=0,
        n_jobs=None,
        positive=False,
        random_state=None,
        selection="cyclic",
    ):
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.n_alphas = n_alphas
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def _plan(self, rows):
        ratios = np.atleast_1d(self.l1_ratio)
        splitter = check_cv(self.cv)
        folds = list(splitter.split(np.empty((rows.n_rows, 1)), rows.y, **self._for_splitter(rows)))
        whole = prepare(rows, self.fit_intercept)
        grids = [self._grid(whole, ratio) for ratio in ratios]
        masses = np.array([[self._mass(rows, part) for part in fold] for fold in folds])
        if (masses <= 0).any():
            raise DataError(
                f"fold {int((masses <= 0).any(axis=1).argmax())} has no weight to learn from or to test on; "
                "drop the rows of weight zero, or shuffle the folds."
            )
        return Plan(rows, ratios, folds, whole, grids, masses[:, 1])

    def _tasks(self, plan):
        return list(np.ndindex(len(plan.ratios), len(plan.folds)))

    def _piece(self, plan, task):
        i, f = task
        return self._fold(plan.rows, plan.ratios[i], plan.grids[i], plan.folds[f])

    def _so_far(self, plan, results):
        """Until all rows are fitted, the model is that of the last fold, with the penalty that served it best."""
        errors, coef, intercept = results[-1]
        ratio = (len(results) - 1) // len(plan.folds)
        best = int(np.argmin(errors))
        facts = {"alpha_": float(plan.grids[ratio][best]), "l1_ratio_": float(plan.ratios[ratio])}
        info = {"alpha": facts["alpha_"], "held_out_error": float(errors[best])}
        return {"coef_": coef, "intercept_": intercept, **facts}, info

    def _conclude(self, plan, results):
        rows, ratios, folds, whole, grids, sizes = plan
        mse = np.array([errors for errors, _, _ in results]).reshape(len(ratios), len(folds), -1)
        mse = mse.transpose(0, 2, 1)
        mean = mse @ (sizes / sizes.sum()) if rows.weighted else mse.mean(axis=2)
        best = np.unravel_index(np.argmin(mean), mean.shape)
        alpha, ratio = grids[best[0]][best[1]], float(ratios[best[0]])
        coef, gaps, counts = self._fit_one(whole, grids[best[0]][: best[1] + 1], ratio)
        flat = len(ratios) == 1
        return {
            "coef_": coef,
            "intercept_": whole.intercept(coef, self.fit_intercept),
            "alpha_": float(alpha),
            "l1_ratio_": ratio,
            "mse_path_": mse[0] if flat else mse,
            "dual_gap_": float(gaps[-1]),
            "alphas_": grids[0] if flat or np.ndim(self.alphas) else np.array(grids),
            "n_sweeps_": int(max(counts[-1], 1)),
        }, float(mean[best])

    def _announced(self, rows):
        folds = n_folds(self.cv)
        return None if folds is None else folds * np.size(self.l1_ratio) + 1

    def _grid(self, prepared, ratio):
        given = self.alphas
        if given is None or isinstance(given, Integral):
            return alpha_grid(prepared, ratio, self.eps, int(given or self.n_alphas), self.positive)
        return given_alphas(given)

    def _fit_one(self, prepared, alphas, ratio):
        coefs, gaps, counts = self._follow(prepared, alphas, ratio)
        if self.tol > 0 and gaps[-1] * prepared.mass > self.tol * prepared.yy:
            warn(
                f"{type(self).__name__} did not converge in max_iter={self.max_iter} working sets: the duality gap is "
                f"{gaps[-1]:.3g}. Raise max_iter or tol, or scale the columns.",
                ConvergenceWarning,
            )
        return coefs[:, -1], gaps, counts

    def _follow(self, prepared, alphas, ratio):
        limit = int(self.max_iter)
        return follow(prepared, alphas, ratio, tol=self.tol, positive=self.positive, max_iter=limit)

    def _fold(self, rows, ratio, grid, fold):
        """Mean squared error of the held-out rows for every alpha, and the model of the alpha where it is least."""
        train, test = subset(rows, fold[0]), subset(rows, fold[1])
        prepared = prepare(train, self.fit_intercept)
        coefs, _, _ = self._follow(prepared, grid, ratio)
        intercepts = prepared.mean_y - prepared.mean_x @ coefs if self.fit_intercept else np.zeros(len(grid))
        misses = (np.asarray(test.y)[:, None] - test.X @ coefs - intercepts) ** 2
        errors = np.average(misses, axis=0, weights=test.weight)
        best = int(np.argmin(errors))
        return errors, coefs[:, best].copy(), float(intercepts[best])

    @staticmethod
    def _mass(rows, index):
        return float(rows.weight[index].sum())


class LassoCV(ElasticNetCV):
    r"""Lasso whose α minimizes the squared error of held-out rows: `ElasticNetCV` with ρ = 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> LassoCV().fit(X, 3 * X[:, 0] + 0.1 * rng.normal(size=100)).coef_.round(1)
    array([3., 0., 0., 0., 0.])
    """

    l1_ratio = 1.0
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: rule for name, rule in ElasticNetCV._parameter_constraints.items() if name != "l1_ratio"
    }

    def __init__(
        self,
        *,
        eps=1e-3,
        n_alphas=100,
        alphas=None,
        fit_intercept=True,
        precompute="auto",
        max_iter=1000,
        tol=1e-4,
        copy_X=True,
        cv=None,
        verbose=False,
        n_jobs=None,
        positive=False,
        random_state=None,
        selection="cyclic",
    ):
        self.eps = eps
        self.n_alphas = n_alphas
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection


__all__ = ["ElasticNetCV", "LassoCV"]


def subset(rows: MemoryRows, index: Array) -> MemoryRows:
    """Return some rows."""
    weight = rows.weight[index] if rows.weighted else None
    return MemoryRows(
        rows.X[index], rows.y[index], weight, feature_names=rows.feature_names, classes=rows.classes
    )
