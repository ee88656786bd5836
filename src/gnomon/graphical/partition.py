"""The normalizer of an undirected model without an exact sum: a lower bound, and an unbiased estimate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp

from gnomon.core.errors import DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.graphical.factor import Factor
from gnomon.graphical.junction import graph_of_factors
from gnomon.graphical.sampling import sweep_arrays
from gnomon.loops import factor_gibbs as gibbs_loops


def mean_field(
    factors: Sequence[Factor], tol: float = 1e-12, max_iter: int = 1000
) -> tuple[dict[str, Array], list[float]]:
    """Return independent marginals q that maximize E[ln φ] + H(q) ≤ ln Z locally, and the bound after every sweep."""
    variables, states, scopes, tables, _ = graph_of_factors(factors)
    if any((table <= 0).any() for table in tables):
        raise DegenerateError("mean field needs factors without zeros; use method='exact' or 'bethe'.")
    logs = [np.log(table) for table in tables]
    q = [np.full(len(own), 1.0 / len(own)) for own in states]
    members: list[list[int]] = [[] for _ in variables]
    for f, scope in enumerate(scopes):
        for v in scope:
            members[v].append(f)
    shift = sum(factor.log_scale for factor in factors)
    # a start off the symmetric point: marginals of the factors alone
    for v in range(len(variables)):
        field = sum(_expected(logs[f], scopes[f], q, v) for f in members[v])
        q[v] = np.exp(field - logsumexp(field)) if len(members[v]) else q[v]
    trace: list[float] = []
    for _ in range(max_iter):
        for v in range(len(variables)):
            if members[v]:
                field = sum(_expected(logs[f], scopes[f], q, v) for f in members[v])
                q[v] = np.exp(field - logsumexp(field))
        energy = sum(float(_expected(logs[f], scopes[f], q, None)) for f in range(len(logs)))
        entropy = -sum(float((p[p > 0] * np.log(p[p > 0])).sum()) for p in q)
        trace.append(energy + entropy + shift)
        if len(trace) > 1 and trace[-1] - trace[-2] <= tol * max(1.0, abs(trace[-1])):
            break
    return dict(zip(variables, q, strict=True)), trace


def _expected(logs: Array, scope: Sequence[int], q: Sequence[Array], keep: int | None) -> Array:
    """E[ln φ] over all variables of a factor but one."""
    for axis in range(len(scope) - 1, -1, -1):
        if scope[axis] != keep:
            logs = np.tensordot(logs, q[scope[axis]], axes=(axis, 0))
    return logs


def annealed(factors: Sequence[Factor], n_chains: int, n_steps: int, random_state: Any) -> float:
    """Return ln of an unbiased estimate of Z: chains go from the uniform distribution to the model in small steps."""
    variables, states, scopes, tables, _ = graph_of_factors(factors)
    if any((table <= 0).any() for table in tables):
        raise DegenerateError("annealing needs factors without zeros; use method='exact'.")
    cards = [len(own) for own in states]
    arrays, logs = sweep_arrays(scopes, tables, cards)
    rng = generator(random_state)
    codes = np.column_stack([rng.integers(k, size=n_chains) for k in cards])
    log_weights, now, free = np.zeros(n_chains), np.empty(n_chains), np.arange(len(cards))
    betas = np.linspace(0.0, 1.0, n_steps + 1)
    for before, after in zip(betas, betas[1:], strict=False):
        gibbs_loops.log_values(arrays, logs, codes, now)
        log_weights += (after - before) * now
        gibbs_loops.sweep(arrays, after * logs, codes, free, rng.random((n_chains, len(cards))))
    uniform = sum(math.log(k) for k in cards)
    shift = sum(factor.log_scale for factor in factors)
    return float(logsumexp(log_weights) - math.log(n_chains) + uniform + shift)
