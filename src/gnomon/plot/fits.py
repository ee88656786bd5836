"""A response over one feature: the data, the fit and how sure it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style
from gnomon.plot.regression import surface

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def fit_line(
    model: Any, X: Any, y: Any = None, ax: Axes | None = None, *, label: str | None = None, points: int = 200
) -> Axes:
    """Draw the prediction of a model of one feature as a line, of two as a surface, with the data it was fitted to.

    Parameters
    ----------
    model : fitted regressor
        With ``predict`` and one feature or two.
    X : array-like (n, 1) or (n, 2)
        The data; they set the range of what is drawn.
    y : array-like (n,), optional
        The responses.
    ax : matplotlib Axes, optional
        Where to draw, in three dimensions for a surface; several lines may share one, the data are drawn once.
    label : str, optional
        Name of a line in the legend; the model's class by default.
    points : int
        Where a line is computed; a surface is computed on a grid of an eighth of them in each direction.

    Returns
    -------
    matplotlib Axes
    """
    if np.ndim(X) == 2 and np.shape(X)[1] == 2:
        return surface(model, X, y, ax, points // 8)
    column, grid = _grid(X, points)
    ax = style.axes(ax, x=style.feature_names(model, X, 1)[0], y=str(getattr(y, "name", None) or "y"))
    _scatter(ax, column, y)
    color = style.color(len(ax.lines))
    ax.plot(column_of(grid), np.ravel(model.predict(grid)), color=color, label=label or type(model).__name__)
    if len(ax.lines) > 1:
        ax.legend(frameon=False, fontsize="small")
    return ax


def predictive_band(
    model: Any,
    X: Any,
    y: Any = None,
    ax: Axes | None = None,
    *,
    level: float = 0.95,
    label: str | None = None,
    points: int = 200,
    draws: int = 0,
) -> Axes:
    """Draw the prediction of a model of one feature with its interval for a new observation.

    Parameters
    ----------
    model : fitted regressor
        With ``predict`` and ``predict_interval(X, level)``. A Gaussian process may also be unfitted: then its prior
        is drawn.
    X, y, ax, label, points
        As in :func:`fit_line`.
    level : float
        Probability that the band covers a new observation.
    draws : int
        How many functions to draw from a model with ``sample_y``.

    Returns
    -------
    matplotlib Axes
    """
    if not hasattr(model, "predict_interval"):
        raise DataError(f"{type(model).__name__} has no predict_interval; draw its line with fit_line")
    ax = fit_line(model, X, y, ax, label=label, points=points)
    _, grid = _grid(X, points)
    lower, upper = (np.ravel(end) for end in model.predict_interval(grid, level))
    color = ax.lines[-1].get_color()
    if draws:
        functions = model.sample_y(grid, draws)
        ax.plot(column_of(grid), functions.reshape(len(functions), -1), color=color, linewidth=0.8, alpha=0.6)
    ax.fill_between(column_of(grid), lower, upper, color=color, alpha=0.2, linewidth=0, label=f"{level:.0%}")
    ax.legend(frameon=False, fontsize="small")
    return ax


def _grid(X: Any, points: int) -> tuple[np.ndarray, Any]:
    """Return the one column of X, and evenly spaced values over its range as the kind of table X is."""
    values = np.asarray(X, dtype=float)
    if values.ndim != 2 or values.shape[1] != 1:
        raise DataError(f"the picture has one feature: X must have one column, not shape {values.shape}")
    grid = np.linspace(*style.limits(values, 0.03), points)[:, None]
    return values[:, 0], type(X)({X.columns[0]: grid[:, 0]}) if hasattr(X, "columns") else grid


def column_of(grid: Any) -> np.ndarray:
    """Return a one-column table as a vector."""
    return np.asarray(grid, dtype=float)[:, 0]


def _scatter(ax: Axes, column: np.ndarray, y: Any) -> None:
    """Draw the data under the lines, unless the axes have data already."""
    if y is not None and not ax.collections:
        ax.scatter(column, np.ravel(y), s=14, color=style.QUIET, alpha=0.7, linewidths=0, zorder=1)
