"""Sets of at most 64 items as words. Arrays in, arrays out.

Item i of p is bit p − 1 − i: of two sets of one size, the one that comes first has the larger word.
"""

import numpy as np

from gnomon.loops._compile import INNER, PART, compiled
from gnomon.loops.draws import mix
from gnomon.loops.setsearch import doubled, meet, ones

LENGTH = 58  # bits of a key below those that tell the length of a set


@compiled
def mask_keys(parents, items, p):
    """Keys of the sets of a tree, at most 58 items: ascending by length and then by items."""
    low = (np.uint64(1) << np.uint64(LENGTH)) - np.uint64(1)
    keys = np.empty(len(parents), dtype=np.uint64)
    for i in range(len(parents)):
        above = low if parents[i] < 0 else keys[parents[i]]
        own = np.uint64(1) << np.uint64(p - 1 - items[i])
        keys[i] = (above ^ own) + (np.uint64(1) << np.uint64(LENGTH))
    return keys


@compiled
def list_keys(lengths, items, p):
    """The same keys, of sets whose items lie one after another."""
    keys = np.empty(len(lengths), dtype=np.uint64)
    e = 0
    for s in range(len(lengths)):
        keys[s] = ((np.uint64(lengths[s]) + np.uint64(1)) << np.uint64(LENGTH)) - np.uint64(1)
        for _ in range(lengths[s]):
            keys[s] ^= np.uint64(1) << np.uint64(p - 1 - items[e])
            e += 1
    return keys


@compiled
def masks_of(keys):
    """The words of sets with these keys."""
    low = (np.uint64(1) << np.uint64(LENGTH)) - np.uint64(1)
    return (keys & low) ^ low


@compiled
def unfolded(masks, columns, total):
    """The columns of the items of some sets one after another, ascending in each; total is how many there are."""
    flat = np.empty(total, dtype=np.int32)
    last = len(columns) - 1
    end = 0
    for mask in masks:
        end += ones(mask)
        at = end
        while mask:
            bit = mask & (~mask + np.uint64(1))
            at -= 1
            flat[at] = columns[last - ones(bit - np.uint64(1))]
            mask ^= bit
    return flat


@compiled(**PART)
def place_of(mask, masks, table):
    """Where a set is among those of a hash table; -1: nowhere."""
    at = np.int64(mix(mask) & np.uint64(len(table) - 1))
    while table[at] >= 0 and masks[table[at]] != mask:
        at = (at + 1) & (len(table) - 1)
    return table[at]


@compiled(**INNER)
def table_of(masks, begin, end):
    """A hash table of the places of some sets."""
    size = 16
    while size < 2 * (end - begin):
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    for s in range(begin, end):
        at = np.int64(mix(masks[s]) & np.uint64(size - 1))
        while table[at] >= 0:
            at = (at + 1) & (size - 1)
        table[at] = s
    return table


@compiled
def levels_of_masks(bits, n_baskets, least, longest, limit):
    """Apriori: frequent sets by size and then in order, their counts, and what was generated, counted, kept per size.

    bits has a row for each of at most 64 items, all frequent. A set is free when no part of it is in as few baskets; a
    candidate with a part that is not free is in as many baskets as the rarest of its parts, and is not looked up. Also
    returns how many sets there are, above `limit` when it ended early.
    """
    p = len(bits)
    masks, counts = np.empty(1024, dtype=np.uint64), np.empty(1024, dtype=np.int64)
    free = np.empty(1024, dtype=np.bool_)
    figures = np.zeros((p + 2, 3), dtype=np.int64)
    row, both = np.empty(bits.shape[1], dtype=np.uint64), np.empty(bits.shape[1], dtype=np.uint64)
    for item in range(p):
        masks[item] = np.uint64(1) << np.uint64(p - 1 - item)
        counts[item] = meet(bits[item], bits[item], both)
        free[item] = counts[item] < n_baskets
    begin, end, size = 0, p, 1
    while end > begin and size < longest:
        table = table_of(masks, begin, end)
        top = end
        low = begin
        while low < end:
            shared = masks[low] & (masks[low] - np.uint64(1))  # all but the last item
            high = low + 1
            while high < end and masks[high] & (masks[high] - np.uint64(1)) == shared:
                high += 1
            for i in range(low, high):
                ready = False  # whether `row` has the baskets of set i
                for j in range(i + 1, high):
                    figures[size, 0] += 1
                    candidate = masks[i] | masks[j]
                    fewest, bound = min(counts[i], counts[j]), not (free[i] and free[j])
                    rest, whole = shared, True
                    while rest and whole:
                        bit = rest & (~rest + np.uint64(1))
                        rest ^= bit
                        s = place_of(candidate ^ bit, masks, table)
                        if s < 0:
                            whole = False
                        else:
                            fewest, bound = min(fewest, counts[s]), bound or not free[s]
                    if not whole:
                        continue
                    figures[size, 1] += 1
                    if figures[size, 1] > limit or top > limit:
                        return masks, counts, figures, limit + 1
                    count = fewest
                    if not bound:
                        if not ready:
                            baskets_of(masks[i], bits, row)
                            ready = True
                        last = masks[j] ^ shared
                        count = meet(row, bits[p - 1 - ones(last - np.uint64(1))], both)
                    if count >= least:
                        if top == len(masks):
                            masks, counts, free = doubled(masks), doubled(counts), doubled(free)
                        masks[top], counts[top], free[top] = candidate, count, count < fewest
                        top += 1
            low = high
        begin, end = end, top
        figures[size, 2] = end - begin
        size += 1
    return masks[:end], counts[:end], figures[:size], end


@compiled(**INNER)
def baskets_of(mask, bits, row):
    """row = the baskets that hold all items of a set."""
    first = True
    while mask:
        bit = mask & (~mask + np.uint64(1))
        mask ^= bit
        item = len(bits) - 1 - ones(bit - np.uint64(1))
        if first:
            row[:] = bits[item]
            first = False
        else:
            for w in range(len(row)):
                row[w] &= bits[item, w]
