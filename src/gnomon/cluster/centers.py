"""What k-means computes from its centers: nearest ones, sums around them, where empty ones go."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.cluster import lloyd, sparse_rows
from gnomon.cluster.frame import chunk_frame
from gnomon.core.linalg import Array
from gnomon.loops.distances import pairwise


class KMeansState(NamedTuple):
    """Centers, the assignment to them, and what it adds up to."""

    centers: Array  # (k, d)
    labels: Array  # (n,); empty while the rows are not in memory
    anchor: Array  # (k, d) the centers, or earlier ones while those are near
    sums: Array  # (k, d) Σ w (x − anchor)
    square: float  # Σ w ‖x − anchor‖²
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
    if sparse.issparse(chunk.X):
        found = sparse_rows.sums_by_label(chunk.X, chunk.weight, labels, k)
        squares = np.bincount(labels, chunk.weight * sparse_rows.squared_norms(chunk.X), k)
        return ClusterSums(np.bincount(labels, chunk.weight, k), found, squares)
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
    frame = chunk_frame(chunk.X, centers)
    return -float(chunk.weight @ lloyd.assign_chunk(chunk, centers, frame)[1]) / frame.scale / frame.scale


def distances_to(chunk: Any, centers: Array) -> Array:
    """Return the Euclidean distance of every row to every center, over its present entries."""
    if sparse.issparse(chunk.X):
        return np.sqrt(sparse_rows.squared_distances(chunk.X, centers)).astype(chunk.X.dtype, copy=False)
    metric = "observed_euclidean" if np.isnan(chunk.X.sum(dtype=np.float64)) else "euclidean"
    return pairwise(chunk.X, centers, metric).astype(chunk.X.dtype, copy=False)


def column(counts: Array) -> Array:
    """Return counts as (k, 1), or (k, d) where entries are missing."""
    return counts if counts.ndim == 2 else counts[:, None]


def new_centers(state: KMeansState) -> Array:
    """Return the mean of every cluster; a center without rows stays."""
    counts = column(state.counts)
    return np.where(counts > 0, state.anchor + state.sums / np.where(counts > 0, counts, 1.0), state.centers)


def movement(before: Array, after: Array, scale: float) -> float:
    """Return the summed squared movement of the centers, in the frame's unit."""
    if before.shape != after.shape:
        return np.inf
    return float((((after - before) * scale) ** 2).sum())


def carried(state: KMeansState, centers: Array, scale: float) -> lloyd.Known | None:
    """Return the sums that an assignment to these centers may start from, if their anchors are still near.

    A sum rounds at the distance from its anchor: within a few spreads, as if summed afresh.
    """
    far = movement(state.anchor, centers, scale) * state.counts.sum()
    if far > 4.0 * (state.cost * scale) * scale:
        return None
    return lloyd.Known(state.labels, state.anchor, state.sums, state.square)


def state_of(
    centers: Array, labels: Array, found: lloyd.Assignment, known: lloyd.Known | None
) -> KMeansState:
    """Return the state of an assignment, whose cost follows from the sums about the anchors."""
    anchor, cost = centers, float(found.cost)
    if known is not None:
        anchor, step = known.anchor, centers - known.anchor
        cost += float((step * (column(found.counts) * step - 2.0 * found.sums)).sum())
    none = np.zeros(0)
    return KMeansState(
        centers=centers,
        labels=labels,
        anchor=anchor,
        sums=found.sums,
        square=float(found.cost),
        counts=found.counts,
        cost=max(cost, 0.0),
        changed=int(np.asarray(found.changed).ravel()[0]),
        settled=False,
        half_steps=np.zeros((0, 2)),
        seed_rows=none,
        seed_costs=none,
        restarts=none,
    )


def without(state: KMeansState, empty: Array) -> KMeansState:
    """Remove the empty clusters."""
    keep = np.setdiff1d(np.arange(len(state.centers)), empty)
    place = np.zeros(len(state.centers), dtype=np.int32)
    place[keep] = np.arange(len(keep))
    return state._replace(
        centers=state.centers[keep],
        anchor=state.anchor[keep],
        sums=state.sums[keep],
        counts=state.counts[keep],
        labels=place[state.labels],
    )


def relocate(state: KMeansState, empty: Array, far: lloyd.Farthest, scale: float) -> KMeansState:
    """Give each empty cluster one of the far rows, before the means are taken.

    What a row does not tell is taken from the center it leaves.
    """
    centers, anchor = state.centers.copy(), state.anchor.copy()
    sums, counts, cost = state.sums.copy(), state.counts.copy(), state.cost
    waiting = list(empty)
    for distance, point, label, weight in zip(*far, strict=True):
        seen = ~np.isnan(point)
        left = counts[label] - (weight if counts.ndim == 1 else weight * seen)
        if waiting and distance > 0 and np.all(left[seen] > 0 if counts.ndim == 2 else left > 0):
            whole = np.where(seen, point, centers[label])
            counts[label] = left
            sums[label] -= np.where(seen, weight * (point - anchor[label]), 0.0)
            cost -= weight * distance / scale / scale
            k = waiting.pop(0)
            centers[k] = anchor[k] = whole
            counts[k] = weight if counts.ndim == 1 else weight * seen
    return state._replace(centers=centers, anchor=anchor, sums=sums, counts=counts, cost=cost)
