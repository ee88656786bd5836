"""One boosted tree on byte codes: best-first growth with whole-number histograms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.core.randomness import stream
from gnomon.core.threads import one_blas_thread, shared, thread_count
from gnomon.ensemble.best_first import Frontier, Node
from gnomon.ensemble.objectives import chunks
from gnomon.loops import histograms as loop
from gnomon.loops.bins import pack_codes
from gnomon.loops.boosting import newton_leaves, pack_rows
from gnomon.trees.binning import MISSING_CODE, Bins
from gnomon.trees.nodes import LEAF, Tree

Array = np.ndarray
NARROW_ROWS = (20_000, 2**25)  # between them narrow words pay and their rounding is lost in the noise
THREAD_WORK = 100_000  # codes worth several threads
ALONE = 20_000  # rows of a leaf that one thread splits alone
PRIME = 2**61 - 1  # paths longer than this fold


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


class Histogrammer:
    """Grows trees on the same codes; keeps the work arrays between trees."""

    def __init__(
        self, codes: Codes, limits: Limits, monotone: Array | None, reps: Array, *, narrow: bool
    ) -> None:
        self.codes, self.limits, self.reps = codes, limits, reps
        n, blocks = codes.words.shape
        self.narrow = narrow and NARROW_ROWS[0] <= n <= NARROW_ROWS[1]
        self.bits = int(reps.sum()).bit_length()
        self.count_shift = 62 - self.bits
        self.shape = (blocks, 2048, 2)
        self.hist: list[Array] = []  # one per leaf that may still be split
        self.least = 0.0  # gain among the splits of the last tree
        self.packed = np.empty((n, 1 if self.narrow else 2), dtype=np.int64)
        self.spare = np.empty((2, n), np.int32)
        kinds = np.zeros((codes.n_features, 2), dtype=np.int64)
        kinds[:, 0] = codes.bins.categories
        if monotone is not None:
            kinds[:, 1] = monotone
        self.ground = loop.Ground(codes.words, codes.columns, codes.bins.n_bins, kinds)

    def grow(
        self, g: Array, h: Array, top_g: float, top_h: float, rows: Array, seed: int, share: float
    ) -> tuple[list[Node], Array]:
        """Grow one tree; return its nodes and the rows grouped by leaf."""
        self.rows, self.seed, self.share = rows, seed, share
        self.free = list(self.hist)
        with one_blas_thread():
            root = self._root(self._pack(g, h, top_g, top_h))
            frontier = Frontier(root, self.limits.max_leaf_nodes, self.least)
            large = max(ALONE, len(rows) // min(thread_count(), self.shape[0]))
            while (leaf := frontier.due()) is not None and leaf.size > large:
                frontier.end(frontier.begin(), self._split_together(leaf))
            frontier.split_all(self._split, thread_count() if self.codes.columns.size > THREAD_WORK else 1)
        self.least = frontier.least
        for leaf in frontier.split_in_vain():
            rows[leaf.start : leaf.end].sort()
            leaf.children = ()
        return frontier.nodes, rows

    def _pack(self, g: Array, h: Array, top_g: float, top_h: float) -> Array:
        """Round the derivatives to whole numbers; return the record of all rows."""
        if self.narrow:
            g_top, h_top = 2.0**13 - 2, 2.0**12 - 2
        else:
            g_top, h_top = 2.0 ** min(62 - self.bits, 50), 2.0 ** (self.count_shift - self.bits)
        g_scale, h_scale = g_top / max(top_g, 1e-300), h_top / max(top_h, 1e-300)
        least = (self.limits.min_samples_leaf, self.limits.min_hessian)
        self.terms = loop.Terms(
            1.0 / g_scale, 1.0 / h_scale, self.count_shift, self.narrow, self.limits.l2, *least
        )
        fixed = (g_scale, h_scale, self.count_shift, self.narrow, np.uint64(self.seed))
        parts = shared(lambda part: pack_rows(g, h, self.reps, *fixed, *part, self.packed), chunks(len(g)))
        sums = [sum(numbers) for numbers in zip(*parts)]
        record = np.zeros(loop.N_RECORD)
        record[: loop.LOWER] = sums[0] / g_scale, sums[1] / h_scale, sums[2]
        record[loop.LOWER : loop.GAIN] = -np.inf, np.inf, self._may_split(0, sums[2])
        return record

    # nodes

    def _may_split(self, depth: int, count: float) -> bool:
        return depth < self.limits.max_depth and count >= 2 * self.limits.min_samples_leaf

    def _slot(self) -> Array:
        """Histograms that no leaf needs."""
        try:
            return self.free.pop()
        except IndexError:
            new = np.empty(self.shape, dtype=np.int64)
            self.hist.append(new)
            return new  # not the last of the list: another thread may have added one since

    def _root(self, record: Array) -> Node:
        root = Node(0, len(self.rows), 0, 1, record)
        if record[loop.OPEN]:
            root.hist = self._slot()
            self._search_together(self.rows, root.hist, root.hist, 0, self._allowed([1]), record[None])
        root.gain = float(record[loop.GAIN])
        return root

    def _split(self, leaf: Node) -> tuple[Node, ...]:
        """Apply a leaf's split and find those of its children."""
        part, small, records = slice(leaf.start, leaf.end), self._slot(), self._records()
        leaf.goes_left, found = np.empty(256, np.uint8), np.empty((2, self.codes.n_features, loop.N_SPLIT))
        n_left = loop.split_leaf(
            self.ground, self.packed, self.terms, leaf.record, leaf.depth + 1 >= self.limits.max_depth,
            self._allowed(self._paths(leaf)), self.rows[part], self.spare[1, part], leaf.hist, small,
            leaf.goes_left, records, found,
        )  # fmt: skip
        return self._children(leaf, n_left, small, records)

    def _split_together(self, leaf: Node) -> tuple[Node, ...]:
        """The same for a large leaf, by all threads."""
        leaf.goes_left, small, records = np.empty(256, np.uint8), self._slot(), self._records()
        loop.sides_of(leaf.hist, self.ground, self.terms, leaf.record, leaf.goes_left)
        n_left = self._partition(leaf)
        deepest = leaf.depth + 1 >= self.limits.max_depth
        loop.pass_down(leaf.record, self.ground, self.terms, deepest, records)
        if records[:, loop.OPEN].any():
            middle = leaf.start + n_left
            which = 0 if 2 * n_left <= leaf.size else 1
            rows = self.rows[leaf.start : middle] if which == 0 else self.rows[middle : leaf.end]
            self._search_together(rows, small, leaf.hist, which, self._allowed(self._paths(leaf)), records)
        return self._children(leaf, n_left, small, records)

    def _search_together(
        self, rows: Array, small: Array, large: Array, which: int, allowed: Array, records: Array
    ) -> None:
        """`loops.histograms.search` with the blocks of features shared among threads: none needs another."""
        found = np.empty((len(records), self.codes.n_features, loop.N_SPLIT))
        fixed = (self.ground, self.packed, self.terms, rows, small, large, which, allowed, records)
        shared(lambda part: loop.search(*fixed, *part, found), _parts(self.shape[0], thread_count()))
        for record, splits in zip(records, found):
            if record[loop.OPEN]:
                loop.choose(splits, self.terms.l2, record)

    def _children(self, leaf: Node, n_left: int, small: Array, records: Array) -> tuple[Node, ...]:
        middle = leaf.start + n_left
        borders, hists = (leaf.start, middle, leaf.end), (leaf.hist, small)
        if 2 * n_left <= leaf.size:
            hists = (small, leaf.hist)
        leaf.hist, children = None, []
        for s, path in enumerate(self._paths(leaf)):
            gain = float(records[s, loop.GAIN])
            child = Node(borders[s], borders[s + 1], leaf.depth + 1, path, records[s], gain)
            if gain > 0:
                child.hist = hists[s]
            else:
                self.free.append(hists[s])
            children.append(child)
        return tuple(children)

    def _records(self) -> Array:
        return np.empty((2, loop.N_RECORD))

    def _paths(self, leaf: Node) -> list[int]:
        return [2 * leaf.path, 2 * leaf.path + 1]

    def _allowed(self, paths: list[int]) -> Array:
        """Features drawn for some nodes; all when `max_features` is one."""
        d = self.codes.n_features
        if self.share >= 1.0:
            return np.zeros((len(paths), 0), dtype=np.uint8)
        allowed = np.zeros((len(paths), d), dtype=np.uint8)
        for line, path in zip(allowed, paths):
            line[stream(self.seed, path % PRIME).permutation(d)[: max(1, int(self.share * d))]] = 1
        return allowed

    def _partition(self, leaf: Node) -> int:
        """Bring the rows that go left before the others, by all threads; return how many they are."""
        column = self.codes.columns[int(leaf.record[loop.FEATURE])]
        parts = [slice(leaf.start + a, leaf.start + b) for a, b in _parts(leaf.size, thread_count())]

        def one(part: slice) -> int:
            return loop.partition_rows(
                column, leaf.goes_left, self.rows[part], self.spare[0, part], self.spare[1, part]
            )

        counts = shared(one, parts)
        lefts = [self.spare[0, part][:n] for part, n in zip(parts, counts)]
        rights = [self.spare[1, part][: part.stop - part.start - n] for part, n in zip(parts, counts)]
        np.concatenate(lefts + rights, out=self.rows[leaf.start : leaf.end])
        return sum(counts)

    def values(self, g: Array, h: Array, nodes: list[Node], rate: float) -> tuple[Array, Array]:
        """Newton's steps, times `rate`: of every node (0 for inner ones) and of every row."""
        leaves = [node for node in nodes if not node.children]
        ranges = np.array([(leaf.start, leaf.end) for leaf in leaves])
        bounds = np.array([leaf.record[loop.LOWER : loop.OPEN] for leaf in leaves])
        found, step, values = np.empty(len(leaves)), np.empty(len(g)), np.zeros(len(nodes))

        def some(part: tuple[int, int]) -> None:
            own = slice(*part)
            newton_leaves(g, h, self.rows, ranges[own], bounds[own], self.limits.l2, rate, found[own], step)

        shared(some, _parts(len(leaves), thread_count() if len(g) > ALONE else 1))
        values[[leaf.index for leaf in leaves]] = found
        return values, step


def _parts(n: int, shares: int) -> list[tuple[int, int]]:
    """Cut n things into shares."""
    shares = max(1, min(n, shares))
    return [(n * k // shares, n * (k + 1) // shares) for k in range(shares)]


def to_tree(nodes: list[Node], values: Array, bins: Bins, l2: float) -> Tree:
    """Turn grown nodes into a `Tree` in preorder; `values` has one entry per node."""
    order, stack = [], [0]
    while stack:
        order.append(stack.pop())
        stack += [child.index for child in reversed(nodes[order[-1]].children)]
    new = {t: k for k, t in enumerate(order)}
    m = len(order)
    feature, threshold = np.full(m, LEAF, np.int32), np.full(m, -2.0)
    left, right = np.full(m, -1, np.int32), np.full(m, -1, np.int32)
    missing, gain, rank = np.zeros(m, np.int8), np.zeros(m), np.zeros(m, np.int64)
    start, count = np.full(m, -1, np.int32), np.zeros(m, np.int32)
    branches: list[int] = []
    for k, t in enumerate(order):
        node = nodes[t]
        if not node.children:
            continue
        f = feature[k] = int(node.record[loop.FEATURE])
        left[k], right[k] = (new[child.index] for child in node.children)
        missing[k], gain[k], rank[k] = node.goes_left[MISSING_CODE], node.gain, node.children[1].index // 2
        n_categories = int(bins.categories[f])
        if n_categories == 0:
            code = int(np.count_nonzero(node.goes_left[:MISSING_CODE])) - 1
            threshold[k] = bins.edges[f, code] if code < MISSING_CODE else np.inf
            continue
        threshold[k] = np.nan
        start[k], count[k] = len(branches), n_categories
        sides = np.where(node.goes_left[:n_categories], left[k], right[k])
        branches += [*sides.tolist(), left[k] if missing[k] else right[k]]
    sums = np.array([node.sums for node in nodes])[order]
    return Tree(
        feature, threshold, left, right, missing,
        np.asarray(values)[order][:, None, None],
        -0.5 * sums[:, 0] ** 2 / np.maximum(sums[:, 1] + l2, 1e-300),
        sums[:, 2].astype(np.int64),
        sums[:, 1],
        gain,
        rank,
        start if branches else np.zeros(0, np.int32),
        count if branches else np.zeros(0, np.int32),
        np.array(branches, dtype=np.int32),
    )  # fmt: skip
