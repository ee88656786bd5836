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
    """The digamma function of a positive number: recurrence up to 6, then the asymptotic series; else NaN."""
    if not x > 0.0:
        return np.nan
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
    """exp(ψ(x)) without a logarithm; 0 where x is so small that it underflows, or below 0.

    The recurrence of ψ adds 1/x + 1/(x + 1) + ..., kept as one fraction: it costs one division.
    """
    if x <= 0.0:
        return 0.0
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
