"""The frame of some rows: the origin and the unit in which their distances are worked out without loss."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.cluster import sparse_rows
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.sums import total
from gnomon.loops import kmeans as loops

TINY = np.finfo(np.float64).tiny


class Spread(NamedTuple):
    """Weight, mean, scatter and range of every column."""

    count: Array  # of the present entries
    mean: Array
    square: Array
    low: Array
    high: Array

    def merge(self, other: Spread) -> Spread:
        """Add the moments of two sets of rows."""
        count = self.count + other.count
        part = other.count / np.maximum(count, TINY)
        gap = other.mean - self.mean
        return Spread(
            count,
            self.mean + part * gap,
            self.square + other.square + (self.count * part) * gap**2,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def variance(self) -> float:
        """Return the mean variance of the columns."""
        return float(np.mean(self.square / np.maximum(self.count, TINY)))


def column_spread(chunk: Any) -> Spread:
    """Partial sum of `Spread`; NaN entries are left out, column by column."""
    X, d = chunk.X, chunk.X.shape[1]
    if sparse.issparse(X):
        weight, *moments = sparse_rows.column_moments(X, chunk.weight)
        return Spread(np.full(d, weight), *moments)
    if np.isnan(X.sum(dtype=np.float64)):
        return _observed_spread(X, chunk.weight)
    mean, square = np.zeros(d), np.zeros(d)
    low, high = np.full(d, np.inf), np.full(d, -np.inf)
    count = loops.moments(X, chunk.weight, mean, square, low, high)
    return Spread(np.full(d, count), mean, square, low, high)


def _observed_spread(X: Array, weight: Array) -> Spread:
    seen = ~np.isnan(X)
    w = np.where(seen, weight[:, None], 0.0)
    count = w.sum(axis=0)
    values = np.where(seen, X, 0.0).astype(np.float64)
    mean = (w * values).sum(axis=0) / np.maximum(count, TINY)
    square = (w * (values - mean) ** 2).sum(axis=0)
    low, high = np.where(seen, X, np.inf).min(axis=0), np.where(seen, X, -np.inf).max(axis=0)
    return Spread(count, mean, square, low, high)


class Frame(NamedTuple):
    """Origin and unit in which rows are screened: the mean, a power of two that makes entries about one."""

    shift: Array
    scale: float
    variance: float  # mean over the columns, in units of 1/scale²


def scaled_scatter(chunk: Any, shift: Array, scale: float) -> float:
    """Partial sum of the squared deviations, in units of 1/scale²."""
    if sparse.issparse(chunk.X):
        point = shift[None] * scale
        return float(chunk.weight @ sparse_rows.squared_distances(chunk.X * scale, point)[:, 0])
    return float(chunk.weight @ np.nansum(((chunk.X - shift) * scale) ** 2, axis=1))


def frame_of(rows: Any) -> Frame:
    """Measure the data once, in one pass."""
    spread = total(column_spread, rows)
    if not (spread.count > 0).any():
        raise DataError("sample_weight is zero for every row; at least one row must count.")
    reach = np.nanmax(np.maximum(spread.high - spread.mean, spread.mean - spread.low), initial=0.0)
    if not np.isfinite(reach) or reach > 1e153:
        raise DataError("X has entries beyond 1e153, whose squares are not finite; scale the columns.")
    scale = 2.0 ** -np.ceil(np.log2(reach)) if reach > 1e-300 else 1.0
    variance = spread.variance() * scale * scale
    if 0 < reach < 1e-140:  # the squares underflowed
        variance = total(scaled_scatter, rows, spread.mean, scale) / spread.count.mean() / len(spread.mean)
    return Frame(spread.mean, float(scale), float(variance))


def chunk_frame(X: Array, centers: Array) -> Frame:
    """Return a frame that holds the rows of a chunk and the centers."""
    shift = centers.mean(axis=0)
    if sparse.issparse(X):
        size = max(float(np.abs(X.data).max(initial=0.0)), float(np.abs(centers).max(initial=0.0)))
        return Frame(shift, float(2.0 ** -np.ceil(np.log2(size))) if 1e-300 < size < 1e300 else 1.0, 0.0)
    reach = max(np.nanmax(np.abs(X - shift), initial=0.0), np.abs(centers - shift).max(initial=0.0))
    return Frame(shift, float(2.0 ** -np.ceil(np.log2(reach))) if 1e-300 < reach < 1e300 else 1.0, 0.0)
