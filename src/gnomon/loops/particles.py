"""Moves, weights and resampling of particles, one a row. Indices come out in ascending order."""

from gnomon.loops._compile import compiled


@compiled(fastmath=True)
def map_linearly(s, C, c, noise, R, out):
    """out[i] = C s[i] + c + R noise[i]."""
    n, d = s.shape
    for j in range(d):
        for i in range(n):
            total = c[j] + C[j, 0] * s[i, 0] + R[j, 0] * noise[i, 0]
            for k in range(1, d):
                total += C[j, k] * s[i, k] + R[j, k] * noise[i, k]
            out[i, j] = total


@compiled(fastmath=True)
def gaussian_logs(s, gap, D, constant, out):
    """out[i] = constant - |gap - D s[i]|^2 / 2."""
    n, d = s.shape
    out[:] = constant
    for j in range(gap.shape[0]):
        for i in range(n):
            rest = gap[j] - D[j, 0] * s[i, 0]
            for k in range(1, d):
                rest -= D[j, k] * s[i, k]
            out[i] -= 0.5 * rest * rest


@compiled(fastmath=True)
def normalize(weights):
    """Divide weights by their sum; returns the sum and the sum of the new weights' squares."""
    total, square = 0.0, 0.0
    for i in range(weights.shape[0]):
        total += weights[i]
        square += weights[i] * weights[i]
    inverse = 1.0 / total
    for i in range(weights.shape[0]):
        weights[i] *= inverse
    return total, square * inverse * inverse


@compiled(fastmath=True)
def weighted_moments(s, weights, mean, covariance):
    """Mean and covariance of the rows of s, in two passes."""
    n, d = s.shape
    for j in range(d):
        total = 0.0
        for i in range(n):
            total += weights[i] * s[i, j]
        mean[j] = total
    for j in range(d):
        for k in range(j + 1):
            a, b, total = mean[j], mean[k], 0.0
            for i in range(n):
                total += weights[i] * (s[i, j] - a) * (s[i, k] - b)
            covariance[j, k] = total
            covariance[k, j] = total


@compiled
def pick_sorted(weights, points, chosen):
    """chosen[i] = the particle whose share of [0, 1) holds points[i]; points ascend."""
    last = weights.shape[0] - 1
    j = 0
    reached = weights[0]
    for i in range(points.shape[0]):
        while reached <= points[i] and j < last:
            j += 1
            reached += weights[j]
        chosen[i] = j


@compiled
def trace_back(ancestors, last, path):
    """path[t] = index of the particle at time t that led to particle `last` of the final time."""
    k = last
    for t in range(path.shape[0] - 1, -1, -1):
        path[t] = k
        k = ancestors[t, k]
