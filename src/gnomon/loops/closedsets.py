"""Closed sets of items, and how many sets there are. Arrays in, arrays out; baskets are read-only.

Baskets hold the ranks of their frequent items, ascending; rank 0 is the rarest item.
"""

import numpy as np

from gnomon.loops._compile import INNER, PART, compiled
from gnomon.loops.draws import uniform
from gnomon.loops.ordering import put_in_order
from gnomon.loops.setsearch import doubled, meet


@compiled(**PART)
def within(a, b):
    """Whether every bit of a is set in b."""
    for w in range(len(a)):  # noqa: SIM110 - stops at the first
        if a[w] & ~b[w]:
            return False
    return True


@compiled(**INNER)
def projected(first, everything, starts, items, basket_starts, baskets, least, counts):
    """The baskets with item `first`: items frequent among them, their counts, a row of bits each.

    With `everything` also items below `first` are looked at. counts is zero before and after.
    """
    begin, end = basket_starts[first], basket_starts[first + 1]
    touched = 0
    for t in range(begin, end):
        touched += starts[baskets[t] + 1] - starts[baskets[t]]
    seen = np.empty(min(touched, len(counts)), dtype=np.int64)
    touched = 0
    for t in range(begin, end):
        low = starts[baskets[t]]
        for e in range(starts[baskets[t] + 1] - 1, low - 1, -1):
            item = items[e]
            if item <= first and not everything:
                break
            if counts[item] == 0:
                seen[touched] = item
                touched += 1
            counts[item] += 1
    kept = 0
    for s in range(touched):
        item = seen[s]
        if counts[item] >= least and item != first:
            seen[kept] = item
            kept += 1
        else:
            counts[item] = 0
    frequent = seen[:kept]
    put_in_order(frequent, 0, kept)
    found = np.empty(kept, dtype=np.int64)
    for s in range(kept):
        found[s] = counts[frequent[s]]
        counts[frequent[s]] = s + 1  # from here on: where its row is
    bits = np.zeros((kept, (end - begin + 63) >> 6), dtype=np.uint64)
    for t in range(begin, end if kept > 0 else begin):
        word, bit = (t - begin) >> 6, np.uint64(1) << np.uint64((t - begin) & 63)
        low = starts[baskets[t]]
        for e in range(starts[baskets[t] + 1] - 1, low - 1, -1):
            item = items[e]
            if item <= first and not everything:
                break
            if counts[item] > 0:
                bits[counts[item] - 1, word] |= bit
    for s in range(kept):
        counts[frequent[s]] = 0
    return frequent, found, bits


@compiled(**INNER)
def no_sets():
    """Room for found sets: their lengths, their ranks one after another, their counts."""
    return np.empty(1024, dtype=np.int64), np.empty(4096, dtype=np.int32), np.empty(1024, dtype=np.int64)


@compiled(**INNER)
def with_set(found, n, filled, first, ranks, inside, count):
    """Found sets and one more, item `first` and the ranks that are inside: the arrays, and where its ranks end.

    n sets and `filled` ranks were there before.
    """
    lengths, members, sizes = found
    while filled + len(ranks) + 1 > len(members):
        members = doubled(members)
    if n == len(lengths):
        lengths, sizes = doubled(lengths), doubled(sizes)
    members[filled] = first
    end = filled + 1
    for i in range(len(ranks)):
        if inside[i]:
            members[end] = ranks[i]
            end += 1
    lengths[n], sizes[n] = end - filled, count
    return (lengths, members, sizes), end


@compiled
def closed_sets(begin, step, starts, items, basket_starts, baskets, least, limit):
    """Closed sets by prefix-preserving extension: lengths, ranks one after another, counts.

    A set is emitted at the smallest rank from which it can be reached without adding a smaller one.
    """
    p = len(basket_starts) - 1
    sets = no_sets()
    counts = np.zeros(p, dtype=np.int64)
    n = filled = 0
    for first in range(begin, p, step):
        size = basket_starts[first + 1] - basket_starts[first]
        ranks, found, bits = projected(first, True, starts, items, basket_starts, baskets, least, counts)
        m, width = len(ranks), bits.shape[1]
        begins_earlier = False
        for i in range(m):
            if found[i] == size and ranks[i] < first:
                begins_earlier = True
        if begins_earlier:
            continue
        inside = np.zeros((m + 1, m), dtype=np.uint8)  # members of the set at every depth
        rows = np.empty((m + 1, width), dtype=np.uint64)
        at = np.zeros(m + 1, dtype=np.int64)
        support = np.zeros(m + 1, dtype=np.int64)
        for w in range(width):
            rows[0, w] = ~np.uint64(0)
        if size & 63:
            rows[0, width - 1] = (np.uint64(1) << np.uint64(size & 63)) - np.uint64(1)
        for i in range(m):
            inside[0, i] = found[i] == size
        support[0] = size
        depth = 0
        while depth >= 0:
            if at[depth] == 0:  # a new closed set
                sets, filled = with_set(sets, n, filled, first, ranks, inside[depth], support[depth])
                n += 1
                if n > limit:
                    return sets[0][:n], sets[1][:filled], sets[2][:n]
                at[depth] = 1
                for i in range(m):  # extensions come after `first`, and after the last one added
                    if ranks[i] > first:
                        at[depth] = 1 + i
                        break
                    at[depth] = 1 + m
                if depth > 0 and at[depth - 1] > at[depth]:
                    at[depth] = at[depth - 1]
            i = at[depth] - 1
            if i >= m:
                depth -= 1
                continue
            at[depth] += 1
            if inside[depth, i]:
                continue
            count = meet(rows[depth], bits[i], rows[depth + 1])
            if count < least:
                continue
            keeps = True
            for j in range(m):
                holds = inside[depth, j] or j == i or (found[j] >= count and within(rows[depth + 1], bits[j]))
                inside[depth + 1, j] = holds
                if holds and not inside[depth, j] and j < i:
                    keeps = False  # reached from a smaller item already
                    break
            if keeps:
                depth += 1
                support[depth], at[depth] = count, 0
    return sets[0][:n], sets[1][:filled], sets[2][:n]


@compiled
def probes(seed, n_probes, starts, items, basket_starts, baskets, least, longest, widths):
    """Random descents of the search tree: widths[d] += the sets of size d + 1 that a descent stands for.

    Its mean is the number of sets of that size (Knuth). Returns the size of the largest set met.
    """
    p = len(basket_starts) - 1
    counts = np.zeros(p, dtype=np.int64)
    deepest = 0
    for probe in range(n_probes):
        weight = float(p)
        widths[probe, 0] += weight
        key = np.uint64(seed) + np.uint64(probe) * np.uint64(0x9E3779B97F4A7C15)
        first = min(p - 1, int(uniform(key) * p))
        size = 1
        if longest > 1:
            ranks, found, rows = projected(first, False, starts, items, basket_starts, baskets, least, counts)
            left = len(ranks)
            while left > 0 and size < longest and size < widths.shape[1]:
                weight *= left
                widths[probe, size] += weight
                size += 1
                i = min(left - 1, int(uniform(key + np.uint64(size) * np.uint64(7919)) * left))
                kept = 0
                chosen = rows[i].copy()
                for j in range(i + 1, left):
                    if meet(chosen, rows[j], rows[kept]) >= least:
                        kept += 1
                left = kept
        deepest = max(deepest, size)
    return deepest


@compiled
def greedy_length(first, starts, items, basket_starts, baskets, least):
    """The size of a frequent set: from `first`, always the item that leaves most baskets."""
    counts = np.zeros(len(basket_starts) - 1, dtype=np.int64)
    ranks, found, rows = projected(first, True, starts, items, basket_starts, baskets, least, counts)
    size, left = 1, len(ranks)
    while left > 0:
        best = 0
        for i in range(left):
            if found[i] > found[best]:
                best = i
        chosen = rows[best].copy()
        size += 1
        kept = 0
        for j in range(left):
            if j != best:
                count = meet(chosen, rows[j], rows[kept])
                if count >= least:
                    found[kept] = count
                    kept += 1
        left = kept
    return size
