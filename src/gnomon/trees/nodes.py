"""The one form of every tree: arrays with one entry per node, parents before children."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from gnomon.core.errors import ModelFileError
from gnomon.loops import tree_predict, tree_walk

Array = np.ndarray
LEAF = -2
BLOCK_BYTES, BLOCK_ROWS = 2**20, 2**16  # that meet all trees together: what fits beside a tree, at most
FEW_ROWS = 64  # that meet them at least
WALKED_ROWS = 512  # that go down a tree one by one, at most: as it is, not packed
_NONE = np.zeros(0, dtype=np.int32)


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

    def _check_loaded(self) -> None:
        """Refuse arrays of a file that a walk could leave, or in which it would never end."""
        if not all(isinstance(field, np.ndarray) for field in self):
            raise ModelFileError("a tree in it has parts that are no arrays. Get a new copy.")
        n = len(self.feature) if self.feature.ndim == 1 else 0
        fits = n > 0 and all(getattr(self, name).shape[:1] == (n,) for name in _PER_NODE)
        kinds = all(field.dtype.kind in "iu" for field in (self.feature, *_links(self)))
        if not fits or not kinds or self.value.ndim != 3 or self.value.dtype.kind != "f":
            raise ModelFileError("a tree in it has arrays that do not fit each other. Get a new copy.")
        if not all(field.ndim == 1 for name, field in self._asdict().items() if name != "value"):
            raise ModelFileError("a tree in it has arrays of the wrong shape. Get a new copy.")
        if self.threshold.dtype.kind != "f" or not _walks_end(self):
            raise ModelFileError("a tree in it has nodes that lead nowhere or in a circle. Get a new copy.")

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return len(self.feature)

    @property
    def n_outputs(self) -> int:
        """Number of columns of the target."""
        return int(self.value.shape[1])

    @property
    def max_n_classes(self) -> int:
        """Most classes of a column of the target; 1 for numbers."""
        return int(self.value.shape[2])

    @property
    def n_classes(self) -> Array:
        """Number of classes of every column of the target; 1 for numbers."""
        if self.n_outputs == 1:
            return np.array([self.max_n_classes])
        held = (self.value != 0).any(axis=0) | (self.max_n_classes == 1)
        return self.max_n_classes - held[:, ::-1].argmax(axis=1)

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

    def apply(self, X: Array) -> Array:
        """Return the node in which each row ends."""
        if self.is_walked_by(X):
            out = np.empty(len(X), dtype=np.int64)
            sides = self.children_left, self.children_right, self.missing_go_to_left
            tree_walk.end_nodes(np.ascontiguousarray(X), self.feature, self.threshold, *sides, out)
            return out
        numbers = np.arange(self.node_count, dtype=np.float64)[:, None]
        packed = pack_trees([self], [numbers], [0], beside=True)
        return packed.add(X, np.zeros((X.shape[0], 1)))[:, 0].astype(np.int64)

    def is_walked_by(self, X: Any) -> bool:
        """Tell whether rows are so few that each goes its way through the tree as it is."""
        return isinstance(X, np.ndarray) and len(X) <= WALKED_ROWS and not len(self.branch_start)

    def predict(self, X: Array) -> Array:
        """Return the value of the leaf of each row: (n, classes or 1), or (n, outputs, classes or 1)."""
        found = self.value[self.apply(X)]
        return found[:, 0] if found.shape[1] == 1 else found

    def decision_path(self, X: Array) -> Any:
        """Return a CSR indicator matrix of the nodes that each row passes."""
        return self.paths_to(self.apply(X))

    def paths_to(self, nodes: Array) -> Any:
        """Return a CSR indicator matrix of the nodes on the way from the root to each of the given ones."""
        parent = self.parents()
        paths: dict[int, list[int]] = {}
        for node in np.unique(nodes):
            path, at = [], int(node)
            while at >= 0:
                path.append(at)
                at = int(parent[at])
            paths[int(node)] = path[::-1]
        indices = [paths[int(node)] for node in nodes]
        indptr = np.append(0, np.cumsum([len(path) for path in indices]))
        flat = np.concatenate(indices)
        return sparse.csr_array(
            (np.ones(len(flat), np.int64), flat, indptr), shape=(len(nodes), self.node_count)
        )

    def importances(self, n_features: int) -> Array:
        """Impurity that each feature removed, as a share of all; zeros for a single leaf."""
        found = np.zeros(n_features)
        inner = self.feature >= 0
        np.add.at(found, self.feature[inner], self.gain[inner])
        total = found.sum()
        return found / total if total > 0 else found


def _links(tree: Tree) -> tuple[Array, ...]:
    return (
        tree.children_left,
        tree.children_right,
        tree.missing_go_to_left,
        tree.branch_start,
        tree.branch_count,
        tree.branches,
    )


def _walks_end(tree: Tree) -> bool:
    """Tell whether every step of a walk leads to a later node of the tree."""
    n, inner = tree.node_count, tree.feature >= 0
    node = np.arange(n)
    grouped = np.zeros(n, dtype=bool)
    if len(tree.branch_start):
        if len(tree.branch_start) != n or len(tree.branch_count) != n:
            return False
        grouped = inner & (tree.branch_start >= 0)
        first, count = (
            tree.branch_start[grouped].astype(np.int64),
            tree.branch_count[grouped].astype(np.int64),
        )
        if (count < 0).any() or (first + count + 1 > len(tree.branches)).any():
            return False
        for own, begin, many in zip(node[grouped], first, count):
            targets = tree.branches[begin : begin + many + 1]
            if (targets < own).any() or (targets >= n).any():  # a node that names itself ends the walk
                return False
    plain = inner & ~grouped
    left, right = tree.children_left[plain], tree.children_right[plain]
    told = grouped & (tree.missing_go_to_left >= 0)  # a side for missing values beside the branches
    sides = np.concatenate([tree.children_left[told], tree.children_right[told]])
    owners = np.concatenate([node[told], node[told]])
    return bool(
        (left == node[plain] + 1).all()  # nodes lie in preorder
        and ((right > node[plain]) & (right < n)).all()
        and ((sides >= owners) & (sides < n)).all()
    )


def check_trees(trees: Any, n_features: int, width: int | None = None) -> None:
    """Refuse the trees of a loaded model that ask for columns or give values that the model does not have."""
    if not isinstance(trees, tuple | list) or not all(isinstance(tree, Tree) for tree in trees):
        raise ModelFileError("it has something else in the place of its trees. Get a new copy.")
    for tree in trees:
        outside = tree.feature.max(initial=-1) >= n_features
        if outside or (width is not None and tree.value[0].size != width):
            raise ModelFileError(
                "a tree in it does not fit the columns or classes of its model. Get a new copy."
            )


def numeric_tree(**fields: Array) -> Tree:
    """Return a tree without categorical nodes."""
    return Tree(**fields, branch_start=_NONE, branch_count=_NONE, branches=_NONE)


class PackedTrees(NamedTuple):
    """Trees laid out to add up the values of leaves: tree t fills the columns from `columns[t]` on."""

    features: Array  # those that the trees ask for
    packed: tuple[Array, Array, Array]  # of all trees, one after the other
    roots: Array  # (trees + 1,) where each begins
    values: Array  # (nodes, width) of all trees; (0, 0) where a leaf has one value, which is packed with it
    columns: Array  # (trees,)

    def add(self, X: Any, out: Array, trees: range | None = None) -> Array:
        """out += the values of the leaves of some trees (all when None), in order; X may be CSR."""
        trees = range(len(self.columns)) if trees is None else trees
        room = BLOCK_BYTES // (X.dtype.itemsize * max(1, len(self.features)))
        span = max(1, min(X.shape[0], BLOCK_ROWS, max(room, FEW_ROWS)))
        if sparse.issparse(X):
            column_of = np.full(X.shape[1], -1)
            column_of[self.features] = np.arange(len(self.features))
            tree_predict.add_leaves_of_sparse(
                X.data, X.indices, X.indptr, column_of, len(self.features), *self.packed, self.roots,
                trees.start, trees.stop, self.values, self.columns, span, out,
            )  # fmt: skip
            return out
        tree_predict.add_leaves(
            X.reshape(-1), X.shape[1], self.features, *self.packed, self.roots, trees.start, trees.stop,
            self.values, self.columns, span, out,
        )  # fmt: skip
        return out


def pack_trees(
    trees: Sequence[Tree], values: Sequence[Array], columns: Sequence[int], *, beside: bool | None = None
) -> PackedTrees:
    """Lay trees out for prediction; the values of a tree are (nodes, width).

    They stay `beside` the packed nodes where they are several to a leaf, or where inner nodes have some too.
    """
    beside = any(value.shape[1] != 1 for value in values) if beside is None else beside
    asked = _joined([tree.feature for tree in trees], np.int32)
    inner = asked >= 0
    features = np.flatnonzero(np.bincount(asked[inner]))
    asked = np.where(inner, np.searchsorted(features, asked), LEAF).astype(np.int32)
    sizes = [tree.node_count for tree in trees]
    roots = np.cumsum([0, *sizes])
    right = _joined([tree.children_right for tree in trees], np.int64) + np.repeat(roots[:-1], sizes)
    threshold = _joined([tree.threshold for tree in trees], np.float64)
    missing = _joined([tree.missing_go_to_left for tree in trees], np.int8)
    value = _joined([value[:, 0] for value in values], np.float64)
    words = np.empty(2 * len(asked), dtype=np.int64)
    numbers = words.view(np.float64)
    tree_predict.pack_nodes(asked, threshold, right, missing, value, 0, numbers, words)
    table = _pack_categories(trees, asked, roots, words)
    kept = np.concatenate(values) if beside else np.zeros((0, 0))
    return PackedTrees(features, (numbers, words, table), roots, kept, np.array(columns, dtype=np.int64))


def _joined(parts: list[Array], dtype: Any) -> Array:
    return np.concatenate(parts).astype(dtype, copy=False) if parts else np.zeros(0, dtype=dtype)


def packed_trees_of(model: Any, trees: Any, lay_out: Callable[[], PackedTrees]) -> PackedTrees:
    """Return the trees of a model laid out for prediction; the layout is kept for the next time, beside the model."""
    known = _PACKED.get(model)
    if known is None or known[0] is not trees:
        known = _PACKED[model] = trees, lay_out()
    return known[1]


def leaf_sums(chunk: Any, packed: PackedTrees) -> Array:
    """Add up the values of the leaves of each row, (m, width), tree after tree."""
    return packed.add(chunk.X, np.zeros((chunk.X.shape[0], max(1, packed.values.shape[1]))))


def _pack_categories(trees: Sequence[Tree], feature: Array, roots: Array, words: Array) -> Array:
    """Add the categorical nodes of all trees to their words, as `loops.tree_predict` wants them; return the table."""
    tables, offset = [_NONE], 0
    for tree, root in zip(trees, roots.tolist()):
        if not len(tree.branch_start):
            continue
        own = slice(root, root + tree.node_count)
        grouped = (feature[own] >= 0) & (tree.branch_start >= 0)
        table = np.empty(int((tree.branch_count[grouped] + 2).sum()), dtype=np.int32)
        sides = tree.children_left, tree.children_right, tree.missing_go_to_left
        branches = tree.branch_start, tree.branch_count, tree.branches
        part = words[2 * root : 2 * own.stop]
        tree_predict.pack_branches(feature[own], *sides, *branches, root, offset, part, table)
        tables.append(table)
        offset += len(table)
    return np.concatenate(tables)


_PACKED: WeakKeyDictionary[Any, tuple[Any, PackedTrees]] = WeakKeyDictionary()


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
        return numeric_tree(**fields)
    start = np.where(inner, tree.branch_start[nodes], -1).astype(np.int32)
    return Tree(
        **fields,
        branch_start=start,
        branch_count=tree.branch_count[nodes],
        branches=new[tree.branches].astype(np.int32),
    )


_PER_NODE = Tree._fields[:11]
