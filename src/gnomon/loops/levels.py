"""Apriori's levels: joining, pruning and counting candidates. Tables of sets are sorted, rows and columns."""

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.itemsets import both, doubled_rows


@compiled(**PART)
def before(a, b):
    """-1, 0 or 1 as row a comes before, equals or follows row b."""
    for i in range(len(a)):
        if a[i] != b[i]:
            return -1 if a[i] < b[i] else 1
    return 0


@compiled(**PART)
def contains(table, row):
    """Whether a sorted table has the row."""
    low, high = 0, len(table)
    while low < high:
        middle = (low + high) >> 1
        order = before(table[middle], row)
        if order == 0:
            return True
        if order < 0:
            low = middle + 1
        else:
            high = middle
    return False


@compiled
def joined(level, limit):
    """Unions of two sets that share all but their last item, each once; those with an infrequent part are left out.

    Returns the candidates and how many there were before the pruning; it ends early above `limit` candidates.
    """
    n, k = level.shape
    out = np.empty((1024, k + 1), dtype=level.dtype)
    part = np.empty(k, dtype=level.dtype)
    kept = generated = 0
    low = 0
    while low < n:
        high = low + 1
        while high < n and before(level[high, : k - 1], level[low, : k - 1]) == 0:
            high += 1
        for i in range(low, high):
            for j in range(i + 1, high):
                generated += 1
                whole = True
                for dropped in range(k - 1):  # the two parents are frequent
                    at = 0
                    for column in range(k):
                        if column != dropped:
                            part[at] = level[i, column]
                            at += 1
                    part[at] = level[j, k - 1]
                    if not contains(level, part):
                        whole = False
                        break
                if whole:
                    if kept == len(out):
                        out = doubled_rows(out)
                    out[kept, :k] = level[i]
                    out[kept, k] = level[j, k - 1]
                    kept += 1
                    if kept > limit:
                        return out[:kept], generated
        low = high
    return out[:kept], generated


@compiled
def fill_bits(starts, items, first, last, bits):
    """bits[item] has bit b set when basket first + b holds the item; bits is zero before."""
    for basket in range(first, last):
        word, bit = (basket - first) >> 6, np.uint64(1) << np.uint64((basket - first) & 63)
        for e in range(starts[basket], starts[basket + 1]):
            bits[items[e], word] |= bit


@compiled
def count_sets(bits, sets, counts):
    """counts[s] += baskets that hold all of sets[s]; what neighbors share is intersected once."""
    n, k = sets.shape
    rows = np.empty((k, bits.shape[1]), dtype=np.uint64)
    for s in range(n):
        shared = 0
        if s > 0:
            while shared < k and sets[s, shared] == sets[s - 1, shared]:
                shared += 1
        count = -1
        for column in range(shared, k):
            if column == 0:
                rows[0] = bits[sets[s, 0]]
                if k == 1:
                    count = both(rows[0], rows[0], rows[0])
            else:
                count = both(rows[column - 1], bits[sets[s, column]], rows[column])
        if count < 0:  # the same set again
            count = both(rows[k - 1], rows[k - 1], rows[k - 1])
        counts[s] += count
