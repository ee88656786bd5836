"""State paths of one sequence: log tables, enumeration, the n best, and drawing."""

from __future__ import annotations

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array, log_sum_exp
from gnomon.loops import chains as loops
from gnomon.sequence.recursions import HiddenChain, log


def log_tables(chain: HiddenChain, table: Array, convention: str) -> tuple[Array, Array, float]:
    """Return ln α, ln β and ln p in the standard or the shifted convention."""
    if convention not in ("standard", "shifted"):
        raise DataError(f"convention must be 'standard' or 'shifted'; got {convention!r}.")
    T, A, stop = len(table), log(chain.trans), log(chain.stops())
    alpha, beta = np.empty_like(table), np.empty_like(table)
    shifted = convention == "shifted"
    alpha[0] = log(chain.start) + (0.0 if shifted else table[0])
    beta[-1] = stop + (table[-1] if shifted else 0.0)
    for t in range(1, T):
        before = alpha[t - 1] + (table[t - 1] if shifted else 0.0)
        alpha[t] = log_sum_exp(before[:, None] + A, axis=0) + (0.0 if shifted else table[t])
    for t in range(T - 2, -1, -1):
        after = beta[t + 1] + (0.0 if shifted else table[t + 1])
        beta[t] = log_sum_exp(A + after, axis=1) + (table[t] if shifted else 0.0)
    return alpha, beta, float(log_sum_exp(alpha[-1] + beta[-1]))


def all_paths(chain: HiddenChain, table: Array, max_paths: int) -> tuple[Array, Array]:
    """Return every path, (K**T, T), and its joint log-probability."""
    T, K = table.shape
    if K**T > max_paths:
        raise DataError(f"{K} states over {T} rows make {K}**{T} paths, more than max_paths={max_paths}.")
    every = np.stack(np.unravel_index(np.arange(K**T), (K,) * T), axis=1)
    scores = log(chain.start)[every[:, 0]] + table[np.arange(T), every].sum(axis=1)
    scores += log(chain.trans)[every[:, :-1], every[:, 1:]].sum(axis=1) + log(chain.stops())[every[:, -1]]
    return every, scores


def best_several(chain: HiddenChain, table: Array, n: int) -> tuple[Array, Array]:
    """The n best paths: Viterbi that keeps n candidates for every state."""
    T, K = table.shape
    A = log(chain.trans)
    score = np.full((K, n), -np.inf)
    score[:, 0] = log(chain.start) + table[0]
    back = np.zeros((T, K, n), dtype=np.int64)  # candidate before: state * n + rank
    for t in range(1, T):
        joint = (score[:, :, None] + A[:, None, :]).reshape(K * n, K)
        order = np.argsort(-joint, axis=0, kind="stable")[:n]
        back[t] = order.T
        score = np.take_along_axis(joint, order, axis=0).T + table[t][:, None]
    final = (score + log(chain.stops())[:, None]).ravel()
    order = np.argsort(-final, kind="stable")[:n]
    order = order[np.isfinite(final[order])]
    found = np.empty((len(order), T), dtype=np.int64)
    for row, place in enumerate(order):
        for t in range(T - 1, -1, -1):
            found[row, t] = place // n
            place = back[t, place // n, place % n]
    return final[order], found


def draw_states(chain: HiddenChain, start: Array, n: int, rng: np.random.Generator) -> Array:
    """Draw a path of at most n states; it ends sooner where the chain stops."""
    K = len(start)
    if chain.end is None:
        states = np.empty(n, dtype=np.int64)
        loops.walk(np.cumsum(start), np.cumsum(chain.trans, axis=1), rng.random(n), states)
        return states
    M = np.zeros((K + 1, K + 1))  # the stop is one more state that is never left
    M[:K, :K], M[:K, K], M[K, K] = chain.trans, chain.end, 1.0
    parts, begin, size = [], np.append(start, 0.0), min(n, 256)
    while True:
        states = np.empty(size, dtype=np.int64)
        loops.walk(np.cumsum(begin), np.cumsum(M, axis=1), rng.random(size), states)
        alive = states[states < K]
        parts.append(alive)
        done = sum(map(len, parts))
        if len(alive) < size or done >= n:
            return np.concatenate(parts)[:n]
        begin, size = M[states[-1]], min(size * 2, n - done)
