"""Draws with replacement from counters: sums, counts and row numbers of bootstrap samples.

Draw i of resample b depends on (key, b, i) alone. A row is the upper half of a 64-bit word times n, so that no row is
likelier than another by more than n / 2^32. Outputs are filled; NaN passes through sums.
"""

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.draws import mix


@compiled
def resample_rows(n, key, first, rows):
    """rows[b, i] = the i-th row drawn by resample first + b."""
    m = np.uint64(n)
    for b in range(rows.shape[0]):
        start = mix(np.uint64(key) + np.uint64(first + b))
        for i in range(rows.shape[1]):
            rows[b, i] = np.int64(((mix(start + np.uint64(i)) >> np.uint64(32)) * m) >> np.uint64(32))


@compiled
def resample_counts(n, key, first, counts):
    """counts[b, j] = how often resample first + b drew row j, in n draws; counts begin at zero."""
    m = np.uint64(n)
    for b in range(counts.shape[0]):
        start = mix(np.uint64(key) + np.uint64(first + b))
        for i in range(n):
            counts[b, ((mix(start + np.uint64(i)) >> np.uint64(32)) * m) >> np.uint64(32)] += 1


@compiled
def resample_sums(Z, key, first, out):
    """out[b] = sum of the rows of Z that resample first + b draws; Z is (n, q)."""
    n, q = Z.shape
    m = np.uint64(n)
    for b in range(out.shape[0]):
        start = mix(np.uint64(key) + np.uint64(first + b))
        if q == 1:
            total = 0.0
            for i in range(n):
                total += Z[((mix(start + np.uint64(i)) >> np.uint64(32)) * m) >> np.uint64(32), 0]
            out[b, 0] = total
        else:
            out[b] = 0.0
            for i in range(n):
                j = ((mix(start + np.uint64(i)) >> np.uint64(32)) * m) >> np.uint64(32)
                for k in range(q):
                    out[b, k] += Z[j, k]
