"""Sweeps of non-negative factorization. Arrays in, arrays out; every row is a problem of its own.

H comes transposed, (p, K), so that what belongs to one column of X lies together.
"""

from __future__ import annotations

import math

import numpy as np

from gnomon.loops._compile import compiled

ROUNDING = 1e-15  # a round that moves a row by less than this share of its size moves it by rounding
ANEW = 32  # rounds after which the gradient of a row is added up anew, so that rounding does not gather


@compiled(fastmath=True)
def descend_row(G, b, w, slope, sweeps, ratio):
    """Coordinate descent on ½ w G wᵀ − b·w, w ≥ 0; return Σ|projected gradient| of the first round.

    At most `sweeps` rounds; it ends when a round moves less than `ratio` times what the first one did, or no more than
    rounding. `slope` is room for the gradient, which follows every move: an entry that rests at 0 costs nothing.
    """
    K = len(w)
    first, violation = 0.0, 0.0
    for sweep in range(sweeps):
        if sweep % ANEW == 0:
            for k in range(K):
                slope[k] = -b[k]
            for l in range(K):
                if w[l] != 0.0:
                    for k in range(K):
                        slope[k] += w[l] * G[l, k]
        moved, size = 0.0, 0.0
        for k in range(K):
            size += abs(b[k])
            if sweep == 0:
                violation += abs(slope[k] if w[k] > 0.0 else min(0.0, slope[k]))
            if G[k, k] > 0.0:
                step = max(-slope[k] / G[k, k], -w[k])
                if step != 0.0:
                    w[k] += step
                    moved += abs(step) * G[k, k]
                    for l in range(K):
                        slope[l] += step * G[k, l]
            elif slope[k] > 0.0:
                moved += w[k]
                w[k] = 0.0
        if sweep == 0:
            first = moved
        if moved <= max(ratio * first, ROUNDING * size):
            break
    return violation


@compiled(fastmath=True)
def descend_rows(G, B, W, sweeps, ratio):
    """Descend every row of W, with the same G and its row of B; return Σ|projected gradient| before."""
    n, K = W.shape
    slope = np.empty(K)
    violation = 0.0
    for i in range(n):
        violation += descend_row(G, B[i], W[i], slope, sweeps, ratio)
    return violation


@compiled(fastmath=True)
def descend_columns(G, B, W, sweeps, ratio):
    """`descend_rows` on a W (K, n) and B that lie transposed: for few components, all n problems side by side."""
    K, n = W.shape
    slope, moved, first, size, busy = np.empty(n), np.empty(n), np.empty(n), np.zeros(n), np.ones(n)
    violation = 0.0
    for k in range(K):
        for i in range(n):
            size[i] += abs(B[k, i])
    for sweep in range(sweeps):
        for i in range(n):
            moved[i] = 0.0
        for k in range(K):
            for i in range(n):
                slope[i] = -B[k, i]
            for l in range(K):
                g = G[k, l]
                for i in range(n):
                    slope[i] += g * W[l, i]
            if sweep == 0:
                for i in range(n):
                    violation += abs(slope[i]) if W[k, i] > 0.0 else max(0.0, -slope[i])
            g = G[k, k]
            if g > 0.0:
                share = 1.0 / g
                for i in range(n):
                    step = busy[i] * max(-share * slope[i], -W[k, i])
                    moved[i] += g * abs(step)
                    W[k, i] += step
            else:
                for i in range(n):
                    if busy[i] > 0.0 and slope[i] > 0.0:
                        moved[i] += W[k, i]
                        W[k, i] = 0.0
        left = 0.0
        for i in range(n):
            if sweep == 0:
                first[i] = moved[i]
            busy[i] = 1.0 if moved[i] > max(ratio * first[i], ROUNDING * size[i]) else 0.0
            left += busy[i]
        if left == 0.0:
            break
    return violation


@compiled(fastmath=True)
def products(A, weight, B, out):
    """out = A diag(weight) Bᵀ."""
    for k in range(len(A)):
        for l in range(len(B)):
            found = 0.0
            for i in range(A.shape[1]):
                found += weight[i] * A[k, i] * B[l, i]
            out[k, l] = found


@compiled(fastmath=True)
def descend_both(Xt, weight, ones, penalty, sweeps, ratio, Wt, H):
    """A step of coordinate descent on ½ Σ weight ‖x − H w‖² + penalties: Wt (K, n) first, then H (K, p).

    penalty = (w1, w2, h1, h2). Returns Σ|projected gradient| before; of the new W and H, whose rows count by their
    weight: ⟨WᵀW, HHᵀ⟩ − 2⟨WᵀX, H⟩, Σ w and Σ w².
    """
    K, n = Wt.shape
    p = H.shape[1]
    w1, w2, h1, h2 = penalty
    G, B, second, first = np.empty((K, K)), np.empty((K, n)), np.empty((K, K)), np.empty((K, p))
    products(H, ones, H, G)
    for k in range(K):
        G[k, k] += w2
        for i in range(n):
            B[k, i] = -w1
        for j in range(p):
            h = H[k, j]
            for i in range(n):
                B[k, i] += h * Xt[j, i]
    violation = descend_columns(G, B, Wt, sweeps, ratio)
    products(Wt, weight, Wt, second)
    products(Wt, weight, Xt, first)
    mass, squares = 0.0, 0.0
    for k in range(K):
        squares += second[k, k]
        for i in range(n):
            mass += weight[i] * Wt[k, i]
        for l in range(K):
            G[k, l] = second[k, l]
        G[k, k] += h2
    violation += descend_columns(G, first - h1, H, sweeps, ratio)
    products(H, ones, H, G)
    return violation, (second * G).sum() - 2.0 * (first * H).sum(), mass, squares


@compiled
def descend_steps(Xt, weight, penalty, squares, sweeps, ratio, first, tol, Wt, H, table):
    """Steps of coordinate descent; return how many. table[i] = Σ|projected gradient| before one, objective after it.

    `squares` is Σ weight·x². The last step is the first whose sum is at most tol times `first`, which is that of the
    first step of all where it is infinite.
    """
    made, ones = 0, np.ones(H.shape[1])
    while made < len(table):
        violation, cross, mass, spread = descend_both(Xt, weight, ones, penalty, sweeps, ratio, Wt, H)
        w1, w2, h1, h2 = penalty
        price = w1 * mass + 0.5 * w2 * spread
        for k in range(H.shape[0]):
            for j in range(H.shape[1]):
                price += h1 * H[k, j] + 0.5 * h2 * H[k, j] * H[k, j]
        if first == np.inf:
            first = violation
        table[made, 0], table[made, 1] = violation, max(0.5 * (squares + cross), 0.0) + price
        made += 1
        if violation <= tol * first:
            break
    return made


@compiled
def descend_rows_with_holes(X, Ht, W, l1, l2, sweeps, ratio):
    """The same where NaN marks entries of X that do not count: every row has a Gram matrix of its own."""
    n, K = W.shape
    p = Ht.shape[0]
    G, b, slope = np.empty((K, K)), np.empty(K), np.empty(K)
    violation = 0.0
    for i in range(n):
        for k in range(K):
            b[k] = -l1
            for l in range(k + 1):
                G[k, l] = l2 if k == l else 0.0
        for j in range(p):
            x = X[i, j]
            if not math.isnan(x):
                for k in range(K):
                    b[k] += x * Ht[j, k]
                    for l in range(k + 1):
                        G[k, l] += Ht[j, k] * Ht[j, l]
        for k in range(K):
            for l in range(k):
                G[l, k] = G[k, l]
        violation += descend_row(G, b, W[i], slope, sweeps, ratio)
    return violation


@compiled(fastmath=True)
def divergence_rows(data, indices, indptr, Ht, below, weight, W, rounds, ratio, top, update):
    """Multiplicative steps of the divergence over stored entries: W first, then what H needs is added to `top`.

    below[k] = Σ_j H_kj + penalty. top[j, k] += weight · x/r · w_k with the new w. Returns
    Σ weight·(x ln(x/r) − x) with r from the W that came in (of which Σ r is left to the caller).
    """
    n, K = W.shape
    share = np.empty(K)
    total = 0.0
    for i in range(n):
        if indptr[i] == indptr[i + 1]:
            for k in range(K):
                if below[k] > 0.0 and rounds > 0:
                    W[i, k] = 0.0
            continue
        first = 0.0
        for turn in range(max(1, rounds)):
            for k in range(K):
                share[k] = 0.0
            for at in range(indptr[i], indptr[i + 1]):
                j, x = indices[at], data[at]
                if x <= 0.0:
                    continue
                r = 0.0
                for k in range(K):
                    r += W[i, k] * Ht[j, k]
                if r <= 0.0:
                    r = 1e-300
                q = x / r
                if turn == 0:
                    total += weight[i] * (x * math.log(q) - x)
                for k in range(K):
                    share[k] += q * Ht[j, k]
            if rounds == 0:
                break
            moved, size = 0.0, 0.0
            for k in range(K):
                fresh = W[i, k] * share[k] / below[k] if below[k] > 0.0 else W[i, k]
                moved += abs(fresh - W[i, k])
                size += fresh
                W[i, k] = fresh
            if turn == 0:
                first = size
            if moved <= ratio * max(size, first):
                break
        if not update:
            continue
        for at in range(indptr[i], indptr[i + 1]):
            j, x = indices[at], data[at]
            if x <= 0.0:
                continue
            r = 0.0
            for k in range(K):
                r += W[i, k] * Ht[j, k]
            if r <= 0.0:
                r = 1e-300
            q = weight[i] * x / r
            for k in range(K):
                top[j, k] += q * W[i, k]
    return total
