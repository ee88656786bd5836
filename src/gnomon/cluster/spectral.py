"""Spectral clustering: where a similarity graph falls apart."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackError, eigsh
from sklearn.base import ClusterMixin
from sklearn.utils import Tags

from gnomon.cluster.frame import frame_of
from gnomon.cluster.graphs import (
    affinity,
    count_parts,
    cut_sums,
    degrees,
    fixed_draws,
    laplacian,
    nearest_of,
    normalized,
    similarities,
)
from gnomon.cluster.kmeans import KMeans
from gnomon.cluster.partitions import sinkhorn
from gnomon.cluster.rotations import cluster_qr, discretize
from gnomon.cluster.seeding import Sample
from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array, fix_signs
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import generator
from gnomon.core.threads import one_blas_thread
from gnomon.core.validate import Reads, warn
from gnomon.kernels.names import as_kernel

DENSE = 400  # nodes up to which all eigenvectors are computed
NORMALIZATIONS = ("normalized", "ratio", "doubly_stochastic", "none")
GRAPHS = ("rbf", "nearest_neighbors", "mutual_neighbors", "epsilon", "precomputed")


class Embedding(NamedTuple):
    """Leading eigenvectors of a graph, one row for each node."""

    rows: Array  # (n, k), scaled
    eigenvalues: Array  # (k,), largest first
    residuals: Array  # ‖Mv − λv‖ of every eigenpair
    bound: float  # what no k-partition can beat: normalized or ratio cut


def operator(K: Any, normalization: str) -> Any:
    """Return the matrix whose leading eigenvectors are wanted."""
    d = degrees(K)
    if normalization == "none":
        return K
    if normalization == "ratio":
        return -laplacian(K)  # same vectors as K − D + I, eigenvalues less one
    if normalization == "normalized":
        return normalized(K, d)
    return sinkhorn(K, tol=1e-8).matrix


def leading(M: Any, k: int) -> tuple[Array, Array]:
    """Return the k algebraically largest eigenvalues and their vectors, signs fixed."""
    n = M.shape[0]
    if n <= DENSE or k >= n - 1:
        M = M.toarray() if sparse.issparse(M) else M
        values, vectors = linalg.eigh(M, subset_by_index=[n - k, n - 1])
    else:
        start = np.random.default_rng(0).normal(size=n)  # any start not orthogonal to the answer
        try:
            with one_blas_thread():  # many small products, which threads would only slow down
                basis = min(n, max(3 * k, 40))
                values, vectors = eigsh(
                    M, k, which="LA", v0=start, ncv=basis, maxiter=50 * n, **fixed_draws()
                )
        except ArpackError:
            M = M.toarray() if sparse.issparse(M) else M
            values, vectors = linalg.eigh(M, subset_by_index=[n - k, n - 1])
    order = np.argsort(-values, kind="stable")
    return values[order], fix_signs(vectors[:, order])


def spectral_embedding(
    K: Any, n_components: int, *, normalization: str = "normalized", row_scaling: str = "degree"
) -> Embedding:
    r"""Return the nodes of a graph as rows of leading eigenvectors.

    "normalized": of :math:`D^{-1/2}KD^{-1/2}`; "ratio": of :math:`K-D+I`, the smallest of the Laplacian;
    "doubly_stochastic": of the Sinkhorn scaling of K; "none": of K itself. Rows are divided by the root of
    the degree ("degree"), scaled to unit length ("unit"; zero rows stay) or left alone ("none").

    Parameters
    ----------
    K : array or sparse matrix of shape (n, n)
        Similarities.
    n_components : int
        Eigenvectors to keep, with multiplicity, the trivial one included.
    normalization, row_scaling : str

    Returns
    -------
    Embedding
        Rows, eigenvalues, their residuals, and the bound: k minus the sum of the k largest normalized
        eigenvalues is at most the normalized cut of every k-partition; the sum of the k smallest Laplacian
        eigenvalues its ratio cut.

    Examples
    --------
    >>> found = spectral_embedding([[0, 1.0, 0, 0], [1.0, 0, 0, 0], [0, 0, 0, 2.0], [0, 0, 2.0, 0]], 2)
    >>> found.eigenvalues.round(6)
    array([1., 1.])
    """
    if normalization not in NORMALIZATIONS:
        raise DataError(f"normalization={normalization!r} is not one of {list(NORMALIZATIONS)}.")
    K = similarities(K)
    if not 1 <= n_components <= K.shape[0]:
        raise DataError(
            f"n_components={n_components} must be between 1 and the number of nodes, {K.shape[0]}."
        )
    return _embedding(K, n_components, normalization, row_scaling)


def _embedding(K: Any, n_components: int, normalization: str, row_scaling: str) -> Embedding:
    """Embed the nodes of a checked graph."""
    M = operator(K, normalization)
    values, vectors = leading(M, n_components)
    residuals = np.sqrt(((M @ vectors - vectors * values) ** 2).sum(axis=0))
    bound = {"normalized": n_components - values.sum(), "ratio": -values.sum()}.get(normalization, np.nan)
    if normalization == "ratio":
        values = 1 + values
    return Embedding(_scaled(vectors, degrees(K), row_scaling), values, residuals, max(float(bound), 0.0))


def _scaled(vectors: Array, d: Array, scaling: str) -> Array:
    if scaling == "degree":
        return vectors * np.divide(1.0, np.sqrt(d), out=np.ones_like(d), where=d > 0)[:, None]
    if scaling == "unit":
        length = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
        return vectors / np.where(length > 1e-12, length, 1.0)
    if scaling == "none":
        return vectors
    raise DataError(f"row_scaling={scaling!r} is not one of degree, unit, none.")


class SpectralClustering(ClusterMixin, OneStep):
    r"""Spectral clustering.

    Relaxes the normalized cut :math:`\sum_j\mathrm{cut}(\psi_j)/\mathrm{vol}(\psi_j)` of a similarity graph
    to an eigenvalue problem: nodes become rows of the leading eigenvectors of :math:`D^{-1/2}KD^{-1/2}`,
    and k-means groups the rows. Finds clusters of any shape that the graph holds together;
    `relaxation_bound_` tells how far from the best cut the answer can be at most.

    Parameters
    ----------
    n_clusters : int, default=8
    eigen_solver : ignored
        Kept for scikit-learn.
    n_components : int, optional
        Eigenvectors to use; `n_clusters` by default.
    random_state : int, RandomState, Generator or None
    n_init : int, default=10
        Starts of k-means.
    gamma : float, default=1.0
    affinity : str or callable, default="rbf"
        "rbf", "nearest_neighbors", "mutual_neighbors", "epsilon", "precomputed", a kernel of scikit-learn, or
        "precomputed_nearest_neighbors": X holds distances, of which the `n_neighbors` smallest of a row are edges.
    n_neighbors : int, default=10
    eigen_tol : ignored
        Kept for scikit-learn; eigenpairs are computed to machine precision.
    assign_labels : {"kmeans", "sign", "discretize", "cluster_qr"}, default="kmeans"
        "sign" splits in two by the second eigenvector; "discretize" rotates to the nearest indicator matrix;
        "cluster_qr" reads the clusters off a pivoted QR, without randomness.
    degree, coef0, kernel_params
        Arguments of other kernels.
    n_jobs, verbose
        Kept for scikit-learn.
    normalization : {"normalized", "ratio", "doubly_stochastic", "none"}, default="normalized"
    row_scaling : {"degree", "unit", "none"}, default="degree"

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
    affinity_matrix_ : array or sparse matrix of shape (n_samples, n_samples)
    embedding_ : array of shape (n_samples, n_components)
    eigenvalues_, eigen_residuals_ : arrays of shape (n_components,)
    cut_, normalized_cut_, ratio_cut_ : float
        What the partition costs.
    relaxation_bound_ : float
        No partition into as many clusters has a smaller normalized (or ratio) cut.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [4.0], [5.0]])
    >>> model = SpectralClustering(2, random_state=0).fit(X)
    >>> sorted(X[model.labels_ == model.labels_[0]].ravel().tolist()), model.eigenvalues_.round(7)
    ([0.0, 1.0], array([1.       , 0.9999096]))
    """

    _reads = Reads(min_rows=2)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "eigen_solver": [StrOptions({"arpack", "lobpcg", "amg"}), None],
        "eigen_tol": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state", np.random.Generator],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="left")],
        "affinity": [str, callable],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "assign_labels": [StrOptions({"kmeans", "sign", "discretize", "cluster_qr"})],
        "normalization": [StrOptions(set(NORMALIZATIONS))],
        "row_scaling": [StrOptions({"degree", "unit", "none"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        eigen_solver: Any = None,
        n_components: int | None = None,
        random_state: Any = None,
        n_init: int = 10,
        gamma: float = 1.0,
        affinity: Any = "rbf",
        n_neighbors: int = 10,
        eigen_tol: Any = "auto",
        assign_labels: str = "kmeans",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        normalization: str = "normalized",
        row_scaling: str = "degree",
    ) -> None:
        self.n_clusters = n_clusters
        self.eigen_solver = eigen_solver
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.eigen_tol = eigen_tol
        self.assign_labels = assign_labels
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.normalization = normalization
        self.row_scaling = row_scaling

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = self._is_graph()
        return tags

    def fit(self, X: Any, y: Any = None) -> SpectralClustering:
        """Cluster the rows, or the nodes of a given graph.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or similarities of shape (n_samples, n_samples)
        y : ignored

        Returns
        -------
        self
        """
        return super().fit(X)

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Any:
        graph = sparse.csr_array(X) if self._is_graph() and sparse.issparse(X) else None
        rows = super()._read(X if graph is None else np.zeros(X.shape), None, None, reset=reset, **options)
        rows.graph = graph
        return rows

    def _is_graph(self) -> bool:
        return isinstance(self.affinity, str) and self.affinity in (
            "precomputed",
            "precomputed_nearest_neighbors",
        )

    def _solve(self, rows: Any) -> dict[str, Any]:
        if self._is_graph() and self.affinity != "precomputed":
            near = nearest_of(rows.X if rows.graph is None else rows.graph, self.n_neighbors)
            return self._cut(similarities((near + near.T) / 2, "the affinity"))
        if self.affinity == "precomputed":
            return self._cut(
                similarities(rows.X if rows.graph is None else rows.graph, "the affinity", mend=True)
            )
        order = Sample(rows.X, rows.weight, frame_of(rows)).order  # rounding cannot follow the order of rows
        place = np.argsort(order)
        found = self._cut(similarities(self._graph(rows.X[order]), "the affinity"))
        moved = {name: found[name][place] for name in ("labels_", "embedding_")}
        return {**found, **moved, "affinity_matrix_": _renamed(found["affinity_matrix_"], place)}

    def _cut(self, K: Any) -> dict[str, Any]:
        """Embed and cut a graph."""
        n = K.shape[0]
        if self.n_clusters > n:
            raise DataError(f"n_samples={n} should be >= n_clusters={self.n_clusters}.")
        parts = count_parts(K)
        if parts > 1:
            warn(f"the graph has {parts} components; the partition may follow them alone.")
        count = max(2, self.n_components or self.n_clusters) if self.assign_labels == "sign" else None
        count = min(n, count or self.n_components or self.n_clusters)
        found = _embedding(K, count, self.normalization, self.row_scaling)
        labels = self._labels(found.rows)
        sums = cut_sums(K, labels)
        return {
            "labels_": labels,
            "affinity_matrix_": K,
            "embedding_": found.rows,
            "eigenvalues_": found.eigenvalues,
            "eigen_residuals_": found.residuals,
            "cut_": sums.cost("cut"),
            "ratio_cut_": sums.cost("ratio"),
            "normalized_cut_": sums.cost("normalized"),
            "relaxation_bound_": found.bound,
        }

    def _graph(self, X: Array) -> Any:
        if self.affinity in GRAPHS:
            near = min(self.n_neighbors, len(X))
            return affinity(X, self.affinity, gamma=self.gamma, n_neighbors=near)
        kernel = as_kernel(
            self.affinity,
            d=X.shape[1],
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            params=self.kernel_params,
        )
        return np.asarray(kernel(X))

    def _labels(self, E: Array) -> Array:
        if self.assign_labels == "sign":
            if self.n_clusters != 2:
                raise DataError(f"assign_labels='sign' makes two clusters; n_clusters={self.n_clusters}.")
            z = E[:, 1] if E[0, 1] >= 0 else -E[:, 1]
            return np.where(z >= 0, 0, 1)
        if self.assign_labels == "cluster_qr":
            labels = cluster_qr(E)
        elif self.assign_labels == "discretize":
            labels = discretize(E, generator(self.random_state))
        else:
            model = KMeans(self.n_clusters, n_init=self.n_init, random_state=generator(self.random_state))
            labels = model.fit(E).labels_
        return _renumbered(labels)

    def plot(self, ax: Any = None, *, what: str = "embedding") -> Any:
        """Draw the "embedding", the "eigenvalues", the "affinity" sorted by label, or the "fiedler" vector."""
        from gnomon.plot.cluster import spectral

        return spectral(self, what, ax=ax)


def _renamed(K: Any, place: Array) -> Any:
    """Return a graph with its nodes in another order."""
    return K[place][:, place] if sparse.issparse(K) else K.take(place, axis=0).take(place, axis=1)


def _renumbered(labels: Array) -> Array:
    """Number clusters by their first row."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]
