"""Kernel k-means: means in a feature space that is never written down."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse.linalg import eigsh
from sklearn.base import ClusterMixin
from sklearn.utils import Tags

from gnomon.cluster.frame import frame_of
from gnomon.cluster.graphs import fixed_draws
from gnomon.cluster.seeding import Sample
from gnomon.core.decoding import check_shapes
from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.rows import MemoryRows
from gnomon.core.steps import Learner, Report
from gnomon.core.threads import one_blas_thread
from gnomon.core.validate import Reads
from gnomon.kernels.names import NAMES, as_kernel

KERNELS = set(NAMES)


class KernelState(NamedTuple):
    """Labels and what they add up to."""

    labels: Array
    sizes: Array  # (k,) Σ w
    within: Array  # (k,) Σ w w K / size²
    energy: float
    settled: bool


def distances(K: Array, labels: Array, weight: Array, k: int, diagonal: Array) -> tuple[Array, Array, Array]:
    """Return squared feature-space distances (n, k), sizes and within-terms, for any labels."""
    member = np.zeros((len(labels), k))
    member[np.arange(len(labels)), labels] = weight
    sizes = member.sum(axis=0)
    share = member / np.where(sizes > 0, sizes, 1.0)
    with one_blas_thread():  # the same bits on any number
        cross = K @ share
    within = np.einsum("ij,ij->j", share, cross)
    D = diagonal[:, None] - 2 * cross + within
    D[:, sizes == 0] = np.inf
    return D, sizes, within


class KernelKMeans(ClusterMixin, Learner):
    r"""K-means in the feature space of a kernel.

    .. math:: \mathrm{energy} = \sum_i w_iK_{ii}-\sum_j\frac{1}{l_j}\sum_{r,s\in\psi_j}w_rw_sK_{rs}

    Finds clusters that are not convex in the original space. The distance of row i to cluster j is
    :math:`K_{ii}-\frac2{l_j}\sum_rK_{ir}+\frac1{l_j^2}\sum_{rs}K_{rs}`; no centers are needed. A linear
    kernel is k-means. With degrees as weights the normalized cut of a graph is minimized.

    Parameters
    ----------
    n_clusters : int, default=8
    kernel : str or callable, default="rbf"
        A name ("linear", "rbf", "poly", "sigmoid", "laplacian", "cosine", "precomputed"), an object of
        `gnomon.kernels`, or a function of two rows.
    gamma, degree, coef0, kernel_params
        Arguments of the kernel.
    init : {"k-means++", "random_partition"} or array of labels, default="k-means++"
    n_init : int, default=5
    max_iter : int, default=300
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
    energy_ : float
    sizes_, within_ : arrays of shape (n_clusters,)
    shift_ : float
        What was added to the diagonal of an indefinite kernel, so that the energy cannot rise.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [4.0], [5.0]])
    >>> model = KernelKMeans(2, gamma=1.0, random_state=0).fit(X)
    >>> round(model.energy_, 4)
    1.2642
    """

    _stop: ClassVar[str] = "self"
    _reads = Reads()
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions(KERNELS), callable],
        "gamma": [Interval(Real, 0, None, closed="left"), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "init": [StrOptions({"k-means++", "random_partition"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Any = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        init: Any = "k-means++",
        n_init: int = 5,
        max_iter: int = 300,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Any:
        rows = super()._read(X, None, sample_weight, reset=reset, **options)
        return self._with_gram(rows) if reset else rows

    def _with_gram(self, rows: Any) -> MemoryRows:
        """Return rows whose X is the kernel matrix, shifted where it is indefinite."""
        if rows.n_rows < self.n_clusters:
            raise DataError(f"n_samples={rows.n_rows} should be >= n_clusters={self.n_clusters}.")
        K = np.array(self._gram(rows.X, rows.X), dtype=np.float64)
        if K.shape[0] != K.shape[1] or not np.allclose(K, K.T, atol=1e-10 * np.abs(K).max(initial=1e-300)):
            raise DataError("the kernel matrix must be square and symmetric.")
        given = self.kernel == "precomputed"
        found = MemoryRows(K, None, rows.weight, feature_names=rows.feature_names)
        found.n_features, found.shift = rows.n_features, negative_part(K)
        found.vectors = None if given else rows.X
        found.order = np.arange(len(K)) if given else Sample(rows.X, rows.weight, frame_of(rows)).order
        K[np.diag_indices_from(K)] += found.shift
        return found

    def _gram(self, X: Array, Y: Array) -> Array:
        if self.kernel == "precomputed":
            return X
        kernel = as_kernel(
            self.kernel,
            d=X.shape[1],
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            params=self.kernel_params,
        )
        return np.asarray(kernel(X, None if Y is X else Y))

    def _starts(self) -> int:
        return int(self.n_init) if isinstance(self.init, str) else 1

    def _better(self, one: float, other: float) -> bool:
        return one < other - 1e-10 * abs(other)

    def _start(self, rows: Any, rng: np.random.Generator) -> KernelState:
        labels = self._first_labels(rows, rng)
        return self._state_of(rows, labels, False)

    def _first_labels(self, rows: Any, rng: np.random.Generator) -> Array:
        K, k, weight = rows.X, self.n_clusters, rows.weight
        if not isinstance(self.init, str):
            labels = np.array(self.init)
            if labels.shape != (len(K),) or labels.min() < 0 or labels.max() >= k:
                raise DataError(f"init must be a label in 0..{k - 1} for each of the {len(K)} rows.")
            return labels
        if self.init == "random_partition":
            labels = np.empty(len(K), dtype=int)
            labels[rows.order] = rng.permutation(np.arange(len(K)) % k)
            return labels
        diagonal, closest = np.diagonal(K), np.full(len(K), np.inf)
        labels = np.zeros(len(K), dtype=int)
        for j in range(k):
            mass = (weight * np.where(np.isinf(closest), 1.0, closest))[rows.order]
            mass = mass if mass.sum() > 0 else weight[rows.order]
            edges = np.cumsum(mass)
            at = np.searchsorted(edges, rng.random() * edges[-1], side="right")
            row = rows.order[min(at, np.flatnonzero(mass > 0)[-1])]
            d = np.maximum(diagonal + K[row, row] - 2 * K[row], 0.0)
            labels[d < closest] = j
            closest = np.minimum(closest, d)
        return labels

    def _state_of(self, rows: Any, labels: Array, settled: bool) -> KernelState:
        _, sizes, within = distances(rows.X, labels, rows.weight, self.n_clusters, np.diagonal(rows.X))
        energy = float((rows.weight * np.diagonal(rows.X)).sum() - (sizes * within).sum())
        return KernelState(labels, sizes, within, max(energy, 0.0), settled)

    def _step(self, rows: Any, state: KernelState) -> tuple[KernelState, Report]:
        D, _, _ = distances(rows.X, state.labels, rows.weight, self.n_clusters, np.diagonal(rows.X))
        own = D[np.arange(len(D)), state.labels]
        best = D.min(axis=1)
        stay = own <= best * (1 + 1e-12) + 1e-12 * np.abs(np.diagonal(rows.X))
        labels = np.where(stay, state.labels, D.argmin(axis=1))
        labels = _refill(labels, np.where(stay, own, best), rows.weight, self.n_clusters)
        fresh = self._state_of(rows, labels, bool((labels == state.labels).all()))
        return fresh, Report(fresh.energy, done=fresh.settled)

    def _attributes(self, state: KernelState) -> dict[str, Any]:
        return {
            "labels_": state.labels,
            "energy_": state.energy,
            "sizes_": state.sizes,
            "within_": state.within,
        }

    def _keep(self, run: Any, rows: Any) -> None:
        kept = {"shift_": rows.shift, "X_fit_": rows.vectors, "weight_fit_": rows.weight}
        learned = self._learned(run)
        if rows.shift:  # of the kernel that was given, not of the shifted one
            w, sizes = rows.weight, np.where(run.state.sizes > 0, run.state.sizes, 1.0)
            learned["energy_"] -= rows.shift * float((w - w * w / sizes[run.state.labels]).sum())
        self._adopt({**learned, **kept}, rows)

    def _check_loaded(self) -> None:
        if "labels_" in vars(self):
            n, k = len(self.weight_fit_), int(self.n_clusters)
            check_shapes(self, {"weight_fit_": (n,), "sizes_": (k,), "within_": (k,)})
            check_shapes(self, {"labels_": (n,)}, kinds="iu")
            if n == 0 or not 0 <= int(self.labels_.min()) <= int(self.labels_.max()) < k:
                raise ModelFileError("its labels_ do not fit its clusters. Get a new copy.")

    def predict(self, X: Any) -> Array:
        """Return the nearest cluster of every row, in feature space."""
        rows = self._rows(X)
        K = self._gram(rows.X, self.X_fit_)
        member = np.zeros((len(self.labels_), self.n_clusters))
        member[np.arange(len(member)), self.labels_] = self.weight_fit_
        share = member / np.where(self.sizes_ > 0, self.sizes_, 1.0)
        with one_blas_thread():
            score = self.within_ - 2 * K @ share
        score[:, self.sizes_ == 0] = np.inf
        return score.argmin(axis=1)


def _refill(labels: Array, cost: Array, weight: Array, k: int) -> Array:
    """Give an empty cluster the row of largest cost."""
    labels = labels.copy()
    for j in np.setdiff1d(np.arange(k), labels[weight > 0]):
        crowd = np.bincount(labels, weight, k)[labels] > weight
        row = int(np.argmax(np.where(crowd & (weight > 0), cost, -1.0)))
        if cost[row] > 0:
            labels[row], cost[row] = j, 0.0
    return labels


def negative_part(K: Array) -> float:
    """Return the smallest shift of the diagonal that makes K positive semidefinite."""
    size = float(np.abs(np.diagonal(K)).max(initial=0.0)) or 1.0
    with one_blas_thread():
        try:
            np.linalg.cholesky(K + 1e-10 * size * np.eye(len(K)))
            return 0.0
        except np.linalg.LinAlgError:
            few = len(K) <= 1000
            low = (
                np.linalg.eigvalsh(K)[0]
                if few
                else eigsh(K, 1, which="SA", v0=np.ones(len(K)), **fixed_draws())[0][0]
            )
            return max(0.0, -float(low))
