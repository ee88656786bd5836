"""Walking rows down trees that are packed for it: two words a node, all trees one after the other.

Nodes lie in preorder, so the left child follows its parent. Node t, counted through all trees, has the words 2t
and 2t + 1. The second holds, from the lowest bit on: the side of missing values (1: left), whether the node asks
for a category, the feature (22 bits), and from bit 25 on the right child; it is negative for a leaf. The first
holds the threshold: x <= threshold goes left. In a leaf it is the leaf's value; in a categorical node, the start
of its line in `table` and the number n of categories. Entry c of that line is the child of category c, entry n
that of unseen ones, entry n + 1 that of missing values; a node that names itself ends the walk. `numbers` and
`words` are views of the same memory.
"""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.trees import BARE, INNER

BLOCK = 64  # rows that walk together, so that none waits for memory alone


@compiled
def pack_nodes(feature, threshold, right, missing_left, value, root, numbers, words):
    """Pack a tree of numeric nodes whose first one is the node `root` of all trees."""
    for t in range(feature.size):
        numbers[2 * t] = value[t]
        words[2 * t + 1] = -1
        if feature[t] >= 0:
            numbers[2 * t] = threshold[t]
            side = np.int64(missing_left[t] > 0)
            words[2 * t + 1] = (np.int64(root + right[t]) << 25) | (np.int64(feature[t]) << 2) | side


@compiled
def pack_branches(feature, left, right, missing_left, start, count, branches, root, offset, words, table):
    """Add the categorical nodes of a packed tree; `table` is part of that of all trees, from `offset` on."""
    size = 0
    for t in range(feature.size):
        if feature[t] >= 0 and start[t] >= 0:
            for c in range(count[t] + 1):
                table[size + c] = root + branches[start[t] + c]
            lost = branches[start[t] + count[t]]
            if missing_left[t] >= 0:
                lost = left[t] if missing_left[t] > 0 else right[t]
            table[size + count[t] + 1] = root + lost
            words[2 * t] = (np.int64(offset + size) << 32) | np.int64(count[t])
            words[2 * t + 1] |= 2
            size += count[t] + 2


@compiled(**BARE)
def branch(x, word, table):
    """Twice the child of a categorical node."""
    start, code = word >> 32, word & 0xFFFFFFFF
    if x >= 0.0 and x < code:
        code = np.int64(x)
    elif x != x:
        code += 1
    return np.uint64(2) * np.uint64(table[start + code])


@compiled(**BARE)
def walk(entries, width, numbers, words, table, root, begin, many, at, who, ends):
    """ends[k] = twice the node in which row begin + k ends, for `many` rows that walk in turn.

    The rows that still walk are `who`, at twice the node `at`. Indices have no sign and sides no branch: nothing
    is to be checked or guessed.
    """
    none, one, two, low = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(0x3FFFFF)
    root, width, active, row = (
        two * np.uint64(root),
        np.uint64(width),
        np.uint64(many),
        np.uint64(begin * width),
    )
    for k in range(many):
        at[k], who[k] = root, np.uint64(k)
    while active > none:
        j = still = none
        while j < active:
            node, k = at[j], who[j]
            word = np.uint64(words[node + one])
            j += one
            if words[node + one] < 0:
                ends[k] = node
                continue
            x = entries[row + k * width + ((word >> two) & low)]
            right = np.uint64(not x <= numbers[node]) ^ (np.uint64(x != x) & word & one)
            left = node + two
            child = left ^ ((left ^ (word >> np.uint64(24))) & (none - right))
            if word & two:
                child = branch(x, words[node], table)
                if child == node:
                    ends[k] = node
                    continue
            at[still], who[still] = child, k
            still += one
        active = still


@compiled(**INNER)
def new_lanes():
    """Work arrays of a walk."""
    return np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)


@compiled
def find_leaves(entries, width, numbers, words, table, out):
    """out[i] = the node of row i of one packed tree; the rows come as one line of entries, `width` to a row."""
    (at, who, ends), root = new_lanes(), np.int64(0)
    for begin in range(0, out.size, BLOCK):
        many = min(BLOCK, out.size - begin)
        walk(entries, width, numbers, words, table, root, begin, many, at, who, ends)
        for k in range(many):
            out[begin + k] = ends[k] >> np.uint64(1)


@compiled
def add_leaves(entries, width, numbers, words, table, roots, first, last, values, columns, span, out):
    """out[i, columns[t]:] += the values of row i's leaf in each of the trees first..last-1, tree after tree.

    Tree t begins at roots[t]. Where `values` is empty every leaf has one value, beside its word. Some `span`
    rows meet all trees before the next: as many as stay in the cache.
    """
    (at, who, ends), n = new_lanes(), out.shape[0]
    for start in range(0, n, span):
        stop = min(start + span, n)
        for t in range(first, last):
            root, column = roots[t], columns[t]
            for begin in range(start, stop, BLOCK):
                many = min(BLOCK, stop - begin)
                walk(entries, width, numbers, words, table, root, begin, many, at, who, ends)
                for k in range(many):
                    if values.size == 0:
                        out[begin + k, column] += numbers[ends[k]]
                    for o in range(values.shape[1]):
                        out[begin + k, column + o] += values[ends[k] >> np.uint64(1), o]


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
