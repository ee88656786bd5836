"""Bases, projections, leading eigenvectors and angles between subspaces."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from gnomon.core.errors import DataError, DegenerateError, nearest
from gnomon.core.linalg import Array, symmetric_eigen
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


def project(X: Any, U: Any) -> Projection:
    r"""Project rows onto the span of the columns of U: coordinates :math:`(U^T U)^{-1} U^T x` and points.

    The points of the rows of I are the matrix :math:`P = U (U^T U)^{-1} U^T`: symmetric, :math:`P^2 = P`, its trace
    the rank, and the same for any basis of the space.

    Parameters
    ----------
    X : array of shape (n, p)
    U : array of shape (p, k)
        A basis, not necessarily orthonormal; with dependent columns the shortest coordinates are given.

    Examples
    --------
    >>> project([[2.0, 0.0]], [[2.0], [2.0]])
    Projection(coordinates=array([[0.5]]), points=array([[1., 1.]]))
    >>> project(np.eye(2), [[1.0], [1.0]]).points
    array([[0.5, 0.5],
           [0.5, 0.5]])
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
    if B is not None:
        B = _square(B, "B")
        smallest = float(linalg.eigvalsh(B, subset_by_index=[0, 0])[0])
        if not smallest > 0:
            raise DegenerateError(
                f"B must be positive definite; its smallest eigenvalue is {smallest:.3g}. "
                "Add a little to its diagonal."
            )
    values, vectors = symmetric_eigen(A, k, B)
    return Eigenvectors(vectors, values, float(values.sum()))


class Angles(NamedTuple):
    """Principal angles, smallest first, and the pairs of unit vectors that make them."""

    angles: Array  # (q,) radians
    in_a: Array  # (p, q)
    in_b: Array  # (p, q)
    dimensions: tuple[int, int]  # of both spaces

    def distance(self, kind: str = "projection") -> float:
        """Return a distance between two spaces of one dimension.

        "projection" is the largest sine, "chordal" ‖sin θ‖₂ and "geodesic" ‖θ‖₂ of the angles θ.
        """
        if kind not in ("projection", "chordal", "geodesic"):
            kinds = ("projection", "chordal", "geodesic")
            raise DataError(f"kind must be one of {', '.join(kinds)}; got {kind!r}.{nearest(kind, kinds)}")
        if self.dimensions[0] != self.dimensions[1]:
            raise DataError(
                f"A and B span spaces of dimension {self.dimensions[0]} and {self.dimensions[1]}; for a distance they "
                "must agree."
            )
        if kind == "geodesic":
            return float(np.linalg.norm(self.angles))
        return float(np.linalg.norm(np.sin(self.angles), np.inf if kind == "projection" else 2))


def principal_angles(A: Any, B: Any) -> Angles:
    r"""Return the angles between the column spaces of A and B, smallest first, with their vectors.

    .. math:: \cos\theta_j = \sigma_j(Q_A^T Q_B), \qquad 0 \le \theta_1 \le \dots \le \tfrac\pi2

    Angles below 45° are taken from the sines, σ of :math:`Q_B - Q_A Q_A^T Q_B`, which keeps their digits
    (Björck and Golub 1973).

    Examples
    --------
    >>> principal_angles([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [1.0, 1.0, 1.0]).angles.round(6)
    array([0.61548])
    >>> round(principal_angles([1.0, 0.0], [1.0, 1.0]).distance(), 6)
    0.707107
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
    return Angles(np.sort(angles), in_a, in_b, (Qa.shape[1], Qb.shape[1]))
