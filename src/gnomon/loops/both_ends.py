"""Forward-backward over one long chain from both of its ends. Arrays in, arrays out.

The first half is filtered from the front while the second half is filtered from the back; each side then
walks on over the rows the other has prepared and turns them into posteriors. The two sides share nothing
until they meet, so each may have a thread of its own. ``A`` is (K, K), ``back`` its transpose; B, scale and
rows that vanish are those of the chain recursions.
"""

import numpy as np

from gnomon.loops._compile import compiled
from gnomon.loops.chains import carry


@compiled(fastmath=True)
def filter_back(back, end, B, first, beta, scale):
    """beta[t] = p(rows after t | state) for t >= first, divided by its sum, scale[t]; returns the row at
    which it vanished, or -1.
    """
    K = end.shape[0]
    w = np.empty(K)
    row = end.copy()
    inverse = 1.0
    for t in range(B.shape[0] - 1, first - 1, -1):
        total = 0.0
        for k in range(K):
            row[k] *= inverse
            total += row[k]
            w[k] = row[k] * B[t, k]
        if not total > 1e-280:
            return t
        scale[t] = total
        inverse = 1.0 / total
        for k in range(K):
            beta[t, k] = row[k] * inverse
        carry(w, back, row)
    return -1


@compiled(fastmath=True)
def smooth_ahead(A, filtered, B, first, beta, counts):
    """Turn beta[t] into posteriors in place for t >= first, from `filtered`, the belief one row before.

    counts += sum_t filtered[t-1] w[t]' (times A: expected transitions); returns the row that vanished, or -1.
    """
    K = A.shape[0]
    before = filtered.copy()
    row = np.empty(K)
    w = np.empty(K)
    for t in range(first, B.shape[0]):
        carry(before, A, row)
        total, both = 0.0, 0.0
        for j in range(K):
            w[j] = B[t, j] * beta[t, j]
            both += row[j] * w[j]
        if not both > 1e-280:
            return t
        inverse = 1.0 / both
        for j in range(K):
            w[j] *= inverse
            beta[t, j] = row[j] * w[j]
        for i in range(K):
            a = before[i]
            for j in range(K):
                counts[i, j] += a * w[j]
        for j in range(K):
            before[j] = row[j] * B[t, j]
            total += before[j]
        inverse = 1.0 / total
        for j in range(K):
            before[j] *= inverse
    return -1
