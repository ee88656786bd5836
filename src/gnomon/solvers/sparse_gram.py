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

ALWAYS = 200  # columns for which the matrix is small whatever they hold
SHARE = 4  # entries of the matrix for one of the columns: beyond, sweeps over the columns are cheaper
FRESH = 4  # columns that came lately are sorted among the others when they hold more than a fourth of those


class SparseGram:
    """G = ZᵀZ and q = Zᵀy for the columns `index`, in the order in which they entered."""

    def __init__(self, design: Any) -> None:
        self.design = design
        self.position = np.full(design.n_features, -1, dtype=np.int32)
        self.index = np.empty(0, dtype=np.intp)
        self.G, self.q = np.empty((0, 0)), np.empty(0)
        self.sorted, self.rows = 0, self._by_rows(self.index)

    def enter(self, cols: Array) -> bool:
        """Add columns; False, and nothing is done, if the matrix would not be worth it."""
        new = cols[self.position[cols] < 0]
        m, size, index = len(self.index), len(self.index) + len(new), np.concatenate([self.index, new])
        if size > ALWAYS and size * size > SHARE * self.design.entries(index):
            return False
        if len(new):
            self.index, self.position[new] = index, np.arange(m, size)
            self.q = np.concatenate([self.q, self.design.q[new]])
            self._grow(size)
            self._fill(m, size)
        return True

    def slopes(self, w: Array) -> Array:
        """Return q − Gw."""
        g, S = self.q.copy(), np.flatnonzero(w)
        add_rows(self.G, S, -w[S], g)
        return g

    def _fill(self, m: int, size: int) -> None:
        """Products of the columns m..size−1 with all."""
        d, new, block = self.design, self.index[m:size], self.G[m:size, :size]
        lately = self._by_rows(self.index[self.sorted :])
        block[:] = -d.mass * np.outer(d.mean[new], d.mean[self.index]) if d.intercept else 0.0
        loops.meet_rows(new, *d.parts, *self.rows, block)
        loops.meet_rows(new, *d.parts, *lately, block[:, self.sorted :])
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
