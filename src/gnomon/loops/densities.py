"""Passes of mixtures over blocks of rows. Arrays in, arrays out; row i of a table belongs to observation i.

`soften` and `harden` overwrite the table; −∞ means impossible, and NaN never leaves them.
"""

from __future__ import annotations

import math

import numpy as np

from gnomon.loops._compile import PART, compiled


@compiled
def soften(joint, weight, bad):
    """joint[i, k] ← weight[i]·exp(joint[i, k])/Σ_k exp(joint[i, k]); returns Σ weight·ln of that sum.

    A row that is −∞ throughout gets zeros and, if its weight is positive, bad[0] = its index + 1.
    """
    n, K = joint.shape
    total = 0.0
    for i in range(n):
        top = -np.inf
        for k in range(K):
            top = max(top, joint[i, k])
        if not top > -np.inf:
            if weight[i] > 0.0:
                bad[0] = i + 1
            for k in range(K):
                joint[i, k] = 0.0
            continue
        mass = 0.0
        for k in range(K):
            joint[i, k] = math.exp(joint[i, k] - top)
            mass += joint[i, k]
        scale = weight[i] / mass
        for k in range(K):
            joint[i, k] *= scale
        total += weight[i] * (top + math.log(mass))
    return total


@compiled
def harden(joint, weight, bad):
    """joint[i, k] ← weight[i] at the largest entry of row i (ties: lowest k), else 0; Σ weight·largest."""
    n, K = joint.shape
    total = 0.0
    for i in range(n):
        best = 0
        for k in range(1, K):
            if joint[i, k] > joint[i, best]:
                best = k
        top = joint[i, best]
        if not top > -np.inf:
            if weight[i] > 0.0:
                bad[0] = i + 1
            for k in range(K):
                joint[i, k] = 0.0
            continue
        for k in range(K):
            joint[i, k] = 0.0
        joint[i, best] = weight[i]
        total += weight[i] * top
    return total


@compiled
def add_code_columns(codes, table, out):
    """out[i, k] += Σ_j table[j, codes[i, j], k]; negative: missing, off the table: impossible."""
    n, d = codes.shape
    levels, K = table.shape[1], table.shape[2]
    for i in range(n):
        for j in range(d):
            code = codes[i, j]
            if code < 0:
                continue
            for k in range(K):
                out[i, k] += table[j, code, k] if code < levels else -np.inf


@compiled
def count_code_columns(codes, weights, counts):
    """counts[j, codes[i, j], k] += weights[i, k]; a negative code is missing."""
    n, d = codes.shape
    K = weights.shape[1]
    for i in range(n):
        for j in range(d):
            code = codes[i, j]
            if code >= 0:
                for k in range(K):
                    counts[j, code, k] += weights[i, k]


@compiled(**PART)
def _sweep(S, j):
    """Sweep the symmetric matrix S on index j in place; returns the pivot."""
    d = S.shape[0]
    pivot = S[j, j]
    for a in range(d):
        if a != j:
            scale = S[a, j] / pivot
            for b in range(d):
                if b != j:
                    S[a, b] -= scale * S[j, b]
    for a in range(d):
        if a != j:
            S[a, j] /= pivot
            S[j, a] /= pivot
    S[j, j] = -1.0 / pivot
    return pivot


@compiled(**PART)
def _sweep_observed(row, S):
    """Sweep S on the observed entries of the row; returns ln|Σ_oo|, or NaN when it is not positive definite.

    Afterwards S holds −Σ_oo⁻¹ among the observed, the regression coefficients between observed and missing,
    and the conditional covariance among the missing entries.
    """
    total = 0.0
    for j in range(S.shape[0]):
        if not math.isnan(row[j]):
            pivot = _sweep(S, j)
            if not pivot > 0.0:
                return math.nan
            total += math.log(pivot)
    return total


@compiled
def pattern_log_density(X, order, starts, means, covariances, out):
    """out[i, k] = ln density of what is observed of x_i. Rows order[starts[g]:starts[g+1]] miss the same."""
    d, K = X.shape[1], means.shape[0]
    S = np.empty((d, d))
    z = np.empty(d)
    for g in range(starts.shape[0] - 1):
        for k in range(K):
            S[:] = covariances[k]
            first = X[order[starts[g]]]
            constant = _sweep_observed(first, S)
            for j in range(d):
                if not math.isnan(first[j]):
                    constant += math.log(2.0 * math.pi)
            for p in range(starts[g], starts[g + 1]):
                i = order[p]
                for a in range(d):
                    z[a] = 0.0 if math.isnan(X[i, a]) else X[i, a] - means[k, a]
                square = 0.0
                for a in range(d):
                    if z[a] != 0.0:
                        for b in range(d):
                            square -= z[a] * S[a, b] * z[b]
                out[i, k] = -0.5 * (constant + square)


@compiled
def pattern_moments(X, order, starts, weights, means, covariances, first, second):
    """first[k] += r z, second[k] += r (z zᵀ + V): z = completed row − mean, V = conditional covariance."""
    d, K = X.shape[1], means.shape[0]
    S = np.empty((d, d))
    z = np.empty(d)
    for g in range(starts.shape[0] - 1):
        row = X[order[starts[g]]]
        for k in range(K):
            S[:] = covariances[k]
            _sweep_observed(row, S)
            mass = 0.0
            for p in range(starts[g], starts[g + 1]):
                i = order[p]
                r = weights[i, k]
                if r == 0.0:
                    continue
                mass += r
                for a in range(d):
                    z[a] = 0.0 if math.isnan(row[a]) else X[i, a] - means[k, a]
                for a in range(d):
                    if math.isnan(row[a]):
                        for b in range(d):
                            if not math.isnan(row[b]):
                                z[a] += S[a, b] * (X[i, b] - means[k, b])
                for a in range(d):
                    first[k, a] += r * z[a]
                    for b in range(d):
                        second[k, a, b] += r * z[a] * z[b]
            if mass > 0.0:
                for a in range(d):
                    if math.isnan(row[a]):
                        for b in range(d):
                            if math.isnan(row[b]):
                                second[k, a, b] += mass * S[a, b]


@compiled(fastmath=True)
def soften_columns(joint, weight, top, mass, bits, powers, bad):
    """As `soften` for joint[k, i] with one column per row of the data, with an exponential that vectorizes.

    The first len(weight) columns count. top, mass, bits and powers are scratch of one entry per column; powers
    is bits seen as float64.
    """
    K, m = joint.shape[0], len(weight)
    for i in range(m):
        top[i] = -np.inf
        mass[i] = 0.0
    for k in range(K):
        for i in range(m):
            top[i] = max(top[i], joint[k, i])
    for i in range(m):
        if not top[i] > -np.inf:
            top[i] = 0.0
            if weight[i] > 0.0:
                bad[0] = i + 1
    for k in range(K):
        for i in range(m):  # exp(x) = 2^n · exp(r), |r| ≤ ln 2 / 2, by its series
            x = joint[k, i] - top[i]
            n = math.floor(max(x, -708.0) * 1.4426950408889634 + 0.5)
            bits[i] = (np.int64(n) + 1023) << 52
            r = (max(x, -708.0) - n * 0.693145751953125) - n * 1.42860682030941723212e-6
            p = 1.0 / 6227020800.0
            p = p * r + 1.0 / 479001600.0
            p = p * r + 1.0 / 39916800.0
            p = p * r + 1.0 / 3628800.0
            p = p * r + 1.0 / 362880.0
            p = p * r + 1.0 / 40320.0
            p = p * r + 1.0 / 5040.0
            p = p * r + 1.0 / 720.0
            p = p * r + 1.0 / 120.0
            p = p * r + 1.0 / 24.0
            p = p * r + 1.0 / 6.0
            p = p * r + 0.5
            p = p * r + 1.0
            p = p * r + 1.0
            joint[k, i] = p if x > -700.0 else 0.0
        for i in range(m):
            joint[k, i] *= powers[i]
            mass[i] += joint[k, i]
    total = 0.0
    for i in range(m):
        if mass[i] > 0.0:
            total += weight[i] * (top[i] + math.log(mass[i]))
            mass[i] = weight[i] / mass[i]
    for k in range(K):
        for i in range(m):
            joint[k, i] *= mass[i]
    return total


@compiled(fastmath=True)
def add_squares(table, offset, out):
    """out[i, k] += Σ_j (table[i, (k, j)] − offset[k, j])²."""
    K, width = offset.shape
    for i in range(out.shape[0]):
        for k in range(K):
            row, center = table[i, k * width : (k + 1) * width], offset[k]
            square = 0.0
            for j in range(width):
                square += (row[j] - center[j]) ** 2
            out[i, k] += square


@compiled
def pair_features(X, shift, out):
    """out = [z_a·z_b for b ≤ a, z, 1], one column per row z = x − shift: shape (d(d+1)/2 + d + 1, m)."""
    m, d = X.shape
    first = d * (d + 1) // 2
    for a in range(d):
        for i in range(m):
            out[first + a, i] = X[i, a] - shift[a]
    for i in range(m):
        out[first + d, i] = 1.0
    f = 0
    for a in range(d):
        left = out[first + a]
        for b in range(a + 1):
            right, product = out[first + b], out[f]
            for i in range(m):
                product[i] = left[i] * right[i]
            f += 1


@compiled
def square_features(X, shift, out):
    """out = [z_a², z, 1], one column per row z = x − shift: shape (2d + 1, m)."""
    m, d = X.shape
    for a in range(d):
        for i in range(m):
            z = X[i, a] - shift[a]
            out[a, i] = z * z
            out[d + a, i] = z
    for i in range(m):
        out[2 * d, i] = 1.0


@compiled(fastmath=True)
def square_table(X, eta, shift, out):
    """out[i, k] = η_k · φ(x_i) with φ as in `square_features`; eta is (2d + 1, K)."""
    n, d = X.shape
    K = out.shape[1]
    for i in range(n):
        row = out[i]
        for k in range(K):
            row[k] = eta[2 * d, k]
        for a in range(d):
            z = X[i, a] - shift[a]
            second, first = eta[a], eta[d + a]
            for k in range(K):
                row[k] += z * (second[k] * z + first[k])


@compiled(fastmath=True)
def square_table_sums(X, weights, shift, sums):
    """sums[:, k] += Σ_i weights[i, k] · φ(x_i) with φ as in `square_features`; sums is (2d + 1, K)."""
    n, d = X.shape
    K = weights.shape[1]
    for i in range(n):
        w = weights[i]
        for a in range(d):
            z = X[i, a] - shift[a]
            second, first = sums[a], sums[d + a]
            for k in range(K):
                first[k] += w[k] * z
                second[k] += w[k] * z * z
        for k in range(K):
            sums[2 * d, k] += w[k]


@compiled(fastmath=True)
def _square_scores(z, m, eta, joint):
    """joint[k, i] = η_k · [z², z, 1] of column i < m."""
    d = z.shape[0]
    for k in range(joint.shape[0]):
        out = joint[k]
        for i in range(m):
            out[i] = eta[k, 2 * d]
        for a in range(0, d - 1, 2):
            p, q, s, t = eta[k, a], eta[k, d + a], eta[k, a + 1], eta[k, d + a + 1]
            u, v = z[a], z[a + 1]
            for i in range(m):
                out[i] += u[i] * (p * u[i] + q) + v[i] * (s * v[i] + t)
        for a in range(d - d % 2, d):
            for i in range(m):
                out[i] += z[a, i] * (eta[k, a] * z[a, i] + eta[k, d + a])


@compiled(fastmath=True)
def _square_sums(z, m, joint, sums):
    """sums[k] += Σ_i joint[k, i] · [z², z, 1] of column i < m."""
    d = z.shape[0]
    for k in range(joint.shape[0]):
        r = joint[k]
        for a in range(d):
            u = z[a]
            first = second = 0.0
            for i in range(m):
                first += r[i] * u[i]
                second += r[i] * u[i] * u[i]
            sums[k, a] += second
            sums[k, d + a] += first
        for i in range(m):
            sums[k, 2 * d] += r[i]


@compiled
def square_expectation(X, weight, eta, shift, size, bad, sums):
    """The E-step of Gaussians with diagonal covariances, `size` rows at a time: Σ weight·ln Σ_k exp(η_k·φ(x)).

    sums[k] += Σ_i r_ik φ(x_i) with φ as in `square_features`; eta holds the log-weights in its last column.
    """
    n, d = X.shape
    z, joint = np.empty((d, size)), np.empty((eta.shape[0], size))
    top, mass, bits = np.empty(size), np.empty(size), np.empty(size, dtype=np.int64)
    total = 0.0
    for start in range(0, n, size):
        m = min(size, n - start)
        for a in range(d):
            for i in range(m):
                z[a, i] = X[start + i, a] - shift[a]
        _square_scores(z, m, eta, joint)
        rows = weight[start : start + m]
        total += soften_columns(joint, rows, top, mass, bits, bits.view(np.float64), bad)
        _square_sums(z, m, joint, sums)
    return total
