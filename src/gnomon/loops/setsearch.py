"""Frequent sets of items, depth first on bit sets. Arrays in, arrays out; baskets are read-only.

Baskets hold the ranks of their frequent items, ascending; rank 0 is the rarest item. A found set is a node of a
tree: the index of the set it extends (-1: none), the item it adds and its count; parents come before children.
"""

import numpy as np

from gnomon.loops._compile import INNER, PART, compiled

WHOLE = 4  # items in at least one basket of so many keep a bit for every basket


@compiled(**PART)
def ones(word):
    """How many bits of a 64-bit word are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled(**PART)
def meet(a, b, out):
    """out = a & b; how many bits are set in it."""
    count = 0
    for w in range(len(out)):
        word = a[w] & b[w]
        out[w] = word
        count += ones(word)
    return count


@compiled(**PART)
def surplus(bits, planes, ends):
    """The weights beyond one of the bits that are set; planes[b] has bit b of each, in the first ends[b] words."""
    count = 0
    for b in range(len(ends)):
        here = 0
        for w in range(ends[b]):
            here += ones(bits[w] & planes[b, w])
        count += here << b
    return count


@compiled(**INNER)
def doubled(values):
    """The same entries in an array twice as long."""
    longer = np.empty(2 * len(values), dtype=values.dtype)
    longer[: len(values)] = values
    return longer


@compiled(**INNER)
def doubled_rows(values):
    """The same rows in a table twice as long."""
    longer = np.empty((2 * len(values), values.shape[1]), dtype=values.dtype)
    longer[: len(values)] = values
    return longer


@compiled(**PART)
def write_sets(tree, n, parent, item, count, free, n_free):
    """Write a set and its unions with every part of free[:n_free], all with the same count; return the new end."""
    parents, added, sizes = tree
    parents[n], added[n], sizes[n] = parent, item, count
    width = 1
    for b in range(n_free):
        for mask in range(width):
            parents[n + width + mask], added[n + width + mask], sizes[n + width + mask] = (
                n + mask,
                free[b],
                count,
            )
        width *= 2
    return n + width


@compiled(**INNER)
def with_room(tree, n, more):
    """The arrays of the tree, with room for `more` sets after the first n."""
    parents, added, sizes = tree
    while n + more > len(parents):
        parents, added, sizes = doubled(parents), doubled(added), doubled(sizes)
    return parents, added, sizes


@compiled(**PART)
def split_off(ranks, found, slots, low, high, count, free, n_free):
    """Move the items of [low, high) that every basket of the set holds into `free`; return the new end and number.

    The others are put in order of their counts, rarest first.
    """
    kept = low
    for i in range(low, high):
        item, size, slot = ranks[i], found[i], slots[i]
        if size == count:
            free[n_free] = item
            n_free += 1
        else:
            at = kept
            while at > low and found[at - 1] > size:
                ranks[at], found[at], slots[at] = ranks[at - 1], found[at - 1], slots[at - 1]
                at -= 1
            ranks[at], found[at], slots[at] = item, size, slot
            kept += 1
    return kept, n_free


@compiled(**INNER)
def search_below(tree, n, first, count, projection, weights, least, longest, limit):
    """Write the set of item `first` and all frequent sets that extend it by items of a projection.

    The projection has ranks, their counts among the baskets of `first`, and a row of bits each; weights are
    the planes and ends of `surplus`. An item in every basket of a set doubles what is found from there on and
    is not looked at again (unless `longest` binds). Returns the tree and its end, above `limit` when it stopped.
    """
    items, numbers, bits = projection
    planes, ends = weights
    m = len(items)
    free = np.empty(m + 1, dtype=np.int64)
    room = 2 * m + 16
    ranks, found = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    slots = np.arange(room)  # where the row of an entry is
    rows = np.empty((room, bits.shape[1]), dtype=np.uint64)
    ranks[:m], found[:m], rows[:m] = items, numbers, bits
    ends_of, at = np.zeros(m + 1, np.int64), np.zeros(m + 1, np.int64)
    base, n_free = np.zeros(m + 1, np.int64), np.zeros(m + 1, np.int64)
    used = np.zeros(m + 1, np.int64)  # rows in use below a depth
    same = count if longest > m else -1
    ends_of[0], n_free[0] = split_off(ranks, found, slots, 0, m, same, free, 0)
    used[0] = m
    if n_free[0] > 40 or n + (1 << n_free[0]) > limit:
        return tree, limit + 1
    tree = with_room(tree, n, 1 << n_free[0])
    base[0] = n
    n = write_sets(tree, n, -1, first, count, free, n_free[0])
    depth = 0
    while depth >= 0:
        i, high = at[depth], ends_of[depth]
        if i >= high or depth + 2 > longest:
            depth -= 1
            continue
        at[depth] += 1
        top = high
        slot = used[depth]
        while max(top, slot) + high - i > len(rows):
            rows, ranks, found, slots = doubled_rows(rows), doubled(ranks), doubled(found), doubled(slots)
        kept = top
        mine = rows[slots[i]]
        if depth + 3 <= longest:
            for j in range(i + 1, high):
                size = meet(mine, rows[slots[j]], rows[slot])
                if len(ends):
                    size += surplus(rows[slot], planes, ends)
                if size >= least:
                    ranks[kept], found[kept], slots[kept] = ranks[j], size, slot
                    kept += 1
                    slot += 1
        same = found[i] if longest > m else -1
        kept, more = split_off(ranks, found, slots, top, kept, same, free, n_free[depth])
        if more > 40 or n + (1 << more) > limit:
            return tree, limit + 1
        tree = with_room(tree, n, 1 << more)
        start = n
        n = write_sets(tree, n, base[depth], ranks[i], found[i], free, more)
        if kept > top:
            depth += 1
            at[depth], ends_of[depth], used[depth], base[depth], n_free[depth] = top, kept, slot, start, more
    return tree, n


# the baskets that hold an item


@compiled(**INNER)
def rows_of(first, table, frequent, places, marks):
    """A row of bits for each frequent item over the baskets of `first`; places and marks are zero before and after."""
    starts, items, basket_starts, baskets, entries = table
    begin, end = basket_starts[first], basket_starts[first + 1]
    bits = np.zeros((len(frequent), (end - begin + 63) >> 6), dtype=np.uint64)
    across = down = 0
    for t in range(begin, end):
        across += starts[baskets[t] + 1] - entries[t]
    for item in frequent:
        down += basket_starts[item + 1] - basket_starts[item]
    if down < across:  # look the baskets of each item up among those of `first`
        for t in range(begin, end):
            marks[baskets[t]] = t - begin + 1
        for s in range(len(frequent)):
            for t in range(basket_starts[frequent[s]], basket_starts[frequent[s] + 1]):
                if marks[baskets[t]] > 0:
                    at = marks[baskets[t]] - 1
                    bits[s, at >> 6] |= np.uint64(1) << np.uint64(at & 63)
        for t in range(begin, end):
            marks[baskets[t]] = 0
    else:
        for s in range(len(frequent)):
            places[frequent[s]] = s + 1
        for t in range(begin, end):
            word, bit = (t - begin) >> 6, np.uint64(1) << np.uint64((t - begin) & 63)
            for e in range(entries[t] + 1, starts[baskets[t] + 1]):
                if places[items[e]] > 0:
                    bits[places[items[e]] - 1, word] |= bit
        for s in range(len(frequent)):
            places[frequent[s]] = 0
    return bits


@compiled(**INNER)
def counted_with(first, table, least, counts):
    """The items after `first` that are frequent among its baskets, and their counts; counts is zero around."""
    starts, items, basket_starts, baskets, entries = table
    begin, end, p = basket_starts[first], basket_starts[first + 1], len(basket_starts) - 1
    touched = 0
    for t in range(begin, end):
        low, high = entries[t] + 1, starts[baskets[t] + 1]
        touched += high - low
        for e in range(low, high):
            counts[items[e]] += 1
    kept = 0
    if touched > p - first:
        for item in range(first + 1, p):
            if counts[item] >= least:
                kept += 1
        frequent, found = np.empty(kept, dtype=np.int64), np.empty(kept, dtype=np.int64)
        kept = 0
        for item in range(first + 1, p):
            if counts[item] >= least:
                frequent[kept], found[kept] = item, counts[item]
                kept += 1
            counts[item] = 0
        return frequent, found
    frequent, found = np.empty(touched, dtype=np.int64), np.empty(touched, dtype=np.int64)
    for t in range(begin, end):
        for e in range(entries[t] + 1, starts[baskets[t] + 1]):
            if counts[items[e]] >= least:
                frequent[kept], found[kept] = items[e], counts[items[e]]
                kept += 1
            counts[items[e]] = 0
    return frequent[:kept].copy(), found[:kept].copy()


@compiled
def whole_rows(table, first):
    """A bit for every basket, for every item from `first` on."""
    starts, items, basket_starts, baskets, entries = table
    p = len(basket_starts) - 1
    bits = np.zeros((p - first, (len(starts) + 62) >> 6), dtype=np.uint64)
    for item in range(first, p):
        for t in range(basket_starts[item], basket_starts[item + 1]):
            bits[item - first, baskets[t] >> 6] |= np.uint64(1) << np.uint64(baskets[t] & 63)
    return bits


@compiled(**INNER)
def met_with(bits, at, offset, least):
    """The items after row `at` that are frequent with it, their counts and rows."""
    rows = np.empty((len(bits) - at, bits.shape[1]), dtype=np.uint64)
    frequent, found = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.int64)
    kept = 0
    mine = bits[at]
    for j in range(at + 1, len(bits)):
        size = meet(mine, bits[j], rows[kept])
        if size >= least:
            frequent[kept], found[kept] = j + offset, size
            kept += 1
    return frequent[:kept], found[:kept], rows[:kept]


@compiled
def frequent_sets(begin, step, table, whole, least, longest, limit):
    """Every frequent set whose rarest item is begin, begin + step, ..., and how many; above `limit` it ends early.

    whole has the rows of the most frequent items over all baskets: from there on nothing is gathered anew.
    """
    starts, items, basket_starts, baskets, entries = table
    p = len(basket_starts) - 1
    offset = p - len(whole)
    tree = np.empty(1024, dtype=np.int64), np.empty(1024, dtype=np.int32), np.empty(1024, dtype=np.int64)
    counts, places = np.zeros(p, dtype=np.int64), np.zeros(p, dtype=np.int64)
    marks = np.zeros(len(starts), dtype=np.int32)
    weights = np.empty((0, 0), dtype=np.uint64), np.empty(0, dtype=np.int64)
    n = 0
    for first in range(begin, p, step):
        count = basket_starts[first + 1] - basket_starts[first]
        tree = with_room(tree, n, 1)
        tree[0][n], tree[1][n], tree[2][n] = -1, first, count
        if longest < 2:
            n += 1
            continue
        if first >= offset:
            projection = met_with(whole, first - offset, offset, least)
        else:
            frequent, found = counted_with(first, table, least, counts)
            if len(frequent) == 0:
                n += 1
                continue
            projection = frequent, found, rows_of(first, table, frequent, places, marks)
        tree, n = search_below(tree, n, first, count, projection, weights, least, longest, limit)
        if n > limit:
            break
    return tree[0][:n], tree[1][:n], tree[2][:n], n
