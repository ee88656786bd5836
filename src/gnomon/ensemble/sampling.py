"""Bootstrap samples as counts, drawn in an order that the content of the rows decides.

A row of weight two is drawn like two rows: draws are positions in the sample sorted by content, so that
repeating, weighting or shuffling rows gives the same resample. Weights that are not whole numbers, or too
large to be repetitions, are draw probabilities.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

Array = np.ndarray
MANY_DRAWS = 10_000_000


class SamplingPool(NamedTuple):
    """What bootstrap samples are drawn from."""

    order: Array  # rows sorted by content
    ends: Array  # cumulated weights in that order
    size: int  # draws of a full sample
    whole: bool  # weights are repetitions


def content_order(X: Any, y: Any = None) -> Array:
    """Return the rows sorted by a hash of their content; equal rows are neighbors.

    The hash is a sum over the entries that are not zero, so a sparse matrix has the order of the dense one.
    """
    n, d = X.shape
    key = np.zeros(n, dtype=np.uint64)
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        row = np.repeat(np.arange(n), np.diff(X.indptr))
        np.add.at(key, row, _entry_keys(X.data, X.indices.astype(np.uint64)))
    else:
        for j in range(d):
            key += _entry_keys(X[:, j], np.uint64(j))
    if y is not None:
        for j, column in enumerate(np.reshape(y, (n, -1)).T):
            key += _entry_keys(column, np.uint64(d + j))
    return np.argsort(key, kind="stable")


def _entry_keys(values: Array, column: Any) -> Array:
    """Return one number for every value and its column; 0 for a zero."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)
    column = np.atleast_1d(np.asarray(column, dtype=np.uint64))  # arrays wrap around without a warning
    found = (bits ^ (column * np.uint64(0xBF58476D1CE4E5B9))) * np.uint64(0x9E3779B97F4A7C15)
    found ^= found >> np.uint64(29)
    found *= np.uint64(0x94D049BB133111EB)
    found ^= found >> np.uint64(32)
    return np.where(bits == 0, np.uint64(0), found)


def make_pool(X: Any, y: Any, weight: Array) -> SamplingPool:
    """Return the pool of weighted rows."""
    order = content_order(X, y)
    most = max(MANY_DRAWS, 100 * len(weight))
    whole = bool(np.array_equal(weight, np.floor(weight)) and (weight / most).sum() <= 1.0)
    ends = np.cumsum(weight[order] if whole else weight[order] / weight.max())
    return SamplingPool(order, ends, int(ends[-1]) if whole else len(weight), whole)


def draw_places(pool: SamplingPool, n_draws: int, rng: np.random.Generator) -> Array:
    """Return `n_draws` places in the order of the pool, drawn with replacement."""
    if pool.whole and pool.size == len(pool.order):
        return rng.integers(0, pool.size, n_draws)
    if pool.whole:
        return np.searchsorted(pool.ends, rng.integers(0, pool.size, n_draws), side="right")
    return np.searchsorted(pool.ends, rng.random(n_draws) * pool.ends[-1], side="right")


def draw_counts(pool: SamplingPool, n_draws: int, rng: np.random.Generator) -> Array:
    """Return how many times each row is drawn in `n_draws` draws with replacement."""
    places = draw_places(pool, n_draws, rng)
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
