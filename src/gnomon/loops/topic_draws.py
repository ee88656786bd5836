"""Collapsed Gibbs sampling of the topics of tokens. Arrays in, arrays out; randomness is a counter and a seed.

Tokens are spelled out: `words[offsets[d]:offsets[d + 1]]` are those of document d, and z holds the topic of each.
Counts of topics come as (V, K), so that what belongs to one word lies together.
"""

from __future__ import annotations

import math

import numpy as np

from gnomon.loops._compile import PART, compiled


@compiled(**PART)
def draw(seed, state):
    """A uniform number in [0, 1) from a counter: the state moves on by one (SplitMix64)."""
    state[0] += np.uint64(1)
    z = seed + state[0] * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled
def first_topics(words, offsets, seed, z, n_topics):
    """Uniform topics for all tokens of a block."""
    state = np.zeros(1, dtype=np.uint64)
    for d in range(offsets.shape[0] - 1):
        for i in range(offsets[d], offsets[d + 1]):
            z[i] = min(int(draw(seed, state) * n_topics), n_topics - 1)


@compiled
def count_topics(words, offsets, z, by_word, totals):
    """Add one to by_word[w, z] and totals[z] for every token."""
    for i in range(offsets[0], offsets[offsets.shape[0] - 1]):
        by_word[words[i], z[i]] += 1
        totals[z[i]] += 1


@compiled
def topic_bits(n_topics):
    """How many bits a topic takes beside its count in one number."""
    bits = 0
    while (1 << bits) < n_topics:
        bits += 1
    return bits


@compiled
def pack_counts(by_word, bits):
    """Write every row of counts as count·2^bits + topic, largest first and zeros last, in place."""
    V, K = by_word.shape
    for v in range(V):
        row = by_word[v]
        length = 0
        for k in range(K):
            if row[k] > 0:
                entry = (row[k] << bits) | k
                at = length
                while at > 0 and row[at - 1] < entry:
                    row[at] = row[at - 1]
                    at -= 1
                row[at] = entry
                length += 1
        row[length:] = 0


@compiled
def unpack_counts(by_word, bits):
    """Undo `pack_counts`."""
    V, K = by_word.shape
    mask = (1 << bits) - 1
    packed = np.empty(K, dtype=by_word.dtype)
    for v in range(V):
        row = by_word[v]
        packed[:] = row
        row[:] = 0
        for j in range(K):
            if packed[j] == 0:
                break
            row[packed[j] & mask] = packed[j] >> bits


@compiled
def gibbs_sweep(words, offsets, z, by_word, totals, alpha, eta, eta_sum, seed):
    """One sweep of collapsed Gibbs over the documents of a block; by_word and totals are the block's own copies.

    P(k) ∝ (n_dk + α_k)(n_kw + η_w)/(n_k + η̄) is split in two (after Yao, Mimno and McCallum 2009): the coefficients
    c_k = (n_dk + α_k)/(n_k + η̄) change in one place a move and so does their sum, which η_w multiplies; Σ n_kw c_k is
    added up anew over the topics that the word has, the commonest first. Counts of a word times 2^bits must fit
    the type of by_word.
    """
    K = totals.shape[0]
    bits = topic_bits(K)
    one, mask = 1 << bits, (1 << bits) - 1
    pack_counts(by_word, bits)
    counts = np.zeros(K, dtype=np.int64)
    coefficient, cumulated, inverse = np.empty(K), np.empty(K), np.empty(K)
    state = np.zeros(1, dtype=np.uint64)
    for k in range(K):
        inverse[k] = 1.0 / (totals[k] + eta_sum)
    for d in range(offsets.shape[0] - 1):
        begin, end = offsets[d], offsets[d + 1]
        if begin == end:
            continue
        counts[:] = 0
        for i in range(begin, end):
            counts[z[i]] += 1
        base = 0.0
        for k in range(K):
            coefficient[k] = (counts[k] + alpha[k]) * inverse[k]
            base += coefficient[k]
        for i in range(begin, end):
            w, old = words[i], z[i]
            row = by_word[w]
            known = coefficient[old], inverse[old], base
            inverse[old] = 1.0 / (totals[old] - 1 + eta_sum)
            coefficient[old] = (counts[old] - 1 + alpha[old]) * inverse[old]
            base += coefficient[old] - known[0]
            at = 0
            while at < K - 1 and row[at] & mask != old:
                at += 1
            entry = row[at] - one
            while at < K - 1 and row[at + 1] > entry:
                row[at] = row[at + 1]
                at += 1
            row[at] = entry if entry >= one else 0
            topical, length = 0.0, 0
            while length < K and row[length] != 0:
                topical += (row[length] >> bits) * coefficient[row[length] & mask]
                cumulated[length] = topical
                length += 1
            u = draw(seed, state) * (topical + eta[w] * base)
            at = 0
            if u < topical:
                while cumulated[at] <= u:
                    at += 1
                fresh = row[at] & mask
            else:
                u = (u - topical) / eta[w]
                sums, fresh = 0.0, K - 1
                for k in range(K):
                    sums += coefficient[k]
                    if sums > u:
                        fresh = k
                        break
                while at < length and row[at] & mask != fresh:
                    at += 1
            entry = one + (row[at] if at < length else fresh)
            while at > 0 and row[at - 1] < entry:
                row[at] = row[at - 1]
                at -= 1
            row[at] = entry
            if fresh == old:
                coefficient[old], inverse[old], base = known
                continue
            z[i] = fresh
            counts[old] -= 1
            totals[old] -= 1
            counts[fresh] += 1
            totals[fresh] += 1
            base -= coefficient[fresh]
            inverse[fresh] = 1.0 / (totals[fresh] + eta_sum)
            coefficient[fresh] = (counts[fresh] + alpha[fresh]) * inverse[fresh]
            base += coefficient[fresh]
    unpack_counts(by_word, bits)


@compiled
def fold_in(words, offsets, topics, alpha, seed, burn, draws, means):
    """Gibbs on new documents with topics (V, K) fixed: means[d] = average of (n_dk + α_k)/(n_d + ᾱ) over the draws."""
    K = alpha.shape[0]
    counts, chances = np.zeros(K), np.empty(K)
    z = np.empty(words.shape[0], dtype=np.int64)
    whole = alpha.sum()
    state = np.zeros(1, dtype=np.uint64)
    for d in range(offsets.shape[0] - 1):
        begin, end = offsets[d], offsets[d + 1]
        state[0] = np.uint64(0)  # a document's draws do not depend on those before it
        for k in range(K):
            counts[k] = 0.0
        for i in range(begin, end):
            z[i] = min(int(draw(seed, state) * K), K - 1)
            counts[z[i]] += 1.0
        for sweep in range(burn + draws):
            for i in range(begin, end):
                w = words[i]
                counts[z[i]] -= 1.0
                mass = 0.0
                for k in range(K):
                    mass += (counts[k] + alpha[k]) * topics[w, k]
                    chances[k] = mass
                fresh = z[i]
                if mass > 0.0:
                    u = draw(seed, state) * mass
                    fresh = K - 1
                    for k in range(K):
                        if chances[k] > u:
                            fresh = k
                            break
                z[i] = fresh
                counts[fresh] += 1.0
            if sweep >= burn:
                for k in range(K):
                    means[d, k] += (counts[k] + alpha[k]) / (end - begin + whole) / draws


@compiled
def document_log_joint(words, offsets, z, alpha):
    """Σ_d ln B(n_d + α)/B(α) of the tokens of a block."""
    K = alpha.shape[0]
    counts = np.zeros(K)
    whole = alpha.sum()
    total = 0.0
    for d in range(offsets.shape[0] - 1):
        counts[:] = 0.0
        for i in range(offsets[d], offsets[d + 1]):
            counts[z[i]] += 1.0
        for k in range(K):
            if counts[k] > 0.0:
                total += math.lgamma(counts[k] + alpha[k]) - math.lgamma(alpha[k])
        total += math.lgamma(whole) - math.lgamma(offsets[d + 1] - offsets[d] + whole)
    return total
