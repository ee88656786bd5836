"""Rules from frequent sets: parts are found by a hash of their items and compared item by item.

Sets are runs of ascending codes: set s is items[starts[s]:starts[s + 1]].
"""

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.draws import mix
from gnomon.loops.itemsets import doubled


@compiled
def sort_sets(starts, items):
    """Bring the items of every set into ascending order, in place."""
    for s in range(len(starts) - 1):
        for i in range(starts[s] + 1, starts[s + 1]):
            item, j = items[i], i
            while j > starts[s] and items[j - 1] > item:
                items[j] = items[j - 1]
                j -= 1
            items[j] = item


@compiled
def set_keys(starts, items):
    """A 64-bit key of every set; the key of a union of disjoint sets is the exclusive or of theirs."""
    keys = np.zeros(len(starts) - 1, dtype=np.uint64)
    for s in range(len(keys)):
        for e in range(starts[s], starts[s + 1]):
            keys[s] ^= mix(np.uint64(items[e]))
    return keys


@compiled
def hash_table(keys):
    """Open addresses: table[key & mask], or the next free place, holds the number of the set."""
    size = 16
    while size < 2 * len(keys):
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    for s in range(len(keys)):
        at = np.int64(keys[s] & np.uint64(size - 1))
        while table[at] >= 0:
            at = (at + 1) & (size - 1)
        table[at] = s
    return table


@compiled(**PART)
def look_up(table, keys, starts, items, key, whole, mask, length):
    """The number of the set made of the items of `whole` at the bits of mask; -1 when it is not there."""
    size = len(table)
    at = np.int64(key & np.uint64(size - 1))
    while table[at] >= 0:
        s = table[at]
        if keys[s] == key and starts[s + 1] - starts[s] == length:
            same, e = True, starts[s]
            for i in range(starts[whole + 1] - starts[whole]):
                if (mask >> i) & 1:
                    if items[e] != items[starts[whole] + i]:
                        same = False
                        break
                    e += 1
            if same:
                return s
        at = (at + 1) & (size - 1)
    return -1


@compiled
def split_sets(first, last, starts, items, counts, keys, table, threshold, most):
    """Rules (whole, antecedent, consequent) of the sets first..last-1 with count ≥ threshold · antecedent's count.

    Consequents grow: one that fails takes those around it with it. threshold < 0 keeps every rule. A part that is
    not there ends the search: its set is returned last, else -1.
    """
    wholes = np.empty(1024, dtype=np.int64)
    left = np.empty(1024, dtype=np.int64)
    right = np.empty(1024, dtype=np.int64)
    n = 0
    for s in range(first, last):
        k = starts[s + 1] - starts[s]
        if k < 2:
            continue
        full = (1 << k) - 1
        fails = np.zeros(full + 1 if threshold >= 0 else 1, dtype=np.uint8)
        for mask in range(1, full):
            size, key, below = 0, np.uint64(0), False
            for i in range(k):
                if (mask >> i) & 1:
                    size += 1
                    key ^= mix(np.uint64(items[starts[s] + i]))
                    if threshold >= 0 and fails[mask & ~(1 << i)]:
                        below = True
            if below or size > most:
                if threshold >= 0:
                    fails[mask] = 1
                continue
            a = look_up(table, keys, starts, items, keys[s] ^ key, s, full & ~mask, k - size)
            if a < 0:
                return wholes[:n], left[:n], right[:n], s
            if threshold >= 0 and counts[s] < threshold * counts[a] - 1e-9:
                fails[mask] = 1
                continue
            b = look_up(table, keys, starts, items, key, s, mask, size)
            if b < 0:
                return wholes[:n], left[:n], right[:n], s
            if n == len(wholes):
                wholes, left, right = doubled(wholes), doubled(left), doubled(right)
            wholes[n], left[n], right[n] = s, a, b
            n += 1
    return wholes[:n], left[:n], right[:n], -1
