"""Singular values: the decomposition behind every linear projection, by four routes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from gnomon.core.errors import DataError, DegenerateError, nearest
from gnomon.core.linalg import Array, symmetric_eigen, thin_qr
from gnomon.core.randomness import generator
from gnomon.core.validate import matrix

METHODS = ("auto", "full", "gram", "randomized", "lanczos")
ROUNDED = 1e-11  # of a matrix: what is smaller once other directions are taken off may be rounding
GRAM_SPAN = 1e-6  # smallest wanted singular value, relative to the largest, that a Gram matrix still resolves


class SVD(NamedTuple):
    """Left vectors, singular values (largest first), right vectors in rows, and the numerical rank."""

    U: Array  # (n, k)
    s: Array  # (k,)
    Vt: Array  # (k, p)
    rank: int  # of all singular values computed

    def low_rank(self, k: int) -> tuple[Array, float]:
        r"""Return the best approximation of rank k and its squared error.

        The error is :math:`\sum_{i>k} s_i^2`: no matrix of rank k is nearer (Eckart and Young 1936). It counts
        the singular values that were computed, so ask `svd` for all of them.
        """
        if not 1 <= k <= len(self.s):
            raise DataError(f"k must lie between 1 and {len(self.s)}, the number of terms; got {k}.")
        return (self.U[:, :k] * self.s[:k]) @ self.Vt[:k], float((self.s[k:] ** 2).sum())

    def pseudo_inverse(self) -> Array:
        """Return V diag(1/s) Uᵀ over the singular values above the rank's tolerance."""
        r = self.rank
        return (self.Vt[:r].T / self.s[:r]) @ self.U[:, :r].T


def svd(
    X: Any, k: int | None = None, *, method: str = "auto", tol: float | None = None, random_state: Any = None
) -> SVD:
    r"""Return the thin singular value decomposition, or its first k terms.

    .. math:: X = U \operatorname{diag}(s) V^T, \qquad U^T U = V^T V = I, \quad s_1 \ge s_2 \ge \dots \ge 0

    The sign of each pair is such that the entry of largest size in the row of Vᵀ is positive.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, p)
    k : int, optional
        Number of terms; all min(n, p) when not given.
    method : {"auto", "full", "gram", "randomized", "lanczos"}
        "full" is LAPACK's divide and conquer; "gram" an eigenproblem of the smaller of XᵀX and XXᵀ, refused
        where the wanted values span more than 1e6; "randomized" block Krylov steps from a random start (Halko,
        Martinsson and Tropp 2011; Musco and Musco 2015); "lanczos" is for sparse matrices. "auto" takes the full
        route for small problems and many terms.
    tol : float, optional
        Singular values above it count for the rank; max(n, p)·ε·s₁ when not given.
    random_state : int, RandomState, Generator or None
        For the last two methods.

    Returns
    -------
    SVD
        With `low_rank(k)` and `pseudo_inverse()`.

    Examples
    --------
    >>> found = svd([[1, 2], [3, 4], [5, 6]])
    >>> found.s.round(4), found.rank
    (array([9.5255, 0.5143]), 2)
    >>> best, error = found.low_rank(1)
    >>> best.round(4), round(error, 4)
    (array([[1.3566, 1.7185],
           [3.0972, 3.9233],
           [4.8378, 6.1281]]), 0.2645)
    """
    if method not in METHODS:
        raise DataError(
            f"method must be one of {', '.join(METHODS)}; got {method!r}.{nearest(method, METHODS)}"
        )
    X = _read(X)
    small = min(X.shape)
    if k is not None and not 1 <= k <= small:
        raise DataError(f"k must lie between 1 and min(n, p) = {small}; got {k}.")
    wanted = small if k is None else int(k)
    if method == "auto":
        method = _best_method(X, wanted)
    U, s, Vt = _ROUTES[method](X, wanted, random_state)
    bound = max(X.shape) * np.finfo(np.float64).eps * s[0] if tol is None else tol
    return SVD(*signed(U[:, :wanted], s[:wanted], Vt[:wanted]), int((s[:wanted] > bound).sum()))


def _read(X: Any) -> Any:
    try:
        X = matrix(X, allow_sparse=True)
    except ValueError as error:
        if "NaN" not in str(error):
            raise
        raise DataError(
            f"{error} An SVD needs every entry; gnomon.decomposition.ProbabilisticPCA learns with holes."
        ) from None
    return X.astype(np.float64, copy=False)


def _best_method(X: Any, k: int) -> str:
    small = min(X.shape)
    if small <= 500 or k > 0.2 * small:
        return "full"
    return "lanczos" if sparse.issparse(X) else "randomized"


def signed(U: Array, s: Array, Vt: Array) -> tuple[Array, Array, Array]:
    """Flip pairs so that the entry of largest size (the first of equals) of each right vector is positive."""
    place = np.abs(Vt).argmax(axis=1)
    signs = np.where(Vt[np.arange(len(Vt)), place] < 0, -1.0, 1.0)
    return U * signs, s, Vt * signs[:, None]


def _full(X: Any, k: int, random_state: Any) -> tuple[Array, Array, Array]:
    dense = X.toarray() if sparse.issparse(X) else X
    U, s, Vt = thin_svd(dense)
    return U, s, Vt


def thin_svd(X: Array) -> tuple[Array, Array, Array]:
    """LAPACK's divide and conquer; the slower and surer routine where that one gives up."""
    try:
        return linalg.svd(X, full_matrices=False, check_finite=False)
    except linalg.LinAlgError:
        return linalg.svd(X, full_matrices=False, check_finite=False, lapack_driver="gesvd")


def _gram(X: Any, k: int, random_state: Any) -> tuple[Array, Array, Array]:
    tall = X.shape[0] >= X.shape[1]
    G = X.T @ X if tall else X @ X.T
    G = G.toarray() if sparse.issparse(G) else G
    values, near = symmetric_eigen(G, k)
    s = np.sqrt(np.maximum(values, 0.0))
    if not s[-1] > GRAM_SPAN * s[0]:
        raise DegenerateError(
            f"method='gram' squares the singular values, and the wanted ones of X span {s[0]:.3g} to "
            f"{s[-1]:.3g}; use method='full', or ask for fewer terms."
        )
    far = (X @ near if tall else X.T @ near) / s
    return (far, s, near.T) if tall else (near, s, far.T)


def randomized(
    X: Any, k: int, random_state: Any, *, oversamples: int = 10, power: int = 5
) -> tuple[Array, Array, Array]:
    """Block Krylov steps from a random start (Musco and Musco 2015); X needs only products from both sides.

    All blocks XᵀXΩ, (XᵀX)²Ω, ... are kept, and the best of their common span is taken. About half as many products as
    `power` steps on one block lead as far: polynomials of a degree, against the power of that degree. Factorizations
    are NumPy's, as the products are: threads of a second BLAS would have to wait for those of the first.
    """
    V, images = _krylov(X, k + oversamples, random_state, (power + 1) // 2)
    Q, R = thin_qr(np.hstack(images))
    W, s, Rt = thin_svd(R)  # so that s is the length of X v for the v returned, not below it
    return Q @ W[:, :k], s[:k], Rt[:k] @ V.T


def leading_directions(X: Any, k: int, random_state: Any) -> tuple[Array, Array]:
    """Return s and Vᵀ as `randomized` does, from one step and in little memory: a start for something that goes on."""
    V, images = _krylov(X, k + 10, random_state, 1)
    R = np.zeros((0, V.shape[1]))
    for start in range(0, X.shape[0], 2**11):  # a triangle grows by few rows at a time (Golub 1965)
        block = np.hstack([image[start : start + 2**11] for image in images])
        R = np.linalg.qr(np.vstack([R, block]), mode="r")
    _, s, Rt = thin_svd(R)
    return s[:k], Rt[:k] @ V.T


def _krylov(X: Any, size: int, random_state: Any, steps: int) -> tuple[Array, list[Array]]:
    """An orthonormal basis V of the blocks XᵀXΩ, (XᵀX)²Ω, ..., and X times V, block by block."""
    rng, p = generator(random_state), X.shape[1]
    size = min(size, *X.shape)
    V = thin_qr(np.asarray(X.T @ thin_qr(np.asarray(X @ rng.standard_normal((p, size))))[0]))[0]
    images = [np.asarray(X @ V)]
    for _ in range(steps):
        fresh = _beyond(np.asarray(X.T @ images[-1]), V)
        if not fresh.shape[1]:  # V holds every row of X
            break
        images.append(np.asarray(X @ fresh))
        V = np.hstack([V, fresh])
    return V, images


def _beyond(Z: Array, V: Array) -> Array:
    """An orthonormal basis of what the columns of Z have outside the span of V; rounding is left out."""
    size = float(np.linalg.norm(Z))
    Z = Z - V @ (V.T @ Z)
    Q, R = thin_qr(Z)
    if not np.abs(R.diagonal()).min(initial=np.inf) > ROUNDED * size:
        U, s, _ = np.linalg.svd(Z, full_matrices=False)
        Q = U[:, s > ROUNDED * size]
    return thin_qr(Q - V @ (V.T @ Q))[0]


def lanczos(X: Any, k: int, random_state: Any, *, tol: float = 0.0) -> tuple[Array, Array, Array]:
    """Lanczos steps on the smaller of XᵀX and XXᵀ, then one exact SVD in the subspace found."""
    n, p = X.shape
    small = min(n, p)
    if k >= small:
        return _full(X @ np.eye(p) if isinstance(X, LinearOperator) else X, k, random_state)
    start = generator(random_state).standard_normal(small)
    A = X.T if n < p else X
    operator = LinearOperator(
        (small, small), matvec=lambda v: A.T @ (A @ v), matmat=lambda v: A.T @ (A @ v), dtype=np.float64
    )
    try:
        _, vectors = eigsh(operator, k=k, tol=tol, v0=start)
    except linalg.LinAlgError as error:
        raise DegenerateError(f"Lanczos did not converge ({error}); use another method.") from None
    V = thin_qr(vectors[:, ::-1])[0]
    W, s, Rt = thin_svd(np.asarray(A @ V))
    far, near = W, V @ Rt.T
    return (near, s, far.T) if n < p else (far, s, near.T)


def _randomized(X: Any, k: int, random_state: Any) -> tuple[Array, Array, Array]:
    return randomized(X, k, random_state)


_ROUTES: dict[str, Any] = {"full": _full, "gram": _gram, "randomized": _randomized, "lanczos": lanczos}
