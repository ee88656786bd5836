"""Cuts of one column of byte codes for numbers and for two classes; 255 is missing.

Gini's index and the squared error are one formula. A row has the weight w and a moment v: w(y - mean) of a
number, w or 0 for one of two classes. A cut with the weight W_l and the moment V_l on its left lowers the loss
by

    gain = factor W / (W_l W_r) e^2,    e = V_l - W_l V / W,    factor = 2 for two classes, else 1.

The score of a cut is its gain without the factors that the node shares. Arrays of one dimension and indices are
passed, no slices: these functions are called for every feature of every node.
"""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.draws import uniform
from gnomon.loops.trees import BARE, MISSING_CODE

SORTED_ROWS = 32  # rows of a node whose codes are sorted instead of looked up in all 256 bins
SCORE, CODE, NEXT, SIDE, WEIGHT, FOUND = range(6)  # a cut


# Totals of a node


@compiled(**BARE)
def measure_two(order, lo, hi, w, y, weights, moments, total, value, node):
    """Shares of two classes; returns Gini's index and whether both are there."""
    weight = moment = 0.0
    for k in range(lo, hi):
        i = order[k]
        weights[k - lo], moments[k - lo] = w[i], w[i] * y[i]
        weight += w[i]
        moment += w[i] * y[i]
    total[0], total[1] = weight, moment
    a, b = (weight - moment) / weight, moment / weight
    value[node, 0], value[node, 1] = a, b
    return 2.0 * a * b, 0.0 < moment < weight


@compiled(**BARE)
def measure_numbers(order, lo, hi, w, y, weights, moments, total, value, node):
    """Mean and moments around it; returns the mean squared deviation and whether the numbers differ."""
    weight = moment = deviation = rest = 0.0
    for k in range(lo, hi):
        i = order[k]
        weights[k - lo], moments[k - lo] = w[i], y[i]
        weight += w[i]
        moment += w[i] * y[i]
    mean, first, varies = moment / weight, moments[0], False
    for k in range(hi - lo):
        off = moments[k] - mean
        varies |= moments[k] != first
        moments[k] = weights[k] * off
        deviation += moments[k] * off
        rest += moments[k]
    total[0], total[1], value[node, 0] = weight, rest, mean
    return deviation / weight, varies


# The best cut of a feature


@compiled(**BARE)
def note(cut, score, code, after, side, weight):
    """Keep a cut."""
    cut[SCORE], cut[CODE], cut[NEXT] = score, code, after
    cut[SIDE], cut[WEIGHT], cut[FOUND] = side, weight, 1.0


@compiled(**BARE)
def insert(c, n, present):
    """Bring a code into the sorted list of n codes."""
    while n > 0 and present[n - 1] > c:
        present[n] = present[n - 1]
        n -= 1
    present[n] = c


@compiled(**BARE)
def add_up(codes, start, step, order, lo, hi, weights, moments, sums, present):
    """Weights and moments by code; present = the codes that occur, in order; returns how many."""
    n, few = 0, hi - lo <= SORTED_ROWS
    for k in range(lo, hi):
        c = np.int64(codes[start + step * np.int64(order[k])])
        if few and sums[2 * c] == 0.0:
            insert(c, n, present)
            n += 1
        sums[2 * c] += weights[k - lo]
        sums[2 * c + 1] += moments[k - lo]
    if not few:
        for c in range(256):
            present[n] = c
            n += sums[2 * c] > 0.0
    return n


@compiled(**BARE)
def scan(present, last, sums, total, side, least, tie, cut):
    """Try the cuts after each of the first codes of the list; with side = 1 missing rows are on the left."""
    weight, share, top = total[0], total[1] / total[0], -1.0
    wl = vl = 0.0
    if side == 1:
        wl, vl = sums[2 * MISSING_CODE], sums[2 * MISSING_CODE + 1]
    if cut[FOUND] > 0.0:
        top = cut[SCORE] + tie
    for g in range(last):
        c = present[g]
        wl += sums[2 * c]
        vl += sums[2 * c + 1]
        wr, e = weight - wl, vl - wl * share
        score = e * e / (wl * wr)
        if score > top and wl >= least and wr >= least:
            note(cut, score, c, present[g + 1], side, wl)
            top = score + tie


@compiled(**BARE)
def best_cut(codes, start, step, order, lo, hi, weights, moments, sums, present, total, least, tie, cut):
    """Try every cut of a feature, missing rows on either side; returns whether the feature varies."""
    n = add_up(codes, start, step, order, lo, hi, weights, moments, sums, present)
    gap = n > 0 and present[n - 1] == MISSING_CODE
    known = n - gap
    if gap:
        present[known] = -1
        scan(present, known, sums, total, 0, least, tie, cut)
    scan(present, known - 1, sums, total, np.int64(gap), least, tie, cut)
    if gap:
        present[known] = MISSING_CODE
    else:
        cut[SIDE] = 2.0 * cut[WEIGHT] > total[0]
    for g in range(n):
        c = present[g]
        sums[2 * c] = sums[2 * c + 1] = 0.0
    return n > 1


# A random cut of a feature


@compiled(**BARE)
def gather(codes, start, step, order, lo, hi, own):
    """Bring a node's codes together."""
    for k in range(lo, hi):
        own[k - lo] = codes[start + step * np.int64(order[k])]


@compiled(**BARE)
def extremes(own, n):
    """The lowest and the highest code (-1: all are missing), and whether any is missing."""
    low, top, after = np.uint8(255), np.uint8(0), np.uint8(0)
    for k in range(n):
        c = own[k]
        low, top = min(low, c), max(top, c)
        after = max(after, np.uint8(c + np.uint8(1)))  # 0 for the code of missing values
    return np.int64(low), np.int64(after) - 1, top == MISSING_CODE


@compiled(**BARE)
def border_of(limits, base, low, high, pick):
    """The highest code below `high` that begins at or before `pick`, found without a branch to guess."""
    room = high - low
    while room > 1:
        half = room >> 1
        low += half * np.int64(limits[base + 2 * (low + half)] <= pick)
        room -= half
    return low


@compiled(fastmath=True, **BARE)
def sum_left(own, n, border, weights, moments):
    """Weight and moment of the rows up to the border."""
    weight = moment = 0.0
    for k in range(n):
        here = 1.0 if own[k] <= border else 0.0
        weight += here * weights[k]
        moment += here * moments[k]
    return weight, moment


@compiled(**BARE)
def judge(wl, vl, code, side, total, least, tie, cut):
    """Keep a random cut when it is allowed and better."""
    wr, e = total[0] - wl, vl - wl * total[1] / total[0]
    if wl >= least and wr >= least and wl > 0.0 and wr > 0.0:
        score = e * e / (wl * wr)
        if cut[FOUND] == 0.0 or score > cut[SCORE] + tie:
            note(cut, score, code, 0.0, side, wl)


@compiled(**BARE)
def random_cut(own, n, limits, base, key, weights, moments, total, least, tie, cut):
    """One cut at random between the extremes of a feature, missing rows on either side.

    limits[base:] has the smallest and the largest value of every code; cut[NEXT] is the threshold. Returns
    whether the feature varies.
    """
    low, high, gap = extremes(own, n)
    if high < 0 or (low == high and not gap):
        return False
    border, pick = low, np.inf
    if low < high:
        a, b = limits[base + 2 * low], limits[base + 2 * high + 1]
        pick = a + uniform(key) * (b - a)
        border = border_of(limits, base, low, high, pick)
    wl, vl = sum_left(own, n, border, weights, moments)
    judge(wl, vl, border, 0.0, total, least, tie, cut)
    if not gap:
        cut[SIDE] = 2.0 * cut[WEIGHT] > total[0]
    elif low < high:
        w, v = sum_left(own, n, MISSING_CODE - 1, weights, moments)
        judge(wl + total[0] - w, vl + total[1] - v, border, 1.0, total, least, tie, cut)
    cut[NEXT] = max(pick, limits[base + 2 * border + 1])
    return True
