"""What all searches for a graph share, and the two that need no search: the best tree and the best graph."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import Tags

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.rows import Chunk
from gnomon.core.settings import check_parameters
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import total
from gnomon.core.validate import NOT_NEGATIVE, POSITIVE, Reads, check_fitted
from gnomon.graphical import dags
from gnomon.graphical.columns import read_columns
from gnomon.graphical.counting import estimate, prior_counts
from gnomon.graphical.factor import TableTooLargeError
from gnomon.graphical.net import Net
from gnomon.graphical.orderings import pattern_edges
from gnomon.graphical.scores import COMPLETE, SCORES, Families
from gnomon.loops import structure as loops

EXACT_NODES = 20


class GraphState(NamedTuple):
    """A graph that was found, with the counts of its families."""

    names: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    score: float
    counts: tuple[Array, ...]


class StructureLearner(Learner):
    """Reads columns of states, keeps the graph that is found, and turns it into a network."""

    _sense: ClassVar[str] = "max"
    _stop: ClassVar[str] = "self"
    _reads: ClassVar[Reads] = COMPLETE

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Any:
        if reset:
            check_parameters(self)
        return read_columns(self, X, sample_weight, states=self.states, reset=reset, reads=self._reads).rows

    def _attributes(self, state: Any) -> dict[str, Any]:
        names = state.names
        adjacency = np.zeros((len(names), len(names)), dtype=np.int64)
        for v, own in enumerate(state.parents):
            adjacency[list(own), v] = 1
        return {
            "dag_": [(names[p], names[v]) for v, own in enumerate(state.parents) for p in own],
            "adjacency_": adjacency,
            "score_": float(state.score),
            "variables_": list(names),
            "states_": {name: list(own) for name, own in zip(names, state.states, strict=True)},
            "counts_": dict(zip(names, state.counts)),  # none on the way, and none where they do not fit
        }

    def _limit(self) -> int:
        return int(getattr(self, "max_iter", 1))

    def _starts(self) -> int:
        return 1

    def _graph(self) -> Net:
        check_fitted(self)
        index = {name: v for v, name in enumerate(self.variables_)}
        parents: list[list[int]] = [[] for _ in self.variables_]
        for a, b in self.dag_:
            parents[index[b]].append(index[a])
        return Net(self.variables_, [self.states_[name] for name in self.variables_], parents, ())

    def network(
        self, prior: str = "bdeu", *, equivalent_sample_size: float = 10.0, pseudo_counts: Any = None
    ) -> Any:
        """Return the graph as a `BayesianNetwork` with tables from the counts of the data."""
        from gnomon.graphical.network import BayesianNetwork

        net = self._graph()
        if len(self.counts_) < len(net):
            raise TableTooLargeError(
                "a table of this graph does not fit in memory; limit the parents of a variable."
            )
        shapes = {name: self.counts_[name].shape for name in net.variables}
        alphas = prior_counts(prior, shapes, equivalent_sample_size, pseudo_counts)
        tables = [estimate(self.counts_[name], alphas[name])[0] for name in net.variables]
        return BayesianNetwork._from_net(Net(net.variables, net.states, net.parents, tables), prior=prior)

    def pattern(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return the directed and the undirected edges of the equivalence class of the graph."""
        return pattern_edges(self._graph())

    def plot(self, ax: Any = None, *, strengths: Any = None) -> Any:
        """Draw the graph that was found with its score; edges as wide as `edge_bootstrap` finds them strong."""
        from gnomon.plot import network

        return network(self, ax=ax, strengths=strengths)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def final_state(work: Families, parents: Sequence[Sequence[int]], score: float) -> GraphState:
    """Return a graph with the counts of its families."""
    own = tuple(tuple(p) for p in parents)
    try:
        counts = tuple(work.counts(v, p) for v, p in enumerate(own))
    except TableTooLargeError:  # the graph stands; a network of it would not fit
        counts = ()
    return GraphState(tuple(work.names), tuple(work.states), own, score, counts)


# the best tree


class PairCounts(NamedTuple):
    """Counts of all pairs of states of all columns: one matrix."""

    counts: Array
    weight: float


def pair_chunk(chunk: Chunk, starts: Array, size: int) -> PairCounts:
    """Partial counts of pairs: a product of one-hot matrices; missing cells have no one."""
    hot = np.zeros((len(chunk.X), size))
    rows, columns = np.nonzero(chunk.X >= 0)
    hot[rows, starts[columns] + chunk.X[rows, columns]] = 1.0
    return PairCounts(hot.T @ (hot * chunk.weight[:, None]), float(chunk.weight.sum()))


def pair_information(counts: Array, starts: Array, smoothing: float) -> Array:
    """Return the mutual information of every pair of columns from the matrix of pair counts."""
    n = len(starts) - 1
    found = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            joint = counts[starts[i] : starts[i + 1], starts[j] : starts[j + 1]] + smoothing
            found[i, j] = found[j, i] = information(joint)
    return found


def information(joint: Array) -> float:
    """Return I of a table of counts, in nats."""
    N = joint.sum()
    if not N > 0:
        return 0.0
    outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return max(0.0, float((joint[seen] * np.log(joint[seen] * N / outer[seen])).sum() / N))


def spanning_tree(weights: Array, root: int) -> list[tuple[int, ...]]:
    """Return the parents in a maximum spanning tree directed away from the root; ties go to lower numbers."""
    n = len(weights)
    parents: list[tuple[int, ...]] = [() for _ in range(n)]
    best, source = weights[root].copy(), np.full(n, root)
    free = np.ones(n, dtype=bool)
    free[root] = False
    for _ in range(n - 1):
        v = int(np.argmax(np.where(free, best, -np.inf)))
        free[v] = False
        parents[v] = (int(source[v]),)
        closer = free & (weights[v] > best)
        best[closer], source[closer] = weights[v][closer], v
    return parents


class ChowLiuTree(StructureLearner):
    r"""The tree that fits best: a maximum spanning tree on mutual information.

    .. math:: \max_T \sum_{(i, j) \in T} I(X_i; X_j)

    Of all trees it has the largest likelihood (Chow and Liu 1968), found without a search. Use it as a quick first
    look at a structure; where a variable has several causes, see `HillClimbSearch`.

    Parameters
    ----------
    root : str, optional
        Where arrows start; the first column when not given. Every root gives an equivalent graph.
    smoothing : float, default=0.0
        Added to every cell of the pair tables.
    states : dict, optional
        All states of a variable, where the data may not show each.

    Attributes
    ----------
    dag_ : list of edges
    mutual_information_ : array of shape (n, n)
    score_ : float
        Log-likelihood of the data with tables by counting.

    Examples
    --------
    >>> X = [[int(b) for b in row] for row in "000 000 001 011 011 100 100 101 111 111 111 110".split()]
    >>> ChowLiuTree().fit(X).dag_
    [('x0', 'x1'), ('x1', 'x2')]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "root": [str, None],
        "smoothing": [NOT_NEGATIVE],
        "states": [dict, None],
    }

    def __init__(self, root: str | None = None, *, smoothing: float = 0.0, states: Any = None) -> None:
        self.root = root
        self.smoothing = smoothing
        self.states = states

    def _start(self, rows: Any, rng: Any) -> Any:
        return None

    def _step(self, rows: Any, state: Any) -> tuple[Any, Report]:
        labels = list(rows.labels)
        if self.root is not None and self.root not in labels:
            raise DataError(f"root must be a column of X; got {self.root!r}.{nearest(self.root, labels)}")
        starts = np.concatenate([[0], np.cumsum([len(own) for own in rows.states])])
        found = total(pair_chunk, rows, starts, int(starts[-1]))
        weights = pair_information(found.counts, starts, float(self.smoothing))
        root = 0 if self.root is None else labels.index(self.root)
        parents = spanning_tree(weights, root)
        counts, score = [], 0.0
        for v, own in enumerate(parents):
            mine = slice(starts[v], starts[v + 1])
            if own:
                table = found.counts[starts[own[0]] : starts[own[0] + 1], mine]
            else:
                table = np.diag(found.counts)[mine]
            counts.append(np.ascontiguousarray(table))
            rows_of = table.reshape(-1, table.shape[-1])
            share = rows_of / np.maximum(rows_of.sum(axis=1, keepdims=True), 1e-300)
            score += float((rows_of[rows_of > 0] * np.log(share[rows_of > 0])).sum())
        graph = GraphState(tuple(labels), tuple(rows.states), tuple(parents), score, tuple(counts))
        return (graph, weights), Report(score, done=True)

    def _attributes(self, state: Any) -> dict[str, Any]:
        return {**super()._attributes(state[0]), "mutual_information_": state[1]}

    def iterate(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Yield the fitted model; there is one step."""
        yield from super().iterate(X, y, sample_weight)


# the best graph


class ExactSearch(StructureLearner):
    """The graph with the best score of all, by dynamic programming over subsets.

    Every graph has a node without children; take it away and the rest must be best as well (Silander and Myllymäki
    2006). Time and memory are n·2ⁿ, so up to 20 variables; beyond, use `HillClimbSearch`.

    Parameters
    ----------
    criterion : {"bic", "aic", "bdeu", "k2", "loglik"}, default="bic"
        What is maximized; see `score_structure`.
    max_parents : int, optional
        Of a variable; all others when not given.
    equivalent_sample_size : float, default=10.0
        Of "bdeu".
    states : dict, optional

    Attributes
    ----------
    dag_ : list of edges
    score_ : float
        No graph has more.

    Examples
    --------
    >>> X = [[int(b) for b in row] for row in "000 000 001 011 011 100 100 101 111 111 111 110".split()]
    >>> search = ExactSearch().fit(X)
    >>> search.dag_, round(search.score_, 6)
    ([('x2', 'x1')], -27.960351)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "criterion": [StrOptions(set(SCORES))],
        "max_parents": [Interval(Integral, 0, None, closed="left"), None],
        "equivalent_sample_size": [POSITIVE],
        "states": [dict, None],
    }

    def __init__(
        self,
        criterion: str = "bic",
        *,
        max_parents: int | None = None,
        equivalent_sample_size: float = 10.0,
        states: Any = None,
    ) -> None:
        self.criterion = criterion
        self.max_parents = max_parents
        self.equivalent_sample_size = equivalent_sample_size
        self.states = states

    def _prepare(self, rows: Any) -> Families:
        return Families(rows, self.criterion, self.equivalent_sample_size)

    def _start(self, work: Families, rng: Any) -> Any:
        return final_state(work, [() for _ in work.names], work.graph([() for _ in work.names]))

    def _step(self, work: Families, state: GraphState) -> tuple[GraphState, Report]:
        near: list[set[int]] = [set() for _ in work.names]
        for v in range(len(near)):
            for p in work.useful_parents(v):
                near[v].add(p)
                near[p].add(v)
        parents: list[tuple[int, ...]] = [() for _ in near]
        for part in dags.components(near):
            if len(part) > EXACT_NODES:
                raise DataError(
                    f"X has {len(part)} features that may hang together; exact search needs 2^n numbers and takes at "
                    f"most {EXACT_NODES}. Use HillClimbSearch."
                )
            for v, own in self._best_of(work, part).items():
                parents[v] = own
        dags.topological_order(parents, work.names)
        found = final_state(work, parents, work.graph(parents))
        return found, Report(found.score, done=True)

    def _best_of(self, work: Families, part: list[int]) -> dict[int, tuple[int, ...]]:
        """Return the parents in the best graph on some variables."""
        n = len(part)
        most = n - 1 if self.max_parents is None else min(self.max_parents, n - 1)
        scores = np.full((n, 1 << n), -np.inf)
        number = {v: i for i, v in enumerate(part)}
        for mask in range(1 << n):
            if mask.bit_count() <= most:
                own = tuple(part[i] for i in range(n) if mask >> i & 1)
                for v, value in work.all_children(own, part):
                    scores[number[v], mask] = value
        choice = np.zeros(scores.shape, dtype=np.int32)
        loops.best_parents(scores, scores, choice)
        value, sink = np.empty(1 << n), np.zeros(1 << n, dtype=np.int8)
        loops.best_sinks(scores, value, sink)
        found, left = {}, (1 << n) - 1
        while left:
            i = int(sink[left])
            left ^= 1 << i
            found[part[i]] = tuple(part[j] for j in range(n) if int(choice[i, left]) >> j & 1)
        return found
