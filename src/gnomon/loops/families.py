"""Counts of families of coded columns. Arrays in, arrays out; a code of -1 is a missing cell."""

import numpy as np

from gnomon.loops._compile import PART, compiled


@compiled
def count(codes, weight, families, counts):
    """Add the weight of every row to the cell of each family that it has complete; returns missing cells."""
    missing = 0.0
    n_families = families.start.shape[0] - 1
    for i in range(codes.shape[0]):
        row, w = codes[i], weight[i]
        if w == 0.0:
            continue
        for v in range(row.shape[0]):
            if row[v] < 0:
                missing += 1.0
        for f in range(n_families):
            place = families.table_start[f]
            for k in range(families.start[f], families.start[f + 1]):
                code = row[families.axis[k]]
                if code < 0:
                    place = -1
                    break
                place += families.stride[k] * code
            if place >= 0:
                counts[place] += w
    return missing


@compiled(**PART)
def local_loglik(columns, weight, parents, n_parents, cards, child, counts, totals):
    """N-ary log-likelihood of one family by a dense table; returns (Σ N ln N/N_row, configurations seen)."""
    size = 1
    for p in range(n_parents):
        size *= cards[parents[p]]
    states = cards[child]
    counts[: size * states] = 0.0
    for i in range(weight.shape[0]):
        place = 0
        for p in range(n_parents):
            place = place * cards[parents[p]] + columns[parents[p], i]
        counts[place * states + columns[child, i]] += weight[i]
    value = 0.0
    for j in range(size):
        row = 0.0
        for k in range(states):
            n = counts[j * states + k]
            if n > 0.0:
                row += n
                value += n * np.log(n)
        if row > 0.0:
            value -= row * np.log(row)
    return value
