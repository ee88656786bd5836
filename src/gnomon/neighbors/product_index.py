"""Search among all rows by matrix products, for Euclidean distances."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from gnomon.core.errors import ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.threads import in_order
from gnomon.loops import shortlists, space_trees
from gnomon.neighbors.metrics import Metric
from gnomon.neighbors.search_index import Found, Index, stacked, tasks
from gnomon.neighbors.tree_index import BLOCK, TreeIndex

PRODUCTS = 2**19  # products computed at once by a task
STEP = 1024  # rows at least that meet a block of queries at once

# Scans of all rows, made when a doubt first arises; never saved with an index.
_SCANS: WeakKeyDictionary[Index, TreeIndex] = WeakKeyDictionary()


class ProductIndex(Index):
    """Brute force for Euclidean distances: products in single precision shortlist, exact sums decide.

    Where the error of the products leaves a doubt, double precision is asked, then every distance is summed.
    """

    def __init__(self, X: Array, metric: Metric) -> None:
        self.metric, self.n_rows = metric, len(X)
        self.rows = X
        self.shift = X.mean(axis=0, dtype=np.float64)
        top = max(
            float(np.abs(part - self.shift).max(initial=0.0)) for part in (X[s] for s in tasks(len(X), 8192))
        )
        self.scale = 2.0 ** -float(max(np.frexp(top)[1], -1000)) if 0 < top < np.inf else 1.0
        self.single, norms = np.empty(X.shape, dtype=np.float32), np.empty(len(X))
        for task in tasks(len(X), 8192):
            centered = self._centered(X[task])
            self.single[task] = centered
            norms[task] = np.einsum("ij,ij->i", centered, centered)
        self.norms = norms

    def _centered(self, X: Array) -> Array:
        return (X - self.shift) * self.scale

    def nearest(self, Q: Array, k: int, *, prepared: bool = False) -> tuple[Array, Array]:
        Q = Q if prepared else self.metric.prepare(Q)
        ways = [np.float32, np.float64, None]
        if not np.isfinite(self.norms).all() or 2 * (k + 8) >= self.n_rows:
            ways = [None]
        parts = in_order(lambda task: self._search(Q[task], k, ways), tasks(len(Q)))
        values, rows = stacked(parts, k)
        return self.metric.finish(values, self.rows.shape[1]), rows

    def _search(self, Q: Array, k: int, ways: list[Any]) -> tuple[Array, Array]:
        values, rows = np.empty((len(Q), k)), np.empty((len(Q), k), dtype=np.int64)
        open_ = np.arange(len(Q))
        for way in ways:
            if way is None:
                values[open_], rows[open_] = self._scan(Q[open_], k)
                break
            found = self._shortlisted(Q[open_], k, way)
            values[open_], rows[open_], sure = found
            open_ = open_[~sure]
            if not len(open_):
                break
        return values, rows

    def _shortlisted(self, Q: Array, k: int, dtype: Any) -> tuple[Array, Array, Array]:
        n, d = self.rows.shape
        here = self._centered(Q)
        norms = np.einsum("ij,ij->i", here, here)
        error = 2.0 * (d + 8) * float(np.finfo(dtype).eps)
        keep = k + max(8, k // 4)
        pool = (len(Q), 2 * keep)
        keys, places = np.empty(pool, dtype=dtype), np.empty(pool, dtype=np.int64)
        limit, used = np.full(len(Q), np.inf, dtype=dtype), np.zeros(len(Q), dtype=np.int64)
        minus = (-here).astype(dtype)
        size = max(STEP, PRODUCTS // len(Q))
        D = np.empty((len(Q), min(size, n)), dtype=dtype)
        for task in tasks(n, size):
            there = self.single[task] if dtype == np.float32 else self._centered(self.rows[task])
            block = D[:, : task.stop - task.start]
            np.matmul(minus, there.T, out=block)
            shift = (self.norms[task] * (0.5 - 1.5 * error)).astype(dtype)
            shortlists.shortlist(block, shift, task.start, keep, limit, used, keys, places)
        values, rows = np.empty((len(Q), k)), np.empty((len(Q), k), dtype=np.int64)
        sure = np.empty(len(Q), dtype=np.bool_)
        floor = (d + 2) * float(np.finfo(dtype).tiny)
        given = (limit.astype(np.float64), used, places, self.scale, 0.5 * error, floor)
        shortlists.decide(Q, self.rows, norms, *given, values, rows, sure)
        return values, rows, sure

    def _scan(self, Q: Array, k: int) -> tuple[Array, Array]:
        """Sum every distance."""
        return self._flat()._nearest(np.ascontiguousarray(Q), k)[:2]

    def _flat(self) -> TreeIndex:
        flat = _SCANS.get(self)
        if flat is None:
            flat = _SCANS[self] = TreeIndex(self.rows, self.metric, space_trees.FLAT, BLOCK)
        return flat

    def within(self, Q: Array, radius: float, *, prepared: bool = False) -> Found:
        return self._flat().within(Q, radius, prepared=prepared)

    def check(self) -> None:
        n, d = self.rows.shape
        if not (
            n > 0
            and self.single.shape == (n, d)
            and self.single.dtype == np.float32
            and self.norms.shape == (n,)
            and self.shift.shape == (d,)
        ):
            raise ModelFileError("its search index does not fit its rows.")
