"""Pictures of kernels: one seen from a point, and the curves they fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def kernel_slice(kernel: Any, anchor: Any, ax: Axes | None = None, *, width: float = 3.0) -> Axes:
    """Draw k(anchor, ·) along a line, or over the plane around an anchor of two columns.

    Parameters
    ----------
    kernel : Kernel, or a sequence of them for several lines
    anchor : array of one or two numbers
    ax : matplotlib Axes, optional
    width : float, default=3.0
        How far to look on each side.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from gnomon.kernels import RBF
    >>> ax = kernel_slice(RBF(1.0), [0.0])
    >>> round(float(ax.lines[0].get_ydata().max()), 6)
    1.0
    """
    point = np.atleast_2d(np.asarray(anchor, dtype=float))
    kernels = list(kernel) if isinstance(kernel, list | tuple) else [kernel]
    if point.shape[0] != 1 or point.shape[1] > 2:
        raise DataError(f"anchor must be one point of one or two columns; its shape is {np.shape(anchor)}.")
    steps = np.linspace(-width, width, 241)
    if point.shape[1] == 1:
        ax = style.axes(ax, x="z", y="k(x, z)")
        for i, one in enumerate(kernels):
            ax.plot(
                point[0, 0] + steps,
                one(point, point + steps[:, None])[0],
                color=style.color(i),
                label=repr(one),
            )
        ax.axvline(point[0, 0], color="gray", linewidth=0.8, linestyle=":")
        ax.legend(frameon=False)
        return ax
    if len(kernels) > 1:
        raise DataError("over the plane one kernel is drawn at a time.")
    ax = style.axes(ax, x="z₀", y="z₁")
    xs, ys = point[0, 0] + steps, point[0, 1] + steps
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(xs, ys)])
    filled = ax.contourf(xs, ys, kernels[0](point, grid)[0].reshape(len(ys), len(xs)), levels=12)
    ax.figure.colorbar(filled, ax=ax)
    ax.plot(*point.T, "x", color="white")
    ax.set_title(repr(kernels[0]))
    return ax


def kernel_curves(
    X: Any, y: Any, kernels: Any = None, ax: Axes | None = None, *, alpha: float = 1e-3
) -> Axes:
    """Draw the kernel ridge regressions of several kernels over one data set of one column.

    Parameters
    ----------
    X, y : arrays of shape (n,) or (n, 1), (n,)
    kernels : mapping of names to kernels, optional
        By default polynomials of degree 1, 3, 5 and 7.
    ax : matplotlib Axes, optional
    alpha : float, default=1e-3
        Penalty.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = kernel_curves([0.0, 1, 2, 3], [0.0, 1, 4, 9])
    >>> [line.get_label() for line in ax.lines]
    ['degree 1', 'degree 3', 'degree 5', 'degree 7']
    """
    from gnomon.kernels import KernelRidge, Polynomial

    x, y = np.asarray(X, dtype=float).ravel()[:, None], np.asarray(y, dtype=float)
    if len(x) != len(y):
        raise DataError(
            f"X must have one column and a row for each of the {len(y)} targets; it has {len(x)} entries."
        )
    if kernels is None:
        size = float(np.mean(x**2)) or 1.0
        kernels = {f"degree {p}": Polynomial(p, 1.0 / size) for p in (1, 3, 5, 7)}
    ax = style.axes(ax, x="x", y="y")
    ax.scatter(x, y, color="black", zorder=3)
    grid = np.linspace(*style.limits(x[:, 0]), 300)[:, None]
    for i, (name, kernel) in enumerate(kernels.items()):
        fitted = KernelRidge(alpha, kernel=kernel).fit(x, y)
        ax.plot(grid, fitted.predict(grid), color=style.color(i), label=name)
    low, high = float(y.min()), float(y.max())
    ax.set_ylim(low - 0.5 * (high - low or 1.0), high + 0.5 * (high - low or 1.0))
    ax.legend(frameon=False)
    return ax
