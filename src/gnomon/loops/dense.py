"""Dense networks: forward values, losses, gradients and whole passes of training, for any stack of layers.

All weights lie in one vector. Layer l has a matrix of n_in[l] rows and width[l]·pieces[l] columns at w_at[l] and
as many biases at b_at[l]; values of a batch of m rows lie in buffers at m·z_at[l] and m·h_at[l]. X is C-ordered
and read-only. NaN spreads to the loss, where the caller looks for it. Sums run in one fixed order.
"""

from collections import namedtuple
from math import exp, log, log1p

import numpy as np

from gnomon.loops._compile import INNER, PART, compiled
from gnomon.loops.codes_of_dense import (
    ABSOLUTE,
    ELU,
    HINGE,
    HINGE_CLASSES,
    HUBER,
    IDENTITY,
    LEAK,
    LEAKY_RELU,
    LOG_BINARY,
    LOG_CLASSES,
    LOGISTIC,
    PERCEPTRON,
    POISSON,
    RBF,
    RELU,
    SIGMOID_SQUARED,
    SIGN,
    SQUARED,
    TANH,
)
from gnomon.loops.dense_steps import add_penalty, clip, largest, move, note_norms

Plan = namedtuple(
    "Plan", "n_in width pieces activation dropout w_at b_at z_at h_at loss loss_parameter dropout_scaling"
)
Rule = namedtuple(
    "Rule", "solver momentum nesterov beta_1 beta_2 epsilon by_node clip_norm alpha weight_decay"
)


@compiled(**PART)
def logistic(z):
    """1/(1 + e^−z) without overflow."""
    if z >= 0.0:
        return 1.0 / (1.0 + exp(-z))
    e = exp(z)
    return e / (1.0 + e)


@compiled(**PART)
def softplus(z):
    """ln(1 + e^z) without overflow."""
    return z + log1p(exp(-z)) if z > 0.0 else log1p(exp(z))


@compiled(**PART)
def kept(seed, row, layer, unit, p):
    """Whether dropout keeps a unit for a row: a hash of the four numbers against p."""
    x = np.uint64(seed) + np.uint64(row) * np.uint64(0x9E3779B97F4A7C15)
    x ^= np.uint64(layer) * np.uint64(0xC2B2AE3D27D4EB4F) + np.uint64(unit) * np.uint64(0x165667B19E3779F9)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return float(x >> np.uint64(11)) * (1.0 / 9007199254740992.0) >= p


@compiled(**PART)
def activate(code, z, h):
    """h = f(z), entry by entry; both flat."""
    if code == IDENTITY:
        for i in range(z.size):
            h[i] = z[i]
    elif code == LOGISTIC:
        for i in range(z.size):
            h[i] = logistic(z[i])
    elif code == TANH:
        for i in range(z.size):
            h[i] = np.tanh(z[i])
    elif code == RELU:
        for i in range(z.size):
            h[i] = z[i] if z[i] > 0.0 or z[i] != z[i] else 0.0
    elif code == LEAKY_RELU:
        for i in range(z.size):
            h[i] = z[i] if z[i] > 0.0 else LEAK * z[i]
    elif code == ELU:
        for i in range(z.size):
            h[i] = z[i] if z[i] > 0.0 else np.expm1(z[i])
    elif code == RBF:
        for i in range(z.size):
            h[i] = exp(-z[i] * z[i])
    elif code == SIGN:
        for i in range(z.size):
            h[i] = 1.0 if z[i] >= 0.0 else -1.0


@compiled(**PART)
def multiply_by_slope(code, z, h, delta):
    """delta *= f′(z), entry by entry; all flat."""
    if code == LOGISTIC:
        for i in range(z.size):
            delta[i] *= h[i] * (1.0 - h[i])
    elif code == TANH:
        for i in range(z.size):
            delta[i] *= 1.0 - h[i] * h[i]
    elif code == RELU:
        for i in range(z.size):
            if not z[i] > 0.0:
                delta[i] = 0.0
    elif code == LEAKY_RELU:
        for i in range(z.size):
            if not z[i] > 0.0:
                delta[i] *= LEAK
    elif code == ELU:
        for i in range(z.size):
            if not z[i] > 0.0:
                delta[i] *= exp(z[i])
    elif code == RBF:
        for i in range(z.size):
            delta[i] *= -2.0 * z[i] * h[i]
    elif code == SIGN:
        for i in range(z.size):
            delta[i] = 0.0


@compiled(**PART)
def winners(z, pieces, h):
    """h[i] = the largest of `pieces` neighbors in z."""
    for i in range(h.size):
        best = z[i * pieces]
        for piece in range(1, pieces):
            if z[i * pieces + piece] > best:
                best = z[i * pieces + piece]
        h[i] = best


@compiled(**PART)
def drop(h, d, m, width, p, scale, seed, row, layer):
    """d = h with units left out and the rest multiplied by `scale`."""
    for i in range(m):
        for j in range(width):
            d[i * width + j] = h[i * width + j] * scale if kept(seed, row + i, layer, j, p) else 0.0


@compiled
def forward(X, plan, params, Z, H, D, train, seed, row):
    """Fill Z (before activation), H (after) and D (after dropout) for the rows of X; scores are the last of Z."""
    m, last = X.shape[0], plan.n_in.size - 1
    source = X
    for l in range(last + 1):
        columns = plan.width[l] * plan.pieces[l]
        W = params[plan.w_at[l] : plan.w_at[l] + plan.n_in[l] * columns].reshape(plan.n_in[l], columns)
        b = params[plan.b_at[l] : plan.b_at[l] + columns]
        z = Z[m * plan.z_at[l] : m * (plan.z_at[l] + columns)].reshape(m, columns)
        np.dot(source, W, z)
        for i in range(m):
            for j in range(columns):
                z[i, j] += b[j]
        if l == last:
            return
        width, p = plan.width[l], plan.dropout[l]
        part = slice(m * plan.h_at[l], m * (plan.h_at[l] + width))
        if plan.pieces[l] > 1:
            winners(z.reshape(m * columns), plan.pieces[l], H[part])
        else:
            activate(plan.activation[l], z.reshape(m * columns), H[part])
        if p > 0.0:
            if train:
                scale = 1.0 if plan.dropout_scaling else 1.0 / (1.0 - p)
                drop(H[part], D[part], m, width, p, scale, seed, row, l)
            else:
                scale = 1.0 - p if plan.dropout_scaling else 1.0
                for i in range(part.start, part.stop):
                    D[i] = H[i] * scale
            source = D[part].reshape(m, width)
        else:
            source = H[part].reshape(m, width)


@compiled(**PART)
def loss_row(code, parameter, F, t, slope):
    """Return the loss of one row of scores; slope[k] = ∂loss/∂F[k]."""
    total, n = 0.0, F.size
    if code == LOG_CLASSES:
        y, top = int(t[0]), F[0]
        for k in range(1, n):
            top = max(top, F[k])
        mass = 0.0
        for k in range(n):
            mass += exp(F[k] - top)
        total = log(mass) + top - F[y]
        for k in range(n):
            slope[k] = exp(F[k] - top) / mass
        slope[y] -= 1.0
        return total
    if code == HINGE_CLASSES:
        y, count = int(t[0]), 0.0
        for k in range(n):
            slope[k] = 0.0
            excess = F[k] - F[y] + parameter
            if k != y and not excess <= 0.0:
                total += excess
                slope[k] = 1.0
                count += 1.0
        slope[y] = -count
        return total
    for k in range(n):
        f, y = F[k], t[k]
        if code == SQUARED:
            total += 0.5 * (f - y) * (f - y)
            slope[k] = f - y
        elif code == ABSOLUTE:
            total += abs(f - y)
            slope[k] = 1.0 if f > y else -1.0 if f < y else 0.0
        elif code == HUBER:
            r = f - y
            total += 0.5 * r * r if abs(r) <= parameter else parameter * (abs(r) - 0.5 * parameter)
            slope[k] = min(max(r, -parameter), parameter)
        elif code == LOG_BINARY:
            total += softplus(f) - y * f
            slope[k] = logistic(f) - y
        elif code == HINGE:
            total += 0.0 if y * f >= 1.0 else 1.0 - y * f
            slope[k] = -y if y * f < 1.0 else 0.0
        elif code == PERCEPTRON:
            total += 0.0 if y * f >= 0.0 else -y * f
            slope[k] = -y if y * f < 0.0 else 0.0
        elif code == SIGMOID_SQUARED:
            s = logistic(f)
            total += 0.5 * (s - y) * (s - y)
            slope[k] = (s - y) * s * (1.0 - s)
        elif code == POISSON:
            e = exp(f)
            total += e - y * f + (y * log(y) - y if y > 0.0 else 0.0)
            slope[k] = e - y
    return total


@compiled(**INNER)
def backward(X, T, weight, plan, params, Z, H, D, E, grads, seed, row):
    """Return Σ weight·loss of a batch after `forward`; grads = Σ weight·∂loss; E holds the δ of all layers."""
    m, last = X.shape[0], plan.n_in.size - 1
    k = plan.width[last]
    F = Z[m * plan.z_at[last] : m * (plan.z_at[last] + k)].reshape(m, k)
    delta = E[m * plan.z_at[last] : m * (plan.z_at[last] + k)].reshape(m, k)
    total = 0.0
    for i in range(m):
        total += weight[i] * loss_row(plan.loss, plan.loss_parameter, F[i], T[i], delta[i])
        for j in range(k):
            delta[i, j] *= weight[i]
    for l in range(last, -1, -1):
        columns = plan.width[l] * plan.pieces[l]
        delta = E[m * plan.z_at[l] : m * (plan.z_at[l] + columns)].reshape(m, columns)
        span = slice(plan.w_at[l], plan.w_at[l] + plan.n_in[l] * columns)
        gW = grads[span].reshape(plan.n_in[l], columns)
        gb = grads[plan.b_at[l] : plan.b_at[l] + columns]
        if l == 0:
            np.dot(X.T, delta, gW)
        else:
            part = slice(m * plan.h_at[l - 1], m * (plan.h_at[l - 1] + plan.width[l - 1]))
            source = D[part] if plan.dropout[l - 1] > 0.0 else H[part]
            np.dot(source.reshape(m, plan.n_in[l]).T, delta, gW)
        gb[:] = 0.0
        for i in range(m):
            for j in range(columns):
                gb[j] += delta[i, j]
        if l > 0:
            W = params[span].reshape(plan.n_in[l], columns)
            below = E[m * plan.z_at[l - 1] : m * (plan.z_at[l - 1] + plan.width[l - 1])].reshape(
                m, plan.n_in[l]
            )
            np.dot(delta, W.T, below)
            back_one_layer(below, plan, l - 1, m, Z, H, E, seed, row)
    return total


@compiled(**PART)
def back_one_layer(below, plan, l, m, Z, H, E, seed, row):
    """E of layer l, which begins with `below` = delta Wᵀ, times f′(z_l), through dropout and maxout."""
    width, pieces, p = plan.width[l], plan.pieces[l], plan.dropout[l]
    if p > 0.0:
        scale = 1.0 if plan.dropout_scaling else 1.0 / (1.0 - p)
        for i in range(m):
            for j in range(width):
                below[i, j] = below[i, j] * scale if kept(seed, row + i, l, j, p) else 0.0
    flat = E[m * plan.z_at[l] : m * (plan.z_at[l] + width * pieces)]
    z = Z[m * plan.z_at[l] : m * (plan.z_at[l] + width * pieces)]
    h = H[m * plan.h_at[l] : m * (plan.h_at[l] + width)]
    if pieces == 1:
        multiply_by_slope(plan.activation[l], z, h, flat)
        return
    for i in range(m * width - 1, -1, -1):  # from the end: the place of a piece is never before its unit's
        slope, free = flat[i], True
        for piece in range(pieces):
            won = free and z[i * pieces + piece] == h[i]
            flat[i * pieces + piece] = slope if won else 0.0
            if won:
                free = False


@compiled
def train_rows(
    X, T, weight, batch, plan, rule, params, grads, first, second, Z, H, D, E, rates, step, seed, norms
):
    """Train on rows in batches, in the order given; return the sum of loss·weight with penalty, and the largest
    slope met. A loss that is not finite ends the pass.
    """
    total, steepest = 0.0, 0.0
    for k in range((X.shape[0] + batch - 1) // batch):
        begin, end = k * batch, min((k + 1) * batch, X.shape[0])
        mass = 0.0
        for i in range(begin, end):
            mass += weight[i]
        if mass > 0.0:
            forward(X[begin:end], plan, params, Z, H, D, True, seed, begin)
            loss = backward(
                X[begin:end], T[begin:end], weight[begin:end], plan, params, Z, H, D, E, grads, seed, begin
            )
            total += loss + mass * add_penalty(plan, params, grads, mass, rule.alpha, rule.weight_decay)
            top = largest(grads)
            if not top <= steepest:
                steepest = top
            if not np.isfinite(total) or not np.isfinite(top):
                return np.nan, top
            note_norms(plan, grads, norms)
            if rule.clip_norm > 0.0:
                clip(grads, rule.clip_norm)
            if rule.solver < 0:  # only the gradient is asked for
                return total, top
            move(plan, rule, params, grads, first, second, rates[k], step + k + 1)
    return total, steepest
