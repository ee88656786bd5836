"""How alike rows of a sparse table are by the columns that both have. Arrays in, arrays out; no NaN.

Row i has the entries starts[i]:starts[i + 1], columns ascending; `turned` are the same entries by column, rows
ascending. All six sums over what two rows have in common are taken in one pass over the entries.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled

PEARSON, COSINE, MSD, JACCARD = 0, 1, 2, 3


@compiled(**PART)
def likeness(kind, sums, size, other):
    """The similarity of two rows from c, Σxy, Σx², Σy², Σx, Σy over their c common columns; NaN where undefined."""
    c, xy, xx, yy = sums[0], sums[1], sums[2], sums[3]
    if kind == JACCARD:
        return c / (size + other - c)
    if kind == MSD:
        return 1.0 / (1.0 + max(0.0, (xx - 2.0 * xy + yy) / c))
    if kind == PEARSON:
        x, y = sums[4], sums[5]
        xy -= x * y / c
        left, right = xx - x * x / c, yy - y * y / c
        xx = left if left > 1e-12 * xx else 0.0  # all equal, but for rounding
        yy = right if right > 1e-12 * yy else 0.0
    scale = np.sqrt(xx * yy)
    return max(-1.0, min(1.0, xy / scale)) if scale > 0.0 else np.nan


@compiled
def similar_rows(
    begin, step, kind, least, shrinkage, starts, columns, values, turned_starts, turned, turned_values, out
):
    """out[i, j] = out[j, i] for the rows i = begin, begin + step, ... and all j from i on.

    Fewer than `least` in common is NaN; c / (c + shrinkage) multiplies the rest.
    """
    n = len(starts) - 1
    sums = np.zeros((n, 6))
    seen = np.empty(n, dtype=np.int64)
    for i in range(begin, n, step):
        found = 0
        for e in range(starts[i], starts[i + 1]):
            x = values[e]
            for f in range(turned_starts[columns[e] + 1] - 1, turned_starts[columns[e]] - 1, -1):
                j = turned[f]
                if j < i:
                    break
                y, row = turned_values[f], sums[j]
                if row[0] == 0.0:
                    seen[found] = j
                    found += 1
                row[0] += 1.0
                row[1] += x * y
                row[2] += x * x
                row[3] += y * y
                row[4] += x
                row[5] += y
        for s in range(found):
            j = seen[s]
            c = sums[j, 0]
            if c >= least:
                value = likeness(kind, sums[j], starts[i + 1] - starts[i], starts[j + 1] - starts[j])
                if shrinkage > 0.0:
                    value *= c / (c + shrinkage)
                out[i, j] = value
                out[j, i] = value
            sums[j] = 0.0
