"""Dual coordinate descent for linear machines: one multiplier at a time, the weights kept along.

The weights w have the intercept's column last; `constant` is its entry in every row (0 for none). Multipliers
stay in [0, cost]; for the squared hinge cost is infinite and `extra` = 1/(2C). X is read-only, dense or CSR.
"""

from gnomon.loops._compile import compiled
from gnomon.loops.fused import one_add, one_score
from gnomon.loops.products import fetch_row, sparse_add, sparse_dot

AHEAD = 3  # rows that are fetched before their turn


@compiled
def project_step(G, alpha, cost, q):
    """New multiplier after a Newton step of one coordinate, kept in its box."""
    return min(max(alpha - G / q, 0.0), cost)


@compiled
def dual_epoch_dense(X, order, y, cost, extra, norms, constant, w, alpha, limits):
    """One pass over the rows in `order`; skipped rows are those safely at a bound by `limits` of the last
    pass.

    limits = (largest, smallest) projected slope of the last pass; returned for the next. Shrinks like
    liblinear.
    """
    top, low = -1e300, 1e300
    last = len(w) - 1
    for k in range(len(order)):
        i = order[k]
        if cost[i] <= 0.0 or norms[i] + extra[i] <= 0.0:
            continue
        G = y[i] * one_score(X, i, w, constant * w[last]) - 1.0 + extra[i] * alpha[i]
        slope = G
        if alpha[i] <= 0.0:
            if G > limits[0]:
                continue
            slope = min(G, 0.0)
        elif alpha[i] >= cost[i]:
            if G < limits[1]:
                continue
            slope = max(G, 0.0)
        top = max(top, slope)
        low = min(low, slope)
        if slope != 0.0:
            old = alpha[i]
            alpha[i] = project_step(G, old, cost[i], norms[i] + extra[i])
            step = (alpha[i] - old) * y[i]
            one_add(X, i, step, w)
            if constant != 0.0:
                w[last] += step * constant
    return top, low


@compiled
def dual_epoch_csr(indptr, indices, data, order, y, cost, extra, norms, constant, w, alpha, limits):
    """The same for CSR rows; data and w may be float32, which lie nearer in memory."""
    top, low = -1e300, 1e300
    last = len(w) - 1
    for k in range(len(order)):
        i = order[k]
        if k + AHEAD < len(order):
            j = order[k + AHEAD]
            fetch_row(indices, data, indptr[j], indptr[j + 1])
        if cost[i] <= 0.0 or norms[i] + extra[i] <= 0.0:
            continue
        s = sparse_dot(indices, data, indptr[i], indptr[i + 1], w)
        G = y[i] * (s + constant * w[last]) - 1.0 + extra[i] * alpha[i]
        slope = G
        if alpha[i] <= 0.0:
            if G > limits[0]:
                continue
            slope = min(G, 0.0)
        elif alpha[i] >= cost[i]:
            if G < limits[1]:
                continue
            slope = max(G, 0.0)
        top = max(top, slope)
        low = min(low, slope)
        if slope != 0.0:
            old = alpha[i]
            alpha[i] = project_step(G, old, cost[i], norms[i] + extra[i])
            step = (alpha[i] - old) * y[i]
            sparse_add(indices, data, indptr[i], indptr[i + 1], w.dtype.type(step), w)
            if constant != 0.0:
                w[last] += step * constant
    return top, low
