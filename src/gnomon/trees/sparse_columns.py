"""Trees of sparse rows: entries that are not zero by column, sorted; no matrix is ever filled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.threads import in_order
from gnomon.loops import grow as loop
from gnomon.loops.grow_sparse import SparseLines, grow_entries
from gnomon.loops.search import N_FLOAT
from gnomon.loops.trees import GrowRules

Array = np.ndarray
SORTED_TOGETHER = 2**16  # entries


class SparseColumns(NamedTuple):
    """The entries of a sparse X that are not zero, ready for any number of trees."""

    starts: Array  # (d + 1,) int64: where the entries of each column begin
    rows: Array  # (entries,) int32
    values: Array  # (entries,) float64, sorted in every column, missing ones last
    n_rows: int
    categories: Array  # (d,) zeros: there are no categories in sparse columns

    def choose(self, chosen: Array) -> SparseColumns:
        """Return some of the columns."""
        parts = [slice(self.starts[f], self.starts[f + 1]) for f in chosen]
        sizes = [part.stop - part.start for part in parts]
        rows = np.concatenate([self.rows[:0], *(self.rows[part] for part in parts)])
        values = np.concatenate([self.values[:0], *(self.values[part] for part in parts)])
        return SparseColumns(np.cumsum([0, *sizes]), rows, values, self.n_rows, self.categories[chosen])

    def column(self, f: int) -> Array:
        """Return a column with its zeros."""
        found, part = np.zeros(self.n_rows), slice(self.starts[f], self.starts[f + 1])
        found[self.rows[part]] = self.values[part]
        return found


def sparse_columns(X: Any) -> SparseColumns:
    """Sort the entries of every column of a sparse matrix."""
    X = sparse.csc_array(X)
    starts, rows = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    values = X.data.astype(np.float64)
    keep = values != 0
    if not keep.all():
        starts = np.append(0, np.cumsum(keep))[starts]
        rows, values = rows[keep], values[keep]
    cuts = np.searchsorted(starts, np.arange(0, len(values), SORTED_TOGETHER))
    cuts = np.unique(np.append(cuts, X.shape[1]))
    column = np.repeat(np.arange(X.shape[1], dtype=np.int32), np.diff(starts))

    def sort(block: tuple[int, int]) -> None:
        part = slice(starts[block[0]], starts[block[1]])
        order = np.lexsort((values[part], column[part]))
        rows[part], values[part] = rows[part][order], values[part][order]

    list(in_order(sort, list(zip(cuts[:-1], cuts[1:]))))
    return SparseColumns(starts, rows, values, X.shape[0], np.zeros(X.shape[1], np.int64))


def grow_from_entries(
    columns: SparseColumns,
    problem: Any,
    rules: GrowRules,
    monotone: Array | None,
    key: Any,
    mask: Array | None,
) -> tuple[Array, ...]:
    """Grow one tree on the rows of a mask (all when None); return its numbers, values and masks by node."""
    d = len(columns.categories)
    order = (
        np.arange(columns.n_rows, dtype=np.int32) if mask is None else np.flatnonzero(mask).astype(np.int32)
    )
    starts, rows, values = columns.starts, columns.rows.copy(), columns.values.copy()
    if mask is not None:
        keep = mask[rows]
        starts, rows, values = np.append(0, np.cumsum(keep))[starts], rows[keep], values[keep]
    filled = np.flatnonzero(np.diff(starts))
    n, room = len(order), 2 * len(order) - 1
    if rules.max_leaf_nodes > 0:
        room = 2 * min(len(order), rules.max_leaf_nodes) - 1
    lines = SparseLines(
        rows, values, np.empty((2, 2 * len(rows) + 4 * len(filled) + 2, 3), np.int64), np.zeros((room, 2), np.int64),
        np.arange(d), np.empty(d, np.int64), np.full(d, -1), np.empty(max(n, len(rows)), np.int32),
        np.empty(len(rows)),
    )  # fmt: skip
    lines.lists[0, : len(filled)] = np.stack([filled, starts[filled], starts[filled + 1]], axis=1)
    lines.spans[0] = 0, len(filled)
    ints, floats = np.zeros((room, loop.N_INT), np.int64), np.zeros((room, N_FLOAT))
    kinds = np.zeros((d, 2), np.int64)
    if monotone is not None:
        kinds[:, 1] = monotone
    ints[0, [loop.LO, loop.HI, loop.LEFT, loop.RIGHT]] = 0, n, -1, -1
    ints[0, loop.KEY] = np.uint64(key).view(np.int64)
    m, found = rules.n_stats, np.zeros((room, rules.n_stats))
    size = int(np.diff(starts).max(initial=0)) + 1
    count = grow_entries(lines, len(filled), kinds, problem.labels, problem.target,
                         np.stack([problem.weight, problem.reps], axis=1), rules, order[None],
                         np.zeros(columns.n_rows, np.uint8), ints, floats, found, np.empty(room, np.int64),
                         np.zeros((2, m + 2)), np.zeros((size, m + 2)), np.zeros((size, 3)),
                         np.zeros((4, max(5, m + 2))))  # fmt: skip
    return ints[:count], floats[:count], found[:count], np.zeros((1, 1), np.uint8)
