"""Partitions as matrices, and the nearest doubly stochastic ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_bipartite_matching

from gnomon.cluster.graphs import degrees, similarities
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array, symmetric_eigen
from gnomon.core.validate import matrix


def partition_matrix(labels: Any, kind: str = "scaled") -> Array:
    r"""Return a partition as a matrix.

    "indicator": 0/1, one column for each cluster. "scaled": G with entries :math:`1/\sqrt{l_j}`, so that
    :math:`G\ge0, G^TG=I, GG^T\mathbf1=\mathbf1`; k-means minimizes :math:`\mathrm{tr}K-\mathrm{tr}(G^TKG)`
    over such G. "projection": :math:`F=GG^T`, which is idempotent and doubly stochastic.

    Examples
    --------
    >>> partition_matrix([0, 0, 1], "projection")
    array([[0.5, 0.5, 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    _, labels = np.unique(labels, return_inverse=True)
    G = np.eye(labels.max() + 1)[labels]
    if kind == "indicator":
        return G
    if kind == "projection":
        return (labels[:, None] == labels) / G.sum(axis=0)[labels]
    if kind == "scaled":
        return G / np.sqrt(G.sum(axis=0))
    raise DataError(f"kind={kind!r} is not one of scaled, indicator, projection.")


class PartitionCheck(NamedTuple):
    """Whether a matrix is a partition, what it breaks, and the labels when it is one."""

    valid: bool
    failures: tuple[str, ...]
    labels: Array | None


def check_partition(G: Any, kind: str = "scaled", *, tol: float = 1e-9) -> PartitionCheck:
    """Tell whether G is a partition matrix, and which condition fails.

    Parameters
    ----------
    G : array of shape (n, k)
    kind : {"scaled", "indicator"}
        Scaled: G ≥ 0, GᵀG = I, GGᵀ1 = 1. Indicator: G ≥ 0, G1 = 1, GᵀG diagonal, no empty column.
    tol : float, default=1e-9

    Examples
    --------
    >>> check_partition([[1.0, 0.0], [0.5, 0.5]], "indicator").failures
    ('GᵀG is not diagonal',)
    """
    G = matrix(G, name="G")
    square, ones = G.T @ G, np.ones(len(G))
    broken = {"G has negative entries": (G < -tol).any()}
    if kind == "scaled":
        broken["GᵀG is not the identity"] = np.abs(square - np.eye(G.shape[1])).max() > tol
        broken["GGᵀ1 is not 1"] = np.abs(G @ (G.T @ ones) - 1).max() > tol
    elif kind == "indicator":
        broken["G1 is not 1"] = np.abs(G.sum(axis=1) - 1).max() > tol
        broken["GᵀG is not diagonal"] = np.abs(square - np.diag(np.diagonal(square))).max() > tol
        broken["a column is empty"] = bool((np.abs(G).max(axis=0) <= tol).any())
    else:
        raise DataError(f"kind={kind!r} is not one of scaled, indicator.")
    failures = tuple(text for text, failed in broken.items() if failed)
    return PartitionCheck(not failures, failures, None if failures else G.argmax(axis=1))


class TraceObjective(NamedTuple):
    """tr(GᵀKG) of a partition and the most any partition into as many parts could have."""

    value: float
    bound: float


def trace_objective(K: Any, labels: Any) -> TraceObjective:
    """Return tr(GᵀKG) of a partition, and the sum of the k largest eigenvalues of K that bounds it.

    Examples
    --------
    >>> found = trace_objective([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 3.0]], [0, 0, 1])
    >>> round(found.value, 9), round(found.bound, 9)
    (6.0, 6.0)
    """
    K = K.toarray() if sparse.issparse(K) else matrix(K, name="K")
    G = partition_matrix(labels)
    values = symmetric_eigen(K)[0]
    return TraceObjective(float(np.einsum("ij,ij->", G, K @ G)), float(values[: G.shape[1]].sum()))


class SinkhornResult(NamedTuple):
    """A doubly stochastic matrix, how it came about, and how good it is."""

    matrix: Array
    scaling: Array | None  # Λ with matrix = ΛKΛ
    deviation: float  # largest |row sum − 1|
    n_iter: int
    converged: bool
    trace: Array  # deviation after every step
    reason: str  # why it did not converge


def sinkhorn(K: Any, kind: str = "entropy", *, tol: float = 1e-10, max_iter: int = 10_000) -> SinkhornResult:
    r"""Return the doubly stochastic matrix nearest to a symmetric similarity matrix.

    "entropy": repeats :math:`K \leftarrow D^{-1/2}KD^{-1/2}`; the limit :math:`\Lambda K\Lambda` is nearest
    in relative entropy :math:`\sum F\ln\frac FK-F+K`. "l1": :math:`K-D+I`, one of the nearest in the
    entrywise L1 distance :math:`\lVert D-I\rVert_1` with unit row sums; its diagonal may be negative.

    Parameters
    ----------
    K : array of shape (n, n)
    kind : {"entropy", "l1"}
    tol : float, default=1e-10
        Stop when every row sum is this close to one.
    max_iter : int, default=10000

    Returns
    -------
    SinkhornResult
        With ``converged=False`` and a reason where K has no doubly stochastic scaling.

    Examples
    --------
    >>> sinkhorn([[1.0, 0.5], [0.5, 1.0]]).matrix.round(4)
    array([[0.6667, 0.3333],
           [0.3333, 0.6667]])
    """
    if kind not in ("entropy", "l1"):
        raise DataError(f"kind={kind!r} is not one of entropy, l1.")
    K = similarities(K)
    K = K.toarray() if sparse.issparse(K) else K
    d = degrees(K)
    if kind == "l1":
        F = K - np.diag(d) + np.eye(len(K))
        return SinkhornResult(F, None, float(np.abs(F.sum(axis=1) - 1).max()), 1, True, np.zeros(1), "")
    if (d == 0).any():
        raise DataError(f"row {int(np.flatnonzero(d == 0)[0])} of K is zero; drop that node.")
    supported = (maximum_bipartite_matching(sparse.csr_array(K > 0)) >= 0).all()
    scale, trace = np.ones(len(K)), []
    for _ in range(max_iter):
        sums = scale * (K @ scale)
        scale = scale / np.sqrt(sums)
        trace.append(float(np.abs(scale * (K @ scale) - 1).max()))
        if trace[-1] <= tol:
            break
    converged = trace[-1] <= tol
    reason = (
        ""
        if converged
        else "K has no support: its permanent is zero"
        if not supported
        else "slow: no total support"
    )
    F = scale[:, None] * K * scale
    return SinkhornResult(F, scale, trace[-1], len(trace), bool(converged), np.array(trace), reason)


def permanent(K: Any) -> float:
    """Return the permanent of a square matrix of at most 22 rows (Glynn's formula in Gray-code order).

    Examples
    --------
    >>> permanent([[1.0, 2.0], [3.0, 4.0]])
    10.0
    """
    A = matrix(K, name="K").astype(np.float64)
    n = len(A)
    if A.shape[0] != A.shape[1] or n > 22:
        raise DataError(f"permanent needs a square matrix of at most 22 rows; its shape is {A.shape}.")
    sums, total, sign, code = A.sum(axis=0), 0.0, 1.0, 0
    for step in range(1, 2 ** (n - 1) + 1):
        total += sign * float(np.prod(sums))
        flip = (step & -step).bit_length() - 1
        if flip >= n - 1:
            break
        code ^= 1 << flip
        sums = sums + (-2 if code >> flip & 1 else 2) * A[flip]
        sign = -sign
    return total / 2 ** (n - 1)
