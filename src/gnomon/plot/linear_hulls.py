"""The picture of the dual of a linear machine: two hulls, the shortest segment between them, its bisector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def hulls(X: Any, y: Any, ax: Axes | None = None, *, max_weight: float = 1.0) -> Axes:
    """Draw the convex hulls of two classes, the segment between their nearest points, and the plane halfway.

    Parameters
    ----------
    X, y : arrays of shape (n, 2), (n,)
    ax : matplotlib Axes, optional
    max_weight : float, default=1.0
        Below 1 the segment is that of the reduced hulls, which are dashed.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> ax = hulls([[0.0, 0], [0, 2], [3, 1], [4, 1]], [0, 0, 1, 1])
    >>> ax.get_title()
    'distance 3, margin 1.5'
    """
    from gnomon.linear import nearest_hulls

    points, labels = np.asarray(X, dtype=float), np.asarray(y)
    if points.ndim != 2 or points.shape[1] != 2:
        raise DataError("hulls are drawn for two features; choose two columns.")
    pair = nearest_hulls(X, y, max_weight=max_weight)
    ax = style.axes(ax, x="x₀", y="x₁")
    for rank, name in enumerate(np.unique(labels)):
        _class(ax, points[labels == name], str(name), rank, max_weight)
    limits = ax.get_xlim(), ax.get_ylim()
    if pair.distance > 0.0:
        ax.plot(*np.array([pair.u, pair.v]).T, "o-", color="black", markersize=5, label="nearest points")
        _planes(ax, pair)
    ax.set(xlim=limits[0], ylim=limits[1], aspect="equal")
    ax.set_title(f"distance {pair.distance:.3g}, margin {pair.distance / 2:.3g}" if pair.distance else "meet")
    ax.legend(frameon=False)
    return ax


def _class(ax, points, name, rank, max_weight):
    color = style.color(rank)
    ax.scatter(*points.T, color=color, marker="os"[rank], label=name, zorder=3)
    ax.fill(*outline(points).T, facecolor=color, edgecolor=color, alpha=0.2)
    if max_weight < 1.0:
        ax.fill(*reduced(points, max_weight).T, facecolor="none", edgecolor=color, linestyle="--")


def outline(points: np.ndarray) -> np.ndarray:
    """Corners of the convex hull, counter-clockwise; of points on a line, its ends."""
    order = np.unique(points, axis=0)  # sorted by the first column, then the second
    return np.array(_chain(order)[:-1] + _chain(order[::-1])[:-1]) if len(order) > 2 else order


def _chain(order):
    kept: list[np.ndarray] = []
    for point in order:
        while len(kept) > 1 and _turn(kept[-2], kept[-1], point) <= 0.0:
            kept.pop()
        kept.append(point)
    return kept


def _turn(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def reduced(points: np.ndarray, cap: float, directions: int = 720) -> np.ndarray:
    """Corners of the hull of all means with weights of at most cap: its furthest point in every direction."""
    angles = np.linspace(0.0, 2.0 * np.pi, directions, endpoint=False)
    full = min(int(1.0 / cap), len(points))
    share = np.zeros(len(points))
    share[:full] = cap
    if full < len(points):
        share[full] = 1.0 - full * cap
    ranks = np.argsort(-points @ np.array([np.cos(angles), np.sin(angles)]), axis=0)
    return outline(np.einsum("i,ika->ka", share, points[ranks]))


def _planes(ax, pair):
    """The perpendicular bisector, and dashed the margin lines through both points."""
    middle, across = (pair.u + pair.v) / 2.0, (pair.u - pair.v)[::-1] * [-1.0, 1.0]
    for point, line in ((middle, "-"), (pair.u, "--"), (pair.v, "--")):
        ax.axline(point, point + across, color="black", linestyle=line, linewidth=1)
