"""Is it a kernel? Gram matrices, the test of Mercer's condition with a witness, and repairs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.kernels.names import as_kernel
from gnomon.kernels.using import is_matrix

REPAIRS = ("clip", "shift", "flip")


class PSDReport(NamedTuple):
    """What a matrix says of the kernel it came from."""

    is_symmetric: bool
    is_psd: bool
    min_eigenvalue: float
    max_eigenvalue: float
    witness: Array | None  # unit ψ with ψᵀKψ < 0

    def __str__(self) -> str:
        if self.is_psd:
            return (
                f"positive semi-definite on these rows (smallest eigenvalue {self.min_eigenvalue:.3g}). That is "
                "evidence, not proof: other rows may fail."
            )
        if not self.is_symmetric:
            return "not symmetric, so it is no kernel. That is proof."
        return f"smallest eigenvalue {self.min_eigenvalue:.3g} < 0, so it is no kernel. That is proof; see witness."


def gram(kernel: Any, X: Any, Y: Any = None, **params: Any) -> Array:
    """Return the matrix of k(x, z) for all rows of X and Y (of X itself by default).

    Parameters
    ----------
    kernel : str, Kernel or callable
        A name with its `gamma`, `degree`, `coef0`, an object, or a function of two rows.
    X, Y : rows

    Examples
    --------
    >>> gram("poly", [[1.0, 2.0], [3.0, -1.0]], degree=2, gamma=1.0, coef0=1.0)
    array([[ 36.,   4.],
           [  4., 121.]])
    """
    table = is_matrix(X)
    if table and not hasattr(X, "shape"):
        X = np.asarray(X, dtype=np.float64)
    d = X.shape[1] if table else 1
    known = {name: params.pop(name) for name in ("gamma", "degree", "coef0") if name in params}
    found = as_kernel(kernel, d=d, params=params or None, **known)
    return np.asarray(found(X, Y))


def check_psd(K: Any, tol: float = 1e-10) -> PSDReport:
    r"""Test whether a matrix is symmetric and positive semi-definite.

    Symmetric up to tol·max|K|, and :math:`\lambda_{min} \ge -\mathrm{tol}\cdot\max(1, \lambda_{max})`. A failed test is
    a proof that there is no kernel behind it, with a witness; a passed one is evidence. Of a kernel, test
    ``gram(kernel, X)``: no part of those rows can fail where all of them together pass.

    Examples
    --------
    >>> report = check_psd([[0.0, 1.0], [1.0, 0.0]])
    >>> report.is_psd, report.min_eigenvalue, abs(report.witness).round(4)
    (False, -1.0, array([0.7071, 0.7071]))
    """
    K = _square(K)
    size = float(np.abs(K).max(initial=0.0))
    symmetric = bool(np.abs(K - K.T).max(initial=0.0) <= tol * size)
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    low, high = float(values[0]), float(values[-1])
    fine = low >= -tol * max(1.0, high)
    return PSDReport(symmetric, symmetric and fine, low, high, None if fine else vectors[:, 0])


def center_gram(K: Any, K_train: Any = None) -> Array:
    r"""Return the matrix of features less their mean: :math:`HKH`, :math:`H = I - \frac1n\mathbf 1\mathbf 1^T`.

    With `K_train` given, K is between new rows and those of the fit, and their mean is the one taken off.

    Examples
    --------
    >>> center_gram([[4.0, 2, 0], [2, 3, 1], [0, 1, 2]]).round(4)[0]
    array([ 1.6667, -0.3333, -1.3333])
    """
    K = np.asarray(K, dtype=np.float64)
    train = _square(K if K_train is None else K_train)
    if K.ndim != 2 or K.shape[1] != len(train):
        raise DataError(
            f"K must have {len(train)} columns, one for each row of the fit; its shape is {K.shape}."
        )
    means = train.mean(axis=0)
    return K - K.mean(axis=1, keepdims=True) - means + means.mean()


def nearest_psd(K: Any, method: str = "clip") -> Array:
    """Return a positive semi-definite matrix near a symmetric one.

    "clip" sets negative eigenvalues to zero (the nearest in Frobenius norm), "flip" takes them positive, "shift" adds
    the smallest multiple of the identity that is enough.

    Examples
    --------
    >>> nearest_psd([[0.0, 1.0], [1.0, 0.0]], "shift")
    array([[1., 1.],
           [1., 1.]])
    """
    if method not in REPAIRS:
        raise DataError(f"method={method!r} is not one of {list(REPAIRS)}.{nearest(method, REPAIRS)}")
    K = _square(K)
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    if method == "shift":
        return 0.5 * (K + K.T) + max(0.0, -float(values[0])) * np.eye(len(K))
    mended = np.maximum(values, 0.0) if method == "clip" else np.abs(values)
    found = (vectors * mended) @ vectors.T
    return 0.5 * (found + found.T)


def kernel_alignment(K1: Any, K2: Any) -> float:
    r"""Return the cosine between two matrices, :math:`\langle K_1, K_2\rangle_F/\lVert K_1\rVert\lVert K_2\rVert`.

    Examples
    --------
    >>> round(kernel_alignment([[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]), 4)
    0.7071
    """
    A, B = _square(K1), _square(K2)
    if A.shape != B.shape:
        raise DataError(f"both matrices must have one shape; got {A.shape} and {B.shape}.")
    length = float(np.linalg.norm(A) * np.linalg.norm(B))
    return float(np.vdot(A, B)) / length if length > 0 else 0.0


def _square(K: Any) -> Array:
    K = np.asarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not len(K):
        raise DataError(f"a Gram matrix is square; got shape {K.shape}.")
    if not np.isfinite(K).all():
        raise DataError("the matrix has NaN or infinite entries.")
    return K
