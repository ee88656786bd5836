"""Rows of a kernel matrix for solvers that ask for them: all at once where they fit, else a cache of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array
from gnomon.core.threads import in_order, one_blas_thread, shared
from gnomon.kernels.base import Kernel
from gnomon.kernels.tiles import fill
from gnomon.loops.smo import take_row

WORKING_SET = 512  # rows whose multipliers are solved for among themselves
STRIP = 512  # columns that are computed at a time: as many as fit a core's cache with a working set of rows


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
            if len(rows) == self.n:
                with one_blas_thread():
                    return self.full @ coef
            return self.full[np.ix_(rows, used)] @ coef[used]
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
        self.source, self.columns, self.ridge, self.clock = source, columns, ridge, 0
        n = len(columns)
        self.whole = source.full is not None
        self.diagonal = source.diagonal[columns] + (0.0 if ridge is None else ridge)
        if source.full is not None:
            borrowed = n == source.n and ridge is None
            self.rows = source.full if borrowed else np.empty((n, n), dtype=source.dtype)
            self.known = np.full(n, borrowed, dtype=np.uint8)  # rows are copied when they are first asked for
            return
        width = np.dtype(source.dtype).itemsize * n
        self.rows = np.empty((min(n, max(WORKING_SET, source.bytes // width)), n), dtype=source.dtype)
        self._own_nothing(n)
        self._look_at(source.X[columns] if n < source.n else source.X)

    def _own_nothing(self, n: int) -> None:
        self.slot = np.full(n, -1)  # the place of every row, or −1
        self.stamp = np.zeros(len(self.rows), dtype=np.int64)
        self.owner = np.full(len(self.rows), -1)

    def _look_at(self, X: Any) -> None:
        self.X = X
        self.quick = self.source.kernel._quick(X) if self.source.dtype == np.float32 else None

    def narrowed(self, keep: Array) -> RowCache:
        """Return the cache of some of the columns, with the rows that are known already."""
        ridge = None if self.ridge is None else self.ridge[keep]
        new = RowCache(self.source, self.columns[keep], ridge)
        if self.whole:
            return new
        known = np.flatnonzero(self.slot[keep] >= 0)[: len(new.rows)]
        for place, row in enumerate(known):
            np.take(self.rows[self.slot[keep[row]]], keep, out=new.rows[place])
        new.slot[known], new.owner[: len(known)] = np.arange(len(known)), known
        return new

    def places(self, wanted: Array) -> Array:
        """Return where rows are, after computing those that are missing; at most WORKING_SET at a time."""
        if self.whole:
            for i in wanted[self.known[wanted] == 0]:
                take_row(
                    self.source.full, self.columns, self.columns, self.diagonal, i, self.rows, self.known
                )
            return wanted
        self.clock += 1
        missing = wanted[self.slot[wanted] < 0]
        here = self.slot[wanted]
        self.stamp[here[here >= 0]] = self.clock
        if len(missing):
            places = np.argsort(self.stamp, kind="stable")[: len(missing)]
            old = self.owner[places]
            self.slot[old[old >= 0]] = -1
            self._compute(missing, places)
            self.slot[missing], self.owner[places], self.stamp[places] = places, missing, self.clock
        return self.slot[wanted]

    def _compute(self, wanted: Array, places: Array) -> None:
        if self.quick is not None:
            quick, n = self.quick, len(self.slot)

            def part(first: int) -> None:
                last = min(n, first + STRIP)
                self.rows[places, first:last] = quick(wanted, first, last)

            shared(part, range(0, n, STRIP))
        else:
            found = np.empty((len(wanted), len(self.slot)))
            self.rows[places] = fill(self.source.kernel._tile, self.X[wanted], self.X, found)
        if self.ridge is not None:
            self.rows[places, wanted] += self.ridge[wanted].astype(self.rows.dtype)
