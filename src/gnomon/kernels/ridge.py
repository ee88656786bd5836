"""Kernel ridge regression: squared errors and a penalty, in the space of a kernel."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.base import RegressorMixin

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.validate import Reads, warn
from gnomon.kernels.tiles import wide
from gnomon.kernels.using import KERNEL, TakesKernel

GRID = np.logspace(-10, 4, 57)  # of alpha, in units of the mean of the kernel's diagonal


class KernelRidge(TakesKernel, RegressorMixin, OneStep):
    r"""Ridge regression in the space of a kernel.

    .. math:: \min_\theta \lVert y - \Phi\theta\rVert^2 + \alpha\lVert\theta\rVert^2,\qquad
              \hat c = (K + \alpha I)^{-1}y,\quad f(x) = \sum_i\hat c_ik(x_i, x)

    Smooth and quick to fit for some thousands of rows; every row is kept for prediction. There is no intercept: center
    y, or add a `ConstantKernel`. For intervals use a Gaussian process, whose mean this is with noise α. For
    :math:`\frac1n\sum\frac12(\cdot)^2 + \frac\lambda2\lVert\theta\rVert^2` use α = nλ.

    Parameters
    ----------
    alpha : float, array of one a target, or "loo", default=1.0
        "loo" takes the best of a grid by the leave-one-out error, which one decomposition gives for all of them.
    kernel : str, Kernel or callable, default="linear"
    gamma, degree, coef0, kernel_params
        Of the kernel.

    Attributes
    ----------
    dual_coef_, X_fit_
        As in scikit-learn.
    alpha_ : float or array
    loo_residuals_ : array
        y less the prediction without that row, :math:`c_i/[(K+\alpha I)^{-1}]_{ii}`. Computed when asked for; NaN where
        K + αI is singular.
    df_ : float
        Degrees of freedom, tr K(K + αI)⁻¹.
    cond_ : float
        Condition of K + αI.

    Examples
    --------
    >>> model = KernelRidge(0.1, kernel="rbf", gamma=1.0).fit([[0.0], [1], [2]], [0.0, 1, 4])
    >>> model.dual_coef_.round(4), model.predict([[1.5]]).round(4)
    (array([ 0.0605, -0.3681,  3.7585]), array([2.6468]))
    >>> model.loo_residuals_.round(4), round(model.df_, 4)
    (array([ 0.0585, -0.3158,  3.6297]), 2.6764)
    """

    _reads: ClassVar[Reads] = Reads(sparse=True, y="numbers")
    _parameter_constraints: ClassVar[dict[str, Any]] = KERNEL | {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like", StrOptions({"loo"})],
    }

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

    def _gram(self, data: Any) -> Array:
        if self._precomputed:
            return np.array(data.X, dtype=np.float64)
        return np.asarray(self._kernel_for(data.n_features)(data.X))

    def _solve(self, data: Any) -> tuple[dict[str, Any], float]:
        y = np.asarray(data.y, dtype=np.float64)
        Y = y.reshape(len(y), -1)
        root = np.sqrt(data.weight) if data.weighted else None
        K = self._gram(data)
        K = K if root is None else root[:, None] * K * root
        right = Y if root is None else root[:, None] * Y
        if isinstance(self.alpha, str):
            alpha, coef = choose_alpha(K, right, root)
        else:
            alpha = np.asarray(self.alpha, dtype=np.float64)
            if alpha.ndim > 1 or (alpha.ndim and len(alpha) != Y.shape[1]) or (alpha < 0).any():
                raise ValueError(
                    f"alpha must be one number of at least 0, or one for each of {Y.shape[1]} targets."
                )
            coef = solve_ridge(K, right, alpha)
        loss = float(np.sum((alpha * coef) ** 2) + np.sum(alpha * coef * (right - alpha * coef)))
        coef = coef if root is None else root[:, None] * coef
        found = {
            "dual_coef_": np.ascontiguousarray(coef.reshape(y.shape)),
            "alpha_": alpha if np.ndim(alpha) else float(alpha),
            "X_fit_": data.X.copy(),  # the caller may write to theirs
            "_weight_": data.weight if data.weighted else None,
        }
        return found, loss

    def predict(self, X: Any) -> Array:
        """Return the value of every row."""
        asked = self._asked(X)
        if self._precomputed:
            return wide(asked) @ self.dual_coef_
        return (
            np.asarray(self._kernel_for(getattr(self, "n_features_in_", 1))(asked, self.X_fit_))
            @ self.dual_coef_
        )

    # what is computed when asked for

    def _system(self) -> tuple[Array, Array]:
        """Return the weighted Gram matrix and the roots of the weights."""
        K = (
            np.array(self.X_fit_, dtype=np.float64)
            if self._precomputed
            else self._kernel_for(self.n_features_in_)(self.X_fit_)
        )
        root = np.ones(len(K)) if self._weight_ is None else np.sqrt(self._weight_)
        return root[:, None] * K * root, root

    def _levels(self) -> Array:
        return np.unique(np.atleast_1d(self.alpha_))

    def __getattr__(self, name: str) -> Any:
        if name in ("loo_residuals_", "df_", "cond_") and "dual_coef_" in vars(self):
            return getattr(self, f"_{name[:-1]}")()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _loo_residuals(self) -> Array:
        K, root = self._system()
        values, vectors = linalg.eigh(K)
        dual = self.dual_coef_.reshape(len(K), -1)
        alphas = np.broadcast_to(np.atleast_1d(self.alpha_), dual.shape[1])
        out = np.full(dual.shape, np.nan)
        some = root > 0
        for t, alpha in enumerate(alphas):
            if (np.abs(values + alpha) <= cut_of(values)).any():
                continue
            inverse = (vectors**2 / (values + alpha)).sum(axis=1)
            out[some, t] = dual[some, t] / root[some] / inverse[some] / root[some]
        return out.reshape(self.dual_coef_.shape)

    def _df(self) -> Any:
        values = linalg.eigvalsh(self._system()[0])
        cut, alphas = cut_of(values), np.atleast_1d(self.alpha_)
        found = [float((values * inverses(values + alpha, cut)).sum()) for alpha in alphas]
        return found[0] if np.ndim(self.alpha_) == 0 else np.array(found)

    def _cond(self) -> float:
        values = linalg.eigvalsh(self._system()[0]) + float(np.min(self.alpha_))
        return float(np.abs(values).max() / np.abs(values).min()) if np.abs(values).min() > 0 else np.inf

    def _check_loaded(self) -> None:
        if "dual_coef_" in vars(self) and len(self.dual_coef_) != self.X_fit_.shape[0]:
            raise ModelFileError("there must be one coefficient for each row of X_fit_.")


def solve_ridge(K: Array, right: Array, alpha: Array) -> Array:
    """Return (K + αI)⁻¹ right, with one α for all columns or one each; K is written to."""
    if alpha.ndim and len(np.unique(alpha)) > 1:
        values, vectors = linalg.eigh(K)
        turned = vectors.T @ right
        shifted = values[:, None] + alpha
        if (np.abs(shifted) <= cut_of(values)).any():
            _say_singular(values, 0.0)
        return vectors @ (turned * inverses(shifted, cut_of(values)))
    level = float(np.ravel(alpha)[0])
    diagonal = np.diagonal(K) + level
    K[np.diag_indices_from(K)] = diagonal
    if not len(K):
        return right.copy()
    factor, failed = linalg.lapack.dpotrf(
        K.T, lower=0, clean=0, overwrite_a=1
    )  # in place: the lower half of K
    if not failed and level == 0.0:
        spread = np.abs(np.diagonal(factor))
        failed = spread.min() <= 1e-7 * spread.max()
    if not failed:
        return np.asarray(linalg.lapack.dpotrs(factor, right, lower=0)[0])
    K[np.diag_indices_from(K)] = diagonal
    return _without_cholesky(K, right, level)


def cut_of(values: Array) -> float:
    """Return the size below which an eigenvalue is rounding."""
    return float(4 * len(values) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0))


def inverses(values: Array, cut: float) -> Array:
    """Return 1/value, and 0 where a value is rounding: the shortest of the least squares answers.

    >>> inverses(np.array([2.0, 1e-20]), 1e-15)
    array([0.5, 0. ])
    """
    return np.divide(1.0, values, out=np.zeros_like(values), where=np.abs(values) > cut)


def _say_singular(values: Array, level: float) -> None:
    warn(
        f"K + alpha·I is singular: its eigenvalue nearest to zero is {values[np.abs(values).argmin()]:.3g} with "
        f"alpha={level:g}. Rows repeat, or their features are fewer than the rows. The shortest coefficients of least "
        "squares are taken instead; raise alpha for one answer.",
        UserWarning,
    )


def _without_cholesky(K: Array, right: Array, level: float) -> Array:
    """Return the same by a decomposition of the matrix whose upper half K holds; by least squares where singular."""
    values, vectors = linalg.eigh(K, lower=False)
    low, cut = float(values[0]), cut_of(values)
    if np.abs(values).min() <= cut:
        _say_singular(values, level)
        return vectors @ ((vectors.T @ right) * inverses(values, cut)[:, None])
    if low > 0.0:
        return vectors @ ((vectors.T @ right) / values[:, None])
    warn(
        f"K + alpha·I is not positive definite: its smallest eigenvalue is {low:.3g}. The kernel is indefinite on "
        "these rows, so the answer is a saddle point. Raise alpha, or repair the matrix with nearest_psd.",
        UserWarning,
    )
    return vectors @ ((vectors.T @ right) / values[:, None])


def choose_alpha(K: Array, right: Array, root: Array | None) -> tuple[Array, Array]:
    """Return the α of the grid with the least leave-one-out error, and its coefficients, from one decomposition."""
    values, vectors = linalg.eigh(K)
    size = float(np.abs(np.diagonal(K)).mean()) or 1.0
    turned, squares = vectors.T @ right, vectors**2
    best = (np.inf, GRID[-1] * size, np.zeros_like(right))
    for alpha in GRID[::-1] * size:
        scale = values + alpha
        if scale.min() <= 1e-13 * np.abs(scale).max():
            continue
        coef = vectors @ (turned / scale[:, None])
        residual = coef / (squares / scale).sum(axis=1)[:, None]
        some = slice(None) if root is None else root > 0
        error = float((residual[some] ** 2).sum())
        if error < best[0] * (1 - 1e-12):
            best = (error, alpha, coef)
    return np.asarray(best[1]), best[2]
