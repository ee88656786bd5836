"""Sweeps of topic models over the non-zero counts of documents. Arrays in, arrays out.

Counts are CSR: `indices[indptr[d]:indptr[d + 1]]` are the words of document d. Topic tables come as (V, K), so that
what belongs to one word lies together.
"""

from __future__ import annotations

import math

import numpy as np

from gnomon.loops._compile import compiled


@compiled
def psi(x):
    """The digamma function of a positive number: recurrence up to 6, then the asymptotic series."""
    out = 0.0
    while x < 6.0:
        out -= 1.0 / x
        x += 1.0
    f = 1.0 / (x * x)
    series = f * (
        1.0 / 12.0
        - f * (1.0 / 120.0 - f * (1.0 / 252.0 - f * (1.0 / 240.0 - f * (1.0 / 132.0 - f * 691.0 / 32760.0))))
    )
    return out + math.log(x) - 0.5 / x - series


@compiled
def exp_psi(x):
    """exp(ψ(x)) without a logarithm; 0 where x is so small that it underflows.

    The recurrence of ψ adds 1/x + 1/(x + 1) + ..., kept as one fraction: it costs one division.
    """
    if x < 1e-3:
        return math.exp(psi(x + 1.0) - 1.0 / x)
    top, bottom = 0.0, 1.0
    while x < 6.0:
        top = top * x + bottom
        bottom *= x
        x += 1.0
    f = 1.0 / (x * x)
    series = f * (
        1.0 / 12.0
        - f * (1.0 / 120.0 - f * (1.0 / 252.0 - f * (1.0 / 240.0 - f * (1.0 / 132.0 - f * 691.0 / 32760.0))))
    )
    return x * math.exp(-0.5 / x - series - top / bottom)


@compiled(fastmath=True)
def fit_shares(data, indices, begin, end, words, alpha, gamma, theta, fresh, limit, tol):
    """Fit γ of one document with the topics fixed, from what is there; theta becomes exp ψ(γ)."""
    K = alpha.shape[0]
    for k in range(K):
        theta[k] = exp_psi(gamma[k])
    for _ in range(limit):
        for k in range(K):
            fresh[k] = 0.0
        for at in range(begin, end):
            v = indices[at]
            mass = 1e-300
            for k in range(K):
                mass += theta[k] * words[v, k]
            share = data[at] / mass
            for k in range(K):
                fresh[k] += share * words[v, k]
        moved = 0.0
        for k in range(K):
            value = alpha[k] + theta[k] * fresh[k]
            moved += abs(value - gamma[k])
            gamma[k] = value
            theta[k] = exp_psi(value)
        if moved < tol * K:
            break


@compiled(fastmath=True)
def document_bound(data, indices, begin, end, words, alpha, gamma, theta):
    """One document's part of the bound at γ, with theta = exp ψ(γ) and the best φ:

    Σ_v x ln Σ_k e^{E ln θ}e^{E ln β} + Σ_k [lnΓ(γ_k) − lnΓ(α_k)] − Σ_k (γ_k − α_k) E ln θ_k − lnΓ(Σγ) + lnΓ(Σα).
    """
    K = alpha.shape[0]
    whole, prior, value = 0.0, 0.0, 0.0
    for k in range(K):
        whole += gamma[k]
        prior += alpha[k]
    base = psi(whole)
    for k in range(K):
        value += (
            math.lgamma(gamma[k]) - math.lgamma(alpha[k]) - (gamma[k] - alpha[k]) * (psi(gamma[k]) - base)
        )
    value += math.lgamma(prior) - math.lgamma(whole)
    for at in range(begin, end):
        v = indices[at]
        mass = 1e-300
        for k in range(K):
            mass += theta[k] * words[v, k]
        value += data[at] * (math.log(mass) - base)
    return value


@compiled(fastmath=True)
def variational_documents(
    data, indices, indptr, weight, words, alpha, known, gamma, limit, tol, sums, update
):
    """Fit γ of every document with the topics fixed, and add weight·count·φ to sums (V, K).

    words[v, k] = exp E ln β_kv. γ starts from what is there. `known` holds γ of an earlier pass, or no rows: where a
    document's bound is higher there than where the fresh start ended, it goes on from there, so that no pass lowers the
    bound. Returns the documents' part of the bound, Σ weight·bound.
    """
    n, K = gamma.shape
    theta, fresh, bound = np.empty(K), np.empty(K), 0.0
    before = np.empty(K)
    for d in range(n):
        begin, end = indptr[d], indptr[d + 1]
        fit_shares(data, indices, begin, end, words, alpha, gamma[d], theta, fresh, limit, tol)
        if not update:
            continue
        inner = document_bound(data, indices, begin, end, words, alpha, gamma[d], theta)
        if known.shape[0] > 0:
            for k in range(K):
                before[k] = exp_psi(known[d, k])
            if document_bound(data, indices, begin, end, words, alpha, known[d], before) > inner:
                gamma[d] = known[d]
                fit_shares(data, indices, begin, end, words, alpha, gamma[d], theta, fresh, limit, tol)
                inner = document_bound(data, indices, begin, end, words, alpha, gamma[d], theta)
        bound += weight[d] * inner
        for at in range(begin, end):
            v = indices[at]
            mass = 1e-300
            for k in range(K):
                mass += theta[k] * words[v, k]
            share = weight[d] * data[at] / mass
            for k in range(K):
                sums[v, k] += share * theta[k] * words[v, k]
    return bound


@compiled
def em_documents(data, indices, indptr, weight, words, extra, pi, limit, tol, sums, update):
    """MAP–EM of document shares π with topics words[v, k] fixed, `limit` steps; add expected counts to sums.

    extra[k] = α_k − 1. Sums are those of the π that came in when limit is 1. Returns Σ weight·x ln Σ_k π_k words_vk.
    """
    n, K = pi.shape
    fresh, total = np.empty(K), 0.0
    for d in range(n):
        begin, end = indptr[d], indptr[d + 1]
        for turn in range(limit):
            for k in range(K):
                fresh[k] = 0.0
            for at in range(begin, end):
                v, x = indices[at], data[at]
                mass = 0.0
                for k in range(K):
                    mass += pi[d, k] * words[v, k]
                if mass <= 0.0:
                    continue
                if turn == 0:
                    total += weight[d] * x * math.log(mass)
                share = x / mass
                for k in range(K):
                    r = share * pi[d, k] * words[v, k]
                    fresh[k] += r
                    if turn == 0 and update:
                        sums[v, k] += weight[d] * r
            whole, moved = 0.0, 0.0
            for k in range(K):
                fresh[k] += extra[k]
                whole += fresh[k]
            if whole > 0.0:
                for k in range(K):
                    value = fresh[k] / whole
                    moved += abs(value - pi[d, k])
                    pi[d, k] = value
            else:
                for k in range(K):
                    pi[d, k] = 1.0 / K
            if moved < tol:
                break
    return total


@compiled
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
def gibbs_sweep(words, offsets, z, by_word, totals, alpha, eta, eta_sum, seed, fixed):
    """One sweep of collapsed Gibbs over the documents of a block; by_word and totals are the block's own copies.

    P(k) ∝ (n_dk + α_k)(n_kw + η_w)/(n_k + η̄) is split in two (after Yao, Mimno and McCallum 2009): the coefficients
    c_k = (n_dk + α_k)/(n_k + η̄) change in one place a move and so does their sum, which η_w multiplies; Σ n_kw c_k is
    added up anew. `fixed` leaves the topics alone.
    """
    K = totals.shape[0]
    counts = np.zeros(K, dtype=np.int64)
    coefficient, cumulated = np.empty(K), np.empty(K)
    inverse = np.empty(K)
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
            base -= coefficient[old]
            counts[old] -= 1
            if not fixed:
                by_word[w, old] -= 1
                totals[old] -= 1
                inverse[old] = 1.0 / (totals[old] + eta_sum)
            coefficient[old] = (counts[old] + alpha[old]) * inverse[old]
            base += coefficient[old]
            topical = 0.0
            for k in range(K):
                topical += by_word[w, k] * coefficient[k]
                cumulated[k] = topical
            u = draw(seed, state) * (topical + eta[w] * base)
            fresh = K - 1
            if u < topical:
                low, high = 0, K - 1
                while low < high:
                    middle = (low + high) // 2
                    if cumulated[middle] > u:
                        high = middle
                    else:
                        low = middle + 1
                fresh = low
            else:
                u = (u - topical) / eta[w]
                sums = 0.0
                for k in range(K):
                    sums += coefficient[k]
                    if sums > u:
                        fresh = k
                        break
            z[i] = fresh
            base -= coefficient[fresh]
            counts[fresh] += 1
            if not fixed:
                by_word[w, fresh] += 1
                totals[fresh] += 1
                inverse[fresh] = 1.0 / (totals[fresh] + eta_sum)
            coefficient[fresh] = (counts[fresh] + alpha[fresh]) * inverse[fresh]
            base += coefficient[fresh]


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
