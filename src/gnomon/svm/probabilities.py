"""Probabilities from decisions: one temperature, fitted to leave-one-out decisions that need no second fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, optimize

from gnomon.core.linalg import Array


def left_out(machine: Any, K: Array) -> Array:
    r"""Return the decision of every row by the machine without it, by the span rule.

    .. math:: y_i(f(x_i) - f^{(i)}(x_i)) = \alpha_i S_i^2

    S_i is the distance of φ(x_i) to the span of the other free support vectors (Vapnik & Chapelle, 2000). It is exact
    as long as leaving the row out changes no other row's kind.
    """
    beta, sign = machine.beta, machine.sign
    alpha = np.abs(beta)
    f = K @ beta + machine.intercept
    used = np.flatnonzero(alpha > 0)
    top = machine.cost[used]
    free = used[alpha[used] < np.where(np.isfinite(top), top * (1 - 1e-8), np.inf)]
    span = np.zeros(len(beta))
    m = len(free)
    size = float(np.abs(np.diagonal(K)).mean()) or 1.0
    system = np.zeros((m + 1, m + 1))
    system[:m, :m], system[:m, m], system[m, :m] = K[np.ix_(free, free)] / size, 1.0, 1.0
    system[np.arange(m), np.arange(m)] += 1e-10
    inverse = linalg.pinvh(system) if m else np.zeros((1, 1))
    if m:
        span[free] = size / np.maximum(np.diagonal(inverse)[:m], 1e-12)
    bound = np.setdiff1d(used, free)
    if len(bound):
        V = np.column_stack([K[np.ix_(bound, free)] / size, np.ones(len(bound))])
        reach = np.diagonal(K)[bound] - size * np.einsum("ij,ij->i", V @ inverse, V)
        span[bound] = np.maximum(reach, 0.0)
    return f - sign * alpha * span


def temperature(model: Any, state: Any, data: Any, machines: list[Any]) -> float:
    """Return the scale a of p ∝ exp(a · decision) that suits the left-out decisions best."""
    from gnomon.svm.pairwise import votes_and_confidence

    kernel = model._kernel_for(data.n_features, state.gamma)
    X = model._chosen(data, state.kept)
    K = np.asarray(kernel(X))
    codes, weight, count = data.y[state.kept], data.weight[state.kept], len(data.classes)
    found = np.zeros((len(codes), len(machines)))
    for m, machine in enumerate(machines):
        full = np.zeros(len(codes))
        full[machine.rows] = machine.beta
        found[:, m] = K @ full + machine.intercept
        found[machine.rows, m] = left_out(machine, K[np.ix_(machine.rows, machine.rows)])
    if count == 2:
        scores = np.column_stack([np.zeros(len(codes)), found[:, 0]])
    else:
        scores = votes_and_confidence(found, count) if model.multi_class == "ovo" else found
    return best_temperature(scores, codes, weight)


def best_temperature(scores: Array, codes: Array, weight: Array) -> float:
    """Return a > 0 of largest likelihood with a little of a prior, so that perfect scores stay finite."""
    mine = scores[np.arange(len(codes)), codes]

    def loss(log_a: float) -> float:
        a = np.exp(log_a)
        z = a * (scores - mine[:, None])
        return float(weight @ np.logaddexp.reduce(z, axis=1)) + 0.01 * log_a**2

    found = optimize.minimize_scalar(loss, bounds=(-8.0, 8.0), method="bounded", options={"xatol": 1e-10})
    return float(np.exp(found.x))
