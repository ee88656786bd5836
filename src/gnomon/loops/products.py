"""Products of CSR rows with vectors and narrow matrices. Inputs are read-only; accumulators are float64.

No fastmath here: reordered sums are turned into vector gathers, which cost four times the plain loop.
"""

from gnomon.loops._compile import compiled


@compiled
def sparse_dot(indices, data, begin, end, v):
    """Σ data[k] v[indices[k]] over begin ≤ k < end, in four sums that need not wait for each other."""
    a = b = c = e = 0.0
    full = end - (end - begin) % 4
    for k in range(begin, full, 4):
        a += data[k] * v[indices[k]]
        b += data[k + 1] * v[indices[k + 1]]
        c += data[k + 2] * v[indices[k + 2]]
        e += data[k + 3] * v[indices[k + 3]]
    for k in range(full, end):
        a += data[k] * v[indices[k]]
    return (a + b) + (c + e)


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
            for k in range(indptr[i], indptr[i + 1]):
                out[indices[k]] += data[k] * c


@compiled
def csr_squares(indptr, indices, data, u, out):
    """out[j] += Σ_i u[i] x_ij²."""
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            out[indices[k]] += u[i] * data[k] * data[k]


@compiled
def csr_norms(indptr, data, out):
    """out[i] = ‖x_i‖²."""
    for i in range(len(indptr) - 1):
        out[i] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            out[i] += data[k] * data[k]


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
