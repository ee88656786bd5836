"""The best split of a leaf from its histograms: what every cut gains, and which gains most.

A leaf is a record of numbers: its sums, the bounds of its value, whether it may be split, and its best split.
"""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.draws import mix
from gnomon.loops.histograms import (
    COUNT,
    COUNT_LEFT,
    FEATURE,
    GAIN,
    GAINS,
    KEYS,
    LEFT_G,
    LOWER,
    MISSING_LEFT,
    N_SPLIT,
    ORDER,
    PLACE,
    UPPER,
    G,
    H,
)
from gnomon.loops.trees import BARE, MISSING_CODE, TIE


@compiled(**BARE)
def rank_categories(gs, qs, n, terms, order, keys):
    """Order the present categories by gradient over curvature; returns their number."""
    m = 0
    for code in range(n):
        if qs[code] >> terms.count_shift > 0:
            h = (qs[code] & ((np.int64(1) << terms.count_shift) - 1)) * terms.h_unit
            key = gs[code] * terms.g_unit / (h + terms.l2 + 1e-12)
            at = m
            while at > 0 and keys[at - 1] > key:
                keys[at], order[at] = keys[at - 1], order[at - 1]
                at -= 1
            keys[at], order[at] = key, code
            m += 1
    return m


@compiled(**BARE)
def draw_features(key, drawn, allowed, chosen):
    """allowed = which features a leaf may be split by: `drawn` of them, by its random key."""
    d = allowed.size
    for f in range(d):
        allowed[f], chosen[f] = 1, f
    for k in range(d - drawn):  # those left out
        key = mix(key)
        j = k + np.int64(key % np.uint64(d - k))
        chosen[k], chosen[j] = chosen[j], chosen[k]
        allowed[chosen[k]] = 0


@compiled(**BARE)
def cumulate_cells(gs, qs, order, n, ranked, left):
    """left = the words of everything up to each of the first n cells (in order, where ranked)."""
    g = q = np.int64(0)
    sums_g, sums_q = left[0], left[1]
    for k in range(n):
        at = order[k] if ranked else k
        g += gs[at]
        q += qs[at]
        sums_g[k], sums_q[k] = g, q


@compiled(**BARE)
def read_left(left, k, extra_g, extra_q, terms):
    """g, h and count on the left of a split after cell k, the extra words going left too."""
    q = left[1, k] + extra_q
    h = (q & ((np.int64(1) << terms.count_shift) - 1)) * terms.h_unit
    return (left[0, k] + extra_g) * terms.g_unit, h, np.float64(q >> terms.count_shift)


@compiled(**BARE)
def free_gains(left, n, extra_g, extra_q, g, h, count, terms, parent, gains):
    """gains[k] = what a split after cell k gains; -inf where a side is too small.

    The count lies above the other bits of its word, so whole words are compared. Nothing but numbers and
    three arrays: the loop takes several candidates at a time.
    """
    sums_g, sums_q, shift = left[0], left[1], terms.count_shift
    g_unit, h_unit, l2, lightest = terms.g_unit, terms.h_unit, terms.l2, terms.min_hessian
    least, below = np.int64(np.ceil(terms.min_samples_leaf)), (np.int64(1) << shift) - 1
    fewest, most = least << shift, (np.int64(count) - least + 1) << shift
    for k in range(n):
        q = sums_q[k] + extra_q
        gl, hl = (sums_g[k] + extra_g) * g_unit, (q & below) * h_unit
        gr, hr = g - gl, h - hl
        a, b = hl + l2, hr + l2
        gain = (gl * gl * b + gr * gr * a) / (a * b) - parent  # one division serves both sides
        gains[k] = gain if (q >= fewest) & (q < most) & (hl >= lightest) & (hr >= lightest) else -np.inf


@compiled(**BARE)
def bound_gains(left, n, extra_g, extra_q, record, terms, parent, sign, gains):
    """The same where values are bounded, and fall or rise from left to right as `sign` says."""
    l2, lower, upper = terms.l2, record[LOWER], record[UPPER]
    free_gains(left, n, extra_g, extra_q, record[G], record[H], record[COUNT], terms, parent, gains)
    for k in range(n):
        if gains[k] > -np.inf:
            gl, hl, _ = read_left(left, k, extra_g, extra_q, terms)
            gr, hr = record[G] - gl, record[H] - hl
            a = min(max(-gl / (hl + l2), lower), upper)
            b = min(max(-gr / (hr + l2), lower), upper)
            gain = -(2.0 * gl * a + (hl + l2) * a * a) - (2.0 * gr * b + (hr + l2) * b * b) - parent
            gains[k] = gain if (b - a) * sign >= 0.0 else -np.inf


@compiled(**BARE)
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


@compiled(**BARE)
def find_splits(hist, binned, terms, key, record, scratch, found):
    """found[f] = the best split of a leaf by each feature; gain 0: none."""
    l2 = terms.l2
    value = min(max(-record[G] / (record[H] + l2), record[LOWER]), record[UPPER])
    parent = -(2.0 * record[G] * value + (record[H] + l2) * value * value)
    tie = TIE * abs(parent)
    bounded = record[LOWER] > -np.inf or record[UPPER] < np.inf
    left, gains, bits = scratch.words[LEFT_G:GAINS], scratch.numbers[GAINS], scratch.words[GAINS]
    order, keys, allowed = scratch.words[ORDER], scratch.numbers[KEYS], scratch.features[0]
    draw_features(key, terms.drawn, allowed, scratch.features[1])
    for f in range(found.shape[0]):
        split, sign = found[f], binned.kinds[f, 1]
        split[0] = 0.0
        if allowed[f] == 0:
            continue
        gs, qs, n = hist[0, 256 * f : 256 * f + 256], hist[1, 256 * f : 256 * f + 256], binned.n_bins[f]
        ranked = binned.kinds[f, 0] > 0
        if ranked:
            n = rank_categories(gs, qs, n, terms, order, keys)
        cumulate_cells(gs, qs, order, n, ranked, left)
        gap = (qs[MISSING_CODE] >> terms.count_shift) > 0
        for side in range(2 if gap else 1):
            extra_g, extra_q = side * gs[MISSING_CODE], side * qs[MISSING_CODE]
            m = n if gap and side == 0 else n - 1
            if bounded or sign != 0:
                bound_gains(left, m, extra_g, extra_q, record, terms, parent, sign, gains)
            else:
                free_gains(
                    left, m, extra_g, extra_q, record[G], record[H], record[COUNT], terms, parent, gains
                )
            k = first_best(gains, bits, m, tie)
            if k < m and gains[k] > tie and gains[k] > split[0] * (1.0 + TIE) + tie:
                split[0], split[4], split[5] = gains[k], k, side
                split[1], split[2], split[3] = read_left(left, k, extra_g, extra_q, terms)


@compiled(**BARE)
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


@compiled(**BARE)
def sides_of(hist, binned, terms, record, scratch, goes_left):
    """goes_left[code] = 1 for the codes on the left of a leaf's split; missing rows, if there were none, go
    with the heavier side.
    """
    f = np.int64(record[FEATURE])
    gs, qs = hist[0, 256 * f : 256 * f + 256], hist[1, 256 * f : 256 * f + 256]
    order, place = scratch.words[ORDER], np.int64(record[PLACE])
    for k in range(256):
        order[k] = k
    if binned.kinds[f, 0] > 0:
        rank_categories(gs, qs, binned.n_bins[f], terms, order, scratch.numbers[KEYS])
    for k in range(256):
        goes_left[k] = 0
    for k in range(place + 1):
        goes_left[order[k]] = 1
    gap = (qs[MISSING_CODE] >> terms.count_shift) > 0
    heavier = 2.0 * record[COUNT_LEFT] > record[COUNT]
    goes_left[MISSING_CODE] = record[MISSING_LEFT] > 0.0 if gap else heavier
