"""Sums over rows that a smooth linear model needs: value, gradient, Hessian and Hessian products.

The parameters are one array `theta` of shape (D,) or (D, K): a row per feature and, last, the intercept when
there is one. All functions here are partial sums over a `Chunk`, so they serve arrays, Parquet and Dask
alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array
from gnomon.core.rows import MemoryRows
from gnomon.loops import fused, products
from gnomon.loops import losses as loss_loops

BLOCK_BYTES = 2**19  # of rows that are read twice: once for the scores, once for the gradient
FEW_PARAMETERS = 32  # up to which few rows are not left to BLAS
FEW_PRODUCTS = 2**16  # of a Hessian: below, the call of a function of Python takes longer than they do


class Model(NamedTuple):
    """What turns a score into a loss: the loss, whether there is an intercept, and which class is +1."""

    loss: Any
    intercept: bool
    positive: int | None = None  # class code taken as +1; None: y is a number (or a code, for score losses)
    n_outputs: int = 0  # 0: theta is a vector


class Terms(NamedTuple):
    """Value, gradient and perhaps Hessian of Σ weight · loss."""

    value: float
    gradient: Array
    hessian: Array | None


def parts(X):
    """Return indptr, indices and data of CSR rows as loops read them fastest: indices without a sign."""
    unsigned = np.uint32 if X.indices.dtype == np.int32 else np.uint64
    return X.indptr.astype(np.int64), X.indices.view(unsigned), X.data


def targets(chunk, positive):
    """Return y of a chunk as the loss wants it."""
    if positive is None:
        return np.asarray(chunk.y, dtype=np.float64)
    return np.where(chunk.y == positive, 1.0, -1.0)


def few(rows: Any, D: int) -> bool:
    """Tell whether rows are dense and so few that one compiled loop is faster than several products."""
    small = D <= FEW_PARAMETERS and rows.n_rows * D * D <= FEW_PRODUCTS
    return small and bool(rows.in_memory) and not rows.sparse


def loop_array(A: Any, dtype: Any = None) -> Any:
    """Return a dense array as compiled loops take it: in C order, aligned, and open to writing (they do not)."""
    if A.flags.carray and (dtype is None or A.dtype == dtype):
        return A
    return np.require(A, dtype, ["C", "A", "W"])


def loop_arguments(rows: Any, model: Model) -> tuple[Any, ...]:
    """Return what `loops.few_rows` asks for: the loss in numbers, X, y and the weights."""
    p, q = model.loss.parameters
    numbers = model.loss.code, float(p), float(q), -1 if model.positive is None else int(model.positive)
    y = loop_array(rows.y, None if model.positive is not None else np.float64)
    return numbers, loop_array(rows.X), y, loop_array(rows.weight)


def dot(X, V):
    """X @ V for a dense block or CSR rows."""
    if not sparse.issparse(X):
        return X @ V if X.dtype == V.dtype else X.astype(np.float64) @ V
    out = np.empty((X.shape[0], *V.shape[1:]))
    loop = products.csr_dot if V.ndim == 1 else products.csr_dot_matrix
    loop(*parts(X), np.ascontiguousarray(V), out)
    return out


def add(X, U, out):
    """out += Xᵀ U for a dense block or CSR rows."""
    if not sparse.issparse(X):
        out += (U.T @ (X if X.dtype == U.dtype else X.astype(np.float64))).T  # few columns: faster this way
        return
    loop = products.csr_add if U.ndim == 1 else products.csr_add_matrix
    loop(*parts(X), U, out)


def scores(X, theta, intercept):
    """Return the scores of some rows."""
    return dot(X, theta[:-1]) + theta[-1] if intercept else dot(X, theta)


def blocks(X) -> Any:
    """Cut a chunk so that a dense block stays in cache between its two uses."""
    m = X.shape[0]
    step = m if sparse.issparse(X) else max(16, BLOCK_BYTES // max(1, 8 * X.shape[1]))
    return (slice(begin, min(begin + step, m)) for begin in range(0, m, step))


def slopes(model, y, z, weight):
    """Return Σ weight·loss and the arrays weight·slope, weight·bend of one block."""
    slope, bend = np.empty(len(z)), np.empty(len(z))
    code, (p, q) = model.loss.code, model.loss.parameters
    if code == loss_loops.LOGISTIC and p == 1.0:
        return loss_loops.logistic_terms(y, z, weight, slope, bend), slope, bend
    return loss_loops.weighted_terms(code, p, q, y, z, weight, slope, bend), slope, bend


def loss_terms(chunk, theta, model, curved):
    """Value, gradient and, if `curved`, Hessian of the loss of one chunk."""
    if model.n_outputs:
        return softmax_terms(chunk, theta, model)
    if not curved:
        return first_order(chunk, theta, model)
    D, d = len(theta), chunk.X.shape[1]
    value, gradient, y = 0.0, np.zeros(D), targets(chunk, model.positive)
    hessian = np.zeros((D, D))
    for part in blocks(chunk.X):
        X = chunk.X[part]
        z = scores(X, theta, model.intercept)
        block_value, slope, bend = slopes(model, y[part], z, chunk.weight[part])
        value += block_value
        add(X, slope, gradient[:d])
        if model.intercept:
            gradient[d] += slope.sum()
        add_hessian(X, bend, hessian, model.intercept)
    return Terms(value, gradient, hessian)


def first_order(chunk, theta, model):
    """Value and gradient of one chunk in a single reading of it."""
    X, y, (p, q) = chunk.X, targets(chunk, model.positive), model.loss.parameters
    gradient, last = np.zeros(len(theta)), theta[-1] if model.intercept else 0.0
    if sparse.issparse(X):
        value, slope = fused.csr_gradient(
            model.loss.code, p, q, *parts(X), y, chunk.weight, theta, last, gradient
        )
    else:
        value, slope = fused.dense_gradient(
            model.loss.code, p, q, X, y, chunk.weight, theta, last, np.empty(4), gradient
        )
    if model.intercept:
        gradient[-1] = slope
    return Terms(value, gradient, None)


def add_hessian(X, bend, hessian, intercept):
    """hessian += Xᵀ diag(bend) X, bordered by the intercept."""
    d = X.shape[1]
    used = bend > 0.0
    if not used.all():  # rows without curvature (hinge losses) cost nothing
        X, bend = X[used], bend[used]
    if not len(bend):
        return
    if sparse.issparse(X):
        scaled = sparse.csr_array((X.data * np.repeat(bend, np.diff(X.indptr)), X.indices, X.indptr), X.shape)
        hessian[:d, :d] += (X.T @ scaled).toarray()
    else:
        even = bend[0] == bend[-1] and bool((bend == bend[0]).all())  # hinge losses without weights
        scaled = X if even else X * np.sqrt(bend)[:, None]
        product = scaled.T @ scaled  # the same array twice: BLAS does half the work
        hessian[:d, :d] += bend[0] * product if even else product
    if intercept:
        border = np.zeros(d)
        add(X, bend, border)
        hessian[:d, d] += border
        hessian[d, :d] += border
        hessian[d, d] += bend.sum()


def shifted_scores(X, theta, intercept):
    """Return the scores of some rows less the largest of each row, for theta of shape (D, K)."""
    Z = np.ascontiguousarray(dot(X, theta[:-1] if intercept else theta))
    loss_loops.softmax_shift(theta[-1] if intercept else np.zeros(theta.shape[1]), Z)
    return Z


def softmax_terms(chunk, theta, model):
    """Value and gradient of the cross-entropy of one chunk, for theta of shape (D, K)."""
    d = chunk.X.shape[1]
    value, gradient, slope = 0.0, np.zeros_like(theta), np.zeros(theta.shape[1])
    for part in blocks(chunk.X):
        X, y = chunk.X[part], chunk.y[part]
        P = shifted_scores(X, theta, model.intercept)
        own = P[np.arange(len(y)), y]
        np.exp(P, out=P)  # NumPy's exponentials go several at a time
        value += loss_loops.softmax_slopes(y, chunk.weight[part], own, P, slope)
        add(X, P, gradient[:d])
    if model.intercept:
        gradient[d] = slope
    return Terms(value, gradient, None)


def curvature_rows(chunk, theta, model):
    """Return weight·bend of every row (or the class probabilities): what Hessian products reuse."""
    if model.n_outputs:
        P = shifted_scores(chunk.X, theta, model.intercept)
        loss_loops.softmax_rows(np.exp(P, out=P))
        return P
    z = scores(chunk.X, theta, model.intercept)
    return slopes(model, targets(chunk, model.positive), z, chunk.weight)[2]


def hessian_product(chunk, v, model, rows):
    """Hessian of the loss times v; `rows` is what `curvature_rows` gave, for all rows."""
    bend = rows[chunk.start : chunk.start + len(chunk.weight)]
    if model.n_outputs:
        return _softmax_product(chunk, v, model, bend)
    X, out, last = chunk.X, np.zeros_like(v), v[-1] if model.intercept else 0.0
    if sparse.issparse(X):
        slope = fused.csr_curved(*parts(X), bend, v, last, out)
    else:
        slope = fused.dense_curved(X, bend, v, last, np.empty(4), out)
    if model.intercept:
        out[-1] = slope
    return out


def _softmax_product(chunk, v, model, P):
    d, out = chunk.X.shape[1], np.zeros_like(v)
    for part in blocks(chunk.X):
        X = chunk.X[part]
        z = np.ascontiguousarray(scores(X, v, model.intercept))
        loss_loops.softmax_curve(P[part], chunk.weight[part], z)
        add(X, z, out[:d])
        if model.intercept:
            out[d] += z.sum(axis=0)
    return out


class CutRows(MemoryRows):
    """Sparse rows cut once, for cutting copies them, into pieces that threads can share: a multiple of four."""

    def __init__(self, rows: MemoryRows) -> None:
        super().__init__(rows.X, rows.y, rows._weight, feature_names=rows.feature_names, classes=rows.classes)
        self._kept = list(super()._cut())

    def chunk_rows(self) -> int:
        """Return how many rows a chunk has at most."""
        pieces = -(-self.n_rows // super().chunk_rows())
        return -(-self.n_rows // (4 * -(-pieces // 4))) if pieces > 1 else super().chunk_rows()

    def _cut(self) -> Any:
        return iter(self._kept)


def cut(rows: Any) -> Any:
    """Return rows that are cheap to go through many times."""
    return CutRows(rows) if rows.in_memory and rows.sparse else rows


def mean_curvature(chunk, model, rows):
    """Σ_i h_i x_i x_iᵀ with h_i the curvature of the row, averaged over the classes: a preconditioner."""
    D = chunk.X.shape[1] + model.intercept
    hessian, bend = np.zeros((D, D)), _row_curvature(chunk, model, rows)
    for part in blocks(chunk.X):
        add_hessian(chunk.X[part], bend[part], hessian, model.intercept)
    return hessian


def class_curvature(chunk, model, rows):
    """Σ_i w_i p_ik (1 − p_ik) x_i x_iᵀ of every class k: the blocks of the Hessian, (K, D, D)."""
    D = chunk.X.shape[1] + model.intercept
    P = rows[chunk.start : chunk.start + len(chunk.weight)]
    bend = chunk.weight[:, None] * P * (1.0 - P)
    hessians = np.zeros((model.n_outputs, D, D))
    for part in blocks(chunk.X):
        for hessian, column in zip(hessians, bend[part].T):
            add_hessian(chunk.X[part], column, hessian, model.intercept)
    return hessians


def diagonal_curvature(chunk, model, rows):
    """Diagonal of the same matrix, for wide data."""
    X, bend = chunk.X, _row_curvature(chunk, model, rows)
    out = np.zeros(X.shape[1] + model.intercept)
    if sparse.issparse(X):
        products.csr_squares(*parts(X), bend, out)
    else:
        out[: X.shape[1]] = np.einsum("ij,ij,i->j", X, X, bend)
    if model.intercept:
        out[-1] = bend.sum()
    return out


def _row_curvature(chunk, model, rows):
    bend = rows[chunk.start : chunk.start + len(chunk.weight)]
    if model.n_outputs:
        return chunk.weight * (1.0 - np.einsum("ij,ij->i", bend, bend)) / model.n_outputs
    return bend
