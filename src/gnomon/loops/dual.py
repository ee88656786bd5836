"""Dual coordinate descent for linear machines: one multiplier at a time, the weights kept along.

What belongs to a row lies side by side in `table`, for rows come in random order: its class ±1, the bound of its
multiplier α, the price of ½α², the length of a step per unit of slope, its score when the passes began, α, and
the slope that it last met. `w` is how far the weights have moved since, `shift[0]` how far the intercept has;
`constant` is its column's entry in every row (0 for none). X is read-only, dense or CSR. A pass returns
Σ −slope·step.
"""

from gnomon.loops._compile import compiled, fetch
from gnomon.loops.fused import one_add, one_score
from gnomon.loops.products import fetch_row, sparse_add, sparse_dot

SIGN, TOP, EXTRA, INVERSE, BASE, ALPHA, SLOPE = range(7)
WIDTH = 8  # of the table: so many numbers are fetched at once
AHEAD = 3  # rows that are fetched before their turn


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
def dual_epoch_csr(indptr, indices, data, order, table, constant, w, shift):
    """The same for CSR rows; data and w may be float32, which lie nearer in memory."""
    total, b = 0.0, shift[0]
    for k in range(len(order)):
        if k + 2 * AHEAD < len(order):
            fetch(table[order[k + 2 * AHEAD]], 0)
            fetch(indptr, order[k + 2 * AHEAD])
        if k + AHEAD < len(order):
            j = order[k + AHEAD]
            fetch_row(indices, data, indptr[j], indptr[j + 1])
        i = order[k]
        begin, end = indptr[i], indptr[i + 1]
        step, gain = turn(table[i], sparse_dot(indices, data, begin, end, w) + constant * b)
        if step != 0.0:
            sparse_add(indices, data, begin, end, w.dtype.type(step), w)
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
