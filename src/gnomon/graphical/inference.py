"""Exact queries by summing out one variable after the other, with the cost known before they run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.graphical import dags
from gnomon.graphical.elimination import Steps, eliminate, product
from gnomon.graphical.evidence import impossible
from gnomon.graphical.factor import MAX_ENTRIES, Factor, contract, expanded, guard, rescaled
from gnomon.graphical.models import net_or_factors
from gnomon.graphical.net import Net, listed

ENUMERATION_LIMIT = 10**8  # terms


class Problem(NamedTuple):
    """A query as factors over numbered variables: evidence is cut out, soft evidence multiplied in."""

    variables: Sequence[str]
    cards: Sequence[int]
    factors: list[Factor]  # that touch the query
    aside: list[Factor]  # that only tell the probability of the evidence
    targets: list[int]
    hidden: list[int]  # to be summed out for the answer
    pruned: list[int]


def set_problem(
    model: Any, targets: Any, evidence: Any = None, soft_evidence: Any = None, prune: bool = True
) -> Problem:
    """Return the factors of a query, without those that cannot matter.

    Barren nodes go first: unobserved, not asked for, without descendants that are. Then what the evidence
    separates from the query is set aside.
    """
    net, factors = net_or_factors(model)
    if net is None:
        return _problem_of_factors(factors, targets, evidence, soft_evidence)
    wanted, seen = net.numbers(targets), net.evidence(evidence)
    soft = net.likelihoods(soft_evidence)
    _disjoint(net, wanted, seen)
    kept = dags.ancestors(net.parents, [*wanted, *seen, *soft]) if prune else set(range(len(net)))
    found = [_observed(net, net.factor(v), seen) for v in sorted(kept)]
    found += [_unary(net, v, vector, seen) for v, vector in soft.items()]
    return _split(net, found, wanted, seen, kept, prune)


def _disjoint(net: Net, wanted: Sequence[int], seen: Mapping[int, int]) -> None:
    if len(set(wanted)) < len(wanted):
        raise DataError(f"variables must be different; got {[net.variables[v] for v in wanted]}.")
    both = [net.variables[v] for v in wanted if v in seen]
    if both:
        raise DataError(
            f"{both[0]!r} is asked for and observed; take it out of the evidence or of the query."
        )


def _observed(net: Net, factor: Factor, seen: Mapping[int, int]) -> Factor:
    """Cut the observed states out of a factor."""
    index = tuple(
        seen[net.index[v]] if net.index[v] in seen else slice(None)  # type: ignore[misc]
        for v in factor.variables
    )
    kept = [i for i, part in enumerate(index) if isinstance(part, slice)]
    return factor._kept(kept, factor.table[index])


def _unary(net: Net, v: int, vector: Array, seen: Mapping[int, int]) -> Factor:
    name = net.variables[v]
    return _observed(net, Factor._made((name,), vector, {name: net.states[v]}), seen)


def net_of_factors(factors: list[Factor]) -> Net:
    """Return the names and states of factors, as a network without edges and tables."""
    states: dict[str, Any] = {}
    for factor in factors:
        for name, own in factor.states.items():
            if states.setdefault(name, own) != own:
                raise DataError(f"two factors name the states of {name!r} differently.")
    return Net(list(states), list(states.values()), [() for _ in states], ())


def _problem_of_factors(factors: list[Factor], targets: Any, evidence: Any, soft_evidence: Any) -> Problem:
    net = net_of_factors(factors)
    wanted, seen = net.numbers(targets), net.evidence(evidence)
    _disjoint(net, wanted, seen)
    found = [_observed(net, factor, seen) for factor in factors]
    found += [_unary(net, v, vector, seen) for v, vector in net.likelihoods(soft_evidence).items()]
    return _split(net, found, wanted, seen, set(range(len(net))), True)


def _split(
    net: Net, factors: list[Factor], wanted: list[int], seen: Mapping[int, int], kept: set[int], prune: bool
) -> Problem:
    """Set aside the factors that no chain of shared variables joins to the query."""
    near: list[set[int]] = [set() for _ in net.variables]
    for factor in factors:
        scope = [net.index[name] for name in factor.variables]
        for v in scope:
            near[v].update(scope)
    touched = dags.ancestors(near, wanted) if prune else kept - set(seen)  # type: ignore[arg-type]
    mine = [f for f in factors if any(net.index[name] in touched for name in f.variables)]
    aside = [f for f in factors if not any(net.index[name] in touched for name in f.variables)]
    hidden = sorted(touched - set(wanted) - set(seen))
    pruned = sorted(set(range(len(net))) - touched - set(seen) - set(wanted))
    return Problem(net.variables, net.cards, mine, aside, wanted, hidden, pruned)


def graph_of(problem: Problem) -> list[set[int]]:
    """Return which variables share a factor."""
    index = {name: v for v, name in enumerate(problem.variables)}
    near: list[set[int]] = [set() for _ in problem.variables]
    for factor in problem.factors:
        scope = [index[name] for name in factor.variables]
        for v in scope:
            near[v] |= set(scope) - {v}
    return near


class InferencePlan:
    """What a query by elimination will do, before it does it; see `inference_plan`."""

    def __init__(self, problem: Problem, steps: Steps, model: Any, evidence: Any) -> None:
        self._problem, self._steps, self._model, self._evidence = problem, steps, model, evidence
        names = problem.variables
        self.order = [names[v] for v in steps.order]
        self.scopes = [tuple(names[v] for v in scope) for scope in steps.scopes]
        self.fill_in = [[(names[a], names[b]) for a, b in added] for added in steps.fill]
        self.sizes = steps.sizes(problem.cards)
        self.cost = sum(self.sizes)
        self.width = steps.width()
        self.pruned = [names[v] for v in problem.pruned]
        answer = product(problem.cards[v] for v in problem.targets)
        self.largest = max([*self.sizes, answer])
        self.bytes = 8 * self.largest

    def messages(self) -> Iterator[tuple[str, Factor]]:
        """Yield every variable as it is summed out, with the factor that is left of it."""
        yield from self._run([])

    def run(self, max_entries: int = MAX_ENTRIES) -> Factor:
        """Return the answer of the query; `log_evidence` on it is ln P(evidence)."""
        guard([self.largest], max_entries, "the query")
        left: list[Factor] = []
        for _ in self._run(left):
            pass
        problem = self._problem
        names = [problem.variables[v] for v in problem.targets]
        answer = contract([*left, Factor([], 1.0)], names)
        total = float(answer.table.sum())
        if not total > 0:
            raise self._impossible()
        found, log_evidence = answer.normalize()
        found.log_evidence = log_evidence + self._log_aside(max_entries)
        return found

    def _run(self, left: list[Factor]) -> Iterator[tuple[str, Factor]]:
        factors = list(self._problem.factors)
        for name in self.order:
            mine = [f for f in factors if name in f.variables]
            factors = [f for f in factors if name not in f.variables]
            scope = list(dict.fromkeys(v for f in mine for v in f.variables if v != name))
            message = contract(mine, scope) if mine else Factor([], 1.0)
            factors.append(message)
            yield name, message
        left.extend(factors)

    def _log_aside(self, max_entries: int = MAX_ENTRIES) -> float:
        """The logarithm of what the factors aside sum to: evidence that does not touch the query."""
        factors = self._problem.aside
        if not factors:
            return 0.0
        problem = self._problem._replace(factors=factors)
        index = {name: v for v, name in enumerate(problem.variables)}
        hidden = {index[name] for factor in factors for name in factor.variables}
        steps = eliminate(graph_of(problem), "min_fill", problem.cards, hidden)
        plan = InferencePlan(problem._replace(aside=[], targets=[], hidden=[]), steps, None, None)
        guard([plan.largest], max_entries, "the sum over all variables")
        left: list[Factor] = []
        for _ in plan._run(left):
            pass
        value = contract(left, [])
        if not float(value.table) > 0:
            raise self._impossible()
        return float(np.log(value.table) + value.log_scale)

    def _impossible(self) -> Exception:
        net, factors = net_or_factors(self._model)
        model: Net | list[Factor] = factors if net is None else net
        names = net_of_factors(factors) if net is None else net
        return impossible(names, names.evidence(self._evidence), lambda seen: possible(model, names, seen))

    def to_frame(self) -> Any:
        """Return the steps as a pandas DataFrame: variable, the table that is made, its entries, edges added."""
        pd = import_pandas()
        rows = zip(self.order, self.scopes, self.sizes, self.fill_in, strict=True)
        return pd.DataFrame(list(rows), columns=["variable", "table over", "entries", "fill-in"])

    def plot(self, ax: Any = None, *, step: int | None = None) -> Any:
        """Draw the cost of all steps, or the graph before one of them; return the Axes."""
        from gnomon.plot import network

        return network(self, ax=ax, step=step)

    def __repr__(self) -> str:
        return (
            f"InferencePlan(order={self.order}, width={self.width}, cost={self.cost}, bytes={self.bytes}, "
            f"pruned={self.pruned})"
        )


def possible(model: Net | list[Factor], names: Net, seen: Mapping[int, int]) -> bool:
    """Tell whether evidence has positive probability under a network, or under factors over the named variables."""
    if not seen and isinstance(model, Net):
        return True
    evidence = {names.variables[v]: names.states[v][code] for v, code in seen.items()}
    problem = set_problem(model, [], evidence)
    problem = problem._replace(factors=[*problem.factors, *problem.aside], aside=[])
    hidden = {names.index[name] for factor in problem.factors for name in factor.variables}
    steps = eliminate(graph_of(problem), "min_fill", problem.cards, hidden)
    left: list[Factor] = []
    for _ in InferencePlan(problem, steps, None, None)._run(left):
        pass
    return float(contract(left, []).table) > 0


def inference_plan(
    model: Any,
    variables: Any,
    evidence: Mapping[str, Any] | None = None,
    *,
    soft_evidence: Mapping[str, Any] | None = None,
    order: Any = "min_fill",
    prune: bool = True,
) -> InferencePlan:
    """Return how a query would be answered and what it would cost, without running it.

    The cost of summing a variable out is the number of entries of the product of the factors that hold it.
    Finding the best order is itself hard, so orders are found greedily.

    Parameters
    ----------
    model : BayesianNetwork, MarkovRandomField, FactorGraph or list of Factor
    variables : str or list of str
        What is asked for.
    evidence : dict, optional
        Observed states by name of the variable.
    soft_evidence : dict, optional
        A likelihood for every state, by name of the variable.
    order : {"min_fill", "min_neighbors", "min_weight", "weighted_min_fill", "polytree", "best"} or list
        How the variables to be summed out are ordered. "min_fill" adds the fewest edges; "polytree" goes from the
        leaves of the underlying tree towards the query; "best" is the cheapest of several randomized searches.
    prune : bool, default=True
        Leave out what cannot matter: unobserved descendants, and what the evidence separates from the query.

    Returns
    -------
    InferencePlan
        With `order`, `scopes`, `sizes`, `fill_in`, `cost`, `width`, `largest`, `bytes`, `pruned`; ``messages()`` runs
        it step by step, ``run()`` to its end, ``plot()`` draws it.

    Examples
    --------
    >>> from gnomon.datasets import load_network
    >>> plan = inference_plan(load_network("asia"), "xray", order=["asia", "smoke", "tub", "lung", "either"])
    >>> plan.cost, plan.width, plan.pruned
    (24, 2, ['bronc', 'dysp'])
    """
    problem = set_problem(model, variables, evidence, soft_evidence, prune)
    near = graph_of(problem)
    if isinstance(order, str) and order == "polytree":
        order = _inwards(near, problem)
    elif not isinstance(order, str):
        order = _given_order(problem, listed(order))
    steps = eliminate(near, order, problem.cards, problem.hidden)
    return InferencePlan(problem, steps, model, evidence)


def _inwards(near: Sequence[set[int]], problem: Problem) -> list[int]:
    """Hidden variables from the farthest from the query to the nearest."""
    distance = dict.fromkeys(problem.targets, 0)
    waiting = list(problem.targets)
    for v in waiting:
        for u in sorted(near[v]):
            if u not in distance:
                distance[u] = distance[v] + 1
                waiting.append(u)
    return sorted(problem.hidden, key=lambda v: (-distance.get(v, 0), v))


def _given_order(problem: Problem, order: list[Any]) -> list[int]:
    names = [problem.variables[v] for v in problem.hidden]
    unknown = [name for name in order if name not in problem.variables]
    missing = [name for name in names if name not in order]
    if unknown or missing:
        raise DataError(
            f"order must list the variables to sum out, {names}; unknown {unknown}, missing {missing}."
        )
    index = {name: v for v, name in enumerate(problem.variables)}
    return [index[name] for name in order if name in set(names)]


def enumerate_query(model: Any, variables: Any, evidence: Any, soft_evidence: Any) -> Factor:
    """Answer by summing the whole joint table; for checking, and for models of a few variables."""
    problem = set_problem(model, variables, evidence, soft_evidence, prune=False)
    factors = [*problem.factors, *problem.aside]
    free = [*problem.targets, *problem.hidden]
    terms = product(problem.cards[v] for v in free)
    guard([problem.cards[v] for v in free], ENUMERATION_LIMIT, f"enumeration of {terms:.3g} terms")
    names = [problem.variables[v] for v in free]
    table = np.ones([problem.cards[v] for v in free])
    log_scale = 0.0
    for factor in factors:
        table = table * expanded(factor, names)
        scaled = rescaled(tuple(names), table, {}, log_scale + factor.log_scale)
        table, log_scale = scaled.table, scaled.log_scale
    answer = table.sum(axis=tuple(range(len(problem.targets), len(free))))
    if not answer.sum() > 0:
        raise InferencePlan(problem, Steps([], [], []), model, evidence)._impossible()
    wanted = tuple(names[: len(problem.targets)])
    states = {name: own for factor in factors for name, own in factor.states.items()}
    found, log_evidence = Factor(
        wanted, answer, {v: states[v] for v in wanted}, log_scale=log_scale
    ).normalize()
    found.log_evidence = log_evidence
    return found


def marginal_map(
    model: Any, variables: Any, evidence: Any = None, soft_evidence: Any = None
) -> tuple[Any, float]:
    """Return the states of `variables` with the largest probability, the others summed out, and its logarithm.

    Sums and maxima do not commute, so all sums come first; the order is constrained and may cost more than a
    query or an MPE.
    """
    problem = set_problem(model, variables, evidence, soft_evidence)
    near = graph_of(problem)
    sums = eliminate(near, "min_fill", problem.cards, problem.hidden)
    plan = InferencePlan(problem, sums, model, evidence)
    guard([max(plan.sizes, default=1)], MAX_ENTRIES, "the sums of the query")
    factors: list[Factor] = []
    for _ in plan._run(factors):
        pass
    rest = problem._replace(factors=factors)
    maxima = eliminate(graph_of(rest), "min_fill", problem.cards, problem.targets)
    guard([max(maxima.sizes(problem.cards), default=1)], MAX_ENTRIES, "the maxima of the query")
    choices: list[tuple[str, tuple[str, ...], Array]] = []
    for v in maxima.order:
        name = problem.variables[v]
        mine = [f for f in factors if name in f.variables]
        joined = contract(mine, None)
        message, best = joined.max_out([name])
        factors = [*(f for f in factors if name not in f.variables), message]
        choices.append((name, message.variables, best[..., 0]))
    value = contract(factors, [])
    if not float(value.table) > 0:
        raise plan._impossible()
    codes: dict[str, int] = {}
    for name, scope, best in reversed(choices):
        codes[name] = int(best[tuple(codes[u] for u in scope)])
    states = {name: own for factor in problem.factors for name, own in factor.states.items()}
    found = {name: states[name][codes[name]] for name in listed(variables)}
    log_value = float(np.log(value.table) + value.log_scale)
    return found, log_value + plan._log_aside()
