"""Search in trees over the rows, and the scan of all rows as a tree without bounds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.threads import in_order
from gnomon.loops import space_trees
from gnomon.neighbors.metrics import Metric
from gnomon.neighbors.search_index import QUERIES, Found, Index, closed, joined, stacked, tasks

BLOCK = 512  # points of a leaf where nothing is left out


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


class TreeIndex(Index):
    """A kd-tree (boxes) or ball tree, or leaves without bounds: a scan of all points."""

    def __init__(self, X: Array, metric: Metric, mode: int, leaf_size: int) -> None:
        self.metric, self.n_rows = metric, len(X)
        self.rows = X  # prepared
        self.tree = plant(X, metric, mode, leaf_size)

    def nearest(self, Q: Array, k: int, *, prepared: bool = False) -> tuple[Array, Array]:
        Q, back = self._sorted(Q if prepared else self.metric.prepare(Q))
        parts = in_order(lambda task: self._nearest(Q[task], k), tasks(len(Q)))
        values, rows = stacked([part[:2] for part in parts], k)
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
        parts = in_order(lambda task: space_trees.within(self.tree, Q[task], code, p, reach), tasks(len(Q)))
        found = joined(parts)
        return closed(found._replace(distances=self.metric.finish(found.distances, width)), radius)

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
    levels = int(np.log2(max(1.0, n / max(1, leaf_size))))
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
