"""Cliques of a triangulated graph and the tree that joins them, planned by size and laid out as arrays.

The compiled loops know `TreeArrays` by this address.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.graphical.elimination import Steps, clique_tree, eliminate, product
from gnomon.graphical.factor import Factor
from gnomon.graphical.offsets import ints, starts


class TreeArrays(NamedTuple):
    """A junction tree as the loops read it; see `gnomon.loops.junction`."""

    cards: Array  # states of every variable
    card_start: Array  # where a variable's states begin in a vector of all
    axis_start: Array  # where a clique's axes begin
    axis: Array  # the variables of the cliques
    table_start: Array
    order: Array  # cliques, roots first
    parent: Array  # -1 for a root
    message_start: Array
    to_own: Array  # strides of a clique's axes in the separator to its parent
    child_start: Array
    to_child: Array  # strides of the parent's axes in the same separator
    home: Array  # a smallest clique of every variable
    state_start: Array
    to_state: Array  # strides of the home's axes in the variable alone
    family_home: Array
    family_start: Array
    to_family: Array  # strides of the family home's axes in the family's table
    family_table_start: Array
    widest: int


class Plan(NamedTuple):
    """Cliques and tree of a triangulated graph, before any number is computed."""

    steps: Steps
    cliques: list[tuple[int, ...]]
    edges: list[tuple[int, int]]
    sizes: list[int]

    def total(self) -> int:
        """Return the number of entries of all cliques."""
        return sum(self.sizes)


def plan_tree(neighbors: Sequence[set[int]], cards: Sequence[int], order: Any) -> Plan:
    """Triangulate and return the cliques with the tree that joins them."""
    steps = eliminate(neighbors, order, cards)
    if len(steps.order) != len(neighbors):
        raise DataError(f"order must list each of the {len(neighbors)} variables once.")
    cliques, edges = clique_tree(steps)
    sizes = [product(cards[v] for v in clique) for clique in cliques]
    return Plan(steps, cliques, edges, sizes)


def strides(axes: Sequence[int], inner: Sequence[int], cards: Sequence[int]) -> list[int]:
    """Return, for every axis of a clique, its stride in a C-ordered table over `inner`."""
    step, found = 1, {}
    for v in reversed(list(inner)):
        found[v] = step
        step *= cards[v]
    return [found.get(v, 0) for v in axes]


def arrays_of(plan: Plan, families: Sequence[Sequence[int]], cards: Sequence[int]) -> TreeArrays:
    """Return the arrays of a plan; families are the scopes of the tables to multiply in."""
    cliques, n = plan.cliques, len(cards)
    near: list[list[int]] = [[] for _ in cliques]
    for a, b in plan.edges:
        near[a].append(b)
        near[b].append(a)
    order, parent = [], [-1] * len(cliques)
    seen = [False] * len(cliques)
    for root in sorted(range(len(cliques)), key=lambda c: -plan.sizes[c]):
        waiting = [] if seen[root] else [root]
        seen[root] = True
        while waiting:
            c = waiting.pop()
            order.append(c)
            for d in near[c]:
                if not seen[d]:
                    seen[d], parent[d] = True, c
                    waiting.append(d)
    to_own, to_child, child_start, separators = [], [], [0], []
    for c, clique in enumerate(cliques):
        up = cliques[parent[c]] if parent[c] >= 0 else ()
        separator = [v for v in clique if v in set(up)]
        separators.append(product(cards[v] for v in separator) if parent[c] >= 0 else 0)
        to_own += strides(clique, separator, cards)
        to_child += strides(up, separator, cards)
        child_start.append(len(to_child))
    holders: list[list[int]] = [[] for _ in range(n)]
    for c in sorted(range(len(cliques)), key=lambda c: plan.sizes[c]):
        for v in cliques[c]:
            holders[v].append(c)
    home = [own[0] for own in holders]
    sets = [set(clique) for clique in cliques]
    family_home = [
        next(c for c in holders[family[-1]] if sets[c].issuperset(family)) if family else 0
        for family in families
    ]
    to_state, to_family = [], []
    state_start, family_start = [0], [0]
    for v in range(n):
        to_state += strides(cliques[home[v]], [v], cards)
        state_start.append(len(to_state))
    for f, family in enumerate(families):
        to_family += strides(cliques[family_home[f]], family, cards)
        family_start.append(len(to_family))
    return TreeArrays(
        ints(cards),
        starts(cards),
        starts([len(clique) for clique in cliques]),
        ints([v for clique in cliques for v in clique]),
        starts(plan.sizes),
        ints(order),
        ints(parent),
        starts(separators),
        ints(to_own),
        ints(child_start),
        ints(to_child),
        ints(home),
        ints(state_start),
        ints(to_state),
        ints(family_home),
        ints(family_start),
        ints(to_family),
        starts([product(cards[v] for v in family) for family in families]),
        max((len(clique) for clique in cliques), default=1),
    )


def graph_of_factors(factors: Sequence[Factor]) -> tuple[Any, ...]:
    """Variables, states, scopes, tables and neighbors of a list of factors."""
    variables = list(dict.fromkeys(name for factor in factors for name in factor.variables))
    index = {name: v for v, name in enumerate(variables)}
    states: dict[str, Any] = {}
    for factor in factors:
        for name, own in factor.states.items():
            if states.setdefault(name, own) != own:
                raise DataError(
                    f"two factors name the states of {name!r} differently: {states[name]} and {own}."
                )
    families = [tuple(index[name] for name in factor.variables) for factor in factors]
    neighbors: list[set[int]] = [set() for _ in variables]
    for family in families:
        for v in family:
            neighbors[v] |= set(family) - {v}
    return variables, [states[name] for name in variables], families, [f.table for f in factors], neighbors
