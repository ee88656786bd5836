"""K-medoids: k rows of the data that stand for the others, under any distance."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags

from gnomon.cluster.frame import frame_of
from gnomon.cluster.seeding import Sample, random_rows
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.rows import MemoryRows
from gnomon.core.settings import check_parameters
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import Reads
from gnomon.loops import medoids as loops
from gnomon.loops.distances import edit_table, nearest_rows, pairwise

DENSE = 20_000  # rows up to which all distances are held
DOUBLE = 8_192  # rows up to which they are held in float64
TOL = 1e-12  # a swap must gain this share of the cost


class MedoidState(NamedTuple):
    """Chosen rows and how far the search has come."""

    medoids: Array  # (k,)
    labels: Array
    cost: float
    swaps: int
    cursor: int  # next candidate
    idle: int  # candidates tried since the last swap


class Caches(NamedTuple):
    """Two closest medoids of every row, their distances, and the price of removing each medoid."""

    near: Array
    second: Array
    first: Array
    after: Array
    loss: Array


def caches_of(T: Array, medoids: Array, weight: Array) -> Caches:
    """Fill the caches from scratch."""
    n, k = len(weight), len(medoids)
    found = Caches(np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n), np.empty(n), np.empty(k))
    loops.two_nearest(T, medoids, *found[:4])
    loops.removal_losses(weight, found.near, found.first, found.after, found.loss)
    return found


class KMedoids(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Learner):
    r"""K-medoids clustering.

    .. math:: \min_{M \subset \{1..n\}, |M| = k} \sum_i w_i \min_{m \in M} d(x_i, x_m)

    The representatives are rows of the data, so any distance will do: words under the edit distance, or a
    matrix of dissimilarities. Less sensitive to outliers than k-means. "fasterpam" swaps a medoid for
    another row as soon as that lowers the cost, evaluating all k swaps of a candidate in one sweep, until
    no swap helps: the same local optima as PAM, much sooner.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of medoids.
    metric : str or callable, default="euclidean"
        Any metric of `gnomon.neighbors.pairwise_distances`, "edit" for sequences, "precomputed" (rows =
        from point to medoid), or a function of two rows.
    method : {"fasterpam", "pam", "alternate"}, default="fasterpam"
        "pam" makes the best swap in each step; "alternate" replaces each medoid by the best member of its
        cluster.
    init : {"build", "lab", "k-medoids++", "random"} or array of k row numbers, default="build"
        Greedy; greedy on samples; drawn in proportion to the distance; drawn uniformly.
    max_iter : int, default=300
        Passes at most.
    random_state : int, RandomState, Generator or None
        Where the randomness comes from.
    sample : int, optional
        Rows of each of five subsamples to search in; the best medoids for all rows are kept. By default all
        rows are searched up to 20 000, and samples of ``1000 + 10 * n_clusters`` beyond.

    Attributes
    ----------
    medoid_indices_ : array of shape (n_clusters,)
        The chosen rows.
    cluster_centers_ : array of shape (n_clusters, n_features) or None
        The rows themselves; None for data that are not vectors.
    labels_ : array of shape (n_samples,)
    inertia_ : float
        The objective.
    n_swaps_ : int
        Swaps made.
    swap_gain_ : float
        The best change that a further swap could bring; not negative at the end of "pam" and "fasterpam".
    trace_, n_iter_, converged_
        How the fit went.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [10.0], [11.0], [15.0]])
    >>> model = KMedoids(2, metric="l1").fit(X)
    >>> np.sort(model.medoid_indices_), model.inertia_
    (array([1, 4]), 8.0)
    """

    _stop: ClassVar[str] = "self"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": [str, callable],
        "method": [StrOptions({"fasterpam", "pam", "alternate"})],
        "init": [StrOptions({"build", "lab", "k-medoids++", "random"}), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
        "sample": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        metric: Any = "euclidean",
        method: str = "fasterpam",
        init: Any = "build",
        max_iter: int = 300,
        random_state: Any = None,
        *,
        sample: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.method = method
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state
        self.sample = sample

    _reads = Reads()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KMedoids:
        """Choose the medoids.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), (n_samples, n_samples) distances, or a list of sequences
            What the metric compares.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How many times each row counts.

        Returns
        -------
        self
        """
        check_parameters(self)
        size = self.sample if self.sample is not None else 1000 + 10 * self.n_clusters
        if isinstance(self.metric, str) and self.metric not in ("edit", "precomputed"):
            rows = super()._read(X, None, sample_weight)
            if rows.n_rows > max(size, DENSE if self.sample is None else 0):
                return self._fit_samples(rows, size)
        return super().fit(X, None, sample_weight)

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Any:
        """Return rows whose X is the table of distances."""
        if not reset:
            return super()._read(X, None, sample_weight, reset=False, **options)
        objects = self._objects(X)
        rows = super()._read(X if objects is None else objects, None, sample_weight)
        self._check(rows)
        found = self._distances(rows, objects is not None)
        found.n_features, found.feature_names = rows.n_features, rows.feature_names
        found.objects = None if objects is None else X
        return found

    def _objects(self, X: Any) -> Array | None:
        """Return the table of distances of things that are not vectors."""
        if self.metric == "edit":
            return edit_table(X, X)
        if callable(self.metric):
            rows = list(np.asarray(X)) if not isinstance(X, list) else X
            return np.array([[float(self.metric(a, b)) for b in rows] for a in rows])
        return None

    def _check(self, rows: Any) -> None:
        if rows.n_rows < self.n_clusters:
            raise DataError(f"n_samples={rows.n_rows} should be >= n_clusters={self.n_clusters}.")
        if self.metric == "precomputed":
            if rows.X.shape[0] != rows.X.shape[1]:
                raise DataError(
                    f"precomputed distances must be a square matrix; their shape is {rows.X.shape}."
                )
            if (np.diagonal(rows.X) < 0).any():
                raise DataError("precomputed distances have a negative diagonal.")

    def _distances(self, rows: Any, ready: bool) -> MemoryRows:
        """Return rows whose X is the table with the distances to each candidate in one row."""
        if ready or self.metric == "precomputed":
            D = rows.X
            symmetric = D.shape[0] == D.shape[1] and (D is D.T or np.array_equal(D, D.T))
            T = np.ascontiguousarray(D if symmetric else D.T)
        else:
            T = np.empty(
                (rows.n_rows, rows.n_rows), dtype=np.float64 if rows.n_rows <= DOUBLE else np.float32
            )
            pairwise(rows.X, rows.X, self.metric, out=T)
        if not np.isfinite(T.sum(dtype=np.float64)):
            raise DataError("some distances are not finite; scale the columns.")
        found = MemoryRows(T, None, rows.weight)
        found.vectors = None if ready or self.metric == "precomputed" else rows.X
        return found

    def _fit_samples(self, rows: Any, size: int) -> KMedoids:
        """Search in five subsamples; keep the medoids that serve all rows best (CLARA)."""
        sample = Sample(rows.X, rows.weight, frame_of(rows))
        best = None
        for index in range(5):
            rng = stream(draw_seed(generator(self.random_state)), index)
            chosen = np.unique(random_rows(sample, min(size, rows.n_rows), rng).rows)
            inner = MemoryRows(rows.X[chosen], None, rows.weight[chosen], feature_names=rows.feature_names)
            table = self._distances(inner, False)
            table.n_features, table.feature_names = rows.n_features, rows.feature_names
            self._learn(table)
            medoids = chosen[self.medoid_indices_]
            labels, near = nearest_rows(rows.X, rows.X[medoids], 1, self.metric)
            cost = float(rows.weight @ near[:, 0])
            if best is None or cost < best["inertia_"]:
                best = dict(vars(self), medoid_indices_=medoids, labels_=labels[:, 0], inertia_=cost)
        self.__dict__.update(best)
        self.cluster_centers_ = rows.X[self.medoid_indices_].copy()
        return self

    def _start(self, rows: Any, rng: np.random.Generator) -> MedoidState:
        T, weight, k = rows.X, rows.weight, self.n_clusters
        if not isinstance(self.init, str):
            medoids = np.array(self.init, dtype=np.int64)
            if (
                medoids.shape != (k,)
                or len(set(medoids.tolist())) < k
                or medoids.min() < 0
                or medoids.max() >= len(T)
            ):
                raise DataError(f"init must be {k} different row numbers; got {self.init!r}.")
        elif self.init == "build":
            medoids = np.empty(k, dtype=np.int64)
            loops.build(T, weight, k, medoids)
        else:
            medoids = _drawn(T, weight, k, rng, self.init, _canonical(rows))
        labels, cost = _assign(T, medoids, weight)
        return MedoidState(medoids, labels, cost, 0, 0, 0)

    def _step(self, rows: Any, state: MedoidState) -> tuple[MedoidState, Report]:
        move = {"fasterpam": _eager, "pam": _best, "alternate": _alternate}[self.method]
        if self.n_clusters == 1:
            move = _alternate  # all rows are one cluster, so its best member is the optimum
        return move(rows.X, rows.weight, state)

    def _attributes(self, state: MedoidState) -> dict[str, Any]:
        return {
            "medoid_indices_": state.medoids,
            "labels_": state.labels,
            "inertia_": float(state.cost),
            "n_swaps_": state.swaps,
        }

    def _keep(self, run: Any, rows: Any) -> None:
        gain, medoids = 0.0, run.state.medoids
        if run.converged and 1 < self.n_clusters < rows.n_rows <= 2000:
            gain = _swap_gain(rows.X, rows.weight, medoids)
        centers = None if rows.vectors is None else rows.vectors[medoids].copy()
        objects = getattr(rows, "objects", None)
        words = None if objects is None else [objects[i] for i in medoids]
        kept = {"swap_gain_": gain, "cluster_centers_": centers, "medoid_objects_": words}
        self._adopt({**self._learned(run), **kept}, rows)

    @property
    def _n_features_out(self) -> int:
        return len(self.medoid_indices_)

    def transform(self, X: Any) -> Array:
        """Return the distance of every row to every medoid."""
        if self.metric == "edit":
            return edit_table(X, self.medoid_objects_)
        if callable(self.metric):
            return np.array([[float(self.metric(x, m)) for m in self.medoid_objects_] for x in X])
        rows = self._rows(X)
        if self.metric == "precomputed":
            return rows.X[:, self.medoid_indices_]
        return pairwise(rows.X, self.cluster_centers_, self.metric)

    def predict(self, X: Any) -> Array:
        """Return the nearest medoid of every row."""
        return self.transform(X).argmin(axis=1)


def _assign(T: Array, medoids: Array, weight: Array) -> tuple[Array, float]:
    table = T[medoids]
    labels = table.argmin(axis=0)
    return labels, float(weight @ table[labels, np.arange(T.shape[1])].astype(np.float64))


def _eager(T: Array, weight: Array, state: MedoidState) -> tuple[MedoidState, Report]:
    medoids, n, k = state.medoids.copy(), len(weight), len(state.medoids)
    caches = caches_of(T, medoids, weight)
    taken = np.zeros(n, dtype=bool)
    taken[medoids] = True
    cursor, idle, swaps, _ = loops.eager_pass(
        T, weight, medoids, taken, *caches, state.cursor, state.idle, TOL, state.cost, np.empty(k)
    )
    labels, cost = _assign(T, medoids, weight)
    done = idle >= n
    return MedoidState(medoids, labels, cost, state.swaps + swaps, cursor, idle), Report(cost, done=done)


def _best(T: Array, weight: Array, state: MedoidState) -> tuple[MedoidState, Report]:
    place, candidate, change = _best_swap(T, weight, state.medoids)
    if candidate < 0 or change >= -TOL * state.cost:
        return state, Report(state.cost, done=True)
    medoids = state.medoids.copy()
    medoids[place] = candidate
    labels, cost = _assign(T, medoids, weight)
    return state._replace(medoids=medoids, labels=labels, cost=cost, swaps=state.swaps + 1), Report(cost)


def _best_swap(T: Array, weight: Array, medoids: Array) -> tuple[int, int, float]:
    caches = caches_of(T, medoids, weight)
    taken = np.zeros(len(weight), dtype=bool)
    taken[medoids] = True
    return loops.best_swap(
        T, weight, taken, caches.near, caches.first, caches.after, caches.loss, np.empty(len(medoids))
    )


def _swap_gain(T: Array, weight: Array, medoids: Array) -> float:
    change = _best_swap(T, weight, medoids)[2]
    return float(change) if np.isfinite(change) else 0.0


def _alternate(T: Array, weight: Array, state: MedoidState) -> tuple[MedoidState, Report]:
    medoids = state.medoids.copy()
    loops.best_members(T, weight, state.labels, medoids)
    labels, cost = _assign(T, medoids, weight)
    done = np.array_equal(medoids, state.medoids)
    swaps = state.swaps + int((medoids != state.medoids).sum())
    return state._replace(medoids=medoids, labels=labels, cost=cost, swaps=swaps), Report(cost, done=done)


def _canonical(rows: Any) -> Array:
    """Return an order of the rows that only their values decide; for given distances, the order given."""
    if rows.vectors is None:
        return np.arange(rows.n_rows)
    vectors = MemoryRows(rows.vectors, None, rows.weight)
    return Sample(vectors.X, vectors.weight, frame_of(vectors)).order


def _drawn(T: Array, weight: Array, k: int, rng: np.random.Generator, kind: str, order: Array) -> Array:
    """Draw medoids one after the other, by cumulative weights in the given order."""
    medoids: list[int] = []
    nearest = np.full(len(weight), np.inf)
    for _ in range(k):
        mass = weight * (1.0 if kind != "k-medoids++" or not medoids else nearest)
        mass = np.where(nearest == 0, 0.0, mass) if medoids else mass
        mass[medoids] = 0.0
        if not mass.sum() > 0:
            mass = np.ones(len(weight))
            mass[medoids] = 0.0
        edges = np.cumsum(mass[order])
        count = 10 + int(np.ceil(np.sqrt(len(weight)))) if kind == "lab" else 1
        last = np.flatnonzero(mass[order] > 0)[-1]
        tries = order[np.minimum(np.searchsorted(edges, rng.random(count) * edges[-1], side="right"), last)]
        costs = [float(weight @ np.minimum(nearest, T[row])) for row in tries]
        row = int(tries[int(np.argmin(costs))])
        medoids.append(row)
        nearest = np.minimum(nearest, T[row])
    return np.array(medoids, dtype=np.int64)
