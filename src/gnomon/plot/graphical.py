"""Pictures of graphical models: networks with tables, factor graphs, eliminations, searches, fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.plot import style
from gnomon.plot.factor_graphs import draw_elimination, draw_factor_graph
from gnomon.plot.graphs import canvas, draw_arrow, draw_node, layers, named_graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def network(
    model: Any,
    evidence: Mapping[str, Any] | None = None,
    ax: Axes | None = None,
    *,
    show: str = "names",
    max_rows: int = 8,
    strengths: Any = None,
    messages: Mapping[Any, Any] | None = None,
    step: int | None = None,
) -> Axes:
    """Draw a graph of variables: a network, what a search found, a factor graph, or the plan of an elimination.

    Parents are above children and observed nodes shaded. The graph of a search has its score along the way in a
    corner. In a factor graph variables are round and factors square.

    Parameters
    ----------
    model : BayesianNetwork, list of edges, fitted search, FactorGraph or InferencePlan
    evidence : dict, optional
        Observed states by variable.
    ax : matplotlib Axes, optional
    show : {"names", "tables", "posteriors"}
        Write nothing more, the tables beside the nodes, or bars of each node's distribution given the evidence: draw
        again with other evidence and the bars move.
    max_rows : int
        Rows of a table that are written.
    strengths : DataFrame, optional
        Of `edge_bootstrap`: edges are as wide as they are strong.
    messages : dict, optional
        ``BeliefPropagation.messages_``, written along the edges of a factor graph.
    step : int, optional
        Of a plan: draw the graph before this step (0, 1, …), its variable and message marked; animate over it for the
        film. All steps as bars of table sizes when not given.

    Examples
    --------
    >>> from gnomon.datasets import load_network
    >>> ax = network(load_network("sprinkler"), {"wet": "yes"}, show="posteriors")
    >>> [text.get_text() for text in ax.texts if text.get_text()][:3]
    ['rain', 'sprinkler', 'wet = yes']
    >>> from gnomon.graphical import inference_plan
    >>> network(inference_plan(load_network("asia"), "xray")).get_xlabel()
    'entries of the table'
    """
    if show not in ("names", "tables", "posteriors"):
        raise ValueError(f"show must be 'names', 'tables' or 'posteriors'; got {show!r}.")
    if hasattr(model, "fill_in"):
        return draw_elimination(model, ax, step)
    if hasattr(model, "factors") and hasattr(model, "variables"):
        return draw_factor_graph(model, ax, messages)
    names, parents = named_graph(model)
    place = layers(parents)
    ax = canvas(ax, place)
    seen, wide = dict(evidence or {}), _widths(strengths)
    for child, own in enumerate(parents):
        for parent in own:
            draw_arrow(ax, place[parent], place[child], width=wide(names[parent], names[child]))
    for v, name in enumerate(names):
        label = f"{name} = {seen[name]}" if name in seen else name
        draw_node(ax, place[v], label, shaded=name in seen)
    if show == "tables":
        for v, name in enumerate(names):
            _table(ax, place[v], model, name, max_rows)
    elif show == "posteriors":
        for name, factor in model.marginals(seen).items():
            _bars(ax, place[names.index(name)], factor)
    if hasattr(model, "dag_"):
        _score(ax, model)
    return ax


def _widths(strengths: Any) -> Callable[[str, str], float]:
    """The width of an edge by its ends: its strength where there is one."""
    if strengths is None:
        return lambda a, b: 1.2
    known = {frozenset((row.a, row.b)): row.strength for row in strengths.itertuples()}
    return lambda a, b: 0.5 + 3.0 * known.get(frozenset((a, b)), 0.0)


def _score(ax: Axes, search: Any) -> None:
    """The score of a search, and how it grew, in a corner of its graph."""
    values = search.trace_.objective
    if len(values) > 1:
        low, high = ax.get_xlim()
        ax.set_xlim(low, high + 0.4 * (high - low))  # beside the graph, so that no node is covered
        inset = ax.inset_axes([0.76, 0.72, 0.24, 0.24])
        inset.plot(values, color=style.color(1))
        inset.tick_params(labelsize=5)
        inset.set_xlabel(search.trace_.unit, fontsize=6)
    ax.set_title(f"score {search.score_:.6g}")


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
