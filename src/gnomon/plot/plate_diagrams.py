"""Plate diagrams of generative models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.plot import style
from gnomon.plot.graphs import canvas, draw_arrow, draw_node, layers

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plates(spec: Any, ax: Axes | None = None) -> Axes:
    """Draw a plate diagram: open circles are hidden, shaded ones observed, dots are parameters, boxes repeat.

    Parameters
    ----------
    spec : {"mixture", "hmm", "topics", "naive_bayes"} or dict
        A model by name, or ``{"nodes": {name: kind}, "edges": [(a, b), …], "plates": [(label, names), …]}`` with
        kinds "hidden", "observed" and "parameter"; ``"at": {name: (column, row)}`` where places are not to be found.
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> ax = plates("mixture")
    >>> sorted(text.get_text() for text in ax.texts if text.get_text())
    ['i = 1 … n', 'k = 1 … K', 'x', 'z', 'θ', 'π']
    """
    if isinstance(spec, str):
        if spec not in _PLATES:
            raise ValueError(f"spec must be a dict or one of {list(_PLATES)}; got {spec!r}.")
        spec = _PLATES[spec]
    nodes = spec["nodes"]
    names = list(nodes)
    for edge in spec["edges"]:
        for name in edge:
            if name not in nodes:
                raise ValueError(f"spec names {name!r} in an edge, and it is not among its nodes.")
    at = _places(spec, names)
    ax = canvas(ax, list(at.values()), 1.0)
    from matplotlib.patches import Circle, FancyBboxPatch

    for label, members in spec.get("plates", ()):
        points = np.array([at[name] for name in members])
        depth = 0.42 + 0.12 * sum(set(members) < set(other) for _, other in spec["plates"]) * -1
        depth += 0.14 * sum(set(other) < set(members) for _, other in spec["plates"])
        low, high = points.min(axis=0) - depth, points.max(axis=0) + depth
        box = FancyBboxPatch(low, *(high - low), boxstyle="round,pad=0.05", fc="none", ec=style.QUIET)
        ax.add_patch(box)
        ax.text(high[0], low[1] + 0.02, label, ha="right", va="bottom", fontsize=7, color=style.QUIET)
    for a, b in spec["edges"]:
        draw_arrow(ax, at[a], at[b])
    for name, kind in nodes.items():
        if kind == "parameter":
            ax.add_patch(Circle(at[name], 0.06, color=style.QUIET, zorder=2))
            ax.text(at[name][0], at[name][1] + 0.2, name, ha="center", fontsize=9)
        else:
            draw_node(ax, at[name], "", shaded=kind == "observed")
            ax.text(*at[name], name, ha="center", va="center", fontsize=9, zorder=3)
    return ax


def _places(spec: Any, names: list[str]) -> dict[str, tuple[float, float]]:
    """Where the nodes lie: as the spec says, or in layers from left to right."""
    if "at" in spec:
        return {name: (1.6 * spec["at"][name][0], -1.3 * spec["at"][name][1]) for name in names}
    parents = [[names.index(a) for a, b in spec["edges"] if b == name] for name in names]
    return {name: (-y, -0.7 * x) for name, (x, y) in zip(names, layers(parents), strict=True)}


_PLATES: dict[str, dict[str, Any]] = {
    "mixture": {
        "nodes": {"π": "parameter", "z": "hidden", "x": "observed", "θ": "parameter"},
        "edges": [("π", "z"), ("z", "x"), ("θ", "x")],
        "plates": [("i = 1 … n", ["z", "x"]), ("k = 1 … K", ["θ"])],
    },
    "naive_bayes": {
        "nodes": {"π": "parameter", "c": "observed", "x": "observed", "θ": "parameter"},
        "edges": [("π", "c"), ("c", "x"), ("θ", "x")],
        "plates": [("i = 1 … n", ["c", "x"]), ("j = 1 … d", ["x"]), ("k = 1 … K", ["θ"])],
    },
    "hmm": {
        "nodes": {
            "π": "parameter", "z₁": "hidden", "z₂": "hidden", "z₃": "hidden",
            "x₁": "observed", "x₂": "observed", "x₃": "observed",
        },
        "edges": [("π", "z₁"), ("z₁", "z₂"), ("z₂", "z₃"), ("z₁", "x₁"), ("z₂", "x₂"), ("z₃", "x₃")],
        "plates": [],
        "at": {
            "π": (0, 0), "z₁": (1, 0), "z₂": (2, 0), "z₃": (3, 0), "x₁": (1, 1), "x₂": (2, 1), "x₃": (3, 1),
        },
    },
    "topics": {
        "nodes": {"α": "parameter", "θ": "hidden", "z": "hidden", "w": "observed", "β": "parameter"},
        "edges": [("α", "θ"), ("θ", "z"), ("z", "w"), ("β", "w")],
        "plates": [("d = 1 … D", ["θ", "z", "w"]), ("n = 1 … N", ["z", "w"]), ("k = 1 … K", ["β"])],
    },
}  # fmt: skip
