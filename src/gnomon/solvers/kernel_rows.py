"""Rows of a kernel matrix for solvers that ask for them: all at once where they fit, else a cache of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array
from gnomon.core.threads import in_order
from gnomon.kernels.base import Kernel
from gnomon.kernels.tiles import fill

BATCH = 64  # rows that are computed at a time, at most


class KernelRows:
    """The kernel between the rows of a fit, and what solvers need of it.

    Parameters
    ----------
    kernel : Kernel
    X : rows
    megabytes : float
        How much memory the kernel matrix, or a cache of its rows, may take.
    single : bool
        Whether rows may be kept in single precision.
    """

    def __init__(self, kernel: Kernel, X: Any, *, megabytes: float, single: bool) -> None:
        self.kernel, self.X, self.n = kernel, X, X.shape[0]
        self.bytes = max(1, int(megabytes * 2**20))
        self.full: Array | None = None
        self.batch = int(np.clip(X.shape[-1] // 8, 8, BATCH))  # wide rows are read once for many
        cells = self.n * self.n
        if not kernel.tiled or cells * 8 <= self.bytes:
            self.dtype: Any = np.float64
            self.full = np.asarray(kernel(X), dtype=np.float64)
        elif single:
            self.dtype = np.float32
            if cells * 4 <= self.bytes:
                self.full = fill(kernel._tile, X, None, np.empty((self.n, self.n), dtype=np.float32))
        else:
            self.dtype = np.float64
        self.diagonal = np.diagonal(self.full).astype(np.float64) if self.full is not None else kernel.diag(X)

    def block(self, rows: Array, columns: Array) -> Array:
        """Return the kernel between some rows and others, in double precision where it is not kept."""
        if self.full is not None and self.full.dtype == np.float64:
            return self.full[np.ix_(rows, columns)]
        same = len(rows) == len(columns) and np.array_equal(rows, columns)
        return np.asarray(self.kernel(self.X[rows], None if same else self.X[columns]))

    def scores(self, coef: Array, rows: Array | None = None) -> Array:
        """Return Σ_j coef_j k(x_j, x_i) of every row i, in double precision."""
        rows = np.arange(self.n) if rows is None else rows
        used = np.flatnonzero(coef)
        if not len(used):
            return np.zeros(len(rows))
        if self.full is not None and self.full.dtype == np.float64:
            part = self.full[np.ix_(rows, used)] if len(rows) < self.n else self.full[:, used]
            return part @ coef[used]
        everything = len(rows) == self.n
        return expansion(self.kernel, self.X if everything else self.X[rows], self.X[used], coef[used, None])[
            :, 0
        ]


def expansion(kernel: Kernel, X: Any, support: Any, coef: Array) -> Array:
    """Return k(X, support) @ coef without the whole matrix, in blocks on the library's threads."""
    if not kernel.tiled:
        return np.asarray(kernel(X, support)) @ coef
    n, m = X.shape[0], support.shape[0]
    height = 2048 if sparse.issparse(X) else 256
    width = 8192 if sparse.issparse(X) else 1024
    if n <= height and m <= width:
        return kernel._tile(X, support, False) @ coef

    def part(first: int) -> Array:
        rows = X[first : first + height]
        total = np.zeros((rows.shape[0], coef.shape[1]))
        for j in range(0, m, width):
            total += kernel._tile(rows, support[j : j + width], False) @ coef[j : j + width]
        return total

    return np.concatenate(list(in_order(part, range(0, n, height))))


class RowCache:
    """Some rows of a kernel matrix over some columns, the least recently used replaced first."""

    def __init__(self, source: KernelRows, columns: Array, ridge: Array | None) -> None:
        self.source, self.columns, self.ridge = source, columns, ridge
        n = len(columns)
        self.slot = np.full(n, -1, dtype=np.int64)
        if source.full is not None:
            whole = n == source.n
            self.rows = source.full if whole and ridge is None else source.full[np.ix_(columns, columns)]
            self.slot[:] = np.arange(n)
            if ridge is not None:
                self.rows[np.diag_indices(n)] += ridge
        else:
            width = np.dtype(source.dtype).itemsize * n
            count = min(n, max(2 * BATCH, source.bytes // max(1, width)))
            self.rows = np.empty((count, n), dtype=source.dtype)
            self.X = source.X[columns] if n < source.n else source.X
            self.quick = source.kernel._quick(self.X) if source.dtype == np.float32 else None
        self.stamp = np.zeros(len(self.rows), dtype=np.int64)
        self.owner = np.full(len(self.rows), -1, dtype=np.int64)

    def bring(self, wanted: Array, clock: int) -> None:
        """Compute rows that are missing; the first of `wanted` must be there afterwards."""
        wanted = wanted[self.slot[wanted] < 0][: self.source.batch]
        places = np.argpartition(self.stamp, len(wanted) - 1)[: len(wanted)]
        old = self.owner[places]
        self.slot[old[old >= 0]] = -1
        fresh = self._compute(wanted)
        if self.ridge is not None:
            fresh[np.arange(len(wanted)), wanted] += self.ridge[wanted]
        self.rows[places] = fresh
        self.slot[wanted], self.owner[places], self.stamp[places] = places, wanted, clock

    def _compute(self, wanted: Array) -> Array:
        if self.quick is not None:
            return self.quick(wanted)
        out = np.empty((len(wanted), len(self.slot)))
        return fill(self.source.kernel._tile, self.X[wanted], self.X, out)
