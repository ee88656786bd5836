"""Passes over rows that read each row once: its score, what the loss makes of it, and its share of the
gradient.

X is read-only, C-ordered or CSR, and may be float32; sums are float64. Four dense rows go at a time, so that
the accumulator is read and written once for four.
"""

from gnomon.loops._compile import compiled
from gnomon.loops.losses import loss_slope, loss_value
from gnomon.loops.products import sparse_add, sparse_dot


@compiled(fastmath=True)
def dense_scores(X, i, v, intercept, z):
    """z[:] = scores of rows i … i+3."""
    a = b = c = e = intercept
    for j in range(X.shape[1]):
        u = v[j]
        a += X[i, j] * u
        b += X[i + 1, j] * u
        c += X[i + 2, j] * u
        e += X[i + 3, j] * u
    z[0], z[1], z[2], z[3] = a, b, c, e


@compiled(fastmath=True)
def dense_add(X, i, c, out):
    """out += Σ_k c[k] X[i+k] for k = 0 … 3."""
    c0, c1, c2, c3 = c[0], c[1], c[2], c[3]
    for j in range(X.shape[1]):
        out[j] += c0 * X[i, j] + c1 * X[i + 1, j] + c2 * X[i + 2, j] + c3 * X[i + 3, j]


@compiled(fastmath=True)
def one_score(X, i, v, intercept):
    """Score of row i."""
    s = intercept
    for j in range(X.shape[1]):
        s += X[i, j] * v[j]
    return s


@compiled(fastmath=True)
def one_add(X, i, c, out):
    """out += c X[i]."""
    for j in range(X.shape[1]):
        out[j] += c * X[i, j]


@compiled
def dense_gradient(code, p, q, X, y, weight, v, intercept, z, out):
    """Σ weight·loss; out += Σ slope x, with slope = weight·loss'; returns (value, Σ slope). z: 4 numbers of
    scratch.
    """
    value, total = 0.0, 0.0
    n, d = X.shape
    full = n - n % 4
    for i in range(0, full, 4):
        dense_scores(X, i, v, intercept, z)
        for k in range(4):
            value += weight[i + k] * loss_value(code, p, q, y[i + k], z[k])
            z[k] = weight[i + k] * loss_slope(code, p, q, y[i + k], z[k])
            total += z[k]
        if z[0] != 0.0 or z[1] != 0.0 or z[2] != 0.0 or z[3] != 0.0:
            dense_add(X, i, z, out)
    for i in range(full, n):
        s = one_score(X, i, v, intercept)
        value += weight[i] * loss_value(code, p, q, y[i], s)
        c = weight[i] * loss_slope(code, p, q, y[i], s)
        total += c
        one_add(X, i, c, out)
    return value, total


@compiled
def dense_curved(X, bend, v, intercept, z, out):
    """out += Σ bend (x·v + intercept) x; returns Σ bend (x·v + intercept). z: 4 numbers of scratch."""
    total = 0.0
    n, d = X.shape
    full = n - n % 4
    for i in range(0, full, 4):
        if bend[i] == 0.0 and bend[i + 1] == 0.0 and bend[i + 2] == 0.0 and bend[i + 3] == 0.0:
            continue
        dense_scores(X, i, v, intercept, z)
        for k in range(4):
            z[k] *= bend[i + k]
            total += z[k]
        dense_add(X, i, z, out)
    for i in range(full, n):
        c = bend[i] * one_score(X, i, v, intercept)
        total += c
        one_add(X, i, c, out)
    return total


@compiled
def csr_gradient(code, p, q, indptr, indices, data, y, weight, v, intercept, out):
    """The same as `dense_gradient` for CSR rows; those without weight are not read."""
    value, total = 0.0, 0.0
    for i in range(len(indptr) - 1):
        if weight[i] == 0.0:
            continue
        s = intercept + sparse_dot(indices, data, indptr[i], indptr[i + 1], v)
        value += weight[i] * loss_value(code, p, q, y[i], s)
        c = weight[i] * loss_slope(code, p, q, y[i], s)
        total += c
        if c != 0.0:
            sparse_add(indices, data, indptr[i], indptr[i + 1], c, out)
    return value, total


@compiled
def csr_curved(indptr, indices, data, bend, v, intercept, out):
    """The same as `dense_curved` for CSR rows."""
    total = 0.0
    for i in range(len(indptr) - 1):
        if bend[i] == 0.0:
            continue
        c = bend[i] * (intercept + sparse_dot(indices, data, indptr[i], indptr[i + 1], v))
        total += c
        sparse_add(indices, data, indptr[i], indptr[i + 1], c, out)
    return total


@compiled
def row_scores(X, v, out):
    """out[i] = x_i · v, each row summed in the same order: equal rows get equal bits."""
    for i in range(X.shape[0]):
        out[i] = one_score(X, i, v, 0.0)
