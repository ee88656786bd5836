"""Histograms of whole numbers.

Gradients and curvatures come as whole numbers, so a histogram is the same in any order of addition and a
child's is exactly its parent's minus its sibling's. A cell holds two words: the sum of g, and count and sum
of h together (``count << count_shift | h``). Rows come in two widths: *wide* rows hold the two words of a
cell; *narrow* rows hold count, g and h in one word, added in blocks of 2^12 rows, which halves the work.
Codes come as words of eight bytes, one per feature; 255 is missing. Histograms are (2, blocks of eight features
times 2048 cells): the first words of all cells, then the second ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.loops._compile import compiled, fetch
from gnomon.loops.trees import BARE

BLOCK = 1 << 12  # the sums of as many narrow rows do not run over
AHEAD = 8  # rows between fetching one and reading it
GROUP = 4  # blocks of features whose packed sums stay in the cache together
H_BITS, G_BITS = 24, 26  # of a narrow word; the count has the rest

# The record of a leaf: its sums, the bounds of its value, whether it may be split, and its best split.
G, H, COUNT, LOWER, UPPER, OPEN, GAIN, G_LEFT, H_LEFT, COUNT_LEFT, PLACE, MISSING_LEFT, FEATURE = range(13)
N_RECORD, N_SPLIT = 13, FEATURE - GAIN


class Ground(NamedTuple):
    """What all trees of a fit grow on."""

    words: np.ndarray  # (n, blocks) uint64: the codes of eight features
    columns: np.ndarray  # (d, n) uint8: the codes by feature
    n_bins: np.ndarray  # (d,) int64
    kinds: np.ndarray  # (d, 2) int64: number of categories (0: numeric), sign of the monotone constraint


class Terms(NamedTuple):
    """What one unit of g and of h is worth in a tree, how cells are written, and when a split is allowed."""

    g_unit: float
    h_unit: float
    count_shift: int
    narrow: bool
    l2: float
    min_samples_leaf: float
    min_hessian: float
    max_depth: int
    drawn: int  # features that a split may use


class Desk(NamedTuple):
    """Room for the work of one thread; `numbers` and `words` are views of the same memory."""

    local: np.ndarray  # (2048 GROUP,) int64: packed sums, zero between calls
    words: np.ndarray  # (5, 257) int64, lines as below
    numbers: np.ndarray  # float64
    features: np.ndarray  # (2, d) int64: whether a feature may be used; an order of them


LEFT_G, LEFT_Q, GAINS, ORDER, KEYS = range(5)
N_DESK = 5


@compiled(**BARE)
def add_narrow(words, packed, rows, begin, end, first, last, local):
    """Add rows to the packed sums of the blocks first..last-1; rows that come later are fetched."""
    for k in range(begin, end):
        i, later = np.uint64(rows[k]), np.int64(rows[min(k + AHEAD, end - 1)])
        fetch(words[later], first)
        fetch(packed[later], 0)
        p = packed[i, np.uint64(0)]
        for b in range(last - first):
            v = words[i, np.uint64(first + b)]
            for j in range(8):
                local[np.uint64(2048 * b + 256 * j) + ((v >> np.uint64(8 * j)) & np.uint64(255))] += p


@compiled(**BARE)
def add_wide(words, packed, rows, first, last, gs, qs):
    """Add rows to the cells of the blocks first..last-1."""
    for k in range(rows.size):
        i = np.uint64(rows[k])
        p, q = packed[i, np.uint64(0)], packed[i, np.uint64(1)]
        for b in range(first, last):
            v = words[i, np.uint64(b)]
            for j in range(8):
                c = np.uint64(2048 * b + 256 * j) + ((v >> np.uint64(8 * j)) & np.uint64(255))
                gs[c] += p
                qs[c] += q


@compiled(**BARE)
def unpack(local, size, count_shift, fresh, gs, qs):
    """Move packed sums into their cells, in place of what is there or on top of it."""
    for c in range(size):
        p = local[c]
        local[c] = 0
        h = p & ((np.int64(1) << H_BITS) - 1)
        rest = p >> H_BITS
        g = (rest << (64 - G_BITS)) >> (64 - G_BITS)  # the low bits, with their sign
        q = (((rest - g) >> G_BITS) << count_shift) + h
        if fresh:
            gs[c], qs[c] = g, q
        else:
            gs[c] += g
            qs[c] += q


@compiled(**BARE)
def histograms(words, packed, rows, first, last, count_shift, narrow, local, out):
    """Fill the histograms of some rows over the blocks first..last-1; a few blocks at a time stay cached.

    `local` has room for them and is zero between calls.
    """
    for a in range(first, last, GROUP):
        b = min(a + GROUP, last)
        gs, qs = out[0, 2048 * a : 2048 * b], out[1, 2048 * a : 2048 * b]
        if narrow:
            for begin in range(0, max(rows.size, 1), BLOCK):
                add_narrow(words, packed, rows, begin, min(begin + BLOCK, rows.size), a, b, local)
                unpack(local, gs.size, count_shift, begin == 0, gs, qs)
        else:
            for c in range(gs.size):
                gs[c] = qs[c] = 0
            add_wide(words, packed, rows, a, b, out[0], out[1])


@compiled(**BARE)
def subtract(parent, child, first, last):
    """parent -= child, over the blocks first..last-1: what is left is the sibling's."""
    for k in range(2):
        large, small = parent[k], child[k]
        for c in range(2048 * first, 2048 * last):
            large[c] -= small[c]
