"""One boosted tree on byte codes: best-first growth with whole-number histograms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.threads import in_order
from gnomon.loops import boosting as loop
from gnomon.loops.bins import pack_codes
from gnomon.trees.binning import Bins
from gnomon.trees.nodes import LEAF, Tree

Array = np.ndarray
NARROW_ROWS = 20_000  # from here on narrow words pay and their rounding is lost in the noise
THREAD_WORK = 150_000  # rows times features of a node worth several threads
_EMPTY = np.zeros((0, 0, 0), dtype=np.int64)


class Limits(NamedTuple):
    """Limits of one boosted tree."""

    max_leaf_nodes: int
    max_depth: int
    min_samples_leaf: float
    l2: float
    min_hessian: float = 1e-3


class Codes(NamedTuple):
    """Codes of the training rows, eight features to a word."""

    columns: Array  # (d, n) uint8
    words: Array  # (blocks, n) uint64
    bins: Bins
    n_features: int


def pack(codes: Array, bins: Bins) -> Codes:
    """Pack byte codes into words."""
    d, n = codes.shape
    words = np.zeros((-(-d // 8), n), dtype=np.uint64)
    list(in_order(lambda b: pack_codes(codes[8 * b : 8 * b + 8], words[b : b + 1]), range(len(words))))
    return Codes(codes, words, bins, d)


class Histogrammer:
    """Grows trees on the same codes; keeps the work arrays between trees."""

    def __init__(
        self, codes: Codes, limits: Limits, monotone: Array | None, reps: Array, *, narrow: bool
    ) -> None:
        self.codes, self.limits, self.reps = codes, limits, reps
        blocks, n = codes.words.shape
        self.narrow = narrow and n >= NARROW_ROWS
        self.bits = int(reps.sum()).bit_length()
        self.count_shift = 62 - self.bits
        self.shape = (blocks, 2048, 3)
        self.hist = [np.empty(self.shape, dtype=np.int64)]  # one per leaf that may still be split
        self.packed = np.empty((n, 1 if self.narrow else 2), dtype=np.int64)
        self.left, self.spare = np.empty(n, np.int32), np.empty(n, np.int32)
        step = -(-blocks // 4)
        self.ranges = [(b, min(b + step, blocks)) for b in range(0, blocks, step)]
        self.kinds = np.zeros((codes.n_features, 2), dtype=np.int64)
        self.kinds[:, 0] = codes.bins.categories
        if monotone is not None:
            self.kinds[:, 1] = monotone
        self.rule = np.array([limits.l2, limits.min_samples_leaf, limits.min_hessian])

    def _pack(self, g: Array, h: Array, top_g: float, top_h: float, salt: int) -> None:
        n, bits = len(g), self.bits
        if self.narrow:
            g_top, h_top = 2.0**13 - 2, 2.0**12 - 2
        else:
            g_top, h_top = 2.0 ** min(62 - bits, 50), 2.0 ** (self.count_shift - bits)
        g_scale, h_scale = g_top / max(top_g, 1e-300), h_top / max(top_h, 1e-300)
        self.scales = np.array([1.0 / g_scale, 1.0 / h_scale])
        from gnomon.ensemble.objectives import chunks

        def one(block: tuple[int, int]) -> None:
            loop.pack_rows(
                g,
                h,
                self.reps,
                g_scale,
                h_scale,
                self.count_shift,
                self.narrow,
                np.uint64(salt),
                *block,
                self.packed,
            )

        list(in_order(one, chunks(n)))

    def grow(
        self, g: Array, h: Array, top_g: float, top_h: float, rows: Array, seed: int, share: float
    ) -> Any:
        """Grow one tree; returns (Grown, rows grouped by leaf)."""
        self._pack(g, h, top_g, top_h, seed)
        self.seed, self.share = seed, share
        self.free = list(range(1, len(self.hist)))
        self.rows = rows
        self.leaves: list[_Leaf] = []
        self.nodes: list[dict[str, Any]] = []
        root = self._root(g, h)
        waiting = [root] if root.gain > 0 else []
        n_leaves = 1
        while waiting and n_leaves < self.limits.max_leaf_nodes:
            best = max(waiting, key=lambda leaf: (leaf.gain, -leaf.node))
            waiting.remove(best)
            waiting += [leaf for leaf in self._split(best) if leaf.gain > 0]
            n_leaves += 1
        return self.nodes, self.rows

    # nodes

    def _leaf(
        self, start: int, end: int, depth: int, slot: int, sums: tuple[float, float, float], bounds: Any
    ) -> Any:
        ints = np.zeros(loop.N_LEAF_INT, dtype=np.int64)
        floats = np.zeros(loop.N_LEAF_FLOAT)
        floats[:3] = sums
        floats[[loop.LO_VALUE, loop.HI_VALUE]] = bounds
        node = {"feature": LEAF, "start": start, "end": end, "sums": sums, "bounds": bounds, "depth": depth}
        self.nodes.append(node)
        return _Leaf(start, end, depth, slot, len(self.nodes) - 1, ints, floats)

    def _root(self, g: Array, h: Array) -> Any:
        n = len(self.rows)
        self._fill(self.rows, n, _EMPTY, self.hist[0], self.hist[0], [], [])
        first = self.hist[0][0, :256]
        total = first.sum(axis=0)
        sums = (total[0] * self.scales[0], total[1] * self.scales[1], float(total[2]))
        leaf = self._leaf(0, n, 0, 0, sums, (-np.inf, np.inf))
        self._search([leaf], n)
        return leaf

    def _may_split(self, leaf: Any) -> bool:
        count = leaf.floats[loop.COUNT]
        return leaf.depth < self.limits.max_depth and count >= 2 * self.limits.min_samples_leaf

    def _fill(
        self, rows: Array, n: int, parent: Array, small: Array, sibling: Array, one: Any, two: Any
    ) -> None:
        def work(block: tuple[int, int]) -> None:
            loop.histograms(
                self.codes.words,
                self.packed,
                rows,
                *block,
                parent,
                small,
                sibling,
                self.count_shift,
                self.narrow,
            )

        if n * self.codes.n_features < THREAD_WORK:
            work((0, len(self.codes.words)))
        else:
            list(in_order(work, self.ranges))

    def _allowed(self, leaf: Any) -> Array:
        """Features drawn for a leaf, by its path; all when `max_features` is one."""
        if self.share >= 1.0:
            return np.zeros(0, dtype=np.uint8)
        d = self.codes.n_features
        rng = np.random.Generator(np.random.Philox(key=[self.seed, leaf.node]))
        allowed = np.zeros(d, dtype=np.uint8)
        allowed[rng.permutation(d)[: max(1, int(self.share * d))]] = 1
        return allowed

    def _search(self, leaves: list[Any], n: int) -> None:
        """Find the best split of each leaf from its histograms."""
        leaves = [leaf for leaf in leaves if self._may_split(leaf)]
        allowed = [self._allowed(leaf) for leaf in leaves]
        ranges = [(0, len(self.codes.words))] if n * self.codes.n_features < THREAD_WORK else self.ranges

        def work(block: tuple[int, int]) -> list[Any]:
            return [self._find(leaf, block, may) for leaf, may in zip(leaves, allowed)]

        for found in in_order(work, ranges) if len(ranges) > 1 else map(work, ranges):
            for leaf, (ints, floats, mask) in zip(leaves, found):
                if floats[0] > 0 and floats[0] > leaf.gain * (1 + 1e-12):
                    leaf.gain, leaf.best, leaf.sums, leaf.mask = floats[0], ints, floats, mask

    def _find(self, leaf: Any, block: tuple[int, int], allowed: Array) -> tuple[Array, Array, Array]:
        ints, floats, mask = np.zeros(4, np.int64), np.zeros(4), np.zeros(256, np.uint8)
        first, last = 8 * block[0], min(8 * block[1], self.codes.n_features)
        loop.find_split(
            self.hist[leaf.slot], self.codes.bins.n_bins, self.kinds, allowed, first, last, self.scales,
            self.rule, leaf.ints, leaf.floats, ints, floats, mask,
        )  # fmt: skip
        return ints, floats, mask

    def _split(self, leaf: Any) -> list[Any]:
        """Apply a leaf's split; return its two children with their own best splits."""
        f, code, missing_left, categorical = (int(v) for v in leaf.best)
        middle = self._partition(leaf, f, code, missing_left, categorical)
        g, h, c = (float(v) for v in leaf.floats[:3])
        left = (float(leaf.sums[1]), float(leaf.sums[2]), float(leaf.sums[3]))
        right = (g - left[0], h - left[1], c - left[2])
        bounds = self._bounds(leaf, f, left, right)
        free = self._slot()
        small_left = left[2] <= right[2]
        slots = (free, leaf.slot) if small_left else (leaf.slot, free)
        a = self._leaf(leaf.start, middle, leaf.depth + 1, slots[0], left, bounds[0])
        b = self._leaf(middle, leaf.end, leaf.depth + 1, slots[1], right, bounds[1])
        self.nodes[leaf.node] |= {
            "feature": f, "code": code, "missing_left": missing_left, "left": a.node, "right": b.node,
            "mask": leaf.mask if categorical else None, "gain": leaf.gain, "order": len(self.nodes) // 2,
        }  # fmt: skip
        if not (self._may_split(a) or self._may_split(b)):
            self.free += [leaf.slot, free]
            return []
        small = a if small_left else b
        rows = self.rows[small.start : small.end]
        parent = self.hist[leaf.slot]
        n = small.end - small.start
        self._fill(rows, n, parent, self.hist[free], parent, a, b)
        self._search([a, b], n)
        self.free += [child.slot for child in (a, b) if child.gain <= 0]
        return [a, b]

    def _slot(self) -> int:
        """A histogram that no waiting leaf needs."""
        if not self.free:
            self.hist.append(np.empty(self.shape, dtype=np.int64))
            return len(self.hist) - 1
        return self.free.pop()

    def _bounds(self, leaf: Any, f: int, left: Any, right: Any) -> Any:
        lower, upper = leaf.floats[loop.LO_VALUE], leaf.floats[loop.HI_VALUE]
        sign = self.kinds[f, 1]
        if sign == 0:
            return ((lower, upper), (lower, upper))
        half = sum(np.clip(-s[0] / (s[1] + self.limits.l2), lower, upper) for s in (left, right)) / 2
        return ((lower, half), (half, upper)) if sign > 0 else ((half, upper), (lower, half))

    def _partition(self, leaf: Any, f: int, code: int, missing_left: int, categorical: int) -> int:
        n = leaf.end - leaf.start
        step = n if n < 2 * THREAD_WORK else -(-n // 4)
        parts = [(s, min(s + step, leaf.end)) for s in range(leaf.start, leaf.end, step)]

        def one(part: tuple[int, int]) -> int:
            a, b = part
            return loop.partition_rows(
                self.codes.columns[f], code, missing_left, categorical, leaf.mask, self.rows, a, b,
                self.left[a:], self.spare[a:],
            )  # fmt: skip

        counts = list(in_order(one, parts)) if len(parts) > 1 else [one(parts[0])]
        at = leaf.start
        for (a, _), count in zip(parts, counts):
            self.rows[at : at + count] = self.left[a : a + count]
            at += count
        middle = at
        for (a, b), count in zip(parts, counts):
            rest = b - a - count
            self.rows[at : at + rest] = self.spare[a : a + rest]
            at += rest
        return middle


class _Leaf:
    """A leaf while its tree grows."""

    def __init__(
        self, start: int, end: int, depth: int, slot: int, node: int, ints: Array, floats: Array
    ) -> None:
        self.start, self.end, self.depth, self.slot, self.node = start, end, depth, slot, node
        self.ints, self.floats, self.gain = ints, floats, 0.0
        self.best: Any = None
        self.sums: Any = None
        self.mask = np.zeros(256, dtype=np.uint8)


def to_tree(nodes: list[dict[str, Any]], values: Array, bins: Bins, l2: float) -> Tree:
    """Turn grown nodes into a `Tree` in preorder; `values` has one entry per node."""
    order, stack = [], [0]
    while stack:
        t = stack.pop()
        order.append(t)
        if nodes[t]["feature"] != LEAF:
            stack += [nodes[t]["right"], nodes[t]["left"]]
    new = {t: k for k, t in enumerate(order)}
    m = len(order)
    feature, threshold = np.full(m, LEAF, np.int32), np.full(m, -2.0)
    left, right = np.full(m, -1, np.int32), np.full(m, -1, np.int32)
    missing, gain, rank = np.zeros(m, np.int8), np.zeros(m), np.zeros(m, np.int64)
    start, count = np.full(m, -1, np.int32), np.zeros(m, np.int32)
    branches: list[int] = []
    for k, t in enumerate(order):
        node = nodes[t]
        if node["feature"] == LEAF:
            continue
        f = feature[k] = node["feature"]
        threshold[k] = bins.edges[f, node["code"]] if node["code"] < 255 else np.inf
        left[k], right[k], missing[k] = new[node["left"]], new[node["right"]], node["missing_left"]
        gain[k], rank[k] = node["gain"], node["order"]
        if node["mask"] is not None:
            threshold[k] = np.nan
            n_categories = int(bins.categories[f])
            start[k], count[k] = len(branches), n_categories
            sides = [left[k] if node["mask"][c] else right[k] for c in range(n_categories)]
            branches += [*sides, left[k] if missing[k] else right[k]]
    sums = np.array([node["sums"] for node in nodes])[order]
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
