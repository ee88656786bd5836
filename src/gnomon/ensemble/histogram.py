"""One boosted tree on byte codes: best-first growth with whole-number histograms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.randomness import stream
from gnomon.core.threads import in_order, one_blas_thread, thread_count
from gnomon.ensemble.objectives import chunks
from gnomon.loops import boosting as loop
from gnomon.loops.bins import pack_codes
from gnomon.trees.binning import MISSING_CODE, Bins
from gnomon.trees.nodes import LEAF, Tree

Array = np.ndarray
NARROW_ROWS = (20_000, 2**25)  # between them narrow words pay and their rounding is lost in the noise
THREAD_WORK = 150_000  # rows times features of a node worth several threads
PART = 32_768  # rows of a large node partitioned by one thread


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
    list(in_order(lambda part: pack_codes(codes, *part, words), chunks(n)))
    return Codes(codes, words, bins)


@dataclass(slots=True, eq=False)
class Node:
    """A node of a growing tree: the rows start..end, and the best split while it is a leaf."""

    start: int
    end: int
    depth: int
    sums: tuple[float, float, float]  # of g, of h, and the number of rows
    bounds: tuple[float, float]  # of its value
    index: int = 0  # among the nodes
    slot: int = -1  # its histograms
    gain: float = 0.0
    feature: int = LEAF
    split: Any = None  # see `loops.boosting`
    goes_left: Any = None  # for every code, once it is split
    children: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Rows inside."""
        return self.end - self.start


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
        self.packed = np.empty((n, 1 if self.narrow else 2), dtype=np.int64)
        self.left, self.right = np.empty(n, np.int32), np.empty(n, np.int32)
        self.kinds = np.zeros((codes.n_features, 2), dtype=np.int64)
        self.kinds[:, 0] = codes.bins.categories
        if monotone is not None:
            self.kinds[:, 1] = monotone
        self.rule = np.array([limits.l2, limits.min_samples_leaf, limits.min_hessian])

    def grow(
        self, g: Array, h: Array, top_g: float, top_h: float, rows: Array, seed: int, share: float
    ) -> tuple[list[Node], Array]:
        """Grow one tree; return its nodes and the rows grouped by leaf."""
        self.rows, self.seed, self.share = rows, seed, share
        self.free = list(range(len(self.hist)))
        self.nodes: list[Node] = []
        with one_blas_thread():
            self._pack(g, h, top_g, top_h)
            waiting = self._root()
            n_leaves = 1
            while waiting and n_leaves < self.limits.max_leaf_nodes:
                best = max(waiting, key=lambda leaf: (leaf.gain, -leaf.index))
                waiting.remove(best)
                waiting += self._split(best)
                n_leaves += 1
        for leaf in waiting:
            leaf.gain = 0.0
        return self.nodes, self.rows

    def _pack(self, g: Array, h: Array, top_g: float, top_h: float) -> None:
        """Round the derivatives to whole numbers."""
        if self.narrow:
            g_top, h_top = 2.0**13 - 2, 2.0**12 - 2
        else:
            g_top, h_top = 2.0 ** min(62 - self.bits, 50), 2.0 ** (self.count_shift - self.bits)
        g_scale, h_scale = g_top / max(top_g, 1e-300), h_top / max(top_h, 1e-300)
        self.scales = np.array([1.0 / g_scale, 1.0 / h_scale])
        fixed = (g_scale, h_scale, self.count_shift, self.narrow, np.uint64(self.seed))
        list(in_order(lambda c: loop.pack_rows(g, h, self.reps, *fixed, *c, self.packed), chunks(len(g))))

    # nodes

    def _add(self, node: Node) -> Node:
        node.index = len(self.nodes)
        self.nodes.append(node)
        return node

    def _slot(self) -> int:
        """A histogram that no waiting leaf needs."""
        if not self.free:
            self.hist.append(np.empty(self.shape, dtype=np.int64))
            self.free.append(len(self.hist) - 1)
        return self.free.pop()

    def _root(self) -> list[Node]:
        n, slot = len(self.rows), self._slot()
        self._over_blocks(n, lambda *blocks: self._fill(self.rows, blocks, slot))
        g, ch = self.hist[slot][0, :256].sum(axis=0).tolist()
        count, h = divmod(ch, 1 << self.count_shift)
        sums = (g * self.scales[0], h * self.scales[1], float(count))
        root = self._add(Node(0, n, 0, sums, (-np.inf, np.inf), slot=slot))
        return self._search([root], lambda *blocks: None)

    def _may_split(self, leaf: Node) -> bool:
        return leaf.depth < self.limits.max_depth and leaf.sums[2] >= 2 * self.limits.min_samples_leaf

    def _over_blocks(self, n: int, work: Callable[[int, int], Any]) -> None:
        """Do the work on all blocks of features: at once, or shared among threads. No block needs another."""
        blocks = self.shape[0]
        shares = 1 if n * self.codes.n_features < THREAD_WORK else min(blocks, thread_count())
        borders = [blocks * k // shares for k in range(shares + 1)]
        parts = list(zip(borders, borders[1:]))
        list(in_order(lambda part: work(*part), parts) if shares > 1 else [work(*parts[0])])

    def _fill(self, rows: Array, blocks: tuple[int, int], slot: int) -> None:
        loop.histograms(
            self.codes.words, self.packed, rows, *blocks, self.count_shift, self.narrow, self.hist[slot]
        )

    def _split(self, leaf: Node) -> list[Node]:
        """Apply a leaf's split; return those of its children that may be split again."""
        leaf.goes_left = self._sides(leaf)
        middle = self._partition(leaf)
        left = tuple(leaf.split[loop.G_LEFT : loop.COUNT_LEFT + 1].tolist())
        right = tuple(a - b for a, b in zip(leaf.sums, left))
        bounds = self._bounds(leaf, left, right)
        a = self._add(Node(leaf.start, middle, leaf.depth + 1, left, bounds[0]))
        b = self._add(Node(middle, leaf.end, leaf.depth + 1, right, bounds[1]))
        leaf.children = (a.index, b.index)
        if not (self._may_split(a) or self._may_split(b)):
            self.free.append(leaf.slot)
            return []
        small, large = (a, b) if a.sums[2] <= b.sums[2] else (b, a)
        small.slot, large.slot = self._slot(), leaf.slot
        rows = self.rows[small.start : small.end]

        def fill(*blocks: int) -> None:
            self._fill(rows, blocks, small.slot)
            loop.subtract(self.hist[large.slot], self.hist[small.slot], *blocks)

        return self._search([a, b], fill)

    def _search(self, leaves: list[Node], fill: Callable[[int, int], Any]) -> list[Node]:
        """Fill the leaves' histograms and find their best splits; return the leaves that have one."""
        open_ = [leaf for leaf in leaves if self._may_split(leaf)]
        found = np.empty((len(open_), self.codes.n_features, 6))
        allowed = [self._allowed(leaf) for leaf in open_]

        def work(*blocks: int) -> None:
            fill(*blocks)
            for leaf, may, splits in zip(open_, allowed, found):
                self._find(leaf, may, blocks, splits)

        self._over_blocks(min(leaf.size for leaf in leaves), work)
        for leaf, splits in zip(open_, found):
            self._choose(leaf, splits)
        self.free += [leaf.slot for leaf in leaves if leaf.gain <= 0]
        return [leaf for leaf in open_ if leaf.gain > 0]

    def _allowed(self, leaf: Node) -> Array:
        """Features drawn for a leaf; all when `max_features` is one."""
        if self.share >= 1.0:
            return np.zeros(0, dtype=np.uint8)
        d = self.codes.n_features
        allowed = np.zeros(d, dtype=np.uint8)
        allowed[stream(self.seed, leaf.index).permutation(d)[: max(1, int(self.share * d))]] = 1
        return allowed

    def _find(self, leaf: Node, allowed: Array, blocks: tuple[int, ...], found: Array) -> None:
        first, last = 8 * blocks[0], min(8 * blocks[1], self.codes.n_features)
        loop.find_splits(
            self.hist[leaf.slot], self.codes.bins.n_bins, self.kinds, allowed, first, last, self.scales,
            self.count_shift, self.rule, np.array([*leaf.sums, *leaf.bounds]), found,
        )  # fmt: skip

    def _choose(self, leaf: Node, splits: Array) -> None:
        """Take the best of the features' splits; ties up to rounding go to the lowest feature."""
        f = loop.best_feature(splits)
        if f >= 0:
            leaf.feature, leaf.split = f, splits[f]
            leaf.gain = float(splits[f, loop.GAIN])

    def _sides(self, leaf: Node) -> Array:
        """Whether each code goes left."""
        f, goes_left = leaf.feature, np.empty(256, np.uint8)
        cells = self.hist[leaf.slot][f // 8, 256 * (f % 8) : 256 * (f % 8) + 256]
        n_categories, rest = self.kinds[f, 0], (self.limits.l2, self.scales, self.count_shift)
        loop.sides_of(cells, n_categories, leaf.split, leaf.sums[2], *rest, goes_left)
        return goes_left

    def _bounds(self, leaf: Node, left: Any, right: Any) -> Any:
        lower, upper = leaf.bounds
        sign = self.kinds[leaf.feature, 1]
        if sign == 0:
            return (leaf.bounds, leaf.bounds)
        half = sum(np.clip(-s[0] / (s[1] + self.limits.l2), lower, upper) for s in (left, right)) / 2
        return ((lower, half), (half, upper)) if sign > 0 else ((half, upper), (lower, half))

    def _partition(self, leaf: Node) -> int:
        """Bring the rows that go left before the others; return where the others begin."""
        column, parts = self.codes.columns[leaf.feature], []
        step = PART if leaf.size >= 2 * PART else leaf.size
        for a in range(leaf.start, leaf.end, step):
            parts.append(slice(a, min(a + step, leaf.end)))

        def one(part: slice) -> int:
            rows = self.rows[part]
            return loop.partition_rows(column, leaf.goes_left, rows, self.left[part], self.right[part])

        counts = list(in_order(one, parts)) if len(parts) > 1 else [one(parts[0])]
        lefts = [self.left[part][:n] for part, n in zip(parts, counts)]
        rights = [self.right[part][: part.stop - part.start - n] for part, n in zip(parts, counts)]
        np.concatenate(lefts + rights, out=self.rows[leaf.start : leaf.end])
        return leaf.start + sum(counts)


def to_tree(nodes: list[Node], values: Array, bins: Bins, l2: float) -> Tree:
    """Turn grown nodes into a `Tree` in preorder; `values` has one entry per node."""
    order, stack = [], [0]
    while stack:
        order.append(stack.pop())
        if nodes[order[-1]].children:
            stack += reversed(nodes[order[-1]].children)
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
        f = feature[k] = node.feature
        left[k], right[k] = (new[c] for c in node.children)
        missing[k], gain[k], rank[k] = node.goes_left[MISSING_CODE], node.gain, node.children[1] // 2
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
