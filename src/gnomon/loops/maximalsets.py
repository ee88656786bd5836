"""Maximal frequent sets of items, depth first with a look ahead. Arrays in, arrays out; baskets are read-only.

Baskets hold the ranks of their frequent items, ascending; rank 0 is the rarest item. Sets of items that are frequent
with the first one are rows of bits ("masks"), a bit for each of them.
"""

import numpy as np

from gnomon.loops._compile import INNER, PART, compiled
from gnomon.loops.closedsets import no_sets, projected, with_set, within
from gnomon.loops.setsearch import doubled, doubled_rows, meet, split_off


@compiled(**PART)
def put(mask, item):
    """Set the bit of an item."""
    mask[item >> 6] |= np.uint64(1) << np.uint64(item & 63)


@compiled(**PART)
def has(mask, item):
    """Whether the bit of an item is set."""
    return (mask[item >> 6] >> np.uint64(item & 63)) & np.uint64(1) > 0


@compiled(**INNER)
def all_together(counts, slots, low, high, rows, least, row):
    """In how many baskets all entries low..high are, or some number below `least`; row: in which."""
    row[:], count = rows[slots[low]], counts[low]
    for i in range(low + 1, high):
        count = meet(row, rows[slots[i]], row)
        if count < least:
            break
    return count


@compiled(**INNER)
def meets_any(row, bits, least):
    """Whether so many bits of a row are also set in one of some others."""
    trial = np.empty(len(row), dtype=np.uint64)
    for i in range(len(bits)):  # noqa: SIM110 - stops at the first
        if meet(row, bits[i], trial) >= least:
            return True
    return False


@compiled(**INNER)
def maximal_below(size, own, found, bits, rarer, least, limit):
    """Masks and counts of the largest sets among some items, none within another; a count of 0 where a rarer item fits.

    own has the bits of `size` baskets, bits the rows of the items over these, found their counts, rarer the rows of
    other items. A branch ends where all that is left of it is frequent together, or lies within what was found already
    (Burdick, Calimlim and Gehrke, 2001); of what was found, a branch looks only at the sets that hold what it has
    chosen (Gouda and Zaki, 2001). It ends early above `limit` sets without a rarer item.
    """
    m, width = bits.shape
    words = max(1, (m + 63) >> 6)
    masks, sizes = np.zeros((16, words), dtype=np.uint64), np.zeros(16, dtype=np.int64)
    n = maximal = 0
    room = 2 * m + 16
    ranks, counts, slots = np.arange(room), np.zeros(room, dtype=np.int64), np.arange(room)
    rows = np.empty((room, width), dtype=np.uint64)
    counts[:m], rows[:m] = found, bits
    free = np.empty(m + 1, dtype=np.int64)
    chosen, reach = np.zeros((m + 2, words), dtype=np.uint64), np.zeros(words, dtype=np.uint64)
    at, ends, used = np.zeros(m + 2, np.int64), np.zeros(m + 2, np.int64), np.zeros(m + 2, np.int64)
    listed = np.empty(64, dtype=np.int64)  # found sets that hold what a depth has chosen when it begins
    list_at, list_end, since = np.zeros(m + 2, np.int64), np.zeros(m + 2, np.int64), np.zeros(m + 2, np.int64)
    row = own.copy()
    depth, low, high, top, count = 0, 0, m, m, size
    fresh = True  # the depth begins: its entries are low..high, rows up to `top` are in use, `row` is the set's own
    while depth >= 0 and maximal <= limit:
        if fresh:
            fresh = False
            high, n_free = split_off(ranks, counts, slots, low, high, count, free, 0)
            for i in range(n_free):
                put(chosen[depth], free[i])
            at[depth], ends[depth], used[depth], since[depth] = low, high, top, n
            reach[:] = chosen[depth]
            for i in range(low, high):
                put(reach, ranks[i])
            covered = False
            for i in range(list_at[depth], list_end[depth]):
                if within(reach, masks[listed[i]]):
                    covered = True
                    break
            if not covered and high > low:
                count = all_together(counts, slots, low, high, rows, least, row)
            if not covered and (high == low or count >= least):
                if n == len(masks):
                    masks, sizes = doubled_rows(masks), doubled(sizes)
                masks[n], sizes[n] = reach, count
                if meets_any(row, rarer, least):
                    sizes[n] = 0
                else:
                    maximal += 1
                n += 1
                covered = True
            if covered:
                depth -= 1
                continue
        i, high = at[depth], ends[depth]
        if i >= high:
            depth -= 1
            continue
        at[depth] += 1
        reach[:] = chosen[depth]
        for j in range(i, high):
            put(reach, ranks[j])
        begin = end = list_end[depth]
        covered = False
        for place in range(list_at[depth], list_end[depth] + n - since[depth]):
            past = place - list_end[depth]
            one = listed[place] if past < 0 else since[depth] + past
            if has(masks[one], ranks[i]):
                if within(reach, masks[one]):
                    covered = True
                    break
                if end == len(listed):
                    listed = doubled(listed)
                listed[end] = one
                end += 1
        if covered:
            continue
        top = used[depth]
        while max(high, top) + high - i > len(rows):
            rows, ranks, counts, slots = doubled_rows(rows), doubled(ranks), doubled(counts), doubled(slots)
        low, kept = high, high
        for j in range(i + 1, high):
            both = meet(rows[slots[i]], rows[slots[j]], rows[top])
            if both >= least:
                ranks[kept], counts[kept], slots[kept] = ranks[j], both, top
                kept += 1
                top += 1
        row[:], count, high = rows[slots[i]], counts[i], kept
        depth += 1
        chosen[depth] = chosen[depth - 1]
        put(chosen[depth], ranks[i])
        list_at[depth], list_end[depth] = begin, end
        fresh = True
    return masks[:n], sizes[:n]


@compiled(**INNER)
def with_first(first, whole, least):
    """The items frequent among the baskets of row `first`, their counts, and their rows over these."""
    ranks, found = np.empty(len(whole), dtype=np.int64), np.empty(len(whole), dtype=np.int64)
    bits = np.empty(whole.shape, dtype=np.uint64)
    kept = 0
    for item in range(len(whole)):
        if item != first:
            size = meet(whole[first], whole[item], bits[kept])
            if size >= least:
                ranks[kept], found[kept] = item, size
                kept += 1
    return ranks[:kept], found[:kept], bits[:kept]


@compiled(**INNER)
def all_of(size):
    """So many bits set, the rest of the last word not."""
    row = np.empty((size + 63) >> 6, dtype=np.uint64)
    row[:] = ~np.uint64(0)
    if size & 63:
        row[len(row) - 1] = (np.uint64(1) << np.uint64(size & 63)) - np.uint64(1)
    return row


@compiled
def maximal_sets(begin, step, starts, items, basket_starts, baskets, whole, least, limit):
    """The maximal sets whose rarest item is begin, begin + step, ...: lengths, ranks one after another, counts.

    whole has a bit for every basket in the rows of all items, or is empty: then the baskets of an item are gathered.
    """
    p = len(basket_starts) - 1
    sets = no_sets()
    counts = np.zeros(p, dtype=np.int64)
    n = filled = 0
    for first in range(begin, p, step):
        size = basket_starts[first + 1] - basket_starts[first]
        if len(whole):
            own = whole[first]
            ranks, found, bits = with_first(first, whole, least)
        else:
            own = all_of(size)
            ranks, found, bits = projected(first, True, starts, items, basket_starts, baskets, least, counts)
        rarer = 0
        with_rarer = False  # every basket of `first` holds a rarer item: so does every maximal set
        while rarer < len(ranks) and ranks[rarer] < first:
            with_rarer = with_rarer or found[rarer] == size
            rarer += 1
        if with_rarer:
            continue
        masks, numbers = maximal_below(size, own, found[rarer:], bits[rarer:], bits[:rarer], least, limit)
        inside = np.empty(len(ranks) - rarer, dtype=np.bool_)
        for s in range(len(masks)):
            if numbers[s] > 0:
                for i in range(len(inside)):
                    inside[i] = has(masks[s], i)
                sets, filled = with_set(sets, n, filled, first, ranks[rarer:], inside, numbers[s])
                n += 1
        if n > limit:
            break
    return sets[0][:n], sets[1][:filled], sets[2][:n]
