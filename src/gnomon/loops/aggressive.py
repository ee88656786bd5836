"""One pass of passive–aggressive learners over rows in a given order: each row moves the weights as little as
it must.

X is read-only, dense (C order) or CSR. Weights, averages and the lengths of steps are written in place.
"""

from math import inf

from gnomon.loops._compile import PART, compiled
from gnomon.loops.stochastic import csr_row_ahead, csr_row_dot, csr_row_move, row_dot, row_move


@compiled(**PART)
def aggressive_step(kind, C, z, y, norm, epsilon):
    """Length τ of a passive–aggressive step and its loss; kinds: hinge, squared hinge, zero-one, regression,
    squared.
    """
    if kind <= 2:
        m = y * z
        loss = max(0.0, 1.0 - m)
        if kind == 2:
            if m > 0.0 or norm <= 0.0:
                return 0.0, 0.0 if m > 0.0 else 1.0
            if m * m / (2.0 * C * norm) < 1.0:
                return (-m + 1e-8) / norm, 1.0
            return 0.0, 1.0
        sign = 1.0
    else:
        loss = max(0.0, abs(y - z) - epsilon)
        sign = 1.0 if y > z else -1.0
    if loss == 0.0 or norm <= 0.0:
        return 0.0, loss
    if kind == 0 or kind == 3:
        return sign * min(C, loss / norm), loss
    return sign * loss / (norm + (1.0 / (2.0 * C) if C < inf else 0.0)), loss


@compiled
def aggressive_dense(
    X, y, weight, norms, order, kind, C, epsilon, intercept, averaged, w, b, u, ub, steps, taus
):
    """A pass of passive–aggressive steps w += τ y x (regression: τ x); returns intercept, its u, steps, Σ
    loss.
    """
    loss = 0.0
    for k in range(len(order)):
        i = order[k]
        z = row_dot(X, i, w) + b
        tau, miss = aggressive_step(kind, C * weight[i], z, y[i], norms[i], epsilon)
        loss += weight[i] * miss
        taus[i] = abs(tau)
        if tau != 0.0:
            step = tau * y[i] if kind <= 2 else tau
            row_move(X, i, step, w, averaged, steps, u)
            if intercept:
                b += step
                ub += steps * step
        steps += 1.0
    return b, ub, steps, loss


@compiled
def aggressive_csr(
    indptr,
    indices,
    data,
    y,
    weight,
    norms,
    order,
    kind,
    C,
    epsilon,
    intercept,
    averaged,
    w,
    b,
    u,
    ub,
    steps,
    taus,
):
    """The same for CSR rows."""
    loss = 0.0
    for k in range(len(order)):
        i = order[k]
        csr_row_ahead(indptr, indices, data, order, k)
        z = csr_row_dot(indptr, indices, data, i, w) + b
        tau, miss = aggressive_step(kind, C * weight[i], z, y[i], norms[i], epsilon)
        loss += weight[i] * miss
        taus[i] = abs(tau)
        if tau != 0.0:
            step = tau * y[i] if kind <= 2 else tau
            csr_row_move(indptr, indices, data, i, step, w, averaged, steps, u)
            if intercept:
                b += step
                ub += steps * step
        steps += 1.0
    return b, ub, steps, loss
