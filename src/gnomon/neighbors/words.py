"""Search among words by edit distance, and among anything by a tree of vantage points."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.threads import in_order
from gnomon.loops import edits as loops
from gnomon.neighbors.metrics import NO_TRIANGLES, Metric, block_distances, has_triangles
from gnomon.neighbors.search_index import Found, Index, joined, len_of, stacked, tasks

LEAF = 16  # items that a vantage-point tree does not halve any further


def edit_costs(metric: Metric) -> Array:
    """Return the prices of an insertion, a deletion and a substitution, checked."""
    strange = sorted(set(metric.params) - {"costs"})
    if strange:
        raise DataError(f"metric='edit' takes no {strange} in metric_params; it takes costs.")
    costs = np.asarray(metric.params.get("costs", (1.0, 1.0, 1.0)), dtype=np.float64)
    if costs.shape != (3,) or not (costs >= 0).all() or not np.isfinite(costs).all():
        raise DataError(
            f"costs must be three numbers: insert, delete, substitute, none negative; got {costs}."
        )
    return costs


class EditIndex(Index):
    """Words sorted by length: the search goes outward from the length of the query and ends where the
    difference in length alone is too much.
    """

    def __init__(self, X: list[Any], metric: Metric) -> None:
        self.metric, self.n_rows, self.rows = metric, len(X), list(X)
        self.costs = edit_costs(metric)
        self.alphabet = loops.Alphabet(self.rows)
        lengths = np.array([len(word) for word in self.rows])
        self.order = np.argsort(lengths, kind="stable")
        self.words = self.alphabet.encode([self.rows[i] for i in self.order])

    def nearest(self, Q: list[Any], k: int, *, prepared: bool = False) -> tuple[Array, Array]:
        words = self.alphabet.encode(Q)

        def search(task: slice) -> tuple[Array, Array]:
            part = words.part(task.start, task.stop)
            shape = (task.stop - task.start, k)
            values, found = np.empty(shape), np.empty(shape, dtype=np.int64)
            arrays = (part.codes, part.ends, self.words.codes, self.words.ends, self.order)
            unit = bool((self.costs == 1.0).all())
            spare = loops.scratch(len(self.alphabet), self.words.longest)
            loops.nearest_words(*arrays, unit, self.costs, *spare, values, found)
            return values, found

        return stacked(in_order(search, tasks(len(Q), 16)), k)

    def within(self, Q: list[Any], radius: float, *, prepared: bool = False) -> Found:
        def search(task: slice) -> tuple[Array, Array, Array]:
            D = loops.edit_table(Q[task], self.rows, self.costs)
            query, rows = np.nonzero(D <= radius)
            return np.bincount(query, minlength=len(D)), rows, D[query, rows]

        return joined(map(search, tasks(len(Q), max(1, 2**20 // max(1, self.n_rows)))))

    def check(self) -> None:
        codes, ends, _ = self.words
        if not (
            len(ends) == self.n_rows + 1 == len(self.rows) + 1
            and np.array_equal(np.sort(self.order), np.arange(self.n_rows))
            and codes.dtype == np.int32
            and ends.dtype == self.order.dtype == np.int64
            and ends[0] == 0
            and ends[-1] == len(codes)
            and (np.diff(ends) >= 0).all()
            and np.diff(ends).max(initial=0) <= self.words.longest < 2**31
            and ((codes >= 0) & (codes <= len(self.alphabet))).all()
        ):
            raise ModelFileError("its words and their codes do not belong together.")


class Node(NamedTuple):
    """A vantage point, the median distance to the rest, and where the two halves are; or a leaf."""

    point: int  # -1: a leaf
    radius: float
    near: int
    far: int
    items: Array


class VantageIndex(Index):
    """A vantage-point tree (Yianilos 1993): the triangle inequality spares calls of an expensive distance.

    `n_calls` counts the distances computed since it was built.
    """

    def __init__(self, X: Any, metric: Metric) -> None:
        if metric.kind == "precomputed":
            raise DataError("algorithm='vp_tree' needs a metric to call; distances are given already.")
        self.metric, self.rows = metric, X
        self.n_rows = len_of(X)
        _check_triangles(metric, X)
        self.n_calls = 0
        self.nodes: list[Node] = []
        self._grow(np.arange(self.n_rows))
        self.n_calls = 0

    def _distances(self, item: Any, places: Array) -> Array:
        self.n_calls += len(places)
        rows = [self.rows[i] for i in places]
        if self.metric.kind == "edit":
            return loops.edit_table([item], rows, edit_costs(self.metric))[0]
        if self.metric.kind in ("products", "columns"):
            here, there = self.metric.prepare(np.asarray(item)[None]), self.metric.prepare(np.asarray(rows))
            return self._sums(here, there)
        return block_distances(self.metric, [item], rows)[0]

    def _sums(self, here: Array, there: Array) -> Array:
        from gnomon.loops import space_trees
        from gnomon.neighbors.tree_index import BLOCK, TreeIndex

        flat = TreeIndex(there, self.metric, space_trees.FLAT, BLOCK)
        values, rows, _ = flat._nearest(here, len(there))
        out = np.empty(len(there))
        out[rows[0]] = values[0]
        return self.metric.finish(out, there.shape[1])

    def _grow(self, items: Array) -> int:
        """Add the nodes over these items; return where the first is."""
        place = len(self.nodes)
        none = np.empty(0, dtype=np.int64)
        if len(items) <= LEAF:
            self.nodes.append(Node(-1, 0.0, -1, -1, items))
            return place
        point, rest = int(items[0]), items[1:]
        far = self._distances(self.rows[point], rest)
        radius = float(np.partition(far, len(far) // 2)[len(far) // 2])
        self.nodes.append(Node(point, radius, -1, -1, none))
        inside = far < radius
        if not inside.any():
            inside = far <= radius
        if inside.all():  # nothing to halve
            self.nodes[place] = Node(-1, 0.0, -1, -1, items)
            return place
        reach = float(far[inside].max())
        near, away = self._grow(rest[inside]), self._grow(rest[~inside])
        border = float(far[~inside].min())
        self.nodes[place] = Node(point, reach, near, away, np.array([border]))
        return place

    def nearest(self, Q: Any, k: int, *, prepared: bool = False) -> tuple[Array, Array]:
        values, rows = np.full((len(Q), k), np.inf), np.full((len(Q), k), self.n_rows, dtype=np.int64)
        for i, item in enumerate(Q):
            values[i], rows[i] = self._search(item, k, np.inf)
        return values, rows

    def within(self, Q: Any, radius: float, *, prepared: bool = False) -> Found:
        parts = []
        for item in Q:
            values, rows = self._search(item, self.n_rows, radius)
            keep = values <= radius
            order = np.argsort(rows[keep])
            parts.append((np.array([keep.sum()]), rows[keep][order], values[keep][order]))
        return joined(parts)

    def _search(self, item: Any, k: int, radius: float) -> tuple[Array, Array]:
        """Return the k nearest, at most `radius` away where that is finite."""
        values, rows = np.full(k, np.inf), np.full(k, self.n_rows, dtype=np.int64)
        slack = 1e-9  # distances round; a little more is looked at
        waiting = [(0.0, 0)]
        while waiting:
            least, place = waiting.pop()
            if least > min(values[-1], radius):
                continue
            node = self.nodes[place]
            items = node.items if node.point < 0 else np.array([node.point])
            far = self._distances(item, items)
            values, rows = _merged(values, rows, far, items, k)
            if node.point < 0:
                continue
            d, border = float(far[0]), float(node.items[0])
            rest = slack * (abs(d) + node.radius + border)
            inner, outer = max(least, d - node.radius - rest), max(least, border - d - rest)
            order = [(outer, node.far), (inner, node.near)]
            waiting += order if inner <= outer else order[::-1]
        return values, rows

    def check(self) -> None:
        n = len(self.nodes)
        for place, node in enumerate(self.nodes):
            leaf = node.point < 0
            good = (
                ((node.items >= 0) & (node.items < self.n_rows)).all()
                if leaf
                else node.point < self.n_rows and place < node.near < n and place < node.far < n
            )
            if not good or (not leaf and node.items.shape != (1,)):
                raise ModelFileError("its vantage-point tree points beyond its rows.")


def _check_triangles(metric: Metric, X: Any) -> None:
    """Refuse what the tree would search wrongly: distances that are shorter by a detour, or differ by direction."""
    if metric.kind == "edit":
        insert, delete, _ = edit_costs(metric)
        if insert != delete:
            raise DataError(
                f"algorithm='vp_tree' needs a symmetric distance; costs of an insertion ({insert:g}) and a deletion "
                f"({delete:g}) differ. Use algorithm='auto'."
            )
    elif metric.name in NO_TRIANGLES or (metric.name == "callable" and not has_triangles(metric, X)):
        raise DataError(
            f"algorithm='vp_tree' needs the triangle inequality, which metric={metric.name!r} does not keep; use "
            "algorithm='brute'."
        )


def _merged(values: Array, rows: Array, more: Array, items: Array, k: int) -> tuple[Array, Array]:
    all_values, all_rows = np.concatenate([values, more]), np.concatenate([rows, items])
    order = np.lexsort((all_rows, all_values))[:k]
    return all_values[order], all_rows[order]
