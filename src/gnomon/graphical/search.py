"""Hill climbing over graphs, with a tabu list and restarts."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed, stream
from gnomon.core.steps import Report
from gnomon.core.validate import COUNT, POSITIVE
from gnomon.graphical import dags
from gnomon.graphical.net import graph_of
from gnomon.graphical.scores import SCORES, Families
from gnomon.graphical.structure import GraphState, StructureLearner, final_state

EPSILON = 1e-9  # relative gain that counts as one


class SearchState(NamedTuple):
    """The graph at hand and the best one so far."""

    adjacency: Array  # (n, n) bool: parent, child
    best: Array
    best_score: float
    score: float
    tabu: tuple[tuple[int, int, int], ...]  # moves that would undo the last ones
    idle: int  # steps without a new best graph
    restarts: int
    seed: int
    names: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]
    counts: tuple[Array, ...]

    @property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """The parents in the best graph."""
        return tuple(tuple(np.flatnonzero(self.best[:, v]).tolist()) for v in range(len(self.names)))


ADD, DELETE, REVERSE = 0, 1, 2


class HillClimbSearch(StructureLearner):
    """Search for a graph: add, delete and turn edges as long as the score grows.

    Local scores are remembered and only families that a move changes are counted anew. A tabu list lets the
    search walk on from a hilltop for a while without going straight back; restarts shake the best graph and
    climb again. Scores cannot tell equivalent graphs apart (see `pattern`), and arrows are no proof of causes.

    Parameters
    ----------
    criterion : {"bic", "aic", "bdeu", "k2", "loglik"}, default="bic"
        What is maximized; see `score_structure`.
    max_parents : int, default=4
        Of a variable.
    tabu : int, default=10
        Length of the tabu list, and steps without a better graph after which the climb ends; 0 for plain climbing.
    n_restarts : int, default=0
        Climbs from shaken copies of the best graph.
    allowed, forbidden : list of edges, optional
        Only these, or none of these.
    required : list of edges, optional
        Present from the start and never removed.
    start : list of edges or "tree"/"empty", default="tree"
        Where the first climb starts; "tree" is the Chow–Liu tree, from which the climb is shorter and ends higher
        more often than from no edges at all.
    equivalent_sample_size : float, default=10.0
        Of "bdeu".
    states : dict, optional
        All states of a variable, where the data may not show each.
    max_iter : int, default=10000
        Moves.
    random_state : int, Generator, optional
        Of the restarts.

    Attributes
    ----------
    dag_ : list of edges
    score_ : float
    trace_ : Trace
        The best score after every move.

    Examples
    --------
    >>> from gnomon.datasets import load_network
    >>> X = load_network("sprinkler").sample(2000, random_state=0)
    >>> HillClimbSearch().fit(X).pattern()[0]
    [('rain', 'wet'), ('sprinkler', 'wet')]
    """

    _unit: ClassVar[str] = "move"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "criterion": [StrOptions(set(SCORES))],
        "max_parents": [Interval(Integral, 0, None, closed="left")],
        "tabu": [Interval(Integral, 0, None, closed="left")],
        "n_restarts": [Interval(Integral, 0, None, closed="left")],
        "allowed": [list, tuple, None],
        "forbidden": [list, tuple, None],
        "required": [list, tuple, None],
        "start": [list, tuple, StrOptions({"empty", "tree"})],
        "equivalent_sample_size": [POSITIVE],
        "states": [dict, None],
        "max_iter": [COUNT],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        criterion: str = "bic",
        *,
        max_parents: int = 4,
        tabu: int = 10,
        n_restarts: int = 0,
        allowed: Sequence[tuple[str, str]] | None = None,
        forbidden: Sequence[tuple[str, str]] | None = None,
        required: Sequence[tuple[str, str]] | None = None,
        start: Any = "tree",
        equivalent_sample_size: float = 10.0,
        states: Any = None,
        max_iter: int = 10_000,
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.max_parents = max_parents
        self.tabu = tabu
        self.n_restarts = n_restarts
        self.allowed = allowed
        self.forbidden = forbidden
        self.required = required
        self.start = start
        self.equivalent_sample_size = equivalent_sample_size
        self.states = states
        self.max_iter = max_iter
        self.random_state = random_state

    def _prepare(self, rows: Any) -> Climb:
        families = Families(rows, self.criterion, self.equivalent_sample_size)
        required = self._edges(self.required, families.names, "required")
        dags.topological_order(_parents(required), families.names)
        return Climb(families, self._permitted(families.names), required)

    def _edges(self, edges: Any, names: Sequence[str], what: str) -> Array:
        adjacency = np.zeros((len(names), len(names)), dtype=bool)
        for a, b in edges or ():
            for name in (a, b):
                if name not in names:
                    raise DataError(f"{what} names {name!r}, which is no column of X.{nearest(name, names)}")
            adjacency[names.index(a), names.index(b)] = True
        return adjacency

    def _permitted(self, names: Sequence[str]) -> Array:
        n = len(names)
        permitted = (
            np.ones((n, n), dtype=bool)
            if self.allowed is None
            else self._edges(self.allowed, names, "allowed")
        )
        permitted = permitted & ~self._edges(self.forbidden, names, "forbidden")
        permitted |= self._edges(self.required, names, "required")
        return permitted & ~np.eye(n, dtype=bool)

    def _start(self, work: Climb, rng: np.random.Generator) -> SearchState:
        families = work.families
        n = len(families.names)
        if isinstance(self.start, str):
            adjacency = work.required
            if self.start == "tree" and n > 1:
                adjacency = grafted(_tree(families), work.required, work.permitted, self.max_parents)
        else:
            adjacency = self._edges(self.start, families.names, "start")
            graph_of(self.start, families.names, None, None)
            adjacency = (adjacency | work.required) & ~work.required.T
        parents = _parents(adjacency)
        dags.topological_order(parents, families.names)
        score = families.graph(parents)
        named = (tuple(families.names), tuple(families.states))
        return SearchState(adjacency, adjacency, score, score, (), 0, 0, draw_seed(rng), *named, ())

    def _step(self, work: Climb, state: SearchState) -> tuple[SearchState, Report]:
        work.look(state.adjacency)
        move = work.best_move(state, self.max_parents, set(state.tabu))
        new = state if move is None else self._moved(work, state, move)
        stuck = move is None or new.idle > self.tabu or (self.tabu == 0 and new.idle > 0)
        if stuck and new.restarts < self.n_restarts:
            new = work.shaken(new, self.max_parents)
            stuck = False
        elif stuck:
            new = new._replace(adjacency=new.best, score=new.best_score)
        if new.best_score > state.best_score:
            return new, Report(new.best_score, done=stuck)
        return new, Report(state.best_score, done=stuck)

    def _moved(self, work: Climb, state: SearchState, move: tuple[float, int, int, int]) -> SearchState:
        gain, kind, a, b = move
        if self.tabu == 0 and gain <= EPSILON * max(1.0, abs(state.score)):
            return state._replace(idle=state.idle + 1)
        adjacency = apply_move(state.adjacency, kind, a, b)
        score = state.score + gain
        undo = {ADD: (DELETE, a, b), DELETE: (ADD, a, b), REVERSE: (REVERSE, b, a)}[kind]
        tabu = (*state.tabu, undo)[-self.tabu :] if self.tabu else ()
        better = score > state.best_score + EPSILON * max(1.0, abs(state.best_score))
        new = state._replace(
            adjacency=adjacency, score=score, tabu=tabu, idle=0 if better else state.idle + 1
        )
        return new._replace(best=adjacency, best_score=score) if better else new

    def _finish(self, work: Climb, state: SearchState) -> SearchState:
        found = final_state(work.families, state.parents, state.best_score)
        return state._replace(counts=found.counts, best_score=work.families.graph(state.parents))

    def _attributes(self, state: SearchState) -> dict[str, Any]:
        return super()._attributes(
            GraphState(state.names, state.states, state.parents, state.best_score, state.counts)
        )

    def _warn_not_converged(self, run: Any) -> None:
        """A search that was cut short has its best graph; there is nothing to warn of but the moves."""
        from sklearn.exceptions import ConvergenceWarning

        from gnomon.core.validate import warn

        warn(
            f"HillClimbSearch made max_iter={self.max_iter} moves and was still climbing; raise it.",
            ConvergenceWarning,
        )


def _parents(adjacency: Array) -> list[tuple[int, ...]]:
    return [tuple(np.flatnonzero(column).tolist()) for column in adjacency.T]


def apply_move(adjacency: Array, kind: int, a: int, b: int) -> Array:
    """Return the graph after a move."""
    new = adjacency.copy()
    new[a, b] = kind == ADD
    if kind == REVERSE:
        new[b, a] = True
    return new


def grafted(tree: Array, required: Array, permitted: Array, most: int) -> Array:
    """Return the required edges and those of a tree that may join them, turned where only that is permitted."""
    graph = required.copy()
    for a, b in np.argwhere(tree):
        for p, v in ((a, b), (b, a)):
            free = permitted[p, v] and not graph[p, v] and not graph[v, p] and graph[:, v].sum() < most
            if free and not descendants_matrix(graph)[v, p]:
                graph[p, v] = True
                break
    return graph


def _tree(families: Families) -> Array:
    """The Chow–Liu tree from the families' local scores."""
    from gnomon.graphical.structure import information, spanning_tree

    n = len(families.names)
    weights = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            weights[i, j] = weights[j, i] = information(families.counts(j, (i,)))
    adjacency = np.zeros((n, n), dtype=bool)
    for v, own in enumerate(spanning_tree(weights, 0)):
        adjacency[list(own), v] = True
    return adjacency


class Climb:
    """Gains of all moves, kept up to date from graph to graph."""

    def __init__(self, families: Families, permitted: Array, required: Array) -> None:
        self.families, self.permitted, self.required = families, permitted, required
        n = len(families.names)
        self.toggle = np.full((n, n), -np.inf)  # gain of adding, or of deleting where the edge is there
        self.seen: Array | None = None  # the graph that toggle belongs to

    def look(self, adjacency: Array) -> None:
        """Bring the gains up to date for a graph; only changed columns are scored again."""
        stale = (
            range(len(adjacency))
            if self.seen is None
            else np.flatnonzero((self.seen != adjacency).any(axis=0))
        )
        for v in stale:
            self._score_child(int(v), adjacency)
        self.seen = adjacency.copy()

    def _score_child(self, v: int, adjacency: Array) -> None:
        own = np.flatnonzero(adjacency[:, v]).tolist()
        now = self.families.local(v, own)
        others = [p for p in range(len(adjacency)) if p != v and p not in own and self._wanted(p, v)]
        if others:
            self.toggle[others, v] = np.array(self.families.with_each(v, own, others)) - now
        for p in own:
            self.toggle[p, v] = self.families.local(v, [q for q in own if q != p]) - now

    def _wanted(self, p: int, v: int) -> bool:
        return bool(self.permitted[p, v] or self.permitted[v, p])

    def best_move(self, state: SearchState, most: int, tabu: set[tuple[int, int, int]]) -> Any:
        """Return (gain, kind, a, b) of the best legal move; ties go to the first in order of kind and edge."""
        A = state.adjacency
        reach = descendants_matrix(A)
        room = A.sum(axis=0) < most
        can_add = self.permitted & ~A & ~reach.T & room[None, :]
        gains = [np.where(can_add, self.toggle, -np.inf)]
        can_delete = A & ~self.required
        gains.append(np.where(can_delete, self.toggle, -np.inf))
        # a → b may be turned where no other path leads from a to b
        other = (A.astype(np.int64) @ (reach & ~np.eye(len(A), dtype=bool)).astype(np.int64)) > 0
        can_turn = can_delete & self.permitted.T & room[:, None] & ~other
        with np.errstate(invalid="ignore"):
            gains.append(np.where(can_turn, self.toggle + self.toggle.T, -np.inf))
        stack = np.stack(gains)
        for kind, a, b in tabu:
            stack[kind, a, b] = -np.inf
        # turned edges often gain the same but for the last bits: the first of those that tie is taken
        best = float(stack.max())
        ties = stack >= best - EPSILON * max(1.0, abs(state.score)) if best > -np.inf else stack == best
        kind, a, b = np.unravel_index(int(np.argmax(ties)), stack.shape)
        gain = float(stack[kind, a, b])
        return None if gain == -np.inf else (gain, int(kind), int(a), int(b))

    def shaken(self, state: SearchState, most: int) -> SearchState:
        """Return the best graph after some random legal moves, to climb from again."""
        rng = stream(state.seed, state.restarts + 1)
        A = state.best.copy()
        n = len(A)
        for _ in range(max(3, n // 3)):
            a, b = (int(v) for v in rng.choice(n, size=2, replace=False)) if n > 1 else (0, 0)
            if A[a, b] and not self.required[a, b]:
                A[a, b] = False
            elif (
                self.permitted[a, b]
                and not A[b, a]
                and not descendants_matrix(A)[b, a]
                and A[:, b].sum() < most
            ):
                A[a, b] = True
        score = self.families.graph(_parents(A))
        return state._replace(adjacency=A, score=score, tabu=(), idle=0, restarts=state.restarts + 1)


def descendants_matrix(adjacency: Array) -> Array:
    """reach[a, b]: whether there is a directed path from a to b, or a is b. Rows are bit sets."""
    n = len(adjacency)
    parents = _parents(adjacency)
    order = dags.topological_order(parents, [str(v) for v in range(n)])
    above = [0] * n  # ancestors of each node, as bits
    for v in order:
        bits = 1 << v
        for p in parents[v]:
            bits |= above[p]
        above[v] = bits
    width = (n + 7) // 8
    packed = np.frombuffer(b"".join(bits.to_bytes(width, "little") for bits in above), dtype=np.uint8)
    reach = np.unpackbits(packed.reshape(n, width), axis=1, bitorder="little")[:, :n]
    return reach.T.astype(bool)
