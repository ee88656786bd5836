"""Orders of elimination, their cost, triangulations, and the width of a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.randomness import stream
from gnomon.loops import elimination as loops

HEURISTICS = ("min_fill", "min_neighbors", "min_weight", "weighted_min_fill")
EXACT_NODES = 16  # up to so many the width is computed exactly: 2^n subsets


class Steps(NamedTuple):
    """What an elimination order does to a graph."""

    order: list[int]
    scopes: list[tuple[int, ...]]  # of the joined factor of every step, the eliminated node first
    fill: list[list[tuple[int, int]]]  # edges added in every step

    def width(self) -> int:
        """Return the largest number of neighbors at an elimination."""
        return max((len(scope) - 1 for scope in self.scopes), default=0)

    def sizes(self, cards: Sequence[int]) -> list[int]:
        """Return the number of entries of every joined factor."""
        return [product(cards[v] for v in scope) for scope in self.scopes]


def product(numbers: Iterable[int]) -> int:
    """Return the product as a Python integer, which does not overflow."""
    result = 1
    for number in numbers:
        result *= int(number)
    return result


def eliminate(
    neighbors: Sequence[set[int]], order: Any, cards: Sequence[int], nodes: Iterable[int] | None = None
) -> Steps:
    """Eliminate `nodes` (all when None) in a given order or by a greedy heuristic; ties go to the lighter
    node, then to the first.
    """
    graph = {v: set(near) for v, near in enumerate(neighbors)}
    wanted = set(graph) if nodes is None else set(nodes)
    if not isinstance(order, str):
        return _follow(graph, list(order))
    if order == "best":
        return _best_of_several(neighbors, cards, wanted)
    if order not in HEURISTICS:
        raise DataError(
            f"order must be a list of variables, 'best' or one of {', '.join(HEURISTICS)}; got {order!r}."
            f"{nearest(order, [*HEURISTICS, 'best', 'polytree'])}"
        )
    return _greedy(graph, wanted, COSTS[order], cards, None)


def _follow(graph: dict[int, set[int]], order: list[int]) -> Steps:
    scopes, fill = [], []
    for v in order:
        scope, added = remove(graph, v)
        scopes.append(scope)
        fill.append(added)
    return Steps(order, scopes, fill)


def remove(graph: dict[int, set[int]], v: int) -> tuple[tuple[int, ...], list[tuple[int, int]]]:
    """Take a node out and join its neighbors; return its scope and the edges added."""
    near = sorted(graph.pop(v))
    added = missing_edges(graph, near)
    for a in near:
        graph[a].discard(v)
    for a, b in added:
        graph[a].add(b)
        graph[b].add(a)
    return (v, *near), added


def missing_edges(graph: dict[int, set[int]], near: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pairs among `near` that are not joined."""
    return [(a, b) for a, b in combinations(near, 2) if b not in graph[a]]


def _fill(graph: dict[int, set[int]], v: int, cards: Sequence[int]) -> float:
    near = graph[v]
    return sum(len(near - graph[a]) - 1 for a in near) / 2


def _weight(graph: dict[int, set[int]], v: int, cards: Sequence[int]) -> float:
    return round(sum(math.log(cards[a]) for a in graph[v]) + math.log(cards[v]), 9)


def _weighted_fill(graph: dict[int, set[int]], v: int, cards: Sequence[int]) -> float:
    return float(sum(cards[a] * cards[b] for a, b in missing_edges(graph, sorted(graph[v]))))


def _neighbors(graph: dict[int, set[int]], v: int, cards: Sequence[int]) -> float:
    return float(len(graph[v]))


COSTS: dict[str, Callable[..., float]] = {
    "min_fill": _fill,
    "min_neighbors": _neighbors,
    "min_weight": _weight,
    "weighted_min_fill": _weighted_fill,
}


def _greedy(
    graph: dict[int, set[int]], wanted: set[int], cost: Callable[..., float], cards: Sequence[int], rng: Any
) -> Steps:
    """Eliminate the cheapest node again and again; only costs near the last one are computed anew."""

    def price(v: int) -> tuple[float, float, float]:
        noise = 0.0 if rng is None else float(rng.random())
        return cost(graph, v, cards), noise if rng is not None else _weight(graph, v, cards), v

    order, scopes, fill = _leaves_first(graph, wanted)
    prices = {v: price(v) for v in sorted(wanted - set(order))}
    while prices:
        v = min(prices, key=prices.__getitem__)
        del prices[v]
        scope, added = remove(graph, v)
        order.append(v)
        scopes.append(scope)
        fill.append(added)
        stale = set(scope[1:])
        for a, b in added:  # a common neighbor of a new edge has less to fill in
            stale |= graph[a] & graph[b]
        for u in stale:
            if u in prices:
                prices[u] = price(u)
    return Steps(order, scopes, fill)


def _leaves_first(graph: dict[int, set[int]], wanted: set[int]) -> Steps:
    """Eliminate nodes with at most one neighbor, which is never wrong, until there are none."""
    steps = Steps([], [], [])
    waiting = sorted((v for v in wanted if len(graph[v]) <= 1), reverse=True)
    while waiting:
        v = waiting.pop()
        if v not in graph:
            continue
        scope, added = remove(graph, v)
        steps.order.append(v)
        steps.scopes.append(scope)
        steps.fill.append(added)
        waiting += [u for u in scope[1:] if u in wanted and len(graph[u]) <= 1]
    return steps


def _best_of_several(neighbors: Sequence[set[int]], cards: Sequence[int], wanted: set[int]) -> Steps:
    found = [eliminate(neighbors, name, cards, wanted) for name in HEURISTICS]
    for index in range(16):
        graph = {v: set(near) for v, near in enumerate(neighbors)}
        cost = (_fill, _weighted_fill)[index % 2]
        found.append(_greedy(graph, wanted, cost, cards, stream(0, index)))
    return min(found, key=lambda steps: sum(steps.sizes(cards)))


def clique_tree(steps: Steps) -> tuple[list[tuple[int, ...]], list[tuple[int, int]]]:
    """Return the maximal cliques of the triangulated graph and the edges of a tree that joins them.

    The clique of a node hangs on that of its neighbor that is eliminated next, and is swallowed by it where it
    adds nothing (Blair and Peyton 1993); separators are then as large as they can be.
    """
    position = {v: i for i, v in enumerate(steps.order)}
    own = dict(zip(steps.order, steps.scopes, strict=True))
    above = {v: min(scope[1:], key=position.__getitem__) for v, scope in own.items() if len(scope) > 1}
    cliques: list[tuple[int, ...]] = []
    member: dict[int, int] = {}  # the maximal clique that holds a node's own
    swallowed: dict[int, int] = {}
    edges = []
    for v in steps.order:
        if v in swallowed:
            member[v] = swallowed[v]
        else:
            member[v] = len(cliques)
            cliques.append(tuple(sorted(own[v])))
        up = above.get(v)
        if up is not None and len(own[up]) == len(own[v]) - 1 and up not in swallowed:
            swallowed[up] = member[v]
    for v, up in above.items():
        if member[v] != member[up]:
            edges.append((member[up], member[v]))
    return cliques, edges


def lower_bound(neighbors: Sequence[set[int]]) -> int:
    """Return the minor-min-width bound: contract a node of least degree into its least neighbor, again and
    again; the largest degree met is a lower bound of the treewidth (Gogate and Dechter 2004).
    """
    graph = {v: set(near) for v, near in enumerate(neighbors)}
    bound = 0
    while graph:
        v = min(graph, key=lambda u: (len(graph[u]), u))
        near = graph.pop(v)
        bound = max(bound, len(near))
        for a in near:
            graph[a].discard(v)
        if near:
            u = min(near, key=lambda a: (len(graph[a]), a))
            for a in near - {u}:
                graph[a].add(u)
                graph[u].add(a)
    return bound


def width_bounds(neighbors: Sequence[set[int]], method: str = "auto") -> tuple[int, int, list[int]]:
    """Return a lower and an upper bound of the treewidth, and an order that reaches the upper one."""
    n, ones = len(neighbors), [2] * len(neighbors)
    names = ("min_fill",) if method == "greedy" else ("min_fill", "min_neighbors", "best")
    steps = min((eliminate(neighbors, name, ones) for name in names), key=lambda s: s.width())
    low, high = lower_bound(neighbors), steps.width()
    if low == high or method == "greedy":
        return low, high, steps.order
    if method == "exact" or n <= EXACT_NODES:
        if n > 22:
            raise DataError(f"method='exact' needs 2^n numbers, and the graph has {n} nodes; 22 is the most.")
        order = exact_order(neighbors)
        width = eliminate(neighbors, order, ones).width()
        return width, width, order
    return low, high, steps.order


def exact_order(neighbors: Sequence[set[int]]) -> list[int]:
    """Return an order of least width by dynamic programming over subsets (Bodlaender et al. 2012)."""
    n = len(neighbors)
    masks = np.array([sum(1 << u for u in near) for near in neighbors], dtype=np.int64)
    best, last = np.zeros(1 << n, dtype=np.int8), np.zeros(1 << n, dtype=np.int8)
    loops.width_of_subsets(masks, best, last)
    order, subset = [], (1 << n) - 1
    while subset:
        v = int(last[subset])
        order.append(v)
        subset ^= 1 << v
    return order[::-1]
