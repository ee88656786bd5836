"""One pass of stochastic learners over rows in a given order: gradient steps, perceptron, passive–aggressive.

X is read-only, dense (C order) or CSR. Weights, counters and averages are written in place. A step costs the
entries of its row: weights are kept as scale·w, so that the ridge shrink is one multiplication.
"""

from math import sqrt

import numpy as np

from gnomon.loops._compile import PART, compiled, fetch
from gnomon.loops.losses import loss_slope, loss_value

TINY = 1e-9  # the scale below which it is multiplied out
AHEAD = 2  # rows that are brought nearer while one is worked on: in random order nobody else foresees them


@compiled(fastmath=True)
def row_dot(X, i, w):
    """x_i · w."""
    s = 0.0
    for j in range(X.shape[1]):
        s += X[i, j] * w[j]
    return s


@compiled(fastmath=True)
def row_add(X, i, c, w):
    """w += c x_i."""
    for j in range(X.shape[1]):
        w[j] += c * X[i, j]


@compiled(**PART)
def csr_row_dot(indptr, indices, data, i, w):
    """x_i · w."""
    s = 0.0
    for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):  # unsigned: no look for negative places
        s += data[k] * w[np.uint64(indices[k])]
    return s


@compiled(**PART)
def csr_row_ahead(indptr, indices, data, order, k):
    """Bring the row after the next of an order nearer, a line of the cache at a time."""
    if k + AHEAD < len(order):
        begin, end = indptr[order[k + AHEAD]], indptr[order[k + AHEAD] + 1]
        for place in range(begin, end, 8):
            fetch(data, place)
        for place in range(begin, end, 16):
            fetch(indices, place)


@compiled(**PART)
def csr_row_add(indptr, indices, data, i, c, w):
    """w += c x_i."""
    for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
        w[np.uint64(indices[k])] += c * data[k]


@compiled(**PART)
def row_move(X, i, c, w, averaged, steps, u):
    """w += c x_i and, for averages, u += steps c x_i: the mean of all weights is w − u/steps."""
    row_add(X, i, c, w)
    if averaged:
        row_add(X, i, steps * c, u)


@compiled(**PART)
def csr_row_move(indptr, indices, data, i, c, w, averaged, steps, u):
    """The same for CSR rows."""
    csr_row_add(indptr, indices, data, i, c, w)
    if averaged:
        csr_row_add(indptr, indices, data, i, steps * c, u)


@compiled
def learning_rate(code, a, b, t):
    """Rate of step t = 0, 1, …: constant, inverse power, exponential or Bottou's optimal."""
    if code == 0:
        return a
    if code == 1:
        return a / (t + 1.0) ** b
    if code == 2:
        return a * b**t
    return 1.0 / (a * (b + t))


@compiled(**PART)
def clip_l1(X, i, w, scale, q, u):
    """Cumulative ℓ1 clipping of the weights that row i touches (truncated gradient)."""
    for j in range(len(w)):
        if X[i, j] != 0.0:
            clip_one(j, w, scale, q, u)


@compiled(**PART)
def clip_one(j, w, scale, q, u):
    """Move one weight toward zero by what it still owes."""
    z = w[j]
    if scale * w[j] > 0.0:
        w[j] = max(0.0, w[j] - (u + q[j]) / scale)
    elif scale * w[j] < 0.0:
        w[j] = min(0.0, w[j] + (u - q[j]) / scale)
    q[j] += scale * (w[j] - z)


@compiled
def sgd_dense(
    X,
    y,
    weight,
    order,
    code,
    p,
    q,
    rate,
    ra,
    rb,
    alpha,
    ratio,
    intercept,
    clip,
    w,
    b,
    t,
    avg,
    avg_b,
    start,
    owed,
    u,
):
    """A pass of gradient steps. Returns scale-free intercept, steps, Σ loss before the steps, Σ of average
    intercepts.

    alpha(1−ratio) shrinks, alpha·ratio clips; from step `start` on, avg sums up weights (None of it when
    start < 0).
    """
    scale, loss = 1.0, 0.0
    for k in range(len(order)):
        i = order[k]
        z = scale * row_dot(X, i, w) + b
        loss += weight[i] * loss_value(code, p, q, y[i], z)
        eta = learning_rate(rate, ra, rb, t)
        slope = weight[i] * loss_slope(code, p, q, y[i], z)
        slope = min(max(slope, -1e12), 1e12)
        shrink = 1.0 - eta * alpha * (1.0 - ratio)
        if shrink <= 0.0:
            shrink = 0.0
            for j in range(len(w)):
                w[j] = 0.0
            scale = 1.0
        else:
            scale *= shrink
        if slope != 0.0:
            row_add(X, i, -eta * slope / scale, w)
            if intercept:
                b -= eta * slope
        if clip:
            u += eta * alpha * ratio
            clip_l1(X, i, w, scale, owed, u)
        if scale < TINY:
            for j in range(len(w)):
                w[j] *= scale
            scale = 1.0
        t += 1.0
        if start >= 0 and t >= start:
            share = 1.0 / (t - start + 1.0)
            for j in range(len(w)):
                avg[j] += share * (scale * w[j] - avg[j])
            avg_b += share * (b - avg_b)
    if scale != 1.0:
        for j in range(len(w)):
            w[j] *= scale
    return b, t, loss, avg_b, u


@compiled
def sgd_csr(
    indptr,
    indices,
    data,
    y,
    weight,
    order,
    code,
    p,
    q,
    rate,
    ra,
    rb,
    alpha,
    ratio,
    intercept,
    clip,
    w,
    b,
    t,
    avg,
    avg_b,
    start,
    owed,
    u,
):
    """The same for CSR rows."""
    scale, loss = 1.0, 0.0
    for k in range(len(order)):
        i = order[k]
        csr_row_ahead(indptr, indices, data, order, k)
        z = scale * csr_row_dot(indptr, indices, data, i, w) + b
        loss += weight[i] * loss_value(code, p, q, y[i], z)
        eta = learning_rate(rate, ra, rb, t)
        slope = weight[i] * loss_slope(code, p, q, y[i], z)
        slope = min(max(slope, -1e12), 1e12)
        shrink = 1.0 - eta * alpha * (1.0 - ratio)
        if shrink <= 0.0:
            for j in range(len(w)):
                w[j] = 0.0
            scale = 1.0
        else:
            scale *= shrink
        if slope != 0.0:
            csr_row_add(indptr, indices, data, i, -eta * slope / scale, w)
            if intercept:
                b -= eta * slope
        if clip:
            u += eta * alpha * ratio
            for a in range(indptr[i], indptr[i + 1]):
                clip_one(indices[a], w, scale, owed, u)
        if scale < TINY:
            for j in range(len(w)):
                w[j] *= scale
            scale = 1.0
        t += 1.0
        if start >= 0 and t >= start:
            share = 1.0 / (t - start + 1.0)
            for j in range(len(w)):
                avg[j] += share * (scale * w[j] - avg[j])
            avg_b += share * (b - avg_b)
    if scale != 1.0:
        for j in range(len(w)):
            w[j] *= scale
    return b, t, loss, avg_b, u


@compiled
def perceptron_dense(X, y, eta, order, intercept, averaged, always, w, b, u, ub, steps, counts):
    """A pass of the perceptron: w += η y x on m ≤ 0 (or always); u sums steps·change, for averages.

    Returns intercept, its u, steps made, mistakes and their loss.
    """
    mistakes, loss = 0, 0.0
    for k in range(len(order)):
        i = order[k]
        m = y[i] * (row_dot(X, i, w) + b)
        if m <= 0.0 or always:
            step = eta[i] * y[i]
            row_move(X, i, step, w, averaged, steps, u)
            if intercept:
                b += step
                ub += steps * step
            counts[i] += 1
            if m <= 0.0:
                mistakes += 1
                loss -= m
        steps += 1.0
    return b, ub, steps, mistakes, loss


@compiled
def perceptron_csr(
    indptr, indices, data, y, eta, order, intercept, averaged, always, w, b, u, ub, steps, counts
):
    """The same for CSR rows."""
    mistakes, loss = 0, 0.0
    for k in range(len(order)):
        i = order[k]
        csr_row_ahead(indptr, indices, data, order, k)
        m = y[i] * (csr_row_dot(indptr, indices, data, i, w) + b)
        if m <= 0.0 or always:
            step = eta[i] * y[i]
            csr_row_move(indptr, indices, data, i, step, w, averaged, steps, u)
            if intercept:
                b += step
                ub += steps * step
            counts[i] += 1
            if m <= 0.0:
                mistakes += 1
                loss -= m
        steps += 1.0
    return b, ub, steps, mistakes, loss


@compiled
def pegasos_dense(X, y, order, alpha, first, power, intercept, price, project, w, b, t, avg, avg_b):
    """Subgradient steps of the SVM: w ← (1−ηα)w + ηyx[m ≤ 1]; optional projection on ‖w‖ ≤ 1/√α.

    η = first/(t+1)^power. Returns intercept, steps, the average's intercept and how often the shrink was
    clipped.
    """
    clipped = 0
    for k in range(len(order)):
        i = order[k]
        eta = first / (t + 1.0) ** power
        m = y[i] * (row_dot(X, i, w) + b)
        shrink = 1.0 - eta * alpha
        if shrink < 0.0 and t > 0.0:
            shrink = 0.0
            clipped += 1
        for j in range(len(w)):
            w[j] *= shrink
        if price > 0.0:
            b *= max(0.0, 1.0 - eta * alpha * price)
        if m <= 1.0:
            row_add(X, i, eta * y[i], w)
            if intercept:
                b += eta * y[i]
        if project:
            norm = 0.0
            for j in range(len(w)):
                norm += w[j] * w[j]
            limit = 1.0 / sqrt(alpha)
            if norm > limit * limit:
                for j in range(len(w)):
                    w[j] *= limit / sqrt(norm)
        t += 1.0
        for j in range(len(w)):
            avg[j] += (w[j] - avg[j]) / t
        avg_b += (b - avg_b) / t
    return b, t, avg_b, clipped
