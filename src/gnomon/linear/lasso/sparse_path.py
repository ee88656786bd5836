"""Paths of the lasso and the elastic net: coefficients along falling penalties, each started from the last."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.progress import told
from gnomon.core.threads import one_blas_thread
from gnomon.linear._rules import listed_penalties
from gnomon.linear.lasso.sparse import Lasso, Prepared, prepare, strengths

PATIENCE = 10  # working sets tried without a smaller gap before rounding is taken to forbid it


def alpha_grid(
    prepared: Prepared, l1_ratio: float, eps: float, n_alphas: int, positive: bool = False
) -> Array:
    """Return a falling geometric grid that starts where everything is zero."""
    if l1_ratio == 0:
        raise ValueError("l1_ratio=0 has no largest alpha; give alphas, or use ridge_path.")
    corr = prepared.engine.corr
    top = float(corr.max(initial=0.0) if positive else np.abs(corr).max(initial=0.0))
    top, least = top / (prepared.mass * l1_ratio), np.finfo(float).resolution
    if top <= least:  # y is constant: nothing is to be penalized
        return np.full(n_alphas, least)
    return np.geomspace(top, eps * top, n_alphas) if n_alphas > 1 else np.array([top])


def given_alphas(alphas: Any) -> Array:
    """Return penalties that a user has listed, largest first."""
    return np.sort(listed_penalties(alphas))[::-1]


def follow(
    prepared: Prepared,
    alphas: Array,
    l1_ratio: float,
    *,
    tol: float,
    positive: bool,
    max_iter: int = 1000,
    what: str | None = None,
):
    """Return coefficients (d, k), gaps and sweeps along falling alphas, each started from the last.

    A path with a name, `what`, tells how far it is.
    """
    coefs, gaps, counts = np.zeros((len(prepared.engine.w), len(alphas))), [], []
    with one_blas_thread():  # vectors are short: more threads wait for each other
        steps = _solved(prepared, alphas, l1_ratio, tol, positive, max_iter)
        for k, (gap, count) in enumerate(steps if what is None else told(steps, what, len(alphas))):
            S = np.flatnonzero(prepared.engine.w != 0.0)  # most memory of the rest is never touched
            coefs[S, k] = prepared.engine.w[S]
            gaps.append(gap / prepared.mass)
            counts.append(count)
    return coefs, np.array(gaps), counts


def _solved(prepared, alphas, l1_ratio, tol, positive, max_iter):
    """Solve for one penalty after the other; yield the gap and the number of sweeps, the engine has the rest."""
    engine, goal, before = prepared.engine, tol * prepared.yy, None
    for alpha in alphas:
        pen = strengths(prepared, alpha, l1_ratio, positive)
        reach = None if before is None else 2.0 * pen.t - before  # the sequential strong rule
        if hasattr(engine, "restart"):
            engine.restart()
        check, sweeps = engine.check(pen, goal), engine.sweeps
        best, waited = np.inf, 0
        for _ in range(max_iter):
            if check.gap <= goal or waited == PATIENCE:
                break
            check = engine.advance(pen, goal, reach)
            best, waited = (check.gap, 0) if check.gap < best else (best, waited + 1)
        before = pen.t
        yield check.gap, engine.sweeps - sweeps


def enet_path(
    X,
    y,
    *,
    l1_ratio=0.5,
    eps=1e-3,
    n_alphas=100,
    alphas=None,
    precompute="auto",
    Xy=None,
    copy_X=True,
    coef_init=None,
    verbose=False,
    return_n_iter=False,
    positive=False,
    check_input=True,
    tol=1e-4,
    max_iter=1000,
):
    r"""Elastic-net coefficients along a falling grid of penalties, without intercept (center first if
    needed). Inside ``with gnomon.progress():`` every penalty is told of.

    Parameters
    ----------
    X, y : array or sparse matrix of shape (n, d), array of shape (n,)
    l1_ratio : float, default=0.5
        ρ, above 0 unless `alphas` are given.
    eps, n_alphas : float, int
        Length α_min/α_max and size of the grid.
    alphas : int or array, optional
        The size of the grid, or the grid itself; it is sorted, largest first.
    coef_init : array, optional
    positive, tol, max_iter
        As in `ElasticNet`.
    precompute, Xy, copy_X, check_input, verbose
        Accepted for compatibility.
    return_n_iter : bool, default=False
        Return the number of sweeps, too.

    Returns
    -------
    alphas : array of shape (k,)
    coefs : array of shape (d, k)
    dual_gaps : array of shape (k,)
    n_iters : list, if asked for

    Examples
    --------
    >>> alphas, coefs, gaps = enet_path(np.eye(3) * np.sqrt(3), [3.0, -1.0, 0.2], l1_ratio=1.0, alphas=[0.5])
    >>> (coefs.ravel() * np.sqrt(3)).round(4)
    array([ 2.134, -0.134,  0.   ])
    """
    rows = Lasso()._read(X, y)
    prepared = prepare(rows, False, None if coef_init is None else np.asarray(coef_init, dtype=float))
    counted = alphas is None or isinstance(alphas, Integral)
    grid = (
        alpha_grid(prepared, l1_ratio, eps, int(alphas or n_alphas), positive)
        if counted
        else given_alphas(alphas)
    )
    options = {"tol": tol, "positive": positive, "max_iter": max_iter, "what": "path of penalties"}
    coefs, gaps, counts = follow(prepared, grid, l1_ratio, **options)
    return (grid, coefs, gaps, counts) if return_n_iter else (grid, coefs, gaps)


def lasso_path(X, y, *, eps=1e-3, n_alphas=100, alphas=None, **options):
    """Lasso coefficients along a falling grid of penalties: `enet_path` with ``l1_ratio=1``.

    Examples
    --------
    >>> X, y = np.array([[1.0, 2], [2, 1], [3, 4], [4, 3]]), np.array([1.0, 2, 3, 5])
    >>> alphas, coefs, gaps = lasso_path(X - X.mean(axis=0), y - y.mean(), alphas=[1.0, 0.5], tol=1e-12)
    >>> coefs.round(6)
    array([[0.5, 0.9],
           [0. , 0. ]])
    """
    return enet_path(X, y, l1_ratio=1.0, eps=eps, n_alphas=n_alphas, alphas=alphas, **options)
