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


def rooted(plan: Plan) -> tuple[list[int], list[int]]:
    """Return the cliques from the roots down, and the parent of each (-1 for a root); roots are the largest."""
    near: list[list[int]] = [[] for _ in plan.cliques]
    for a, b in plan.edges:
        near[a].append(b)
        near[b].append(a)
    order, parent = [], [-1] * len(near)
    seen = [False] * len(near)
    for root in sorted(range(len(near)), key=lambda c: -plan.sizes[c]):
        waiting = [] if seen[root] else [root]
        seen[root] = True
        while waiting:
            c = waiting.pop()
            order.append(c)
            for d in near[c]:
                if not seen[d]:
                    seen[d], parent[d] = True, c
                    waiting.append(d)
    return order, parent


def homes(plan: Plan, families: Sequence[Sequence[int]], n: int) -> tuple[list[int], list[int]]:
    """Return a smallest clique that holds each variable, and one that holds each family."""
    holders: list[list[int]] = [[] for _ in range(n)]
    for c in sorted(range(len(plan.cliques)), key=lambda c: plan.sizes[c]):
        for v in plan.cliques[c]:
            holders[v].append(c)
    sets = [set(clique) for clique in plan.cliques]
    of_families = [
        next(c for c in holders[family[-1]] if sets[c].issuperset(family)) if family else 0
        for family in families
    ]
    return [own[0] for own in holders], of_families


def arrays_of(plan: Plan, families: Sequence[Sequence[int]], cards: Sequence[int]) -> TreeArrays:
    """Return the arrays of a plan; families are the scopes of the tables to multiply in."""
    cliques = plan.cliques
    order, parent = rooted(plan)
    home, family_home = homes(plan, families, len(cards))
    upper = [cliques[p] if p >= 0 else () for p in parent]
    separators = [[v for v in clique if v in up] for clique, up in zip(cliques, upper, strict=True)]
    to_own = [strides(clique, own, cards) for clique, own in zip(cliques, separators, strict=True)]
    to_child = [strides(up, own, cards) for up, own in zip(upper, separators, strict=True)]
    to_state = [strides(cliques[c], [v], cards) for v, c in enumerate(home)]
    to_family = [strides(cliques[c], family, cards) for c, family in zip(family_home, families, strict=True)]
    return TreeArrays(
        cards=ints(cards),
        card_start=starts(cards),
        axis_start=starts([len(clique) for clique in cliques]),
        axis=flat(cliques),
        table_start=starts(plan.sizes),
        order=ints(order),
        parent=ints(parent),
        message_start=starts(
            [
                product(cards[v] for v in own) if p >= 0 else 0
                for own, p in zip(separators, parent, strict=True)
            ]
        ),
        to_own=flat(to_own),
        child_start=starts([len(part) for part in to_child]),
        to_child=flat(to_child),
        home=ints(home),
        state_start=starts([len(part) for part in to_state]),
        to_state=flat(to_state),
        family_home=ints(family_home),
        family_start=starts([len(part) for part in to_family]),
        to_family=flat(to_family),
        family_table_start=starts([product(cards[v] for v in family) for family in families]),
        widest=max((len(clique) for clique in cliques), default=1),
    )


def flat(parts: Sequence[Sequence[int]]) -> Array:
    """Return lists of numbers as one array."""
    return ints([number for part in parts for number in part])


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
