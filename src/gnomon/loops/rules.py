"""Rules from frequent sets: a set is found by a hash of its items, and its parts by leaving one item out at a time.

Sets are runs of ascending codes: set s is items[starts[s]:starts[s + 1]].
"""

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.draws import mix
from gnomon.loops.setsearch import doubled, ones


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
def without_one(starts, items, keys, table):
    """For every item of every set, the number of the set without that item; -1 when it is not there (or is empty)."""
    links = np.full(len(items), -1, dtype=np.int64)
    for s in range(len(starts) - 1):
        k = starts[s + 1] - starts[s]
        for i in range(k if k > 1 else 0):
            e = starts[s] + i
            key = keys[s] ^ mix(np.uint64(items[e]))
            links[e] = look_up(table, keys, starts, items, key, s, ((1 << k) - 1) ^ (1 << i), k - 1)
    return links


@compiled(**PART)
def parts_of(s, k, starts, links, parts):
    """parts[mask] = the number of the set at the bits of mask in set s; -1 where a set on the way to it is missing."""
    full = (1 << k) - 1
    parts[full] = s
    for mask in range(full - 1, 0, -1):
        i = 0
        while (mask >> i) & 1:  # the lowest item that is not in the part: all before it are
            i += 1
        above = parts[mask | (1 << i)]
        parts[mask] = links[starts[above] + i] if above >= 0 else -1


@compiled
def split_sets(first, last, starts, counts, links, threshold, most):
    """Rules (whole, antecedent, consequent) of the sets first..last-1 with count ≥ threshold · antecedent's count.

    At most `most` items are in a consequent. threshold < 0 keeps every rule. A part that is not there ends the
    search: its set is returned last, else -1.
    """
    wholes = np.empty(1024, dtype=np.int64)
    left = np.empty(1024, dtype=np.int64)
    right = np.empty(1024, dtype=np.int64)
    longest = 0
    for s in range(first, last):
        longest = max(longest, starts[s + 1] - starts[s])
    parts = np.empty(1 << longest, dtype=np.int64)
    n = 0
    for s in range(first, last):
        k = starts[s + 1] - starts[s]
        if k < 2:
            continue
        full = (1 << k) - 1
        parts_of(s, k, starts, links, parts)
        while n + full > len(wholes):
            wholes, left, right = doubled(wholes), doubled(left), doubled(right)
        for mask in range(1, full):
            if most < k and ones(np.uint64(mask)) > most:
                continue
            a, b = parts[full ^ mask], parts[mask]
            if a < 0 or b < 0:
                return wholes[:n], left[:n], right[:n], s
            if threshold < 0 or counts[s] >= threshold * counts[a] - 1e-9:
                wholes[n], left[n], right[n] = s, a, b
                n += 1
    return wholes[:n], left[:n], right[:n], -1
