"""Which index is built: the one that is asked for, or the one that looks at least."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.loops import space_trees
from gnomon.neighbors.block_index import BlockIndex
from gnomon.neighbors.metrics import ON_BLOCKS, Metric, has_triangles
from gnomon.neighbors.product_index import ProductIndex
from gnomon.neighbors.search_index import Index, len_of
from gnomon.neighbors.tree_index import BLOCK, TreeIndex

MANY_CALLS = 200  # rows from which a function of the user is called through a vantage-point tree
MANY_ROWS = 2000  # rows from which a tree may pay
SAMPLE = 4000  # rows of the tree that is tried first where columns are many
POINT = 4.0  # what looking at a point costs in a tree, in columns of a product: measured


def build(X: Any, metric: Metric, algorithm: str, leaf_size: int, k: int) -> Index:
    """Build the index that is asked for or, with "auto", the one that looks at least."""
    if metric.kind == "edit":
        from gnomon.neighbors.words import EditIndex, VantageIndex

        return (VantageIndex if algorithm == "vp_tree" else EditIndex)(X, metric)
    many = metric.name == "callable" and len_of(X) >= MANY_CALLS and not sparse.issparse(X)
    if algorithm == "vp_tree" or (algorithm == "auto" and many and has_triangles(metric, X)):
        from gnomon.neighbors.words import VantageIndex

        return VantageIndex(X, metric)
    if algorithm == "kd_tree" and metric.name in (*ON_BLOCKS, "haversine"):
        raise DataError(f"algorithm='kd_tree' cannot bound metric={metric.name!r}; use 'brute'.")
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
