"""Factor graphs with their messages, and eliminations step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.plot import style
from gnomon.plot.graphs import canvas, draw_node

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_factor_graph(
    graph: Any, ax: Axes | None, messages: Mapping[Any, Any] | None, max_messages: int = 40
) -> Axes:
    """Draw a factor graph: variables round, factors square, messages to variables along the edges."""
    n = len(graph.variables)
    angles = 2 * np.pi * np.arange(n) / max(n, 1) + np.pi / 2
    radius = max(1.2, 0.35 * n)
    at = {
        name: (radius * np.cos(a), radius * np.sin(a))
        for name, a in zip(graph.variables, angles, strict=True)
    }
    squares = []
    for factor in graph.factors:
        points = np.array([at[name] for name in factor.variables]) if factor.variables else np.zeros((1, 2))
        middle = points.mean(axis=0)
        if len(points) == 1:
            middle = middle * (1 + 0.8 / max(radius, 1e-9))
        squares.append(tuple(middle))
    ax = canvas(ax, [*at.values(), *squares], 0.7)
    written = 0
    for f, factor in enumerate(graph.factors):
        for name in factor.variables:
            ax.plot(*zip(squares[f], at[name], strict=True), color=style.QUIET, lw=1.0, zorder=1)
            if messages is not None and (f, name) in messages and written < max_messages:
                x, y = 0.45 * np.array(squares[f]) + 0.55 * np.array(at[name])
                text = ", ".join(f"{value:.2g}" for value in messages[f, name])
                ax.text(x, y, f"({text})", fontsize=6, ha="center", color=style.color(1))
                written += 1
    for name, place in at.items():
        draw_node(ax, place, name)
    for f, place in enumerate(squares):
        draw_node(ax, place, "", square=True)
        ax.text(*place, f"f{f}", fontsize=6, ha="center", va="center")
    return ax


def draw_elimination(plan: Any, ax: Axes | None, step: int | None) -> Axes:
    """Draw the graph before a step with its fill-in edges, or the cost of all steps as bars."""
    if step is None:
        ax = style.axes(ax, x="entries of the table", title=f"cost {plan.cost}, width {plan.width}")
        ax.barh(range(len(plan.order)), plan.sizes, color=style.color(0))
        labels = [f"{v}: {', '.join(s[1:])}" for v, s in zip(plan.order, plan.scopes, strict=True)]
        ax.set_yticks(range(len(plan.order)), labels)
        ax.invert_yaxis()
        return ax
    if not 0 <= step < len(plan.order):
        raise ValueError(f"step must be between 0 and {len(plan.order) - 1}; got {step}.")
    edges: set[frozenset[str]] = {
        frozenset((a, b)) for f in plan._problem.factors for a in f.variables for b in f.variables if a != b
    }
    fresh: set[frozenset[str]] = set()
    gone = plan.order[:step]
    for added in plan.fill_in[:step]:
        fresh |= {frozenset(edge) for edge in added}
    names = list(dict.fromkeys([*(v for s in plan.scopes for v in s), *(v for e in edges for v in e)]))
    names = [name for name in names if name not in gone]
    angles = 2 * np.pi * np.arange(len(names)) / max(len(names), 1)
    at = {name: (1.5 * np.cos(a), 1.5 * np.sin(a)) for name, a in zip(names, angles, strict=True)}
    ax = canvas(ax, list(at.values()), 0.7)
    for edge in edges | fresh:
        a, b = sorted(edge)
        if a in at and b in at:
            dashed = edge in fresh and edge not in edges
            ax.plot(*zip(at[a], at[b], strict=True), color=style.color(1) if dashed else style.QUIET,
                    ls="--" if dashed else "-", zorder=1)  # fmt: skip
    for name, place in at.items():
        draw_node(ax, place, name, shaded=name in plan.scopes[step])
    ax.set_title(f"eliminate {plan.order[step]}: table of {plan.sizes[step]} entries")
    return ax
