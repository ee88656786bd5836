"""Cuts of one column of byte codes for many classes by Gini's index; 255 is missing.

As in `loops.coded_cuts`, with a weight for every class: the score of a cut is the sum over the classes of
e_k^2 / (W_l W_r), e_k = V_lk - W_l V_k / W.
"""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.coded_cuts import (
    FOUND,
    NEXT,
    SCORE,
    SIDE,
    SORTED_ROWS,
    WEIGHT,
    border_of,
    extremes,
    insert,
    note,
)
from gnomon.loops.draws import uniform
from gnomon.loops.trees import BARE, MISSING_CODE


@compiled(**BARE)
def measure_classes(order, lo, hi, w, y, weights, moments, total, value, node):
    """Shares of many classes; returns Gini's index and whether there are several."""
    for k in range(total.size):
        total[k] = 0.0
    for k in range(lo, hi):
        i = order[k]
        weights[k - lo], moments[k - lo] = w[i], y[i]
        total[0] += w[i]
        total[1 + np.int64(y[i])] += w[i]
    rest, top = 1.0, 0.0
    for k in range(value.shape[1]):
        share = total[1 + k] / total[0]
        value[node, k] = share
        rest -= share * share
        top = max(top, share)
    return max(rest, 0.0), top < 1.0


@compiled(**BARE)
def judge_classes(left, total, code, after, side, least, tie, cut):
    """Keep the cut with the sums `left` on its left when it is allowed and better."""
    wl, wr, square = left[0], total[0] - left[0], 0.0
    if wl >= least and wr >= least and wl > 0.0 and wr > 0.0:
        for k in range(1, left.size):
            e = left[k] - wl * total[k] / total[0]
            square += e * e
        score = square / (wl * wr)
        if cut[FOUND] == 0.0 or score > cut[SCORE] + tie:
            note(cut, score, code, after, side, wl)


@compiled(**BARE)
def add_up_classes(codes, start, step, order, lo, hi, weights, classes, width, sums, present):
    """Weights by code and class; present = the codes that occur, in order; returns how many."""
    n, few = 0, hi - lo <= SORTED_ROWS
    for k in range(lo, hi):
        c = np.int64(codes[start + step * np.int64(order[k])])
        if few and sums[width * c] == 0.0:
            insert(c, n, present)
            n += 1
        sums[width * c] += weights[k - lo]
        sums[width * c + 1 + np.int64(classes[k - lo])] += weights[k - lo]
    if not few:
        for c in range(256):
            present[n] = c
            n += sums[width * c] > 0.0
    return n


@compiled(**BARE)
def scan_classes(present, last, sums, total, side, least, tie, left, cut):
    """Try the cuts after each of the first codes of the list; with side = 1 missing rows are on the left."""
    width = left.size
    for k in range(width):
        left[k] = sums[width * MISSING_CODE + k] if side == 1 else 0.0
    for g in range(last):
        c = present[g]
        for k in range(width):
            left[k] += sums[width * c + k]
        judge_classes(left, total, c, present[g + 1], side, least, tie, cut)


@compiled(**BARE)
def best_of_classes(codes, start, step, order, lo, hi, weights, classes, sums, present, total, least, tie, left,
                    cut):  # fmt: skip
    """Try every cut of a feature, missing rows on either side; returns whether the feature varies."""
    width = left.size
    n = add_up_classes(codes, start, step, order, lo, hi, weights, classes, width, sums, present)
    gap = n > 0 and present[n - 1] == MISSING_CODE
    known = n - gap
    if gap:
        present[known] = -1
        scan_classes(present, known, sums, total, 0, least, tie, left, cut)
    scan_classes(present, known - 1, sums, total, np.int64(gap), least, tie, left, cut)
    if gap:
        present[known] = MISSING_CODE
    else:
        cut[SIDE] = 2.0 * cut[WEIGHT] > total[0]
    for g in range(n):
        for k in range(width):
            sums[width * present[g] + k] = 0.0
    return n > 1


@compiled(**BARE)
def sum_classes(own, n, first, last, weights, classes, left):
    """left += the sums of the rows whose codes lie in first..last."""
    for k in range(n):
        here = weights[k] if first <= own[k] <= last else 0.0
        left[0] += here
        left[1 + np.int64(classes[k])] += here


@compiled(**BARE)
def random_of_classes(own, n, limits, base, key, weights, classes, total, least, tie, left, cut):
    """One cut at random between the extremes of a feature, as `loops.coded_cuts.random_cut`."""
    low, high, gap = extremes(own, n)
    if high < 0 or (low == high and not gap):
        return False
    border, pick = low, np.inf
    if low < high:
        a, b = limits[base + 2 * low], limits[base + 2 * high + 1]
        pick = a + uniform(key) * (b - a)
        border = border_of(limits, base, low, high, pick)
    for k in range(left.size):
        left[k] = 0.0
    sum_classes(own, n, 0, border, weights, classes, left)
    judge_classes(left, total, border, 0, 0, least, tie, cut)
    if not gap:
        cut[SIDE] = 2.0 * cut[WEIGHT] > total[0]
    elif low < high:
        sum_classes(own, n, MISSING_CODE, MISSING_CODE, weights, classes, left)
        judge_classes(left, total, border, 0, 1, least, tie, cut)
    cut[NEXT] = max(pick, limits[base + 2 * border + 1])
    return True
