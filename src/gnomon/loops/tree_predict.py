"""Rows that descend down trees together; the trees are packed for it: two words a node, one after the other.

Nodes lie in preorder, so the left child follows its parent. Node t, counted through all trees, has the words 2t
and 2t + 1. The second holds, from the lowest bit on: the side of missing values (1: left), whether the node asks
for a category, the feature (22 bits), and from bit 25 on the right child; it is negative for a leaf. The first
holds the threshold: x <= threshold goes left. In a leaf it is the leaf's value; in a categorical node, the start
of its line in `table` and the number n of categories. Entry c of that line is the child of category c, entry n
that of unseen ones, entry n + 1 that of missing values; a node that names itself ends the walk. `numbers` and
`words` are views of the same memory.

The rows of a block start at the root as one group. A node parts its group in two, which costs a few instructions a
row and waits for nothing; only where few rows are left does each walk on alone. What a node needs of the rows is
one column, so a block keeps the columns that the trees ask for, one after the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.loops._compile import INNER, compiled
from gnomon.loops.trees import BARE

SMALLEST_GROUP = np.uint64(2)  # rows that are not worth a group
NONE, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
FEATURE = np.uint64(0x3FFFFF)
TILE = 64  # rows that are copied together


class RowGroups(NamedTuple):
    """Some rows on their way through a tree: their entries, their order, and groups that wait."""

    block: np.ndarray  # entry (row, column) is number column * span + row
    span: np.uint64
    rows: np.ndarray  # (2 * span,) two places for the rows, from one of which a node moves them to the other
    stack: np.ndarray  # (span + 1, 4): node, place, first and last row of a group


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
    return TWO * np.uint64(table[start + code])


@compiled(**BARE)
def goes_right(x, number, word):
    """1 where x goes right, else 0: no branch, so that nothing has to be guessed."""
    return np.uint64(not x <= number) ^ (np.uint64(x != x) & word & ONE)


@compiled(**BARE)
def step(x, node, numbers, words, table):
    """Twice the child of a node, for one row."""
    word = np.uint64(words[node + ONE])
    if word & TWO:
        return branch(x, words[node], table)
    left = node + TWO
    return left ^ ((left ^ (word >> np.uint64(24))) & (NONE - goes_right(x, numbers[node], word)))


@compiled(**BARE)
def part(block, column, number, word, rows, source, target, many):
    """Move rows from `source` to `target`, those that go left to its front; return how many these are."""
    front, back = target, target + many - ONE
    for i in range(source, source + many):
        row = rows[i]
        rows[front], rows[back] = row, row
        right = goes_right(block[column + np.uint64(row)], number, word)
        front += ONE ^ right
        back -= right
    return front - target


@compiled(**BARE)
def part_branch(block, column, word, table, rows, source, target, many):
    """The same for a categorical node: the front is for the child of the first row, which is returned too."""
    front, back = target, target + many - ONE
    child = branch(block[column + np.uint64(rows[source])], word, table)
    for i in range(source, source + many):
        row = rows[i]
        rows[front], rows[back] = row, row
        other = np.uint64(branch(block[column + np.uint64(row)], word, table) != child)
        front += ONE ^ other
        back -= other
    return front - target, child


@compiled(**BARE)
def add_values(numbers, values, node, rows, first, last, out, start, column):
    """out[start + row, column:] += the value of a node, for the rows that end there."""
    for i in range(first, last):
        row = start + np.uint64(rows[i])
        if values.size == 0:
            out[row, column] += numbers[node]
        for o in range(values.shape[1]):
            out[row, column + o] += values[node >> ONE, o]


@compiled(**BARE)
def walk(block, span, numbers, words, table, node, row):
    """Twice the node in which a row ends that goes on from a node alone."""
    while words[node + ONE] >= 0:
        column = ((np.uint64(words[node + ONE]) >> TWO) & FEATURE) * span
        child = step(block[column + row], node, numbers, words, table)
        if child == node:
            break
        node = child
    return node


@compiled(**BARE)
def wait(stack, size, node, place, first, last):
    """Put a group on the stack unless it is empty; returns the new size."""
    stack[size, 0], stack[size, 1], stack[size, 2], stack[size, 3] = node, place, first, last
    return size + np.uint64(first < last)


@compiled(**BARE)
def descend(groups, many, numbers, words, table, root, values, out, start, column):
    """out[start + row, column:] += the value of the leaf of each of `many` rows, in the tree that begins at root."""
    block, span, rows, stack = groups.block, groups.span, groups.rows, groups.stack
    for i in range(many):
        rows[i] = i
    size = wait(stack, NONE, TWO * np.uint64(root), NONE, NONE, many)
    while size > NONE:
        size -= ONE
        node, place, first, last = stack[size, 0], stack[size, 1], stack[size, 2], stack[size, 3]
        word = np.uint64(words[node + ONE])
        if words[node + ONE] < 0:
            add_values(numbers, values, node, rows, place + first, place + last, out, start, column)
        elif last - first <= SMALLEST_GROUP:
            for i in range(place + first, place + last):
                end = walk(block, span, numbers, words, table, node, np.uint64(rows[i]))
                add_values(numbers, values, end, rows, i, i + ONE, out, start, column)
        else:
            line, source, place = ((word >> TWO) & FEATURE) * span, place + first, span - place
            if word & TWO:
                border, child = part_branch(
                    block, line, words[node], table, rows, source, place + first, last - first
                )
                other = node  # the others ask again
            else:
                border = part(block, line, numbers[node], word, rows, source, place + first, last - first)
                child, other = node + TWO, word >> np.uint64(24)
            border += first
            size = wait(stack, size, other, place, border, last)
            if child == node:
                add_values(numbers, values, node, rows, place + first, place + border, out, start, column)
            else:
                size = wait(stack, size, child, place, first, border)


@compiled(**INNER)
def new_groups(entries, n_features, span):
    """Work arrays for `span` rows at most."""
    return RowGroups(
        np.empty(n_features * span, entries.dtype),
        np.uint64(span),
        np.empty(2 * span, np.uint16),
        np.empty((span + 1, 4), np.uint64),
    )


@compiled(**BARE)
def gather(entries, width, features, start, many, block, span):
    """Fill the block with the columns `features` of some rows, which come as one line, `width` entries each."""
    for begin in range(0, many, TILE):
        end = min(begin + TILE, many)
        for j in range(features.size):
            for i in range(begin, end):
                block[j * span + i] = entries[(start + i) * width + features[j]]


@compiled
def add_leaves(
    entries, width, features, numbers, words, table, roots, first, last, values, columns, span, out
):
    """out[i, columns[t]:] += the values of row i's leaf in each of the trees first..last-1, tree after tree.

    Tree t begins at roots[t]; its features are numbers of the list `features`. Where `values` is empty every leaf
    has one value, beside its word. Some `span` rows, at most 2¹⁶, meet all trees before the next: as many as stay
    in the cache.
    """
    groups, n = new_groups(entries, features.size, span), out.shape[0]
    for start in range(0, n, span):
        many = min(span, n - start)
        gather(entries, width, features, start, many, groups.block, span)
        for t in range(first, last):
            descend(groups, np.uint64(many), numbers, words, table, roots[t], values, out, np.uint64(start),
                 columns[t])  # fmt: skip


@compiled(**BARE)
def scatter(data, indices, starts, column_of, start, many, block, span, clear):
    """Write the entries of some sparse rows into a block of zeros, or zeros in their places."""
    for i in range(many):
        for k in range(starts[start + i], starts[start + i + 1]):
            column = column_of[indices[k]]
            if column >= 0:
                block[column * span + i] = 0.0 if clear else data[k]


@compiled
def add_leaves_of_sparse(data, indices, starts, column_of, n_columns, numbers, words, table, roots, first, last,
                         values, columns, span, out):  # fmt: skip
    """The same for sparse rows; ``column_of[f]`` is the number of feature f in the list, or -1."""
    groups, n = new_groups(data, n_columns, span), out.shape[0]
    for k in range(groups.block.size):
        groups.block[k] = 0.0
    for start in range(0, n, span):
        many = min(span, n - start)
        scatter(data, indices, starts, column_of, start, many, groups.block, span, False)
        for t in range(first, last):
            descend(groups, np.uint64(many), numbers, words, table, roots[t], values, out, np.uint64(start),
                 columns[t])  # fmt: skip
        scatter(data, indices, starts, column_of, start, many, groups.block, span, True)


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


@compiled
def level_sums(left, right, share, table):
    """table[l] += share and number of all nodes on level l, and of its leaves; return how many levels there are."""
    depth = np.zeros(left.size, np.int64)
    deepest = 0
    for node in range(left.size):  # parents come before their children
        level = depth[node]
        deepest = max(deepest, level)
        table[level, 0] += share[node]
        table[level, 1] += 1.0
        if left[node] >= 0:
            depth[left[node]] = depth[right[node]] = level + 1
        else:
            table[level, 2] += share[node]
            table[level, 3] += 1.0
    return deepest + 1
