"""Linear algebra shared by the models: factorizations that report, log-determinants, log-sum-exp, signs."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack

from gnomon.core.errors import DegenerateError

Array: TypeAlias = NDArray[Any]

LINE = 64  # bytes that the processor fetches at once
SMALL = 64  # rows of a matrix up to which the checks around LAPACK take longer than its work


def aligned(shape: int | tuple[int, ...], dtype: Any = np.float64) -> Array:
    """Return an empty array that begins where a line of the cache does.

    Records of 64 bytes that are read in random order then take one fetch each instead of two.

    >>> aligned((3, 8)).ctypes.data % 64
    0
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    cells = np.empty(size + LINE, dtype=np.uint8)
    first = -cells.ctypes.data % LINE
    return cells[first : first + size].view(dtype).reshape(shape)


def cholesky(A: Array, *, jitter: float = 0.0, what: str = "matrix") -> tuple[Array, float]:
    """Return the lower Cholesky factor of `A` and the multiple of its mean diagonal that had to be added.

    With ``jitter`` > 0 a failed factorization is tried again with jitter, 10·jitter, … up to 1e6·jitter on
    the diagonal (relative to its mean). With 0 nothing is ever added.

    >>> L, added = cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    >>> L, added
    (array([[2., 0.],
           [1., 2.]]), 0.0)
    """
    if _is_small(A):
        U, failed = lapack.dpotrf(A.T, lower=0, clean=1)
        if not failed:
            return U.T, 0.0
    tries = [0.0, *(jitter * 10.0**power for power in range(7))] if jitter > 0 else [0.0]
    diagonal = np.abs(np.diagonal(A)).mean() if A.size else 0.0
    for relative in tries:
        shifted = A + relative * diagonal * np.eye(len(A), dtype=A.dtype) if relative else A
        try:
            U = linalg.cholesky(shifted.T, lower=False)  # LAPACK reads columns: no copy of a C-ordered matrix
            return U.T, float(relative * diagonal)
        except linalg.LinAlgError:
            continue
        except ValueError as error:
            raise DegenerateError(f"{what} has entries that are not finite.") from error
    smallest = float(linalg.eigvalsh(A, subset_by_index=[0, 0])[0])
    raise DegenerateError(
        f"{what} is not positive definite: its smallest eigenvalue is {smallest:.3g}. "
        "Regularize it, or drop columns that are constant or repeat others."
    )


def _is_small(A: Array) -> bool:
    """Tell whether LAPACK may be asked at once: a small matrix of finite numbers."""
    return A.dtype == np.float64 and 0 < len(A) <= SMALL and bool(np.isfinite(A.sum()))


def inverse_factor(L: Array) -> Array:
    """Return the inverse of a lower triangular matrix.

    >>> inverse_factor(np.array([[2.0, 0.0], [1.0, 4.0]]))
    array([[ 0.5  ,  0.   ],
           [-0.125,  0.25 ]])
    """
    if _is_small(L):
        inverse, failed = lapack.dtrtri(L.T, lower=0)
        if not failed:
            return inverse.T
    return linalg.solve_triangular(L, np.eye(len(L)), lower=True)


def thin_qr(A: Array) -> tuple[Array, Array]:
    """Return Q with orthonormal columns and a triangular R with a diagonal above 0 such that A = QR, for a tall A.

    The Cholesky factor of AᵀA is R, taken twice: the second turn removes what the squares lost (CholeskyQR2, Yamamoto
    et al. 2015). These are a few products where Householder's reflections go column by column. They remain the way
    where the first turn leaves columns far from orthonormal.

    >>> Q, R = thin_qr(np.array([[3.0, 1.0], [4.0, 2.0], [0.0, 2.0]]))
    >>> R.round(2)
    array([[5.  , 2.2 ],
           [0.  , 2.04]])
    """
    lengths = np.sqrt(np.einsum("ij,ij->j", A, A))
    if A.shape[0] >= A.shape[1] and 0.0 < lengths.min(initial=1.0) and lengths.max(initial=1.0) < np.inf:
        try:
            scaled = A / lengths
            Q, first = _cholesky_turn(scaled, scaled.T @ scaled)
            left = Q.T @ Q
            if np.abs(left - np.eye(len(left))).sum(axis=0).max(initial=0.0) < 0.1:
                Q, second = _cholesky_turn(Q, left)
                return Q, (second @ first) * lengths
        except np.linalg.LinAlgError:
            pass
    Q, R = np.linalg.qr(A)
    signs = np.where(np.diagonal(R) < 0, -1.0, 1.0)
    return Q * signs, R * signs[:, None]


def _cholesky_turn(A: Array, G: Array) -> tuple[Array, Array]:
    """Return A R⁻¹ and R, where G = AᵀA = RᵀR."""
    L = np.linalg.cholesky(G)
    return linalg.solve_triangular(L, A.T, lower=True, check_finite=False).T, L.T


def log_determinant(L: Array) -> Array:
    """Return ln|A| of A = L Lᵀ, for one triangular factor or a stack of them."""
    return 2.0 * np.log(np.diagonal(L, axis1=-2, axis2=-1)).sum(axis=-1)


def dots_of(A: Array, B: Array, rows: Array, columns: Array) -> Array:
    """Return the entries of A Bᵀ at some places, without the others; some at a time, so that few rows are copied.

    >>> dots_of(
    ...     np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0]]), np.array([1, 0]), np.array([0, 0])
    ... )
    array([39., 17.])
    """
    out = np.empty(len(rows))
    for start in range(0, len(rows), 2**15):
        part = slice(start, start + 2**15)
        out[part] = np.einsum("ik,ik->i", A[rows[part]], B[columns[part]])
    return out


def solve_spd(A: Array, B: Array, *, what: str = "matrix") -> Array:
    """Solve A X = B for a symmetric positive definite A."""
    L, _ = cholesky(A, what=what)
    return linalg.cho_solve((L, True), B)


def log_sum_exp(A: Array, axis: int = -1) -> Array:
    """Return ln Σ exp(A) along `axis`; a slice of −∞ gives −∞, never NaN.

    >>> log_sum_exp(np.array([[0.0, 0.0], [-np.inf, -np.inf]])).round(6)
    array([0.693147,     -inf])
    """
    top = np.max(A, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(A - top).sum(axis=axis)) + np.squeeze(top, axis=axis)


def symmetric_eigen(A: Array, k: int | None = None, B: Array | None = None) -> tuple[Array, Array]:
    """Return the k largest eigenvalues (all when not given), and their vectors in columns with deterministic signs.

    With B they are those of A v = λ B v. LAPACK's search for some of the eigenvalues may lose a cluster of equal ones,
    as those of I − 11ᵀ/n, without a word; then all are computed.
    """
    n = len(A)
    first = 0 if k is None else n - k
    if B is None and first < n and _is_small(A):
        values, vectors = _small_eigen(A, first)
    else:
        values, vectors = linalg.eigh(A, B, subset_by_index=[first, n - 1] if 0 < first < n else None)
    if len(values) < n - first:
        values, vectors = linalg.eigh(A, B)
    values, vectors = values[first - n :], vectors[:, first - n :]
    return values[::-1], fix_signs(vectors[:, ::-1])


def _small_eigen(A: Array, first: int) -> tuple[Array, Array]:
    """What `scipy.linalg.eigh` returns of the eigenvalues from number `first` on, by the same routine of LAPACK."""
    n = len(A)
    room, whole, _ = lapack.dsyevr_lwork(n, lower=1)
    chosen = {"range": "I", "il": first + 1, "iu": n} if first > 0 else {"range": "A"}
    values, vectors, count, _, failed = lapack.dsyevr(
        A, compute_v=1, lower=1, lwork=int(room), liwork=int(whole), **chosen
    )
    if failed:
        return linalg.eigh(A)
    return values[:count], vectors[:, :count]


def fix_signs(V: Array) -> Array:
    """Flip columns so that each one's entry of largest magnitude (the first of equals) is positive.

    >>> fix_signs(np.array([[1.0, 0.6], [-2.0, 0.8]]))
    array([[-1. ,  0.6],
           [ 2. ,  0.8]])
    """
    rows = np.abs(V).argmax(axis=0)
    signs = np.sign(V[rows, np.arange(V.shape[1])])
    return V * np.where(signs == 0, 1.0, signs)
