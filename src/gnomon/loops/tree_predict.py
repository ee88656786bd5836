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
def pack_nodes(feature, threshold, right, missing_left, numbers, words):
    """Lay a numeric tree in preorder out for `packed_leaves`: two words a node, views of the same memory.

    numbers[2t] is the threshold of node t; words[2t + 1] holds 2 * right child, feature and side of missing
    values, or is negative for a leaf.
    """
    for t in range(feature.size):
        numbers[2 * t] = threshold[t]
        words[2 * t + 1] = -1
        if feature[t] >= 0:
            side = np.int64(missing_left[t] > 0)
            words[2 * t + 1] = (np.int64(right[t]) << 25) | (np.int64(feature[t]) << 1) | side


@compiled
def packed_leaves(entries, width, numbers, words, out):
    """out[i] = the leaf of row i of a packed tree; the rows come as one line of entries, `width` to a row.

    The left child follows its parent, so a step reads one cache line. Indices have no sign and sides no
    branch: nothing is to be checked or guessed.
    """
    none, one, two, low = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(0x7FFFFF)
    at, who, width = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64), np.uint64(width)
    for begin in range(0, out.size, BLOCK):
        active = np.uint64(min(BLOCK, out.size - begin))
        for k in range(active):
            at[k], who[k] = none, np.uint64(begin + k)
        while active > none:
            k = still = none
            while k < active:
                node, i = at[k], who[k]
                k += one
                if words[node + one] < 0:
                    out[i] = node >> one
                    continue
                word = np.uint64(words[node + one])
                x = entries[i * width + ((word >> one) & low)]
                right = np.uint64(not x <= numbers[node]) ^ (np.uint64(x != x) & word & one)
                left = node + two
                at[still] = left ^ ((left ^ (word >> np.uint64(24))) & (none - right))
                who[still] = i
                still += one
            active = still


@compiled
def add_leaves(entries, width, numbers, words, roots, first, last, values, columns, span, out):
    """out[i, columns[t]:] += the values of row i's leaf in each of the trees first..last-1, tree after tree.

    The packed trees lie one after the other: tree t begins at roots[t], and its right children are counted
    from there. Some `span` rows meet all trees before the next: few rows where the trees fit into the cache,
    else many.
    """
    none, one, two, low = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(0x7FFFFF)
    at, who, width = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64), np.uint64(width)
    n = out.shape[0]
    for start in range(0, n, span):
        for t in range(first, last):
            root, column = np.uint64(2 * roots[t]), columns[t]
            for begin in range(start, min(start + span, n), BLOCK):
                active = np.uint64(min(BLOCK, min(start + span, n) - begin))
                for k in range(active):
                    at[k], who[k] = root, np.uint64(begin + k)
                while active > none:
                    k = still = none
                    while k < active:
                        node, i = at[k], who[k]
                        k += one
                        if words[node + one] < 0:
                            for o in range(values.shape[1]):
                                out[i, column + o] += values[node >> one, o]
                            continue
                        word = np.uint64(words[node + one])
                        x = entries[i * width + ((word >> one) & low)]
                        right = np.uint64(not x <= numbers[node]) ^ (np.uint64(x != x) & word & one)
                        left = node + two
                        at[still] = left ^ ((left ^ (root + (word >> np.uint64(24)))) & (none - right))
                        who[still] = i
                        still += one
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
