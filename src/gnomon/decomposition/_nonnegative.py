"""The mathematics of X ≈ WH with all entries at least 0: losses, and half-steps over chunks of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import gammaln, xlogy

from gnomon.core.linalg import Array
from gnomon.core.sums import Chunk, merge
from gnomon.loops.nonnegative import descend_rows, descend_rows_with_holes, descend_steps, divergence_rows

TINY = 1e-300
FEW_PRODUCTS = 2**16  # of X with a factor: below, a step is one compiled loop
BETAS = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}


class Penalty(NamedTuple):
    """L1 and L2 weights of W (per row) and of H (per column)."""

    w1: float = 0.0
    w2: float = 0.0
    h1: float = 0.0
    h2: float = 0.0

    def value(self, W_sums: Array, H: Array) -> float:
        """The penalty; W_sums holds Σ|w| and Σw² over the rows."""
        return float(
            self.w1 * W_sums[0]
            + 0.5 * self.w2 * W_sums[1]
            + self.h1 * H.sum()
            + 0.5 * self.h2 * (H * H).sum()
        )


def beta_of(beta_loss: Any) -> float:
    """β from a name or a number."""
    return BETAS[beta_loss] if isinstance(beta_loss, str) else float(beta_loss)


def dense_blocks(X: Any) -> Iterator[tuple[slice, Array]]:
    """Rows in dense blocks that stay in cache, and where each is: a sparse X is never dense as a whole."""
    size = max(64, 2**17 // max(1, X.shape[1]))
    for start in range(0, X.shape[0], size):
        part = slice(start, start + size)
        block = X[part].toarray() if sparse.issparse(X) else X[part]
        yield part, np.asarray(block, dtype=np.float64)


def divergence(X: Any, R: Any, beta: float) -> float:
    """Σ d_β(x, r) over the entries that are not NaN."""
    X, R = np.asarray(X, dtype=np.float64), np.asarray(R, dtype=np.float64)
    seen = ~np.isnan(X)
    x, r = X[seen], np.maximum(R[seen], 0.0 if beta == 2.0 else TINY)
    if beta == 2.0:
        return 0.5 * float(((x - r) ** 2).sum())
    if beta == 1.0:
        return float((xlogy(x, x / r) - x + r).sum())
    if beta == 0.0:
        q = x / r
        return float((q - np.log(q) - 1.0).sum())
    top = x**beta + (beta - 1.0) * r**beta - beta * x * r ** (beta - 1.0)
    return float(top.sum() / (beta * (beta - 1.0)))


def exponent(beta: float) -> float:
    """The power that keeps multiplicative steps monotone (Févotte and Idier 2011)."""
    return 1.0 / (2.0 - beta) if beta < 1 else 1.0 if beta <= 2 else 1.0 / (beta - 1.0)


def ratio(top: Array, bottom: Array) -> Array:
    """top/bottom, with the smallest number added where the bottom is 0."""
    return top / np.where(bottom == 0, np.finfo(np.float64).eps, bottom)


def shares(X: Any, W: Array, H: Array, beta: float) -> tuple[Array, Array]:
    """R^{β−2}∘X and R^{β−1}, zero where X is missing: what both multiplicative steps multiply."""
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    seen = ~np.isnan(X)
    whole = bool(seen.all())
    R = W @ H
    filled = X if whole else np.where(seen, X, 0.0)
    if beta == 2.0:
        return filled, R if whole else np.where(seen, R, 0.0)
    R = np.maximum(R, TINY ** (1.0 / max(1.0, 2.0 - beta)) if beta < 1 else TINY)
    first = filled / R if beta == 1.0 else filled * R ** (beta - 2.0)
    second = np.ones_like(R) if beta == 1.0 else R ** (beta - 1.0)
    return first, second if whole else np.where(seen, second, 0.0)


def multiply_W(X: Any, W: Array, H: Array, beta: float, penalty: Penalty) -> Array:
    """One multiplicative step of W."""
    first, second = shares(X, W, H, beta)
    bottom = second @ H.T + penalty.w1 + penalty.w2 * W
    return W * ratio(first @ H.T, bottom) ** exponent(beta)


def multiply_H(top: Array, bottom: Array, H: Array, beta: float, penalty: Penalty) -> Array:
    """One multiplicative step of H from its two sums over rows."""
    return H * ratio(top, bottom + penalty.h1 + penalty.h2 * H) ** exponent(beta)


class HalfStep(NamedTuple):
    """What a pass over rows leaves for H, and the objective before it (or pieces of it)."""

    first: Array  # WᵀX, or the numerator of the multiplicative step (K, p)
    second: Array  # WᵀW, or its denominator (K, K) or (K, p)
    value: float
    violation: float
    W_sums: Array  # Σ w, Σ w²
    mass: Array  # Σ w_k over rows (K,)


class Options(NamedTuple):
    """How a pass treats its rows."""

    beta: float
    penalty: Penalty
    solver: str
    holes: bool
    sweeps: int  # rounds on W at most; 0 leaves W
    ratio: float
    fresh: bool  # W is not kept: start every row anew


def start_rows(X: Any, K: int, H: Array, beta: float) -> Array:
    """A positive W with row sums of about the right size."""
    sums = np.asarray(X.sum(axis=1)).ravel() if sparse.issparse(X) else np.nansum(X, axis=1)
    whole = float(H.sum())
    if whole == 0.0:
        return np.zeros((len(sums), K))
    level = np.maximum(np.asarray(sums, dtype=np.float64), TINY) / whole
    return np.repeat(level[:, None], K, axis=1)


def pass_over(chunk: Chunk, H: Array, W: Array | None, o: Options) -> tuple[Array, HalfStep]:
    """Improve W of a chunk for this H, and add up what H needs."""
    X = chunk.X
    K = len(H)
    if o.fresh or W is None:
        W = start_rows(X, K, H, o.beta)
    else:
        W = W[chunk.start : chunk.start + X.shape[0]].copy()
    if o.solver == "cd":
        return _descended(X, chunk.weight, H, W, o)
    if o.beta == 2.0 and not o.holes:
        way = _multiplied_squares
    elif o.beta == 1.0 and not o.holes and not o.penalty.w2 and (o.fresh or _mostly_zero(X)):
        way = _by_entries
    elif o.beta == 1.0 and not o.holes:
        way = _by_quotients
    else:
        way = _multiplied
    W, found = way(X, chunk.weight, H, W, o)
    return way(X, chunk.weight, H, W, o._replace(sweeps=0)) if o.fresh else (W, found)


def _mostly_zero(X: Any) -> bool:
    return sparse.issparse(X) or np.count_nonzero(X) < 0.25 * X.size


def weighted(W: Array, weight: Array) -> Array:
    return W if bool((weight == 1.0).all()) else W * weight[:, None]


def _descended(X: Any, weight: Array, H: Array, W: Array, o: Options) -> tuple[Array, HalfStep]:
    p = o.penalty
    if o.holes:
        Ht = np.ascontiguousarray(H.T)
        dense = np.ascontiguousarray(X, dtype=np.float64)
        violation = descend_rows_with_holes(dense, Ht, W, p.w1, p.w2, o.sweeps, o.ratio)
        dW = weighted(W, weight)
        seen = ~np.isnan(dense)
        first = dW.T @ np.where(seen, dense, 0.0)
        second = np.einsum("nk,np,nl->pkl", dW, seen.astype(np.float64), W)
        gap = np.where(seen, dense - W @ H, 0.0)
        value = 0.5 * float(weight @ (gap * gap).sum(axis=1))
    else:
        G = H @ H.T + p.w2 * np.eye(len(H))
        B = np.asarray(X @ H.T, dtype=np.float64) - p.w1
        if o.fresh:  # the best row of equal entries: of the right size, whatever the penalties
            W[:] = (np.maximum(B.sum(axis=1), 0.0) / max(float(G.sum()), TINY))[:, None]
        violation = descend_rows(G, np.ascontiguousarray(B), W, o.sweeps, o.ratio)
        dW = weighted(W, weight)
        first = np.asarray((X.T @ dW).T if sparse.issparse(X) else dW.T @ X, dtype=np.float64)
        second, value = dW.T @ W, 0.0
    sums = np.array([dW.sum(), float((dW * W).sum())])
    return W, HalfStep(first, second, value, float(violation), sums, dW.sum(axis=0))


def _multiplied_squares(X: Any, weight: Array, H: Array, W: Array, o: Options) -> tuple[Array, HalfStep]:
    """Multiplicative steps of the squared loss, from products with X alone."""
    G, B = H @ H.T, np.asarray(X @ H.T, dtype=np.float64)
    squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
    value = 0.5 * float(
        weight
        @ (np.asarray(squares, dtype=np.float64) - 2.0 * (B * W).sum(axis=1) + ((W @ G) * W).sum(axis=1))
    )
    for _ in range(o.sweeps):
        W_new = W * ratio(B, W @ G + o.penalty.w1 + o.penalty.w2 * W)
        moved = np.abs(W_new - W).sum()
        W = W_new
        if moved <= o.ratio * W.sum():
            break
    dW = weighted(W, weight)
    first = np.asarray((X.T @ dW).T if sparse.issparse(X) else dW.T @ X, dtype=np.float64)
    sums = np.array([dW.sum(), float((dW * W).sum())])
    return W, HalfStep(first, (dW.T @ W) @ H, max(value, 0.0), 0.0, sums, dW.sum(axis=0))


def _by_quotients(X: Any, weight: Array, H: Array, W: Array, o: Options) -> tuple[Array, HalfStep]:
    """Dense steps of the divergence; one X/(WH) of a block serves its value and the first round."""
    first, columns, value = np.zeros_like(H), H.sum(axis=1), 0.0

    def multiplied(Q: Array, V: Array) -> Array:
        return V * ratio(Q @ H.T, columns + o.penalty.w1 + o.penalty.w2 * V)

    for part, x in dense_blocks(X):
        V, w = W[part], weight[part]
        Q = _quotients(x, V, H)
        value += float(w @ (_row_dots(x, np.log(np.maximum(Q, TINY))) - x.sum(axis=1) + V @ columns))
        if o.sweeps:
            V = _improved(x, V, multiplied(Q, V), lambda x, v: multiplied(_quotients(x, v, H), v), o)
            W[part] = V
            Q = _quotients(x, V, H)
        first += weighted(V, w).T @ Q
    dW = weighted(W, weight)
    mass, sums = dW.sum(axis=0), np.array([dW.sum(), float((dW * W).sum())])
    return W, HalfStep(first, np.repeat(mass[:, None], H.shape[1], axis=1), value, 0.0, sums, mass)


def _quotients(X: Array, W: Array, H: Array) -> Array:
    R = W @ H
    np.maximum(R, TINY, out=R)
    return np.divide(X, R, out=R)


def _row_dots(A: Array, B: Array) -> Array:
    return np.einsum("ij,ij->i", A, B)


def _multiplied(X: Any, weight: Array, H: Array, W: Array, o: Options) -> tuple[Array, HalfStep]:
    """Dense multiplicative steps, in blocks that stay in cache."""
    first, second = np.zeros_like(H), np.zeros_like(H)
    value, sums, mass = 0.0, np.zeros(2), np.zeros(len(H))

    def multiplied(x: Array, V: Array) -> Array:
        return multiply_W(x, V, H, o.beta, o.penalty)

    for part, block in dense_blocks(X):
        V, w = W[part], weight[part]
        value += _block_value(block, V, H, w, o.beta)
        if o.sweeps:
            V = _improved(block, V, multiplied(block, V), multiplied, o)
            W[part] = V
        dV = weighted(V, w)
        a, b = shares(block, V, H, o.beta)
        first += dV.T @ a
        second += dV.T @ b
        mass += dV.sum(axis=0)
        sums += [dV.sum(), float((dV * V).sum())]
    return W, HalfStep(first, second, value, 0.0, sums, mass)


def _improved(X: Array, V: Array, fresh: Array, multiplied: Callable[..., Array], o: Options) -> Array:
    """Multiplicative rounds on W, `fresh` after the first; a row rests once it has settled, whatever the others do."""
    out, busy = fresh, np.arange(len(V))
    for _ in range(1, o.sweeps):
        busy = busy[np.abs(fresh - V).sum(axis=1) > o.ratio * fresh.sum(axis=1)]
        if not len(busy):
            break
        V = out[busy]
        fresh = multiplied(X[busy], V)
        out[busy] = fresh
    return out


def _block_value(X: Array, W: Array, H: Array, weight: Array, beta: float) -> float:
    if bool((weight == 1.0).all()):
        return divergence(X, W @ H, beta)
    return sum(
        w * divergence(x[None], (v @ H)[None], beta) for w, x, v in zip(weight, X, W, strict=True) if w > 0
    )


def _by_entries(X: Any, weight: Array, H: Array, W: Array, o: Options) -> tuple[Array, HalfStep]:
    """The divergence over the entries that are not zero; WH is never formed."""
    S = sparse.csr_array(X, dtype=np.float64)
    Ht = np.ascontiguousarray(H.T)
    top = np.zeros_like(Ht)
    column_sums = H.sum(axis=1)
    value = float((weighted(W, weight).sum(axis=0) * column_sums).sum())
    below = column_sums + o.penalty.w1
    value += divergence_rows(S.data, S.indices, S.indptr, Ht, below, weight, W, o.sweeps, o.ratio, top, True)
    dW = weighted(W, weight)
    mass = dW.sum(axis=0)
    sums = np.array([dW.sum(), float((dW * W).sum())])
    second = np.broadcast_to(mass[:, None], H.shape).copy()
    return W, HalfStep(top.T.copy(), second, float(value), 0.0, sums, mass)


def gathered(parts: Iterable[tuple[Array, HalfStep]], keep: bool) -> tuple[Array | None, HalfStep]:
    """Rows one below the other, sums added in order."""
    tables, found = [], None
    for W, half in parts:
        if keep:
            tables.append(W)
        found = half if found is None else merge(found, half)
    return np.concatenate(tables) if keep else None, found  # type: ignore[return-value]


def sweep(
    rows: Any, H: Array, W: Array | None, o: Options, keep: bool = True
) -> tuple[Array | None, HalfStep]:
    """A pass over all rows."""
    return rows.gather(pass_over, (H, W, o), partial(gathered, keep=keep))


def descend_H(found: HalfStep, H: Array, penalty: Penalty, sweeps: int, ratio: float) -> tuple[Array, float]:
    """Coordinate descent of H from WᵀX and WᵀW (one Gram matrix, or one a column where entries are missing)."""
    Ht = np.ascontiguousarray(H.T)
    B = np.ascontiguousarray(found.first.T) - penalty.h1
    K = len(H)
    if found.second.ndim == 2:
        G = found.second + penalty.h2 * np.eye(K)
        violation = float(descend_rows(G, B, Ht, sweeps, ratio))
        return np.ascontiguousarray(Ht.T), violation
    violation = 0.0
    for j in range(len(Ht)):
        G = found.second[j] + penalty.h2 * np.eye(K)
        violation += float(descend_rows(G, B[j : j + 1], Ht[j : j + 1], sweeps, ratio))
    return np.ascontiguousarray(Ht.T), violation


def few(rows: Any, K: int) -> bool:
    """Tell whether rows are so few that the calls of a step take longer than its products, even if X is dense."""
    return bool(rows.in_memory) and rows.n_rows * rows.n_features * K <= FEW_PRODUCTS


def descend_few(
    rows: Any, squares: float, W: Array, H: Array, o: Options, first: float, tol: float, most: int
) -> Any:
    """Up to `most` whole steps on few rows without missing entries: W, H, violations before and objectives after."""
    Xt, Wt = (np.array(A.T, dtype=np.float64, order="C") for A in (rows.X, W))
    H, table = H.copy(), np.empty((most, 2))
    penalty = tuple(map(float, o.penalty))
    made = descend_steps(Xt, rows.weight, penalty, squares, o.sweeps, o.ratio, first, tol, Wt, H, table)
    return np.ascontiguousarray(Wt.T), H, *table[:made].T.tolist()


def squared_value(squares: float, found: HalfStep, H: Array) -> float:
    """½‖X − WH‖² from the sums of a pass."""
    inner = float((found.first * H).sum())
    if found.second.ndim == 2:
        outer = float((found.second * (H @ H.T)).sum())
    else:
        outer = float(np.einsum("pkl,kp,lp->", found.second, H, H))
    return max(0.5 * (squares - 2.0 * inner + outer), 0.0)


def poisson_constant(X: Array) -> float:
    """Σ ln x! + Σ (x − x ln x): what turns minus the divergence into a Poisson log-likelihood."""
    x = X[~np.isnan(X)]
    return float(gammaln(x + 1.0).sum() + (x - xlogy(x, x)).sum())
