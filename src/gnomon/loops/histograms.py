"""Histograms of whole numbers, the best split of a leaf, and the partition of its rows.

Gradients and curvatures come as whole numbers, so a histogram is the same in any order of addition and a
child's is exactly its parent's minus its sibling's. A cell holds two words: the sum of g, and count and sum
of h together (``count << count_shift | h``). Rows come in two widths: *wide* rows hold the two words of a
cell; *narrow* rows hold count, g and h in one word, added in blocks of 2^12 rows, which halves the work.
Codes come as words of eight bytes, one per feature; 255 is missing. A histogram is (blocks of eight features,
2048 cells, 2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.trees import ENTRY, INNER, MISSING_CODE, TIE

BLOCK = 1 << 12  # rows fetched together; the sums of as many narrow rows do not run over
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


@compiled(**INNER)
def fetch(words, packed, rows, begin, n, first, strip, own):
    """Bring the words and numbers of some rows together: their loads wait for memory side by side."""
    last = packed.shape[1] - 1
    for k in range(n):
        i = np.uint64(rows[begin + k])
        own[0, k], own[last, k] = packed[i, 0], packed[i, last]
        for b in range(strip.shape[0]):
            strip[b, k] = words[i, np.uint64(first + b)]


@compiled(**INNER)
def add_narrow(line, numbers, n, local):
    """Add rows to the packed sums of eight features."""
    for k in range(n):
        p, v = numbers[k], line[k]
        for j in range(8):
            local[np.uint64(256 * j) + ((v >> np.uint64(8 * j)) & np.uint64(255))] += p


@compiled(**INNER)
def add_wide(line, own, n, cells):
    """Add rows to the cells of eight features."""
    for k in range(n):
        p, q, v = own[0, k], own[1, k], line[k]
        for j in range(8):
            c = np.uint64(256 * j) + ((v >> np.uint64(8 * j)) & np.uint64(255))
            cells[c, 0] += p
            cells[c, 1] += q


@compiled(**INNER)
def unpack(local, count_shift, fresh, cells):
    """Move the packed sums of eight features into their cells, in place of what is there or on top of it."""
    for c in range(2048):
        p = local[c]
        local[c] = 0
        h = p & ((np.int64(1) << H_BITS) - 1)
        rest = p >> H_BITS
        g = (rest << (64 - G_BITS)) >> (64 - G_BITS)  # the low bits, with their sign
        q = (((rest - g) >> G_BITS) << count_shift) + h
        if fresh:
            cells[c, 0], cells[c, 1] = g, q
        else:
            cells[c, 0] += g
            cells[c, 1] += q


@compiled(**ENTRY)
def histograms(words, packed, rows, first, last, count_shift, narrow, out):
    """out[first:last] = the histograms of some rows over the blocks first..last-1."""
    size = min(BLOCK, rows.size)
    strip = np.empty((last - first, size), np.uint64)
    own = np.empty((packed.shape[1], size), np.int64)
    local = np.zeros(2048, np.int64)
    if not narrow:
        out[first:last] = 0
    for begin in range(0, rows.size, BLOCK):
        n = min(BLOCK, rows.size - begin)
        fetch(words, packed, rows, begin, n, first, strip, own)
        for b in range(last - first):
            if narrow:
                add_narrow(strip[b], own[0], n, local)
                unpack(local, count_shift, begin == 0, out[first + b])
            else:
                add_wide(strip[b], own, n, out[first + b])


@compiled(**INNER)
def subtract(parent, child, first, last):
    """parent -= child, over the blocks first..last-1: what is left is the sibling's."""
    for b in range(first, last):
        for c in range(2048):
            parent[b, c, 0] -= child[b, c, 0]
            parent[b, c, 1] -= child[b, c, 1]


@compiled(**INNER)
def cumulate_cells(cells, order, n, ranked, left):
    """left = the words of everything up to each of the first n cells (in order, where ranked)."""
    g = q = np.int64(0)
    for k in range(n):
        at = order[k] if ranked else k
        g += cells[at, 0]
        q += cells[at, 1]
        left[0, k], left[1, k] = g, q


@compiled(**INNER)
def read_left(left, k, extra, terms):
    """g, h and count on the left of a split after cell k, `extra` going left too."""
    q = left[1, k] + extra[1]
    h = (q & ((np.int64(1) << terms.count_shift) - 1)) * terms.h_unit
    return (left[0, k] + extra[0]) * terms.g_unit, h, np.float64(q >> terms.count_shift)


@compiled(**INNER)
def free_gains(left, n, extra, record, terms, parent, gains):
    """gains[k] = what a split after cell k gains, `extra` going left too; -inf where a side is too small."""
    least, lightest = terms.min_samples_leaf, terms.min_hessian
    g, h, c = record[G], record[H], record[COUNT]
    for k in range(n):
        gl, hl, cl = read_left(left, k, extra, terms)
        gr, hr, cr = g - gl, h - hl, c - cl
        large = (cl >= least) & (cr >= least) & (hl >= lightest) & (hr >= lightest)
        a, b = hl + terms.l2, hr + terms.l2
        one = 1.0 / (a * b)  # one division serves both sides
        gain = gl * gl * (b * one) + gr * gr * (a * one) - parent
        gains[k] = gain if large else -np.inf


@compiled(**INNER)
def bound_gains(left, n, extra, record, terms, parent, sign, gains):
    """The same where values are bounded, and fall or rise from left to right as `sign` says."""
    l2, lower, upper = terms.l2, record[LOWER], record[UPPER]
    free_gains(left, n, extra, record, terms, parent, gains)
    for k in range(n):
        if gains[k] > -np.inf:
            gl, hl, _ = read_left(left, k, extra, terms)
            gr, hr = record[G] - gl, record[H] - hl
            a = min(max(-gl / (hl + l2), lower), upper)
            b = min(max(-gr / (hr + l2), lower), upper)
            gain = -(2.0 * gl * a + (hl + l2) * a * a) - (2.0 * gr * b + (hr + l2) * b * b) - parent
            gains[k] = gain if (b - a) * sign >= 0.0 else -np.inf


@compiled(**INNER)
def first_best(gains, bits, n, tie):
    """The first of the candidates whose gain is the largest, up to rounding; n: none is positive.

    Positive numbers are ordered as their bits are, and whole numbers are compared many at a time. The last
    entry of `gains` is for work.
    """
    top = np.int64(0)
    for k in range(n):
        top = max(top, bits[k])
    if top == 0:
        return n
    bits[256] = top
    least = gains[256] * (1.0 - TIE) - tie
    k = 0
    while gains[k] < least:
        k += 1
    return k


@compiled(**INNER)
def find_splits(hist, ground, terms, allowed, record, first, last, found):
    """found[f] = the best split of a leaf by each of the features first..last-1; gain 0: none."""
    l2 = terms.l2
    value = min(max(-record[G] / (record[H] + l2), record[LOWER]), record[UPPER])
    parent = -(2.0 * record[G] * value + (record[H] + l2) * value * value)
    tie = TIE * abs(parent)
    bounded = record[LOWER] > -np.inf or record[UPPER] < np.inf
    left, gains, extra = np.empty((2, 256), np.int64), np.empty(257), np.zeros(2, np.int64)
    bits, order, keys = gains.view(np.int64), np.empty(256, np.int64), np.empty(256)
    for f in range(first, last):
        split, sign = found[f], ground.kinds[f, 1]
        split[0] = 0.0
        if allowed.size > 0 and allowed[f] == 0:
            continue
        cells, n = hist[f // 8, 256 * (f % 8) : 256 * (f % 8) + 256], ground.n_bins[f]
        ranked = ground.kinds[f, 0] > 0
        if ranked:
            n = rank_categories(cells, n, terms, order, keys)
        cumulate_cells(cells, order, n, ranked, left)
        gap = (cells[MISSING_CODE, 1] >> terms.count_shift) > 0
        for side in range(2 if gap else 1):
            extra[0], extra[1] = side * cells[MISSING_CODE, 0], side * cells[MISSING_CODE, 1]
            m = n if gap and side == 0 else n - 1
            if bounded or sign != 0:
                bound_gains(left, m, extra, record, terms, parent, sign, gains)
            else:
                free_gains(left, m, extra, record, terms, parent, gains)
            k = first_best(gains, bits, m, tie)
            if k < m and gains[k] > tie and gains[k] > split[0] * (1.0 + TIE) + tie:
                split[0], split[4], split[5] = gains[k], k, side
                split[1], split[2], split[3] = read_left(left, k, extra, terms)


@compiled(**ENTRY)
def choose(found, l2, record):
    """Take the split of the lowest feature whose split gains most, up to rounding; gain 0: none gains.

    A gain is what is left of sums as large as G^2 / H: their rounding is that of the gain.
    """
    best, tie = -1, TIE * record[G] * record[G] / max(record[H] + l2, 1e-300)
    for f in range(found.shape[0]):
        if found[f, 0] > 0.0 and (best < 0 or found[f, 0] > found[best, 0] * (1.0 + TIE) + tie):
            best = f
    record[GAIN], record[FEATURE] = 0.0, best
    if best >= 0:
        for k in range(N_SPLIT):
            record[GAIN + k] = found[best, k]


@compiled(**ENTRY)
def search(ground, packed, terms, rows, small, large, which, allowed, records, first, last, found):
    """Fill the histograms `small` of some rows over the blocks first..last-1, take them from `large` when
    there are two leaves (`which` is the small one), and find the splits of both.
    """
    histograms(ground.words, packed, rows, first, last, terms.count_shift, terms.narrow, small)
    if records.shape[0] == 2:
        subtract(large, small, first, last)
    for s in range(records.shape[0]):
        if records[s, OPEN] > 0.0:
            find_splits(small if s == which else large, ground, terms, allowed[s], records[s], 8 * first,
                        min(8 * last, ground.n_bins.size), found[s])  # fmt: skip


@compiled(**ENTRY)
def sides_of(hist, ground, terms, record, goes_left):
    """goes_left[code] = 1 for the codes on the left of a leaf's split; missing rows, if there were none, go
    with the heavier side.
    """
    f = np.int64(record[FEATURE])
    cells = hist[f // 8, 256 * (f % 8) : 256 * (f % 8) + 256]
    order, place = np.arange(256), np.int64(record[PLACE])
    if ground.kinds[f, 0] > 0:
        rank_categories(cells, ground.n_bins[f], terms, order, np.empty(256))
    for k in range(256):
        goes_left[k] = 0
    for k in range(place + 1):
        goes_left[order[k]] = 1
    gap = (cells[MISSING_CODE, 1] >> terms.count_shift) > 0
    heavier = 2.0 * record[COUNT_LEFT] > record[COUNT]
    goes_left[MISSING_CODE] = record[MISSING_LEFT] > 0.0 if gap else heavier


@compiled(**INNER)
def rank_categories(cells, n, terms, order, keys):
    """Order the present categories by gradient over curvature; returns their number."""
    m = 0
    for code in range(n):
        if cells[code, 1] >> terms.count_shift > 0:
            h = (cells[code, 1] & ((np.int64(1) << terms.count_shift) - 1)) * terms.h_unit
            key = cells[code, 0] * terms.g_unit / (h + terms.l2 + 1e-12)
            at = m
            while at > 0 and keys[at - 1] > key:
                keys[at], order[at] = keys[at - 1], order[at - 1]
                at -= 1
            keys[at], order[at] = key, code
            m += 1
    return m


@compiled(**ENTRY)
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


@compiled(**ENTRY)
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
def split_leaf(ground, packed, terms, record, deepest, allowed, rows, spare, hist, small, goes_left, records,
               found):  # fmt: skip
    """Split a leaf: part its rows, fill the children's records and histograms and find their best splits;
    returns how many rows go left. `hist` becomes the larger child's, `small` the smaller one's.
    """
    sides_of(hist, ground, terms, record, goes_left)
    n = partition_rows(ground.columns[np.int64(record[FEATURE])], goes_left, rows, rows, spare)
    for k in range(n, rows.size):
        rows[k] = spare[k - n]
    pass_down(record, ground, terms, deepest, records)
    which = 0 if 2 * n <= rows.size else 1
    if records[0, OPEN] + records[1, OPEN] > 0.0:
        search(ground, packed, terms, rows[:n] if which == 0 else rows[n:], small, hist, which, allowed,
               records, np.int64(0), hist.shape[0], found)  # fmt: skip
        for s in range(2):
            if records[s, OPEN] > 0.0:
                choose(found[s], terms.l2, records[s])
    return n
