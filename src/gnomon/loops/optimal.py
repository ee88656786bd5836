"""Optimal one-dimensional k-means by dynamic programming over sorted values. Arrays in, arrays out."""

import numpy as np

from gnomon.loops._compile import INNER, PART, compiled


@compiled(**PART)
def segment_cost(w, s, q, i, j):
    """Squared error of sorted values i..j−1 about their mean, from prefix sums of weight, sum, square."""
    weight = w[j] - w[i]
    if weight <= 0.0:
        return 0.0
    part = s[j] - s[i]
    return max(0.0, q[j] - q[i] - part * part / weight)


@compiled(**INNER)
def fill_layer(w, s, q, before, now, cut):
    """now[j] = min over i ≤ j of before[i] + cost(i, j), cut[j] the smallest such i (divide and conquer)."""
    n = now.size - 1
    stack = np.empty((2 * (n + 2), 4), np.int64)
    top = 0
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, n, 0, n
    while top >= 0:
        low, high, first, last = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        top -= 1
        middle = (low + high) // 2
        best, at = np.inf, first
        for i in range(first, min(middle, last) + 1):
            value = before[i] + segment_cost(w, s, q, i, middle)
            if value < best:
                best, at = value, i
        now[middle], cut[middle] = best, at
        if low < middle:
            top += 1
            stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = low, middle - 1, first, at
        if middle < high:
            top += 1
            stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = middle + 1, high, at, last


@compiled
def optimal_cuts(w, s, q, k, cuts):
    """cuts[c] = index of the first sorted value of cluster c in the best split into k (cuts[k] = n)."""
    n = w.size - 1
    back = np.zeros((k + 1, n + 1), np.int32)
    before = np.full(n + 1, np.inf)
    before[0] = 0.0
    now = np.empty(n + 1)
    for c in range(1, k + 1):
        fill_layer(w, s, q, before, now, back[c])
        before[:] = now
    cuts[k] = n
    for c in range(k, 0, -1):
        cuts[c - 1] = back[c, cuts[c]]
    return before[n]
