"""What becomes of a grown boosted tree: its nodes in preorder, the values of its leaves, and the columns of a tree.

Tables of nodes are those of `loops.leaves`; node number k of the order in which a tree grew has the children
2t - 1 and 2t, where t is the turn in which it was split.
"""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.histograms import COUNT, FEATURE, GAIN, LOWER, N_RECORD, PLACE, UPPER, G, H
from gnomon.loops.leaves import END, FIRST, START, TURN
from gnomon.loops.trees import ENTRY, MISSING_CODE


@compiled(**ENTRY)
def lay_out(
    order, ints, records, sides, waiting, own, turns, left, right, ranges, own_sides, leaves, in_vain
):
    """own, turns, left, right, ranges, own_sides = the lines of a tree's nodes, parents before children, left
    before right; leaves = the numbers of its leaves, and whether each was split in vain.

    waiting, (nodes + 1, 2), holds nodes whose turn comes, and for right children their parent.
    """
    size, n_leaves = 1, 0
    waiting[0, 0], waiting[0, 1] = 0, -1
    for k in range(order.size):
        size -= 1
        node, parent = order[waiting[size, 0]], waiting[size, 1]
        if parent >= 0:
            right[parent] = k
        for j in range(N_RECORD):
            own[k, j] = records[node, j]
        for j in range(MISSING_CODE + 1):
            own_sides[k, j] = sides[node, j]
        turn = ints[node, TURN]
        turns[k], ranges[k, 0], ranges[k, 1] = turn, ints[node, START], ints[node, END]
        if turn > 0:
            left[k] = k + 1
            waiting[size, 0], waiting[size, 1] = 2 * turn, k
            waiting[size + 1, 0], waiting[size + 1, 1] = 2 * turn - 1, -1
            size += 2
        else:
            left[k] = right[k] = -1
            leaves[n_leaves], in_vain[n_leaves] = k, ints[node, FIRST] != -1
            n_leaves += 1


@compiled(**ENTRY)
def newton_steps(sums, records, leaves, l2, rate, found, values):
    """found = Newton's steps of the leaves, given their sums of g and h, within their bounds and times `rate`;
    values has them at the leaves among all nodes.
    """
    for k in range(leaves.size):
        leaf, step = leaves[k], 0.0
        if sums[k, H] > 0.0:
            step = -sums[k, G] / (sums[k, H] + l2)
        if step < records[leaf, LOWER]:
            step = records[leaf, LOWER]
        if step > records[leaf, UPPER]:
            step = records[leaf, UPPER]
        found[k] = values[leaf] = rate * step


@compiled(**ENTRY)
def dress(
    records, turns, sides, edges, categories, l2, feature, threshold, missing, impurity, count, weight, gain
):
    """Fill what a tree tells of its nodes; returns how many of them ask for a category."""
    n_categorical = 0
    for k in range(turns.size):
        g, h = records[k, G], records[k, H]
        impurity[k], count[k], weight[k] = -0.5 * g**2 / max(h + l2, 1e-300), records[k, COUNT], h
        feature[k], threshold[k], missing[k], gain[k] = -2, -2.0, 0, 0.0  # of a leaf
        if turns[k] > 0:
            f = np.int64(records[k, FEATURE])
            feature[k], threshold[k] = f, edges[f, np.int64(records[k, PLACE])]
            missing[k], gain[k] = sides[k, MISSING_CODE], records[k, GAIN]
            if categories[f] > 0:
                threshold[k] = np.nan
                n_categorical += 1
    return n_categorical
