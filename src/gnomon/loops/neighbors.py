"""Predictions of neighbors: the k most similar among those who have rated the item."""

import numpy as np

from gnomon.loops._compile import compiled


@compiled
def neighbor_means(ours, theirs, starts, who, values, similar, means, k, include_self, out):
    """out[e] = mean of ours[e] plus the weighted deviations of its k nearest raters of theirs[e].

    similar is NaN where two are no neighbors; of equal similarities the lower index counts.
    """
    best = np.empty(k)
    index = np.empty(k, dtype=np.int64)
    rating = np.empty(k)
    for e in range(len(ours)):
        a, i = ours[e], theirs[e]
        size = 0
        for r in range(starts[i], starts[i + 1]):
            b = who[r]
            s = similar[a, b]
            if b == a:
                if not include_self:
                    continue
                s = 1.0
            if np.isnan(s):
                continue
            late = s <= best[k - 1] and not (
                s == best[k - 1] and b == a
            )  # ties go to those before, and to itself
            if size == k and late:
                continue
            at = size if size < k else k - 1
            size = min(k, size + 1)
            while at > 0 and (best[at - 1] < s or (b == a and best[at - 1] == s)):
                best[at], index[at], rating[at] = best[at - 1], index[at - 1], rating[at - 1]
                at -= 1
            best[at], index[at], rating[at] = s, b, values[r]
        top = bottom = 0.0
        for n in range(size):
            top += best[n] * (rating[n] - means[index[n]])
            bottom += abs(best[n])
        out[e] = means[a] + (top / bottom if bottom > 0.0 else 0.0)
