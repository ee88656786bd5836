"""Walking rows down trees. All trees of a model lie in one set of arrays; `roots` says where each begins.

A node with `feature` below 0 is a leaf. A numeric node sends x <= threshold left; a categorical one looks its
child up in `branches` (the last entry is for unseen categories; a node that names itself ends the walk).
"""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled

BLOCK = 64


@compiled
def leaves(X, first, last, root, feature, threshold, left, right, missing_left, branch_start, branch_count,
           branches, out):  # fmt: skip
    """out[i - first] = the node in which row i ends, for one tree; rows walk in blocks to hide latency."""
    at = np.empty(BLOCK, np.int32)
    who = np.empty(BLOCK, np.int32)
    plain = branch_start.size == 0
    for begin in range(first, last, BLOCK):
        active = min(BLOCK, last - begin)
        for k in range(active):
            at[k], who[k] = root, k
        while active > 0:
            still = 0
            for k in range(active):
                node, i = at[k], who[k]
                f = feature[node]
                if f < 0:
                    out[begin - first + i] = node
                    continue
                x = X[begin + i, f]
                if plain or branch_start[node] < 0:
                    child = left[node] if x <= threshold[node] else right[node]
                    if x != x and missing_left[node] > 0:
                        child = left[node]
                elif x != x and missing_left[node] >= 0:
                    child = left[node] if missing_left[node] > 0 else right[node]
                else:
                    code = branch_count[node]
                    if x >= 0.0 and x < code:
                        code = np.int32(x)
                    child = branches[branch_start[node] + code]
                    if child == node:
                        out[begin - first + i] = node
                        continue
                at[still], who[still] = child, i
                still += 1
            active = still


@compiled
def packed_leaves(X, first, last, numbers, words, out):
    """The same for a numeric tree in preorder, whose left child follows its parent: one cache line per step.

    numbers[node, 0] is the threshold; words[node, 1] holds right child, feature and side of missing values
    (negative for a leaf). Both are views of the same memory.
    """
    at = np.empty(BLOCK, np.int64)
    who = np.empty(BLOCK, np.int64)
    for begin in range(first, last, BLOCK):
        active = min(BLOCK, last - begin)
        for k in range(active):
            at[k], who[k] = 0, k
        while active > 0:
            still = 0
            for k in range(active):
                node, i = at[k], who[k]
                word = words[node, 1]
                if word < 0:
                    out[begin - first + i] = node
                    continue
                x = X[begin + i, (word >> 1) & 0x7FFFFF]
                side = np.int64(not x <= numbers[node, 0]) ^ (
                    np.int64(x != x) & word & 1
                )  # no branch to guess
                at[still], who[still] = node + 1 + side * ((word >> 24) - node - 1), i
                still += 1
            active = still


@compiled
def add_values(leaf, values, column, out):
    """out[i, column:] += values[leaf[i]]."""
    width = values.shape[1]
    for k in range(leaf.size):
        for o in range(width):
            out[k, column + o] += values[leaf[k], o]


@compiled
def preorder(left, right, out):
    """out = the nodes of a tree, parents before children, left before right."""
    stack = np.empty(left.size, np.int64)
    stack[0] = 0
    size, k = 1, 0
    while size > 0:
        size -= 1
        node = stack[size]
        out[k] = node
        k += 1
        if left[node] >= 0:
            stack[size], stack[size + 1] = right[node], left[node]
            size += 2
