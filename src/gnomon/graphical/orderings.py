"""Different drawings of one distribution: parameter counts, reordered and reversed arrows, equivalence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.distributions.margins import divided
from gnomon.graphical import dags
from gnomon.graphical.factor import contract
from gnomon.graphical.inference import inference_plan
from gnomon.graphical.net import Net, listed
from gnomon.graphical.separation import graph_net

ALL_ORDERS = 8  # variables up to which all n! orders are looked at


def parameter_count(net: Net, structure: str = "network", given: str | None = None) -> int:
    """Return how many free numbers the network, or another model of the same variables, needs."""
    sizes, names = net.cards, net.variables
    if structure == "network":
        return net.parameter_count()
    if structure == "full":
        return math.prod(sizes) - 1
    if structure == "independent":
        return sum(sizes) - len(sizes)
    if structure == "conditional":
        if given not in names:
            raise DataError(f"structure='conditional' needs given= one of {list(names)}; got {given!r}.")
        s = sizes[names.index(given)]
        return s * sum(k - 1 for v, k in zip(names, sizes, strict=True) if v != given) + s - 1
    raise DataError(
        f"structure must be 'network', 'full', 'independent' or 'conditional'; got {structure!r}."
    )


def minimal_parents(parents: dags.Parents, order: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the minimal I-map of a graph for an order: the fewest predecessors that separate from the rest.

    Predecessors are dropped one by one as long as the remaining ones separate; for d-separation the result does
    not depend on the order of dropping (it is a graphoid with intersection).
    """
    found: list[tuple[int, ...]] = [() for _ in parents]
    for position, v in enumerate(order):
        before = list(order[:position])
        kept = list(before)
        for u in before:
            rest = [w for w in kept if w != u]
            if dags.separated(parents, [v], [w for w in before if w not in rest], rest):
                kept = rest
        found[v] = tuple(kept)
    return found


def reordered(net: Net, order: Any) -> Net:
    """Return the same distribution with arrows along another order."""
    numbers = net.numbers(order)
    if sorted(numbers) != list(range(len(net))):
        raise DataError(f"order must list each of {list(net.variables)} once; got {list(order)}.")
    parents = minimal_parents(net.parents, numbers)
    tables = [conditional_table(net, v, parents[v]) for v in range(len(net))]
    return Net(net.variables, net.states, parents, tables)


def conditional_table(net: Net, v: int, given: Sequence[int]) -> Array:
    """Return P(v | given) by inference; rows that cannot happen are uniform."""
    names = [net.variables[u] for u in (*given, v)]
    joint = inference_plan(net, names).run().table
    return conditional_rows(joint)


def conditional_rows(joint: Array) -> Array:
    """Return P(last axis | others), uniform where the others have probability zero."""
    sums = joint.sum(axis=-1, keepdims=True)
    return np.where(sums > 0, divided(joint, sums), 1.0 / joint.shape[-1])


def edge_reversed(net: Net, a: int, b: int) -> Net:
    """Return the same distribution with a → b turned; each gets the other's parents (Shachter 1986)."""
    if a not in net.parents[b]:
        raise DataError(f"there is no edge {net.variables[a]!r} → {net.variables[b]!r} to turn.")
    others = [p for p in net.parents[b] if p != a]
    if b in dags.descendants(net.parents, [v for v in dags.children_of(net.parents)[a] if v != b]):
        raise DataError(
            f"turning {net.variables[a]!r} → {net.variables[b]!r} would make a cycle: another path leads from one to "
            "the other. Turn that first."
        )
    shared = [*net.parents[a], *(p for p in others if p not in net.parents[a])]
    names = [net.variables[v] for v in (*shared, b, a)]
    joint = contract([net.factor(a), net.factor(b)], names).values
    parents, tables = list(net.parents), list(net.tables)
    parents[b], parents[a] = tuple(shared), (*shared, b)
    tables[b], tables[a] = conditional_rows(joint.sum(axis=-1)), conditional_rows(joint)
    return Net(net.variables, net.states, parents, tables)


def compare_orderings(net: Net, orders: Iterable[Sequence[str]] | None = None, n_orders: int = 1000) -> Any:
    """Return the parameters that each order of the variables needs, fewest first."""
    pd = import_pandas()
    rows = []
    for order in _orders(net, orders, n_orders):
        parents = minimal_parents(net.parents, order)
        count = sum((net.cards[v] - 1) * math.prod(net.cards[p] for p in parents[v]) for v in range(len(net)))
        rows.append((tuple(net.variables[v] for v in order), count))
    rows.sort(key=lambda row: row[1])
    return pd.DataFrame(rows, columns=["order", "parameters"])


def _orders(net: Net, orders: Any, n_orders: int) -> list[Sequence[int]]:
    if orders is not None:
        return [net.numbers(order) for order in orders]
    if len(net) <= ALL_ORDERS:
        return list(permutations(range(len(net))))
    rng = generator(0)
    return [net.order, *(rng.permutation(len(net)).tolist() for _ in range(n_orders))]


def equivalent(first: Any, second: Any) -> bool:
    """Tell whether two graphs have the same skeleton and the same unshielded colliders."""
    one = graph_net(first)
    other = graph_net(second, one.variables)  # edges alone do not tell of variables without any
    if set(one.variables) != set(other.variables):
        return False
    place = [other.index[name] for name in one.variables]
    back = {v: i for i, v in enumerate(place)}
    parents = [tuple(back[p] for p in other.parents[v]) for v in place]
    same = dags.same_skeleton(one.parents, parents)
    return same and dags.v_structures(one.parents) == dags.v_structures(parents)


def pattern_edges(net: Net) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the directed and the undirected edges that all equivalent graphs share, by name."""
    directed, undirected = dags.pattern(net.parents)
    names = net.variables
    return [(names[a], names[b]) for a, b in sorted(directed)], [
        (names[a], names[b]) for a, b in sorted(undirected)
    ]


def treewidth(graph: Any, method: str = "auto") -> tuple[int, int, list[str]]:
    """Return a lower bound and an upper bound of the treewidth of a graph, and an order that reaches the upper.

    The cost of exact inference is exponential in it. Networks are moralized first.

    Parameters
    ----------
    graph : BayesianNetwork, MarkovRandomField, FactorGraph, or list of undirected edges
    method : {"auto", "exact", "greedy"}, default="auto"
        "auto" is exact up to 16 nodes (dynamic programming over subsets), and wherever the bounds meet.

    Examples
    --------
    >>> treewidth([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])[:2]
    (2, 2)
    """
    from gnomon.graphical.elimination import width_bounds

    if method not in ("auto", "exact", "greedy"):
        raise DataError(f"method must be 'auto', 'exact' or 'greedy'; got {method!r}.")
    names, neighbors = _undirected(graph)
    low, high, order = width_bounds(neighbors, method)
    return low, high, [names[v] for v in order]


def _undirected(graph: Any) -> tuple[Sequence[str], list[set[int]]]:
    if hasattr(graph, "_graph") or isinstance(graph, Net):
        net = graph_net(graph)
        return net.variables, dags.moral(net.parents)
    if hasattr(graph, "factors"):
        cliques: Any = [factor.variables for factor in graph.factors]
    else:
        cliques = [tuple(listed(edge)) for edge in graph]
    names = list(dict.fromkeys(v for clique in cliques for v in clique))
    index = {name: v for v, name in enumerate(names)}
    neighbors: list[set[int]] = [set() for _ in names]
    for clique in cliques:
        for v in clique:
            neighbors[index[v]] |= {index[u] for u in clique} - {index[v]}
    return names, neighbors
