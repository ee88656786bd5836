"""Products of CSR rows with vectors and narrow matrices. Inputs are read-only; accumulators are float64.

No fastmath here: reordered sums are turned into vector gathers, which cost four times the plain loop. Places of
entries are counted without a sign: an index that may be negative costs as much as the product itself.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled


@compiled(**PART)
def sparse_dot(indices, data, begin, end, v):
    """Σ data[k] v[indices[k]] over begin ≤ k < end, in four sums that need not wait for each other."""
    a = b = c = e = 0.0
    full = end - (end - begin) % 4
    for k in range(np.uint64(begin), np.uint64(full), np.uint64(4)):
        a += data[k] * v[indices[k]]
        b += data[k + np.uint64(1)] * v[indices[k + np.uint64(1)]]
        c += data[k + np.uint64(2)] * v[indices[k + np.uint64(2)]]
        e += data[k + np.uint64(3)] * v[indices[k + np.uint64(3)]]
    for k in range(np.uint64(full), np.uint64(end)):
        a += data[k] * v[indices[k]]
    return (a + b) + (c + e)


@compiled(**PART)
def sparse_add(indices, data, begin, end, c, out):
    """out[indices[k]] += c data[k] over begin ≤ k < end."""
    for k in range(np.uint64(begin), np.uint64(end)):
        out[indices[k]] += data[k] * c


@compiled
def csr_dot(indptr, indices, data, v, out):
    """out[i] = x_i · v."""
    for i in range(len(indptr) - 1):
        out[i] = sparse_dot(indices, data, indptr[i], indptr[i + 1], v)


@compiled
def csr_add(indptr, indices, data, u, out):
    """out += Σ_i u[i] x_i."""
    for i in range(len(indptr) - 1):
        c = u[i]
        if c != 0.0:
            sparse_add(indices, data, indptr[i], indptr[i + 1], c, out)


@compiled
def rows_dot(indptr, indices, data, rows, begin, end, v, out):
    """out[r] = x_i · v for i = rows[r], begin ≤ r < end."""
    for r in range(begin, end):
        i = rows[r]
        out[r] = sparse_dot(indices, data, indptr[i], indptr[i + 1], v)


@compiled
def rows_add(indptr, indices, data, rows, begin, end, u, out):
    """out = Σ u[r] x_i for i = rows[r], begin ≤ r < end."""
    out[:] = 0.0
    for r in range(begin, end):
        i = rows[r]
        sparse_add(indices, data, indptr[i], indptr[i + 1], u[r], out)


@compiled
def ones_dot(indptr, indices, rows, begin, end, v, out):
    """`rows_dot` where every entry is 1."""
    for r in range(begin, end):
        first, last = indptr[rows[r]], indptr[rows[r] + 1]
        a = b = c = e = 0.0
        full = last - (last - first) % 4
        for k in range(np.uint64(first), np.uint64(full), np.uint64(4)):
            a += v[indices[k]]
            b += v[indices[k + np.uint64(1)]]
            c += v[indices[k + np.uint64(2)]]
            e += v[indices[k + np.uint64(3)]]
        for k in range(np.uint64(full), np.uint64(last)):
            a += v[indices[k]]
        out[r] = (a + b) + (c + e)


@compiled
def ones_add(indptr, indices, rows, begin, end, u, out):
    """`rows_add` where every entry is 1."""
    out[:] = 0.0
    for r in range(begin, end):
        for k in range(np.uint64(indptr[rows[r]]), np.uint64(indptr[rows[r] + 1])):
            out[indices[k]] += u[r]


@compiled
def csr_squares(indptr, indices, data, u, out):
    """out[j] += Σ_i u[i] x_ij²."""
    for i in range(len(indptr) - 1):
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            out[indices[k]] += u[i] * data[k] * data[k]


@compiled
def csr_norms(indptr, data, out):
    """out[i] = ‖x_i‖²."""
    for i in range(len(indptr) - 1):
        total = 0.0
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            total += data[k] * data[k]
        out[i] = total


@compiled
def csr_dot_matrix(indptr, indices, data, V, out):
    """out[i] = x_i V, for V of shape (d, k)."""
    for i in range(len(indptr) - 1):
        out[i, :] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            for c in range(V.shape[1]):
                out[i, c] += data[k] * V[indices[k], c]


@compiled
def csr_add_matrix(indptr, indices, data, U, out):
    """out += Σ_i x_iᵀ U[i], for out of shape (d, k)."""
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            for c in range(U.shape[1]):
                out[indices[k], c] += data[k] * U[i, c]
