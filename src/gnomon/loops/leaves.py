"""Splitting one leaf of a boosted tree: its rows are parted, histograms filled, and its children's splits found.

A node of a growing tree has a line in three tables: `ints` (its rows, depth, random key, first child, histogram
and turn), `records` (see `loops.gains`) and `sides` (which codes go left, once it is split).
"""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.draws import mix
from gnomon.loops.gains import choose, find_splits, sides_of
from gnomon.loops.histograms import (
    COUNT,
    FEATURE,
    G_LEFT,
    GAIN,
    LOWER,
    OPEN,
    UPPER,
    G,
    H,
    add,
)
from gnomon.loops.trees import BARE

# first child, -1: none; histogram, -1: none; turn, 0: a leaf
START, END, DEPTH, KEY, FIRST, SLOT, TURN = range(7)
N_INT = 7


@compiled(**BARE)
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


@compiled(**BARE)
def pass_down(record, binned, terms, deepest, records):
    """The children's sums, bounds of their values, and whether they may be split."""
    lower, upper, l2 = record[LOWER], record[UPPER], terms.l2
    for k in range(3):
        records[0, k], records[1, k] = record[G_LEFT + k], record[k] - record[G_LEFT + k]
    sign, half = binned.kinds[np.int64(record[FEATURE]), 1], 0.0
    for s in range(2):
        half += 0.5 * min(max(-records[s, G] / (records[s, H] + l2), lower), upper)
    for s in range(2):
        above = sign != 0 and (sign > 0) == (s == 1)
        records[s, LOWER] = half if above else lower
        records[s, UPPER] = half if sign != 0 and not above else upper
        records[s, OPEN] = not deepest and records[s, COUNT] >= 2.0 * terms.min_samples_leaf
        records[s, GAIN], records[s, FEATURE] = 0.0, -1.0


@compiled(**BARE)
def any_open(records):
    """Whether some leaf may be split."""
    return records[0, OPEN] > 0.0 or records[records.shape[0] - 1, OPEN] > 0.0


@compiled(**BARE)
def search(binned, terms, small, large, which, ints, records, scratch, found):
    """Find the splits of new leaves: of the root, or of two whose histograms are `small` (that of leaf number
    `which`) and `large`, still their parent's.
    """
    d = binned.n_bins.size
    if records.shape[0] == 2 and any_open(records):
        add(large, small, -1, d)
    for s in range(records.shape[0]):
        if records[s, OPEN] > 0.0:
            find_splits(
                small if s == which else large,
                binned,
                terms,
                np.uint64(ints[s, KEY]),
                records[s],
                scratch,
                found,
            )
            choose(found, terms.l2, records[s])


@compiled(**BARE)
def part_leaf(binned, terms, record, line, rows, spare, hist, scratch, goes_left, ints, records):
    """Part the rows of a leaf and fill the lines of its children; returns how many rows go left."""
    sides_of(hist, binned, terms, record, scratch, goes_left)
    n = partition_rows(binned.columns[np.int64(record[FEATURE])], goes_left, rows, rows, spare)
    for k in range(n, rows.size):
        rows[k] = spare[k - n]
    pass_down(record, binned, terms, line[DEPTH] + 1 >= terms.max_depth, records)
    for s in range(2):
        ints[s, START] = line[START] + n * s
        ints[s, END] = line[END] if s == 1 else line[START] + n
        ints[s, DEPTH], ints[s, FIRST], ints[s, SLOT], ints[s, TURN] = line[DEPTH] + 1, -1, -1, 0
        ints[s, KEY] = np.int64(mix(np.uint64(line[KEY]) ^ np.uint64(2 * s + 1)))
    return n
