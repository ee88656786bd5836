"""Where topics start: at the company that a few words keep."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array
from gnomon.core.sums import Chunk, total

NOISE_SHAPE = 100.0  # of the gamma draws around 1 that every topic has
COMPANY = 0.5  # pseudo-counts of a topic that come from its word, as a share of the draws


def first_topics(rows: Any, K: int, rng: np.random.Generator) -> Array:
    """Pseudo-counts (K, V): noise around 1, plus the mean of the documents in which a word occurs.

    Words are drawn by how often they occur, one a topic. Topics that start from noise alone are nearly equal: several
    then end at one subject. Those of different words begin with different subjects. Sums over documents are all that is
    needed, so their order, the threads and the place of the data play no part.
    """
    totals = np.asarray(total(word_totals, rows))
    noise = rng.gamma(NOISE_SHAPE, 1.0 / NOISE_SHAPE, size=(K, len(totals)))
    mass, there = float(totals.sum()), np.count_nonzero(totals)
    if not mass > 0 or not np.isfinite(mass):
        return noise
    words = rng.choice(len(totals), size=K, replace=there < K, p=totals / mass)
    company = np.asarray(total(company_of, rows, words))
    whole = company.sum(axis=1, keepdims=True)
    return noise + COMPANY * len(totals) * company / np.where(whole > 0, whole, 1.0)


def word_totals(chunk: Chunk) -> Array:
    """Weighted counts of every word."""
    return np.asarray(chunk.X.T @ chunk.weight, dtype=np.float64).ravel()


def company_of(chunk: Chunk, words: Array) -> Array:
    """Σ_d w_d x_dv · x_d/|x_d| for every word v of `words`, (K, V)."""
    X = sparse.csr_array(chunk.X, dtype=np.float64)
    lengths = np.asarray(X.sum(axis=1)).ravel()
    scale = chunk.weight / np.where(lengths > 0, lengths, 1.0)
    return (X[:, words].T @ (sparse.diags_array(scale) @ X)).toarray()
