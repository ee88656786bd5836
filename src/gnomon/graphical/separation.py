"""What a graph says about independence, and what the numbers say."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.distributions.information import mutual_information
from gnomon.distributions.margins import margin, outer_residual, slice_residuals, unfolding_rank
from gnomon.graphical import dags
from gnomon.graphical.factor import Factor
from gnomon.graphical.models import net_of
from gnomon.graphical.net import Net, graph_of, listed

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


def graph_net(model: Any) -> Net:
    """Return a network, or the bare graph of edges, as a net."""
    if hasattr(model, "_graph"):
        return model._graph()
    if hasattr(model, "_network") or isinstance(model, Net):
        return net_of(model)
    variables, parents = graph_of(model, (), None, None)
    dags.topological_order(parents, variables)
    return Net(variables, [(0, 1)] * len(variables), parents, ())


def d_separated(model: Any, A: Any, B: Any, given: Any = ()) -> bool:
    """Tell whether the graph makes A and B independent given other variables.

    A path is blocked by a chain or fork whose middle is observed, and by a collider of which neither itself
    nor a descendant is. A and B are separated when every path is blocked; then they are independent whatever
    the numbers in the tables. Found in linear time by Bayes ball (Shachter 1998).

    Parameters
    ----------
    model : BayesianNetwork, LinearGaussianNetwork, or list of edges
    A, B, given : str or list of str

    Examples
    --------
    >>> edges = [("rain", "wet"), ("sprinkler", "wet"), ("wet", "slippery")]
    >>> d_separated(edges, "rain", "sprinkler"), d_separated(edges, "rain", "sprinkler", "slippery")
    (True, False)
    """
    net = graph_net(model)
    a, b, seen = net.numbers(A), net.numbers(B), net.numbers(given)
    both = set(a) & set(b) - set(seen)
    if both:
        raise DataError(f"A and B must have no variable in common; {net.variables[min(both)]!r} is in both.")
    return dags.separated(net.parents, a, b, seen)


def active_path(model: Any, A: Any, B: Any, given: Any = ()) -> Verdict:
    """Return an open path between A and B, or why each path is blocked.

    Examples
    --------
    >>> edges = [("rain", "wet"), ("sprinkler", "wet")]
    >>> print(active_path(edges, "rain", "sprinkler"))
    rain – wet – sprinkler: blocked, wet is a collider, and neither it nor a descendant is observed
    >>> active_path(edges, "rain", "sprinkler", "wet").path
    ['rain', 'wet', 'sprinkler']
    """
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


class Gap(NamedTuple):
    """How far a table is from independence: zero, rank one and zero when the variables are independent."""

    mutual_information: float  # in nats, of the first axis and the others
    rank: int  # the largest of the unfoldings
    residual: float  # largest difference to the outer product of the margins


def independence_gap(table: Any) -> Gap:
    """Return how far a joint table of two or more variables is from the outer product of its margins.

    Parameters
    ----------
    table : array, Factor or JointTable
        Probabilities or counts.

    Examples
    --------
    >>> independence_gap(np.outer([0.2, 0.8], [0.5, 0.5]))
    Gap(mutual_information=0.0, rank=1, residual=0.0)
    """
    P = np.asarray(table.normalize()[0].table if isinstance(table, Factor) else table, dtype=np.float64)
    if P.ndim < 2 or not np.isfinite(P).all() or (P < 0).any() or not P.sum() > 0:
        raise DataError("table must hold probabilities or counts of at least two variables, not all zero.")
    P = P / P.sum()
    information = max(0.0, float(mutual_information(P.reshape(P.shape[0], -1))))
    return Gap(information if information > 1e-15 else 0.0, unfolding_rank(P), outer_residual(P))


def is_independent(model: Any, A: Any, B: Any, given: Any = (), *, tol: float = 1e-9) -> bool:
    """Tell whether the numbers make A and B independent given other variables.

    Every slice of the joint table must be the outer product of its margins, that is of rank one. A graph may
    not show an independence that the numbers have; it never shows one that they have not.

    Parameters
    ----------
    model : BayesianNetwork, MarkovRandomField, Factor or JointTable
    A, B, given : str or list of str
    tol : float, default=1e-9

    Examples
    --------
    >>> from gnomon.datasets import load_network
    >>> coins = load_network("coins")
    >>> is_independent(coins, "x1", "x2"), is_independent(coins, "x1", "x2", "x3")
    (True, False)
    """
    a, b, c = listed(A), listed(B), listed(given)
    names = list(dict.fromkeys([*c, *a, *b]))
    if len(names) < len(a) + len(b) + len(c):
        raise DataError("A, B and given must have no variable in common.")
    joint = _joint(model, names)
    sizes = [joint.shape[names.index(v)] for v in a]
    shape = (*joint.shape[: len(c)], int(np.prod(sizes)), -1)
    return bool((slice_residuals(joint.reshape(shape)) <= tol).all())


def _joint(model: Any, names: Sequence[str]) -> Array:
    """The joint table of some variables of whatever has one."""
    if hasattr(model, "query"):
        return model.query(list(names)).table
    if isinstance(model, Factor):
        factor = model.normalize()[0]
        return margin(factor.table, factor._axes(names))
    if hasattr(model, "marginal") and hasattr(model, "P"):
        return model.marginal(list(names)).P
    raise DataError(f"model must be a network, a Factor or a JointTable; got {type(model).__name__}.")


class ExplainingAway(NamedTuple):
    """What seeing an effect, and then another cause of it, does to a cause."""

    prior: float  # P(cause)
    given_effect: float  # P(cause | effect)
    given_both: float  # P(cause | effect, other)
    verdict: str


def explaining_away(
    model: Any, effect: dict[str, Any], cause: dict[str, Any], other: dict[str, Any]
) -> ExplainingAway:
    """Return how the probability of a cause changes as its effect and then another cause are seen.

    Parameters
    ----------
    model : BayesianNetwork
    effect, cause, other : dict
        One state each, by name of the variable.

    Examples
    --------
    >>> from gnomon.datasets import load_network
    >>> story = load_network("alarm_story")
    >>> found = explaining_away(story, {"alarm": "yes"}, {"burglary": "yes"}, {"radio": "yes"})
    >>> round(found.given_effect, 4), round(found.given_both, 4)
    (0.5025, 0.01)
    """
    for name, given in (("effect", effect), ("cause", cause), ("other", other)):
        if not isinstance(given, dict) or len(given) != 1:
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
