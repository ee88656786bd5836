"""The geometry of least squares: projections, singular directions, shortest solutions, moments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, optimize

from gnomon.core.errors import DataError, InfeasibleError, nearest
from gnomon.core.linalg import Array
from gnomon.core.validate import matrix, vector


def _factors(X: Any, *, center: bool) -> tuple[Array, Array, Array]:
    """Singular values and vectors of X (centered), those at rounding level left out."""
    X = matrix(X).astype(np.float64)
    U, s, Vt = linalg.svd(X - X.mean(axis=0) if center else X, full_matrices=False)
    kept = s > max(X.shape) * np.finfo(float).eps * (s[0] if len(s) else 0.0)
    return U[:, kept], s[kept], Vt[kept].T


def hat_matrix(X: Any, *, alpha: float = 0.0, fit_intercept: bool = True) -> Array:
    r"""Return the matrix that puts the hat on y: the fitted values are :math:`\hat y = Hy`.

    .. math:: H = \tfrac1n 11^\top + X_c (X_c^\top X_c + \alpha I)^{+} X_c^\top

    For ``alpha=0`` it is the orthogonal projection on the space of the columns (and the constant): symmetric,
    idempotent, its trace the rank. Its diagonal holds the leverages. The first term goes with the intercept.

    Examples
    --------
    >>> hat_matrix([[0.0], [1.0], [2.0]]).round(4)
    array([[ 0.8333,  0.3333, -0.1667],
           [ 0.3333,  0.3333,  0.3333],
           [-0.1667,  0.3333,  0.8333]])
    """
    U, s, _ = _factors(X, center=fit_intercept)
    H = (U * (s**2 / (s**2 + alpha))) @ U.T
    return H + 1.0 / len(H) if fit_intercept else H


class SingularView(NamedTuple):
    """A fit in the basis of singular vectors."""

    U: Array  # (n, r)
    singular_values: Array  # (r,)
    V: Array  # (d, r)
    coefficients: Array  # (d, A): V diag(s/(s² + α)) Uᵀy
    shrinkage: Array  # (r, A): s²/(s² + α), by which least squares is shrunk along each direction


def svd_view(X: Any, y: Any, alphas: Any = (0.0,)) -> SingularView:
    r"""Return X = U S Vᵀ and what ridge does along each singular direction.

    .. math:: w(\alpha) = \sum_k v_k \,\frac{s_k}{s_k^2 + \alpha}\, u_k^\top y

    X is taken as it is; center it first for a model with intercept.

    Examples
    --------
    >>> X, y = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]], [1.0, 2.0, 3.0, 5.0]
    >>> view = svd_view(X, y, alphas=[1.0])
    >>> (view.singular_values**2).round(6), view.shrinkage.sum().round(6)
    (array([58.,  2.]), np.float64(1.649718))
    """
    U, s, V = _factors(X, center=False)
    y = vector(y, n=len(U))
    alphas = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
    shrinkage = s[:, None] ** 2 / (s[:, None] ** 2 + alphas)
    coefficients = V @ (shrinkage * (U.T @ y / s)[:, None])
    return SingularView(U, s, V, coefficients, shrinkage)


def alpha_for_dof(X: Any, dof: float, *, fit_intercept: bool = True) -> float:
    """Return the ridge penalty whose effective degrees of freedom Σ s²/(s² + α) are `dof`.

    Parameters
    ----------
    X : matrix
    dof : float
        In (0, rank], the intercept not counted. At the rank the penalty is 0.
    fit_intercept : bool
        Center the columns first.

    Examples
    --------
    >>> round(
    ...     alpha_for_dof(
    ...         [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]], 58 / 59 + 2 / 3, fit_intercept=False
    ...     ),
    ...     9,
    ... )
    1.0
    """
    s2 = _factors(X, center=fit_intercept)[1] ** 2
    if not 0 < dof <= len(s2):
        raise DataError(f"dof must lie in (0, {len(s2)}], the rank of X; got {dof:g}.")
    if dof == len(s2):
        return 0.0
    top = s2[0] * len(s2) / dof  # there the degrees of freedom are below dof

    def excess(alpha: float) -> float:
        return float((s2 / (s2 + alpha)).sum()) - dof

    return float(optimize.brentq(excess, 0.0, top, xtol=1e-300, rtol=1e-14, maxiter=500))


# shortest solutions


class LeastNorm(NamedTuple):
    """The shortest solution of Xw = y and how it was found."""

    coef: Array  # (d,)
    multipliers: Array  # (n,) of the constraints
    residual: float  # ‖Xw − y‖
    rank: int
    null_space: Array  # (d, d - rank): any of its vectors may be added to coef


def least_norm(X: Any, y: Any, *, tol: float | None = None, allow_inconsistent: bool = False) -> LeastNorm:
    r"""Return the shortest w with Xw = y, and its Lagrange multipliers.

    .. math::
        \min \lVert w\rVert^2 \;\text{s.t.}\; Xw = y:\qquad
        w = X^\top (XX^\top)^{-1} y = -\tfrac12 X^\top\eta

    Parameters
    ----------
    X, y : matrix and vector
    tol : float, default=None
        Singular values below ``tol`` times the largest count as zero, and residuals below ``tol`` times ‖y‖.
    allow_inconsistent : bool
        Return the shortest least-squares solution instead of an error when no w solves the system.

    Examples
    --------
    >>> found = least_norm([[1.0, 2.0, 3.0]], [14.0])
    >>> found.coef.round(6), found.multipliers.round(6)
    (array([1., 2., 3.]), array([-2.]))
    """
    X = matrix(X).astype(np.float64)
    y = vector(y, n=len(X))
    U, s, Vt = linalg.svd(X, full_matrices=True)
    tol = max(X.shape) * np.finfo(float).eps if tol is None else tol
    rank = int((s > tol * s[0]).sum())
    U, s, V = U[:, :rank], s[:rank], Vt.T
    coef = V[:, :rank] @ (U.T @ y / s)
    residual = float(np.linalg.norm(X @ coef - y))
    if residual > max(tol, 1e-10) * max(float(np.linalg.norm(y)), 1e-300) and not allow_inconsistent:
        raise InfeasibleError(
            f"no w satisfies Xw = y: the best leaves ‖Xw − y‖ = {residual:.6g}. Pass "
            "allow_inconsistent=True for the shortest least-squares solution."
        )
    return LeastNorm(coef, -2.0 * U @ (U.T @ y / s**2), residual, rank, V[:, rank:])


# moments of the estimators


class RidgeMoments(NamedTuple):
    """Mean, covariance and bias of the ridge estimator under y ~ N(Xw, σ²I)."""

    mean: Array
    covariance: Array
    bias: Array


def ridge_moments(X: Any, w: Any, sigma2: float, alpha: float = 0.0) -> RidgeMoments:
    r"""Return mean, covariance and bias of the ridge estimator (least squares for ``alpha=0``).

    .. math::
        E\hat w = (X^\top X + \alpha I)^{-1}X^\top X w,\qquad
        \operatorname{Var}\hat w = \sigma^2 (X^\top X+\alpha I)^{-1} X^\top X (X^\top X+\alpha I)^{-1}

    X is taken as it is, without intercept. XᵀX is never inverted, so it may be singular.

    Examples
    --------
    >>> X = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]]
    >>> ridge_moments(X, [1.0, 0.5], 0.25, alpha=1.0).mean.round(6)
    array([0.903955, 0.570621])
    """
    _, s, V = _factors(X, center=False)
    w = vector(w, name="w", n=len(V))
    kept = s**2 / (s**2 + alpha)
    mean = V @ (kept * (V.T @ w))
    return RidgeMoments(mean, sigma2 * (V * (s / (s**2 + alpha)) ** 2) @ V.T, mean - w)


class BiasVariance(NamedTuple):
    """Parts of the expected squared error at one point, for each penalty."""

    alphas: Array
    noise: Array
    bias2: Array
    variance: Array
    total: Array


def ridge_bias_variance(X: Any, x0: Any, w: Any, sigma2: float, alphas: Any) -> BiasVariance:
    r"""Return noise, squared bias and variance of the ridge prediction at a point.

    .. math::
        E(y_0 - x_0^\top\hat w)^2
        = \sigma^2 + \{x_0^\top(w - E\hat w)\}^2 + x_0^\top \operatorname{Var}[\hat w] x_0

    Examples
    --------
    >>> X = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]]
    >>> ridge_bias_variance(X, [1.0, -1.0], [1.0, 0.5], 0.25, [0.0, 1.0, 2.0]).total.round(6)
    array([0.5     , 0.388889, 0.375   ])
    """
    alphas = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
    x0 = vector(x0, name="x0")
    found = [ridge_moments(X, w, sigma2, alpha) for alpha in alphas]
    bias2 = np.array([(x0 @ one.bias) ** 2 for one in found])
    variance = np.array([x0 @ one.covariance @ x0 for one in found])
    noise = np.full(len(alphas), float(sigma2))
    return BiasVariance(alphas, noise, bias2, variance, noise + bias2 + variance)


# scales of the penalty

_SCALES = ("sum", "half_sum", "mean_half", "map")


def convert_penalty(value: float, source: str, target: str, n: int, sigma2: float | None = None) -> float:
    """Return a squared-norm penalty on another scale of the loss.

    ======================  =====================================================
    ``"sum"``               ‖y − Xw‖² + λ‖w‖², the `alpha` of `Ridge`
    ``"half_sum"``          ½‖y − Xw‖² + (λ/2)‖w‖²
    ``"mean_half"``         (1/2n)‖y − Xw‖² + (λ/2)‖w‖², the `alpha` of `SGDRegressor`
    ``"map"``               noise variance `sigma2`, prior N(0, I/λ), posterior mode
    ======================  =====================================================

    Examples
    --------
    >>> convert_penalty(0.5, "mean_half", "sum", n=100)
    50.0
    """
    for name in (source, target):
        if name not in _SCALES:
            raise ValueError(
                f"unknown scale {name!r}; the scales are {', '.join(_SCALES)}.{nearest(name, _SCALES)}"
            )
    if "map" in (source, target) and not (sigma2 is not None and sigma2 > 0):
        raise ValueError(f"the scale 'map' needs a positive sigma2; got {sigma2}.")
    factor = {"sum": 1.0, "half_sum": 1.0, "mean_half": float(n), "map": sigma2 or 1.0}
    return value * factor[source] / factor[target]
