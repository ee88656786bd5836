"""Graphs from tests of independence, and how sure their edges are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.stats import chi2

from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.steps import Report
from gnomon.graphical import dags
from gnomon.graphical.scores import Families
from gnomon.graphical.structure import GraphState, StructureLearner, final_state


class PatternState(NamedTuple):
    """Edges that are left, level by level."""

    graph: GraphState
    neighbors: tuple[tuple[int, ...], ...]
    separators: tuple[tuple[int, int, tuple[int, ...]], ...]
    level: int
    n_tests: int
    directed: tuple[tuple[int, int], ...]
    undirected: tuple[tuple[int, int], ...]


class PC(StructureLearner):
    """A graph from tests: start with all edges, drop those between variables that some others separate.

    Level by level, a and b lose their edge when they are independent given k of their neighbors; then colliders are
    oriented, and what follows from them (Spirtes and Glymour 1991; the order-independent form of Colombo and Maathuis
    2014). It says where data leave a direction open: `pattern_`. Errors of single tests add up, so it needs more data
    than a search by score.

    Parameters
    ----------
    alpha : float, default=0.05
        Level of the tests.
    test : {"chi2", "g"} or callable, default="chi2"
        Pearson's statistic or the likelihood ratio. A function is handed two names and the tuple of those given, and
        returns a p-value, or True where the two are independent.
    max_given : int, default=3
        Variables given in a test at most.
    states : dict, optional

    Attributes
    ----------
    pattern_ : pair of lists of edges
        Directed ones, and undirected ones.
    dag_ : list of edges
        One graph of the pattern; `score_` is its BIC.
    separators_ : dict
        What separates each pair without an edge.
    n_tests_ : int

    Examples
    --------
    >>> from gnomon.datasets import load_network
    >>> X = load_network("sprinkler").sample(5000, random_state=0)
    >>> PC(alpha=0.01).fit(X).pattern_
    ([('rain', 'wet'), ('sprinkler', 'wet')], [])
    """

    _sense: ClassVar[str] = "min"
    _unit: ClassVar[str] = "level"
    _monotone: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "test": [StrOptions({"chi2", "g"}), callable],
        "max_given": [Interval(Integral, 0, None, closed="left")],
        "states": [dict, None],
    }

    def __init__(
        self, alpha: float = 0.05, *, test: Any = "chi2", max_given: int = 3, states: Any = None
    ) -> None:
        self.alpha = alpha
        self.test = test
        self.max_given = max_given
        self.states = states

    def _limit(self) -> int:
        return int(self.max_given) + 1

    def _prepare(self, rows: Any) -> Families:
        return Families(rows, "bic", 1.0)

    def _start(self, work: Families, rng: Any) -> PatternState:
        n = len(work.names)
        graph = GraphState(tuple(work.names), tuple(work.states), tuple(() for _ in range(n)), 0.0, ())
        return PatternState(
            graph, tuple(tuple(u for u in range(n) if u != v) for v in range(n)), (), 0, 0, (), ()
        )

    def _step(self, work: Families, state: PatternState) -> tuple[PatternState, Report]:
        """Test all edges given sets of one size; neighbors are those from before the level."""
        near, k, tests = [set(own) for own in state.neighbors], state.level, state.n_tests
        removed = []
        for a, b in combinations(range(len(near)), 2):
            if b not in near[a]:
                continue
            sets = dict.fromkeys(
                [*combinations(sorted(near[a] - {b}), k), *combinations(sorted(near[b] - {a}), k)]
            )
            for given in sets:
                tests += 1
                if self._p_value(work, a, b, given) > self.alpha:
                    removed.append((a, b, given))
                    break
        for a, b, _ in removed:
            near[a].discard(b)
            near[b].discard(a)
        separators = (*state.separators, *removed)
        last = max((len(own) for own in near), default=0) <= k + 1 or k >= self.max_given
        new = state._replace(neighbors=tuple(tuple(sorted(own)) for own in near), separators=separators)
        new = new._replace(level=k + 1, n_tests=tests)
        return oriented(work, new), Report(float(sum(len(own) for own in near) // 2), done=last)

    def _p_value(self, work: Families, a: int, b: int, given: Sequence[int]) -> float:
        if not callable(self.test):
            return p_value(work, a, b, given, self.test)
        names = work.names
        return float(self.test(names[a], names[b], tuple(names[v] for v in given)))

    def _attributes(self, state: PatternState) -> dict[str, Any]:
        names = state.graph.names
        named = [[(names[a], names[b]) for a, b in edges] for edges in (state.directed, state.undirected)]
        return {
            **super()._attributes(state.graph),
            "pattern_": (named[0], named[1]),
            "separators_": {
                (names[a], names[b]): tuple(names[v] for v in own) for a, b, own in state.separators
            },
            "n_tests_": state.n_tests,
        }


def p_value(work: Families, a: int, b: int, given: Sequence[int], test: str) -> float:
    """Return the p-value of a ⟂ b | given: contingency tables for every configuration of what is given."""
    joint = work.slices(a, b, given)
    rows, columns = joint.sum(axis=2, keepdims=True), joint.sum(axis=1, keepdims=True)
    totals = joint.sum(axis=(1, 2), keepdims=True)
    expected = np.divide(rows * columns, totals, out=np.zeros_like(joint), where=totals > 0)
    seen = expected > 0
    if test == "chi2":
        statistic = float(((joint[seen] - expected[seen]) ** 2 / expected[seen]).sum())
    else:
        counted = joint > 0
        statistic = 2.0 * float((joint[counted] * np.log(joint[counted] / expected[counted])).sum())
    # states that do not occur in a slice take no part in its degrees of freedom
    used = ((rows > 0).sum(axis=1) - 1).clip(0) * ((columns > 0).sum(axis=2) - 1).clip(0)
    freedom = int(used.sum())
    return 1.0 if freedom == 0 else float(chi2.sf(statistic, freedom))


def oriented(work: Families, state: PatternState) -> PatternState:
    """Orient unshielded colliders and what follows; then choose one graph of the pattern."""
    n = len(state.neighbors)
    between = {(a, b): set(own) for a, b, own in state.separators}
    directed: set[tuple[int, int]] = set()
    for c in range(n):
        for a, b in combinations(state.neighbors[c], 2):
            if b in state.neighbors[a] or c in between.get((min(a, b), max(a, b)), {c}):
                continue
            for u in (a, b):
                if (c, u) not in directed:  # tests may contradict each other: the first collider stays
                    directed.add((u, c))
    undirected = {
        (a, b)
        for a in range(n)
        for b in state.neighbors[a]
        if a < b and (a, b) not in directed and (b, a) not in directed
    }
    directed, undirected = dags.apply_meek_rules(n, directed, undirected)
    parents = extension(n, directed, undirected)
    graph = final_state(work, parents, work.graph(parents))
    return state._replace(graph=graph, directed=tuple(sorted(directed)), undirected=tuple(sorted(undirected)))


def extension(
    n: int, directed: set[tuple[int, int]], undirected: set[tuple[int, int]]
) -> list[tuple[int, ...]]:
    """Return a graph without cycles that agrees with a pattern as far as it can (Dor and Tarsi 1992).

    Sinks whose undirected neighbors are joined to all their other neighbors are taken off one by one; where tests
    contradict each other and there is none, the node with the fewest edges out goes, its edges turned inward.
    """
    out, line = set(directed), {frozenset(edge) for edge in undirected}
    left, parents = set(range(n)), [()] * n  # type: ignore[list-item]

    def joined(u: int, v: int) -> bool:
        return (u, v) in out or (v, u) in out or frozenset((u, v)) in line

    def is_sink(v: int) -> bool:
        if any((v, u) in out for u in left):
            return False
        loose = [u for u in left if frozenset((u, v)) in line]
        others = [u for u in left if u != v and joined(u, v)]
        return all(joined(u, w) for u in loose for w in others if u != w)

    while left:
        v = next((u for u in sorted(left) if is_sink(u)), None)
        if v is None:
            v = min(left, key=lambda u: (sum((u, w) in out for w in left), u))
        parents[v] = tuple(sorted(u for u in left if u != v and joined(u, v)))
        left.discard(v)
    return parents


def edge_bootstrap(
    X: Any, n: int = 100, *, search: Any = None, sample_weight: Any = None, random_state: Any = None
) -> Any:
    """Return how often each edge is found when the rows are drawn anew with replacement.

    Parameters
    ----------
    X : array or DataFrame of states
    n : int, default=100
        Number of resamples.
    search : estimator, optional
        `HillClimbSearch` with its defaults when not given.
    sample_weight : array, optional
    random_state : int, Generator, optional

    Returns
    -------
    DataFrame
        Columns `a`, `b`, `strength` (share of graphs with an edge either way) and `direction` (share of those with
        a → b in the direction found more often), strongest first.

    Examples
    --------
    >>> from gnomon.datasets import load_network
    >>> X = load_network("sprinkler").sample(500, random_state=0)
    >>> edge_bootstrap(X, 10, random_state=0).round(2).values.tolist()[:2]
    [['rain', 'wet', 1.0, 1.0], ['sprinkler', 'wet', 1.0, 1.0]]
    """
    pd = import_pandas()
    from sklearn.base import clone

    from gnomon.graphical.search import HillClimbSearch

    search = HillClimbSearch() if search is None else search
    seed, rows = draw_seed(generator(random_state)), np.shape(X)[0]
    base = np.ones(rows) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    share = base / base.sum()
    # states are found in all rows, so that every resample counts the same tables
    states = clone(search).fit(X, sample_weight=sample_weight).states_
    counts: Any = 0
    for index in range(n):
        weight = stream(seed, index).multinomial(round(base.sum()), share).astype(float)
        found = clone(search).set_params(states=states).fit(X, sample_weight=weight)
        counts = counts + found.adjacency_
    return _strengths(found.variables_, np.asarray(counts), n, pd)


def _strengths(names: Sequence[str], counts: Array, n: int, pd: Any) -> Any:
    rows = []
    for a, b in combinations(range(len(names)), 2):
        both = counts[a, b] + counts[b, a]
        if both:
            first, second = (a, b) if counts[a, b] >= counts[b, a] else (b, a)
            rows.append((names[first], names[second], both / n, counts[first, second] / both))
    rows.sort(key=lambda row: (-row[2], -row[3], row[0], row[1]))
    return pd.DataFrame(rows, columns=["a", "b", "strength", "direction"])
