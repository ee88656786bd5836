"""Absolute error of trees: medians, and all cuts of a sorted column by a Fenwick tree over the ranks of y."""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.ordering import put_in_order_by
from gnomon.loops.trees import BARE, TIE

MIN_SAMPLES, MIN_WEIGHT, SIGN, LOWER, UPPER, PICK = range(6)  # limits of a cut
GAIN, THRESHOLD, LEFT_WEIGHT, FOUND = range(4)  # the best cut


@compiled
def weighted_median(y, w):
    """The value that halves the weight; between two values when the half falls exactly there. Sorts both."""
    put_in_order_by(y, w)
    half, running = 0.0, 0.0
    for k in range(y.size):
        half += 0.5 * w[k]
    for k in range(y.size):
        running += w[k]
        if running > half * (1.0 + 1e-14):
            return y[k]
        if running >= half * (1.0 - 1e-14) and k + 1 < y.size:
            return 0.5 * (y[k] + y[k + 1])
    return y[y.size - 1]


@compiled(**BARE)
def fenwick_add(tree, rank, w, wy):
    """Add a weight at a rank."""
    k = rank + 1
    while k < tree.shape[0]:
        tree[k, 0] += w
        tree[k, 1] += wy
        k += k & -k


@compiled(**BARE)
def fenwick_cost(tree, levels, w, wy):
    """Least sum of w|y - c|, and the lower weighted median c at which it is attained."""
    k, below_w, below_wy = 0, 0.0, 0.0
    step = 1
    while step * 2 < tree.shape[0]:
        step *= 2
    while step > 0:
        if k + step < tree.shape[0] and below_w + tree[k + step, 0] < 0.5 * w:
            k += step
            below_w += tree[k, 0]
            below_wy += tree[k, 1]
        step //= 2
    c = levels[min(k, levels.size - 1)]
    return c * below_w - below_wy + (wy - below_wy) - c * (w - below_w), c


@compiled(**BARE)
def add_costs(rows, backward, ranks, target, wr, levels, o, tree, costs, medians):
    """costs[k] += that of output o over the rows up to k (from k on, when backward); medians[k] = its median."""
    n, w, wy = rows.size, 0.0, 0.0
    for k in range(tree.shape[0]):
        tree[k, 0] = tree[k, 1] = 0.0
    for at in range(n):
        k = n - 1 - at if backward else at
        i = rows[k]
        fenwick_add(tree, ranks[o, i], wr[i, 0], wr[i, 0] * target[i, o])
        w, wy = w + wr[i, 0], wy + wr[i, 0] * target[i, o]
        cost, medians[k] = fenwick_cost(tree, levels[o], w, wy)
        costs[k] += cost


@compiled(**BARE)
def is_allowed(limits, reps, weight, all_reps, all_weight, left, right):
    """Whether a cut leaves enough on both sides, and medians that keep to a monotone constraint."""
    if min(reps, all_reps - reps) < limits[MIN_SAMPLES]:
        return False
    if min(weight, all_weight - weight) < limits[MIN_WEIGHT]:
        return False
    if limits[SIGN] == 0.0 and limits[LOWER] == -np.inf and limits[UPPER] == np.inf:
        return True
    inside = min(left, right) >= limits[LOWER] and max(left, right) <= limits[UPPER]
    return inside and (right - left) * limits[SIGN] >= 0.0


@compiled
def absolute_scan(rows, x, ranks, target, wr, levels, limits, parent, best):
    """Cuts of a sorted numeric column under the mean absolute error of all outputs.

    Missing rows stand last and go right, or first and go left. `limits` and `best` are lined up above; only the cut
    at limits[PICK] is tried, unless that is NaN. `ranks` and `levels` are (outputs, n). Returns False for a constant
    column.
    """
    n, m, found, all_reps, all_weight = rows.size, target.shape[1], False, 0.0, 0.0
    for i in rows:
        all_weight += wr[i, 0]
        all_reps += wr[i, 1]
    first = 0
    while first < n and x[rows[first]] != x[rows[first]]:
        first += 1
    while n > first and x[rows[n - 1]] != x[rows[n - 1]]:
        n -= 1
    tree, costs, medians = (
        np.zeros((levels.shape[1] + 1, 2)),
        np.zeros((2, rows.size)),
        np.zeros((2, rows.size)),
    )
    for o in range(m):
        for side in range(2):
            add_costs(rows, side == 1, ranks, target, wr, levels, o, tree, costs[side], medians[side])
    reps, weight, pick = 0.0, 0.0, limits[PICK]
    for k in range(n - 1 if n == rows.size else n):
        i = rows[k]
        weight += wr[i, 0]
        reps += wr[i, 1]
        threshold = np.inf
        if k < first:
            continue
        if k + 1 < n:
            following = x[rows[k + 1]]
            if following == x[i]:
                continue
            threshold = x[i] + (following - x[i]) * 0.5
            if threshold >= following:
                threshold = x[i]
        found = True
        if pick == pick and (pick < x[i] or (k + 1 < n and pick >= x[rows[k + 1]])):
            continue
        if pick == pick and k + 1 < n:
            threshold = pick
        gain = parent - (costs[0, k] + costs[1, k + 1]) / m
        better = best[FOUND] == 0.0 or gain > best[GAIN] + TIE * abs(parent)
        if better and is_allowed(
            limits, reps, weight, all_reps, all_weight, medians[0, k], medians[1, k + 1]
        ):
            best[GAIN], best[THRESHOLD], best[LEFT_WEIGHT], best[FOUND] = gain, threshold, weight, 1.0
    return found
