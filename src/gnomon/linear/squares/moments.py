"""Moments of a linear model: all that least squares, ridge and their Bayesian kin need to know of the data.

The record is additive over rows. It is kept centered and merged by the pairwise-update rule, so a column such
as 1e8 ± 1 loses no digits; accumulators are float64 whatever the input.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import blas

from gnomon.core.linalg import Array
from gnomon.core.sums import add_up, total
from gnomon.core.threads import in_order

TALL = 2**24  # bytes of a chunk: adding d × d matrices should cost little beside computing them
BLOCK = 1024  # rows whose products are added at a time
CACHE = 2**20  # bytes of rows that are read twice
WASTE = 64.0  # products about the origin are accepted while (mean/deviation)² of every column stays below


class LinearSums(NamedTuple):
    r"""Weighted moments of rows (x, y), centered at their own means.

    .. math:: W = \sum_i s_i,\quad \bar x = \tfrac1W\sum_i s_i x_i,\quad
        S_{xx} = \sum_i s_i (x_i-\bar x)(x_i-\bar x)^\top,\quad S_{xy},\; S_{yy}\ \text{likewise}

    Two records merge exactly: :math:`S = S_1 + S_2 + \frac{W_1 W_2}{W_1+W_2}\,\delta\delta^\top` with
    :math:`\delta` the difference of the means. A fitted linear model keeps its record in ``sums_``; records
    of several machines or days are merged and turned into a model by ``from_sums``.

    Examples
    --------
    >>> from gnomon.linear import LinearRegression
    >>> a = LinearRegression().fit([[0.0], [1.0]], [1.0, 2.0]).sums_
    >>> b = LinearRegression().fit([[2.0], [3.0]], [4.0, 5.0]).sums_
    >>> LinearRegression.from_sums(a.merge(b)).coef_.round(12)
    array([1.4])
    """

    n_rows: float  # rows of positive weight
    weight: float  # sum of weights
    mean_x: Array  # (d,)
    mean_y: Array  # () or (t,)
    xx: Array  # (d, d)
    xy: Array  # (d,) or (d, t)
    yy: Array  # () or (t,)

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return len(self.mean_x)

    def merge(self, other: LinearSums) -> LinearSums:
        """Return the record of both sets of rows."""
        weight = self.weight + other.weight
        share = other.weight / weight if weight else 0.0
        dx, dy = other.mean_x - self.mean_x, other.mean_y - self.mean_y
        factor = self.weight * share
        return LinearSums(
            self.n_rows + other.n_rows,
            weight,
            self.mean_x + share * dx,
            self.mean_y + share * dy,
            _plus_outer(self.xx + other.xx, factor, dx),
            self.xy + other.xy + factor * np.multiply.outer(dx, dy),
            self.yy + other.yy + factor * dy * dy,
        )

    def without_centering(self) -> LinearSums:
        """Return the moments about the origin: what a model without intercept sees."""
        mx, my, W = self.mean_x, self.mean_y, self.weight
        return self._replace(
            mean_x=np.zeros_like(mx),
            mean_y=np.zeros_like(my),
            xx=self.xx + W * np.outer(mx, mx),
            xy=self.xy + W * np.multiply.outer(mx, my),
            yy=self.yy + W * my * my,
        )

    def loss(self, coef: Array, intercept: Array | float) -> Array:
        """Return Σ s (y − x·coef − intercept)² of the rows behind the record; coef is (d,) or (d, t)."""
        offset = self.mean_y - self.mean_x @ coef - intercept
        curved = np.sum(coef * (self.xx @ coef - 2.0 * self.xy), axis=0)
        return np.maximum(self.yy + curved, 0.0) + self.weight * offset * offset


def _plus_outer(A: Array, factor: float, v: Array) -> Array:
    """Add factor·v vᵀ to the symmetric `A` in place."""
    if factor == 0.0 or not len(v):
        return A
    return blas.dger(factor, v, v, a=A.T, overwrite_a=1).T


def moments(X: Any, y: Array, weight: Array | None = None) -> LinearSums:
    """Return the record of some rows in memory, dense or CSR; y is (m,) or (m, t)."""
    Y = np.asarray(y, dtype=np.float64)
    if weight is not None and bool((weight == 1.0).all()):
        weight = None
    count = len(Y) if weight is None else int(np.count_nonzero(weight))
    mass = float(len(Y)) if weight is None else float(weight.sum())
    gather = _of_sparse if sparse.issparse(X) else _of_dense
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused by name later
        mean_x, mean_y, xx, xy, yy = gather(X, Y[:, None] if Y.ndim == 1 else Y, weight)
    if Y.ndim == 1:
        mean_y, xy, yy = mean_y[0], xy[:, 0], yy[0]
    return LinearSums(count, mass, mean_x, mean_y, xx, xy, yy)


def linear_sums(chunk: Any) -> LinearSums:
    """Moments of one chunk: the partial sum that `gnomon.core.sums.total` adds up."""
    return moments(chunk.X, chunk.y, chunk.weight)


def sum_moments(rows: Any) -> LinearSums:
    """Return the record of all rows, in memory, on disk or on a cluster."""
    pieces = rows.unchecked().in_chunks_of(_chunk_size(rows))
    sums = _by_columns(pieces) if rows.in_memory and is_by_columns(pieces.X) else total(linear_sums, pieces)
    if not np.isfinite(sums.xx).all() and rows.in_memory:
        _ = rows.X  # refuses entries that are not finite; otherwise their squares overflow
    return sums


def _chunk_size(rows: Any) -> int:
    """Bytes of a chunk, such that their number is a multiple of four: no thread is left with the last one."""
    size = max(TALL, 64 * rows.n_features**2)
    row = rows.dtype.itemsize * max(1, rows.n_features)
    count = -(-rows.n_rows * row // size) if rows.in_memory else 1
    return size if count <= 1 else -(-rows.n_rows // (4 * -(-count // 4))) * row


def is_by_columns(X: Any) -> bool:
    """Tell whether a dense matrix lies in memory column by column."""
    return not sparse.issparse(X) and X.strides[0] < X.strides[1]


def _by_columns(rows: Any) -> LinearSums:
    """The same chunks as views: making rows contiguous would cost a copy of the whole matrix."""
    X, y, weight, step = rows.X, rows.y, rows.weight if rows.weighted else None, rows.chunk_rows()

    def record(start: int) -> LinearSums:
        part = slice(start, start + step)
        return moments(X[part], y[part], None if weight is None else weight[part])

    return add_up(in_order(record, range(0, max(1, len(X)), step)))


def _of_dense(X: Array, Y: Array, weight: Array | None) -> tuple[Array, ...]:
    """All moments from the products of [X 1 Y]: about the origin, or about the mean where that loses digits."""
    d, counted = X.shape[1], Y if weight is None else Y[weight > 0]  # rows that do not count may lie anywhere
    near_x, near_y = np.zeros(d), counted.mean(axis=0) if len(counted) else np.zeros(Y.shape[1])
    P = _products(X, Y - near_y, weight)
    mass = P[d, d]
    if mass == 0.0:
        return np.zeros(d), np.zeros(Y.shape[1]), P[:d, :d], P[:d, d + 1 :], P.diagonal()[d + 1 :]
    mean = P[d] / mass
    if not (mass * mean[:d] ** 2 * (1.0 + 1.0 / WASTE) <= P.diagonal()[:d]).all():
        near_x = mean[:d]
        P = _products(X, Y - near_y, weight, near_x)
        mean = P[d] / mass
    P = _plus_outer(P, -mass, mean)
    xx, xy, yy = np.ascontiguousarray(P[:d, :d]), P[:d, d + 1 :].copy(), P.diagonal()[d + 1 :].copy()
    return near_x + mean[:d], near_y + mean[d + 1 :], xx, xy, yy


def _products(X: Array, Y: Array, weight: Array | None, shift: Array | None = None) -> Array:
    """Σ s z zᵀ of the rows z = (x − shift, 1, y)."""
    if weight is None and shift is None and X.dtype == np.float64:
        return _plain_products(X, np.column_stack([np.ones(len(Y)), Y]))
    d = X.shape[1]
    buffer = np.empty((min(max(len(X), 1), BLOCK), d + 1 + Y.shape[1]))
    P = np.zeros((buffer.shape[1],) * 2)
    for start in range(0, len(X), BLOCK):
        part = slice(start, start + BLOCK)
        Z = buffer[: len(Y[part])]
        Z[:, :d], Z[:, d], Z[:, d + 1 :] = X[part], 1.0, Y[part]
        if shift is not None:
            Z[:, :d] -= shift
        if weight is not None:
            Z *= np.sqrt(weight[part])[:, None]
        P += Z.T @ Z
    return P


def _plain_products(X: Array, T: Array) -> Array:
    """The same of z = (x, t) without a copy of X, in blocks that are in cache when they meet T."""
    d = X.shape[1]
    P, rows = np.zeros((d + T.shape[1],) * 2), max(BLOCK, 4 * d, CACHE // max(1, 8 * d))
    for start in range(0, len(X), rows):
        x, t = X[start : start + rows], T[start : start + rows]
        P[:d, :d] += x.T @ x  # NumPy's products let other threads run, SciPy's do not
        P[:d, d:] += x.T @ t
    P[d:, :d], P[d:, d:] = P[:d, d:].T, T.T @ T
    return P


def _of_sparse(X: Any, Y: Array, weight: Array | None) -> tuple[Array, ...]:
    """CSR rows without densifying them: products about the origin, then centered."""
    X = X.astype(np.float64)
    s = np.ones(len(Y)) if weight is None else weight
    mass = float(s.sum())
    if mass == 0.0:
        d, t = X.shape[1], Y.shape[1]
        return np.zeros(d), np.zeros(t), np.zeros((d, d)), np.zeros((d, t)), np.zeros(t)
    mean_x, mean_y = (X.T @ s) / mass, (s @ Y) / mass
    T = Y - mean_y
    weighted = X if weight is None else sparse.diags_array(s) @ X
    xx = (X.T @ weighted).toarray() - mass * np.outer(mean_x, mean_x)
    return mean_x, mean_y, xx, weighted.T @ T, s @ (T * T)
