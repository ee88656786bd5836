"""What a graph says about independence, and what the numbers say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from gnomon.core.errors import DataError
from gnomon.graphical import dags
from gnomon.graphical.models import net_of
from gnomon.graphical.net import Net, graph_of

PATHS = 1000  # that an explanation looks at, at most


class Verdict(NamedTuple):
    """Whether two sets are separated, and path by path why."""

    path: list[str] | None  # an open one
    blocked: list[tuple[list[str], str, str]]  # path, the node that blocks it, "chain", "fork" or "collider"

    def __str__(self) -> str:
        if self.path is not None:
            return "open: " + " – ".join(self.path)
        words = {
            "chain": "is observed in the middle of a chain",
            "fork": "is an observed common cause",
            "collider": "is a collider, and neither it nor a descendant is observed",
        }
        return "\n".join(
            f"{' – '.join(path)}: blocked, {node} {words[why]}" for path, node, why in self.blocked
        )


def graph_net(model: Any, nodes: Sequence[str] = ()) -> Net:
    """Return a network, or the bare graph of edges, as a net; `nodes` are there even without an edge."""
    if hasattr(model, "_graph"):
        return model._graph()
    if hasattr(model, "_network") or isinstance(model, Net):
        return net_of(model)
    variables, parents = graph_of(model, nodes, None, None)
    dags.topological_order(parents, variables)
    return Net(variables, [(0, 1)] * len(variables), parents, ())


def d_separated(model: Any, A: Any, B: Any, given: Any = ()) -> bool:
    """Tell whether the graph makes A and B independent given other variables."""
    net = graph_net(model)
    a, b, seen = net.numbers(A), net.numbers(B), net.numbers(given)
    both = set(a) & set(b) - set(seen)
    if both:
        raise DataError(f"A and B must have no variable in common; {net.variables[min(both)]!r} is in both.")
    return dags.separated(net.parents, a, b, seen)


def active_path(model: Any, A: Any, B: Any, given: Any = ()) -> Verdict:
    """Return an open path between A and B, or why each path is blocked."""
    net = graph_net(model)
    sources, targets, seen = net.numbers(A), net.numbers(B), set(net.numbers(given))
    names = net.variables
    for a in sources:
        for b in targets:
            path = None if a in seen else dags.open_path(net.parents, a, b, seen)
            if path is not None:
                return Verdict([names[v] for v in path], [])
    near, reasons = dags.neighbors_of(net.parents), []
    for a in sources:
        for b in targets:
            for path in dags.all_paths(near, a, b, PATHS):
                found = dags.blocked_reason(net.parents, path, seen)
                if found is not None:
                    reasons.append(([names[v] for v in path], names[found[0]], found[1]))
    return Verdict(None, reasons)


def independencies(model: Any, max_given: int | None = 1) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return all (a, b, given) that the graph separates, with up to `max_given` variables given (None: all)."""
    net = graph_net(model)
    n = len(net)
    most = n - 2 if max_given is None else min(max_given, n - 2)
    found = []
    for a, b in combinations(range(n), 2):
        rest = [v for v in range(n) if v not in (a, b)]
        for size in range(max(most, 0) + 1):
            for given in combinations(rest, size):
                if dags.separated(net.parents, [a], [b], given):
                    found.append((net.variables[a], net.variables[b], tuple(net.variables[v] for v in given)))
    return found


def local_independencies(model: Any) -> dict[str, tuple[list[str], list[str]]]:
    """Return, for every node, the non-descendants it is independent of given its parents, and the parents."""
    net = graph_net(model)
    found = {}
    for v, name in enumerate(net.variables):
        own = set(net.parents[v])
        others = set(range(len(net))) - dags.descendants(net.parents, [v]) - own
        found[name] = ([net.variables[u] for u in sorted(others)], [net.variables[u] for u in net.parents[v]])
    return found


class ExplainingAway(NamedTuple):
    """What seeing an effect, and then another cause of it, does to a cause."""

    prior: float  # P(cause)
    given_effect: float  # P(cause | effect)
    given_both: float  # P(cause | effect, other)
    verdict: str


def explaining_away(
    model: Any, effect: Mapping[str, Any], cause: Mapping[str, Any], other: Mapping[str, Any]
) -> ExplainingAway:
    """Return how the probability of a cause changes as its effect and then another cause are seen."""
    for name, given in (("effect", effect), ("cause", cause), ("other", other)):
        if not isinstance(given, Mapping) or len(given) != 1:
            raise DataError(
                f"{name} must be one state by name of its variable, such as {{'rain': 'yes'}}; got {given!r}."
            )
    (name, state), *_ = cause.items()
    prior, after, both = (
        float(model.query(name, seen)[state]) for seen in ({}, dict(effect), {**effect, **other})
    )
    shown = (
        f"P({name}={state}) is {prior:.4g}, {after:.4g} with the effect, {both:.4g} with the other cause too"
    )
    if both < after - 1e-12 and after > prior:
        return ExplainingAway(prior, after, both, f"explained away: {shown}.")
    return ExplainingAway(prior, after, both, f"not explained away: {shown}.")
