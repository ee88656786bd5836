"""The largest entries of every row of XᵀX, without making it."""

import numpy as np

from gnomon.loops._compile import compiled


@compiled
def top_products(first, last, starts, users, left, row_starts, items, right, columns, values):
    """columns[i], values[i] = the K items with the largest Σ_u x_ui x_uj, ascending by column, -1 where fewer.

    starts, users, left are the entries of item i; row_starts, items, right those of user u. Ties go to the
    lower column.
    """
    m, K = len(starts) - 1, columns.shape[1]
    sums = np.zeros(m)
    seen = np.empty(m, dtype=np.int64)
    for i in range(first, last):
        n = 0
        for e in range(starts[i], starts[i + 1]):
            u, x = users[e], left[e]
            for f in range(row_starts[u], row_starts[u + 1]):
                j = items[f]
                if sums[j] == 0.0:
                    seen[n] = j
                    n += 1
                sums[j] += x * right[f]
                if sums[j] == 0.0:
                    sums[j] = 1e-300  # met, and to be met once
        found = seen[:n]
        if n > K:
            score = np.empty(n)
            for s in range(n):
                score[s] = -sums[found[s]]
            edge = np.partition(score, K - 1)[K - 1]
            kept = 0
            for s in range(n):
                if score[s] < edge:
                    columns[i, kept] = found[s]
                    kept += 1
            level = np.sort(found[score == edge])
            for s in range(K - kept):
                columns[i, kept + s] = level[s]
            chosen = np.sort(columns[i, :K])
            columns[i, :K] = chosen
            n_kept = K
        else:
            chosen = np.sort(found)
            for s in range(n):
                columns[i, s] = chosen[s]
            n_kept = n
        for s in range(n_kept):
            values[i, s] = sums[columns[i, s]]
        for s in range(n):
            sums[found[s]] = 0.0
