"""One EM pass over the non-zero cells of a count table. Arrays in, arrays out; sums are added to."""

from __future__ import annotations

import math

from gnomon.loops._compile import compiled


@compiled
def aspect_pass(counts, indices, indptr, weights, documents, words, share, by_document, by_word, by_topic):
    """Add count·r(d, w, j) to by_document[d, j], by_word[w, j], by_topic[j]; return Σ count·ln P(d, w).

    r(d, w, j) ∝ weights[j]·documents[d, j]·words[w, j]; `share` is scratch of length K. A cell of
    probability zero gives −∞.
    """
    K = weights.shape[0]
    total = 0.0
    for d in range(indptr.shape[0] - 1):
        for p in range(indptr[d], indptr[d + 1]):
            w, count = indices[p], counts[p]
            if count == 0.0:
                continue
            mass = 0.0
            for j in range(K):
                share[j] = weights[j] * documents[d, j] * words[w, j]
                mass += share[j]
            if not mass > 0.0:
                return -math.inf
            total += count * math.log(mass)
            scale = count / mass
            for j in range(K):
                r = share[j] * scale
                by_document[d, j] += r
                by_word[w, j] += r
                by_topic[j] += r
    return total
