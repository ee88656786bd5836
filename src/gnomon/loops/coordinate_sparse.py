"""Sweeps of coordinate descent over sparse columns, which are centered without being filled.

Column j stands for x_j − mean[j]·v, where x_jᵀv = mass·mean[j] and mass = vᵀv; the residual is kept as
r − shift·v, so that a move touches the entries of its own column only. Outputs are written in place.
"""

from gnomon.loops._compile import compiled
from gnomon.loops.coordinate import shrink
from gnomon.loops.products import sparse_dot


@compiled
def csc_sweep(cols, indptr, indices, data, curvature, mean, mass, t, mu, positive, w, r, shift):
    """One cyclic sweep over some columns; returns the shift and the largest δ² ‖x_j‖²."""
    largest = 0.0
    for c in range(len(cols)):
        j = cols[c]
        bend = curvature[j] + mu
        if bend <= 0.0:
            continue
        s = sparse_dot(indices, data, indptr[j], indptr[j + 1], r) - shift * mass * mean[j]
        old = w[j]
        new = shrink(s + curvature[j] * old, t, positive) / bend
        if new != old:
            delta = new - old
            w[j] = new
            shift -= delta * mean[j]
            for k in range(indptr[j], indptr[j + 1]):
                r[indices[k]] -= delta * data[k]
            largest = max(largest, delta * delta * bend)
    return shift, largest


@compiled
def csc_dot(indptr, indices, data, r, out):
    """out[j] = x_jᵀ r for every sparse column."""
    for j in range(len(out)):
        out[j] = sparse_dot(indices, data, indptr[j], indptr[j + 1], r)


@compiled
def csc_dot_some(cols, indptr, indices, data, r, out):
    """out[c] = x_jᵀ r for some sparse columns j = cols[c]."""
    for c in range(len(cols)):
        j = cols[c]
        out[c] = sparse_dot(indices, data, indptr[j], indptr[j + 1], r)


@compiled
def csc_squares(indptr, indices, data, out):
    """out[j] = Σ_i x_ij² for every sparse column."""
    for j in range(len(out)):
        s = 0.0
        for k in range(indptr[j], indptr[j + 1]):
            s += data[k] * data[k]
        out[j] = s


@compiled
def csc_combine(cols, indptr, indices, data, w, out):
    """out += Σ_j w[j] x_j over some sparse columns."""
    for c in range(len(cols)):
        j = cols[c]
        for k in range(indptr[j], indptr[j + 1]):
            out[indices[k]] += w[j] * data[k]


@compiled
def csc_subtract(cols, indptr, indices, data, u, out):
    """out -= Σ_c u[c] x_j over some sparse columns j = cols[c]."""
    for c in range(len(cols)):
        if u[c] != 0.0:
            for k in range(indptr[cols[c]], indptr[cols[c] + 1]):
                out[indices[k]] -= u[c] * data[k]


@compiled
def touched_entries(u, indptr):
    """Entries of the sparse rows i with u[i] ≠ 0."""
    total = 0
    for i in range(len(u)):
        if u[i] != 0.0:
            total += indptr[i + 1] - indptr[i]
    return total


@compiled
def csr_subtract(indptr, indices, data, u, out):
    """out -= Σ_i u[i] x_i over the sparse rows with u[i] ≠ 0."""
    for i in range(len(u)):
        if u[i] != 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                out[indices[k]] -= u[i] * data[k]


@compiled
def csr_columns(indptr, indices, data, v, left, right, cursor, out_indices, out_data):
    """Write the columns left..right−1 of sparse rows v[i]·x_i, each from where its cursor stands."""
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if left <= j < right:
                out_indices[cursor[j]] = i
                out_data[cursor[j]] = v[i] * data[k]
                cursor[j] += 1


@compiled
def csc_rows(cols, indptr, indices, data, starts, members, values):
    """Sort the entries of some columns by rows: row i has those from starts[i] to starts[i + 1].

    `starts` comes with zeros and one place more than it needs, which serves as the cursors of the rows.
    """
    for c in range(len(cols)):
        for k in range(indptr[cols[c]], indptr[cols[c] + 1]):
            starts[indices[k] + 2] += 1
    for i in range(2, len(starts)):
        starts[i] += starts[i - 1]
    for c in range(len(cols)):
        for k in range(indptr[cols[c]], indptr[cols[c] + 1]):
            place = starts[indices[k] + 1]
            members[place], values[place] = c, data[k]
            starts[indices[k] + 1] = place + 1


@compiled
def meet_rows(cols, indptr, indices, data, starts, members, values, top, left, out):
    """out[top + c, left + b] += x_jᵀ z_b for columns j = cols[c] and the members b of sorted rows."""
    for c in range(len(cols)):
        for k in range(indptr[cols[c]], indptr[cols[c] + 1]):
            i, x = indices[k], data[k]
            for e in range(starts[i], starts[i + 1]):
                out[top + c, left + members[e]] += x * values[e]


@compiled
def idle_extremes(corr, w):
    """Lowest and highest correlation of features that are not in use; 0 counts."""
    low, high = 0.0, 0.0
    for j in range(len(w)):
        if w[j] == 0.0:
            low, high = min(low, corr[j]), max(high, corr[j])
    return low, high


@compiled
def fill_chosen(corr, w, level, positive, out):
    """List the features in use and those whose correlations reach the level; returns their number."""
    count = 0
    for j in range(len(w)):
        if w[j] != 0.0 or corr[j] >= level or (corr[j] <= -level and not positive):
            out[count] = j
            count += 1
    return count
