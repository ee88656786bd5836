"""The one form of every tree: arrays with one entry per node, parents before children."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon.loops import tree_predict

Array = np.ndarray
LEAF = -2
SMALL_GROVE, FEW_ROWS = 16_384, 256  # nodes that fit into a cache; rows that do so beside them


class Tree(NamedTuple):
    """A grown tree as plain arrays; node 0 is the root and a leaf has ``children_left == -1``.

    A row goes left when ``x[feature] <= threshold``. A categorical node has ``branch_start >= 0``: category c
    goes to ``branches[branch_start + c]`` and an unseen one to ``branches[branch_start + branch_count]``.
    """

    feature: Array
    threshold: Array
    children_left: Array
    children_right: Array
    missing_go_to_left: Array  # 1, 0, or -1: missing values use the table of branches
    value: Array  # (nodes, outputs, classes): class shares, or (nodes, outputs, 1): means
    impurity: Array
    n_node_samples: Array
    weighted_n_node_samples: Array
    gain: Array  # weight times impurity that the split removed
    split_order: Array  # 1, 2, ... in the order of growth; 0 for leaves
    branch_start: Array  # empty when no node is categorical
    branch_count: Array
    branches: Array

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return len(self.feature)

    @property
    def is_leaf(self) -> Array:
        """Whether each node is a leaf."""
        return self.feature < 0

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.feature < 0))

    @property
    def max_depth(self) -> int:
        """Depth of the deepest node; a single leaf has depth 0."""
        return int(self.depth.max())

    @property
    def depth(self) -> Array:
        """Depth of every node."""
        depth = np.zeros(self.node_count, dtype=np.int64)
        for node in np.flatnonzero(self.feature >= 0):
            for child in self.children(node):
                depth[child] = depth[node] + 1
        return depth

    def children(self, node: int) -> list[int]:
        """Return the children of a node, from left to right."""
        if self.feature[node] < 0:
            return []
        if len(self.branch_start) and self.branch_start[node] >= 0:
            start, count = self.branch_start[node], self.branch_count[node]
            return [int(c) for c in dict.fromkeys(self.branches[start : start + count].tolist()) if c != node]
        return [int(self.children_left[node]), int(self.children_right[node])]

    def parents(self) -> Array:
        """Parent of every node; -1 for the root."""
        parent = np.full(self.node_count, -1, dtype=np.int64)
        for node in np.flatnonzero(self.feature >= 0):
            parent[self.children(node)] = node
        return parent

    def walk(self) -> tuple[Array, ...]:
        """Arrays that the prediction loops take."""
        return (
            self.feature,
            self.threshold,
            self.children_left,
            self.children_right,
            self.missing_go_to_left,
            self.branch_start,
            self.branch_count,
            self.branches,
        )

    def apply(self, X: Array) -> Array:
        """Return the node in which each row ends."""
        out = np.empty(len(X), dtype=np.int64)
        if len(self.branch_start):
            tree_predict.leaves(X, 0, len(X), 0, *self.walk(), out)
        else:
            tree_predict.packed_leaves(X.reshape(-1), X.shape[1], *self.packed(), out)
        return out

    def packed(self) -> tuple[Array, Array]:
        """Thresholds and words of a numeric tree side by side; see `loops.tree_predict.pack_nodes`."""
        words = np.empty(2 * self.node_count, dtype=np.int64)
        numbers = words.view(np.float64)
        tree_predict.pack_nodes(
            self.feature, self.threshold, self.children_right, self.missing_go_to_left, numbers, words
        )
        return numbers, words

    def importances(self, n_features: int) -> Array:
        """Impurity that each feature removed, as a share of all; zeros for a single leaf."""
        found = np.zeros(n_features)
        inner = self.feature >= 0
        np.add.at(found, self.feature[inner], self.gain[inner])
        total = found.sum()
        return found / total if total > 0 else found


class Grove(NamedTuple):
    """Trees ready to add up the values of leaves: tree t fills the columns from `columns[t]` on."""

    trees: tuple[Tree, ...]
    packed: tuple[Array, Array] | None  # of all trees, one after the other; None where one has categories
    roots: Array  # (trees + 1,) where each begins
    values: Array  # (nodes, width) of all trees
    columns: Array  # (trees,)

    def add(self, X: Array, out: Array, trees: range | None = None) -> Array:
        """out += the values of the leaves of some trees (all when None), in order."""
        trees = range(len(self.trees)) if trees is None else trees
        if self.packed is None:
            for t in trees:
                values = self.values[self.roots[t] : self.roots[t + 1]]
                tree_predict.add_values(self.trees[t].apply(X), values, self.columns[t], out)
            return out
        small = self.roots[trees.stop] - self.roots[trees.start] <= SMALL_GROVE
        tree_predict.add_leaves(
            X.reshape(-1), X.shape[1], *self.packed, self.roots, trees.start, trees.stop, self.values,
            self.columns, FEW_ROWS if small else len(X) + 1, out,
        )  # fmt: skip
        return out


def make_grove(trees: Sequence[Tree], values: Sequence[Array], columns: Sequence[int]) -> Grove:
    """Lay trees out for prediction."""
    if not trees:
        return Grove((), None, np.zeros(1, np.int64), np.zeros((0, 1)), np.zeros(0, np.int64))
    packed = None
    if not any(len(tree.branch_start) for tree in trees):
        numbers, words = zip(*(tree.packed() for tree in trees))
        packed = np.concatenate(numbers), np.concatenate(words)
    roots = np.cumsum([0, *(tree.node_count for tree in trees)])
    return Grove(tuple(trees), packed, roots, np.concatenate(values), np.array(columns))


def select(tree: Tree, keep: Array) -> Tree:
    """Return the tree whose inner nodes are the kept ones (a mask closed under parents)."""
    alive = np.zeros(tree.node_count, dtype=bool)
    alive[0] = True
    for node in np.flatnonzero((tree.feature >= 0) & keep):
        if alive[node]:
            alive[tree.children(node)] = True
    nodes = np.flatnonzero(alive)
    new = np.full(tree.node_count, -1, dtype=np.int64)
    new[nodes] = np.arange(len(nodes))
    inner = keep[nodes] & (tree.feature[nodes] >= 0)
    return _renumber(tree, nodes, new, inner)


def _renumber(tree: Tree, nodes: Array, new: Array, inner: Array) -> Tree:
    fields: dict[str, Any] = {name: getattr(tree, name)[nodes] for name in _PER_NODE}
    fields["feature"] = np.where(inner, fields["feature"], LEAF).astype(np.int32)
    fields["threshold"] = np.where(inner, fields["threshold"], -2.0)
    fields["gain"] = np.where(inner, fields["gain"], 0.0)
    fields["split_order"] = np.where(inner, fields["split_order"], 0)
    for side in ("children_left", "children_right"):
        moved = new[np.maximum(fields[side], 0)]
        fields[side] = np.where(inner, moved, -1).astype(np.int32)
    if not len(tree.branch_start):
        return Tree(**fields, branch_start=_NONE, branch_count=_NONE, branches=_NONE)
    start = np.where(inner, tree.branch_start[nodes], -1).astype(np.int32)
    return Tree(
        **fields,
        branch_start=start,
        branch_count=tree.branch_count[nodes],
        branches=new[tree.branches].astype(np.int32),
    )


_NONE = np.zeros(0, dtype=np.int32)
_PER_NODE = Tree._fields[:11]
