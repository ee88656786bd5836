"""Growing one tree: totals of nodes, choice of the split, partition of the rows, best-first or depth-first.

A node owns the positions lo..hi of `order` (every line of it, in exact mode). Its random numbers come from
its path, not from the order of growth, so a subtree may be grown by any thread. `order` and `columns` are
rearranged in place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.draws import mix
from gnomon.loops.search import (
    CODE,
    CREATED,
    DEPTH,
    FEATURE,
    GAIN,
    HI,
    IMPURITY,
    KEY,
    LEFT,
    LO,
    LOWER,
    MASK,
    MISSING_LEFT,
    N_INT,
    REPS,
    RIGHT,
    ROWS,
    THRESHOLD,
    UPPER,
    WEIGHT,
    search_node,
)
from gnomon.loops.trees import (
    BARE,
    ENTROPIES,
    ENTRY,
    ERROR,
    MISSING_CODE,
    POISSON,
    loss_of,
)


class GrowData(NamedTuple):
    """What a tree is grown from."""

    columns: np.ndarray | None  # (d, n) float64, every column sorted; exact only, rearranged with `order`
    codes: np.ndarray | None  # (d, n) uint8, histograms only
    limits: np.ndarray | None  # (d, 256, 2) smallest and largest value of every bin
    kinds: np.ndarray  # (d, 2) int64: number of categories (0: numeric), sign of the monotone constraint
    labels: np.ndarray  # (n,) int16: class
    target: np.ndarray  # (n, m) float64, regression only
    wr: np.ndarray  # (n, 2) float64: weight, and how many rows of the sample a row stands for


@compiled(**BARE)
def totals_of(criterion, m, rows, labels, target, wr, total, value):
    """Fill a node's statistics and value; returns (impurity, splittable)."""
    for k in range(m + 2):
        total[k] = 0.0
    for k in range(m):
        value[k] = 0.0
    classify = criterion <= ERROR
    for i in rows:
        w = wr[i, 0]
        total[0] += wr[i, 1]
        total[1] += w
        if classify:
            total[2 + labels[i]] += w
        else:
            for o in range(m):
                value[o] += w * target[i, o]
    if not classify:
        return regression_totals(criterion, m, rows, target, wr, total, value)
    top = 0.0
    for k in range(m):
        value[k] = total[2 + k] / total[1]
        top = max(top, value[k])
    return loss_of(criterion, total, m) / total[1], top < 1.0


@compiled(**BARE)
def regression_totals(criterion, m, rows, target, wr, total, value):
    """Means, their loss by a second pass, and whether the targets differ.

    Indicators of classes are all of one size, which takes the place of 1 in the shares of `ENTROPIES`.
    """
    w, one = total[1], 0.0
    impurity, varies = 0.0, False
    for o in range(m):
        one = max(one, target[rows[0], o])
    for o in range(m):
        mean = value[o] / w
        first = target[rows[0], o]
        for i in rows:
            y = target[i, o]
            varies = varies or y != first
            if criterion == POISSON:
                impurity += wr[i, 0] * (y * np.log(y / mean) if y > 0.0 else 0.0)
            elif criterion == ENTROPIES:
                impurity -= wr[i, 0] * (y * np.log2(mean / one) if y > 0.0 else 0.0)
            else:
                impurity += wr[i, 0] * (y - mean) ** 2
        value[o] = mean
        total[2 + o] = mean * w if criterion >= POISSON else 0.0
    return impurity / (w * m), varies


@compiled(**BARE)
def mark_sides(columns, codes, order, ints, floats, masks, node, side):
    """side[i] = 1 for the rows that go left; returns how many."""
    f, missing_left, categorical = ints[FEATURE], ints[MISSING_LEFT], ints[MASK] == 1
    threshold, code, left = floats[THRESHOLD], ints[CODE], 0
    for k in range(ints[LO], ints[HI]):
        go, known, i, c = missing_left == 1, False, 0, 0
        if columns is not None:
            i, x = order[f, k], columns[f, k]
            known = x == x
            if known:
                go, c = x <= threshold, np.int64(x)
        if codes is not None:
            i = order[0, k]
            c = np.int64(codes[f, i])
            known = c != MISSING_CODE
            if known:
                go = c <= code
        if masks is not None and categorical and known:
            go = masks[node, c] == 1
        side[i] = go
        left += go
    return left


@compiled(**BARE)
def partition(order, columns, first, last, lo, hi, n_left, side, spare, spare_x):
    """Stable partition of the lines first..last-1 of `order` and of the sorted values beside them."""
    for f in range(first, last):
        line = order[f]
        if columns is None:
            a, b = lo, 0
            for k in range(lo, hi):
                i = line[k]
                spare[b] = i
                line[a] = i
                a += side[i]
                b += 1 - side[i]
            for k in range(b):
                line[lo + n_left + k] = spare[k]
        else:
            values = columns[f]
            a, b = lo, 0
            for k in range(lo, hi):
                i, x = line[k], values[k]
                spare[b], spare_x[b] = i, x
                line[a], values[a] = i, x
                a += side[i]
                b += 1 - side[i]
            for k in range(b):
                line[lo + n_left + k], values[lo + n_left + k] = spare[k], spare_x[k]


@compiled(**BARE)
def may_split(rules, ints, floats, varies):
    """Whether a node is impure, large and shallow enough to be split."""
    reps, weight = floats[REPS], floats[WEIGHT]
    if not varies or ints[DEPTH] >= rules.max_depth:
        return False
    if reps < rules.min_samples_split or reps < 2.0 * rules.min_samples_leaf:
        return False
    return weight >= 2.0 * rules.min_weight_leaf


@compiled(**BARE)
def next_node(best_first, frontier, size, floats):
    """Position in the frontier of the node to split: the last one, or the one with the largest gain."""
    if not best_first:
        return size - 1
    best = 0
    for k in range(1, size):
        a, b = frontier[k], frontier[best]
        if floats[a, GAIN] > floats[b, GAIN] or (floats[a, GAIN] == floats[b, GAIN] and a < b):
            best = k
    return best


@compiled(**BARE)
def child_key(key, side):
    """The random key of a child."""
    return mix(key ^ np.uint64(2 * side + 1))


@compiled(**BARE)
def place_children(ints, node, first, n_left):
    """Give the children of a node their rows, depth and random keys."""
    for s in range(2):
        child = first + s
        for k in range(N_INT):
            ints[child, k] = -1
        ints[child, LO] = ints[node, LO] + n_left * s
        ints[child, HI] = ints[node, HI] if s == 1 else ints[node, LO] + n_left
        ints[child, DEPTH] = ints[node, DEPTH] + 1
        ints[child, KEY] = np.int64(child_key(np.uint64(ints[node, KEY]), s))


@compiled(**BARE)
def bound_children(classify, sign, node, first, floats, values):
    """Bounds that a monotone split passes down, and values kept inside them."""
    which = 1 if classify else 0
    half = 0.5 * (values[first, which] + values[first + 1, which])
    for s in range(2):
        child = first + s
        lower, upper = floats[node, LOWER], floats[node, UPPER]
        if sign != 0 and (sign > 0) == (s == 0):
            upper = half
        elif sign != 0:
            lower = half
        floats[child, LOWER], floats[child, UPPER] = lower, upper
        values[child, which] = min(max(values[child, which], lower), upper)
        if classify:
            values[child, 0] = 1.0 - values[child, 1]


@compiled(**BARE)
def measure_node(order, labels, target, wr, rules, ints, floats, total, value):
    """Fill a node's totals and value; returns whether it may be split."""
    rows = order[0, ints[LO] : ints[HI]]
    floats[IMPURITY], varies = totals_of(
        rules.criterion, rules.n_stats, rows, labels, target, wr, total, value
    )
    ints[FEATURE], ints[ROWS], floats[REPS], floats[WEIGHT] = -1, rows.size, total[0], total[1]
    return may_split(rules, ints, floats, varies)


@compiled(**ENTRY)
def grow(columns, codes, limits, kinds, labels, target, wr, rules, order, side, ints, floats, values, masks, frontier,
         spare, spare_x, total, best_mask, groups, ranked, marks, notes, power, keys, features):  # fmt: skip
    """Grow the subtree below node 0, one line per node; returns the number of nodes. See `loops.search` on None."""
    best_first = rules.max_leaf_nodes > 0
    node, first, n_nodes, n_leaves, waiting = -1, 0, 1, 1, 0
    while True:
        for child in range(first, n_nodes):
            floats[child, LOWER], floats[child, UPPER] = -np.inf, np.inf
            ints[child, MASK] = measure_node(order, labels, target, wr, rules, ints[child], floats[child],
                                             total[child - first], values[child])  # fmt: skip
        if rules.constrained and node >= 0:
            bound_children(
                rules.criterion <= ERROR, kinds[ints[node, FEATURE], 1], node, first, floats, values
            )
        for child in range(n_nodes - 1, first - 1, -1):
            if ints[child, MASK] > 0:
                search_node(columns, codes, limits, kinds, labels, target, wr, rules, order, ints[child],
                            floats[child], total[child - first], values[child], np.uint64(ints[child, KEY]),
                            0, kinds.shape[0], masks, child, best_mask, groups, ranked, marks, notes, power,
                            keys, features)  # fmt: skip
                if floats[child, GAIN] + 1e-15 < rules.min_decrease:
                    ints[child, FEATURE] = -1
                if ints[child, FEATURE] >= 0:
                    frontier[waiting] = child
                    waiting += 1
        if waiting == 0 or (best_first and n_leaves >= rules.max_leaf_nodes):
            break
        at = next_node(best_first, frontier, waiting, floats)
        node = frontier[at]
        waiting -= 1
        frontier[at] = frontier[waiting]
        n_left = mark_sides(columns, codes, order, ints[node], floats[node], masks, node, side)
        partition(order, columns, 0, order.shape[0], ints[node, LO], ints[node, HI], n_left, side, spare,
                  spare_x)  # fmt: skip
        first = n_nodes
        ints[node, LEFT], ints[node, RIGHT], ints[node, CREATED] = first, first + 1, n_leaves
        place_children(ints, node, first, n_left)
        n_nodes += 2
        n_leaves += 1
    for k in range(waiting):
        ints[frontier[k], FEATURE] = -1
    return n_nodes
