"""Apriori's levels: joining, pruning and counting candidates. Tables of sets are sorted, rows and columns."""

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.draws import mix
from gnomon.loops.setsearch import doubled, doubled_rows, meet


@compiled(**PART)
def before(a, b):
    """-1, 0 or 1 as row a comes before, equals or follows row b."""
    for i in range(len(a)):
        if a[i] != b[i]:
            return -1 if a[i] < b[i] else 1
    return 0


@compiled
def row_keys(level):
    """A 64-bit key of every row; the key of a union of disjoint sets is the exclusive or of theirs."""
    keys = np.zeros(len(level), dtype=np.uint64)
    for s in range(len(level)):
        for column in range(level.shape[1]):
            keys[s] ^= mix(np.uint64(level[s, column]))
    return keys


@compiled(**PART)
def part_of(level, keys, table, key, candidate, dropped):
    """Where a level has the candidate without the item at `dropped`, whose key is given; -1: it has it not."""
    at = np.int64(key & np.uint64(len(table) - 1))
    while table[at] >= 0:
        s = table[at]
        if keys[s] == key:
            same = True
            for column in range(level.shape[1]):
                if level[s, column] != candidate[column if column < dropped else column + 1]:
                    same = False
                    break
            if same:
                return s
        at = (at + 1) & (len(table) - 1)
    return np.int32(-1)


@compiled
def prefix_edges(level):
    """Where the sets begin that share all but their last item, and the end."""
    n, k = level.shape
    edges = np.empty(n + 1, dtype=np.int64)
    groups = 0
    for s in range(n):
        if s == 0 or before(level[s, : k - 1], level[s - 1, : k - 1]) != 0:
            edges[groups] = s
            groups += 1
    edges[groups] = n
    return edges[: groups + 1]


@compiled
def joined(edges, level, keys, table, counts, free, limit):
    """Unions of two sets that share all but their last item, each once; those with an infrequent part are left out.

    edges are some of those of `prefix_edges`; keys and table find a set of the level; counts are those of the level;
    free[s] tells that no part of set s is in as few baskets as the set. Returns the candidates, the smallest count of
    their parts, whether one of those is not free, and how many candidates there were before the pruning; it ends early
    above `limit` candidates.
    """
    k = level.shape[1]
    out = np.empty((1024, k + 1), dtype=level.dtype)
    smallest, derived = np.empty(1024, dtype=np.int64), np.empty(1024, dtype=np.bool_)
    kept = generated = 0
    for group in range(len(edges) - 1):
        low, high = edges[group], edges[group + 1]
        for i in range(low, high):
            for j in range(i + 1, high):
                generated += 1
                if kept == len(out):
                    out, smallest, derived = doubled_rows(out), doubled(smallest), doubled(derived)
                candidate = out[kept]
                candidate[:k] = level[i]
                candidate[k] = level[j, k - 1]
                key = keys[i] ^ mix(np.uint64(candidate[k]))
                fewest = min(counts[i], counts[j])
                bound = not (free[i] and free[j])
                whole = True
                for dropped in range(k - 1):  # the two parents are frequent
                    part = key ^ mix(np.uint64(candidate[dropped]))
                    s = part_of(level, keys, table, part, candidate, dropped)
                    if s < 0:
                        whole = False
                        break
                    fewest = min(fewest, counts[s])
                    bound = bound or not free[s]
                if whole:
                    smallest[kept], derived[kept] = fewest, bound
                    kept += 1
                    if kept > limit:
                        return out[:kept], smallest[:kept], derived[:kept], generated
    return out[:kept], smallest[:kept], derived[:kept], generated


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
                    count = meet(rows[0], rows[0], rows[0])
            else:
                count = meet(rows[column - 1], bits[sets[s, column]], rows[column])
        if count < 0:  # the same set again
            count = meet(rows[k - 1], rows[k - 1], rows[k - 1])
        counts[s] += count
