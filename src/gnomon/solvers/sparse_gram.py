"""The Gram matrix of some columns of sparse data, which grows while columns enter.

Entry (a, b) is a sum over the rows that hold both columns. A new column meets the others in its own rows, so
it costs as many products as there are such meetings, and none where nothing meets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.loops import coordinate_sparse as loops
from gnomon.loops.coordinate import add_rows
from gnomon.solvers.gram_inverse import GramSolver

ALWAYS = 200  # columns for which the matrix is small whatever they hold
SHARE = 4  # entries of the matrix for one of the columns: beyond, it is kept for the fullest columns alone
FULL = 2  # then a column is full if it has more than half as many entries as there are fuller ones
FRESH = 4  # columns that came lately are sorted among the others when they hold more than a fourth of those


class SparseGram:
    """G = ZᵀZ and q = Zᵀy for the columns `index`, in the order in which they entered."""

    def __init__(self, design: Any) -> None:
        self.design, self.whole = design, True
        self._clear()

    def _clear(self) -> None:
        self.position = np.full(self.design.n_features, -1, dtype=np.int32)
        self.index = np.empty(0, dtype=np.intp)
        self.G, self.q, self.solver = np.empty((0, 0)), np.empty(0), GramSolver()
        self.sorted, self.rows = 0, self._by_rows(self.index)

    def snapshot(self) -> tuple[Any, ...]:
        """Return the columns that have entered and their products, for a checkpoint."""
        m = len(self.index)
        return self.whole, self.index, self.sorted, self.G[:m, :m], self.q, self.solver.snapshot()

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        """Go on from a snapshot."""
        self._clear()
        self.whole, self.index, self.sorted, G, self.q, solver = snapshot
        self.position[self.index] = np.arange(len(self.index))
        self.G, self.rows = np.array(G), self._by_rows(self.index[: self.sorted])
        self.solver.restore(solver)

    def enter(self, cols: Array) -> Array:
        """Add columns, as far as that is worth it; return those that were not added.

        All are added while the matrix is small for what they hold. After that it begins again with those of
        `cols` that have many entries.
        """
        new = cols[self.position[cols] < 0]
        if self.whole and not self._worth(new):
            self._clear()
            self.whole, new = False, cols
        full = np.ones(len(new), dtype=bool) if self.whole else self._full(new)
        self._add(new[full])
        return new[~full]

    def _worth(self, new: Array) -> bool:
        size = len(self.index) + len(new)
        held = self.design.entries(self.index) + self.design.entries(new)
        return size <= ALWAYS or size * size <= SHARE * held

    def _full(self, new: Array) -> Array:
        """Say which columns have enough entries."""
        sizes, rank = self.design.sizes[new], np.empty(len(new), dtype=np.intp)
        rank[np.argsort(-sizes, kind="stable")] = len(self.index) + np.arange(len(new))
        return FULL * sizes > rank

    def _add(self, new: Array) -> None:
        m, size = len(self.index), len(self.index) + len(new)
        if m < size:
            self.index, self.position[new] = np.concatenate([self.index, new]), np.arange(m, size)
            self.q = np.concatenate([self.q, self.design.q[new]])
            self._grow(size)
            self._fill(m, size)

    def product(self, w: Array) -> Array:
        """Return Gw."""
        found, S = np.zeros(len(w)), np.flatnonzero(w)
        add_rows(self.G, S, w[S], found)
        return found

    def slopes(self, w: Array) -> Array:
        """Return q − Gw."""
        return self.q - self.product(w)

    def _fill(self, m: int, size: int) -> None:
        """Products of the columns m..size−1 with all."""
        d, new, block = self.design, self.index[m:size], self.G[m:size, :size]
        lately = self._by_rows(self.index[self.sorted :])
        block[:] = -d.mass * np.outer(d.mean[new], d.mean[self.index]) if d.intercept else 0.0
        loops.meet_rows(new, *d.parts, *self.rows, m, 0, self.G)
        loops.meet_rows(new, *d.parts, *lately, m, self.sorted, self.G)
        block[np.arange(len(new)), np.arange(m, size)] = d.curvature[new]
        self.G[:m, m:size] = block[:, :m].T
        if FRESH * len(lately[1]) > len(self.rows[1]):
            self.sorted, self.rows = size, self._by_rows(self.index)

    def _by_rows(self, cols: Array) -> tuple[Array, Array, Array]:
        """Rows (starts, members, values) of some columns; a member is a place in `cols`."""
        d = self.design
        held = d.entries(cols)
        starts = np.zeros(len(d.y) + 2, dtype=np.int64)
        members, values = np.empty(held, dtype=np.int32), np.empty(held)
        loops.csc_rows(cols, *d.parts, starts, members, values)
        return starts, members, values

    def _grow(self, size: int) -> None:
        m = len(self.G)
        if size > m:
            G = np.empty((max(size, 2 * m, 64),) * 2)
            G[:m, :m] = self.G
            self.G = G
