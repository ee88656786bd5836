"""Lloyd's two half-steps: exact assignment, and the sums from which the means follow.

In memory, triangle-inequality bounds spare most distance computations (`bounds.py`); from Parquet and on Dask the
same assignment runs chunk by chunk. The labels are exact either way, so the iterates are the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.cluster import sparse_rows
from gnomon.cluster.frame import Frame, chunk_frame
from gnomon.core.linalg import Array
from gnomon.loops import kmeans as loops
from gnomon.loops import kmeans_few

FEW_PRODUCTS = 2**13  # of rows, centers and columns, below which screens and bounds cost more than they spare
NARROW = 3  # columns up to which all distances cost less than a look at the bounds
NEAR_CENTERS = 50  # where there are no more centers than so many


def direct_loop(X: Array, k: int) -> Any:
    """Return the loop that takes all distances, where that costs least; else None."""
    if X.size * k <= FEW_PRODUCTS:
        return kmeans_few.assign_few
    return kmeans_few.assign_narrow if X.shape[1] <= NARROW and k <= NEAR_CENTERS else None


class Groups(NamedTuple):
    """Centers in groups; every row keeps one lower bound for each group."""

    order: Array  # (k,) centers, group by group
    bounds: Array  # (t+1,) where the groups begin


def group_centers(centers: Array, t: int) -> Groups:
    """Put nearby centers into about `t` groups, by a few rounds of Lloyd on the centers."""
    k = len(centers)
    if t <= 1 or t >= k:
        return Groups(np.arange(k), np.array([0, k]) if t <= 1 else np.arange(k + 1))
    heads = centers[np.linspace(0, k - 1, t).astype(int)].copy()
    for _ in range(5):
        label = (((centers**2).sum(1)[:, None] + (heads**2).sum(1)) - 2 * centers @ heads.T).argmin(axis=1)
        for g in np.unique(label):
            heads[g] = centers[label == g].mean(axis=0)
    found, label = np.unique(label, return_inverse=True)
    order = np.argsort(label, kind="stable")
    return Groups(order, np.searchsorted(label[order], np.arange(len(found) + 1)))


class Screen(NamedTuple):
    """The centers as the compiled sweep wants them."""

    centers: Array
    scale: float
    shift: Array
    matrix: Array  # (k, d) float32
    half: Array  # (k,) float32
    reach: float


def screen_of(centers: Array, frame: Frame, order: Array) -> Screen:
    """Shift, scale, order and round the centers."""
    inside = (centers - frame.shift) * frame.scale
    norms = np.einsum("ij,ij->i", inside, inside)
    matrix = np.ascontiguousarray(inside[order], dtype=np.float32)
    half = (norms[order] / 2).astype(np.float32)
    return Screen(centers, frame.scale, frame.shift, matrix, half, float(np.sqrt(norms.max(initial=0.0))))


class Assignment(NamedTuple):
    """What an assignment adds up to: residual sums about an anchor, weights, cost, and what changed."""

    sums: Array  # (k, d) Σ w (x − anchor); the anchors are the centers, or earlier ones
    counts: Array  # (k,) Σ w; (k, d) where entries are missing
    cost: float  # Σ w ‖x − anchor‖²
    changed: Any  # labels that changed; from files, a checksum of the labels


class Known(NamedTuple):
    """Residuals of earlier labels about their anchors, summed."""

    labels: Array  # (n,)
    anchor: Array  # (k, d)
    sums: Array  # (k, d) Σ w (x − anchor)
    square: float  # Σ w ‖x − anchor‖²


def plain(X: Array) -> Array:
    """Return X as the loops want it: C order, and read-only so that one compiled version serves all."""
    if sparse.issparse(X):
        return X
    if not (X.flags.c_contiguous and X.flags.aligned):
        X = np.require(X, requirements=["C", "A"])
    view = X.view()
    view.flags.writeable = False
    return view


def row_blocks(n: int) -> list[tuple[int, int]]:
    """Cut n rows into blocks that the data alone decide: some for every core, none too small to hand out."""
    step = max(loops.STRETCH, -(-n // 32))
    return [(start, min(start + step, n)) for start in range(0, n, step)]


def add_assignments(parts: Any) -> Assignment:
    """Add in order, in place."""
    parts = iter(parts)
    first = next(parts)
    sums, counts, cost, changed = first
    for part in parts:
        sums += part.sums
        counts += part.counts
        cost += part.cost
        changed += part.changed
    return Assignment(sums, counts, cost, changed)


def assign_chunk(chunk: Any, centers: Array, frame: Frame | None = None) -> Any:
    """Return the nearest centers of a chunk's rows, and their squared distances in units of 1/scale²."""
    X = plain(chunk.X)
    m, k = X.shape[0], len(centers)
    frame = chunk_frame(X, centers) if frame is None else frame
    if sparse.issparse(X):
        return sparse_rows.nearest(X * frame.scale, centers * frame.scale)
    labels, near = np.zeros(m, dtype=np.int32), np.empty(m)
    if np.isnan(X.sum(dtype=np.float64)):
        sums = np.zeros(centers.shape)
        loops.assign_observed(X, chunk.weight, 0, m, centers, frame.scale, labels, near, sums, sums.copy())
        return labels, near
    loop = direct_loop(X, k)
    if loop is not None:
        loop(X, 0, m, centers, frame.scale, labels, near)
        return labels, near
    norms = np.empty(m)
    loops.row_norms(X, 0, m, frame.shift, frame.scale, norms)
    one = Groups(np.arange(k), np.array([0, k]))
    screen = screen_of(centers, frame, one.order)
    still = np.zeros(1), 0.0, np.zeros(k)  # nothing has moved
    bounds = np.zeros((m, 1), dtype=np.float32), np.zeros(m, dtype=np.float32), np.full(m, np.inf)
    loops.assign(X, 0, m, *screen[:3], norms, *screen[3:], *one, *still, labels, *bounds, near)
    return labels, near


def assignment_sums(chunk: Any, centers: Array, frame: Frame, missing: bool) -> Assignment:
    """Partial sum of one assignment, for rows that are not in memory."""
    if not missing and not sparse.issparse(chunk.X):
        found, labels = batch_sums(chunk, centers, frame)
        return found._replace(changed=_checksum(labels, chunk.start))
    labels, near = assign_chunk(chunk, centers, frame)
    checksum = _checksum(labels, chunk.start)
    X, m = plain(chunk.X), len(labels)
    if sparse.issparse(X):
        found = sparse_sums(chunk, centers, labels, near, checksum)
        return found._replace(cost=found.cost / frame.scale / frame.scale)
    sums, counts = np.zeros(centers.shape), np.zeros(centers.shape)
    _, cost = loops.assign_observed(
        X, chunk.weight, 0, m, centers, frame.scale, labels.copy(), near, sums, counts
    )
    return Assignment(sums, counts, cost / frame.scale / frame.scale, checksum)


def batch_sums(chunk: Any, centers: Array, frame: Frame) -> tuple[Assignment, Array]:
    """Return what dense rows without holes add up to, and their labels."""
    X, m = plain(chunk.X), chunk.X.shape[0]
    labels, _ = assign_chunk(chunk, centers, frame)
    sums, counts = np.zeros(centers.shape), np.zeros(len(centers))
    cost = loops.add_residuals(X, chunk.weight, 0, m, centers, frame.scale, labels, sums)
    loops.add_weights(chunk.weight, 0, m, labels, counts)
    return Assignment(sums, counts, cost / frame.scale / frame.scale, 0), labels


def _checksum(labels: Array, start: int) -> Array:
    places = np.arange(start, start + len(labels), dtype=np.uint64) * 2 + 1
    found = (labels.astype(np.uint64) + 1) * places
    return np.array([(found * np.uint64(0x9E3779B97F4A7C15)).sum(dtype=np.uint64)])


def sparse_sums(chunk: Any, centers: Array, labels: Array, near: Array, changed: Any) -> Assignment:
    """Return the sums of an assignment of sparse rows; its cost is in units of 1/scale², as `near` is."""
    counts = np.bincount(labels, weights=chunk.weight, minlength=len(centers))
    sums = sparse_rows.sums_by_label(chunk.X, chunk.weight, labels, len(centers))
    return Assignment(sums - counts[:, None] * centers, counts, float(chunk.weight @ near), changed)


class Farthest(NamedTuple):
    """The distinct rows of largest cost, with where they belong and how much they weigh."""

    distance: Array  # (m,) descending
    points: Array  # (m, d)
    labels: Array  # (m,)
    weight: Array  # (m,)

    def merge(self, other: Farthest) -> Farthest:
        """Keep the farthest of both; copies of one row count together."""
        m = max(len(self.distance), len(other.distance))
        both = [np.concatenate(pair) for pair in zip(self, other, strict=True)]
        return _distinct(*both, m)


def _distinct(distance: Array, points: Array, labels: Array, weight: Array, m: int) -> Farthest:
    order = np.argsort(-distance, kind="stable")
    place: dict[bytes, int] = {}
    rows, mass = [], []
    for i in order:
        at = place.setdefault(points[i].tobytes(), len(place))
        if at == m:
            break
        if at == len(rows):
            rows.append(i)
            mass.append(0.0)
        mass[at] += weight[i]
    return Farthest(distance[rows], points[rows], labels[rows], np.array(mass))


def farthest_rows(chunk: Any, centers: Array, frame: Frame, m: int) -> Farthest:
    """Partial statistic: the `m` distinct rows of positive weight that are farthest from their centers."""
    labels, near = assign_chunk(chunk, centers, frame)
    near = np.where(chunk.weight > 0, near, -1.0)
    cut = np.partition(near, -m)[-m] if m < len(near) else -1.0
    while True:  # copies of one row may fill the list: look further down until m are distinct
        rows = np.flatnonzero(near >= max(cut, 0.0))
        found = _distinct(near[rows], sparse_rows.dense(chunk.X[rows]), labels[rows], chunk.weight[rows], m)
        if len(found.distance) == m or len(rows) == (near >= 0).sum():
            return found
        below = near[near < cut]
        cut = np.partition(below, -min(len(below), 4 * m))[-min(len(below), 4 * m)]
