"""Where Baum–Welch begins: random chains, spread-out centers, responsibilities for any family."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.canonical import order_by_value
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.rows import Chunk, Rows
from gnomon.core.sums import per_row

SAMPLE_ROWS = 10_000


def sampled(chunk: Chunk, stride: int) -> Array:
    """Every stride-th row, counted over the whole data, so that chunks do not matter."""
    first = -chunk.start % stride
    return np.asarray(chunk.X[first::stride], dtype=np.float64)


def sample_rows(rows: Rows) -> Array:
    """Return at most SAMPLE_ROWS evenly spaced rows, sorted, so that the order of sequences does not
    matter.
    """
    X = np.asarray(per_row(sampled, rows, max(1, -(-rows.n_rows // SAMPLE_ROWS))))
    if np.abs(X[np.isfinite(X)]).max(initial=0.0) > 1e150:
        raise DataError("X holds entries so large that their squares overflow. Scale the columns.")
    return X[order_by_value(X)]


def random_start(K: int, rng: np.random.Generator) -> Array:
    """Draw a start distribution evenly from the simplex."""
    return rng.dirichlet(np.ones(K))


def random_transitions(mask: Array, rng: np.random.Generator) -> Array:
    """Dirichlet rows over the allowed entries, half of each moved onto the diagonal where that is allowed."""
    draws = rng.standard_gamma(1.0, mask.shape) * mask
    rows = draws / np.maximum(draws.sum(axis=1, keepdims=True), 1e-300)  # a state may stop and do no more
    stay = np.diag(mask)[:, None]
    return np.where(stay, 0.5 * rows + 0.5 * np.eye(len(mask)), rows)


def filled(X: Array) -> Array:
    """Put column means where entries are missing."""
    missing = np.isnan(X)
    if not missing.any():
        return X
    counts = np.maximum((~missing).sum(axis=0), 1)
    return np.where(missing, np.where(missing, 0.0, X).sum(axis=0) / counts, X)


def squared_distances(X: Array, centers: Array) -> Array:
    """Squared distances of rows to centers, (n, K)."""
    gaps = (X * X).sum(axis=1)[:, None] - 2.0 * (X @ centers.T) + (centers * centers).sum(axis=1)
    return np.maximum(gaps, 0.0)


def spread_centers(X: Array, K: int, rng: np.random.Generator, *, sweeps: int = 10) -> tuple[Array, Array]:
    """Return K centers by k-means++ and a few sweeps of k-means, and the nearest center of every row."""
    X = filled(X)
    middle = X.mean(axis=0)
    Z = X - middle
    chosen = [int(rng.integers(len(Z)))]
    nearest = squared_distances(Z, Z[chosen])[:, 0]
    for _ in range(K - 1):
        total = nearest.sum()
        p = nearest / total if total > 0 else np.full(len(Z), 1.0 / len(Z))
        chosen.append(int(rng.choice(len(Z), p=p)))
        nearest = np.minimum(nearest, squared_distances(Z, Z[chosen[-1:]])[:, 0])
    centers = Z[chosen]
    for _ in range(sweeps):
        labels = squared_distances(Z, centers).argmin(axis=1)
        counts = np.bincount(labels, minlength=K)
        sums = np.zeros_like(centers)
        np.add.at(sums, labels, Z)
        centers = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centers)
    return centers + middle, squared_distances(Z, centers).argmin(axis=1)


def soft_labels(X: Array, K: int, rng: np.random.Generator) -> Array:
    """Responsibilities that lean to one of K spread-out groups of rows: a start for any family."""
    seen = ~np.isnan(X)
    gaps = np.where(seen, filled(X) - filled(X).mean(axis=0), 0.0)
    gaps = np.where(seen, gaps - gaps.sum(axis=0) / np.maximum(seen.sum(axis=0), 1), 0.0)
    scale = np.sqrt((gaps**2).sum(axis=0) / np.maximum(seen.sum(axis=0), 1))
    scale = np.where(scale > 0, scale, 1.0)
    _, labels = spread_centers(X / scale, K, rng)
    lean = 0.7 * np.eye(K)[labels] + 0.3 * rng.dirichlet(np.ones(K), len(X))
    return np.ascontiguousarray(lean)


def start_family(prototype: Any, X: Array, K: int, rng: np.random.Generator) -> Any:
    """Fit a stack of K distributions of the prototype's kind to softly grouped rows."""
    if getattr(prototype, "fitted", False) and prototype.n_components == K:
        return prototype
    return prototype.estimate(prototype.statistics(X, soft_labels(X, K, rng)))
