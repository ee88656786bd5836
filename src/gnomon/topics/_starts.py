"""Where topics start: at the company that a few words keep."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array
from gnomon.core.rows import sparse_blocks
from gnomon.core.sums import Chunk, total

NOISE_SHAPE = 100.0  # of the gamma draws around 1 that every topic has
CANDIDATES = 3  # words a topic to choose from
COMPANY = 0.5  # pseudo-counts of a topic that come from its word, as a share of the draws


def first_topics(rows: Any, K: int, rng: np.random.Generator) -> Array:
    """Pseudo-counts (K, V): noise around 1, plus the mean of the documents in which a word occurs.

    Words are drawn by how often they occur, and of these one a topic, each likelier the more its company differs from
    that of the words before it. Topics that start from noise alone are nearly equal: several then end at one subject.
    Sums over documents are all that is needed, so their order, the threads and the place of the data play no part.
    """
    totals = np.asarray(total(word_totals, rows))
    noise = rng.gamma(NOISE_SHAPE, 1.0 / NOISE_SHAPE, size=(K, len(totals)))
    mass, there = float(totals.sum()), int(np.count_nonzero(totals))
    if not mass > 0 or not np.isfinite(mass):
        return noise
    words = rng.choice(len(totals), size=min(CANDIDATES * K, there), replace=False, p=totals / mass)
    company = np.asarray(total(company_of, rows, words))
    company /= np.maximum(company.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return noise + COMPANY * len(totals) * company[spread_out(company, K, rng)]


def spread_out(company: Array, K: int, rng: np.random.Generator) -> Array:
    """K rows, the first one and then others by their squared Hellinger distance to the nearest one taken."""
    roots = np.sqrt(company)
    taken, gap = [0], np.full(len(roots), 2.0)
    for _ in range(K - 1):
        gap = np.minimum(gap, np.maximum(2.0 - 2.0 * (roots @ roots[taken[-1]]), 0.0))
        gap[gap < 1e-9] = 0.0  # the same company, up to rounding
        mass = float(gap.sum())
        taken.append(int(rng.choice(len(gap), p=gap / mass)) if mass > 0 else int(rng.integers(len(gap))))
    return np.array(taken)


def word_totals(chunk: Chunk) -> Array:
    """Weighted counts of every word."""
    return np.asarray(chunk.X.T @ chunk.weight, dtype=np.float64).ravel()


def company_of(chunk: Chunk, words: Array) -> Array:
    """Σ_d w_d x_dv · x_d/|x_d| for every word v of `words`, (K, V)."""
    found = np.zeros((len(words), chunk.X.shape[1]))
    for part, X in sparse_blocks(sparse.csr_array(chunk.X, dtype=np.float64)):
        lengths = np.asarray(X.sum(axis=1)).ravel()
        scale = chunk.weight[part] / np.where(lengths > 0, lengths, 1.0)
        found += X[:, words].T @ (sparse.diags_array(scale) @ X)
    return found
