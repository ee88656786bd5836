"""Absolute error of trees: medians, and all cuts of a sorted column by a Fenwick tree over the ranks of y."""

from __future__ import annotations

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.trees import BARE, TIE


@compiled(**BARE)
def sort_pairs(y, w):
    """Sort y in place (Shell's gaps), carrying w along."""
    gap = 1
    while gap < y.size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, y.size):
            a, b, at = y[k], w[k], k
            while at >= gap and y[at - gap] > a:
                y[at], w[at] = y[at - gap], w[at - gap]
                at -= gap
            y[at], w[at] = a, b
        gap //= 3


@compiled
def weighted_median(y, w):
    """The value that halves the weight; between two values when the half falls exactly there. Sorts both."""
    sort_pairs(y, w)
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
    """Least sum of w|y - c|, attained at a weighted median."""
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
    c = levels[min(k, levels.shape[0] - 1), 0]
    return c * below_w - below_wy + (wy - below_wy) - c * (w - below_w)


@compiled
def absolute_scan(rows, x, labels, target, wr, levels, min_samples, min_weight, parent, best):
    """Cuts of a sorted numeric column under the absolute error; missing rows go right.

    best = [gain, threshold, left weight, found]; returns False for a constant column.
    """
    n, found, reps, weight = rows.size, False, 0.0, 0.0
    left = np.zeros(2)
    right = np.zeros(2)
    for i in rows:
        weight += wr[i, 0]
        reps += wr[i, 1]
    while n > 0 and x[rows[n - 1]] != x[rows[n - 1]]:
        n -= 1
    tree = np.zeros((levels.shape[0] + 1, 2))
    cost = np.zeros(rows.size + 1)
    w = wy = 0.0
    for k in range(rows.size - 1, -1, -1):  # cost of everything from k on
        i = rows[k]
        fenwick_add(tree, labels[i], wr[i, 0], wr[i, 0] * target[i, 0])
        w, wy = w + wr[i, 0], wy + wr[i, 0] * target[i, 0]
        cost[k] = fenwick_cost(tree, levels, w, wy)
    tree = np.zeros((levels.shape[0] + 1, 2))
    w = wy = 0.0
    left[0] = left[1] = 0.0
    for k in range(n - 1 if n == rows.size else n):
        i = rows[k]
        fenwick_add(tree, labels[i], wr[i, 0], wr[i, 0] * target[i, 0])
        w, wy = w + wr[i, 0], wy + wr[i, 0] * target[i, 0]
        left[0] += wr[i, 1]
        left[1] += wr[i, 0]
        if k + 1 < n and x[rows[k + 1]] == x[i]:
            continue
        found = True
        right[0], right[1] = reps - left[0], weight - left[1]
        gain = parent - fenwick_cost(tree, levels, w, wy) - cost[k + 1]
        better = best[3] == 0.0 or gain > best[0] + TIE * abs(parent)
        large = min(left[0], right[0]) >= min_samples
        if better and large and min(left[1], right[1]) >= min_weight:
            threshold = np.inf if k + 1 >= n else x[i] + (x[rows[k + 1]] - x[i]) * 0.5
            best[0], best[1], best[2], best[3] = gain, threshold, left[1], 1.0
    return found
