"""PageRank: the importance of nodes, as the share of time a surfer who follows links spends on each."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError, DivergenceError, nearest
from gnomon.core.linalg import Array
from gnomon.core.validate import graph, probabilities
from gnomon.loops import graphs as loops

DANGLING = ("uniform", "personalization", "self")


def pagerank(
    adjacency: Any,
    *,
    damping: float = 0.85,
    personalization: Any = None,
    dangling: str = "uniform",
    tol: float = 1e-10,
    max_iter: int = 1000,
) -> Array:
    r"""Rank the nodes of a directed graph.

    .. math:: w = w\,(d P + (1-d)\,\mathbf 1 v^\top), \qquad P_{ij} = A_{ij} / \textstyle\sum_j A_{ij}

    A surfer follows a random link with probability d and jumps to a node drawn from v otherwise. Solved by
    Gauss–Seidel sweeps over incoming links, the total mass set right between them; the error is at most
    ``d / (1 - d)`` times the last L1 change, and that is brought below `tol`.

    Parameters
    ----------
    adjacency : (n, n) array or sparse matrix
        Weight of the link from row to column.
    damping : float in [0, 1)
        Probability d of following a link.
    personalization : (n,) array, optional
        Where jumps lead, v; uniform by default.
    dangling : {"uniform", "personalization", "self"}
        Where a node without links leads: anywhere, to v, or to itself.
    tol : float
        Bound on the L1 error.
    max_iter : int
        Sweeps at most.

    Examples
    --------
    >>> A = np.zeros((4, 4))
    >>> A[[0, 0, 1, 2, 3], [1, 2, 2, 0, 2]] = 1
    >>> pagerank(A).round(4)
    array([0.3725, 0.1958, 0.3941, 0.0375])
    """
    if not 0.0 <= damping < 1.0:
        raise DataError(f"damping must lie in [0, 1); got {damping}.")
    if dangling not in DANGLING:
        raise DataError(f"dangling must be one of {DANGLING}; got {dangling!r}.{nearest(dangling, DANGLING)}")
    A = _links(adjacency)
    n = A.shape[0]
    v = np.full(n, 1.0 / n) if personalization is None else _jumps(personalization, n)
    stuck = np.flatnonzero(np.diff(A.indptr) == 0)
    if dangling == "self" and len(stuck):
        loops_back = sparse.csr_array((np.ones(len(stuck)), (stuck, stuck)), shape=A.shape)
        A, stuck = sparse.csr_array(A + loops_back), stuck[:0]
    walk = _Incoming(A, stuck)
    limit = tol * (1.0 - damping) / max(damping, 1e-300)
    w = walk.solve(v, damping, limit, max_iter)
    if len(stuck) and dangling == "uniform" and personalization is not None:
        u = walk.solve(np.full(n, 1.0 / n), damping, limit, max_iter)
        w = (1 - damping) * (w + u * damping * w[stuck].sum() / (1 - damping * u[stuck].sum()))
    return w / w.sum()  # the mass that dangling nodes lose comes back in proportion to v


def _links(adjacency: Any) -> Any:
    """Return the graph in compressed rows, without links of weight zero."""
    A = graph(adjacency, name="adjacency")
    if not A.data.all():
        A = A.copy()
        A.eliminate_zeros()
    return A


def _jumps(personalization: Any, n: int) -> Array:
    v = np.asarray(personalization, dtype=np.float64)
    if v.shape != (n,) or not (v >= 0).all() or not v.sum() > 0:
        raise DataError(f"personalization must hold {n} weights that are not negative and not all zero.")
    return probabilities(v / v.sum(), name="personalization")


class _Incoming:
    """Incoming links of every node, ready for sweeps."""

    def __init__(self, A: Any, stuck: Array) -> None:
        n, short = A.shape[0], np.int32 if A.nnz < 2**31 else np.int64
        self.leaks = stuck
        self.start = np.zeros(n + 1, dtype=short)
        np.cumsum(np.bincount(A.indices, minlength=n), out=self.start[1:])
        self.source = np.empty(A.nnz, dtype=short)
        self.plain = A.nnz == 0 or bool((A.data == A.data[0]).all())
        counts = np.diff(A.indptr)
        if self.plain:
            loops.turn_plain_edges(A.indptr, A.indices, self.start[:-1].copy(), self.source)
            self.degree = np.maximum(counts, 1).astype(np.float64)
        else:
            edge = np.empty(A.nnz, dtype=np.int64)
            loops.turn_edges(A.indptr, A.indices, self.start[:-1].copy(), self.source, edge)
            self.share = (A.data / np.repeat(A.sum(axis=1), counts))[edge]

    def solve(self, right: Array, damping: float, tol: float, max_iter: int) -> Array:
        """Return y = damping P' y + right."""
        y = np.array(right) / (1.0 - damping)
        tol = tol / (1.0 - damping)  # y sums to 1 / (1 - damping), scores to 1
        rest = (self.leaks, damping, right, tol, max_iter, y)
        if self.plain:
            y /= self.degree
            sweeps, change = loops.solve_plain_walk(self.start, self.source, self.degree, *rest)
            y *= self.degree
        else:
            sweeps, change = loops.solve_walk(self.start, self.source, self.share, *rest)
        if change > tol:
            raise DivergenceError(f"pagerank moved by {change:.3g} in sweep {sweeps}; raise max_iter or tol.")
        return y
