"""Kalman filter and Rauch-Tung-Striebel smoother of one sequence. Arrays in, arrays out.

Model matrices carry a leading time axis of length 1 (constant) or T: entry t leads into, or is seen at, row
t. NaN in ``X`` is a missing component. Covariances are updated in Joseph's form. Once they no longer change,
constant models go on with the constant gain. Small matrices are written out; nothing is allocated per row.
"""

import numpy as np

from gnomon.loops._compile import INNER, PART, compiled


@compiled(**INNER)
def at(M, t):
    """M[t], or M[0] when M is constant."""
    return M[t] if M.shape[0] > 1 else M[0]


@compiled(fastmath=True)
def sandwich(A, P, Q, half, out):
    """out = A P A' + Q, exactly symmetric; half (rows of A, d) is scratch."""
    n, d = A.shape
    for i in range(n):
        for j in range(d):
            total = 0.0
            for k in range(d):
                total += A[i, k] * P[k, j]
            half[i, j] = total
    for i in range(n):
        for j in range(i + 1):
            total = Q[i, j]
            for k in range(d):
                total += half[i, k] * A[j, k]
            out[i, j] = total
            out[j, i] = total


@compiled(**PART)
def factor(S, n, L):
    """Lower Cholesky factor of S[:n, :n]; pivots lost to rounding become zero columns. Returns the rank."""
    rank = 0
    top = 0.0
    for i in range(n):
        top = max(top, S[i, i])
    for j in range(n):
        pivot = S[j, j]
        for k in range(j):
            pivot -= L[j, k] * L[j, k]
        good = pivot > 1e-14 * S[j, j] and pivot > 1e-300 and S[j, j] > 1e-18 * top
        rank += 1 if good else 0
        L[j, j] = np.sqrt(pivot) if good else 0.0
        for i in range(j + 1, n):
            total = S[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = total / L[j, j] if good else 0.0
    return rank


@compiled(**PART)
def solve_factored(L, n, b):
    """b[:n] = (L L')^-1 b; zero pivots give zero (a generalized inverse for right sides in the range)."""
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= L[i, k] * b[k]
        b[i] = total / L[i, i] if L[i, i] > 0.0 else 0.0
    for i in range(n - 1, -1, -1):
        total = b[i]
        for k in range(i + 1, n):
            total -= L[k, i] * b[k]
        b[i] = total / L[i, i] if L[i, i] > 0.0 else 0.0


@compiled(**PART)
def predict_mean(C, c, mean, out):
    """out = C mean + c."""
    for i in range(out.shape[0]):
        total = c[i]
        for k in range(mean.shape[0]):
            total += C[i, k] * mean[k]
        out[i] = total


@compiled(**PART)
def gain_of(P, D, L, seen, q, b, gain):
    """gain[:, a] = P D' S^-1 for the q components seen, S = L L'; the others get zero. b (p,) is scratch."""
    d, p = gain.shape
    for i in range(d):
        for a in range(q):
            total = 0.0
            for k in range(d):
                total += P[i, k] * D[seen[a], k]
            b[a] = total
        solve_factored(L, q, b)
        for a in range(p):
            gain[i, a] = 0.0
        for a in range(q):
            gain[i, seen[a]] = b[a]


@compiled
def joseph(P, D, V, gain, seen, q, keep, noise, half, out):
    """out = (I - K D) P (I - K D)' + K V K', positive semidefinite whatever the rounding; scratch (d, d)."""
    d = P.shape[0]
    for i in range(d):
        for j in range(d):
            total = 1.0 if i == j else 0.0
            for a in range(q):
                total -= gain[i, seen[a]] * D[seen[a], j]
            keep[i, j] = total
            total = 0.0
            for a in range(q):
                for b in range(q):
                    total += gain[i, seen[a]] * V[seen[a], seen[b]] * gain[j, seen[b]]
            noise[i, j] = total
    sandwich(keep, P, noise, half, out)


@compiled(**PART)
def observed(x, seen):
    """List the components of x that are not NaN; returns how many."""
    q = 0
    for a in range(x.shape[0]):
        if not np.isnan(x[a]):
            seen[q] = a
            q += 1
    return q


@compiled(**PART)
def innovation(x, D, e, V, P, mean, seen, q, residual, S):
    """residual = x - D mean - e and S = D P D' + V over the q components seen."""
    d = mean.shape[0]
    for a in range(q):
        total = x[seen[a]] - e[seen[a]]
        for k in range(d):
            total -= D[seen[a], k] * mean[k]
        residual[a] = total
        for b in range(q):
            total = V[seen[a], seen[b]]
            for i in range(d):
                for k in range(d):
                    total += D[seen[a], i] * P[i, k] * D[seen[b], k]
            S[a, b] = total


@compiled(**PART)
def farthest(A, B):
    """Largest |A - B| relative to the largest |A|."""
    gap = 0.0
    size = 1e-300
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            gap = max(gap, abs(A[i, j] - B[i, j]))
            size = max(size, abs(A[i, j]))
    return gap / size


@compiled(**PART)
def copy(A, out):
    """out = A."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            out[i, j] = A[i, j]


@compiled(**PART)
def whiten(L, q, residual, white):
    """white = L^-1 residual; returns its squared length."""
    total = 0.0
    for a in range(q):
        value = residual[a]
        for b in range(a):
            value -= L[a, b] * white[b]
        white[a] = value / L[a, a]
        total += white[a] * white[a]
    return total


@compiled(**PART)
def log_root(L, q):
    """q/2 ln 2pi + ln|L|: what the log-density of a normal variable loses to its scale."""
    total = 0.5 * q * np.log(2.0 * np.pi)
    for a in range(q):
        total += np.log(L[a, a])
    return total


@compiled(**PART)
def add_gain(gain, residual, seen, q, prior, mean):
    """mean = prior + gain residual over the q components seen."""
    for i in range(prior.shape[0]):
        total = prior[i]
        for a in range(q):
            total += gain[i, seen[a]] * residual[a]
        mean[i] = total


@compiled(**PART)
def steady_residual(x, D, e, prior, residual):
    """residual = x - D prior - e, all components seen."""
    for a in range(x.shape[0]):
        total = x[a] - e[a]
        for k in range(prior.shape[0]):
            total -= D[a, k] * prior[k]
        residual[a] = total


@compiled
def filter_rows(tol, before, C, c, Q, D, e, V, m0, P0, X, prior, Pprior, mean, P, gain, terms, steady):
    """Fill predicted (prior, Pprior) and filtered (mean, P) moments, gains and log-likelihood terms.

    steady[t] marks rows whose covariances are those of the row before (to `tol`, relatively). Returns the
    first row whose innovation covariance is singular, or -1.
    """
    T, p = X.shape
    d = m0.shape[0]
    half, keep, noise = np.empty((d, d)), np.empty((d, d)), np.empty((d, d))
    S, L = np.empty((p, p)), np.zeros((p, p))
    residual, white, seen = np.empty(p), np.empty(p), np.empty(p, np.int64)
    constant = C.shape[0] == 1 and Q.shape[0] == 1 and D.shape[0] == 1 and V.shape[0] == 1
    full_before = False
    lost = 0.0
    for t in range(T):
        q = observed(X[t], seen)
        same = constant and t > 1 and full_before and q == p
        same = same and (steady[t - 1] or farthest(P[t - 1], P[t - 2]) <= tol)
        full_before = q == p
        steady[t] = same
        if t > 0 or before:
            predict_mean(at(C, t), at(c, t), mean[t - 1] if t > 0 else m0, prior[t])
        else:
            for i in range(d):
                prior[t, i] = m0[i]
        if same and steady[t - 1]:
            copy(Pprior[t - 1], Pprior[t])
            copy(P[t - 1], P[t])
            copy(gain[t - 1], gain[t])
            steady_residual(X[t], D[0], at(e, t), prior[t], residual)
        else:
            if t > 0 or before:
                sandwich(at(C, t), P[t - 1] if t > 0 else P0, at(Q, t), half, Pprior[t])
            else:
                copy(P0, Pprior[t])
            innovation(X[t], at(D, t), at(e, t), at(V, t), Pprior[t], prior[t], seen, q, residual, S)
            if factor(S, q, L) < q:
                return t
            lost = log_root(L, q)
            gain_of(Pprior[t], at(D, t), L, seen, q, white, gain[t])
            joseph(Pprior[t], at(D, t), at(V, t), gain[t], seen, q, keep, noise, half, P[t])
        add_gain(gain[t], residual, seen, q, prior[t], mean[t])
        terms[t] = -lost - 0.5 * whiten(L, q, residual, white)
    return -1


@compiled(**PART)
def smoother_gain(P, C, Pnext, L, b, G):
    """G = P C' Pnext^-1; L (d, d) and b (d,) are scratch."""
    d = P.shape[0]
    factor(Pnext, d, L)
    for i in range(d):
        for j in range(d):
            total = 0.0
            for k in range(d):
                total += P[i, k] * C[j, k]
            b[j] = total
        solve_factored(L, d, b)
        for j in range(d):
            G[i, j] = b[j]


@compiled
def smooth_rows(tol, C, prior, Pprior, mean, P, steady, smooth, Psmooth, lag):
    """Fill smoothed moments and lag[t] = Cov(s_t, s_{t-1} | all rows), from the last row back."""
    T, d = mean.shape
    G, L = np.zeros((d, d)), np.zeros((d, d))
    half, delta, shift = np.empty((d, d)), np.empty((d, d)), np.empty(d)
    for i in range(d):
        smooth[T - 1, i] = mean[T - 1, i]
    copy(P[T - 1], Psmooth[T - 1])
    for t in range(T - 2, -1, -1):
        same = t > 0 and t + 2 < T and steady[t] and steady[t - 1] and steady[t + 1] and steady[t + 2]
        if not same:
            smoother_gain(P[t], at(C, t + 1), Pprior[t + 1], L, shift, G)
        for j in range(d):
            shift[j] = smooth[t + 1, j] - prior[t + 1, j]
        for i in range(d):
            total = mean[t, i]
            for j in range(d):
                total += G[i, j] * shift[j]
            smooth[t, i] = total
        if same and farthest(Psmooth[t + 1], Psmooth[t + 2]) <= tol:
            copy(Psmooth[t + 1], Psmooth[t])
            copy(lag[t + 2], lag[t + 1])
            continue
        for i in range(d):
            for j in range(d):
                delta[i, j] = Psmooth[t + 1, i, j] - Pprior[t + 1, i, j]
        sandwich(G, delta, P[t], half, Psmooth[t])
        for i in range(d):
            for j in range(d):
                total = 0.0
                for k in range(d):
                    total += Psmooth[t + 1, i, k] * G[j, k]
                lag[t + 1, i, j] = total
