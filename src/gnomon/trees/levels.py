"""A tree level by level: what a fit shows to those who watch it, with the numbers of one that grows unseen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.steps import Report
from gnomon.loops import grow as loop
from gnomon.loops.tree_predict import level_sums
from gnomon.trees.growing import (
    LARGE_NODE,
    Prepared,
    TopNodes,
    grow_data,
    grow_rules,
    grow_subtree,
    make_tree,
)
from gnomon.trees.nodes import Tree, select
from gnomon.trees.problems import Growth, Problem

Array = np.ndarray


class LevelState(NamedTuple):
    """The levels grown so far."""

    tree: Tree | None  # None in a checkpoint: it is made from the nodes
    key: int  # of the random numbers of the root
    nodes: tuple[Array, ...]  # numbers, values and masks, one line a node; empty where the tree is whole
    whole: Tree | None = None  # of a tree that is shown after it was grown, what is yet to be shown
    shown: int = 0  # steps of it


class Levels:
    """The workspace of a tree that grows level by level: sorted columns, parted among the nodes of the last level."""

    def __init__(self, prepared: Prepared, problem: Problem, growth: Growth, key: int) -> None:
        self.prepared, self.problem, self.key = prepared, problem, key
        self.rules = grow_rules(prepared, problem, growth, float(problem.weight.sum()))
        columns, order = prepared.columns.copy(), prepared.order.copy()
        data = grow_data(prepared, problem, growth, columns)
        self.top = TopNodes(data, self.rules, order, np.zeros(len(problem.weight), dtype=np.uint8))
        self.front = [(self.top.add(0, order.shape[1], 0), np.uint64(key))]

    def grow(self) -> None:
        """Split every node of the last level that can be split."""
        self.front = [child for node, key in self.front for child in self._split(node, key)]

    def _split(self, node: int, key: Any) -> list[tuple[int, Any]]:
        top = self.top
        if top.size(node) >= LARGE_NODE and top.order.shape[0] > 1:
            children = top.split(node, key)[::-1]
            for child, own in children:
                top.measure(child)
                top.ints[child][loop.KEY] = np.uint64(own).view(np.int64)
            return children
        lo, hi, depth = (int(top.ints[node][field]) for field in (loop.LO, loop.HI, loop.DEPTH))
        rules = self.rules._replace(max_depth=min(self.rules.max_depth, depth + 1))
        found = grow_subtree(top.data, rules, top.order, top.side, lo, hi, depth, key)
        top.keep(node, found, 0)
        if len(found[0]) == 1:
            return []
        children = []
        for side in (loop.LEFT, loop.RIGHT):
            line = int(found[0][0, side])
            child = top.add(*(int(found[0][line, field]) for field in (loop.LO, loop.HI, loop.DEPTH)))
            top.keep(child, found, line)
            top.ints[node][side] = child
            children.append((child, found[0][line, loop.KEY].view(np.uint64)))
        return children

    def next(self) -> tuple[LevelState, bool]:
        """Return the tree down to the last level, and whether it is whole; the level after it is grown meanwhile."""
        if len(self.top.ints) == 1:
            self.grow()
        nodes = self.top.join({})
        self.grow()
        return LevelState(self.tree(nodes), int(self.key), nodes), not self.front

    def tree(self, nodes: tuple[Array, ...]) -> Tree:
        """Return the tree of these nodes."""
        return make_tree(*nodes, self.prepared, self.problem, depth_first=True)

    def go_on(self, nodes: tuple[Array, ...]) -> None:
        """Take up the nodes of a checkpoint: their rows are parted again, and no split is searched."""
        top = self.top
        for line in range(len(top.ints), len(nodes[0])):
            top.add(*(int(nodes[0][line, field]) for field in (loop.LO, loop.HI, loop.DEPTH)))
        depth = int(nodes[0][:, loop.DEPTH].max())
        self.front = []
        for line, ints in enumerate(nodes[0]):
            top.keep(line, nodes, line)
            top.ints[line][[loop.LEFT, loop.RIGHT]] = ints[[loop.LEFT, loop.RIGHT]]
            if ints[loop.LEFT] >= 0:
                top.part(line)
            elif ints[loop.DEPTH] == depth:
                self.front.append((line, ints[loop.KEY].view(np.uint64)))
        self.grow()


class TreeWork:
    """The workspace: the rows, and the levels of a tree that somebody watches."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self.levels: Levels | None = None


def level_impurities(tree: Tree) -> list[tuple[float, float]]:
    """Return total impurity and number of leaves of a tree cut below every level; of a single leaf, as it is."""
    share = tree.weighted_n_node_samples * tree.impurity / tree.weighted_n_node_samples[0]
    table = np.zeros((tree.node_count, 4))
    sums = table[: level_sums(tree.children_left, tree.children_right, share, table)]
    if len(sums) == 1:
        return [(float(share[0]), 1.0)]
    cut = np.cumsum(sums[:-1, 2:], axis=0) + sums[1:, :2]  # leaves above a level, and all nodes on it
    return list(map(tuple, cut.tolist()))


def step_reports(tree: Tree, by_splits: bool) -> list[Report]:
    """What the steps tell of a tree that was grown at once: one for each split, or for each level."""
    if by_splits:
        told = [(float(impurity), k + 2.0) for k, impurity in enumerate(impurity_trace(tree)[1:])]
    elif _is_binary(tree):
        told = level_impurities(tree)
    else:
        told, depth = [], tree.depth
        share = tree.weighted_n_node_samples * tree.impurity / tree.weighted_n_node_samples[0]
        for level in range(1, depth.max() + 1):
            cut = (depth == level) | (tree.is_leaf & (depth < level))
            told.append((float(share[cut].sum()), float(cut.sum())))
    return [Report(impurity, info={"leaves": leaves}) for impurity, leaves in told]


def first_steps(tree: Tree, by_splits: bool, count: int) -> Tree:
    """Return a tree as it was after some splits, or down to some level."""
    order = tree.split_order
    return select(tree, (order > 0) & (order <= count) if by_splits else tree.depth < count)


def _is_binary(tree: Tree) -> bool:
    return tree.node_count == 2 * tree.n_leaves - 1


def total_impurity(tree: Tree) -> float:
    """Share of weight times impurity, summed over the leaves."""
    leaf = tree.is_leaf
    return float(tree.impurity[leaf] @ tree.weighted_n_node_samples[leaf] / tree.weighted_n_node_samples[0])


def last_report(tree: Tree) -> Report:
    """What the last step tells of a tree."""
    return Report(total_impurity(tree), done=True, info={"leaves": float(tree.n_leaves)})


def impurity_trace(tree: Tree) -> Array:
    """Total impurity (share of weight times impurity over the leaves) before and after every split."""
    share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    order = np.argsort(tree.split_order, kind="stable")[tree.n_leaves :]
    if _is_binary(tree):
        sums = share * tree.impurity
        left, right = tree.children_left[order], tree.children_right[order]
        return tree.impurity[0] - np.append(0.0, np.cumsum(sums[order] - (sums[left] + sums[right])))
    drops = [
        share[t] * tree.impurity[t] - sum(share[c] * tree.impurity[c] for c in tree.children(t))
        for t in order
    ]
    return tree.impurity[0] - np.append(0.0, np.cumsum(drops))
