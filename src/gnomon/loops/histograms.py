"""Histograms of whole numbers.

Gradients and curvatures come as whole numbers, so a histogram is the same in any order of addition and a
child's is exactly its parent's minus its sibling's. A cell holds two words: the sum of g, and count and sum
of h together (``count << count_shift | h``). Rows come in three widths. *Wide* rows hold the two words of a
cell. The others hold one word, which halves the work, and are added in blocks so short that no sum runs over:
*narrow* rows count, g and h with few digits; *even* rows, which all have the same h, count and g with many.
Codes come as words of eight bytes, one per feature; 255 is missing. Histograms are (2, blocks of eight features
times 2048 cells): the first words of all cells, then the second ones; cells of no feature are not read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.loops._compile import compiled, fetch
from gnomon.loops.trees import BARE

NARROW, EVEN, WIDE = range(3)  # how many words a row has, and what is in them
H_BITS, G_BITS = (24, 0), (26, 51)  # of the word of a narrow and of an even row; the count has the rest
BLOCK = 2**12 - 1  # the sums of as many rows do not run over
TOP_G, TOP_H = (2**13 - 2, 2**38 - 2), 2**12 - 2  # the largest numbers in a word
AHEAD = 8  # rows between fetching one and reading it
GROUP = 4  # blocks of features whose packed sums stay in the cache together

# The record of a leaf: its sums, the bounds of its value, whether it may be split, and its best split.
G, H, COUNT, LOWER, UPPER, OPEN, GAIN, G_LEFT, H_LEFT, COUNT_LEFT, PLACE, MISSING_LEFT, FEATURE = range(13)
N_RECORD, N_SPLIT = 13, FEATURE - GAIN


class BinnedRows(NamedTuple):
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
    width: int
    h_even: int  # of every even row
    l2: float
    min_samples_leaf: float
    min_hessian: float
    max_depth: int
    drawn: int  # features that a split may use


class Scratch(NamedTuple):
    """Room for the work of one thread; `numbers` and `words` are views of the same memory."""

    local: np.ndarray  # (2048 GROUP,) int64: packed sums, zero between calls
    words: np.ndarray  # (5, 257) int64, lines as below
    numbers: np.ndarray  # float64
    features: np.ndarray  # (2, d) int64: whether a feature may be used; an order of them


LEFT_G, LEFT_Q, GAINS, ORDER, KEYS = range(5)
N_SCRATCH = 5


@compiled(**BARE)
def add_words(words, packed, rows, begin, end, first, n_features, local):
    """Add rows of one word to the packed sums of some features from block `first` on; rows that come later are
    fetched.
    """
    whole, rest = n_features // 8, n_features % 8
    for k in range(begin, end):
        i, later = np.uint64(rows[k]), np.int64(rows[min(k + AHEAD, end - 1)])
        fetch(words[later], first)
        fetch(packed[later], 0)
        p = packed[i, np.uint64(0)]
        for b in range(whole):
            v = words[i, np.uint64(first + b)]
            for j in range(8):
                local[np.uint64(2048 * b + 256 * j) + ((v >> np.uint64(8 * j)) & np.uint64(255))] += p
        if rest > 0:
            v, at = words[i, np.uint64(first + whole)], np.uint64(2048 * whole)
            if rest & 4:  # four, two and one: loops of known length need no counting
                for j in range(4):
                    local[at + np.uint64(256 * j) + ((v >> np.uint64(8 * j)) & np.uint64(255))] += p
                v, at = v >> np.uint64(32), at + np.uint64(1024)
            if rest & 2:
                for j in range(2):
                    local[at + np.uint64(256 * j) + ((v >> np.uint64(8 * j)) & np.uint64(255))] += p
                v, at = v >> np.uint64(16), at + np.uint64(512)
            if rest & 1:
                local[at + (v & np.uint64(255))] += p


@compiled(**BARE)
def add_wide(words, packed, rows, first, last, gs, qs):
    """Add rows of two words to the cells of the blocks first..last-1."""
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
def unpack(local, terms, fresh, gs, qs):
    """Move packed sums into their cells, in place of what is there or on top of it."""
    g_bits, h_bits, shift = G_BITS[terms.width], H_BITS[terms.width], terms.count_shift
    for c in range(gs.size):
        p = local[c]
        local[c] = 0
        h = p & ((np.int64(1) << h_bits) - 1)
        rest = p >> h_bits
        g = (rest << (64 - g_bits)) >> (64 - g_bits)  # the low bits, with their sign
        count = (rest - g) >> g_bits
        q = (count << shift) + h + count * terms.h_even
        if fresh:
            gs[c], qs[c] = g, q
        else:
            gs[c] += g
            qs[c] += q


@compiled(**BARE)
def histograms(binned, packed, rows, terms, local, out):
    """Fill the histograms of some rows; a few blocks at a time stay cached.

    `local` has room for them and is zero between calls.
    """
    words, d = binned.words, binned.n_bins.size
    for a in range(0, words.shape[1], GROUP):
        b = min(a + GROUP, words.shape[1])
        n_features = min(8 * b, d) - 8 * a
        begins, ends = 2048 * a, 2048 * a + 256 * n_features
        gs, qs = out[0, begins:ends], out[1, begins:ends]
        if terms.width == WIDE:
            for c in range(2048 * a, 2048 * b):
                out[0, c] = out[1, c] = 0
            add_wide(words, packed, rows, a, b, out[0], out[1])
        else:
            for begin in range(0, max(rows.size, 1), BLOCK):
                add_words(words, packed, rows, begin, min(begin + BLOCK, rows.size), a, n_features, local)
                unpack(local, terms, begin == 0, gs, qs)


@compiled(**BARE)
def add(total, part, sign, n_features):
    """total += sign * part; of a parent less one child the sibling is left."""
    for k in range(2):
        to, of = total[k], part[k]
        for c in range(256 * n_features):
            to[c] += sign * of[c]
