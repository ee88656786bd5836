"""Search indexes: built once from the rows, asked for the nearest rows or for all within a radius.

Every kind gives the same answer: distances ascending, of equal ones the lower row first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.threads import in_order
from gnomon.loops import distances as loops
from gnomon.loops import shortlists, space_trees
from gnomon.neighbors.metrics import Metric, block_distances

QUERIES = 256  # rows of a task
PRODUCTS = 2**19  # products computed at once by a task
BLOCK = 512  # points of a leaf where nothing is left out
TABLE = 2**20  # distances of a block at most, where rows meet one by one
ALL = 2**62

# Scans of all rows, made when a doubt first arises; never saved with an index.
_SCANS: WeakKeyDictionary[Index, TreeIndex] = WeakKeyDictionary()


class Found(NamedTuple):
    """What lies within a radius: the rows of query i are those from ends[i] to ends[i + 1]."""

    ends: Array
    distances: Array
    rows: Array


class Tree(NamedTuple):
    """Points halved again and again; see `gnomon.loops.space_trees`."""

    points: Array  # (n · d,) leaf after leaf, each column by column
    order: Array  # (n,) row of every point
    ends: Array  # (nodes, 2) first point and the one after the last
    split: Array  # (inner nodes, 2) column and value
    lower: Array  # (nodes, d) corners of boxes, or centers of balls
    upper: Array  # (nodes, d) corners, or (nodes, 1) radii
    mode: int
    width: int  # points of the largest leaf


class Index:
    """What every index has."""

    n_rows: int
    rows: Any  # as the metric prepared them
    metric: Metric

    def nearest(self, Q: Any, k: int, *, prepared: bool = False) -> tuple[Array, Array]:
        """Return the distances and the rows of the k nearest to every query; `prepared`: they are `rows`."""
        raise NotImplementedError

    def within(self, Q: Any, radius: float, *, prepared: bool = False) -> Found:
        """Return all rows at most `radius` away, for each query in the order of the rows."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise `ModelFileError` when arrays from a file are impossible."""


def _tasks(n: int, size: int = QUERIES) -> Iterator[slice]:
    return (slice(begin, min(begin + size, n)) for begin in range(0, n, size))


def _stacked(parts: Any, k: int) -> tuple[Array, Array]:
    values, rows = zip(*parts, strict=True)
    return np.concatenate(values).reshape(-1, k), np.concatenate(rows).reshape(-1, k)


def _found(parts: Any) -> Found:
    counts, labels, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Found(np.concatenate([[0], np.cumsum(counts)]), values, labels)


def _closed(found: Found, radius: float) -> Found:
    """Drop what rounding let in beyond the radius, and put the rows of every query in order."""
    query = np.repeat(np.arange(len(found.ends) - 1), np.diff(found.ends))
    order = np.lexsort((found.rows, query))
    order = order[found.distances[order] <= radius]
    counts = np.bincount(query[order], minlength=len(found.ends) - 1)
    ends = np.concatenate([[0], np.cumsum(counts)])
    return Found(ends, found.distances[order], found.rows[order])


class TreeIndex(Index):
    """A kd-tree (boxes) or ball tree, or leaves without bounds: a scan of all points."""

    def __init__(self, X: Array, metric: Metric, mode: int, leaf_size: int) -> None:
        self.metric, self.n_rows = metric, len(X)
        self.rows = X  # prepared
        self.tree = plant(X, metric, mode, leaf_size)

    def nearest(self, Q: Array, k: int, *, prepared: bool = False) -> tuple[Array, Array]:
        Q, back = self._sorted(Q if prepared else self.metric.prepare(Q))
        parts = in_order(lambda task: self._nearest(Q[task], k), _tasks(len(Q)))
        values, rows = _stacked([part[:2] for part in parts], k)
        return self.metric.finish(values[back], self.rows.shape[1]), rows[back]

    def _nearest(self, Q: Array, k: int) -> tuple[Array, Array, int]:
        values, rows = np.empty((len(Q), k)), np.empty((len(Q), k), dtype=np.int64)
        code, p = self.metric.code, float(self.metric.p)
        looked = space_trees.nearest_in_tree(self.tree, Q, code, p, values, rows)
        return values, rows, looked

    def _sorted(self, Q: Array) -> tuple[Array, Any]:
        """Queries in the order of the leaves they fall into, and how to put answers back."""
        if self.tree.mode == space_trees.FLAT or len(Q) <= QUERIES:
            return Q, slice(None)
        leaf = np.empty(len(Q), dtype=np.int64)
        space_trees.leaf_of(self.tree, Q, leaf)
        order = np.argsort(leaf, kind="stable")
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return np.ascontiguousarray(Q[order]), back

    def within(self, Q: Array, radius: float, *, prepared: bool = False) -> Found:
        Q, width = Q if prepared else self.metric.prepare(Q), self.rows.shape[1]
        reach = self.metric.reach(radius, width)
        code, p = self.metric.code, float(self.metric.p)
        parts = in_order(lambda task: space_trees.within(self.tree, Q[task], code, p, reach), _tasks(len(Q)))
        found = _found(parts)
        return _closed(found._replace(distances=self.metric.finish(found.distances, width)), radius)

    def share(self, k: int, probes: int = 32) -> float:
        """Return what share of the points a search looks at, asked for some of the points themselves."""
        some = self.rows[:: max(1, self.n_rows // probes)][:probes]
        return self._nearest(np.ascontiguousarray(some), k)[2] / (len(some) * self.n_rows)

    def check(self) -> None:
        n, d = self.rows.shape
        tree, nodes = self.tree, len(self.tree.ends)
        shapes = {
            "points": (n * d,),
            "order": (n,),
            "ends": (nodes, 2),
            "lower": (nodes, d),
            "upper": (nodes, 1 if tree.mode == space_trees.BALLS else d),
            "split": (max(1, nodes // 2), 2),
        }
        good = n > 0 and nodes > 0 and (nodes + 1) & nodes == 0 and nodes < 2**40
        good = good and all(getattr(tree, name).shape == shape for name, shape in shapes.items())
        good = good and tree.ends.dtype == tree.order.dtype == np.int64
        if not (good and np.array_equal(tree.ends, _ends(n, nodes))):
            raise ModelFileError("its search tree does not fit its rows.")
        leaves = np.diff(tree.ends[nodes // 2 :], axis=1)
        columns = tree.split[:, 0]
        if not (
            np.array_equal(np.sort(tree.order), np.arange(n))
            and leaves.max() == tree.width
            and ((columns >= 0) & (columns < d)).all()
        ):
            raise ModelFileError("its search tree points beyond its rows.")


def _ends(n: int, nodes: int) -> Array:
    """Return where the points of every node begin and end."""
    ends = np.empty((nodes, 2), dtype=np.int64)
    ends[0] = 0, n
    for node in range(nodes // 2):
        lo, hi = ends[node]
        ends[2 * node + 1], ends[2 * node + 2] = (lo, (lo + hi) // 2), ((lo + hi) // 2, hi)
    return ends


def plant(X: Array, metric: Metric, mode: int, leaf_size: int) -> Tree:
    """Build a tree over prepared rows."""
    n, d = X.shape
    levels = max(0, int(np.ceil(np.log2(max(1.0, n / max(1, leaf_size))))))
    nodes = 2 ** (min(levels, int(np.log2(n))) + 1) - 1
    ends, order = np.empty((nodes, 2), dtype=np.int64), np.arange(n)
    lower, upper, split = np.zeros((nodes, d)), np.zeros((nodes, d)), np.zeros((max(1, nodes // 2), 2))
    if mode == space_trees.FLAT:
        ends = _ends(n, nodes)
    else:
        space_trees.grow(X, ends, order, np.empty(n, dtype=X.dtype), lower, upper, split)
    if mode == space_trees.BALLS:
        upper = np.zeros((nodes, 1))
        space_trees.enclose(X, ends, order, metric.code, float(metric.p), lower, upper[:, 0])
    points = np.empty(n * d, dtype=X.dtype)
    space_trees.lay_out(X, ends, order, points)
    width = int(np.diff(ends[nodes // 2 :], axis=1).max())
    return Tree(points, order, ends, split, lower, upper, mode, width)


class ProductIndex(Index):
    """Brute force for Euclidean distances: products in single precision shortlist, exact sums decide.

    Where the error of the products leaves a doubt, double precision is asked, then every distance is summed.
    """

    def __init__(self, X: Array, metric: Metric) -> None:
        self.metric, self.n_rows = metric, len(X)
        self.rows = X
        self.shift = X.mean(axis=0, dtype=np.float64)
        top = max(
            float(np.abs(part - self.shift).max(initial=0.0)) for part in (X[s] for s in _tasks(len(X), 8192))
        )
        self.scale = 2.0 ** -float(max(np.frexp(top)[1], -1000)) if 0 < top < np.inf else 1.0
        self.single, norms = np.empty(X.shape, dtype=np.float32), np.empty(len(X))
        for task in _tasks(len(X), 8192):
            centered = self._centered(X[task])
            self.single[task] = centered
            norms[task] = np.einsum("ij,ij->i", centered, centered)
        self.norms = norms

    def _centered(self, X: Array) -> Array:
        return (X - self.shift) * self.scale

    def nearest(self, Q: Array, k: int, *, prepared: bool = False) -> tuple[Array, Array]:
        Q = Q if prepared else self.metric.prepare(Q)
        ways = [np.float32, np.float64, None]
        if not np.isfinite(self.norms).all() or 2 * (k + 8) >= self.n_rows:
            ways = [None]
        parts = in_order(lambda task: self._search(Q[task], k, ways), _tasks(len(Q)))
        values, rows = _stacked(parts, k)
        return self.metric.finish(values, self.rows.shape[1]), rows

    def _search(self, Q: Array, k: int, ways: list[Any]) -> tuple[Array, Array]:
        values, rows = np.empty((len(Q), k)), np.empty((len(Q), k), dtype=np.int64)
        open_ = np.arange(len(Q))
        for way in ways:
            if way is None:
                values[open_], rows[open_] = self._scan(Q[open_], k)
                break
            found = self._shortlisted(Q[open_], k, way)
            values[open_], rows[open_], sure = found
            open_ = open_[~sure]
            if not len(open_):
                break
        return values, rows

    def _shortlisted(self, Q: Array, k: int, dtype: Any) -> tuple[Array, Array, Array]:
        n, d = self.rows.shape
        here = self._centered(Q)
        norms = np.einsum("ij,ij->i", here, here)
        error = 2.0 * (d + 8) * float(np.finfo(dtype).eps)
        keep = k + max(8, k // 4)
        pool = (len(Q), 2 * keep)
        keys, places = np.empty(pool, dtype=dtype), np.empty(pool, dtype=np.int64)
        limit, used = np.full(len(Q), np.inf, dtype=dtype), np.zeros(len(Q), dtype=np.int64)
        minus = (-here).astype(dtype)
        size = max(STEP, PRODUCTS // len(Q))
        D = np.empty((len(Q), min(size, n)), dtype=dtype)
        for task in _tasks(n, size):
            there = self.single[task] if dtype == np.float32 else self._centered(self.rows[task])
            block = D[:, : task.stop - task.start]
            np.matmul(minus, there.T, out=block)
            shift = (self.norms[task] * (0.5 - 1.5 * error)).astype(dtype)
            shortlists.shortlist(block, shift, task.start, keep, limit, used, keys, places)
        values, rows = np.empty((len(Q), k)), np.empty((len(Q), k), dtype=np.int64)
        sure = np.empty(len(Q), dtype=np.bool_)
        floor = (d + 2) * float(np.finfo(dtype).tiny)
        given = (limit.astype(np.float64), used, places, self.scale, 0.5 * error, floor)
        shortlists.decide(Q, self.rows, norms, *given, values, rows, sure)
        return values, rows, sure

    def _scan(self, Q: Array, k: int) -> tuple[Array, Array]:
        """Sum every distance."""
        return self._flat()._nearest(np.ascontiguousarray(Q), k)[:2]

    def _flat(self) -> TreeIndex:
        flat = _SCANS.get(self)
        if flat is None:
            flat = _SCANS[self] = TreeIndex(self.rows, self.metric, space_trees.FLAT, BLOCK)
        return flat

    def within(self, Q: Array, radius: float, *, prepared: bool = False) -> Found:
        return self._flat().within(Q, radius, prepared=prepared)

    def check(self) -> None:
        n, d = self.rows.shape
        if not (
            n > 0
            and self.single.shape == (n, d)
            and self.single.dtype == np.float32
            and self.norms.shape == (n,)
            and self.shift.shape == (d,)
        ):
            raise ModelFileError("its search index does not fit its rows.")


STEP = 1024  # rows at least that meet a block of queries at once


class BlockIndex(Index):
    """Brute force for everything else: functions of the user, tables of distances, sparse rows."""

    def __init__(self, X: Any, metric: Metric) -> None:
        self.metric, self.n_rows = metric, X.shape[0] if hasattr(X, "shape") else len(X)
        self.rows = X

    def nearest(self, Q: Any, k: int, *, prepared: bool = False) -> tuple[Array, Array]:
        def search(task: slice) -> tuple[Array, Array]:
            D = self._table(Q, task)
            rows, values = np.full((len(D), k), ALL), np.full((len(D), k), np.inf)
            loops.smallest(D, 0, rows, values)
            _fill_infinite(D, rows)
            return values, rows

        return _stacked(self._run(search, Q), k)

    def _run(self, search: Any, Q: Any) -> Any:
        n = Q.shape[0] if hasattr(Q, "shape") else len(Q)
        tasks = _tasks(n, max(1, min(QUERIES, TABLE // max(1, self.n_rows))))
        return map(search, tasks) if self.metric.name == "callable" else in_order(search, tasks)

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

        return _found(self._run(search, Q))


def _given_distances(part: Any) -> Array:
    """Return given distances as a table; what a sparse one leaves out is infinitely far."""
    if not sparse.issparse(part):
        return np.array(part, dtype=np.float64)
    D, entries = np.full(part.shape, np.inf), part.tocoo()
    D[entries.row, entries.col] = entries.data
    return D


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
    for task in _tasks(X.shape[0], max(1, TABLE // max(1, X.shape[1]))):
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


def build(X: Any, metric: Metric, algorithm: str, leaf_size: int, k: int) -> Index:
    """Build the index that is asked for or, with "auto", the one that looks at least."""
    if metric.kind == "edit":
        from gnomon.neighbors.words import EditIndex, VantageIndex

        return (VantageIndex if algorithm == "vp_tree" else EditIndex)(X, metric)
    many = metric.name == "callable" and len_of(X) >= MANY_CALLS and not sparse.issparse(X)
    if algorithm == "vp_tree" or (algorithm == "auto" and many):
        from gnomon.neighbors.words import VantageIndex

        return VantageIndex(X, metric)
    if metric.kind in ("blocks", "precomputed") or sparse.issparse(X):
        return BlockIndex(X, metric)
    rows = metric.prepare(X)
    if algorithm in ("kd_tree", "ball_tree"):
        if not metric.trees:
            raise DataError(f"algorithm={algorithm!r} cannot bound metric={metric.name!r}; use 'brute'.")
        mode = space_trees.BOXES if algorithm == "kd_tree" else space_trees.BALLS
        return TreeIndex(rows, metric, mode, leaf_size)
    if algorithm == "auto" and metric.trees:
        tree = _worthwhile_tree(rows, metric, leaf_size, k)
        if tree is not None:
            return tree
    if metric.kind == "products":
        return ProductIndex(rows, metric)
    return TreeIndex(rows, metric, space_trees.FLAT, BLOCK)


MANY_CALLS = 200  # rows from which a function of the user is called through a vantage-point tree
MANY_ROWS = 2000  # rows from which a tree may pay
SAMPLE = 4000  # rows of the tree that is tried first where columns are many
POINT = 4.0  # what looking at a point costs in a tree, in columns of a product: measured


def len_of(X: Any) -> int:
    """Return how many rows there are."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _worthwhile_tree(X: Array, metric: Metric, leaf_size: int, k: int) -> TreeIndex | None:
    """Return a kd-tree when its searches look at so few points that they cost less than a look at all."""
    n, d = X.shape
    if n < MANY_ROWS or not np.isfinite(X.sum(dtype=np.float64)):
        return None
    if d > 15:
        sample = np.ascontiguousarray(X[:: max(1, n // SAMPLE)][:SAMPLE])
        trial = TreeIndex(sample, metric, space_trees.BOXES, leaf_size)
        if trial.share(min(k, len(sample))) > 0.2:
            return None
    tree = TreeIndex(X, metric, space_trees.BOXES, leaf_size)
    cost = tree.share(min(k, n)) * (1.0 + POINT * (1.0 if metric.kind == "products" else 0.0))
    return tree if cost < 1.0 else None
