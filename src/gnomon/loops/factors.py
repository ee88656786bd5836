"""Least squares row by row: the half-steps of alternating minimization. Arrays in, arrays out.

Row r has the entries starts[r]:starts[r + 1]: which factor vectors it meets, with which weight and target.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.draws import mix


@compiled(**PART)
def cholesky_solve(A, b, k):
    """Solve A x = b in place, A symmetric positive definite (its lower half is used and overwritten)."""
    for j in range(k):
        for i in range(j):
            s = A[j, i]
            for l in range(i):
                s -= A[j, l] * A[i, l]
            A[j, i] = s / A[i, i]
        d = A[j, j]
        for l in range(j):
            d -= A[j, l] * A[j, l]
        if not d > 0.0:
            return False
        A[j, j] = np.sqrt(d)
        s = b[j]
        for l in range(j):
            s -= A[j, l] * b[l]
        b[j] = s / A[j, j]
    for j in range(k - 1, -1, -1):
        s = b[j]
        for l in range(j + 1, k):
            s -= A[l, j] * b[l]
        b[j] = s / A[j, j]
    return True


@compiled(fastmath=True)
def solve_rows(first, last, starts, others, weights, targets, V, base, ridge, out):
    """out[r] = argmin of Σ w (t/w − v·u)² + uᵀ(base + ridge[r] I)u, that is (base + ridge I + Σ w v vᵀ) u = Σ t v.

    Rows without entries become zero. Returns the first row whose matrix is not positive definite, else -1.
    """
    k = V.shape[1]
    longest = 0
    for r in range(first, last):
        longest = max(longest, starts[r + 1] - starts[r])
    A = np.empty((k, k), dtype=np.float64)
    b = np.empty(k, dtype=np.float64)
    plain = base.shape[0] == 0
    small = min(longest, k)
    G = np.empty((small, small), dtype=np.float64)
    block = np.empty((64, k), dtype=V.dtype)
    scaled = np.empty((64, k), dtype=V.dtype)
    for r in range(first, last):
        low, high = starts[r], starts[r + 1]
        m = high - low
        if m == 0:
            out[r] = 0.0
            continue
        if plain and m < k and ridge[r] > 0.0:  # as many unknowns as entries
            for i in range(m):
                vi = others[low + i]
                for j in range(i + 1):
                    vj, s = others[low + j], 0.0
                    for l in range(k):
                        s += np.float64(V[vi, l]) * V[vj, l]
                    G[i, j] = s
                G[i, i] += ridge[r] / weights[low + i]
                b[i] = targets[low + i] / weights[low + i]
            if not cholesky_solve(G, b, m):
                return r
            for l in range(k):
                s = 0.0
                for i in range(m):
                    s += b[i] * V[others[low + i], l]
                out[r, l] = s
            continue
        for i in range(k):
            b[i] = 0.0
            for j in range(k):
                A[i, j] = 0.0 if plain else base[i, j]
            A[i, i] += ridge[r]
        for begin in range(low, high, 64):
            size = min(64, high - begin)
            for i in range(size):
                v, w, t = others[begin + i], V.dtype.type(weights[begin + i]), targets[begin + i]
                for l in range(k):
                    value = V[v, l]
                    block[i, l] = value
                    scaled[i, l] = w * value
                    b[l] += t * value
            if size >= 8:
                A += np.dot(scaled[:size].T, block[:size])
            else:
                for i in range(size):
                    for j in range(k):
                        value = scaled[i, j]
                        for l in range(j + 1):
                            A[j, l] += value * block[i, l]
        if not cholesky_solve(A, b, k):
            return r
        for l in range(k):
            out[r, l] = b[l]
    return -1


@compiled(fastmath=True, **PART)
def times(A, x, out):
    """out = A x."""
    for i in range(len(x)):
        s = x[0] * x.dtype.type(0.0)
        for l in range(len(x)):
            s += A[i, l] * x[l]
        out[i] = s


@compiled(fastmath=True)
def cg_rows(first, last, starts, others, weights, targets, V, base, steps, out):
    """Improve out[r] by conjugate gradients from where it is: (base + Σ w v vᵀ) u = Σ t v; all of V's type."""
    k = V.shape[1]
    zero = V.dtype.type(0.0)
    x, left = np.empty(k, V.dtype), np.empty(k, V.dtype)
    p, Ap = np.empty(k, V.dtype), np.empty(k, V.dtype)
    for row in range(first, last):
        low, high = starts[row], starts[row + 1]
        if low == high:
            out[row] = 0.0
            continue
        for l in range(k):
            x[l] = out[row, l]
        times(base, x, left)
        for l in range(k):
            left[l] = -left[l]
        for e in range(low, high):
            v, s = others[e], zero
            for l in range(k):
                s += V[v, l] * x[l]
            s = targets[e] - weights[e] * s
            for l in range(k):
                left[l] += s * V[v, l]
        old = zero
        for l in range(k):
            p[l] = left[l]
            old += left[l] * left[l]
        if old < 1e-20:
            continue
        for _ in range(steps):
            times(base, p, Ap)
            for e in range(low, high):
                v, s = others[e], zero
                for l in range(k):
                    s += V[v, l] * p[l]
                s *= weights[e]
                for l in range(k):
                    Ap[l] += s * V[v, l]
            s = zero
            for l in range(k):
                s += p[l] * Ap[l]
            alpha, new = old / s, zero
            for l in range(k):
                x[l] += alpha * p[l]
                left[l] -= alpha * Ap[l]
                new += left[l] * left[l]
            if new < 1e-20:
                break
            share = new / old
            for l in range(k):
                p[l] = left[l] + share * p[l]
            old = new
        for l in range(k):
            out[row, l] = x[l]


@compiled(fastmath=True)
def dots(users, items, U, V, out):
    """out[e] = U[users[e]] · V[items[e]]."""
    for e in range(len(users)):
        s = 0.0
        u, v = users[e], items[e]
        for l in range(U.shape[1]):
            s += np.float64(U[u, l]) * V[v, l]
        out[e] = s


@compiled(fastmath=True)
def sgd_epoch(order, users, items, values, mean, rate, lam_u, lam_v, biases, bu, bi, U, V):
    """One pass of stochastic gradient steps, in place; both vectors move from their old values.

    lam_u[a] and lam_v[i] are what one rating of the row shrinks its vector and its bias by.
    Returns the sum of squared errors met on the way.
    """
    k = U.shape[1]
    total = 0.0
    for at in range(len(order)):
        e = order[at]
        a, i = users[e], items[e]
        s = mean
        if biases:
            s += bu[a] + bi[i]
        dot = U[a, 0] * V[i, 0]
        for l in range(1, k):
            dot += U[a, l] * V[i, l]
        error = values[e] - s - dot
        total += error * error
        if biases:
            bu[a] += rate * (error - lam_u[a] * bu[a])
            bi[i] += rate * (error - lam_v[i] * bi[i])
        step = U.dtype.type(rate * error)
        keep_u, keep_v = U.dtype.type(1.0 - rate * lam_u[a]), U.dtype.type(1.0 - rate * lam_v[i])
        for l in range(k):
            u, v = U[a, l], V[i, l]
            U[a, l] = keep_u * u + step * v
            V[i, l] = keep_v * v + step * u
    return total


@compiled(fastmath=True)
def svdpp_epoch(order, starts, others, values, mean, rate, lam_u, lam_v, bu, bi, U, V, H):
    """One pass of SVD++ over users in `order`: a user's vector has the mean of what the rated items leave.

    The sum Σ h_j/√n is kept for a user's ratings and its change is handed on to the h_j once, after them.
    Returns the sum of squared errors met on the way.
    """
    k = U.shape[1]
    total = 0.0
    z, moved = np.empty(k), np.empty(k)
    for at in range(len(order)):
        a = order[at]
        low, high = starts[a], starts[a + 1]
        n = high - low
        if n == 0:
            continue
        root = 1.0 / np.sqrt(n)
        z[:] = 0.0
        for e in range(low, high):
            for l in range(k):
                z[l] += H[others[e], l]
        for l in range(k):
            z[l] *= root
            moved[l] = 0.0
        for e in range(low, high):
            i = others[e]
            dot = 0.0
            for l in range(k):
                dot += (U[a, l] + z[l]) * V[i, l]
            error = values[e] - mean - bu[a] - bi[i] - dot
            total += error * error
            bu[a] += rate * (error - lam_u[a] * bu[a])
            bi[i] += rate * (error - lam_v[i] * bi[i])
            for l in range(k):
                u, v = U[a, l], V[i, l]
                U[a, l] += rate * (error * v - lam_u[a] * u)
                V[i, l] += rate * (error * (u + z[l]) - lam_v[i] * v)
                step = rate * error * root * v
                moved[l] += step
                z[l] += step * root * n
        for e in range(low, high):
            j = others[e]
            kept = (1.0 - rate * lam_v[j]) ** n  # shrunk once a rating
            for l in range(k):
                H[j, l] = kept * H[j, l] + moved[l]
    return total


@compiled
def coordinate_rows(first, last, starts, others, places, residual, f, out, column, ridge, nonnegative):
    """out[r, column] = the best single coordinate given the residuals that it is not part of.

    residual[places[e]] belongs to entry e; f[i] is the other side's coordinate.
    """
    for r in range(first, last):
        top, bottom = 0.0, ridge[r]
        for e in range(starts[r], starts[r + 1]):
            v = f[others[e]]
            top += residual[places[e]] * v
            bottom += v * v
        best = top / bottom if bottom > 0.0 else 0.0
        if nonnegative and best < 0.0:
            best = 0.0
        out[r, column] = best


@compiled(fastmath=True)
def bpr_epoch(seed, first, n_draws, starts, users, items, rate, reg, verify, U, V, biases):
    """Draws of (user, liked item, other item) and a gradient step for each; the liked item is one of all entries.

    Returns how many pairs were in order already, and how many draws were left out because the other was liked
    too.
    """
    k = U.shape[1]
    right = skipped = 0
    m = len(V)
    nnz = len(items)
    for draw in range(first, first + n_draws):
        key = mix(np.uint64(seed) + np.uint64(2 * draw))
        e = np.int64(((key >> np.uint64(32)) * np.uint64(nnz)) >> np.uint64(32))
        key = mix(np.uint64(seed) + np.uint64(2 * draw + 1))
        j = np.int64(((key >> np.uint64(32)) * np.uint64(m)) >> np.uint64(32))
        a, i = users[e], items[e]
        if verify:
            low, high = starts[a], starts[a + 1]
            while low < high:
                middle = (low + high) >> 1
                if items[middle] < j:
                    low = middle + 1
                else:
                    high = middle
            if low < starts[a + 1] and items[low] == j:
                skipped += 1
                continue
        elif i == j:
            skipped += 1
            continue
        x = biases[i] - biases[j]
        for l in range(k):
            x += U[a, l] * (V[i, l] - V[j, l])
        if x > 0:
            right += 1
        s = 1.0 / (1.0 + np.exp(x))
        z, keep = U.dtype.type(rate * s), U.dtype.type(1.0 - rate * reg)
        for l in range(k):
            u, vi, vj = U[a, l], V[i, l], V[j, l]
            U[a, l] = keep * u + z * (vi - vj)
            V[i, l] = keep * vi + z * u
            V[j, l] = keep * vj - z * u
        biases[i] += rate * (s - reg * biases[i])
        biases[j] += rate * (-s - reg * biases[j])
    return right, skipped
