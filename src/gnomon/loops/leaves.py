"""Splitting the leaves of a boosted tree: the rows are parted, the histograms filled, the best splits found.

A node of a growing tree has a line in three tables: `ints` (its rows, depth, first child, histogram and random
key), `records` (see `loops.gains`) and `sides` (which codes go left, once it is split).
"""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.gains import choose, find_splits, sides_of
from gnomon.loops.histograms import (
    COUNT,
    FEATURE,
    G_LEFT,
    GAIN,
    LOWER,
    N_SPLIT,
    OPEN,
    UPPER,
    G,
    H,
    histograms,
    subtract,
)
from gnomon.loops.trees import ENTRY, INNER, mix

START, END, DEPTH, FIRST, SLOT, KEY = range(6)
N_INT = 6


@compiled(**INNER)
def partition_rows(column, goes_left, rows, left, right):
    """Stable partition by the side of every code: rows to left[:n] and right; returns n. `left` may be
    `rows` itself.
    """
    a = b = np.uint64(0)
    for k in range(rows.size):
        i = rows[k]
        go = np.uint64(goes_left[column[np.uint64(i)]])
        left[a] = right[b] = i
        a += go
        b += np.uint64(1) - go
    return np.int64(a)


@compiled(**INNER)
def pass_down(record, ground, terms, deepest, records):
    """The children's sums, bounds of their values, and whether they may be split."""
    lower, upper, l2 = record[LOWER], record[UPPER], terms.l2
    for k in range(3):
        records[0, k], records[1, k] = record[G_LEFT + k], record[k] - record[G_LEFT + k]
    sign, half = ground.kinds[np.int64(record[FEATURE]), 1], 0.0
    for s in range(2):
        half += 0.5 * min(max(-records[s, G] / (records[s, H] + l2), lower), upper)
    for s in range(2):
        above = sign != 0 and (sign > 0) == (s == 1)
        records[s, LOWER] = half if above else lower
        records[s, UPPER] = half if sign != 0 and not above else upper
        records[s, OPEN] = not deepest and records[s, COUNT] >= 2.0 * terms.min_samples_leaf
        records[s, GAIN], records[s, FEATURE] = 0.0, -1.0


@compiled(**ENTRY)
def search(ground, packed, terms, rows, small, large, which, keys, records, first, last, found):
    """Fill the histograms `small` of some rows over the blocks first..last-1, take them from `large` when
    there are two leaves (`which` is the small one), and find the splits of both.
    """
    histograms(ground.words, packed, rows, first, last, terms.count_shift, terms.narrow, small)
    if records.shape[0] == 2:
        subtract(large, small, first, last)
    for s in range(records.shape[0]):
        if records[s, OPEN] > 0.0:
            find_splits(small if s == which else large, ground, terms, keys[s], records[s], 8 * first,
                        min(8 * last, ground.n_bins.size), found[s])  # fmt: skip


@compiled(**INNER)
def keys_of_children(key, keys):
    """The random keys of the left and the right child."""
    keys[0], keys[1] = mix(key ^ np.uint64(1)), mix(key ^ np.uint64(3))


@compiled(**INNER)
def part_leaf(ground, terms, record, depth, rows, spare, hist, goes_left, records):
    """Part the rows of a leaf and fill its children's records; returns how many rows go left."""
    sides_of(hist, ground, terms, record, goes_left)
    n = partition_rows(ground.columns[np.int64(record[FEATURE])], goes_left, rows, rows, spare)
    for k in range(n, rows.size):
        rows[k] = spare[k - n]
    pass_down(record, ground, terms, depth + 1 >= terms.max_depth, records)
    return n


@compiled(**ENTRY)
def part_large(ground, terms, record, depth, key, rows, spare, hist, goes_left, records, keys):
    """`part_leaf` for a leaf whose children all threads search together."""
    keys_of_children(np.uint64(key), keys)
    return part_leaf(ground, terms, record, depth, rows, spare, hist, goes_left, records)


@compiled(**ENTRY)
def choose_all(found, l2, records):
    """Choose among the features of some leaves."""
    for s in range(records.shape[0]):
        if records[s, OPEN] > 0.0:
            choose(found[s], l2, records[s])


@compiled(**INNER)
def split_leaf(
    ground, packed, terms, record, depth, keys, rows, spare, hist, small, goes_left, records, found
):
    """Split a leaf and find its children's splits; returns how many rows go left. `hist` becomes the larger
    child's, `small` the smaller one's.
    """
    n = part_leaf(ground, terms, record, depth, rows, spare, hist, goes_left, records)
    which = 0 if 2 * n <= rows.size else 1
    if records[0, OPEN] + records[1, OPEN] > 0.0:
        search(ground, packed, terms, rows[:n] if which == 0 else rows[n:], small, hist, which, keys, records,
               np.int64(0), ground.words.shape[1], found)  # fmt: skip
        choose_all(found, terms.l2, records)
    return n


@compiled(**INNER)
def push(heap, size, node, records):
    """Add a node to a heap whose first node gains most; of equal ones the older is first."""
    at = size
    while at > 0:
        up = heap[(at - 1) // 2]
        if records[up, GAIN] >= records[node, GAIN]:
            break
        heap[at] = up
        at = (at - 1) // 2
    heap[at] = node
    return size + 1


@compiled(**INNER)
def pop(heap, size, records):
    """Take the first node of a heap out; the heap has one node less."""
    first, node, at = heap[0], heap[size - 1], 0
    while 2 * at + 1 < size - 1:
        down = 2 * at + 1
        if down + 1 < size - 1:
            a, b = heap[down], heap[down + 1]
            down += records[b, GAIN] > records[a, GAIN] or (records[b, GAIN] == records[a, GAIN] and b < a)
        other = heap[down]
        if records[node, GAIN] > records[other, GAIN] or (
            records[node, GAIN] == records[other, GAIN] and node < other
        ):
            break
        heap[at] = other
        at = down
    heap[at] = node
    return first


@compiled(**INNER)
def drop_least(heap, size, ints, records):
    """Take the histogram from the waiting leaf that gains least; returns its place, -1 where none has one."""
    least = -1
    for k in range(size):
        v = heap[k]
        if ints[v, SLOT] >= 0 and (least < 0 or records[v, GAIN] < records[least, GAIN]):
            least = v
    slot = np.int64(-1)
    if least >= 0:
        slot = ints[least, SLOT]
        ints[least, SLOT] = -1
    return slot


@compiled(**ENTRY)
def grow_leaf(ground, packed, terms, likely, limit, rows, spare, pool, ints, records, sides):
    """Split node 0, and what comes of it while that gains more than `likely`, the largest gain first, at most
    `limit` times; returns the number of nodes.

    `pool` has places for some histograms, the first for that of node 0. Where places are short, leaves that
    gain little lose theirs, and it is filled anew when their turn comes.
    """
    free, n_free = np.arange(pool.shape[0])[::-1].copy(), pool.shape[0] - (ints[0, SLOT] == 0)
    heap, waiting, n_nodes = np.empty(2 * limit + 1, np.int64), np.int64(0), 1
    found = np.empty((2, ground.n_bins.size, N_SPLIT))
    keys = np.empty(2, np.uint64)
    waiting = push(heap, waiting, 0, records)
    while waiting > 0 and n_nodes < 2 * limit + 1:
        node = pop(heap, waiting, records)
        waiting -= 1
        while n_free < 2:
            n_free += 1
            free[n_free - 1] = drop_least(heap, waiting, ints, records)
        inside = rows[ints[node, START] : ints[node, END]]
        if ints[node, SLOT] < 0:
            n_free -= 1
            ints[node, SLOT] = free[n_free]
            histograms(ground.words, packed, inside, np.int64(0), ground.words.shape[1], terms.count_shift,
                       terms.narrow, pool[ints[node, SLOT]])  # fmt: skip
        n_free -= 1
        large, small, first = ints[node, SLOT], free[n_free], n_nodes
        keys_of_children(np.uint64(ints[node, KEY]), keys)
        n_left = split_leaf(ground, packed, terms, records[node], ints[node, DEPTH], keys, inside,
                            spare[ints[node, START] : ints[node, END]], pool[large], pool[small],
                            sides[node], records[first : first + 2], found)  # fmt: skip
        ints[node, FIRST], ints[node, SLOT] = first, -1
        n_nodes += 2
        for s in range(2):
            child = first + s
            ints[child, START] = ints[node, START] + n_left * s
            ints[child, END] = ints[node, END] if s == 1 else ints[node, START] + n_left
            ints[child, DEPTH], ints[child, FIRST], ints[child, KEY] = (
                ints[node, DEPTH] + 1,
                -1,
                np.int64(keys[s]),
            )
            ints[child, SLOT] = small if (s == 0) == (2 * n_left <= inside.size) else large
            if records[child, GAIN] > likely:
                waiting = push(heap, waiting, child, records)
            else:
                free[n_free], ints[child, SLOT] = ints[child, SLOT], -1
                n_free += 1
    return n_nodes
