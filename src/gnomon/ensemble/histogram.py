"""One boosted tree on byte codes: best-first growth with whole-number histograms."""

from __future__ import annotations

from time import sleep
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.threads import shared, thread_count
from gnomon.loops import histograms as loop
from gnomon.loops import leaves, team
from gnomon.loops.bins import pack_codes
from gnomon.loops.boosting import leaf_sums, pack_even, pack_narrow, pack_wide, spread
from gnomon.loops.grown_trees import dress, lay_out, newton_steps
from gnomon.losses.boosting import chunks
from gnomon.trees.binning import Bins
from gnomon.trees.nodes import Tree

Array = np.ndarray
ONE_WORD_ROWS = (
    20_000,
    2**25,
)  # between them one word pays and the rounding of narrow ones is lost in the noise
ALONE = 5_000  # rows that one thread is quickest with
IDLE = 2e-5  # seconds that a thread without work sleeps
POOL_BYTES = 2**27  # of the histograms of waiting leaves
_NONE = np.zeros(0, np.int32)


class Limits(NamedTuple):
    """Limits of one boosted tree."""

    max_leaf_nodes: int
    max_depth: int
    min_samples_leaf: float
    l2: float
    min_hessian: float = 1e-3


class Codes(NamedTuple):
    """Codes of the training rows, by column, and by row with eight features to a word."""

    columns: Array  # (d, n) uint8
    words: Array  # (n, blocks) uint64
    bins: Bins

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.columns)


def pack(codes: Array, bins: Bins) -> Codes:
    """Pack byte codes into words."""
    d, n = codes.shape
    words = np.empty((n, -(-d // 8)), dtype=np.uint64)
    shared(lambda part: pack_codes(codes, *part, words), chunks(n))
    return Codes(codes, words, bins)


class Grown(NamedTuple):
    """The nodes of a grown tree, parents before children, left before right."""

    records: Array  # (m, N_RECORD), see `loops.gains`
    turns: Array  # (m,) 1, 2, ... in the order of growth; 0 for leaves
    left: Array  # (m,) children; -1 for leaves
    right: Array
    ranges: Array  # (m, 2): which of the rows are inside
    sides: Array  # (m, 256): 1 for the codes that go left
    leaves: Array  # which nodes are leaves
    rows: Array  # (n,) rows, those of a leaf side by side and in order


class Histogrammer:
    """Grows trees on the same codes; keeps the work arrays between trees."""

    def __init__(
        self, codes: Codes, limits: Limits, monotone: Array | None, reps: Array, *, width: int
    ) -> None:
        self.codes, self.limits, self.reps = codes, limits, reps
        n = len(codes.words)
        self.width = width if ONE_WORD_ROWS[0] <= n <= ONE_WORD_ROWS[1] else loop.WIDE
        self.bits = int(reps.sum()).bit_length()
        self.count_shift = 62 - self.bits
        self.packed = np.empty((n, 2 if self.width == loop.WIDE else 1), dtype=np.int64)
        kinds = np.zeros((codes.n_features, 2), dtype=np.int64)
        kinds[:, 0] = codes.bins.categories
        if monotone is not None:
            kinds[:, 1] = monotone
        self.binned = loop.BinnedRows(codes.words, codes.columns, codes.bins.n_bins, kinds)
        self.likely = 0.0  # a leaf that gains more is likely to be split
        self.most = self._most_splits(n)
        self.team = self._make_team(thread_count() if n > ALONE else 1)

    def _most_splits(self, n: int) -> int:
        limits = self.limits
        by_depth = 2 ** min(limits.max_depth, 40) - 1
        by_size = int(self.reps.sum() / max(1.0, limits.min_samples_leaf))
        return max(1, min(limits.max_leaf_nodes - 1, by_depth, by_size, n))

    def _make_team(self, n_threads: int) -> team.Team:
        n, blocks = self.codes.words.shape
        nodes = 4 * self.most + 1  # followers may split as many leaves in vain
        places = max(2 * n_threads + 2, min(self.most + 2 * n_threads, 64, POOL_BYTES // (2**15 * blocks)))
        scratches = np.empty((n_threads, loop.N_SCRATCH, 257), np.int64)
        return team.Team(
            board=np.zeros(team.N_BOARD, np.int64),
            jobs=np.zeros((2 * n_threads, team.N_JOB), np.int64),
            own=np.zeros((n_threads, 16), np.int64),
            heap=np.empty(nodes, np.int64),
            ints=np.empty((nodes, leaves.N_INT), np.int64),
            records=np.empty((nodes, loop.N_RECORD)),
            gains=np.empty(nodes),
            sides=np.empty((nodes, 256), np.uint8),
            owners=np.empty(places, np.int64),
            pool=np.empty((places, 2, 2048 * blocks), np.int64),
            parts=np.empty((n_threads, 2, 2048 * blocks), np.int64),
            found=np.empty((n_threads, self.codes.n_features, loop.N_SPLIT)),
            rows=np.empty(n, np.int32),
            spare=np.empty(n, np.int32),
            local=np.zeros((n_threads, 2048 * loop.GROUP), np.int64),
            words=scratches,
            numbers=scratches.view(np.float64),
            features=np.empty((n_threads, 2, self.codes.n_features), np.int64),
        )

    def grow(self, g: Array, h: Array, top_g: float, top_h: float, seed: int, share: float) -> Grown:
        """Grow one tree."""
        crew, (order, heap) = self.team, np.empty((2, 2 * self.most + 1), np.int64)
        gains = np.empty(2 * self.most + 1)
        crew.rows[:] = np.arange(len(crew.rows), dtype=np.int32)
        crew.records[0] = self._pack(g, h, top_g, top_h, seed, share)
        crew.ints[0] = 0, len(crew.rows), 0, np.uint64(seed).view(np.int64), -1, -1, 0
        crew.board[:], crew.jobs[:], crew.owners[:] = 0, 0, team.NONE
        crew.board[team.NODES], crew.owners[0] = 1, team.TAKEN
        fixed = (self.binned, self.packed, self.terms, crew)

        def run(me: int) -> int:
            if me > 0:
                return _follow(*fixed, me, self.most, self.likely, order, heap, gains)
            try:
                return team.work(*fixed, me, self.most, self.likely, order, heap, gains)
            finally:
                crew.board[team.DONE] = 1  # an error must not leave others waiting

        n, *_ = shared(run, range(len(crew.own)))
        self.likely = float(gains[heap[0]])
        return self._lay_out(order[:n])

    def _lay_out(self, order: Array) -> Grown:
        """Copy the nodes of the tree out of the tables."""
        m, crew = len(order), self.team
        tree = Grown(
            np.empty((m, loop.N_RECORD)), np.empty(m, np.int64), np.empty(m, np.int32), np.empty(m, np.int32),
            np.empty((m, 2), np.int64), np.empty((m, 256), np.uint8), np.empty((m + 1) // 2, np.int64), crew.rows,
        )  # fmt: skip
        in_vain, waiting = np.empty((m + 1) // 2, np.bool_), np.empty((m + 1, 2), np.int64)
        lay_out(order, crew.ints, crew.records, crew.sides, waiting, *tree[:-1], in_vain)
        for leaf in tree.leaves[in_vain]:
            crew.rows[slice(*tree.ranges[leaf])].sort()
        return tree

    def _pack(self, g: Array, h: Array, top_g: float, top_h: float, seed: int, share: float) -> Array:
        """Round the derivatives to whole numbers; return the record of all rows."""
        g_top, h_top = 2.0 ** min(62 - self.bits, 50), 2.0 ** (self.count_shift - self.bits)
        if self.width != loop.WIDE:
            g_top = min(g_top, loop.TOP_G[self.width])
        if self.width == loop.NARROW:
            h_top = loop.TOP_H
        g_scale, h_scale = g_top / max(top_g, 1e-300), h_top / max(top_h, 1e-300)
        h_even = round(top_h * h_scale) if self.width == loop.EVEN else 0
        limits, drawn = self.limits, max(1, int(share * self.codes.n_features))
        self.terms = loop.Terms(
            1.0 / g_scale, 1.0 / h_scale, self.count_shift, self.width, h_even, limits.l2, limits.min_samples_leaf,
            limits.min_hessian, limits.max_depth, drawn,
        )  # fmt: skip
        words = self.packed.reshape(-1)
        if self.width == loop.EVEN:
            even = shared(lambda part: pack_even(g, g_scale, *part, words), chunks(len(g)))
            parts = [(total, count * h_even, count) for total, count in even]
        elif self.width == loop.NARROW:
            narrow = (g, h, g_scale, h_scale, np.uint64(seed))
            parts = shared(lambda part: pack_narrow(*narrow, *part, words), chunks(len(g)))
        else:
            wide = (g, h, self.reps, g_scale, h_scale, self.count_shift)
            parts = shared(lambda part: pack_wide(*wide, *part, self.packed), chunks(len(g)))
        sums = [sum(numbers) for numbers in zip(*parts)]
        record = np.zeros(loop.N_RECORD)
        record[: loop.LOWER] = sums[0] / g_scale, sums[1] / h_scale, sums[2]
        may_split = limits.max_depth > 0 and sums[2] >= 2 * limits.min_samples_leaf
        record[loop.LOWER : loop.GAIN] = -np.inf, np.inf, may_split
        return record

    def values(self, g: Array, h: Array, tree: Grown, rate: float) -> tuple[Array, Array]:
        """Newton's steps, times `rate`: of every node (0 for inner ones) and of every row."""
        ends, values, step = tree.leaves, np.zeros(len(tree.turns)), np.empty(len(g))
        ranges, sums, found = tree.ranges[ends], tree.records[ends, :2], np.empty(len(ends))
        if self.width != loop.EVEN:  # whose sums have no digits to gain
            parts = [slice(*part) for part in _parts(len(ends), len(self.team.own))]
            shared(lambda part: leaf_sums(g, h, tree.rows, ranges[part], sums[part]), parts)
        newton_steps(sums, tree.records, ends, self.limits.l2, rate, found, values)
        shared(lambda part: spread(found, tree.rows, ranges, *part, step), chunks(len(g)))
        return values, step


def _follow(*job: Any) -> int:
    """Follow the leader until the tree is complete; who finds nothing to do lets others run."""
    while not team.work(*job):
        sleep(IDLE)
    return 0


def _parts(n: int, shares: int) -> list[tuple[int, int]]:
    """Cut n things into shares."""
    shares = max(1, min(n, shares))
    return [(n * k // shares, n * (k + 1) // shares) for k in range(shares)]


def to_tree(tree: Grown, values: Array, bins: Bins, l2: float) -> Tree:
    """Dress a grown tree; `values` has one entry per node."""
    m = len(tree.turns)
    feature, missing, count = np.empty(m, np.int32), np.empty(m, np.int8), np.empty(m, np.int64)
    threshold, impurity, weight, gain = np.empty((4, m))
    n_categorical = dress(tree.records, tree.turns, tree.sides, bins.edges, bins.categories, l2,
                          feature, threshold, missing, impurity, count, weight, gain)  # fmt: skip
    branches = _branches(tree, bins, feature, threshold, missing) if n_categorical else (_NONE,) * 3
    return Tree(feature, threshold, tree.left, tree.right, missing, values[:, None, None],
                impurity, count, weight, gain, tree.turns, *branches)  # fmt: skip


def _branches(
    tree: Grown, bins: Bins, feature: Array, threshold: Array, missing: Array
) -> tuple[Array, Array, Array]:
    """Where each category goes at the categorical nodes; see `Tree`."""
    start, count = np.full(len(feature), -1, np.int32), np.zeros(len(feature), np.int32)
    branches: list[int] = []
    for k in np.flatnonzero(np.isnan(threshold)):
        start[k], count[k] = len(branches), bins.categories[feature[k]]
        goes_left = np.r_[tree.sides[k, : count[k]], missing[k]]
        branches += np.where(goes_left, tree.left[k], tree.right[k]).tolist()
    return start, count, np.array(branches, dtype=np.int32)
