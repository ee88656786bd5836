"""E-steps of linear latent models with holes. Arrays in, arrays out; rows that miss the same entries come together.

x = μ + W z + ε with z ~ N(0, I), ε ~ N(0, diag ψ). NaN marks a missing entry and is never read. X may be float32.
"""

from __future__ import annotations

import math

import numpy as np

from gnomon.loops._compile import PART, compiled


@compiled(**PART)
def _posterior_covariance(W, psi, columns, count, M, G):
    """M = I + W_oᵀ Ψ_o⁻¹ W_o becomes its Cholesky factor, G its inverse; return ln|M|."""
    K = W.shape[1]
    for a in range(K):
        for b in range(a + 1):
            s = 1.0 if a == b else 0.0
            for c in range(count):
                j = columns[c]
                s += W[j, a] * W[j, b] / psi[j]
            M[a, b] = s
    logs = 0.0
    for a in range(K):
        for b in range(a + 1):
            s = M[a, b]
            for c in range(b):
                s -= M[a, c] * M[b, c]
            if a == b:
                M[a, a] = math.sqrt(s)
                logs += 2.0 * math.log(M[a, a])
            else:
                M[a, b] = s / M[b, b]
    for c in range(K):  # columns of G by two triangular solves
        for a in range(K):
            s = 1.0 if a == c else 0.0
            for b in range(a):
                s -= M[a, b] * G[b, c]
            G[a, c] = s / M[a, a]
        for i in range(K):
            a = K - 1 - i
            s = G[a, c]
            for b in range(a + 1, K):
                s -= M[b, a] * G[b, c]
            G[a, c] = s / M[a, a]
    return logs


@compiled(**PART)
def _observed(X, row, columns):
    """Write the observed columns of a row; return how many there are."""
    count = 0
    for j in range(X.shape[1]):
        if not math.isnan(X[row, j]):
            columns[count] = j
            count += 1
    return count


@compiled(**PART)
def _posterior_mean(X, row, mean, W, psi, columns, count, G, h, m):
    """m = G W_oᵀ Ψ_o⁻¹ (x − μ)_o; return (x − μ)ᵀ C_oo⁻¹ (x − μ)."""
    K = W.shape[1]
    square = 0.0
    for a in range(K):
        h[a] = 0.0
    for c in range(count):
        j = columns[c]
        r = X[row, j] - mean[j]
        square += r * r / psi[j]
        for a in range(K):
            h[a] += W[j, a] * r / psi[j]
    for a in range(K):
        s = 0.0
        for b in range(K):
            s += G[a, b] * h[b]
        m[a] = s
        square -= s * h[a]
    return square


@compiled
def latent_moments(X, order, starts, weight, mean, W, psi, A, b, squares, counts):
    """Add to A[j] = Σ w E[z̃z̃ᵀ], b[j] = Σ w (x_j − μ_j) E[z̃], squares, counts over rows that have column j.

    z̃ = (z, 1). Groups of rows `order[starts[g]:starts[g+1]]` share a pattern, so they share a posterior
    covariance. Returns Σ w ln p(observed part of the row).
    """
    p, K = W.shape
    columns = np.empty(p, dtype=np.int64)
    M, G, inner = np.empty((K, K)), np.empty((K, K)), np.empty((K + 1, K + 1))
    h, m = np.empty(K), np.empty(K)
    total = 0.0
    for g in range(starts.shape[0] - 1):
        count = _observed(X, order[starts[g]], columns)
        if count == 0:
            continue
        logs = _posterior_covariance(W, psi, columns, count, M, G)
        for c in range(count):
            logs += math.log(psi[columns[c]])
        logs += count * math.log(2.0 * math.pi)
        inner[:, :] = 0.0
        for at in range(starts[g], starts[g + 1]):
            i = order[at]
            w = weight[i]
            if w == 0.0:
                continue
            square = _posterior_mean(X, i, mean, W, psi, columns, count, G, h, m)
            total -= 0.5 * w * (square + logs)
            for a in range(K):
                for e in range(a + 1):
                    inner[a, e] += w * (m[a] * m[e] + G[a, e])
                inner[K, a] += w * m[a]
            inner[K, K] += w
            for c in range(count):
                j = columns[c]
                r = X[i, j] - mean[j]
                for a in range(K):
                    b[j, a] += w * r * m[a]
                b[j, K] += w * r
                squares[j] += w * r * r
                counts[j] += w
        for c in range(count):
            j = columns[c]
            for a in range(K + 1):
                for e in range(a + 1):
                    A[j, a, e] += inner[a, e]
    return total


@compiled
def latent_rows(X, order, starts, mean, W, psi, means, covariances, density):
    """Posterior mean and covariance of z, and the log-density of the observed entries, of every row."""
    p, K = W.shape
    columns = np.empty(p, dtype=np.int64)
    M, G = np.empty((K, K)), np.empty((K, K))
    h, m = np.empty(K), np.empty(K)
    for g in range(starts.shape[0] - 1):
        count = _observed(X, order[starts[g]], columns)
        logs = _posterior_covariance(W, psi, columns, count, M, G)
        for c in range(count):
            logs += math.log(psi[columns[c]])
        logs += count * math.log(2.0 * math.pi)
        for at in range(starts[g], starts[g + 1]):
            i = order[at]
            square = _posterior_mean(X, i, mean, W, psi, columns, count, G, h, m)
            density[i] = -0.5 * (square + logs)
            means[i, :] = m
            if covariances.shape[0] > 0:
                covariances[i, :, :] = G
