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
from gnomon.core.rows import MemoryRows
from gnomon.core.sums import total

NARROW = 200  # columns: from here on, chunks are made taller than usual
BLOCK = 8192  # rows that are worked on at a time
WASTE = 64.0  # products about the origin are accepted while (mean/deviation)² of every column stays below
LOOP = 2**16  # entries of a block from which on the compiled loop pays


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


class _TallChunks(MemoryRows):
    """The same rows in chunks so tall that adding d × d matrices costs little beside computing them."""

    def chunk_rows(self) -> int:
        return max(super().chunk_rows(), 8 * self.n_features)


def sum_moments(rows: Any) -> LinearSums:
    """Return the record of all rows, in memory, on disk or on a cluster."""
    if rows.in_memory and rows.n_features >= NARROW:
        rows = _TallChunks(rows.X, rows.y, rows.weight if rows.weighted else None)
    return total(linear_sums, rows)


class _Running:
    """The record of the blocks so far, and their buffers; the only thing here that changes."""

    def __init__(self, rows: int, d: int, t: int) -> None:
        self.block = np.empty((rows, d))
        self.product = np.empty((d, d))
        self.mass = 0.0
        self.mean_x, self.mean_y = np.zeros(d), np.zeros(t)
        self.xx, self.xy, self.yy = np.zeros((d, d)), np.zeros((d, t)), np.zeros(t)

    def add(self, mass: float, mean_x: Array, mean_y: Array, xy: Array, yy: Array) -> None:
        """Merge a block whose centered product lies in ``self.product``."""
        share = mass / (self.mass + mass)
        dx, dy, factor = mean_x - self.mean_x, mean_y - self.mean_y, self.mass * share
        self.xx += self.product
        self.xx = _plus_outer(self.xx, factor, dx)
        self.xy += xy + factor * np.outer(dx, dy)
        self.yy += yy + factor * dy * dy
        self.mean_x += share * dx
        self.mean_y += share * dy
        self.mass += mass


def _of_dense(X: Array, Y: Array, weight: Array | None) -> tuple[Array, ...]:
    """One pass in blocks: products about the origin where that is safe, a centered copy where not."""
    n, d = X.shape
    rows = min(max(n, 1), BLOCK)
    run = _Running(rows, d, Y.shape[1])
    raw = X.dtype == np.float64 and weight is None
    for start in range(0, n, rows):
        block, target = X[start : start + rows], Y[start : start + rows]
        if raw:
            raw = _add_raw(run, block, target)
        if not raw:
            _add_centered(run, block, target, None if weight is None else weight[start : start + rows])
    return run.mean_x, run.mean_y, run.xx, run.xy, run.yy


def _add_raw(run: _Running, block: Array, target: Array) -> bool:
    """Add a block by products about the origin; False, and nothing added, if that would lose digits."""
    m = len(block)
    mean_y = target.mean(axis=0)
    centered = target - mean_y
    mean_x, xy = _first_moments(block, centered)
    np.matmul(block.T, block, out=run.product)
    if not (m * mean_x * mean_x * (1.0 + 1.0 / WASTE) <= run.product.diagonal()).all():
        return False
    run.product = _plus_outer(run.product, -float(m), mean_x)
    run.add(m, mean_x, mean_y, xy, (centered * centered).sum(axis=0))
    return True


def _first_moments(block: Array, target: Array) -> tuple[Array, Array]:
    """Mean of the rows, and Σ x yᵀ with a centered target."""
    m, d = block.shape
    if block.size < LOOP or target.shape[1] > 8:
        return np.ones(m) @ block / m, block.T @ target
    from gnomon.loops.moments import add_first_moments

    sum_x, cross = np.zeros(d), np.zeros((target.shape[1], d))
    add_first_moments(block, target, sum_x, cross)
    return sum_x / m, cross.T


def _add_centered(run: _Running, block: Array, target: Array, weight: Array | None) -> None:
    """Add a block by a centered copy of it, rows scaled by the root of their weight."""
    m = len(block)
    s = np.ones(m) if weight is None else weight
    mass = float(s.sum())
    if mass == 0.0:
        return
    mean_x, mean_y = (s @ block.astype(np.float64, copy=False)) / mass, (s @ target) / mass
    Z = np.subtract(block, mean_x, out=run.block[:m])
    T = target - mean_y
    if weight is not None:
        root = np.sqrt(weight)[:, None]
        Z *= root
        T *= root
    np.matmul(Z.T, Z, out=run.product)
    run.add(mass, mean_x, mean_y, Z.T @ T, (T * T).sum(axis=0))


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
