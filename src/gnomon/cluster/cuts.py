"""Minimum, s–t and balanced cuts of a graph."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.cluster.graphs import fiedler_vector, graph_cut, laplacian, similarities
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array, symmetric_eigen
from gnomon.core.randomness import generator
from gnomon.core.validate import matrix
from gnomon.loops import cuts as loops


class CutResult(NamedTuple):
    """A cut: its weight, the side of every node, and for s–t cuts the flow that proves it smallest."""

    value: float
    labels: Array
    source_side: Array | None = None  # nodes reachable from s when the flow is at its maximum
    flow: Array | None = None  # (n, n), antisymmetric
    bound: float | None = None  # no balanced cut is smaller


def min_cut(K: Any, s: int | None = None, t: int | None = None) -> CutResult:
    r"""Return the smallest cut of a graph: over all splits into two sides, or of those that part s from t.

    Without s and t the algorithm of Stoer and Wagner is used, and both sides are not empty. With them the
    maximum flow from s to t is found by push–relabel (K may then be directed capacities), and the cut has the
    same weight: the maximum flow in `flow` proves that no cut is smaller. Minimum cuts like to split off
    single nodes; see `balanced_min_cut` and `SpectralClustering`.

    Parameters
    ----------
    K : array or sparse matrix of shape (n, n)
        Similarities, or capacities.
    s, t : int, optional
        Source and sink.

    Examples
    --------
    >>> min_cut([[0, 3.0, 1.0], [3.0, 0, 1.0], [1.0, 1.0, 0]]).value
    2.0
    """
    if (s is None) != (t is None):
        raise DataError("min_cut needs both s and t, or neither.")
    if s is not None:
        return _st_cut(K, int(s), int(t))  # type: ignore[arg-type]
    W = _dense(similarities(K))
    np.fill_diagonal(W, 0.0)
    if len(W) == 1:
        return CutResult(0.0, np.zeros(1, dtype=int))
    side = np.zeros(len(W), dtype=np.int64)
    value = loops.stoer_wagner(W, side)
    return CutResult(float(value), side if side[0] == 0 else 1 - side)


def _dense(K: Any) -> Array:
    return np.array(K.toarray() if sparse.issparse(K) else K, dtype=np.float64)


def _st_cut(K: Any, s: int, t: int) -> CutResult:
    C = _dense(K) if sparse.issparse(K) else matrix(K, name="K").astype(np.float64)
    n = len(C)
    if not (0 <= s < n and 0 <= t < n) or s == t:
        raise DataError(f"s={s} and t={t} must be two different nodes of the {n}.")
    if C.shape[0] != C.shape[1] or (C < 0).any():
        raise DataError("capacities must be a square matrix without negative entries.")
    np.fill_diagonal(C, 0.0)
    flow = np.zeros((n, n))
    value = loops.push_relabel(C, s, t, flow)
    seen, waiting = np.zeros(n, dtype=bool), [s]
    seen[s] = True
    while waiting:
        u = waiting.pop()
        fresh = np.flatnonzero((C[u] - flow[u] > 1e-9 * max(1.0, C.max())) & ~seen)
        seen[fresh] = True
        waiting += fresh.tolist()
    return CutResult(float(value), np.where(seen, 0, 1), np.flatnonzero(seen), flow)


def balanced_min_cut(
    K: Any,
    n_clusters: int = 2,
    *,
    sizes: Any = None,
    method: str = "auto",
    n_init: int = 10,
    random_state: Any = 0,
) -> CutResult:
    r"""Return the smallest cut into parts of equal size.

    Exact branch and bound up to 24 nodes; beyond, pairs are swapped (Kernighan and Lin) from the spectral
    split and from random ones. `bound` is :math:`\frac12\sum_js_j\lambda_j` over the sizes, largest first,
    and the smallest Laplacian eigenvalues: no cut of these sizes is smaller.

    Parameters
    ----------
    K : array or sparse matrix of shape (n, n)
        Similarities.
    n_clusters : int, default=2
    sizes : sequence of int, optional
        Part sizes; as equal as possible by default.
    method : {"auto", "exact", "swap"}, default="auto"
    n_init : int, default=10
        Random starts of "swap".
    random_state : int, RandomState, Generator or None

    Examples
    --------
    >>> W = [[0, 3.0, 0, 0], [3.0, 0, 1.0, 0], [0, 1.0, 0, 3.0], [0, 0, 3.0, 0]]
    >>> balanced_min_cut(W).labels
    array([0, 0, 1, 1])
    """
    W = _dense(similarities(K))
    np.fill_diagonal(W, 0.0)
    n = len(W)
    sizes = _sizes(n, n_clusters, sizes)
    if method not in ("auto", "exact", "swap"):
        raise DataError(f"method={method!r} is not one of auto, exact, swap.")
    if method == "exact" and n > 24:
        raise DataError(f"method='exact' goes up to 24 nodes; the graph has {n}. Use 'swap'.")
    values = symmetric_eigen(_dense(laplacian(W)))[0][::-1]
    bound = float(np.maximum(values[: len(sizes)], 0) @ np.sort(sizes)[::-1] / 2)
    labels = _swapped(W, sizes, n_init, generator(random_state))
    if method == "exact" or (method == "auto" and n <= 24):
        found = labels.copy()
        loops.balanced_search(W, sizes, found, graph_cut(W, labels) * (1 + 1e-12) + 1e-300)
        labels = found
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    labels = np.argsort(np.argsort(first))[inverse]
    return CutResult(graph_cut(W, labels), labels, bound=bound)


def _sizes(n: int, k: int, sizes: Any) -> Array:
    if sizes is None:
        if not 1 <= k <= n:
            raise DataError(f"n_clusters={k} must be between 1 and the number of nodes, {n}.")
        return np.array([n // k + (j < n % k) for j in range(k)], dtype=np.int64)
    sizes = np.array(sizes, dtype=np.int64)
    if sizes.sum() != n or (sizes < 1).any():
        raise DataError(f"sizes must be positive and sum to the number of nodes, {n}; got {sizes.tolist()}.")
    return sizes


def _swapped(W: Array, sizes: Array, n_init: int, rng: np.random.Generator) -> Array:
    """Best of Kernighan–Lin from the spectral split and from random ones."""
    parts = np.repeat(np.arange(len(sizes)), sizes)
    best, least = parts, np.inf
    for start in range(n_init + 1):
        labels = np.empty(len(W), dtype=np.int64)
        spectral = start == 0 and len(W) > 2
        labels[np.argsort(fiedler_vector(W), kind="stable") if spectral else rng.permutation(len(W))] = parts
        loops.swap_pass(W, labels, len(sizes))
        value = graph_cut(W, labels)
        if value < least - 1e-12:
            best, least = labels, value
    return best
