"""Directed acyclic graphs as tuples of parent tuples: orders, ancestors, separation, equivalence.

Nodes are numbers 0 … n − 1 here; names are the business of the caller.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import combinations

from gnomon.core.errors import DataError

Parents = Sequence[Sequence[int]]


def topological_order(parents: Parents, names: Sequence[str]) -> list[int]:
    """Return the nodes, parents first and otherwise in their own order; a cycle is an error that prints it."""
    children = children_of(parents)
    waiting = [len(own) for own in parents]
    ready = [v for v in range(len(parents)) if not waiting[v]]
    order: list[int] = []
    while ready:
        v = ready.pop(0)
        order.append(v)
        freed = []
        for child in children[v]:
            waiting[child] -= 1
            if not waiting[child]:
                freed.append(child)
        ready = sorted(ready + freed) if freed else ready
    if len(order) < len(parents):
        path = " → ".join(names[v] for v in find_cycle(parents))
        raise DataError(f"the graph has a cycle: {path}. Remove or turn one of its edges.")
    return order


def find_cycle(parents: Parents) -> list[int]:
    """Return the nodes of a directed cycle, its first node again at the end; empty when there is none."""
    children, color = children_of(parents), [0] * len(parents)
    for root in range(len(parents)):
        if color[root]:
            continue
        path, stack = [root], [iter(children[root])]
        color[root] = 1
        while stack:
            for child in stack[-1]:
                if color[child] == 1:
                    return [*path[path.index(child) :], child]
                if color[child] == 0:
                    color[child] = 1
                    path.append(child)
                    stack.append(iter(children[child]))
                    break
            else:
                color[path.pop()] = 2
                stack.pop()
    return []


def children_of(parents: Parents) -> list[list[int]]:
    """Return the children of every node, in order."""
    children: list[list[int]] = [[] for _ in parents]
    for child, own in enumerate(parents):
        for parent in own:
            children[parent].append(child)
    return children


def ancestors(parents: Parents, nodes: Iterable[int]) -> set[int]:
    """Return the nodes and all their ancestors."""
    found, waiting = set(), list(nodes)
    while waiting:
        v = waiting.pop()
        if v not in found:
            found.add(v)
            waiting.extend(parents[v])
    return found


def descendants(parents: Parents, nodes: Iterable[int]) -> set[int]:
    """Return the nodes and all their descendants."""
    return ancestors(children_of(parents), nodes)


def reachable(parents: Parents, sources: Iterable[int], given: Iterable[int]) -> set[int]:
    """Return the nodes that are d-connected to the sources given the others (Bayes ball, linear time).

    Shachter (1998), Bayes-ball: the rational pastime.
    """
    children, seen = children_of(parents), set(given)
    above = ancestors(parents, seen)  # a collider is open when it or a descendant is seen
    found: set[int] = set()
    visited: set[tuple[int, bool]] = set()
    waiting = [(v, True) for v in sources]  # True: the ball comes from a child
    while waiting:
        v, from_child = waiting.pop()
        if (v, from_child) in visited:
            continue
        visited.add((v, from_child))
        if v not in seen:
            found.add(v)
        if from_child and v not in seen:
            waiting += [(p, True) for p in parents[v]]
            waiting += [(c, False) for c in children[v]]
        elif not from_child:
            if v not in seen:
                waiting += [(c, False) for c in children[v]]
            if v in above:
                waiting += [(p, True) for p in parents[v]]
    return found


def separated(parents: Parents, A: Iterable[int], B: Iterable[int], given: Iterable[int]) -> bool:
    """Tell whether every path between A and B is blocked by `given`."""
    seen = set(given)
    targets = set(B) - seen
    return not targets & reachable(parents, set(A) - seen, seen)


def markov_blanket(parents: Parents, v: int) -> set[int]:
    """Return parents, children and the children's other parents."""
    children = children_of(parents)[v]
    found = {*parents[v], *children}
    for child in children:
        found.update(parents[child])
    return found - {v}


def neighbors_of(parents: Parents) -> list[set[int]]:
    """Return the graph without the directions of its edges."""
    neighbors: list[set[int]] = [set() for _ in parents]
    for child, own in enumerate(parents):
        for parent in own:
            neighbors[child].add(parent)
            neighbors[parent].add(child)
    return neighbors


def moral(parents: Parents) -> list[set[int]]:
    """Return the moral graph: parents of a common child are married, and directions dropped."""
    neighbors = neighbors_of(parents)
    for own in parents:
        for a, b in combinations(own, 2):
            neighbors[a].add(b)
            neighbors[b].add(a)
    return neighbors


def components(neighbors: Sequence[Iterable[int]]) -> list[list[int]]:
    """Return the connected components of an undirected graph, each in order."""
    seen: set[int] = set()
    found = []
    for root in range(len(neighbors)):
        if root not in seen:
            part = ancestors(neighbors, [root])  # type: ignore[arg-type]
            seen |= part
            found.append(sorted(part))
    return found


def is_polytree(parents: Parents) -> bool:
    """Tell whether no two nodes are joined by more than one path, directions aside."""
    neighbors = neighbors_of(parents)
    edges = sum(len(own) for own in parents)
    return edges == len(parents) - len(components(neighbors))


def v_structures(parents: Parents) -> set[tuple[int, int, int]]:
    """Return the unshielded colliders a → c ← b as (a, c, b) with a < b."""
    neighbors = neighbors_of(parents)
    return {
        (min(a, b), c, max(a, b))
        for c, own in enumerate(parents)
        for a, b in combinations(own, 2)
        if b not in neighbors[a]
    }


def same_skeleton(first: Parents, second: Parents) -> bool:
    """Tell whether two graphs have the same edges, directions aside."""
    return neighbors_of(first) == neighbors_of(second)


def pattern(parents: Parents) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Return the completed pattern of a graph's equivalence class: directed edges, and undirected ones (a < b)."""
    directed = set()
    for a, c, b in v_structures(parents):
        directed |= {(a, c), (b, c)}
    skeleton = {(min(a, b), max(a, b)) for b, own in enumerate(parents) for a in own}
    undirected = {edge for edge in skeleton if edge not in directed and edge[::-1] not in directed}
    return apply_meek_rules(len(parents), directed, undirected)


def apply_meek_rules(
    n: int, directed: set[tuple[int, int]], undirected: set[tuple[int, int]]
) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Orient what must be oriented: no new collider, no cycle (Meek 1995, rules 1 to 4)."""
    directed, undirected = set(directed), set(undirected)
    while True:
        turned = next((e for e in sorted(undirected) if _forced(n, directed, undirected, e)), None)
        if turned is None:
            return directed, undirected
        undirected.discard(turned)
        directed.add(turned if _points(n, directed, undirected, *turned) else turned[::-1])


def _forced(n: int, directed: set, undirected: set, edge: tuple[int, int]) -> bool:
    return _points(n, directed, undirected, *edge) or _points(n, directed, undirected, *edge[::-1])


def _points(n: int, directed: set, undirected: set, a: int, b: int) -> bool:
    """Tell whether a – b must become a → b."""

    def joined(u: int, v: int) -> bool:
        return (u, v) in directed or (v, u) in directed or (min(u, v), max(u, v)) in undirected

    def open_edge(u: int, v: int) -> bool:
        return (min(u, v), max(u, v)) in undirected and (u, v) != (a, b) and (v, u) != (a, b)

    into_b = [c for c in range(n) if (c, b) in directed]
    if any((c, a) in directed and not joined(c, b) for c in range(n)):
        return True
    if any((a, c) in directed for c in into_b):
        return True
    sides = [c for c in into_b if open_edge(a, c)]
    if any(not joined(c, d) for c, d in combinations(sides, 2)):
        return True
    return any(
        open_edge(a, d) and not joined(d, b) and any((d, c) in directed and joined(a, c) for c in into_b)
        for d in range(n)
    )


def blocked_reason(parents: Parents, path: Sequence[int], given: set[int]) -> tuple[int, str] | None:
    """Return the first node that blocks a path and why ("chain", "fork", "collider"), or None when it is open."""
    above = ancestors(parents, given)
    for a, v, b in zip(path, path[1:], path[2:]):
        if a in parents[v] and b in parents[v]:
            if v not in above:
                return v, "collider"
        elif v in given:
            return v, "fork" if v in parents[a] and v in parents[b] else "chain"
    return None


def open_path(parents: Parents, a: int, b: int, given: set[int]) -> list[int] | None:
    """Return a shortest open path between two nodes, or None.

    A shortest walk of the Bayes ball is a path or bends twice through a node; such detours are cut out.
    """
    children, above = children_of(parents), ancestors(parents, given)
    start = (a, True)
    before: dict[tuple[int, bool], tuple[int, bool] | None] = {start: None}
    waiting = deque([start])
    while waiting:
        v, from_child = state = waiting.popleft()
        if v == b and v not in given:
            return _simple(parents, _walk(before, state), given)
        moves: list[tuple[int, bool]] = []
        if from_child and v not in given:
            moves = [(p, True) for p in parents[v]] + [(c, False) for c in children[v]]
        elif not from_child:
            moves = [(c, False) for c in children[v]] if v not in given else []
            moves += [(p, True) for p in parents[v]] if v in above else []
        for move in moves:
            if move not in before:
                before[move] = state
                waiting.append(move)
    return None


def _walk(before: dict, state: tuple[int, bool] | None) -> list[int]:
    walk = []
    while state is not None:
        walk.append(state[0])
        state = before[state]
    return walk[::-1]


def _simple(parents: Parents, walk: list[int], given: set[int]) -> list[int]:
    """Cut a walk that visits a node twice down to an open path."""
    for i, v in enumerate(walk):
        last = len(walk) - 1 - walk[::-1].index(v)
        if last > i:
            shorter = [*walk[:i], *walk[last:]]
            return _simple(parents, shorter, given)
    return walk


def all_paths(neighbors: Sequence[set[int]], a: int, b: int, limit: int) -> list[list[int]]:
    """Return the simple paths between two nodes, at most `limit` of them, short ones first."""
    found: list[list[int]] = []
    waiting = deque([[a]])
    while waiting and len(found) < limit and len(waiting) < 100 * limit:
        path = waiting.popleft()
        for v in sorted(neighbors[path[-1]]):
            if v == b:
                found.append([*path, b])
            elif v not in path:
                waiting.append([*path, v])
    return found[:limit]
