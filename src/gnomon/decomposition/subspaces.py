"""Bases, projections, leading eigenvectors and angles between subspaces."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from gnomon.core.errors import DataError, DegenerateError, nearest
from gnomon.core.linalg import Array, fix_signs
from gnomon.core.validate import matrix, warn

EPS = float(np.finfo(np.float64).eps)


def _matrix(A: Any, name: str) -> Array:
    A = np.asarray(A)
    if A.ndim == 1:
        A = A[:, None]
    return np.asarray(matrix(A, name=name), dtype=np.float64)


def _square(A: Any, name: str) -> Array:
    A = _matrix(A, name)
    if A.shape[0] != A.shape[1]:
        raise DataError(f"{name} must be square; its shape is {A.shape}.")
    if np.abs(A - A.T).max(initial=0.0) > 1e-10 * max(1e-300, np.abs(A).max(initial=0.0)):
        raise DataError(f"{name} must be symmetric; take ({name} + {name}.T) / 2 first.")
    return (A + A.T) / 2.0


def qr(A: Any, *, method: str = "householder") -> tuple[Array, Array]:
    r"""Return an orthonormal basis Q and the triangular R with :math:`A = QR`, the diagonal of R at least 0.

    Parameters
    ----------
    A : array of shape (n, k), n ≥ k
    method : {"householder", "gram_schmidt", "modified_gram_schmidt"}
        Householder reflections lose no orthogonality. Classical Gram–Schmidt subtracts all projections at
        once and loses it with the square of the condition number, the modified form with the number itself;
        both are here to be seen.

    Examples
    --------
    >>> Q, R = qr([[1, 1], [1, 0], [0, 1]])
    >>> R.round(4)
    array([[1.4142, 0.7071],
           [0.    , 1.2247]])
    """
    A = _matrix(A, "A")
    methods = {"householder": _householder, "gram_schmidt": _classical, "modified_gram_schmidt": _modified}
    if method not in methods:
        raise DataError(
            f"method must be one of {', '.join(methods)}; got {method!r}.{nearest(method, methods)}"
        )
    if A.shape[0] < A.shape[1]:
        raise DataError(f"A has more columns than rows, {A.shape}; its columns cannot be independent.")
    Q, R = methods[method](A)
    size = np.abs(R.diagonal())
    dependent = np.flatnonzero(size <= max(A.shape) * EPS * np.abs(A).max(initial=0.0))
    if len(dependent):
        R[dependent, dependent] = 0.0
        warn(f"columns {dependent.tolist()} of A depend on those before them; their diagonal of R is 0.")
    return Q, R


def _householder(A: Array) -> tuple[Array, Array]:
    Q, R = linalg.qr(A, mode="economic")
    signs = np.where(R.diagonal() < 0, -1.0, 1.0)
    return Q * signs, R * signs[:, None]


def _classical(A: Array) -> tuple[Array, Array]:
    Q, R = np.zeros_like(A), np.zeros((A.shape[1],) * 2)
    for j in range(A.shape[1]):
        R[:j, j] = Q[:, :j].T @ A[:, j]
        _finish_column(A[:, j] - Q[:, :j] @ R[:j, j], Q, R, j, np.linalg.norm(A[:, j]))
    return Q, R


def _modified(A: Array) -> tuple[Array, Array]:
    Q, R = np.zeros_like(A), np.zeros((A.shape[1],) * 2)
    for j in range(A.shape[1]):
        v = A[:, j].copy()
        for i in range(j):
            R[i, j] = Q[:, i] @ v
            v -= R[i, j] * Q[:, i]
        _finish_column(v, Q, R, j, np.linalg.norm(A[:, j]))
    return Q, R


def _finish_column(v: Array, Q: Array, R: Array, j: int, scale: Any) -> None:
    R[j, j] = np.linalg.norm(v)
    if R[j, j] > len(v) * EPS * scale:
        Q[:, j] = v / R[j, j]
    else:
        R[j, j] = 0.0


def orthonormal_basis(A: Array) -> Array:
    """Return an orthonormal basis of the numerical range of A."""
    Q, R, _ = linalg.qr(A, mode="economic", pivoting=True)
    size = np.abs(R.diagonal())
    rank = int((size > max(A.shape) * EPS * size[:1].max(initial=0.0)).sum())
    return Q[:, :rank]


class Projection(NamedTuple):
    """Coordinates of the rows in the given basis, and the points of the subspace nearest to them."""

    coordinates: Array  # (n, k)
    points: Array  # (n, p)


def projection_matrix(U: Any) -> Array:
    r"""Return :math:`P = U (U^T U)^{-1} U^T`, the orthogonal projection onto the columns of U.

    It is symmetric, :math:`P^2 = P`, its trace is the rank, and any basis of the same space gives the same P.

    Examples
    --------
    >>> projection_matrix([[1.0], [1.0]])
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    Q = orthonormal_basis(_matrix(U, "U"))
    return Q @ Q.T


def project(X: Any, U: Any) -> Projection:
    r"""Project rows onto the span of the columns of U: coordinates :math:`(U^T U)^{-1} U^T x` and points.

    Parameters
    ----------
    X : array of shape (n, p)
    U : array of shape (p, k)
        A basis, not necessarily orthonormal; with dependent columns the shortest coordinates are given.

    Examples
    --------
    >>> project([[2.0, 0.0]], [[2.0], [2.0]])
    Projection(coordinates=array([[0.5]]), points=array([[1., 1.]]))
    """
    X, U = _matrix(X, "X"), _matrix(U, "U")
    if X.shape[1] != U.shape[0]:
        raise DataError(f"X has {X.shape[1]} columns and U {U.shape[0]} rows; they must agree.")
    coordinates = linalg.lstsq(U, X.T)[0].T
    Q = orthonormal_basis(U)
    return Projection(coordinates, (X @ Q) @ Q.T)


class Eigenvectors(NamedTuple):
    """Leading eigenvectors in columns, their eigenvalues, and the sum of these."""

    vectors: Array  # (p, k)
    values: Array  # (k,)
    total: float


def top_eigenvectors(A: Any, k: int | None = None, B: Any = None) -> Eigenvectors:
    r"""Return the G that maximizes :math:`\operatorname{tr}(G^T A G)` subject to :math:`G^T B G = I`.

    They solve :math:`A w = \lambda B w` for the k largest λ, and the maximum is the sum of these. B = I when
    not given.

    Parameters
    ----------
    A : symmetric array of shape (p, p)
    k : int, optional
        How many; all when not given.
    B : symmetric positive definite array of shape (p, p), optional
        The metric of a generalized problem.

    Examples
    --------
    >>> round(top_eigenvectors([[2.0, 1.0], [1.0, 2.0]], 1).total, 9)
    3.0
    >>> top_eigenvectors([[2.0, 0.0], [0.0, 1.0]], 1, B=[[4.0, 0.0], [0.0, 1.0]]).values
    array([1.])
    """
    A = _square(A, "A")
    k = len(A) if k is None else int(k)
    if not 1 <= k <= len(A):
        raise DataError(f"k must lie between 1 and {len(A)}; got {k}.")
    wanted = [len(A) - k, len(A) - 1]
    if B is None:
        values, vectors = linalg.eigh(A, subset_by_index=wanted)
    else:
        B = _square(B, "B")
        smallest = float(linalg.eigvalsh(B, subset_by_index=[0, 0])[0])
        if not smallest > 0:
            raise DegenerateError(
                f"B must be positive definite; its smallest eigenvalue is {smallest:.3g}. "
                "Add a little to its diagonal."
            )
        values, vectors = linalg.eigh(A, B, subset_by_index=wanted)
    return Eigenvectors(fix_signs(vectors[:, ::-1]), values[::-1], float(values.sum()))


def rayleigh_quotient(w: Any, A: Any, B: Any = None) -> Array:
    r"""Return :math:`w^T A w / w^T B w` of a vector, or of every column of w; B = I when not given.

    Its stationary points are the eigenvectors, its values there the eigenvalues.

    Examples
    --------
    >>> float(rayleigh_quotient([1.0, 1.0], [[2.0, 1.0], [1.0, 2.0]]))
    3.0
    """
    w, A = np.asarray(w, dtype=np.float64), _matrix(A, "A")
    below = w if B is None else _matrix(B, "B") @ w
    bottom = (w * below).sum(axis=0)
    if not np.all(bottom > 0):
        raise DegenerateError("w must not be zero, and B must be positive definite.")
    return (w * (A @ w)).sum(axis=0) / bottom


class KernelQR(NamedTuple):
    """R of the pivoted incomplete factorization K ≈ RᵀR, the pivots in order, and the trace left over."""

    R: Array  # (rank, n)
    pivots: Array  # (rank,)
    residual_trace: float


def kernel_qr(K: Any, *, rank: int | None = None, tol: float = 1e-10) -> KernelQR:
    r"""Gram–Schmidt in feature space: the pivoted incomplete Cholesky factorization :math:`K \approx R^T R`.

    Row r of R holds the coordinates of all points along the r-th orthonormalized direction, so the columns of R
    are exact coordinates of the points in the span of the pivots' images. :math:`\operatorname{tr}(K - R^T R)`
    bounds the error in trace norm and is the certificate (Fine and Scheinberg 2001).

    Parameters
    ----------
    K : array of shape (n, n)
        A positive semi-definite Gram matrix.
    rank : int, optional
        Directions at most.
    tol : float, default=1e-10
        Stop when the trace left over is at most `tol` times that of K.

    Examples
    --------
    >>> found = kernel_qr([[4.0, 2.0], [2.0, 5.0]])
    >>> (found.R.T @ found.R).round(12), found.pivots
    (array([[4., 2.],
           [2., 5.]]), array([1, 0]))
    """
    K = _square(K, "K")
    n = len(K)
    limit = n if rank is None else min(int(rank), n)
    left = K.diagonal().copy()
    if left.min() < 0:
        raise DataError(f"K has a negative diagonal entry, {left.min():.3g}; it is no Gram matrix.")
    bound, R, pivots = tol * left.sum(), np.zeros((limit, n)), []
    while len(pivots) < limit and left.sum() > bound:
        r, j = len(pivots), int(left.argmax())
        R[r] = (K[j] - R[:r, j] @ R[:r]) / np.sqrt(left[j])
        pivots.append(j)
        left = np.maximum(left - R[r] ** 2, 0.0)
        left[pivots] = 0.0
    used = len(pivots)
    return KernelQR(R[:used], np.array(pivots, dtype=np.intp), float(left.sum()))


class Angles(NamedTuple):
    """Principal angles, smallest first, and the pairs of unit vectors that make them."""

    angles: Array  # (q,) radians
    in_a: Array  # (p, q)
    in_b: Array  # (p, q)


def principal_angles(A: Any, B: Any) -> Angles:
    r"""Return the angles between the column spaces of A and B, smallest first, with their vectors.

    .. math:: \cos\theta_j = \sigma_j(Q_A^T Q_B), \qquad 0 \le \theta_1 \le \dots \le \tfrac\pi2

    Angles below 45° are taken from the sines, σ of :math:`Q_B - Q_A Q_A^T Q_B`, which keeps their digits
    (Björck and Golub 1973).

    Examples
    --------
    >>> principal_angles([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [1.0, 1.0, 1.0]).angles.round(6)
    array([0.61548])
    """
    A, B = _matrix(A, "A"), _matrix(B, "B")
    if len(A) != len(B):
        raise DataError(f"A and B must have as many rows; got {len(A)} and {len(B)}.")
    Qa, Qb = orthonormal_basis(A), orthonormal_basis(B)
    if not Qa.shape[1] or not Qb.shape[1]:
        raise DegenerateError("A and B must span at least a line; one of them is zero.")
    left, cosines, right = linalg.svd(Qa.T @ Qb)
    q = min(Qa.shape[1], Qb.shape[1])
    in_a, in_b = Qa @ left[:, :q], Qb @ right[:q].T
    cosines = np.clip(cosines, 0.0, 1.0)
    wide, narrow = (Qa, in_b) if Qa.shape[1] >= Qb.shape[1] else (Qb, in_a)
    rest = narrow - wide @ (wide.T @ narrow)
    sines = np.clip(linalg.svdvals(rest)[::-1], 0.0, 1.0)
    angles = np.where(cosines**2 > 0.5, np.arcsin(sines), np.arccos(cosines))
    return Angles(np.sort(angles), in_a, in_b)


def subspace_distance(A: Any, B: Any, kind: str = "projection") -> float:
    """Return a distance between the column spaces of A and B, which must have the same dimension.

    Parameters
    ----------
    A, B : arrays of shape (p, k)
    kind : {"projection", "chordal", "geodesic"}
        The largest sine, ‖sin θ‖₂, or ‖θ‖₂ of the principal angles θ.

    Examples
    --------
    >>> round(subspace_distance([1.0, 0.0], [1.0, 1.0]), 6)
    0.707107
    """
    kinds = {"projection": np.inf, "chordal": 2, "geodesic": 2}
    if kind not in kinds:
        raise DataError(f"kind must be one of {', '.join(kinds)}; got {kind!r}.{nearest(kind, kinds)}")
    a, b = orthonormal_basis(_matrix(A, "A")), orthonormal_basis(_matrix(B, "B"))
    if a.shape[1] != b.shape[1]:
        raise DataError(f"A and B span spaces of dimension {a.shape[1]} and {b.shape[1]}; they must agree.")
    angles = principal_angles(A, B).angles
    return float(np.linalg.norm(angles if kind == "geodesic" else np.sin(angles), kinds[kind]))
