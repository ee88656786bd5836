"""Nearest rows by matrix products: a product in low precision shortlists, exact distances decide.

A block of products is read once; what may belong to the nearest goes into a pool of a few places, which is cut
to the best whenever it is full. Then the distances of the pool are summed exactly, from the first column to the
last, and a bound on the error of the products tells whether anything outside could have been nearer.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.select import insert, select

STRIP = 256  # products looked over at once


@compiled
def shortlist(D, shift, first, keep, limit, used, keys, places):
    """Pool the columns j of D, numbered from `first`, whose D[i, j] + shift[j] is among the `keep` smallest."""
    full = keys.shape[1]
    for i in range(len(D)):
        worst, count = limit[i], used[i]
        for start in range(0, D.shape[1], STRIP):
            row, add = D[i, start : start + STRIP], shift[start : start + STRIP]
            low = 0
            for j in range(row.size):
                low += row[j] + add[j] < worst
            if low == 0:  # nearly always, once the pool has filled
                continue
            for j in range(row.size):
                key = row[j] + add[j]
                if key < worst:
                    keys[i, count], places[i, count] = key, first + start + j
                    count += 1
                    if count == full:
                        select(keys[i], places[i], 0, full, keep - 1)
                        worst, count = largest(keys[i], keep), keep
        limit[i], used[i] = worst, count


@compiled(**PART)
def largest(keys, m):
    """The largest of the first m."""
    top = keys[0]
    for i in range(1, m):
        top = max(top, keys[i])
    return top


@compiled
def decide(Q, X, norms, limit, used, places, scale, slack, floor, values, labels, sure):
    """Exact squares of the pooled rows, the k smallest ascending; sure[i]: nothing outside can be as near."""
    n, k = len(X), values.shape[1]
    for i in range(len(Q)):
        value, label = values[i], labels[i]
        value[:], label[:] = np.inf, n
        for t in range(used[i]):
            place = places[i, t]
            found = square(Q[i], X[place])
            if np.isnan(found):
                found = np.inf
            if found < value[k - 1] or (found == value[k - 1] and place < label[k - 1]):
                insert(found, place, value, label)
        half = 0.5 * (value[k - 1] * scale * scale - norms[i])
        sure[i] = half < limit[i] - slack * norms[i] - floor


@compiled(**PART)
def square(x, y):
    """Σ_j (x_j − y_j)², from the first column to the last."""
    total = 0.0
    for j in range(x.size):
        gap = np.float64(x[j]) - np.float64(y[j])
        total += gap * gap
    return total
