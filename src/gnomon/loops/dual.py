"""Dual coordinate descent for linear machines: one multiplier at a time, the weights kept along.

What belongs to a row lies side by side in `table`, for rows come in random order: its class ±1, the bound of its
multiplier α, the price of ½α², the length of a step per unit of slope, its score when the passes began, α, and
the slope that it last met. `w` is how far the weights have moved since, `shift[0]` how far the intercept has;
`constant` is its column's entry in every row (0 for none). A pass returns Σ −slope·step.

Dense rows are read as they are. The entries of sparse ones are copied once, in fours: four columns of 32 bits,
then their values. A row is filled up with zeros, at a column of their own behind the others. `pairs` and `values`
are views of the same memory, for two columns are read at once: the passes wait for nothing so much as for reading.
"""

import numpy as np

from gnomon.core.linalg import LINE
from gnomon.loops._compile import CONTRACT, PART, compiled, fetch
from gnomon.loops.fused import one_add, one_score

SIGN, TOP, EXTRA, INVERSE, BASE, ALPHA, SLOPE = range(7)
WIDTH = 8  # of the table, which is aligned: a row is one fetch
AHEAD = 2  # rows that are fetched before their turn
HALF = np.uint64(32)  # bits from which on the second column of a pair lies
LOW = np.uint64(2**32 - 1)  # the bits of the first


@compiled(**PART)
def turn(row, move):
    """Move the multiplier of a row whose score has moved; return its step along the row, and −slope·step."""
    old = row[ALPHA]
    slope = row[SIGN] * (row[BASE] + move) - 1.0 + row[EXTRA] * old
    row[SLOPE] = slope
    row[ALPHA] = min(max(old - slope * row[INVERSE], 0.0), row[TOP])
    return (row[ALPHA] - old) * row[SIGN], slope * (old - row[ALPHA])


@compiled
def dual_epoch_dense(X, order, table, constant, w, shift):
    """One pass over the rows in `order`."""
    total, b = 0.0, shift[0]
    for i in order:
        step, gain = turn(table[i], one_score(X, i, w, constant * b))
        if step != 0.0:
            one_add(X, i, step, w)
            b += step * constant
            total += gain
    shift[0] = b
    return total


@compiled(**PART)
def layout(values):
    """How many values the columns of a four take the room of, and how many values and pairs a four is long."""
    room = np.uint64(16 // values.itemsize)
    return room, room + np.uint64(4), (room + np.uint64(4)) * np.uint64(values.itemsize) // np.uint64(8)


@compiled
def pack(indptr, indices, data, starts, pairs, values, spare):
    """Copy CSR rows to fours, from number starts[i] on; `spare` is the column of added zeros."""
    room, size, step = layout(values)
    for i in range(len(indptr) - 1):
        k, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        for four in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            for j in range(np.uint64(4)):
                column, value = np.uint64(spare), 0.0
                if k < end:
                    column, value = np.uint64(indices[k]), data[k]
                    k += np.uint64(1)
                values[four * size + room + j] = value
                at = four * step + j // np.uint64(2)
                pairs[at] = pairs[at] | column << HALF if j % np.uint64(2) else column


@compiled(fastmath=CONTRACT)
def four_dot(pairs, values, begin, end, w):
    """Score of the fours begin … end − 1, in sums that need not wait for each other."""
    room, size, step = layout(values)
    a = b = c = d = w.dtype.type(0.0)
    for k in range(begin, end):
        first, second, v = pairs[k * step], pairs[k * step + np.uint64(1)], k * size + room
        a += values[v] * w[first & LOW]
        b += values[v + np.uint64(1)] * w[first >> HALF]
        c += values[v + np.uint64(2)] * w[second & LOW]
        d += values[v + np.uint64(3)] * w[second >> HALF]
    return (a + b) + (c + d)


@compiled(fastmath=CONTRACT)
def four_add(pairs, values, begin, end, c, w):
    """w += c times the fours begin … end − 1."""
    room, size, step = layout(values)
    for k in range(begin, end):
        first, second, v = pairs[k * step], pairs[k * step + np.uint64(1)], k * size + room
        w[first & LOW] += values[v] * c
        w[first >> HALF] += values[v + np.uint64(1)] * c
        w[second & LOW] += values[v + np.uint64(2)] * c
        w[second >> HALF] += values[v + np.uint64(3)] * c


@compiled
def dual_epoch_sparse(starts, pairs, values, order, table, constant, w, shift):
    """The same for packed rows; these and w may be float32, which lie nearer in memory."""
    total, b = 0.0, shift[0]
    size = np.int64(layout(values)[1])
    line = LINE // values.itemsize
    for k in range(len(order)):
        if k + 2 * AHEAD < len(order):
            fetch(table[order[k + 2 * AHEAD]], 0)
            fetch(starts, order[k + 2 * AHEAD])
        if k + AHEAD < len(order):
            j = order[k + AHEAD]
            for ahead in range(size * starts[j], size * starts[j + 1], line):
                fetch(values, ahead)
        i = order[k]
        begin, end = np.uint64(starts[i]), np.uint64(starts[i + 1])
        step, gain = turn(table[i], four_dot(pairs, values, begin, end, w) + constant * b)
        if step != 0.0:
            four_add(pairs, values, begin, end, w.dtype.type(step), w)
            b += step * constant
            total += gain
    shift[0] = b
    return total


@compiled
def shrink(table, rows):
    """Gather in front the rows but those that press harder against their bound than any row slopes elsewhere.

    They will most likely stay there (Hsieh et al., ICML 2008). Returns how many are left.
    """
    rise = fall = 0.0
    for i in rows:
        alpha, slope = table[i, ALPHA], table[i, SLOPE]
        if alpha > 0.0:
            rise = max(rise, slope)
        if alpha < table[i, TOP]:
            fall = min(fall, slope)
    count = 0
    for i in rows:
        alpha, slope = table[i, ALPHA], table[i, SLOPE]
        at_zero = alpha <= 0.0 and slope > rise > 0.0
        if not at_zero and not (alpha >= table[i, TOP] and slope < fall < 0.0):
            rows[count] = i
            count += 1
    return count
