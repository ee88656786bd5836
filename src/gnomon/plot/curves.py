"""Curves: what an objective did, and how coefficients move along a path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def trace(fit: Any, ax: Axes | None = None, *, label: str | None = None, columns: Any = ()) -> Axes:
    """Draw the objective of a fit against its steps, and the certificate of optimality where there is one.

    Parameters
    ----------
    fit : fitted model or Trace or sequence of numbers
        A model's ``trace_`` is taken.
    ax : matplotlib Axes, optional
        Where to draw; several traces may share one.
    label : str, optional
        Name in the legend.
    columns : sequence of str, optional
        More columns of the trace to draw, such as ``["validation_loss"]``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = trace([3.0, 2.0, 1.5])
    >>> ax.lines[0].get_ydata().tolist()
    [3.0, 2.0, 1.5]
    """
    from matplotlib.ticker import MaxNLocator

    steps = getattr(fit, "trace_", fit)
    objective = np.asarray(getattr(steps, "objective", steps), dtype=float)
    certificate = getattr(steps, "certificate", None)
    if objective.ndim != 1 or not len(objective):
        raise DataError("there is no trace to draw: fit the model first, or give a sequence of numbers")
    ax = style.axes(ax, x=getattr(steps, "unit", "step"), y="objective")
    color = style.color(len(ax.lines))
    count = np.arange(1, len(objective) + 1)
    seen = np.isfinite(objective)  # a line across steps that told nothing, such as sweeps between two looks
    marker = "o" if seen.sum() <= 30 else ""
    ax.plot(count[seen], objective[seen], color=color, marker=marker, markersize=4, label=label)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if certificate is not None and np.any(np.asarray(certificate) > 0):
        _certificate(ax, count, np.asarray(certificate, dtype=float))
    for name in columns:
        values = np.asarray(steps[name], dtype=float)
        ax.plot(count[-len(values) :], values, color=style.color(len(ax.lines)), linestyle="--", label=name)
    if label or len(columns):
        ax.legend(frameon=False)
    return ax


def _certificate(ax: Axes, count: np.ndarray, certificate: np.ndarray) -> None:
    """Draw the certificate on a second, logarithmic scale."""
    side = ax.twinx()
    side.spines["top"].set_visible(False)
    shown = np.where(certificate > 0, certificate, np.nan)
    side.semilogy(count[-len(shown) :], shown, color=style.QUIET, linestyle="--", linewidth=1)
    side.set_ylabel("certificate (dashed)")


def path(
    x: Any,
    curves: Any,
    names: Any = None,
    ax: Axes | None = None,
    *,
    x_label: str = "",
    y_label: str = "coefficient",
    chosen: float | None = None,
    n_named: int = 7,
) -> Axes:
    """Draw many curves over one parameter: coefficients against a penalty, errors against a size.

    Parameters
    ----------
    x : array-like (m,)
        The parameter. When it is positive and spans a factor of a hundred, its axis is logarithmic.
    curves : array-like (m, p)
        One column per curve.
    names : sequence of str, optional
        Names of the curves.
    ax : matplotlib Axes, optional
        Where to draw.
    x_label, y_label : str
        Names of the axes.
    chosen : float, optional
        The value of the parameter that was chosen: a vertical line.
    n_named : int
        How many curves, those that reach furthest from zero, have a color and a name; the rest are gray.

    Returns
    -------
    matplotlib Axes
    """
    x, curves = np.asarray(x, dtype=float), np.asarray(curves, dtype=float)
    curves = curves[:, None] if curves.ndim == 1 else curves
    if curves.shape[:1] != x.shape:
        raise DataError(f"curves must have one row for each of the {x.size} values of x, not {curves.shape}")
    names = [f"x{j}" for j in range(curves.shape[1])] if names is None else [str(name) for name in names]
    ax = style.axes(ax, x=x_label, y=y_label)
    reach = np.nan_to_num(np.abs(curves)).max(axis=0)
    named = set(np.argsort(-reach, kind="stable")[:n_named].tolist())
    for rank, j in enumerate(sorted(named)):
        ax.plot(x, curves[:, j], color=style.color(rank), label=names[j], zorder=3)
    for j in sorted(set(range(curves.shape[1])) - named):
        ax.plot(x, curves[:, j], color=style.QUIET, linewidth=0.7, alpha=0.7)
    if x.size and x.min() > 0 and x.max() >= 100 * x.min():
        ax.set_xscale("log")
    if np.nanmin(curves) < 0 < np.nanmax(curves):
        ax.axhline(0.0, color=style.QUIET, linewidth=0.7)
    if chosen is not None:
        ax.axvline(chosen, color=style.QUIET, linestyle=":", label=f"chosen: {chosen:.3g}")
    if len(ax.get_legend_handles_labels()[1]) > 1:
        ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def gains(curve: Any, ax: Axes | None = None) -> Axes:
    """Draw the gain of every threshold of a `GainCurve`, and mark the best."""
    ax = style.axes(ax, x="threshold", y="gain")
    ax.plot(curve.thresholds, curve.gains, ".-", color=style.color(0))
    if len(curve.gains):
        best = int(curve.gains.argmax())
        ax.plot(curve.thresholds[best], curve.gains[best], "o", color=style.color(1), ms=8)
    return ax
