"""Leading eigenvectors of a symmetric matrix that is known by its products alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gnomon.core.linalg import Array, thin_qr
from gnomon.decomposition.singular import ROUNDED

NARROWEST, WIDEST = 6, 64  # columns of a block, which has as many as are wanted else
SHARE = 1e-9  # of an eigenvalue: a residual below it is taken as none where no tolerance is given
ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of the largest eigenvalue


def leading_eigen(
    times: Callable[[Array], Array],
    n: int,
    k: int,
    rng: np.random.Generator,
    *,
    tol: float = 0.0,
    max_steps: int = 200,
) -> tuple[Array, Array, bool]:
    """Return the k largest eigenvalues, their vectors in columns, and whether all of them have converged.

    Block Lanczos steps (Golub and Underwood 1977) from a random start, every new block made orthogonal to all before
    it; a full basis goes on from its best vectors (Wu and Simon 2000). A product with a block reads the matrix once, as
    a product with one vector does, and eigenvalues that are equal come out together. A pair has converged where its
    residual is below `tol` of its eigenvalue, or is rounding of the largest. Needs n of at least 8k and 100.
    """
    b = min(max(k, NARROWEST), WIDEST)
    room = min(n // 2, max(4 * (k + b), 16 * b))  # vectors of a basis
    V, T, m = np.empty((n, room), order="F"), np.zeros((room, room)), 0
    values, Y = np.empty(0), np.empty((0, 0))
    fresh = thin_qr(rng.standard_normal((n, b)))[0]
    share = SHARE if tol == 0.0 else tol
    for _ in range(max_steps):
        if m + b > room:
            m = min(k + b, room - b)
            V[:, :m] = V[:, : len(Y)] @ Y[:, :m]
            T[:] = 0.0
            T[:m, :m] = np.diag(values[:m])
        block = slice(m, m + b)
        m += b
        V[:, block] = fresh
        image = times(V[:, block])
        T[:m, block] = V[:, :m].T @ image
        T[block, :m] = T[:m, block].T
        values, Y = np.linalg.eigh(T[:m, :m])
        values, Y = values[::-1], Y[:, ::-1]
        rest = image - V[:, :m] @ T[:m, block]
        fresh, link = _next_block(rest, V[:, :m], float(np.linalg.norm(image)), rng)
        left = np.linalg.norm(link @ Y[block, :k], axis=0)
        if m >= k and (left <= np.maximum(share * np.abs(values[:k]), ROUNDING * np.abs(values).max())).all():
            return values[:k], V[:, :m] @ Y[:, :k], True
    return values[:k], V[:, :m] @ Y[:, :k], False


def _next_block(W: Array, V: Array, size: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Orthonormal columns, orthogonal to V, that span W, and the factor with which they give it.

    What is below `size` by so much that it may be rounding is replaced by fresh draws.
    """
    Q, R = thin_qr(W)
    if np.abs(R.diagonal()).min() > ROUNDED * size:
        Q = Q - V @ (V.T @ Q)
        Q = Q @ np.linalg.inv(np.linalg.cholesky(Q.T @ Q)).T  # nearly orthonormal: no digit is lost
    else:
        U, s, _ = np.linalg.svd(W, full_matrices=False)
        Q = np.where(s > ROUNDED * size, U, rng.standard_normal(U.shape))
        for _ in range(3):
            Q = np.linalg.qr(Q - V @ (V.T @ Q))[0]
    return Q, Q.T @ W
