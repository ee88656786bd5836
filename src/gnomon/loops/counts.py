"""Cuts of a numeric column of byte codes by Gini's index, from class counts: the quick way of most forests.

Weights are repetitions, so all sums are whole numbers and exact. Whole arrays and indices are passed, no
slices: they would be counted in and out at every step. cut = [gain, code, next code, side of missing rows,
left weight, found].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.trees import INNER, MISSING_CODE, SMALL_NODE

C_GAIN, C_CODE, C_NEXT, C_SIDE, C_WEIGHT, C_FOUND = range(6)


class Tally(NamedTuple):
    """Work arrays of one growing tree."""

    counts: np.ndarray  # (256, m) class counts by code; zero between calls
    seen: np.ndarray  # (256,) uint8 whether a code occurs; zero between calls
    present: np.ndarray  # (256,) the codes that occur, in order
    left: np.ndarray  # (m,)
    cut: np.ndarray  # (6,)
    codes: np.ndarray  # (n,) uint8 of a node's rows, by one feature
    labels: np.ndarray  # (n,) of a node's rows
    weights: np.ndarray  # (n,)


@compiled(**INNER)
def new_tally(n, m):
    """Work arrays for nodes of up to n rows and m classes."""
    return Tally(
        np.zeros((256, m)),
        np.zeros(256, np.uint8),
        np.empty(256, np.int64),
        np.empty(m),
        np.zeros(6),
        np.empty(n, np.uint8),
        np.empty(n, np.int64),
        np.empty(n),
    )


@compiled(**INNER)
def fetch_rows(order, lo, hi, labels, wr, work):
    """Bring classes and weights of a node's rows together."""
    for k in range(lo, hi):
        i = order[0, k]
        work.labels[k - lo], work.weights[k - lo] = labels[i], wr[i, 0]


@compiled(**INNER)
def tally(codes, f, order, lo, hi, work):
    """Count classes by code; present = the codes that occur, in order; returns how many."""
    counts, seen, present, labels, weights = work.counts, work.seen, work.present, work.labels, work.weights
    n = 0
    if hi - lo > SMALL_NODE:
        for k in range(hi - lo):
            c = codes[f, order[0, lo + k]]
            counts[c, labels[k]] += weights[k]
            seen[c] = 1
        for c in range(256):
            present[n] = c
            n += seen[c]
        return n
    for k in range(hi - lo):
        c = np.int64(codes[f, order[0, lo + k]])
        counts[c, labels[k]] += weights[k]
        if seen[c] == 0:
            seen[c] = 1
            at = n
            while at > 0 and present[at - 1] > c:
                present[at] = present[at - 1]
                at -= 1
            present[at] = c
            n += 1
    return n


@compiled(**INNER)
def forget(n, work):
    """Zero what `tally` wrote."""
    counts, seen, present = work.counts, work.seen, work.present
    for g in range(n):
        c = present[g]
        seen[c] = 0
        for k in range(counts.shape[1]):
            counts[c, k] = 0.0


@compiled(**INNER)
def move(counts, c, left, total, wl, sl, sr):
    """Send one code's counts left; returns the new weight and sums of squares."""
    for k in range(left.size):
        d = counts[c, k]
        sl += d * (2.0 * left[k] + d)
        sr -= d * (2.0 * (total[2 + k] - left[k]) - d)
        left[k] += d
        wl += d
    return wl, sl, sr


@compiled(**INNER)
def cut_counts(n, parent, total, least, tie, work):
    """Try every cut between neighboring codes, missing rows on either side."""
    counts, present, left, cut = work.counts, work.present, work.left, work.cut
    gap = n > 0 and present[n - 1] == MISSING_CODE
    n -= gap
    cut[C_FOUND] = 0.0
    for side in range(2 if gap else 1):
        wl, sl, sr, pending = 0.0, 0.0, 0.0, False
        for k in range(left.size):
            left[k] = 0.0
            sr += total[2 + k] * total[2 + k]
        if side == 1:
            wl, sl, sr = move(counts, np.int64(MISSING_CODE), left, total, wl, sl, sr)
        for g in range(n):
            c = present[g]
            if pending:
                cut[C_NEXT], pending = c, False
            wl, sl, sr = move(counts, c, left, total, wl, sl, sr)
            wr = total[1] - wl
            if wl < least or wr < least:
                continue
            gain = parent - (wl - sl / wl) - (wr - sr / wr)
            if cut[C_FOUND] == 0.0 or gain > cut[C_GAIN] + tie:
                cut[C_GAIN], cut[C_CODE], cut[C_NEXT], cut[C_SIDE], cut[C_WEIGHT] = gain, c, -1, side, wl
                cut[C_FOUND], pending = 1.0, True


@compiled(**INNER)
def spread(codes, f, order, lo, hi, work):
    """Bring a node's codes together; returns the lowest, the highest, and whether any is missing."""
    own = work.codes
    low, high, gap = 255, -1, False
    for k in range(hi - lo):
        c = np.int64(codes[f, order[0, lo + k]])
        own[k] = c
        if c == MISSING_CODE:
            gap = True
        else:
            low, high = min(low, c), max(high, c)
    return low, high, gap


@compiled(**INNER)
def random_cut(n, limits, f, low, high, pick, parent, total, least, work):
    """Try the cut at the value `pick` (no row is missing); it ends on codes that occur on both sides."""
    own, labels, weights, left, cut = work.codes, work.labels, work.weights, work.left, work.cut
    border, end = low, high - 1
    while border < end:  # the highest code below `high` that begins at or before `pick`
        middle = (border + end + 1) // 2
        if limits[f, middle, 0] <= pick:
            border = middle
        else:
            end = middle - 1
    below, above = low, high
    for k in range(left.size):
        left[k] = 0.0
    for k in range(n):
        c = np.int64(own[k])
        if c <= border:
            left[labels[k]] += weights[k]
            below = max(below, c)
        else:
            above = min(above, c)
    wl = sl = sr = 0.0
    for k in range(left.size):
        wl += left[k]
        sl += left[k] * left[k]
        sr += (total[2 + k] - left[k]) ** 2
    wr = total[1] - wl
    cut[C_GAIN], cut[C_CODE], cut[C_NEXT] = parent - (wl - sl / wl) - (wr - sr / wr), below, above
    cut[C_SIDE], cut[C_WEIGHT], cut[C_FOUND] = 0.0, wl, wl >= least and wr >= least
