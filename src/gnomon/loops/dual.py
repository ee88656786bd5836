"""Dual coordinate descent for linear machines: one multiplier at a time, the weights kept along.

What belongs to a row lies side by side in `table`, for rows come in random order: its class ±1, the bound of its
multiplier α, the price of ½α², the length of a step per unit of slope, its score when the passes began, α, and
the slope that it last met. `w` is how far the weights have moved since, `shift[0]` how far the intercept has;
`constant` is its column's entry in every row (0 for none). A pass returns Σ −slope·step.

Dense rows are read as they are. The entries of sparse ones are copied once: column and value side by side, and
each row filled up with zeros, at a column of their own behind the others, to a multiple of four entries.
"""

import numpy as np

from gnomon.loops._compile import compiled, fetch
from gnomon.loops.fused import one_add, one_score

SIGN, TOP, EXTRA, INVERSE, BASE, ALPHA, SLOPE = range(7)
WIDTH = 8  # of the table, which is aligned: a row is one fetch
AHEAD = 2  # rows that are fetched before their turn


@compiled
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


@compiled
def interleave(indptr, indices, data, starts, columns, values, spare):
    """Copy CSR rows to columns[2k], values[2k + 1], from k = starts[i]; `spare` is the column of added zeros."""
    for i in range(len(indptr) - 1):
        at = np.uint64(2 * starts[i])
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            columns[at] = indices[k]
            values[at + np.uint64(1)] = data[k]
            at += np.uint64(2)
        while at < np.uint64(2 * starts[i + 1]):
            columns[at] = spare
            values[at + np.uint64(1)] = 0.0
            at += np.uint64(2)


@compiled
def four_dot(columns, values, begin, end, w):
    """Score of the entries begin ≤ k < end, in four sums that need not wait for each other."""
    a = b = c = d = w.dtype.type(0.0)
    for k in range(begin, end, np.uint64(8)):
        a += values[k + np.uint64(1)] * w[columns[k]]
        b += values[k + np.uint64(3)] * w[columns[k + np.uint64(2)]]
        c += values[k + np.uint64(5)] * w[columns[k + np.uint64(4)]]
        d += values[k + np.uint64(7)] * w[columns[k + np.uint64(6)]]
    return (a + b) + (c + d)


@compiled
def four_add(columns, values, begin, end, c, w):
    """w += c times the entries begin ≤ k < end."""
    for k in range(begin, end, np.uint64(8)):
        w[columns[k]] += values[k + np.uint64(1)] * c
        w[columns[k + np.uint64(2)]] += values[k + np.uint64(3)] * c
        w[columns[k + np.uint64(4)]] += values[k + np.uint64(5)] * c
        w[columns[k + np.uint64(6)]] += values[k + np.uint64(7)] * c


@compiled
def dual_epoch_sparse(starts, columns, values, order, table, constant, w, shift):
    """The same for interleaved rows; these and w may be float32, which lie nearer in memory."""
    total, b, line = 0.0, shift[0], 64 // columns.itemsize  # numbers in a line of the cache
    for k in range(len(order)):
        if k + 2 * AHEAD < len(order):
            fetch(table[order[k + 2 * AHEAD]], 0)
            fetch(starts, order[k + 2 * AHEAD])
        if k + AHEAD < len(order):
            j = order[k + AHEAD]
            for ahead in range(2 * starts[j], 2 * starts[j + 1], line):
                fetch(columns, ahead)
        i = order[k]
        begin, end = np.uint64(2 * starts[i]), np.uint64(2 * starts[i + 1])
        step, gain = turn(table[i], four_dot(columns, values, begin, end, w) + constant * b)
        if step != 0.0:
            four_add(columns, values, begin, end, w.dtype.type(step), w)
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
