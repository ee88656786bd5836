"""Pictures of regression: projections, planes, penalties and the way down the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _space(ax: Axes | None) -> Any:
    """Return three-dimensional axes."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.figure(figsize=(6, 5), layout="constrained").add_subplot(projection="3d")


def projection(X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw least squares with three rows as what it is: y, the plane of the columns, and the foot of y on it.

    Parameters
    ----------
    X : array of shape (3, 1) or (3, 2)
        One column is completed by the constant.
    y : array of shape (3,)
    ax : 3-D matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = projection([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    >>> [round(float(v), 4) for v in ax.lines[1].get_data_3d()[2]]  # the fitted values end here
    [0.0, 3.8333]
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    if X.shape not in ((3, 1), (3, 2)) or y.shape != (3,):
        raise DataError(f"the picture has three rows and one or two columns; X has shape {X.shape}")
    columns = np.c_[np.ones(3), X] if X.shape[1] == 1 else X
    fitted = columns @ np.linalg.lstsq(columns, y)[0]
    ax = _space(ax)
    reach = np.linspace(-0.2, 1.4, 2) * max(np.abs(fitted).max(), 1.0)
    basis = np.linalg.qr(columns)[0]
    basis = basis * np.sign(basis.sum(axis=0) + 1e-12)
    grid = basis[:, 0, None, None] * reach[:, None] + basis[:, 1, None, None] * reach[None, :]
    ax.plot_surface(*grid, alpha=0.2, color=style.QUIET)
    for target, name, color in ((y, "y", 0), (fitted, "fitted", 1)):
        ax.plot(*zip(np.zeros(3), target), color=style.color(color), label=name)
    ax.plot(*zip(fitted, y), color=style.QUIET, linestyle="--", label="residual")
    ax.legend(frameon=False)
    return ax


def surface(model: Any, X: Any, y: Any, ax: Axes | None, points: int) -> Axes:
    """Draw the prediction of a model of two features as a surface, the data above and below it."""
    values = np.asarray(X, dtype=float)
    ax = _space(ax)
    a, b = np.meshgrid(*(np.linspace(*style.limits(column, 0.03), points) for column in values.T))
    grid = np.c_[a.ravel(), b.ravel()]
    table = type(X)(dict(zip(X.columns, grid.T))) if hasattr(X, "columns") else grid
    ax.plot_surface(a, b, np.asarray(model.predict(table)).reshape(a.shape), alpha=0.4, color=style.color(0))
    if y is not None:
        ax.scatter(values[:, 0], values[:, 1], np.ravel(y), s=14, color=style.color(1))
    names = list(getattr(X, "columns", ["x0", "x1"]))
    ax.set_xlabel(str(names[0]))
    ax.set_ylabel(str(names[1]))
    return ax


def penalty_contours(
    p: Any = (4, 2, 1, 0.5), ax: Axes | None = None, *, X: Any = None, y: Any = None, alpha: float = 1.0
) -> Axes:
    """Draw the unit balls Σ|w_j|^p ≤ 1 in the plane; with data, the loss and the point where ball and loss
    meet.

    Parameters
    ----------
    p : float or sequence of floats
    ax : matplotlib Axes, optional
    X, y : array of shape (n, 2) and vector, optional
        Then contours of ‖y − Xw‖² are drawn (both centered), the least-squares point, the ridge solution
        with penalty `alpha`, and the balls grow until they touch it.
    alpha : float
        Of the ridge solution.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = penalty_contours([1, 2])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['p = 1', 'p = 2']
    """
    ax = style.axes(ax, x="$w_0$", y="$w_1$", size=(5, 5))
    angle = np.linspace(0, 2 * np.pi, 721)
    circle = np.array([np.cos(angle), np.sin(angle)])
    anchor = None if X is None else _loss_contours(ax, X, y, alpha)
    for k, power in enumerate(np.atleast_1d(np.asarray(p, dtype=float))):
        if not power > 0:
            raise DataError(f"p must be positive; got {power:g}")
        radius = 1.0 if anchor is None else _norm(anchor[:, None], power)[0]
        ball = radius * circle / _norm(circle, power)
        ax.plot(*ball, color=style.color(k), label=f"p = {power:g}")
    ax.set_aspect("equal")
    ax.legend(frameon=False)
    return ax


def _norm(w: np.ndarray, p: float) -> np.ndarray:
    size = np.abs(w)
    return size.max(axis=0) if np.isinf(p) else (size**p).sum(axis=0) ** (1.0 / p)


def _loss_contours(ax: Axes, X: Any, y: Any, alpha: float) -> np.ndarray:
    """Draw ‖y − Xw‖² and its minimum; return the ridge solution."""
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    if X.ndim != 2 or X.shape[1] != 2:
        raise DataError(f"the picture has two coefficients: X must have two columns, not shape {X.shape}")
    X, y = X - X.mean(axis=0), y - y.mean()
    least = np.linalg.lstsq(X, y)[0]
    ridge = np.linalg.solve(X.T @ X + alpha * np.eye(2), X.T @ y)
    reach = 1.6 * max(np.abs(least).max(), np.abs(ridge).max(), 1e-12)
    axis = np.linspace(-reach, reach, 121)
    W = np.stack(np.meshgrid(axis, axis)) - least[:, None, None]
    rise = np.einsum("iab,ij,jab->ab", W, X.T @ X, W)
    ax.contour(axis, axis, np.sqrt(rise), levels=8, colors=style.QUIET, linewidths=0.8)
    ax.scatter(*least, color=style.QUIET, marker="+", zorder=3)
    ax.scatter(*ridge, color=style.color(0), zorder=3)
    return ridge


def descent(
    paths: Any,
    function: Any,
    ax: Axes | None = None,
    *,
    names: Any = None,
    levels: int = 15,
    points: int = 80,
) -> Axes:
    """Draw one or several ways down a function of two variables over its contours.

    Parameters
    ----------
    paths : array of shape (steps, 2) or list of them
        The iterates: of `gnomon.solvers.minimize`, or parameters of the models that ``iterate`` yields.
    function : callable
        Takes a vector of two numbers and returns one.
    ax : matplotlib Axes, optional
    names : sequence of str, optional
    levels, points : int
        Of the contours.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = descent([[2.0, 1.0], [1.0, 0.2], [0.5, 0.0]], lambda w: w[0] ** 2 + 4 * w[1] ** 2)
    >>> len(ax.lines[0].get_xdata())
    3
    """
    single = np.ndim(paths[0]) == 1
    tracks = [np.asarray(track, dtype=float) for track in ([paths] if single else paths)]
    if any(track.ndim != 2 or track.shape[1] != 2 for track in tracks):
        raise DataError("the picture has two parameters: every path must have shape (steps, 2)")
    ax = style.axes(ax)
    every = np.concatenate(tracks)
    x, y = (np.linspace(*style.limits(column, 0.25), points) for column in every.T)
    height = np.array([[float(function(np.array([a, b]))) for a in x] for b in y])
    ax.contour(x, y, height, levels=levels, colors=style.QUIET, linewidths=0.7)
    for k, track in enumerate(tracks):
        label = None if names is None else names[k]
        ax.plot(*track.T, color=style.color(k), marker="o", markersize=3, linewidth=1.2, label=label)
    if names is not None:
        ax.legend(frameon=False)
    return ax
