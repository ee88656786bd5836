"""How graphs are laid out and drawn: places of nodes, circles, squares, arrows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RADIUS = 0.28  # of a node, where layers are one apart


def named_graph(model: Any) -> tuple[list[str], list[list[int]]]:
    """Return the names of a model's variables and the numbers of the parents of each."""
    if hasattr(model, "parents_"):
        names = list(model.variables_)
        return names, [[names.index(p) for p in model.parents_[name]] for name in names]
    edges = list(getattr(model, "dag_", getattr(model, "edges", model)))
    extra = (
        list(getattr(model, "variables_", getattr(model, "nodes", ()))) if not isinstance(model, list) else []
    )
    names = list(dict.fromkeys([*extra, *(v for edge in edges for v in edge)]))
    parents: list[list[int]] = [[] for _ in names]
    for a, b in edges:
        parents[names.index(b)].append(names.index(a))
    return names, parents


def layers(parents: Sequence[Sequence[int]]) -> list[tuple[float, float]]:
    """Places: a node is below all its parents, and near them within its layer."""
    n = len(parents)
    depth = [0] * n
    for _ in range(n):
        for v, own in enumerate(parents):
            depth[v] = max([depth[p] + 1 for p in own], default=0)
    children: list[list[int]] = [[] for _ in range(n)]
    for v, own in enumerate(parents):
        for p in own:
            children[p].append(v)
    rows = [[v for v in range(n) if depth[v] == layer] for layer in range(max(depth, default=0) + 1)]
    x = {v: float(i) for row in rows for i, v in enumerate(row)}
    for _ in range(8):  # barycenters, down and up
        for near in (parents, children):
            for row in rows:
                row.sort(key=lambda v: (np.mean([x[u] for u in near[v]]) if near[v] else x[v], v))
                for i, v in enumerate(row):
                    x[v] = i - (len(row) - 1) / 2
    return [(2.2 * x[v], -1.6 * depth[v]) for v in range(n)]


def canvas(ax: Axes | None, place: Sequence[tuple[float, float]], room: float = 1.0) -> Axes:
    """Return Axes without axes that hold all places, with some room around them."""
    points = np.array(place) if len(place) else np.zeros((1, 2))
    low, high = points.min(axis=0) - room, points.max(axis=0) + room
    size = tuple(np.clip(1.1 * (high - low), 3.0, 14.0))
    ax = style.axes(ax, size=size)
    ax.set_xlim(low[0] - 0.2, high[0] + 0.2)
    ax.set_ylim(low[1], high[1])
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def draw_arrow(
    ax: Axes, start: Any, end: Any, color: str = style.QUIET, head: str = "-|>", width: float = 1.2
) -> None:
    """Draw an edge between two nodes."""
    ax.annotate(
        "",
        xy=end,
        xytext=start,
        arrowprops=dict(arrowstyle=head, color=color, lw=width, shrinkA=16, shrinkB=17),
        zorder=1,
    )


def draw_node(ax: Axes, at: Any, label: str, *, shaded: bool = False, square: bool = False) -> None:
    """Draw a variable (round) or a factor (square); what is observed is shaded."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Circle, Rectangle

    pale = tuple(1.0 - 0.35 * (1.0 - part) for part in to_rgb(style.color(0)))  # hides the edges below it
    face = pale if shaded else "white"
    options = dict(facecolor=face, edgecolor=style.color(0), lw=1.4, zorder=2)
    if square:
        ax.add_patch(Rectangle((at[0] - 0.14, at[1] - 0.14), 0.28, 0.28, **options))
    else:
        ax.add_patch(Circle(at, RADIUS, **options))
    if label:
        above = 0.0 if len(label) <= 4 else 0.36
        ax.text(at[0], at[1] + above, label, ha="center", va="center", fontsize=8, zorder=3)
