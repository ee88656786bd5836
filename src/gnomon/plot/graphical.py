"""Pictures of graphical models: networks with tables, factor graphs, elimination, plates, fields, searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RADIUS = 0.28  # of a node, where layers are one apart


def network(
    model: Any,
    evidence: Mapping[str, Any] | None = None,
    ax: Axes | None = None,
    *,
    show: str = "names",
    max_rows: int = 8,
) -> Axes:
    """Draw a Bayesian network, parents above children, observed nodes shaded.

    Parameters
    ----------
    model : BayesianNetwork or list of edges
    evidence : dict, optional
        Observed states by variable.
    ax : matplotlib Axes, optional
    show : {"names", "tables", "posteriors"}
        Write nothing more, the tables beside the nodes, or bars of each node's distribution given the evidence: draw
        again with other evidence and the bars move.
    max_rows : int
        Rows of a table that are written.

    Examples
    --------
    >>> from gnomon.datasets import load_network
    >>> ax = network(load_network("sprinkler"), {"wet": "yes"}, show="posteriors")
    >>> [text.get_text() for text in ax.texts if text.get_text()][:3]
    ['rain', 'sprinkler', 'wet = yes']
    """
    if show not in ("names", "tables", "posteriors"):
        raise ValueError(f"show must be 'names', 'tables' or 'posteriors'; got {show!r}.")
    names, parents = _named_graph(model)
    place = _layers(parents)
    ax = _canvas(ax, place)
    seen = dict(evidence or {})
    for child, own in enumerate(parents):
        for parent in own:
            _arrow(ax, place[parent], place[child])
    for v, name in enumerate(names):
        label = f"{name} = {seen[name]}" if name in seen else name
        _node(ax, place[v], label, shaded=name in seen)
    if show == "tables":
        for v, name in enumerate(names):
            _table(ax, place[v], model, name, max_rows)
    elif show == "posteriors":
        for name, factor in model.marginals(seen).items():
            _bars(ax, place[names.index(name)], factor)
    return ax


def _named_graph(model: Any) -> tuple[list[str], list[list[int]]]:
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


def _layers(parents: Sequence[Sequence[int]]) -> list[tuple[float, float]]:
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


def _canvas(ax: Axes | None, place: Sequence[tuple[float, float]], room: float = 1.0) -> Axes:
    points = np.array(place) if len(place) else np.zeros((1, 2))
    low, high = points.min(axis=0) - room, points.max(axis=0) + room
    size = tuple(np.clip(1.1 * (high - low), 3.0, 14.0))
    ax = style.axes(ax, size=size)
    ax.set_xlim(low[0] - 0.2, high[0] + 0.2)
    ax.set_ylim(low[1], high[1])
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def _arrow(
    ax: Axes, start: Any, end: Any, color: str = style.QUIET, head: str = "-|>", width: float = 1.2
) -> None:
    ax.annotate(
        "",
        xy=end,
        xytext=start,
        arrowprops=dict(arrowstyle=head, color=color, lw=width, shrinkA=16, shrinkB=17),
        zorder=1,
    )


def _node(ax: Axes, at: Any, label: str, *, shaded: bool = False, square: bool = False) -> None:
    from matplotlib.patches import Circle, Rectangle

    face = style.color(0) if shaded else "none"
    options = dict(facecolor=face, alpha=0.35 if shaded else 1.0, edgecolor=style.color(0), lw=1.4, zorder=2)
    if square:
        ax.add_patch(Rectangle((at[0] - 0.14, at[1] - 0.14), 0.28, 0.28, **options))
    else:
        ax.add_patch(Circle(at, RADIUS, **options))
    ax.text(
        at[0],
        at[1] + (0.0 if len(label) <= 4 else 0.36),
        label,
        ha="center",
        va="center",
        fontsize=8,
        zorder=3,
    )


def _table(ax: Axes, at: Any, model: Any, name: str, max_rows: int) -> None:
    table, parents, states = model.tables_[name], model.parents_[name], model.states_
    lines = []
    for place in np.ndindex(*table.shape[:-1]):
        if len(lines) == max_rows:
            lines.append("…")
            break
        given = ", ".join(f"{states[p][k]}" for p, k in zip(parents, place, strict=True))
        row = "  ".join(f"{p:.3g}" for p in table[place])
        lines.append(f"{given}: {row}" if given else row)
    header = "  ".join(str(state) for state in states[name])
    ax.text(
        at[0] + 0.34,
        at[1],
        "\n".join([header, *lines]),
        fontsize=6,
        va="center",
        family="monospace",
        color=style.QUIET,
    )


def _bars(ax: Axes, at: Any, factor: Any) -> None:
    from matplotlib.patches import Rectangle

    values, states = factor.values, factor.states[factor.variables[0]]
    height = min(0.14, 0.6 / len(values))
    for k, (p, state) in enumerate(zip(values, states, strict=True)):
        y = at[1] + height * (len(values) / 2 - k - 1)
        bar = Rectangle((at[0] + 0.34, y), 0.7 * p, 0.85 * height, color=style.color(1))
        ax.add_patch(bar)
        ax.text(at[0] + 0.37 + 0.7 * p, y + 0.4 * height, f"{state} {p:.3g}", fontsize=6, va="center")


def factor_graph(
    graph: Any, ax: Axes | None = None, *, messages: Mapping[Any, Any] | None = None, max_messages: int = 40
) -> Axes:
    """Draw a factor graph: variables round, factors square.

    Parameters
    ----------
    graph : FactorGraph
    ax : matplotlib Axes, optional
    messages : dict, optional
        ``BeliefPropagation.messages_``: written along the edges, from factors to variables.
    max_messages : int

    Examples
    --------
    >>> from gnomon.graphical import Factor, FactorGraph
    >>> ax = factor_graph(FactorGraph([Factor(["A", "B"], [[4, 1], [1, 2]])]))
    >>> len(ax.patches)
    3
    """
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
    ax = _canvas(ax, [*at.values(), *squares], 0.7)
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
        _node(ax, place, name)
    for f, place in enumerate(squares):
        _node(ax, place, "", square=True)
        ax.text(*place, f"f{f}", fontsize=6, ha="center", va="center")
    return ax


def elimination(plan: Any, ax: Axes | None = None, *, step: int | None = None) -> Axes:
    """Draw an elimination: the graph after a step with its fill-in edges, or the cost of all steps.

    Parameters
    ----------
    plan : InferencePlan
    ax : matplotlib Axes, optional
    step : int, optional
        Draw the graph before this step (0, 1, …), its variable and message marked; animate over it for the film. All
        steps as bars of table sizes when not given.

    Examples
    --------
    >>> from gnomon.datasets import load_network
    >>> from gnomon.graphical import inference_plan
    >>> ax = elimination(inference_plan(load_network("asia"), "xray"))
    >>> ax.get_xlabel()
    'entries of the table'
    """
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
    ax = _canvas(ax, list(at.values()), 0.7)
    for edge in edges | fresh:
        a, b = sorted(edge)
        if a in at and b in at:
            dashed = edge in fresh and edge not in edges
            ax.plot(*zip(at[a], at[b], strict=True), color=style.color(1) if dashed else style.QUIET,
                    ls="--" if dashed else "-", zorder=1)  # fmt: skip
    for name, place in at.items():
        _node(ax, place, name, shaded=name in plan.scopes[step])
    ax.set_title(f"eliminate {plan.order[step]}: table of {plan.sizes[step]} entries")
    return ax


def plates(spec: Any, ax: Axes | None = None) -> Axes:
    """Draw a plate diagram: open circles are hidden, shaded ones observed, dots are parameters, boxes repeat.

    Parameters
    ----------
    spec : {"mixture", "hmm", "topics", "naive_bayes"} or dict
        A model by name, or ``{"nodes": {name: kind}, "edges": [(a, b), …], "plates": [(label, names), …]}`` with
        kinds "hidden", "observed" and "parameter".
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> ax = plates("mixture")
    >>> sorted(text.get_text() for text in ax.texts)
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
    parents = [[names.index(a) for a, b in spec["edges"] if b == name] for name in names]
    order = [(-y, -x) for x, y in _layers(parents)]  # from left to right
    at = {name: (1.0 * order[i][0], 0.7 * order[i][1]) for i, name in enumerate(names)}
    ax = _canvas(ax, list(at.values()), 1.0)
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
        _arrow(ax, at[a], at[b])
    for name, kind in nodes.items():
        if kind == "parameter":
            ax.add_patch(Circle(at[name], 0.06, color=style.QUIET, zorder=2))
            ax.text(at[name][0], at[name][1] + 0.2, name, ha="center", fontsize=9)
        else:
            _node(ax, at[name], "", shaded=kind == "observed")
            ax.text(*at[name], name, ha="center", va="center", fontsize=9, zorder=3)
    for text in list(ax.texts):
        if not text.get_text():
            text.remove()
    return ax


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
    },
    "topics": {
        "nodes": {"α": "parameter", "θ": "hidden", "z": "hidden", "w": "observed", "β": "parameter"},
        "edges": [("α", "θ"), ("θ", "z"), ("z", "w"), ("β", "w")],
        "plates": [("d = 1 … D", ["θ", "z", "w"]), ("n = 1 … N", ["z", "w"]), ("k = 1 … K", ["β"])],
    },
}  # fmt: skip


def segmentation(
    field: Any, image: Any, means: Any, ax: Any = None, *, methods: Sequence[str] = ("icm", "graph_cut")
) -> Any:
    """Draw a noisy image beside the labels that each method gives it, with their energies.

    Parameters
    ----------
    field : GridField
    image : array of shape (rows, columns)
    means : sequence of numbers
        The number that each label stands for.
    ax : array of Axes, optional
        One more than methods.
    methods : sequence of str

    Returns
    -------
    array of Axes

    Examples
    --------
    >>> from gnomon.graphical import GridField
    >>> axs = segmentation(GridField((2, 3), coupling=0.5), [[0, 1, 0], [0, 0, 1]], [0, 1])
    >>> axs[0].get_title()
    'image'
    """
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(
            1, 1 + len(methods), figsize=(3 * (1 + len(methods)), 3), layout="constrained"
        )
    panels = np.atleast_1d(ax)
    values = np.asarray(image, dtype=float)
    panels[0].imshow(values, cmap="gray")
    panels[0].set_title("image")
    for panel, method in zip(panels[1:], methods, strict=True):
        found = field.segment(values, means, method=method, random_state=0)
        panel.imshow(np.asarray(means)[found.labels], cmap="gray", vmin=values.min(), vmax=values.max())
        panel.set_title(f"{method}: energy {found.energy:.4g}")
    for panel in panels:
        panel.set_axis_off()
    return panels


def structure_search(search: Any, ax: Axes | None = None, *, strengths: Any = None) -> Axes:
    """Draw the graph that a search found, edges as wide as they are strong, and its score along the way.

    Parameters
    ----------
    search : HillClimbSearch, ExactSearch, ChowLiuTree or PC
        Fitted.
    ax : matplotlib Axes, optional
        The graph; the score goes into a corner of it.
    strengths : DataFrame, optional
        Of `edge_bootstrap`.

    Examples
    --------
    >>> from gnomon.datasets import load_network
    >>> from gnomon.graphical import HillClimbSearch
    >>> X = load_network("sprinkler").sample(500, random_state=0)
    >>> ax = structure_search(HillClimbSearch().fit(X))
    >>> ax.get_title().startswith("score")
    True
    """
    names, parents = _named_graph(search)
    place = _layers(parents)
    ax = _canvas(ax, place)
    known = {} if strengths is None else {frozenset((r.a, r.b)): r.strength for r in strengths.itertuples()}
    for child, own in enumerate(parents):
        for parent in own:
            width = 0.5 + 3.0 * known.get(frozenset((names[parent], names[child])), 0.25)
            _arrow(ax, place[parent], place[child], width=width)
    for v, name in enumerate(names):
        _node(ax, place[v], name)
    values = search.trace_.objective
    if len(values) > 1:
        inset = ax.inset_axes([0.72, 0.78, 0.28, 0.22])
        inset.plot(values, color=style.color(1))
        inset.tick_params(labelsize=5)
        inset.set_xlabel("move", fontsize=6)
    ax.set_title(f"score {search.score_:.6g}")
    return ax
