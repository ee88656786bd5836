"""Found sets put in order, and baskets turned. Arrays in, arrays out."""

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.ordering import put_in_order, put_in_order_by


@compiled
def lengths_of(parents):
    """How many items each node of a tree of sets has; parents come before children."""
    lengths = np.empty(len(parents), dtype=np.int32)
    for i in range(len(parents)):
        lengths[i] = 1 if parents[i] < 0 else lengths[parents[i]] + 1
    return lengths


@compiled
def lay_out(parents, items, sizes, lengths, number):
    """Sets of a tree, size by size: where each size begins among the items, the items, the counts.

    The items of a set are ascending; the sets of a size are in the order of the tree. number[k] is how many sets
    have k items.
    """
    begins = np.zeros(len(number) + 1, dtype=np.int64)
    places = np.zeros(len(number) + 1, dtype=np.int64)
    for k in range(len(number)):
        begins[k + 1] = begins[k] + number[k] * k
        places[k + 1] = places[k] + number[k]
    flat = np.empty(begins[len(number)], dtype=np.int32)
    counts = np.empty(len(parents), dtype=np.int64)
    where = np.empty(len(parents), dtype=np.int64)
    cursor = places.copy()
    for i in range(len(parents)):
        k, item = lengths[i], items[i]
        where[i] = begins[k] + (cursor[k] - places[k]) * k
        counts[cursor[k]] = sizes[i]
        cursor[k] += 1
        to = where[i]
        if k > 1:
            source = where[parents[i]]
            left = k - 1
            while left > 0 and flat[source] < item:
                flat[to] = flat[source]
                source += 1
                to += 1
                left -= 1
            flat[to] = item
            for _ in range(left):
                to += 1
                flat[to] = flat[source]
                source += 1
        else:
            flat[to] = item
    return begins, flat, places, counts


@compiled
def pack(sets, bits, words):
    """Keys of the rows, `bits` a column, as many columns a word as fit: words[w, i] in order of their weight."""
    n, k = sets.shape
    each = 64 // bits
    for w in range(len(words)):
        low, high = w * each, min(k, (w + 1) * each)
        for i in range(n):
            key = np.uint64(0)
            for c in range(low, high):
                key = (key << np.uint64(bits)) | np.uint64(sets[i, c])
            words[w, i] = key


@compiled
def refine(order, above, below):
    """Sort runs of rows whose words above are equal by the words below; order has them sorted by the first."""
    n = len(order)
    start = 0
    while start < n:
        end = start + 1
        while end < n and equal(above, order[start], order[end]):
            end += 1
        if end - start > 1:
            part = order[start:end]
            put_in_order_by(below[part], part)
        start = end


@compiled(**PART)
def equal(words, i, j):
    """Whether two keys agree in all words."""
    for w in range(len(words)):  # noqa: SIM110
        if words[w, i] != words[w, j]:
            return False
    return True


@compiled
def turned(starts, items, p, chosen):
    """Baskets of renamed items, both ways: chosen[item] is its new name, -1 to leave it out; p is how many there are.

    Returns the baskets with ascending items, the baskets of every item, and where in the former the item stands.
    """
    n = len(starts) - 1
    basket_starts = np.zeros(p + 1, dtype=np.int64)
    new_starts = np.zeros(n + 1, dtype=np.int64)
    for basket in range(n):
        kept = 0
        for e in range(starts[basket], starts[basket + 1]):
            item = chosen[items[e]]
            if item >= 0:
                basket_starts[item + 1] += 1
                kept += 1
        new_starts[basket + 1] = new_starts[basket] + kept
    for item in range(p):
        basket_starts[item + 1] += basket_starts[item]
    total = new_starts[n]
    baskets = np.empty(total, dtype=np.int32)
    cursor = basket_starts[:p].copy()
    for basket in range(n):
        for e in range(starts[basket], starts[basket + 1]):
            item = chosen[items[e]]
            if item >= 0:
                baskets[cursor[item]] = basket
                cursor[item] += 1
    new_items = np.empty(total, dtype=np.int32)
    entries = np.empty(total, dtype=np.int64)
    cursor = new_starts[:n].copy()
    for item in range(p):
        for t in range(basket_starts[item], basket_starts[item + 1]):
            e = cursor[baskets[t]]
            new_items[e], entries[t] = item, e
            cursor[baskets[t]] = e + 1
    return new_starts, new_items, basket_starts, baskets, entries


@compiled
def tidied(lengths, codes, p):
    """Baskets of codes one after another as starts and items: every item once a basket, ascending."""
    n = len(lengths)
    last = np.full(p, -1, dtype=np.int64)  # the basket in which an item was seen last
    starts = np.zeros(n + 1, dtype=np.int64)
    items = np.empty(len(codes), dtype=np.int32)
    at = top = 0
    for basket in range(n):
        begin = top
        ascending = True
        for e in range(at, at + lengths[basket]):
            item = codes[e]
            if last[item] != basket:
                last[item] = basket
                if top > begin and items[top - 1] > item:
                    ascending = False
                items[top] = item
                top += 1
        at += lengths[basket]
        if not ascending:
            put_in_order(items, begin, top)
        starts[basket + 1] = top
    return starts, items[:top].copy()


@compiled
def numbered(values, low, high):
    """Which of the numbers low..high occur, ascending, and the place of every value among them."""
    place = np.zeros(high - low + 1, dtype=np.int64)
    for value in values:
        place[value - low] = 1
    found = np.empty(len(place), dtype=np.int64)
    n = 0
    for i in range(len(place)):
        if place[i]:
            found[n] = i + low
            place[i] = n
            n += 1
    codes = np.empty(len(values), dtype=np.int64)
    for e in range(len(values)):
        codes[e] = place[values[e] - low]
    return found[:n], codes


@compiled
def add_rows(table, sums):
    """Add every row of a table of bytes to the sums."""
    for i in range(table.shape[0]):
        for j in range(len(sums)):
            sums[j] += table[i, j]


@compiled
def sum_rows(table, sums):
    """sums[i] = the sum of row i of a table of bytes."""
    for i in range(len(sums)):
        total = 0
        for j in range(table.shape[1]):
            total += table[i, j]
        sums[i] = total


@compiled
def true_cells(cells, words, n_lines, width, total):
    """Positions set in the lines of a table of bytes, at most `total`: starts, positions. words: bytes by eights."""
    starts = np.zeros(n_lines + 1, dtype=np.int64)
    found = np.empty(total, dtype=np.int32)
    n = 0
    line, end = 0, width  # where the line ends among the cells
    for w in range(len(words) + 1):
        if w < len(words) and words[w] == 0:
            continue
        for cell in range(8 * w, min(8 * w + 8, len(cells))):
            if cells[cell]:
                while cell >= end:
                    line += 1
                    starts[line] = n
                    end += width
                found[n] = cell - (end - width)
                n += 1
    while line < n_lines:
        line += 1
        starts[line] = n
    return starts, found[:n]
