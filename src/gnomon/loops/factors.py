"""Least squares row by row: the half-steps of alternating minimization. Arrays in, arrays out.

Row r has the entries starts[r]:starts[r + 1]: which factor vectors it meets, with which weight and target.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled

LANES = 8  # numbers in a turn of a vectorized loop; rows of small matrices are padded to a multiple
ENTRIES = 64  # entries of a row that are gathered at a time
ROUNDING = 1e-15  # of a pivot, relative to its diagonal and for each factor
WIDE = 48  # factors from which BLAS is quicker than our own sums


@compiled(fastmath=True, **PART)
def add_outer(block, scaled, size, k, A):
    """A += scaledᵀ block over `size` entries (a multiple of four); what lies above the diagonal is not used."""
    for i in range(0, size, 4):
        for j in range(k):
            s0, s1, s2, s3 = scaled[i, j], scaled[i + 1, j], scaled[i + 2, j], scaled[i + 3, j]
            for l in range((j // LANES + 1) * LANES):
                A[j, l] += (s0 * block[i, l] + s1 * block[i + 1, l]) + (
                    s2 * block[i + 2, l] + s3 * block[i + 3, l]
                )


@compiled(fastmath=True, **PART)
def cholesky_solve(A, b, least, k):
    """Solve A x = b in place, A symmetric positive definite of order k; its lower half is used and overwritten.

    A = LᵀL is found from the last row up, so that all inner loops run along rows; rows are taken four at a time, and
    what they leave of the rows above is computed in one pass. Returns False where a pivot is not above the rounding
    of its diagonal; `least` is space for k numbers.
    """
    for j in range(k):
        least[j] = ROUNDING * k * A[j, j]
    top = k
    while top > 0:
        low = max(0, top - 4)
        for j in range(top - 1, low - 1, -1):
            for p in range(top - 1, j, -1):
                s = A[p, j]
                for l in range(j + 1):
                    A[j, l] -= s * A[p, l]
            if not A[j, j] > least[j]:
                return False
            root = np.sqrt(A[j, j])
            s, y = 1.0 / root, b[j] / root
            for l in range(j):
                A[j, l] *= s
                b[l] -= y * A[j, l]
            A[j, j], b[j] = root, y
        for i in range(low):  # there were four rows
            s0, s1, s2, s3 = A[low, i], A[low + 1, i], A[low + 2, i], A[low + 3, i]
            for l in range((i // LANES + 1) * LANES):
                A[i, l] -= (s0 * A[low, l] + s1 * A[low + 1, l]) + (s2 * A[low + 2, l] + s3 * A[low + 3, l])
        top = low
    for j in range(k):
        s = b[j]
        for l in range(j):
            s -= A[j, l] * b[l]
        b[j] = s / A[j, j]
    return True


@compiled(fastmath=True)
def solve_rows(first, last, starts, others, weights, targets, V, base, ridge, out):
    """out[r] = argmin of Σ w (t/w − v·u)² + uᵀ(base + ridge[r] I)u, that is (base + ridge I + Σ w v vᵀ) u = Σ t v.

    Rows without entries become zero. Returns the first row whose matrix is not positive definite, else -1.
    """
    k = V.shape[1]
    width = (k + LANES - 1) // LANES * LANES
    A = np.zeros((k, width))
    b, least = np.empty(k), np.empty(k)
    plain = base.shape[0] == 0
    block, scaled = np.zeros((ENTRIES, width)), np.zeros((ENTRIES, k))
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
                    A[i, j] = s
                A[i, i] += ridge[r] / weights[low + i]
                b[i] = targets[low + i] / weights[low + i]
            if not cholesky_solve(A, b, least, m):
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
        for begin in range(low, high, ENTRIES):
            size = min(ENTRIES, high - begin)
            for i in range(size):
                v, w, t = others[begin + i], np.float64(weights[begin + i]), np.float64(targets[begin + i])
                for l in range(k):
                    value = np.float64(V[v, l])
                    block[i, l] = value
                    scaled[i, l] = w * value
                    b[l] += t * value
            while size % 4:
                scaled[size] = 0.0
                size += 1
            if k < WIDE:
                add_outer(block, scaled, size, k, A)
            else:
                A += np.dot(scaled[:size].T, block[:size])
        if not cholesky_solve(A, b, least, k):
            return r
        for l in range(k):
            out[r, l] = b[l]
    return -1


@compiled(fastmath=True)
def add_equations(rows, others, weights, targets, V, gram, right, squares):
    """gram[r] += w v vᵀ (the lower half), right[r] += t v and squares[r] += t² for every entry of row r."""
    k = V.shape[1]
    for e in range(len(rows)):
        r, v, t = rows[e], others[e], targets[e]
        squares[r] += t * t
        for j in range(k):
            s = weights[e] * V[v, j]
            right[r, j] += t * V[v, j]
            for l in range(j + 1):
                gram[r, j, l] += s * V[v, l]


@compiled(fastmath=True)
def squared_errors(first, last, starts, others, targets, V, U, out):
    """out[r] = Σ (t − v·u_r)² over the entries of row r."""
    k = V.shape[1]
    for r in range(first, last):
        total = 0.0
        for e in range(starts[r], starts[r + 1]):
            v, s = others[e], 0.0
            for l in range(k):
                s += np.float64(U[r, l]) * V[v, l]
            s = targets[e] - s
            total += s * s
        out[r] = total


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
