"""The largest entries of every row of XᵀX, without making it."""

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.ordering import put_in_order_by
from gnomon.loops.select import insert

STRIP = 64  # sums looked over at once


@compiled(**PART)
def keep_largest(value, column, keys, labels):
    """Put a sum that is not zero among the largest; keys are negative sums, ascending, ties by the column."""
    last = len(keys) - 1
    if value != 0.0 and (-value < keys[last] or (-value == keys[last] and column < labels[last])):
        insert(-value, column, keys, labels)


@compiled
def top_products(first, last, starts, users, left, row_starts, items, right, columns, values):
    """columns[i], values[i] = the K items with the largest Σ_u x_ui x_uj, ascending by column, -1 where fewer.

    starts, users, left are the entries of item i; row_starts, items, right those of user u. Sums that are zero are
    left out; ties go to the lower column. Where an item meets less than there are, those it meets are listed on the
    way; else all sums are looked over.
    """
    m, K = len(starts) - 1, columns.shape[1]
    sums, met, seen = np.zeros(m), np.zeros(m, dtype=np.bool_), np.empty(m, dtype=np.int64)
    keys, labels = np.empty(K), np.empty(K, dtype=np.int64)
    for i in range(first, last):
        keys[:], labels[:] = np.inf, m
        meetings = 0
        for e in range(starts[i], starts[i + 1]):
            meetings += row_starts[users[e] + 1] - row_starts[users[e]]
        if meetings < m:
            n = 0
            for e in range(starts[i], starts[i + 1]):
                for f in range(row_starts[users[e]], row_starts[users[e] + 1]):
                    j = items[f]
                    if not met[j]:
                        met[j] = True
                        seen[n] = j
                        n += 1
                    sums[j] += left[e] * right[f]
            for s in range(n):
                j = seen[s]
                keep_largest(sums[j], j, keys, labels)
                sums[j], met[j] = 0.0, False
        else:
            for e in range(starts[i], starts[i + 1]):
                x = left[e]
                for f in range(row_starts[users[e]], row_starts[users[e] + 1]):
                    sums[items[f]] += x * right[f]
            for start in range(0, m, STRIP):
                stop, above = min(start + STRIP, m), 0
                worst = -keys[K - 1]
                for j in range(start, stop):
                    above += sums[j] > worst
                if above:  # nearly never, once the list has filled
                    for j in range(start, stop):
                        keep_largest(sums[j], j, keys, labels)
            sums[:] = 0.0
        put_in_order_by(labels, keys)
        for s in range(K):
            if labels[s] < m:
                columns[i, s], values[i, s] = labels[s], -keys[s]
