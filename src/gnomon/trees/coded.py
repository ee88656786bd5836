"""The quick way from byte codes to a `Tree`: numeric columns, Gini's index or squared error, depth first."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.loops import coded as loop
from gnomon.loops.trees import GINI, SQUARED, GrowRules
from gnomon.trees.nodes import Tree, numeric_tree

Array = np.ndarray
BLOCK_BYTES = 2**16  # codes of a small node that are copied together
TINY = float(np.finfo(np.float64).tiny)


def is_quick(prepared: Any, problem: Any, rules: GrowRules) -> bool:
    """Say whether this way can grow the tree."""
    if rules.exact or rules.constrained or rules.max_leaf_nodes > 0 or prepared.categories.any():
        return False
    if rules.plain == 0 and (rules.min_samples_leaf > 1 or rules.min_samples_split > 2):
        return False  # limits of rows where weights are no numbers of rows
    return problem.criterion == GINI or (problem.criterion == SQUARED and problem.n_stats == 1)


def grow_coded(prepared: Any, problem: Any, rules: GrowRules, order: Array, key: Any) -> Tree:
    """Grow a tree on the rows of `order`."""
    bins, y = prepared.bins, problem.target[:, 0] if problem.criterion == SQUARED else problem.labels
    limits = np.stack([bins.lows, bins.highs], axis=2)
    own, room = _rules(problem, rules, len(limits)), _room(len(order), rules.max_depth)
    ints, floats = np.empty((room, 4), np.int64), np.empty((room, 4))
    values = np.empty((room, own.width))
    rows = loop.Rows(
        prepared.codes.reshape(-1), len(y), 1, order.astype(np.uint32), _line(problem.weight), _line(y)
    )
    waiting, keys = _root(len(order), key)
    n = loop.grow_codes(rows, _near(own.block, len(limits)), limits.reshape(-1), own,
                        _work(len(order), len(limits), own), waiting, keys, ints, floats, values)  # fmt: skip
    return _tree(ints[:n], floats[:n], values[:n], classes=own.kind != loop.NUMBERS)


def _near(n: int, d: int) -> loop.Rows:
    """Return room for the rows of a small node, row by row."""
    return loop.Rows(np.empty(n * d, np.uint8), 1, d, np.empty(n, np.uint32), np.empty(n), np.empty(n))


def _work(n: int, d: int, rules: loop.CodedRules) -> loop.Work:
    width = 1 + rules.width if rules.kind == loop.CLASSES else 2
    return loop.Work(
        weights=np.empty(n),
        moments=np.empty(n),
        own=np.empty(n, np.uint8),
        spare=np.empty(n, np.uint32),
        sums=np.zeros(256 * width),
        present=np.empty(257, np.int64),
        total=np.empty(width),
        left=np.empty(width),
        cut=np.zeros(6),
        best=np.zeros(6),
        features=np.arange(d),
        swaps=np.empty(d, np.int64),
    )


def _root(n: int, key: Any) -> tuple[Array, Array]:
    """Return the nodes that wait, the first of them the root, and their random keys."""
    waiting, keys = np.empty((n + 1, 4), np.int64), np.empty(n + 1, np.uint64)
    waiting[0, [loop.LO, loop.HI, loop.DEPTH, loop.PARENT]], keys[0] = (0, n, 0, -1), key
    return waiting, keys


def _line(numbers: Array) -> Array:
    """Return the numbers as the loops want them; a copy only where it must be."""
    return np.require(numbers, np.float64, ["C_CONTIGUOUS", "WRITEABLE"])


def _rules(problem: Any, rules: GrowRules, d: int) -> loop.CodedRules:
    kind = loop.NUMBERS
    if problem.criterion == GINI:
        kind = loop.TWO_CLASSES if problem.n_stats == 2 else loop.CLASSES
    counted = rules.plain > 0  # weights are numbers of rows
    return loop.CodedRules(
        kind=kind,
        width=problem.n_stats,
        random=rules.random,
        max_depth=rules.max_depth,
        max_features=rules.max_features,
        block=BLOCK_BYTES // d if d <= 16 * rules.max_features else 0,
        min_split=rules.min_samples_split if counted else 0.0,
        min_leaf=max(rules.min_samples_leaf if counted else 0.0, rules.min_weight_leaf, TINY),
        min_decrease=rules.min_decrease,
    )


def _room(n: int, max_depth: int) -> int:
    """Return how many nodes a tree of n rows may have."""
    return min(2 * n - 1, 2 ** (min(max_depth, 40) + 1) - 1)


def _tree(ints: Array, floats: Array, values: Array, *, classes: bool) -> Tree:
    feature, inner = ints[:, loop.FEATURE].astype(np.int32), ints[:, loop.FEATURE] >= 0
    return numeric_tree(
        feature=feature,
        threshold=floats[:, loop.THRESHOLD].copy(),
        children_left=np.where(inner, np.arange(1, len(ints) + 1, dtype=np.int32), np.int32(-1)),
        children_right=ints[:, loop.RIGHT].astype(np.int32),
        missing_go_to_left=ints[:, loop.MISSING_LEFT].astype(np.int8),
        value=(values[:, None, :] if classes else values[:, :, None]).copy(),
        impurity=floats[:, loop.IMPURITY].copy(),
        n_node_samples=ints[:, loop.ROWS].copy(),
        weighted_n_node_samples=floats[:, loop.TOTAL].copy(),
        gain=floats[:, loop.GAIN].copy(),
        split_order=np.where(inner, np.cumsum(inner), 0),
    )
