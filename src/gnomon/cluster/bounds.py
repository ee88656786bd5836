"""The workspace of k-means: bounds by the triangle inequality, which spare most distances of the next step."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from gnomon.cluster import lloyd
from gnomon.cluster.frame import frame_of
from gnomon.cluster.seeding import Sample, sample_of
from gnomon.core.linalg import Array
from gnomon.core.rows import Chunk
from gnomon.core.threads import in_order
from gnomon.loops import kmeans as loops

LITTLE = 2**18  # products of rows, columns and centers that one thread does before another hears of them


class LloydWork:
    """The workspace of a fit: its rows, the unit they are measured in and, in memory, bounds that outlive a step.

    The bounds only spare work, never change a label, so a state that they do not belong to is assigned
    afresh and the answer is the same.
    """

    def __init__(self, rows: Any, missing: bool = False) -> None:
        self.rows, self.frame, self.missing = rows, frame_of(rows), missing
        self.restarts: list[float] = []  # final objectives of the starts
        if not rows.in_memory:
            return
        self.X, self.weight = lloyd.plain(rows.X), rows.weight
        n = self.X.shape[0]
        self.norms, self.near = np.empty(n), np.empty(n)
        if not missing and not rows.sparse:
            blocks = lloyd.row_blocks(n)
            list(
                in_order(
                    lambda block: loops.row_norms(
                        self.X, *block, self.frame.shift, self.frame.scale, self.norms
                    ),
                    blocks,
                )
            )
        self.centers: Array | None = None

    @cached_property
    def sample(self) -> Sample:
        """The rows that starts are drawn from."""
        return sample_of(self.rows, self.frame)

    def assign(
        self,
        centers: Array,
        labels: Array,
        kinds: int,
        before: Array | None,
        known: lloyd.Known | None = None,
    ) -> lloyd.Assignment:
        """Update `labels` in place to the nearest centers.

        `kinds` is the number of groups of bounds, 0 for none; `before` the centers that the labels belong to;
        `known` what is already summed over these labels, so that only the rows that change are added.
        """
        if before is None or self.centers is not before or kinds == 0:
            self.centers = None
        blocks = lloyd.row_blocks(self.X.shape[0])
        if sparse.issparse(self.X):
            work = self._sparse(centers, labels)
        elif self.missing:
            work = self._observed(centers, labels)
        else:
            work = self._screened(centers, labels, kinds, known)
        alone = self.X.shape[0] * self.X.shape[1] * len(centers) < LITTLE
        found = lloyd.add_assignments(in_order(work, blocks, alone=alone))
        self.centers = centers
        found = found._replace(cost=found.cost / self.frame.scale / self.frame.scale)
        if known is None:
            return found
        sums = np.where(found.counts[:, None] > 0, known.sums + found.sums, 0.0)
        return found._replace(sums=sums, cost=known.square + found.cost)

    def _screened(self, centers: Array, labels: Array, kinds: int, known: lloyd.Known | None) -> Any:
        loop = lloyd.direct_loop(self.X, len(centers))
        if loop is not None:
            return self._direct(loop, centers, labels, known)
        self._move_bounds(centers, kinds)
        screen = lloyd.screen_of(centers, self.frame, self.groups.order)
        fixed = (*screen[:3], self.norms, *screen[3:], *self.groups, self.drift, self.sunk, self.moved)
        bounds = (self.lower, self.floor, self.upper)

        def work(block: tuple[int, int]) -> lloyd.Assignment:
            changed = loops.assign(self.X, *block, *fixed, labels, *bounds, self.near)
            return self._added(block, centers, labels, known, changed)

        return work

    def _direct(self, loop: Any, centers: Array, labels: Array, known: lloyd.Known | None) -> Any:
        """The same with all distances, for few rows or few columns."""

        def work(block: tuple[int, int]) -> lloyd.Assignment:
            changed = loop(self.X, *block, centers, self.frame.scale, labels, self.near)
            return self._added(block, centers, labels, known, changed)

        return work

    def _added(
        self, block: tuple[int, int], centers: Array, labels: Array, known: lloyd.Known | None, changed: int
    ) -> lloyd.Assignment:
        """What the labels of a block add up to."""
        X, weight, scale = self.X, self.weight, self.frame.scale
        sums, counts = np.zeros(centers.shape), np.zeros(len(centers))
        if known is None:
            cost = loops.add_residuals(X, weight, *block, centers, scale, labels, sums)
        else:
            cost = loops.move_residuals(X, weight, *block, known.anchor, scale, known.labels, labels, sums)
        loops.add_weights(weight, *block, labels, counts)
        return lloyd.Assignment(sums, counts, cost, changed)

    def _move_bounds(self, centers: Array, kinds: int) -> None:
        """Move the bounds along with the centers, or begin new ones."""
        before = self.centers
        if before is None or before.shape != centers.shape:
            n = len(self.X)
            self.groups = lloyd.group_centers(centers, kinds)
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
        def work(block: tuple[int, int]) -> lloyd.Assignment:
            a, b = block
            chunk = Chunk(self.X[a:b], None, self.weight[a:b], a)
            new, self.near[a:b] = lloyd.assign_chunk(chunk, centers, self.frame)
            changed = int(np.count_nonzero(new != labels[a:b]))
            labels[a:b] = new
            return lloyd.sparse_sums(chunk, centers, new, self.near[a:b], changed)

        return work

    def _observed(self, centers: Array, labels: Array) -> Any:
        def work(block: tuple[int, int]) -> lloyd.Assignment:
            sums, counts = np.zeros(centers.shape), np.zeros(centers.shape)
            changed, cost = loops.assign_observed(
                self.X, self.weight, *block, centers, self.frame.scale, labels, self.near, sums, counts
            )
            return lloyd.Assignment(sums, counts, cost, changed)

        return work
