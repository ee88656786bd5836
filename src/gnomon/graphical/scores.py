"""How well a graph fits data: local scores of families, counted once and remembered."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.rows import Chunk
from gnomon.core.sums import per_row
from gnomon.graphical import dags
from gnomon.graphical.columns import READS, read_columns
from gnomon.graphical.factor import MAX_ENTRIES, guard
from gnomon.graphical.net import graph_of
from gnomon.loops import structure as loops

SCORES = ("loglik", "aic", "bic", "k2", "bdeu")
COMPLETE = READS._replace(nan=False)  # structure is learned from complete rows
DENSE = 4096  # configurations of parents up to which all have a place, seen or not


def check_score(score: str) -> None:
    """Raise for a score that there is not."""
    if score not in SCORES:
        raise DataError(f"score must be one of {SCORES}; got {score!r}.{nearest(score, SCORES)}")


def codes_of(chunk: Chunk) -> tuple[Array, Array]:
    """The codes and weights of a chunk."""
    return chunk.X, chunk.weight


class Families:
    """Columns of codes, ready to score families: different rows once, with their weights."""

    def __init__(self, rows: Any, score: str, ess: float) -> None:
        check_score(score)
        codes, weight = (rows.X, rows.weight) if rows.in_memory else per_row(codes_of, rows)
        codes, weight = codes[weight > 0], weight[weight > 0]
        if not len(codes):
            raise DataError("sample_weight must not be zero for all rows.")
        if (codes < 0).any():
            raise DataError(
                "X has missing cells; fill them in first (BayesianNetwork.transform does) or drop the rows."
            )
        codes, weight = distinct(codes, weight)
        self.names = list(rows.labels)
        self.states = [tuple(own) for own in rows.states]
        self.columns = np.ascontiguousarray(codes.T.astype(np.int32))
        self.weight = np.ascontiguousarray(weight)
        self.total = float(weight.sum())
        self.cards = np.array([len(own) for own in rows.states], dtype=np.int64)
        self.score, self.ess = score, float(ess)
        self.kind = {"k2": loops.K2, "bdeu": loops.BDEU}.get(score, loops.LOGLIK)
        self._known: dict[tuple[int, tuple[int, ...]], float] = {}
        self._bases: dict[tuple[int, ...], tuple[Array, int, int]] = {}
        self._room = np.empty(0)

    def base(self, parents: tuple[int, ...]) -> tuple[Array, int, int]:
        """Return the configuration of the parents in every row, how many places it has, and all there could be."""
        if parents in self._bases:
            return self._bases[parents]
        code, size = np.zeros(len(self.weight), dtype=np.int64), 1
        for p in parents:
            code = code * self.cards[p] + self.columns[p]
            size *= int(self.cards[p])
            if size > 2**40:  # keep codes small; what occurs is what counts
                code = np.unique(code, return_inverse=True)[1].astype(np.int64)
        places = size
        if size > max(DENSE, len(code)):
            seen, code = np.unique(code, return_inverse=True)
            places = len(seen)
        found = (code.astype(np.int64), places, size)
        if len(self._bases) > 256:
            self._bases.clear()
        self._bases[parents] = found
        return found

    def room(self, size: int) -> Array:
        """Return a table to count in."""
        if len(self._room) < size:
            self._room = np.empty(size)
        return self._room

    def local(self, child: int, parents: Iterable[int]) -> float:
        """Return the score of one family."""
        own = tuple(sorted(parents))
        if (child, own) not in self._known:
            self._score_children([child], own)
        return self._known[child, own]

    def _score_children(self, children: Sequence[int], parents: tuple[int, ...]) -> None:
        code, places, size = self.base(parents)
        out = np.empty(len(children))
        counts = self.room(places * int(self.cards[list(children)].max()))
        numbers = np.array(children, dtype=np.int64)
        args = (self.columns, self.cards, numbers, self.weight, self.kind, self.ess, counts, out)
        loops.each_child(code, places, float(size), *args)
        for child, value in zip(children, out, strict=True):
            self._known[child, parents] = float(value) - self.penalty(child, size)

    def all_children(self, parents: tuple[int, ...], among: Sequence[int]) -> list[tuple[int, float]]:
        """Return the other variables of some with their scores given these parents."""
        children = [v for v in among if v not in parents]
        if children:
            self._score_children(children, parents)
        return [(v, self._known.pop((v, parents))) for v in children]

    def with_each(self, child: int, parents: Iterable[int], others: Sequence[int]) -> list[float]:
        """Return the scores of a child with each of `others` as one more parent."""
        own = tuple(sorted(parents))
        sets = [tuple(sorted((*own, p))) for p in others]
        todo = [i for i, key in enumerate(sets) if (child, key) not in self._known]
        if todo:
            code, places, size = self.base(own)
            extra = np.array([others[i] for i in todo], dtype=np.int64)
            most = int(self.cards[extra].max()) * int(self.cards[child])
            out = np.empty(len(todo))
            args = (self.columns, self.cards, child, extra, self.weight, self.kind, self.ess)
            loops.with_each(code, places, float(size), *args, self.room(places * most), out)
            for i, value in zip(todo, out, strict=True):
                full = size * int(self.cards[others[i]])
                self._known[child, sets[i]] = float(value) - self.penalty(child, full)
        return [self._known[child, key] for key in sets]

    def penalty(self, child: int, configurations: int) -> float:
        """Return what the score takes off for the free parameters; all configurations count, seen or not."""
        free = float(configurations) * (int(self.cards[child]) - 1)
        if self.score == "aic":
            return free
        return 0.5 * math.log(self.total) * free if self.score == "bic" else 0.0

    def slices(self, a: int, b: int, given: Sequence[int]) -> Array:
        """Return the counts of a and b, one table for every configuration of `given` that has a place."""
        code, places, _ = self.base(tuple(sorted(given)))
        shape = (places, int(self.cards[a]), int(self.cards[b]))
        guard(shape, MAX_ENTRIES, f"the test of {self.names[a]!r} and {self.names[b]!r}")
        cell = (code * shape[1] + self.columns[a]) * shape[2] + self.columns[b]
        return np.bincount(cell, self.weight, math.prod(shape)).reshape(shape)

    def useful_parents(self, v: int) -> list[int]:
        """Return the variables that may be parents of v in a best graph.

        A log-likelihood is at most zero and a penalty grows with the parents, so a parent whose penalty alone is
        more than v loses without parents is in no best family (de Campos and Ji 2011).
        """
        others = [p for p in range(len(self.cards)) if p != v]
        if self.score not in ("aic", "bic"):
            return others
        alone = self.local(v, ())
        return [p for p in others if -self.penalty(v, int(self.cards[p])) > alone]

    def graph(self, parents: Sequence[Sequence[int]]) -> float:
        """Return the score of a whole graph."""
        return sum(self.local(v, own) for v, own in enumerate(parents))

    def counts(self, child: int, parents: Sequence[int]) -> Array:
        """Return the counts of a family, parents first."""
        scope = (*parents, child)
        shape = [int(self.cards[v]) for v in scope]
        guard(shape, MAX_ENTRIES, f"the table of {self.names[child]!r}")
        cell = np.zeros(len(self.weight), dtype=np.int64)
        for v in scope:
            cell = cell * self.cards[v] + self.columns[v]
        return np.bincount(cell, self.weight, math.prod(shape)).reshape(shape)


def distinct(codes: Array, weight: Array) -> tuple[Array, Array]:
    """Return each different row once, with its weight."""
    if len(codes) < 64 or codes.shape[1] > 400:
        return codes, weight
    narrow = codes.astype(np.uint8) if codes.max(initial=0) < 256 else codes.astype(np.uint16)
    keys = np.ascontiguousarray(narrow).view(np.dtype((np.void, narrow.dtype.itemsize * narrow.shape[1])))[
        :, 0
    ]
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) > 0.7 * len(codes):
        return codes, weight
    return codes[first], np.bincount(place.ravel(), weight, len(first))


def read_families(X: Any, score: str, ess: float, sample_weight: Any = None, states: Any = None) -> Families:
    """Read data for a function."""
    from gnomon.graphical.search import HillClimbSearch

    rows = read_columns(HillClimbSearch(), X, sample_weight, states=states, reads=COMPLETE).rows
    return Families(rows, score, ess)


def score_structure(
    X: Any,
    dag: Any,
    score: str = "bic",
    *,
    child: str | None = None,
    equivalent_sample_size: float = 10.0,
    states: Mapping[str, Sequence[Any]] | None = None,
    sample_weight: Any = None,
) -> float:
    r"""Return how well a graph fits data; larger is better.

    ========  =====================================================================
    score     local term of a variable with r states and q configurations of parents
    ========  =====================================================================
    loglik    :math:`\sum_{jk} N_{jk} \ln (N_{jk} / N_j)`
    aic       loglik :math:`- q (r - 1)`
    bic       loglik :math:`- \tfrac12 \ln N \; q (r - 1)`
    k2        :math:`\sum_j \ln \Gamma(r) / \Gamma(r + N_j) + \sum_{jk} \ln \Gamma(1 + N_{jk})`
    bdeu      the same with pseudo-counts :math:`\text{ess} / (r q)` in place of 1
    ========  =====================================================================

    All but k2 give equivalent graphs the same score.

    Parameters
    ----------
    X : array or DataFrame of states
    dag : list of edges (parent, child), or BayesianNetwork
    score : {"bic", "aic", "bdeu", "k2", "loglik"}
    child : str, optional
        Return the local term of this variable alone.
    equivalent_sample_size : float, default=10.0
        Of "bdeu".
    states : dict, optional
        All states of a variable, where the data may not show each.
    sample_weight : array, optional

    Examples
    --------
    >>> X = [[int(b) for b in row] for row in "000 000 001 011 011 100 100 101 111 111 111 110".split()]
    >>> round(score_structure(X, [("x1", "x2")], "bic"), 6)
    -27.960351
    """
    families = read_families(X, score, equivalent_sample_size, sample_weight, states)
    edges = dag._graph().edges() if hasattr(dag, "_graph") else list(dag)
    names = families.names
    variables, parents = graph_of(edges, names, None, None)
    if len(variables) > len(names):
        strange = variables[len(names)]
        raise DataError(f"dag names {strange!r}, which is no column of X.{nearest(strange, names)}")
    dags.topological_order(parents, variables)
    if child is not None:
        if child not in names:
            raise DataError(f"child must be a column of X; got {child!r}.{nearest(child, names)}")
        return families.local(names.index(child), parents[names.index(child)])
    return families.graph(parents)
