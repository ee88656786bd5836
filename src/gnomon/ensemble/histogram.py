"""One boosted tree on byte codes: best-first growth with whole-number histograms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.core.threads import one_blas_thread, shared, thread_count
from gnomon.ensemble.best_first import Frontier, Node
from gnomon.ensemble.objectives import chunks
from gnomon.loops import histograms as loop
from gnomon.loops import leaves
from gnomon.loops.bins import pack_codes
from gnomon.loops.boosting import newton_leaves, pack_rows
from gnomon.trees.binning import MISSING_CODE, Bins
from gnomon.trees.nodes import LEAF, Tree

Array = np.ndarray
NARROW_ROWS = (20_000, 2**25)  # between them narrow words pay and their rounding is lost in the noise
MANY_ROWS = 200_000  # from here on the leaves of a tree are worth several threads
ALONE = 20_000  # rows whose leaf values one thread finds alone
LIKELY = 1.1  # what gains a little more than the leaves left out of the last tree
POOL_BYTES = 2**27  # of the histograms that one thread keeps


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
        n, self.blocks = codes.words.shape
        self.narrow = narrow and NARROW_ROWS[0] <= n <= NARROW_ROWS[1]
        self.bits = int(reps.sum()).bit_length()
        self.count_shift = 62 - self.bits
        self.pools: list[Array] = []  # histograms of the leaves that one thread splits
        self.free: list[Array] = []  # histograms of single leaves
        self.likely = np.inf  # a leaf that gains more will be split
        self.packed = np.empty((n, 1 if self.narrow else 2), dtype=np.int64)
        self.spare = np.empty(n, np.int32)
        kinds = np.zeros((codes.n_features, 2), dtype=np.int64)
        kinds[:, 0] = codes.bins.categories
        if monotone is not None:
            kinds[:, 1] = monotone
        self.ground = loop.Ground(codes.words, codes.columns, codes.bins.n_bins, kinds)

    def grow(
        self, g: Array, h: Array, top_g: float, top_h: float, rows: Array, seed: int, share: float
    ) -> tuple[list[Node], Array]:
        """Grow one tree; return its nodes and the rows grouped by leaf."""
        self.rows = rows
        with one_blas_thread():
            root = self._root(self._pack(g, h, top_g, top_h, seed, share), seed)
            frontier = Frontier(root, self.limits.max_leaf_nodes)
            if thread_count() > 1 and len(rows) > MANY_ROWS:
                self._split_side_by_side(frontier)
            while (leaf := frontier.due()) is not None:
                self._split(leaf, frontier.rival(), frontier.room)
        self.likely = LIKELY * frontier.left_out()
        for leaf in frontier.split_in_vain():
            rows[leaf.start : leaf.end].sort()
            leaf.children = ()
        return frontier.nodes, rows

    def _split_side_by_side(self, frontier: Frontier) -> None:
        """Split large leaves by all threads together, then side by side those whose turn will come: they gain
        more than what was left out of the last tree.
        """
        large, known = len(self.rows) // (2 * thread_count()), np.isfinite(self.likely)
        while (leaf := frontier.due()) is not None and leaf.size > large:
            self._split_together(leaf)
        likely = self.likely if known else 0.0
        waiting = frontier.waiting(likely)
        share = frontier.room if known else -(-frontier.room // max(1, len(waiting)))
        if share > 0:
            shared(lambda one: self._split(one, likely, share), waiting)

    def _pack(self, g: Array, h: Array, top_g: float, top_h: float, seed: int, share: float) -> Array:
        """Round the derivatives to whole numbers; return the record of all rows."""
        if self.narrow:
            g_top, h_top = 2.0**13 - 2, 2.0**12 - 2
        else:
            g_top, h_top = 2.0 ** min(62 - self.bits, 50), 2.0 ** (self.count_shift - self.bits)
        g_scale, h_scale = g_top / max(top_g, 1e-300), h_top / max(top_h, 1e-300)
        limits, drawn = self.limits, max(1, int(share * self.codes.n_features))
        self.terms = loop.Terms(
            1.0 / g_scale, 1.0 / h_scale, self.count_shift, self.narrow, limits.l2, limits.min_samples_leaf,
            limits.min_hessian, limits.max_depth, drawn,
        )  # fmt: skip
        fixed = (g_scale, h_scale, self.count_shift, self.narrow, np.uint64(seed))
        parts = shared(lambda part: pack_rows(g, h, self.reps, *fixed, *part, self.packed), chunks(len(g)))
        sums = [sum(numbers) for numbers in zip(*parts)]
        record = np.zeros(loop.N_RECORD)
        record[: loop.LOWER] = sums[0] / g_scale, sums[1] / h_scale, sums[2]
        may_split = limits.max_depth > 0 and sums[2] >= 2 * limits.min_samples_leaf
        record[loop.LOWER : loop.GAIN] = -np.inf, np.inf, may_split
        return record

    # nodes

    def _root(self, record: Array, seed: int) -> Node:
        root = Node(0, len(self.rows), 0, seed, record, 0.0)
        if record[loop.OPEN]:
            root.hist = self._histogram()
            self._search_together(
                self.rows, root.hist, root.hist, 0, np.array([seed], np.uint64), record[None]
            )
        root.gain = float(record[loop.GAIN])
        return root

    def _histogram(self) -> Array:
        """Histograms that no leaf needs."""
        try:
            return self.free.pop()
        except IndexError:
            return np.empty((2, 2048 * self.blocks), dtype=np.int64)

    def _pool(self) -> Array:
        """Room for the histograms of the leaves that one thread splits."""
        try:
            return self.pools.pop()
        except IndexError:
            size = 2 * 2048 * 8 * self.blocks
            places = max(4, min(self.limits.max_leaf_nodes + 1, 64, POOL_BYTES // size))
            return np.empty((places, 2, 2048 * self.blocks), dtype=np.int64)

    def _split(self, leaf: Node, likely: float, limit: int) -> None:
        """Split a leaf and its offspring while they gain more than `likely`, at most `limit` times."""
        most = leaf.record[loop.COUNT] / max(1.0, self.limits.min_samples_leaf)
        limit = max(1, min(limit, leaf.size, int(most)))
        ints, sides = (
            np.empty((2 * limit + 1, leaves.N_INT), np.int64),
            np.empty((2 * limit + 1, 256), np.uint8),
        )
        records, pool = np.empty((2 * limit + 1, loop.N_RECORD)), self._pool()
        ints[0] = leaf.start, leaf.end, leaf.depth, -1, -1, leaf.key
        records[0] = leaf.record
        if leaf.hist is not None:
            pool[0], ints[0, leaves.SLOT] = leaf.hist, 0
            self.free.append(leaf.hist)
        n = leaves.grow_leaf(
            self.ground,
            self.packed,
            self.terms,
            likely,
            limit,
            self.rows,
            self.spare,
            pool,
            ints,
            records,
            sides,
        )
        self.pools.append(pool)
        self._adopt(leaf, ints[:n].tolist(), records, sides)

    def _adopt(self, leaf: Node, ints: list[list[int]], records: Array, sides: Array) -> None:
        """Turn the tables of a split leaf into nodes."""
        gains = records[: len(ints), loop.GAIN].tolist()
        nodes = [leaf]
        for k in range(1, len(ints)):
            start, end, depth, *_, key = ints[k]
            nodes.append(Node(start, end, depth, key, records[k], gains[k]))
        leaf.hist = None
        for k, node in enumerate(nodes):
            first = ints[k][leaves.FIRST]
            if first >= 0:
                node.goes_left, node.children = sides[k], (nodes[first], nodes[first + 1])

    def _split_together(self, leaf: Node) -> None:
        """Split a large leaf by all threads."""
        leaf.goes_left, keys, records = (
            np.empty(256, np.uint8),
            np.empty(2, np.uint64),
            np.empty((2, loop.N_RECORD)),
        )
        part = slice(leaf.start, leaf.end)
        n_left = leaves.part_large(
            self.ground, self.terms, leaf.record, leaf.depth, leaf.key, self.rows[part],
            self.spare[part], leaf.hist, leaf.goes_left, records, keys,
        )  # fmt: skip
        middle, hists = leaf.start + n_left, [self._histogram(), leaf.hist]
        which = 0 if 2 * n_left <= leaf.size else 1
        if records[:, loop.OPEN].any():
            rows = self.rows[leaf.start : middle] if which == 0 else self.rows[middle : leaf.end]
            self._search_together(rows, *hists, which, keys, records)
        borders, gains, leaf.hist = (leaf.start, middle, leaf.end), records[:, loop.GAIN].tolist(), None
        leaf.children = tuple(
            Node(borders[s], borders[s + 1], leaf.depth + 1, int(keys[s].view(np.int64)), records[s], gains[s],
                 hists[s != which]) for s in range(2)
        )  # fmt: skip

    def _search_together(
        self, rows: Array, small: Array, large: Array, which: int, keys: Array, records: Array
    ) -> None:
        """`loops.leaves.search` with the blocks of features shared among threads: none needs another."""
        found = np.empty((len(records), self.codes.n_features, loop.N_SPLIT))
        fixed = (self.ground, self.packed, self.terms, rows, small, large, which, keys, records)
        shared(lambda part: leaves.search(*fixed, *part, found), _parts(self.blocks, 2 * thread_count()))
        leaves.choose_all(found, self.terms.l2, records)

    def values(self, g: Array, h: Array, nodes: list[Node], rate: float) -> tuple[Array, Array]:
        """Newton's steps, times `rate`: of every node (0 for inner ones) and of every row."""
        ends = [node for node in nodes if not node.children]
        ranges = np.array([(leaf.start, leaf.end) for leaf in ends])
        bounds = np.array([leaf.record[loop.LOWER : loop.OPEN] for leaf in ends])
        found, step, values = np.empty(len(ends)), np.empty(len(g)), np.zeros(len(nodes))

        def some(part: tuple[int, int]) -> None:
            own = slice(*part)
            newton_leaves(g, h, self.rows, ranges[own], bounds[own], self.limits.l2, rate, found[own], step)

        shared(some, _parts(len(ends), thread_count() if len(g) > ALONE else 1))
        values[[leaf.index for leaf in ends]] = found
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
