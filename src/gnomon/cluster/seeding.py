"""Where k-means starts: rows drawn from the weighted sample in an order that only the rows themselves decide.

Rows are put into the order of a hash of their values (of their float32 rounding first, so that both
precisions start alike), and every draw inverts the cumulative weights in that order. Shuffled rows, or a row
of weight two written twice, then give the same start for the same seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.cluster import sparse_rows
from gnomon.cluster.frame import Frame
from gnomon.cluster.lloyd import plain
from gnomon.cluster.sampling import bottom_rows, fine_hash, hash_rows
from gnomon.core.canonical import order_by_key, rows_differ
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.sums import total
from gnomon.core.threads import in_order
from gnomon.core.validate import numbers
from gnomon.loops import seeds as loops


class Seeds(NamedTuple):
    """Chosen centers, the rows they are (−1 where they are none), and the cost after each."""

    centers: Array  # (k, d)
    rows: Array  # (k,)
    costs: Array


def _filled(X: Array, means: Array) -> Array:
    """Return X with the columns' means in its holes."""
    if sparse.issparse(X):
        return X
    return np.where(np.isnan(X), means, X) if np.isnan(X.sum(dtype=np.float64)) else X


class Sample:
    """A weighted sample in canonical order."""

    def __init__(self, X: Array, weight: Array, frame: Frame) -> None:
        self.X, self.weight, self.frame = plain(_filled(X, frame.shift)), weight, frame
        self.keys = self._keys()
        self.order = self._order()
        self.rank = np.empty(len(self.order), dtype=np.int64)
        self.rank[self.order] = np.arange(len(self.order))

    def _keys(self) -> Array:
        if sparse.issparse(self.X):
            return sparse_rows.hash_sparse(self.X, hash_rows)
        blocks = np.array_split(self.X, max(1, self.X.size // 2**18))
        return np.concatenate(list(in_order(hash_rows, blocks)))

    def _order(self) -> Array:
        return order_by_key(  # equal after rounding to float32: the float64 bytes decide
            self.keys,
            lambda a, b: rows_differ(self.X[a], self.X[b]),
            lambda rows: self._fine_keys(rows)[:, None],
        )[0]

    def _fine_keys(self, rows: Array) -> Array:
        if sparse.issparse(self.X):
            return sparse_rows.hash_sparse(self.X[rows], fine_hash)
        return fine_hash(self.X[rows])

    def groups(self) -> tuple[Array, Array]:
        """Return the group of every row (copies share one; −1 for weight zero) and the groups' weights."""
        order = self.order[self.weight[self.order] > 0]
        fresh = np.ones(len(order), dtype=bool)
        same = np.flatnonzero(self.keys[order[1:]] == self.keys[order[:-1]])
        fresh[same + 1] = rows_differ(self.X[order[same]], self.X[order[same + 1]])
        group = np.full(len(self.order), -1)
        group[order] = np.cumsum(fresh) - 1
        return group, np.bincount(group[order], self.weight[order])

    def representatives(self, count: int) -> Array:
        """Return one row of every group, in canonical order: the first in the data."""
        group, _ = self.groups()
        first = np.full(count, len(self.order))
        known = group >= 0
        np.minimum.at(first, group[known], np.flatnonzero(known))
        return first

    def pick(self, mass: Array, u: Array) -> Array:
        """Return the rows at which the cumulative `mass`, in canonical order, passes u·Σmass."""
        edges = np.cumsum(mass[self.order])
        last = np.flatnonzero(mass[self.order] > 0)[-1]
        return self.order[np.minimum(np.searchsorted(edges, u * edges[-1], side="right"), last)]


class Closest:
    """Squared distance of every row to the chosen seeds, and the sums from which the next is drawn."""

    def __init__(self, sample: Sample, k: int) -> None:
        n = len(sample.order)
        self.norms = sparse_rows.squared_norms(sample.X) if sparse.issparse(sample.X) else None
        self.sample = sample
        self.blocks = [(a, min(a + 2**14, n)) for a in range(0, n, 2**14)]
        self.width = max(1, int(np.ceil(n / 1024)))
        self.closest, self.owner = np.full(n, np.inf), np.zeros(n, dtype=np.int32)
        self.chosen: list[int] = []
        self.buckets = np.zeros(0)
        self.apart = np.zeros((k, k))  # apart[a] of a candidate is filled when it is tried

    def try_rows(self, rows: Array) -> tuple[Array, Array]:
        """Return (n, t) closest distances if each candidate were taken, and their weighted sums."""
        s, scale = self.sample, self.sample.frame.scale
        if self.norms is not None:
            return self._try_sparse(sparse_rows.dense(s.X[rows]))
        seeds = np.array(s.X[rows], dtype=np.float64)
        chosen = np.array(s.X[self.chosen], dtype=np.float64)
        apart = (
            (((seeds[:, None] - chosen) * scale) ** 2).sum(axis=2)
            if self.chosen
            else np.zeros((len(rows), 1))
        )
        apart = np.ascontiguousarray(apart * (1 - 1e-12))
        trial = np.empty((len(s.X), len(rows)))

        def work(block: tuple[int, int]) -> Array:
            potential = np.zeros(len(rows))
            loops.try_seeds(
                s.X, *block, s.weight, scale, seeds, apart, self.closest, self.owner, trial, potential
            )
            return potential

        return trial, self._sum(work)

    def _try_sparse(self, seeds: Array) -> tuple[Array, Array]:
        s, square = self.sample, self.sample.frame.scale**2
        trial = np.empty((len(s.order), len(seeds)))

        def work(block: tuple[int, int]) -> Array:
            part = slice(*block)
            found = sparse_rows.squared_distances(s.X[part], seeds, self.norms[part]) * square
            np.minimum(found, self.closest[part, None], out=trial[part])
            return s.weight[part] @ trial[part]

        return trial, sum(in_order(work, self.blocks))

    def take(self, row: int, trial: Array, t: int) -> None:
        """Make a candidate a seed."""
        seed = len(self.chosen)
        self.chosen.append(int(row))

        def work(block: tuple[int, int]) -> Array:
            buckets = np.zeros(-(-len(self.sample.order) // self.width))
            loops.take_seed(
                *block,
                self.sample.weight,
                trial,
                t,
                seed,
                self.sample.rank,
                self.width,
                self.closest,
                self.owner,
                buckets,
            )
            return buckets

        self.buckets = self._sum(work)

    def _sum(self, work: Callable[[tuple[int, int]], Array]) -> Any:
        """Return what the blocks add up to; a single one is not worth a look at the threads."""
        return work(self.blocks[0]) if len(self.blocks) == 1 else sum(in_order(work, self.blocks))

    def draw(self, u: Array) -> Array:
        """Draw rows in proportion to weight times squared distance; u is uniform."""
        edges = np.cumsum(self.buckets)
        target = u * edges[-1]
        bucket = np.minimum(
            np.searchsorted(edges, target, side="right"), np.flatnonzero(self.buckets > 0)[-1]
        )
        return np.array(
            [self._within(b, t - (edges[b - 1] if b else 0.0)) for b, t in zip(bucket, target, strict=True)]
        )

    def _within(self, bucket: int, target: float) -> int:
        members = self.sample.order[bucket * self.width : (bucket + 1) * self.width]
        mass = self.sample.weight[members] * self.closest[members]
        last = np.flatnonzero(mass > 0)[-1]
        return int(members[min(np.searchsorted(np.cumsum(mass), target, side="right"), last)])


def plus_plus(sample: Sample, k: int, rng: np.random.Generator, trials: int | None = None) -> Seeds:
    """k-means++: each seed drawn ∝ w·D², the best of `trials` draws kept."""
    trials = 2 + int(np.log(k)) if trials is None else trials
    near, costs = Closest(sample, k), []
    candidates = sample.pick(sample.weight, rng.random(1))
    while True:
        trial, potential = near.try_rows(candidates)
        best = int(np.argmin(potential))
        near.take(candidates[best], trial, best)
        costs.append(potential[best] / sample.frame.scale / sample.frame.scale)
        if len(costs) == k:
            break
        u = rng.random(trials)
        candidates = near.draw(u) if potential[best] > 0 else sample.pick(sample.weight, u[:1])
    return _seeds(sample, near.chosen, costs)


def _seeds(sample: Sample, rows: Any, costs: Any) -> Seeds:
    rows = np.asarray(rows)
    return Seeds(sparse_rows.dense(sample.X[rows]).copy(), rows, np.asarray(costs, dtype=np.float64))


def farthest_first_rows(sample: Sample, k: int, first: int, rank: Array | None = None) -> Seeds:
    """Farthest-first traversal; among equally far rows the one of lowest `rank` (row number if None)."""
    near, costs = Closest(sample, k), []
    usable = sample.weight > 0
    row = first
    while True:
        trial, _ = near.try_rows(np.array([row]))
        near.take(row, trial, 0)
        distance = np.where(usable, near.closest, -1.0)
        costs.append(float(sample.weight @ near.closest) / sample.frame.scale / sample.frame.scale)
        if len(costs) == k:
            return _seeds(sample, near.chosen, costs)
        ties = np.flatnonzero(distance == distance.max())
        row = int(ties[0] if rank is None else ties[np.argmin(rank[ties])])


def farthest(sample: Sample, k: int, rng: np.random.Generator) -> Seeds:
    """Farthest-first from a random row."""
    first = int(sample.pick(sample.weight, rng.random(1))[0])
    return farthest_first_rows(sample, k, first, sample.rank)


def random_rows(sample: Sample, k: int, rng: np.random.Generator) -> Seeds:
    """k distinct rows without replacement, ∝ weight (an exponential race)."""
    _, mass = sample.groups()
    arrival = rng.exponential(size=len(mass)) / mass
    winners = np.argsort(arrival, kind="stable")[:k]
    winners = np.concatenate([winners, np.zeros(k - len(winners), dtype=int)])  # fewer distinct rows than k
    return _seeds(sample, sample.representatives(len(mass))[winners], [])


def random_partition(sample: Sample, k: int, rng: np.random.Generator) -> Seeds:
    """Means of a uniform random partition; drawn anew while a part is empty."""
    group, mass = sample.groups()
    for _ in range(100):
        part = rng.integers(k, size=len(mass))
        if len(np.unique(part)) == k:
            break
    else:
        part[rng.permutation(len(mass))[:k]] = np.arange(min(k, len(mass)))
    labels = np.where(group >= 0, part[group], -1)
    return means_of(sample, labels, k)


def means_of(sample: Sample, labels: Array, k: int) -> Seeds:
    """Weighted means of the rows of each label; an unused label starts at the overall mean."""
    used = labels >= 0
    if sparse.issparse(sample.X):
        counts = np.bincount(labels[used], sample.weight[used], k)[:, None]
        whole = sparse_rows.sums_by_label(sample.X[used], sample.weight[used], labels[used], k)
        means = np.where(counts > 0, whole / np.where(counts > 0, counts, 1.0), sample.frame.shift)
        return Seeds(means, np.full(k, -1), np.zeros(0))
    X = np.array(sample.X[used], dtype=np.float64) - sample.frame.shift
    sums, counts = np.zeros((k, X.shape[1])), np.bincount(labels[used], sample.weight[used], k)
    order = np.argsort(sample.rank[used], kind="stable")
    np.add.at(sums, labels[used][order], sample.weight[used][order, None] * X[order])
    means = sums / np.where(counts > 0, counts, 1.0)[:, None] + sample.frame.shift
    return Seeds(means, np.full(k, -1), np.zeros(0))


def parallel(sample: Sample, k: int, rng: np.random.Generator, rounds: int = 5) -> Seeds:
    """k-means‖: five rounds draw about 2k rows each, ∝ w·D²; weighted k-means++ then picks k of them."""
    group, mass = sample.groups()
    rows = sample.representatives(len(mass))
    near = Closest(sample, 1)
    fresh = sample.pick(sample.weight, rng.random(1))
    for _ in range(rounds + 1):
        for row in fresh:
            near.take(row, near.try_rows(np.array([row]))[0], 0)
        chance = mass * near.closest[rows]
        fresh = rows[rng.random(len(mass)) * chance.sum() < 2 * k * chance]
    chosen = np.array(near.chosen)
    crowd = np.bincount(near.owner, sample.weight, len(chosen))
    if len(chosen) <= k:
        return plus_plus(sample, k, rng)
    picked = plus_plus(Sample(sparse_rows.dense(sample.X[chosen]), crowd, sample.frame), k, rng)
    return picked._replace(rows=chosen[picked.rows])


STARTS = {
    "k-means++": plus_plus,
    "random": random_rows,
    "random_partition": random_partition,
    "farthest": farthest,
    "k-means-parallel": parallel,
}


def sample_of(rows: Any, frame: Frame) -> Sample:
    """Return the sample to seed from: all rows in memory, else the bottom sample."""
    if rows.in_memory:
        return Sample(rows.X, rows.weight, frame)
    (kept,) = total(bottom_rows, rows).compact().parts
    return Sample(kept.points, kept.weight, frame)


def given(rows: Any, frame: Frame, init: Any, k: int) -> Seeds:
    """Check the centers that a user starts from, or turn a vector of labels into means."""
    centers = numbers(init.toarray() if sparse.issparse(init) else init, name="init")
    if centers.shape == (rows.n_rows,) and rows.in_memory and np.asarray(init).dtype.kind in "iu":
        init = np.asarray(init)
        if init.min() < 0 or init.max() >= k:
            raise DataError(f"labels in init must lie in 0..{k - 1}.")
        return means_of(sample_of(rows, frame), init, k)
    if centers.shape != (k, rows.n_features):
        raise DataError(
            f"The shape of the initial centers {centers.shape} does not match the number of clusters "
            f"{k} and of features {rows.n_features}."
        )
    centers = np.array(centers, order="C")
    if not np.isfinite(centers).all() or np.abs(centers - frame.shift).max() * frame.scale > 1e15:
        raise DataError("init has centers that are not finite, or absurdly far from the data.")
    return Seeds(centers, np.full(k, -1), np.zeros(0))
