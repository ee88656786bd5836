"""What k-means computes from its centers: nearest ones, sums around them, where empty ones go."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.cluster import lloyd
from gnomon.core.linalg import Array
from gnomon.loops.distances import pairwise


class KMeansState(NamedTuple):
    """Centers, the assignment to them, and what it adds up to."""

    centers: Array  # (k, d)
    labels: Array  # (n,); empty while the rows are not in memory
    sums: Array  # (k, d) Σ w (x − center)
    counts: Array  # (k,), or (k, d) where entries are missing
    cost: float
    changed: int  # labels that changed; for rows that are not in memory, a checksum of the labels
    settled: bool  # the last step changed no label
    half_steps: Array  # (steps, 2) cost after assignment, after the means
    seed_rows: Array
    seed_costs: Array
    restarts: Array  # final objectives of the earlier starts


class ClusterSums(NamedTuple):
    """Σw, Σwx and Σw‖x‖² of every cluster; they add over blocks of rows."""

    weight: Array  # (k,)
    sums: Array  # (k, d)
    squares: Array  # (k,)


def cluster_sums(chunk: Any, centers: Array) -> ClusterSums:
    """Partial sum of `ClusterSums`."""
    labels, k = nearest_labels(chunk, centers), len(centers)
    X = np.asarray(chunk.X, dtype=np.float64)
    sums = np.zeros(centers.shape)
    np.add.at(sums, labels, chunk.weight[:, None] * X)
    squares = np.bincount(labels, chunk.weight * np.einsum("ij,ij->i", X, X), k)
    return ClusterSums(np.bincount(labels, chunk.weight, k), sums, squares)


def nearest_labels(chunk: Any, centers: Array) -> Array:
    """Return the label of every row."""
    return lloyd.assign_chunk(chunk, centers)[0]


def negative_cost(chunk: Any, centers: Array) -> float:
    """Partial sum of minus the cost."""
    frame = lloyd.chunk_frame(chunk.X, centers)
    return -float(chunk.weight @ lloyd.assign_chunk(chunk, centers, frame)[1]) / frame.scale / frame.scale


def distances_to(chunk: Any, centers: Array) -> Array:
    """Return the Euclidean distance of every row to every center, over its present entries."""
    metric = "observed_euclidean" if np.isnan(chunk.X.sum(dtype=np.float64)) else "euclidean"
    return pairwise(chunk.X, centers, metric).astype(chunk.X.dtype, copy=False)


def column(counts: Array) -> Array:
    """Return counts as (k, 1), or (k, d) where entries are missing."""
    return counts if counts.ndim == 2 else counts[:, None]


def new_centers(state: KMeansState) -> Array:
    """Move every center by its mean residual; one without rows stays."""
    counts = column(state.counts)
    return state.centers + state.sums / np.where(counts > 0, counts, 1.0)


def relocate(state: KMeansState, empty: Array, far: lloyd.Farthest, scale: float) -> KMeansState:
    """Give each empty cluster one of the far rows, before the means are taken."""
    centers, sums, counts, cost = state.centers.copy(), state.sums.copy(), state.counts.copy(), state.cost
    waiting = list(empty)
    for distance, point, label, weight in zip(*far, strict=True):
        if waiting and distance > 0 and counts[label] > weight:
            counts[label] -= weight
            sums[label] -= weight * (point - centers[label])
            cost -= weight * distance / scale / scale
            k = waiting.pop(0)
            centers[k], counts[k] = point, weight
    return state._replace(centers=centers, sums=sums, counts=counts, cost=cost)
