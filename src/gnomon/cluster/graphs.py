"""Similarity graphs, their Laplacians, and what a partition of one costs."""

from __future__ import annotations

from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh
from scipy.spatial import cKDTree

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array, symmetric_eigen
from gnomon.core.threads import thread_count
from gnomon.core.validate import matrix, warn
from gnomon.loops.distances import nearest_rows, pairwise

STRIP = 256  # rows of a matrix that are compared at once
KINDS = ("rbf", "nearest_neighbors", "mutual_neighbors", "epsilon", "precomputed")


def similarities(K: Any, name: str = "K", *, mend: bool = False) -> Any:
    """Return a symmetric, non-negative similarity matrix, dense or CSR, or say what is wrong with it.

    With `mend` the mean of both directions is taken, with a warning, where they differ.
    """
    K = (
        sparse.csr_array(K).astype(np.float64)
        if sparse.issparse(K)
        else matrix(K, name=name).astype(np.float64)
    )
    if K.shape[0] != K.shape[1]:
        raise DataError(f"{name} must be a square matrix of similarities; its shape is {K.shape}.")
    values = K.data if sparse.issparse(K) else K
    if values.size and values.min() < 0:
        raise DataError(f"{name} has negative similarities; its smallest is {values.min()}.")
    if _asymmetry(K) > 1e-10 * max(values.max(initial=0.0), np.finfo(float).tiny):
        if not mend:
            raise DataError(f"{name} is not symmetric; take (K + K.T) / 2 first.")
        warn(f"{name} is not symmetric; (K + K.T) / 2 is taken.")
        K = (K + K.T) / 2
    return K


def _asymmetry(K: Any) -> float:
    """Return the largest |K − Kᵀ|; of a dense matrix in strips, which need no second matrix."""
    if sparse.issparse(K):
        return float(abs(K - K.T).max())
    strips = (slice(i, i + STRIP) for i in range(0, len(K), STRIP))
    return max((float(np.abs(K[s] - K[:, s].T).max()) for s in strips), default=0.0)


def count_parts(K: Any) -> int:
    """Return the number of connected parts of a graph."""
    if sparse.issparse(K):
        return int(sparse.csgraph.connected_components(K, directed=False)[0])
    parts, unseen = 0, np.ones(len(K), dtype=bool)
    while unseen.any():
        parts += 1
        reached = np.arange(len(K)) == unseen.argmax()
        while reached.any():
            unseen &= ~reached
            near = np.zeros(len(K), dtype=bool)
            for i in np.flatnonzero(reached):
                if not unseen.any():
                    return parts
                near |= K[i] > 0
            reached = near & unseen
    return parts


def fixed_draws() -> dict[str, Any]:
    """Return what makes `eigsh` the same each time.

    Where eigenvalues coincide it goes on from vectors that it draws itself, besides the start it is given.
    """
    return {"rng": 0} if "rng" in signature(eigsh).parameters else {}


def degrees(K: Any) -> Array:
    """Return the row sums."""
    return np.asarray(K.sum(axis=1)).ravel()


def affinity(
    X: Any,
    kind: str = "rbf",
    *,
    gamma: float = 1.0,
    n_neighbors: int = 10,
    radius: float = 1.0,
    include_self: bool = True,
) -> Any:
    r"""Return the similarity matrix of a graph on the rows.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The rows, or the matrix itself for "precomputed".
    kind : str, default="rbf"
        "rbf": :math:`e^{-\gamma\lVert x-z\rVert^2}`, dense. "nearest_neighbors": ½ for each direction in
        which one row is among the `n_neighbors` nearest of the other, sparse. "mutual_neighbors": 1 where
        both are. "epsilon": 1 within `radius`. "precomputed": X, checked.
    gamma, n_neighbors, radius
        Arguments of the kinds.
    include_self : bool, default=True
        Whether a row is its own neighbor.

    Examples
    --------
    >>> affinity([[0.0], [1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """
    if kind not in KINDS:
        raise DataError(f"kind={kind!r} is not one of {list(KINDS)}.{nearest(kind, KINDS)}")
    if kind == "precomputed":
        return similarities(X)
    X = matrix(X)
    if kind == "rbf":
        K = pairwise(X, X, "sqeuclidean")
        K *= -gamma
        np.exp(K, out=K)
        return (K + K.T) / 2
    if kind == "epsilon":
        A = (pairwise(X, X) <= radius).astype(np.float64)
        np.fill_diagonal(A, float(include_self))
        return sparse.csr_array(A)
    directed = neighbor_graph(X, n_neighbors, include_self)
    return (directed + directed.T) / 2 if kind == "nearest_neighbors" else directed.minimum(directed.T)


def nearest_of(distances: Any, k: int) -> Any:
    """Return the directed 0/1 graph from every row to its k nearest by given distances; a sparse table has some."""
    n = distances.shape[0]
    if distances.shape[1] != n:
        raise DataError(f"distances must be a square table; its shape is {distances.shape}.")
    if not sparse.issparse(distances):
        distances = sparse.csr_array((np.ravel(distances), np.indices((n, n)).reshape(2, -1)), shape=(n, n))
    counts = np.diff(distances.indptr)
    if counts.min(initial=k) < k:
        raise DataError(
            f"n_neighbors={k}, and row {counts.argmin()} has {counts.min()} distances; give more."
        )
    rows = np.repeat(np.arange(n), counts)
    order = np.lexsort((distances.data, rows))
    first = order[np.arange(len(rows)) - distances.indptr[rows] < k]
    return sparse.csr_array((np.ones(n * k), (rows[first], distances.indices[first])), shape=(n, n))


def neighbor_graph(X: Array, k: int, include_self: bool) -> Any:
    """Return the directed 0/1 graph from every row to its k nearest."""
    n = len(X)
    if not 1 <= k <= n - (not include_self):
        raise DataError(f"n_neighbors={k} must be between 1 and {n - (not include_self)}.")
    asked = k if include_self else k + 1
    if X.shape[1] <= 12 and n > 500:
        index = cKDTree(X).query(X, asked, workers=thread_count())[1].reshape(n, asked)
    else:
        index = nearest_rows(X, X, asked)[0]
    mine = index == np.arange(n)[:, None]
    absent = ~mine.any(axis=1)  # among duplicates a row may miss itself
    mine[absent, -1] = True
    if include_self:
        index = np.where(mine & absent[:, None], np.arange(n)[:, None], index)
    else:
        index = index[~mine].reshape(n, k)
    rows = np.repeat(np.arange(n), index.shape[1])
    return sparse.csr_array((np.ones(index.size), (rows, index.ravel())), shape=(n, n))


def laplacian(K: Any, kind: str = "unnormalized") -> Any:
    """Return a graph Laplacian: D − K ("unnormalized"), I − D^−½KD^−½ ("symmetric") or I − D^−1K
    ("random_walk").

    Examples
    --------
    >>> laplacian([[0.0, 2.0], [2.0, 0.0]])
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    K = similarities(K)
    d = degrees(K)
    identity = sparse.eye_array(len(d), format="csr") if sparse.issparse(K) else np.eye(len(d))
    if kind == "unnormalized":
        return (sparse.diags_array(d) if sparse.issparse(K) else np.diag(d)) - K
    if kind == "symmetric":
        return identity - normalized(K, d)
    if kind == "random_walk":
        inverse = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)
        return identity - (sparse.diags_array(inverse) @ K if sparse.issparse(K) else inverse[:, None] * K)
    raise DataError(f"kind={kind!r} is not one of unnormalized, symmetric, random_walk.")


def normalized(K: Any, d: Array) -> Any:
    """Return D^−½KD^−½; a node without edges keeps zeros."""
    root = np.divide(1.0, np.sqrt(d), out=np.zeros_like(d), where=d > 0)
    if sparse.issparse(K):
        return sparse.csr_array(sparse.diags_array(root) @ K @ sparse.diags_array(root))
    return root[:, None] * K * root


def graph_cut(K: Any, labels: Any, kind: str = "cut") -> float:
    r"""Return what a partition of a graph costs.

    "cut": weight between different clusters, each edge once. "ratio":
    :math:`\sum_j\mathrm{cut}(\psi_j,V\setminus\psi_j)/|\psi_j|`. "normalized":
    :math:`\sum_j\mathrm{cut}(\psi_j,V\setminus\psi_j)/\mathrm{sum}(\psi_j,V)`. "association":
    :math:`\sum_j\mathrm{sum}(\psi_j,\psi_j)/\mathrm{sum}(\psi_j,V)`, which is k minus the normalized cut.

    Parameters
    ----------
    K : array or sparse matrix of shape (n, n)
        Similarities.
    labels : array of shape (n,)
        The cluster of every node.
    kind : str, default="cut"

    Examples
    --------
    >>> graph_cut([[0, 2.0, 0], [2, 0, 1], [0, 1, 0]], [0, 0, 1])
    1.0
    """
    return cut_sums(similarities(K), labels).cost(kind)


class CutSums(NamedTuple):
    """What the costs of a partition are made of, for every cluster."""

    inside: Array  # weight between its own nodes
    reach: Array  # weight of all their edges
    size: Array  # nodes

    def cost(self, kind: str) -> float:
        """Return a cost of `graph_cut`."""
        outside = self.reach - self.inside
        if kind == "cut":
            return float(outside.sum() / 2)
        if kind == "ratio":
            return float((outside / self.size).sum())
        if kind not in ("normalized", "association"):
            raise DataError(f"kind={kind!r} is not one of cut, ratio, normalized, association.")
        if (self.reach == 0).any():
            warn("a cluster has no edges at all; its 0/0 counts as 0.")
        part = outside if kind == "normalized" else self.inside
        return float(np.divide(part, self.reach, out=np.zeros_like(part), where=self.reach > 0).sum())


def cut_sums(K: Any, labels: Any) -> CutSums:
    """Return the sums of a checked graph by cluster."""
    _, labels = np.unique(labels, return_inverse=True)
    if len(labels) != K.shape[0]:
        raise DataError(f"labels has {len(labels)} entries for {K.shape[0]} nodes.")
    G = np.eye(labels.max() + 1)[labels]
    return CutSums(np.einsum("ij,ij->j", G, K @ G), degrees(K) @ G, G.sum(axis=0))


def fiedler_vector(K: Any, n_components: int = 1) -> Array:
    """Return the placement of the nodes on a line that keeps neighbors close (Hall): the Fiedler vector.

    Minimizes zᵀ(D − K)z over unit vectors orthogonal to the constant one; the signs split the graph in two.
    The sign is fixed so that node 0 is not negative.

    Parameters
    ----------
    K : array or sparse matrix of shape (n, n)
        Similarities.
    n_components : int, default=1
        Dimensions of the placement; with more than one the result has shape (n, n_components).

    Examples
    --------
    >>> fiedler_vector([[0, 2.0, 0], [2, 0, 1], [0, 1, 0]]).round(3)
    array([ 0.577,  0.211, -0.789])
    """
    L = laplacian(K)
    L = L.toarray() if sparse.issparse(L) else L
    _, vectors, *_ = symmetric_eigen(L)
    n = len(L)
    if not 1 <= n_components < n:
        raise DataError(f"n_components={n_components} must be between 1 and {n - 1}.")
    z = vectors[:, ::-1][:, 1 : n_components + 1]
    z = np.where(z[0] < 0, -z, z)
    return z[:, 0] if n_components == 1 else z
