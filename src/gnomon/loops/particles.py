"""Resampling of weighted particles. Weights are normalized; indices come out in ascending order."""

import numpy as np

from gnomon.loops._compile import compiled


@compiled
def normalize_logs(log_weights, weights):
    """weights = exp(log_weights) / their sum; returns (ln of the sum, sum of squared weights)."""
    n = log_weights.shape[0]
    top = -np.inf
    for i in range(n):
        top = max(top, log_weights[i])
    if not top > -np.inf:
        return -np.inf, 0.0
    total = 0.0
    for i in range(n):
        weights[i] = np.exp(log_weights[i] - top)
        total += weights[i]
    square = 0.0
    for i in range(n):
        weights[i] /= total
        square += weights[i] * weights[i]
    return top + np.log(total), square


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
