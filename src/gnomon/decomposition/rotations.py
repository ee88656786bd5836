"""Rotations of loadings: the same subspace, axes that are easier to read."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.validate import matrix

METHODS = ("varimax", "quartimax", "promax", "procrustes")


def rotate_components(
    components: Any,
    method: str = "varimax",
    *,
    target: Any = None,
    max_iter: int = 1000,
    tol: float = 1e-10,
    power: float = 4.0,
) -> Array:
    r"""Return components (K, p) turned within their span.

    A factor model knows its loadings only up to rotation: :math:`W W^T = (WQ)(WQ)^T`. These choose a Q.

    Parameters
    ----------
    components : array of shape (K, p)
    method : {"varimax", "quartimax", "promax", "procrustes"}
        Varimax (Kaiser 1958) makes the squared loadings of each component vary most, quartimax those of each
        column; promax then allows oblique axes, nearest to a power of the varimax loadings; procrustes turns
        towards `target`.
    target : array of shape (K, p), optional
        For procrustes.
    max_iter, tol
        Of the iteration.
    power : float, default=4
        Of promax.

    Returns
    -------
    array of shape (K, p)

    Examples
    --------
    >>> A = np.array([[0.8, 0.8, 0.1, 0.1], [0.1, 0.1, 0.7, 0.7]])
    >>> turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    >>> np.abs(rotate_components(turn @ A)).round(1)
    array([[0.1, 0.1, 0.7, 0.7],
           [0.8, 0.8, 0.1, 0.1]])
    """
    if method not in METHODS:
        raise DataError(
            f"method must be one of {', '.join(METHODS)}; got {method!r}.{nearest(method, METHODS)}"
        )
    A = np.asarray(matrix(components, name="components"), dtype=np.float64).T
    if method == "procrustes":
        if target is None:
            raise DataError("method='procrustes' needs a target of the shape of the components.")
        B = np.asarray(matrix(target, name="target"), dtype=np.float64).T
        if B.shape != A.shape:
            raise DataError(f"target must have shape {A.T.shape}; its shape is {B.T.shape}.")
        return (A @ linalg.orthogonal_procrustes(A, B)[0]).T
    gamma = 0.0 if method == "quartimax" else 1.0
    turned = A @ _orthomax(A, gamma, max_iter, tol)
    if method == "promax":
        turned = turned @ _promax(turned, power)
    return turned.T


def _orthomax(A: Array, gamma: float, max_iter: int, tol: float) -> Array:
    """The rotation that maximizes Σ a⁴ − (γ/p) Σ_k (Σ_j a²)², by repeated polar decompositions."""
    p, K = A.shape
    Q, last = np.eye(K), 0.0
    for _ in range(max_iter):
        B = A @ Q
        U, s, Vt = linalg.svd(A.T @ (B**3 - (gamma / p) * B * (B**2).sum(axis=0)))
        Q = U @ Vt
        if s.sum() <= last * (1.0 + tol):
            break
        last = float(s.sum())
    return Q


def _promax(A: Array, power: float) -> Array:
    """The oblique map towards |a|^power, scaled so that the factors keep unit variance."""
    T = linalg.lstsq(A, A * np.abs(A) ** (power - 1.0))[0]
    return T * np.sqrt(np.diag(linalg.inv(T.T @ T)))
