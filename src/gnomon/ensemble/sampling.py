"""Bootstrap samples as counts, drawn in an order that the content of the rows decides.

A row of weight two is drawn like two rows: draws are positions in the sample sorted by content, so that
repeating, weighting or shuffling rows gives the same resample. Weights that are not whole numbers, or too
large to be repetitions, are draw probabilities.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray
MANY_DRAWS = 10_000_000


class SamplingPool(NamedTuple):
    """What bootstrap samples are drawn from."""

    order: Array  # rows sorted by content
    ends: Array  # cumulated weights in that order
    size: int  # draws of a full sample
    whole: bool  # weights are repetitions


def content_order(X: Array, y: Any = None) -> Array:
    """Return the rows sorted by a hash of their content; equal rows are neighbors."""
    key = np.zeros(len(X), dtype=np.uint64)
    columns = [X[:, j] for j in range(X.shape[1])]
    if y is not None:
        columns += list(np.reshape(y, (len(X), -1)).T)
    for column in columns:
        bits = (np.asarray(column, dtype=np.float64) + 0.0).view(np.uint64)
        key = (key ^ bits) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return np.argsort(key, kind="stable")


def make_pool(X: Array, y: Any, weight: Array) -> SamplingPool:
    """Return the pool of weighted rows."""
    order = content_order(X, y)
    most = max(MANY_DRAWS, 100 * len(weight))
    whole = bool(np.array_equal(weight, np.floor(weight)) and (weight / most).sum() <= 1.0)
    ends = np.cumsum(weight[order] if whole else weight[order] / weight.max())
    return SamplingPool(order, ends, int(ends[-1]) if whole else len(weight), whole)


def draw_counts(pool: SamplingPool, n_draws: int, rng: np.random.Generator) -> Array:
    """Return how many times each row is drawn in `n_draws` draws with replacement."""
    if pool.whole and pool.size == len(pool.order):
        places = rng.integers(0, pool.size, n_draws)
    elif pool.whole:
        places = np.searchsorted(pool.ends, rng.integers(0, pool.size, n_draws), side="right")
    else:
        places = np.searchsorted(pool.ends, rng.random(n_draws) * pool.ends[-1], side="right")
    counts = np.zeros(len(pool.order))
    counts[pool.order] = np.bincount(places, minlength=len(pool.order))
    return counts


def n_draws(max_samples: Any, size: int) -> int:
    """Return the number of draws from a number, a share or None (a full sample)."""
    if max_samples is None:
        return size
    if isinstance(max_samples, float):
        return max(1, round(max_samples * size))
    return int(max_samples)
