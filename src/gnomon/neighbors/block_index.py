"""Search among all rows where they meet one by one: functions of the user, given distances, sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.threads import in_order
from gnomon.loops import distances as loops
from gnomon.loops import space_trees
from gnomon.neighbors.metrics import Metric, block_distances
from gnomon.neighbors.search_index import QUERIES, Found, Index, joined, len_of, stacked, tasks
from gnomon.neighbors.tree_index import BLOCK, Tree, TreeIndex

TABLE = 2**20  # distances of a block at most
ALL = 2**62


class BlockIndex(Index):
    """Brute force for everything else: functions of the user, tables of distances, sparse rows."""

    def __init__(self, X: Any, metric: Metric) -> None:
        if metric.name == "haversine" and sparse.issparse(X):
            raise DataError("Metric 'haversine' not valid for sparse input.")
        self.metric, self.n_rows = metric, len_of(X)
        self.rows = X

    def nearest(self, Q: Any, k: int, *, prepared: bool = False) -> tuple[Array, Array]:
        def search(task: slice) -> tuple[Array, Array]:
            D = self._table(Q, task)
            if self.metric.kind == "precomputed" and sparse.issparse(Q):
                _check_stored(Q[task], k)
            rows, values = np.full((len(D), k), ALL), np.full((len(D), k), np.inf)
            loops.smallest(D, 0, rows, values)
            _fill_infinite(D, rows)
            return values, rows

        return stacked(self._run(search, Q), k)

    def _run(self, search: Any, Q: Any) -> Any:
        parts = tasks(len_of(Q), max(1, min(QUERIES, TABLE // max(1, self.n_rows))))
        return map(search, parts) if self.metric.name == "callable" else in_order(search, parts)

    def _table(self, Q: Any, task: slice) -> Array:
        part = Q[task]
        if self.metric.kind == "precomputed":
            D = _given_distances(part)
        elif self.metric.name != "callable" and (sparse.issparse(self.rows) or sparse.issparse(part)):
            D = _sparse_distances(part, self.rows, self.metric)
        else:
            D = block_distances(self.metric, part, self.rows)
        return np.where(np.isnan(D), np.inf, D)

    def within(self, Q: Any, radius: float, *, prepared: bool = False) -> Found:
        def search(task: slice) -> tuple[Array, Array, Array]:
            D = self._table(Q, task)
            query, rows = np.nonzero(D <= radius)
            return np.bincount(query, minlength=len(D)), rows, D[query, rows]

        return joined(self._run(search, Q))


def _given_distances(part: Any) -> Array:
    """Return given distances as a table; what a sparse one leaves out is infinitely far."""
    if not sparse.issparse(part):
        return np.array(part, dtype=np.float64)
    D, entries = np.full(part.shape, np.inf), part.tocoo()
    D[entries.row, entries.col] = entries.data
    return D


def _check_stored(part: Any, k: int) -> None:
    """Refuse a graph of distances that holds fewer than k neighbors of a row: those it leaves out are unknown."""
    stored = np.diff(sparse.csr_array(part).indptr)
    if stored.min(initial=k) < k:
        raise DataError(
            f"{k} neighbors per samples are required, but some samples have only {stored.min()} neighbors in the "
            "precomputed graph. Lower n_neighbors, or give a graph with more distances."
        )


def _fill_infinite(D: Array, rows: Array) -> None:
    """Give places that no finite distance took to the rows that are infinitely far, in their order."""
    for i in np.flatnonzero((rows == ALL).any(axis=1)):
        free = rows[i] == ALL
        rows[i, free] = np.flatnonzero(np.isinf(D[i]))[: free.sum()]


def _sparse_distances(Q: Any, X: Any, metric: Metric) -> Array:
    """Return distances of sparse rows: by products where they are Euclidean, else on dense pieces."""
    if metric.kind == "products" and metric.whiten is None and metric.name != "correlation":
        return _sparse_products(sparse.csr_array(Q), sparse.csr_array(X), metric)
    D = np.empty((Q.shape[0], X.shape[0]))
    dense = lambda M: M.toarray() if sparse.issparse(M) else np.asarray(M)  # noqa: E731
    here = dense(Q)
    for task in tasks(X.shape[0], max(1, TABLE // max(1, X.shape[1]))):
        there = dense(X[task])
        if metric.kind == "blocks":
            D[:, task] = block_distances(metric, here, there)
        else:
            a, b = metric.prepare(here), metric.prepare(there)
            flat = TreeIndex(b, metric, space_trees.FLAT, BLOCK).tree
            sums = np.empty((len(a), len(b)))
            _all_sums(flat, a, metric, sums)
            D[:, task] = metric.finish(sums, a.shape[1])
    return D


def _all_sums(tree: Tree, Q: Array, metric: Metric, out: Array) -> None:
    values, rows = np.empty(out.shape), np.empty(out.shape, dtype=np.int64)
    space_trees.nearest_in_tree(tree, Q, metric.code, float(metric.p), values, rows)
    np.put_along_axis(out, rows, values, axis=1)


def _sparse_products(Q: Any, X: Any, metric: Metric) -> Array:
    """Return Euclidean or cosine distances of sparse rows; equal rows are at distance zero."""
    xx, yy = (np.asarray(M.multiply(M).sum(axis=1), dtype=np.float64).ravel() for M in (Q, X))
    D = np.asarray((Q @ X.T).toarray(), dtype=np.float64)
    if metric.name == "cosine":
        norms = np.sqrt(xx)[:, None] * np.sqrt(yy)
        D = 1.0 - np.divide(D, norms, out=np.zeros_like(D), where=norms > 0)
        D[np.ix_(xx == 0, yy == 0)] = 0.0
        return np.where(D < 1e-15, 0.0, D)
    D = xx[:, None] + yy - 2.0 * D
    spoiled = loops.CANCELED * (xx[:, None] + yy) >= D
    for i, j in zip(*np.nonzero(spoiled), strict=True):
        gap = Q[[i]] - X[[j]]
        D[i, j] = float(gap.multiply(gap).sum())
    return D if metric.name == "sqeuclidean" else np.sqrt(D)
