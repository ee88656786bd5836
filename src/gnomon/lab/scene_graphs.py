"""Scenes of graphs: beliefs with their messages, and the edges that a search has found."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.lab.material import Material
from gnomon.lab.panels import Panel, circle_layout, graph, matrix, number


def belief_panels(model: Any, material: Material) -> list[Panel]:
    """Return the beliefs of the variables of a graph, and how strong the messages between them are."""
    beliefs = getattr(model, "beliefs_", None)
    if not isinstance(beliefs, dict):
        return []
    names = list(beliefs)
    nodes = circle_layout(names)
    for node, name in zip(nodes, names):
        belief = np.asarray(beliefs[name])
        node |= {"value": number(belief[-1]), "tip": "belief " + ", ".join(f"{v:.3g}" for v in belief)}
    edges = _messages(model, material.X if isinstance(material.X, list) else [], names)
    table = (
        matrix("beliefs", [np.asarray(beliefs[name]) for name in names], names, low=0, high=1)
        if len({len(beliefs[n]) for n in names}) == 1
        else None
    )
    return [
        graph("beliefs on the graph, and the messages", nodes, edges, directed=True),
        *([table] if table else []),
    ]


def _messages(model: Any, factors: list[Any], names: list[Any]) -> list[dict[str, Any]]:
    """Return the messages of every factor of two variables, one edge each way."""
    sent = getattr(model, "messages_", {})
    places = {name: k for k, name in enumerate(names)}
    edges = []
    for k, factor in enumerate(factors):
        scope = [name for name in getattr(factor, "variables", ()) if name in places]
        if len(scope) != 2:
            continue
        for source, goal in (scope, scope[::-1]):
            edge: dict[str, Any] = {"from": places[source], "to": places[goal]}
            message = np.ravel(sent.get((k, goal), ()))
            if len(message) and message.sum() > 0:
                told = ", ".join(f"{v:.3g}" for v in message)
                edge |= {
                    "value": number(message[-1] / message.sum()),
                    "tip": f"message {source} → {goal}: {told}",
                }
            edges.append(edge)
    return edges


def structure_panels(model: Any, material: Material) -> list[Panel]:
    """Return the edges that a search has found so far."""
    edges = _structure(model)
    if edges is None:
        return []
    names, pairs, directed = edges
    return [
        graph("the graph", circle_layout(names), [{"from": i, "to": j} for i, j in pairs], directed=directed)
    ]


def _structure(model: Any) -> Any:
    adjacency = getattr(model, "adjacency_", None)
    if adjacency is not None and np.ndim(adjacency) == 2:
        table = np.asarray(adjacency.toarray() if hasattr(adjacency, "toarray") else adjacency)
        names = list(getattr(model, "variables_", range(len(table))))
        return (
            names,
            [(int(i), int(j)) for i, j in np.argwhere(table != 0)],
            not np.array_equal(table, table.T),
        )
    parents = getattr(model, "parents_", None)
    if isinstance(parents, dict):
        names = list(parents)
        places = {name: k for k, name in enumerate(names)}
        return names, [(places[p], places[c]) for c, ps in parents.items() for p in ps if p in places], True
    return None
