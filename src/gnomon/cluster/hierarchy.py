"""Agglomerative clustering as an estimator."""

from __future__ import annotations

import heapq
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin
from sklearn.utils import Tags

from gnomon.cluster.linkages import EUCLIDEAN, METHODS, cut_tree, linkage
from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import HasMethods, Interval, StrOptions
from gnomon.core.rows import MemoryRows
from gnomon.core.validate import Reads, warn
from gnomon.loops.distances import nearest_rows, pairwise


class AgglomerativeClustering(ClusterMixin, OneStep):
    r"""Merge the closest clusters until `n_clusters` are left.

    Starts from single rows; how far apart two clusters are is the `linkage`, for example Ward's
    :math:`\sqrt{2\,\Delta SSE}` or the smallest, largest or mean distance of their rows. The whole tree is
    kept in `linkage_matrix_`, so other cuts cost nothing. Good for nested structure and for small to middling
    data (time grows with the square of the rows); use `KMeans` for many rows.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Clusters to find; None with a `distance_threshold`.
    metric : str or callable, default="euclidean"
        Any metric of `gnomon.neighbors.pairwise_distances`, or "precomputed".
    memory : ignored
        Kept for scikit-learn.
    connectivity : array or sparse matrix of shape (n_samples, n_samples), or callable, optional
        Only clusters that touch in this graph are merged.
    compute_full_tree : ignored
        Kept for scikit-learn; the tree is always full.
    linkage : {"ward", "complete", "average", "weighted", "centroid", "median", "single"}, default="ward"
        How far apart clusters are.
    distance_threshold : float, optional
        Merge below this height, not at it, instead of down to `n_clusters`.
    compute_distances : ignored
        Kept for scikit-learn; `distances_` is always there.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Clusters, numbered by first appearance.
    n_clusters_ : int
        Clusters found.
    children_ : array of shape (n_samples - 1, 2)
        The two parts of every merge; n + s is the cluster of merge s.
    distances_ : array of shape (n_samples - 1,)
        The heights.
    linkage_matrix_ : array of shape (n_samples - 1, 4)
        The tree in SciPy's layout.
    n_leaves_, n_connected_components_ : int
        Rows, and components of the connectivity graph.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> model = AgglomerativeClustering(2, linkage="average").fit(X)
    >>> model.labels_, model.distances_.round(4)
    (array([0, 0, 0, 1]), array([1.    , 2.5   , 5.6667]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "metric": [str, callable],
        "memory": [str, HasMethods("cache"), None],
        "connectivity": ["array-like", "sparse matrix", callable, None],
        "compute_full_tree": ["boolean", StrOptions({"auto"})],
        "linkage": [StrOptions(set(METHODS))],
        "distance_threshold": [Interval(Real, 0, None, closed="left"), None],
        "compute_distances": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: Any = "euclidean",
        memory: Any = None,
        connectivity: Any = None,
        compute_full_tree: Any = "auto",
        linkage: str = "ward",
        distance_threshold: float | None = None,
        compute_distances: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.memory = memory
        self.connectivity = connectivity
        self.compute_full_tree = compute_full_tree
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.compute_distances = compute_distances

    _reads = Reads(min_rows=2)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def _solve(self, rows: Any) -> dict[str, Any]:
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ValueError(
                "Exactly one of n_clusters and distance_threshold has to be set, the other None."
            )
        if self.distance_threshold is not None and self.compute_full_tree is False:
            raise DataError(
                "compute_full_tree must be True if distance_threshold is set: the whole tree is cut."
            )
        if rows.weighted and not (rows.weight > 0).all():
            return self._solve_counted(rows)
        return self._solve_all(rows, np.arange(rows.n_rows), rows.n_rows)

    def _solve_all(self, rows: Any, counted: Array, n: int) -> dict[str, Any]:
        """Build the tree of rows that all count; `counted` says which they are of the n that were given."""
        weight = rows.weight if rows.weighted else None
        if self.connectivity is None:
            metric = "euclidean" if isinstance(self.metric, str) and self.metric == "l2" else self.metric
            Z, parts = linkage(rows.X, self.linkage, metric, sample_weight=weight), 1
        else:
            Z, parts = self._connected(rows.X, rows.weight, counted, n)
        if self.n_clusters is not None and self.n_clusters > rows.n_rows:
            raise DataError(f"Cannot extract more clusters than samples: {self.n_clusters} of {rows.n_rows}.")
        below = None if self.distance_threshold is None else np.nextafter(self.distance_threshold, -np.inf)
        labels = cut_tree(Z, self.n_clusters, below)  # merges at the threshold itself are not made
        return {
            "labels_": labels,
            "n_clusters_": int(labels.max()) + 1,
            "children_": Z[:, :2].astype(np.int64),
            "distances_": Z[:, 2],
            "linkage_matrix_": Z,
            "n_leaves_": rows.n_rows,
            "n_connected_components_": parts,
        }

    def _solve_counted(self, rows: Any) -> dict[str, Any]:
        """Build the tree of the rows that count; the others get the label of their nearest."""
        counted = np.flatnonzero(rows.weight > 0)
        X = rows.X[np.ix_(counted, counted)] if self.metric == "precomputed" else rows.X[counted]
        found = self._solve_all(MemoryRows(X, None, rows.weight[counted]), counted, rows.n_rows)
        if self.metric == "precomputed":
            place = rows.X[:, counted].argmin(axis=1)
        else:
            place = nearest_rows(rows.X, X, 1, self.metric if isinstance(self.metric, str) else "euclidean")[
                0
            ][:, 0]
        return {**found, "labels_": found["labels_"][place]}

    def _connected(self, X: Array, weight: Array, counted: Array, n: int) -> tuple[Array, int]:
        if self.linkage == "ward" and self.metric not in ("euclidean", "l2"):
            raise ValueError(
                f"{self.metric} was provided as metric. Ward can only work with euclidean distances."
            )
        if callable(self.connectivity):
            counted, n = np.arange(len(X)), len(X)
        graph = sparse.csr_array(self.connectivity(X) if callable(self.connectivity) else self.connectivity)
        if graph.shape != (n, n):
            raise DataError(f"connectivity must have shape {(n, n)}; it has {graph.shape}.")
        graph = graph[counted][:, counted]
        graph, parts = join_components(graph + graph.T, X, self.metric)
        return connected_linkage(graph, X, weight, self.linkage, self.metric), parts

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> AgglomerativeClustering:
        """Build the tree of the rows and cut it.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or (n_samples, n_samples) distances
            The rows.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            A row of weight w acts as w coincident rows (average, centroid, ward).

        Returns
        -------
        self
        """
        return super().fit(X, None, sample_weight)

    def plot(self, ax: Any = None) -> Any:
        """Draw the tree, with the height at which it was cut."""
        from gnomon.plot.cluster import dendrogram

        Z, k = self.linkage_matrix_, self.n_clusters_
        height = (Z[-k, 2] + Z[1 - k, 2]) / 2 if 1 < k <= len(Z) else None
        return dendrogram(Z, height=height, ax=ax)


def join_components(graph: Any, X: Array, metric: Any) -> tuple[Any, int]:
    """Add the shortest edges between the components of a graph; return it and the number of components."""
    count, part = sparse.csgraph.connected_components(graph, directed=False)
    if count == 1:
        return graph, 1
    warn(f"the connectivity graph has {count} components; they are joined by their closest rows.")
    graph = sparse.lil_array(graph)
    D = X if metric == "precomputed" else pairwise(X, X, metric if isinstance(metric, str) else "euclidean")
    for a in range(count):
        for b in range(a + 1, count):
            rows, columns = np.flatnonzero(part == a), np.flatnonzero(part == b)
            i, j = np.unravel_index(np.argmin(D[np.ix_(rows, columns)]), (len(rows), len(columns)))
            graph[rows[i], columns[j]] = graph[columns[j], rows[i]] = 1.0
    return sparse.csr_array(graph), count


def connected_linkage(graph: Any, X: Array, weight: Array, method: str, metric: Any) -> Array:
    """Merge the closest touching clusters; distances live on the edges of the graph only."""
    n = len(X)
    if method in EUCLIDEAN and method != "ward":
        raise DataError(f"linkage={method!r} has no version with a connectivity graph.")
    pairs = sparse.triu(graph, k=1).tocoo()
    near: list[dict[int, float]] = [{} for _ in range(2 * n - 1)]
    queue = []
    for i, j in zip(pairs.row.tolist(), pairs.col.tolist(), strict=True):
        d = _edge(X, i, j, metric)
        if method == "ward":  # rows that stand for many
            d *= float(np.sqrt(2 * weight[i] * weight[j] / (weight[i] + weight[j])))
        near[i][j] = near[j][i] = d
        queue.append((d, i, j))
    heapq.heapify(queue)
    size = np.concatenate([weight, np.zeros(n - 1)])
    centers = np.vstack([X, np.zeros((n - 1, X.shape[1]))]).astype(np.float64)
    Z = np.empty((n - 1, 4))
    for s in range(n - 1):
        d, i, j = heapq.heappop(queue)
        while near[i].get(j) != d:  # one of the two has been merged since
            d, i, j = heapq.heappop(queue)
        new = n + s
        Z[s] = i, j, d, size[i] + size[j]
        size[new] = size[i] + size[j]
        centers[new] = (size[i] * centers[i] + size[j] * centers[j]) / size[new]
        _merge(near, queue, centers, size, i, j, new, method)
    return Z


def _edge(X: Array, i: int, j: int, metric: Any) -> float:
    if metric == "precomputed":
        return float(X[i, j])
    if callable(metric):
        return float(metric(X[i], X[j]))
    return float(pairwise(X[i : i + 1], X[j : j + 1], metric)[0, 0])


def _merge(near: Any, queue: Any, centers: Array, size: Array, i: int, j: int, new: int, method: str) -> None:
    """Give the union its neighbors and their distances."""
    for k in set(near[i]) | set(near[j]) - {i, j}:
        if k in (i, j):
            continue
        a, b = near[i].get(k), near[j].get(k)
        if method == "ward":
            gap = float(((centers[k] - centers[new]) ** 2).sum())
            d = float(np.sqrt(2 * gap * size[k] * size[new] / (size[k] + size[new])))
        elif a is None or b is None:
            d = a if b is None else b
        else:
            share = size[i] / (size[i] + size[j]) if method == "average" else 0.5
            d = {"single": min(a, b), "complete": max(a, b)}.get(method, share * a + (1 - share) * b)
        near[k].pop(i, None)
        near[k].pop(j, None)
        near[k][new] = near[new][k] = d
        heapq.heappush(queue, (d, k, new))
    near[i], near[j] = {}, {}
