"""What the messages of a factor graph say: the best joint state and its value, and messages by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.linalg import Array


def decode(work: Any, inward: Array, beliefs: Array) -> Array:
    """Return the codes of a joint state of largest value, factor by factor from the first variable."""
    graph = work.graph
    codes = np.full(len(work.belief_start) - 1, -1, dtype=np.int64)
    for root in range(len(codes)):
        if codes[root] >= 0:
            continue
        codes[root] = int(np.argmax(beliefs[work.belief_start[root] : work.belief_start[root + 1]]))
        waiting = [root]
        for v in waiting:
            for j in range(graph.variable_start[v], graph.variable_start[v + 1]):
                _decide_factor(graph, int(graph.factor[graph.variable_edge[j]]), inward, codes, waiting)
    return codes


def log_value(work: Any, codes: Array) -> float:
    """Return ln of the product of all factors at a joint state."""
    graph, value = work.graph, work.log_scale
    with np.errstate(divide="ignore"):
        for f in range(len(graph.edge_start) - 1):
            edges = range(int(graph.edge_start[f]), int(graph.edge_start[f + 1]))
            place = sum(int(graph.stride[e]) * int(codes[graph.variable[e]]) for e in edges)
            value += float(np.log(graph.tables[graph.table_start[f] + place]))
    return value


def _decide_factor(graph: Any, f: int, inward: Array, codes: Array, waiting: list[int]) -> None:
    """Choose the best states of a factor's undecided variables given the decided ones."""
    edges = range(int(graph.edge_start[f]), int(graph.edge_start[f + 1]))
    if all(codes[graph.variable[e]] >= 0 for e in edges):
        return
    table = graph.tables[graph.table_start[f] : graph.table_start[f + 1]].reshape(
        [int(graph.card[e]) for e in edges]
    )
    table = table.copy()
    for axis, e in enumerate(edges):
        shape = [-1 if i == axis else 1 for i in range(table.ndim)]
        known = codes[graph.variable[e]]
        message = inward[graph.start[e] : graph.start[e] + graph.card[e]]
        table = table * (message if known < 0 else np.eye(len(message))[known]).reshape(shape)
    best = np.unravel_index(int(np.argmax(table)), table.shape)
    for code, e in zip(best, edges, strict=True):
        v = int(graph.variable[e])
        if codes[v] < 0:
            codes[v] = code
            waiting.append(v)


def named_messages(
    scopes: Sequence[Sequence[str]], states: Any, inward: Array, outward: Array
) -> dict[Any, Array]:
    """Return all messages by (factor number, variable) and, the other way, by (variable, factor number)."""
    found, place = {}, 0
    for f, scope in enumerate(scopes):
        for name in scope:
            size = len(states[name])
            found[f, name] = outward[place : place + size]
            found[name, f] = inward[place : place + size]
            place += size
    return found
