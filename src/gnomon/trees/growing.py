"""From data to a `Tree`: sorted columns or byte codes, the rules of growth, and the threads that grow."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.randomness import draw_seed
from gnomon.core.threads import in_order
from gnomon.loops import grow as loop
from gnomon.loops import large
from gnomon.loops.grow import GrowData
from gnomon.loops.search import N_FLOAT
from gnomon.loops.tree_predict import preorder
from gnomon.loops.trees import ERROR, SMALL_NODE, GrowRules
from gnomon.trees.binning import Bins, bin_columns, find_bins
from gnomon.trees.coded import grow_coded, is_quick
from gnomon.trees.nodes import LEAF, Tree
from gnomon.trees.problems import Growth, Problem
from gnomon.trees.sparse_columns import SparseColumns, grow_from_entries, sparse_columns

Array = np.ndarray

SHORT = 1024  # rows up to which columns are sorted before another thread has heard of it
LARGE_NODE = 16_384  # rows from which one node is worth several threads
_NOTHING = np.zeros((1, 1))
_NO_MASKS = np.zeros((1, 1), np.uint8)


class Prepared(NamedTuple):
    """The columns of X, ready for any number of trees."""

    columns: Array  # (d, n) float64, sorted; (1, 1) with codes
    codes: Array  # (d, n) uint8; (1, 1) when exact
    bins: Bins | None
    categories: Array  # (d,) int64
    order: Array  # (d, n) rows sorted by every column; (1, n) with codes

    @property
    def exact(self) -> bool:
        """Whether splits fall between any two values."""
        return self.bins is None

    def choose(self, chosen: Array) -> Prepared:
        """Return some of the columns."""
        if self.bins is None:
            return self._replace(
                columns=self.columns[chosen], order=self.order[chosen], categories=self.categories[chosen]
            )
        bins = Bins(*(field[chosen] for field in self.bins))
        return self._replace(codes=self.codes[chosen], bins=bins, categories=self.categories[chosen])


def prepare(
    X: Any, categories: Array, max_bins: int | None, weight: Array | None = None
) -> Prepared | SparseColumns:
    """Sort every column (``max_bins=None``), or cut it into at most `max_bins` bins of equal weight.

    The columns of a sparse X are sorted always: there are few entries in them.
    """
    if sparse.issparse(X):
        return sparse_columns(X)
    n, d = X.shape
    if max_bins is not None:
        bins = find_bins(X, max_bins, categories, weight)
        codes = bin_columns(X, bins)
        return Prepared(_NOTHING, codes, bins, categories, np.arange(n, dtype=np.int32)[None])
    if n < SHORT:
        lines = np.ascontiguousarray(X.T, dtype=np.float64)
        places = lines.argsort(axis=1)
        columns = lines.ravel()[places + n * np.arange(d)[:, None]]
        return Prepared(columns, np.zeros((1, 1), np.uint8), None, categories, places.astype(np.int32))
    columns, order = np.empty((d, n)), np.empty((d, n), dtype=np.int32)

    def sort(f: int) -> None:
        column = np.ascontiguousarray(X[:, f], dtype=np.float64)
        order[f] = np.argsort(column)
        columns[f] = column[order[f]]

    list(in_order(sort, range(d)))
    return Prepared(columns, np.zeros((1, 1), np.uint8), None, categories, order)


def grow_tree(
    prepared: Prepared | SparseColumns, problem: Problem, growth: Growth, rng: Any, rows: Array | None = None
) -> Tree:
    """Grow one tree on the given rows (a mask; all rows when None)."""
    total = float(problem.weight.sum() if rows is None else problem.weight[rows].sum())
    rules = grow_rules(prepared, problem, growth, total)
    key = np.uint64(draw_seed(rng))
    if isinstance(prepared, SparseColumns):
        found = grow_from_entries(prepared, problem, rules, growth.monotone, key, rows)
        return make_tree(*found, prepared, problem, depth_first=rules.max_leaf_nodes == 0)
    columns, order = _lines(prepared, rows)
    if is_quick(prepared, problem, rules):
        return grow_coded(prepared, problem, rules, order[0], key)
    data = grow_data(prepared, problem, growth, columns)
    if rules.max_leaf_nodes == 0 and not rules.constrained:
        parts = _grow_by_parts(data, rules, order, key)
    else:
        side = np.zeros(len(problem.weight), dtype=np.uint8)
        parts = grow_subtree(data, rules, order, side, 0, order.shape[1], 0, key)
    return make_tree(*parts, prepared, problem, depth_first=rules.max_leaf_nodes == 0)


def grow_data(prepared: Prepared, problem: Problem, growth: Growth, columns: Array) -> GrowData:
    """Return what the loops grow a tree from."""
    kinds = np.zeros((len(prepared.categories), 2), dtype=np.int64)
    kinds[:, 0] = prepared.categories
    if growth.monotone is not None:
        kinds[:, 1] = growth.monotone
    wr = np.stack([problem.weight, problem.reps], axis=1)
    of = (kinds, problem.labels, problem.target, wr)
    if prepared.bins is None:
        return GrowData(columns, None, None, *of)
    return GrowData(None, prepared.codes, np.stack([prepared.bins.lows, prepared.bins.highs], axis=2), *of)


def _lines(prepared: Prepared, rows: Array | None) -> tuple[Array, Array]:
    """Copies of the sorted columns and of the order, without the rows that are left out."""
    columns, order = prepared.columns, prepared.order
    if rows is None or rows.all():
        return (columns.copy() if prepared.exact else columns), order.copy()
    kept = [rows[line] for line in order]
    if prepared.exact:
        columns = np.stack([line[keep] for line, keep in zip(columns, kept)])
    return columns, np.stack([line[keep] for line, keep in zip(order, kept)])


def grow_rules(
    prepared: Prepared | SparseColumns, problem: Problem, growth: Growth, total: float
) -> GrowRules:
    """Return the limits of growth as the loops read them."""
    return GrowRules(
        criterion=problem.criterion,
        n_stats=problem.n_stats,
        exact=isinstance(prepared, SparseColumns) or prepared.exact,
        plain=_plain(problem),
        random=bool(growth.random),
        max_depth=int(growth.max_depth),
        max_features=int(min(growth.max_features, len(prepared.categories))),
        max_leaf_nodes=int(growth.max_leaf_nodes),
        constrained=growth.monotone is not None and bool(np.any(growth.monotone)),
        min_samples_split=float(growth.min_samples_split),
        min_samples_leaf=float(growth.min_samples_leaf),
        min_weight_leaf=float(growth.min_weight_leaf),
        min_decrease=float(growth.min_impurity_decrease * total),
    )


def _plain(problem: Problem) -> int:
    if problem.weight is not problem.reps and not np.array_equal(problem.weight, problem.reps):
        return 0
    return 2 if (problem.weight == 1).all() else 1


def grow_subtree(data: GrowData, rules: GrowRules, order: Array, side: Array, lo: int, hi: int, depth: int,
          key: Any) -> tuple[Array, ...]:  # fmt: skip
    """Grow the subtree of the rows lo..hi; return numbers, values and masks with one line per node.

    There is room for as many nodes as there may be; memory that is never touched costs nothing.
    """
    n = hi - lo
    room = 2 * (min(n, rules.max_leaf_nodes) if rules.max_leaf_nodes > 0 else n) - 1
    ints, floats = np.zeros((room, loop.N_INT), np.int64), np.zeros((room, N_FLOAT))
    values, work = np.zeros((room, rules.n_stats)), _search_room(data, rules, n)
    masks = None if work[0] is None else np.zeros((room, len(work[0])), np.uint8)
    first = ints[0]
    first[loop.LO], first[loop.HI], first[loop.DEPTH] = lo, hi, depth
    first[loop.LEFT] = first[loop.RIGHT] = -1
    first[loop.KEY] = np.uint64(key).view(np.int64)
    count = loop.grow(*data, rules, order, side, ints, floats, values, masks, np.empty(room, np.int64),
                      *_spare(data, order, n), np.zeros((2, rules.n_stats + 2)), *work)  # fmt: skip
    return ints[:count], floats[:count], values[:count], _NO_MASKS if masks is None else masks[:count]


def _search_room(data: GrowData, rules: GrowRules, n: int) -> tuple[Array | None, ...]:
    """Return the work arrays of a search among n rows; some are for categories alone."""
    m, size, n_categories = rules.n_stats, max(n, 256) if rules.exact else 256, int(data.kinds[:, 0].max())
    mask = ranked = power = None
    if n_categories > 0:
        mask, power = np.zeros(n_categories, np.uint8), np.zeros((m + 3, m))
        ranked = np.zeros((max(n_categories, 512), m + 4))
    notes, keys = np.zeros((4, max(5, m + 2))), np.empty(SMALL_NODE, np.int64)
    features = np.empty(len(data.kinds), np.int64)
    return mask, np.zeros((size, m + 2)), ranked, np.zeros((size, 3)), notes, power, keys, features


def _spare(data: GrowData, order: Array, n: int) -> tuple[Array, Array | None]:
    """Return room for rows and values that are moved."""
    return np.empty(n, order.dtype), None if data.columns is None else np.empty(n)


def _grow_by_parts(data: GrowData, rules: GrowRules, order: Array, key: Any) -> tuple[Array, ...]:
    """Split large nodes with threads over features, then grow the small subtrees side by side."""
    side = np.zeros(len(data.wr), dtype=np.uint8)
    n = order.shape[1]
    if n < LARGE_NODE or order.shape[0] < 2:
        return grow_subtree(data, rules, order, side, 0, n, 0, key)
    top, small = TopNodes(data, rules, order, side), []
    waiting = [(top.add(0, n, 0), key)]
    while waiting:
        node, key = waiting.pop()
        if top.size(node) < LARGE_NODE:
            small.append((node, key))
        else:
            waiting += top.split(node, key)
    small.sort(key=lambda pair: -top.size(pair[0]))
    blocks = in_order(lambda pair: top.subtree(*pair), small)
    return top.join(dict(zip([node for node, _ in small], blocks)))


class TopNodes:
    """The first nodes of one tree, split one at a time by all threads."""

    def __init__(self, data: GrowData, rules: GrowRules, order: Array, side: Array) -> None:
        self.data, self.rules, self.order, self.side = data, rules, order, side
        d = len(data.kinds)
        self.n_categories = int(data.kinds[:, 0].max())
        step = -(-d // 4)
        self.ranges = [(f, min(f + step, d)) for f in range(0, d, step)]
        if rules.max_features < d:
            self.ranges = [(0, d)]
        self.ints: list[Array] = []
        self.floats: list[Array] = []
        self.values: list[Array] = []
        self.masks: list[Array] = []

    def add(self, lo: int, hi: int, depth: int) -> int:
        ints, floats = np.full(loop.N_INT, -1, np.int64), np.zeros(N_FLOAT)
        ints[[loop.LO, loop.HI, loop.DEPTH]] = lo, hi, depth
        floats[[loop.LOWER, loop.UPPER]] = -np.inf, np.inf
        self.ints.append(ints)
        self.floats.append(floats)
        self.values.append(np.zeros(self.rules.n_stats))
        self.masks.append(np.zeros(max(self.n_categories, 1), np.uint8))
        return len(self.ints) - 1

    def size(self, node: int) -> int:
        return int(self.ints[node][loop.HI] - self.ints[node][loop.LO])

    def split(self, node: int, key: Any) -> list[tuple[int, Any]]:
        """Search and apply the split of a large node; return its children, right before left."""
        if not self._search(node, key):
            return []
        ints = self.ints[node]
        lo, hi, depth = int(ints[loop.LO]), int(ints[loop.HI]), int(ints[loop.DEPTH])
        n_left = self.part(node)
        left, right = self.add(lo, lo + n_left, depth + 1), self.add(lo + n_left, hi, depth + 1)
        ints[[loop.LEFT, loop.RIGHT]] = left, right
        return list(zip((left, right), map(np.uint64, large.keys_of_children(key))))[::-1]

    def part(self, node: int) -> int:
        """Move the rows of a node to the side where its split sends them; return how many go left."""
        ints, data, masks = self.ints[node], self.data, self._masks(self.masks[node])
        n_left = large.mark(data.columns, data.codes, self.order, ints, self.floats[node], masks, self.side)
        lo, hi = int(ints[loop.LO]), int(ints[loop.HI])
        list(in_order(lambda lines: self._partition(lines, lo, hi, n_left), self._lines()))
        return int(n_left)

    def keep(self, node: int, found: tuple[Array, ...], line: int) -> None:
        """Take a node from a line of numbers, values and masks."""
        self.ints[node], self.floats[node], self.values[node] = (part[line].copy() for part in found[:3])
        if self.n_categories:
            self.masks[node] = found[3][line].copy()

    def measure(self, node: int) -> tuple[Array, bool]:
        """Fill in what a node holds; return its totals, and whether it may be split."""
        total, data = np.zeros(self.rules.n_stats + 2), self.data
        of = (data.labels, data.target, data.wr, self.ints[node], self.floats[node], total, self.values[node])
        return total, bool(large.measure(self.rules, self.order, *of))

    def _search(self, node: int, key: Any) -> bool:
        ints, floats, rules = self.ints[node], self.floats[node], self.rules
        total, splittable = self.measure(node)
        if not splittable:
            return False
        found = in_order(lambda block: self._search_block(node, total, key, block), self.ranges)
        tie = 1e-12 * abs(floats[loop.IMPURITY] * floats[loop.WEIGHT])
        for i, f, mask in found:
            if i[loop.FEATURE] >= 0 and (ints[loop.FEATURE] < 0 or f[loop.GAIN] > floats[loop.GAIN] + tie):
                ints[:], floats[:], self.masks[node][:] = i, f, mask
        if ints[loop.FEATURE] >= 0 and floats[loop.GAIN] + 1e-15 < rules.min_decrease:
            ints[loop.FEATURE] = -1
        return bool(ints[loop.FEATURE] >= 0)

    def _search_block(self, node: int, total: Array, key: Any, block: tuple[int, int]) -> tuple[Array, ...]:
        ints, floats, mask = self.ints[node].copy(), self.floats[node].copy(), self.masks[node].copy()
        work = _search_room(self.data, self.rules, self.size(node))
        large.search_part(*self.data, self.rules, self.order, ints, floats, total, self.values[node], key, *block,
                          self._masks(mask), *work)  # fmt: skip
        return ints, floats, mask

    def _masks(self, mask: Array) -> Array | None:
        return mask[None] if self.n_categories else None

    def _lines(self) -> list[tuple[int, int]]:
        return self.ranges if self.rules.exact else [(0, 1)]

    def _partition(self, lines: tuple[int, int], lo: int, hi: int, n_left: int) -> None:
        spare = _spare(self.data, self.order, hi - lo)
        large.part_lines(self.order, self.data.columns, *lines, lo, hi, n_left, self.side, *spare)

    def subtree(self, node: int, key: Any) -> tuple[Array, ...]:
        ints = self.ints[node]
        lo, hi, depth = int(ints[loop.LO]), int(ints[loop.HI]), int(ints[loop.DEPTH])
        return grow_subtree(self.data, self.rules, self.order, self.side, lo, hi, depth, key)

    def join(self, blocks: dict[int, tuple[Array, ...]]) -> tuple[Array, ...]:
        """Put the top and the subtrees into one set of arrays; a subtree's root stays in the top."""
        n_top = len(self.ints)
        parts = [[np.stack(a)] for a in (self.ints, self.floats, self.values, self.masks)]
        start = n_top
        for node, block in blocks.items():
            ints = block[0].copy()
            for side in (loop.LEFT, loop.RIGHT):
                ints[:, side] = np.where(ints[:, side] >= 0, ints[:, side] + start - 1, -1)
            for part, own in zip(parts, (ints, *block[1:])):
                part[0][node] = own[0]
                if len(block[0]) > 1 and len(own) == len(block[0]):
                    part.append(own[1:])
            start += len(ints) - 1
        return tuple(np.concatenate(part) for part in parts)


def make_tree(ints: Array, floats: Array, values: Array, masks: Array, prepared: Any, problem: Problem,
              *, depth_first: bool) -> Tree:  # fmt: skip
    """Number the nodes in preorder and keep what prediction and inspection need."""
    nodes = np.empty(len(ints), dtype=np.int64)
    preorder(ints[:, loop.LEFT], ints[:, loop.RIGHT], nodes)
    new = np.empty(len(ints) + 1, dtype=np.int32)
    new[nodes], new[-1] = np.arange(len(ints)), -1
    ints, floats = ints[nodes], floats[nodes]
    inner = ints[:, loop.FEATURE] >= 0
    order = np.where(inner, np.cumsum(inner) if depth_first else ints[:, loop.CREATED], 0)
    left, right = (
        np.where(inner, new[ints[:, side]], -1).astype(np.int32) for side in (loop.LEFT, loop.RIGHT)
    )
    classes = problem.criterion <= ERROR
    value = values[nodes][:, None, :] if classes else values[nodes][:, :, None]
    missing = np.where(inner, ints[:, loop.MISSING_LEFT], 0).astype(np.int8)
    tree = Tree(
        feature=np.where(inner, ints[:, loop.FEATURE], LEAF).astype(np.int32),
        threshold=np.where(inner, floats[:, loop.THRESHOLD], -2.0),
        children_left=left,
        children_right=right,
        missing_go_to_left=missing,
        value=np.ascontiguousarray(value),
        impurity=floats[:, loop.IMPURITY].copy(),
        n_node_samples=ints[:, loop.ROWS].copy(),
        weighted_n_node_samples=floats[:, loop.WEIGHT].copy(),
        gain=np.where(inner, floats[:, loop.GAIN], 0.0),
        split_order=order,
        branch_start=np.zeros(0, np.int32),
        branch_count=np.zeros(0, np.int32),
        branches=np.zeros(0, np.int32),
    )
    if not (inner & (ints[:, loop.MASK] == 1)).any():
        return tree
    return _with_branches(tree, inner & (ints[:, loop.MASK] == 1), masks[nodes], prepared.categories)


def _with_branches(tree: Tree, categorical: Array, masks: Array, categories: Array) -> Tree:
    start = np.full(tree.node_count, -1, dtype=np.int32)
    count = np.zeros(tree.node_count, dtype=np.int32)
    tables: list[Array] = []
    size = 0
    for node in np.flatnonzero(categorical):
        left, right = tree.children_left[node], tree.children_right[node]
        weight = tree.weighted_n_node_samples
        heavier = left if weight[left] > weight[right] else right
        count[node] = categories[tree.feature[node]]
        mask = masks[node][: count[node]]
        table = np.select([mask == 1, mask == 2], [left, right], heavier)
        tables.append(np.append(table, heavier))
        start[node] = size
        size += len(tables[-1])
    return tree._replace(
        branch_start=start, branch_count=count, branches=np.concatenate(tables).astype(np.int32)
    )
