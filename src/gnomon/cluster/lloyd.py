"""Lloyd's two half-steps: exact assignment, and the sums from which the means follow.

In memory, triangle-inequality bounds spare most distance computations; from Parquet and on Dask the same
assignment runs chunk by chunk. The labels are exact either way, so the iterates are the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from gnomon.cluster import sparse_rows
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.rows import Chunk
from gnomon.core.sums import total
from gnomon.core.threads import in_order
from gnomon.loops import kmeans as loops
from gnomon.loops import kmeans_few

TINY = np.finfo(np.float64).tiny
FEW_PRODUCTS = 2**13  # of rows, centers and columns, below which screens and bounds cost more than they spare


class Spread(NamedTuple):
    """Weight, mean, scatter and range of every column."""

    count: Array  # of the present entries
    mean: Array
    square: Array
    low: Array
    high: Array

    def merge(self, other: Spread) -> Spread:
        """Add the moments of two sets of rows."""
        count = self.count + other.count
        part = other.count / np.maximum(count, TINY)
        gap = other.mean - self.mean
        return Spread(
            count,
            self.mean + part * gap,
            self.square + other.square + (self.count * part) * gap**2,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def variance(self) -> float:
        """Return the mean variance of the columns."""
        return float(np.mean(self.square / np.maximum(self.count, TINY)))


def column_spread(chunk: Any) -> Spread:
    """Partial sum of `Spread`; NaN entries are left out, column by column."""
    X, d = chunk.X, chunk.X.shape[1]
    if sparse.issparse(X):
        weight, *moments = sparse_rows.column_moments(X, chunk.weight)
        return Spread(np.full(d, weight), *moments)
    if np.isnan(X.sum(dtype=np.float64)):
        return _observed_spread(X, chunk.weight)
    mean, square = np.zeros(d), np.zeros(d)
    low, high = np.full(d, np.inf), np.full(d, -np.inf)
    count = loops.moments(X, chunk.weight, mean, square, low, high)
    return Spread(np.full(d, count), mean, square, low, high)


def _observed_spread(X: Array, weight: Array) -> Spread:
    seen = ~np.isnan(X)
    w = np.where(seen, weight[:, None], 0.0)
    count = w.sum(axis=0)
    values = np.where(seen, X, 0.0).astype(np.float64)
    mean = (w * values).sum(axis=0) / np.maximum(count, TINY)
    square = (w * (values - mean) ** 2).sum(axis=0)
    low, high = np.where(seen, X, np.inf).min(axis=0), np.where(seen, X, -np.inf).max(axis=0)
    return Spread(count, mean, square, low, high)


class Frame(NamedTuple):
    """Origin and unit in which rows are screened: the mean, a power of two that makes entries about one."""

    shift: Array
    scale: float
    variance: float  # mean over the columns, in units of 1/scale²


def scaled_scatter(chunk: Any, shift: Array, scale: float) -> float:
    """Partial sum of the squared deviations, in units of 1/scale²."""
    if sparse.issparse(chunk.X):
        point = shift[None] * scale
        return float(chunk.weight @ sparse_rows.squared_distances(chunk.X * scale, point)[:, 0])
    return float(chunk.weight @ np.nansum(((chunk.X - shift) * scale) ** 2, axis=1))


def frame_of(rows: Any) -> Frame:
    """Measure the data once, in one pass."""
    spread = total(column_spread, rows)
    if not (spread.count > 0).any():
        raise DataError("sample_weight is zero for every row; at least one row must count.")
    reach = np.nanmax(np.maximum(spread.high - spread.mean, spread.mean - spread.low), initial=0.0)
    if not np.isfinite(reach) or reach > 1e153:
        raise DataError("X has entries beyond 1e153, whose squares are not finite; scale the columns.")
    scale = 2.0 ** -np.ceil(np.log2(reach)) if reach > 1e-300 else 1.0
    variance = spread.variance() * scale * scale
    if 0 < reach < 1e-140:  # the squares underflowed
        variance = total(scaled_scatter, rows, spread.mean, scale) / spread.count.mean() / len(spread.mean)
    return Frame(spread.mean, float(scale), float(variance))


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


class Memory:
    """The rows of a fit in memory, with bounds that outlive a step.

    The bounds only spare work, never change a label, so a state that they do not belong to is assigned
    afresh and the answer is the same.
    """

    def __init__(self, rows: Any, frame: Frame, missing: bool) -> None:
        self.frame, self.missing = frame, missing
        self.restarts: list[float] = []  # final objectives of the starts
        if not rows.in_memory:
            return
        self.X, self.weight = plain(rows.X), rows.weight
        n = self.X.shape[0]
        self.norms, self.near = np.empty(n), np.empty(n)
        if not missing and not rows.sparse:
            blocks = row_blocks(n)
            list(
                in_order(
                    lambda block: loops.row_norms(self.X, *block, frame.shift, frame.scale, self.norms),
                    blocks,
                )
            )
        self.centers: Array | None = None

    def assign(
        self, centers: Array, labels: Array, kinds: int, before: Array | None, known: Known | None = None
    ) -> Assignment:
        """Update `labels` in place to the nearest centers.

        `kinds` is the number of groups of bounds, 0 for none; `before` the centers that the labels belong to;
        `known` what is already summed over these labels, so that only the rows that change are added.
        """
        if before is None or self.centers is not before or kinds == 0:
            self.centers = None
        blocks = row_blocks(self.X.shape[0])
        if sparse.issparse(self.X):
            work = self._sparse(centers, labels)
        elif self.missing:
            work = self._observed(centers, labels)
        else:
            work = self._screened(centers, labels, kinds, known)
        found = add_assignments(in_order(work, blocks))
        self.centers = centers
        found = found._replace(cost=found.cost / self.frame.scale / self.frame.scale)
        if known is None:
            return found
        sums = np.where(found.counts[:, None] > 0, known.sums + found.sums, 0.0)
        return found._replace(sums=sums, cost=known.square + found.cost)

    def _screened(self, centers: Array, labels: Array, kinds: int, known: Known | None) -> Any:
        if self.X.size * len(centers) <= FEW_PRODUCTS:
            return self._direct(centers, labels, known)
        self._prepare(centers, kinds)
        screen = screen_of(centers, self.frame, self.groups.order)
        fixed = (*screen[:3], self.norms, *screen[3:], *self.groups, self.drift, self.sunk, self.moved)
        bounds = (self.lower, self.floor, self.upper)

        def work(block: tuple[int, int]) -> Assignment:
            changed = loops.assign(self.X, *block, *fixed, labels, *bounds, self.near)
            return self._added(block, centers, labels, known, changed)

        return work

    def _direct(self, centers: Array, labels: Array, known: Known | None) -> Any:
        """The same for few rows and centers, with all distances."""

        def work(block: tuple[int, int]) -> Assignment:
            changed = kmeans_few.assign_few(self.X, *block, centers, self.frame.scale, labels, self.near)
            return self._added(block, centers, labels, known, changed)

        return work

    def _added(
        self, block: tuple[int, int], centers: Array, labels: Array, known: Known | None, changed: int
    ) -> Assignment:
        """What the labels of a block add up to."""
        X, weight, scale = self.X, self.weight, self.frame.scale
        sums, counts = np.zeros(centers.shape), np.zeros(len(centers))
        if known is None:
            cost = loops.add_residuals(X, weight, *block, centers, scale, labels, sums)
        else:
            cost = loops.move_residuals(X, weight, *block, known.anchor, scale, known.labels, labels, sums)
        loops.add_weights(weight, *block, labels, counts)
        return Assignment(sums, counts, cost, changed)

    def _prepare(self, centers: Array, kinds: int) -> None:
        """Move the bounds along with the centers, or begin new ones."""
        before = self.centers
        if before is None or before.shape != centers.shape:
            n = len(self.X)
            self.groups = group_centers(centers, kinds)
            self.drift, self.sunk = np.zeros(len(self.groups.bounds) - 1), 0.0
            self.moved = np.zeros(len(centers))
            self.lower = np.zeros((n, len(self.drift)), dtype=np.float32)
            self.floor, self.upper = np.zeros(n, dtype=np.float32), np.full(n, np.inf)
            return
        moved = np.sqrt((((centers - before) * self.frame.scale) ** 2).sum(axis=1)) * (1 + 1e-12)
        self.moved = self.moved + moved
        self.drift = self.drift + np.maximum.reduceat(moved[self.groups.order], self.groups.bounds[:-1])
        self.sunk += float(moved.max())

    def _sparse(self, centers: Array, labels: Array) -> Any:
        def work(block: tuple[int, int]) -> Assignment:
            a, b = block
            chunk = Chunk(self.X[a:b], None, self.weight[a:b], a)
            new, self.near[a:b] = assign_chunk(chunk, centers, self.frame)
            changed = int(np.count_nonzero(new != labels[a:b]))
            labels[a:b] = new
            return _sparse_sums(chunk, centers, new, self.near[a:b], changed)

        return work

    def _observed(self, centers: Array, labels: Array) -> Any:
        def work(block: tuple[int, int]) -> Assignment:
            sums, counts = np.zeros(centers.shape), np.zeros(centers.shape)
            changed, cost = loops.assign_observed(
                self.X, self.weight, *block, centers, self.frame.scale, labels, self.near, sums, counts
            )
            return Assignment(sums, counts, cost, changed)

        return work


_memories: WeakKeyDictionary[Any, Memory] = WeakKeyDictionary()  # rows being fitted -> their bounds


def memory_of(rows: Any, missing: bool) -> Memory:
    """Return the bounds of these rows; they vanish with the rows."""
    if rows not in _memories:
        _memories[rows] = Memory(rows, frame_of(rows), missing)
    return _memories[rows]


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


def chunk_frame(X: Array, centers: Array) -> Frame:
    """Return a frame that holds the rows of a chunk and the centers."""
    shift = centers.mean(axis=0)
    if sparse.issparse(X):
        size = max(float(np.abs(X.data).max(initial=0.0)), float(np.abs(centers).max(initial=0.0)))
        return Frame(shift, float(2.0 ** -np.ceil(np.log2(size))) if 1e-300 < size < 1e300 else 1.0, 0.0)
    reach = max(np.nanmax(np.abs(X - shift), initial=0.0), np.abs(centers - shift).max(initial=0.0))
    return Frame(shift, float(2.0 ** -np.ceil(np.log2(reach))) if 1e-300 < reach < 1e300 else 1.0, 0.0)


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
    if X.size * k <= FEW_PRODUCTS:
        kmeans_few.assign_few(X, 0, m, centers, frame.scale, labels, near)
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
        found = _sparse_sums(chunk, centers, labels, near, checksum)
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


def _sparse_sums(chunk: Any, centers: Array, labels: Array, near: Array, changed: Any) -> Assignment:
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
