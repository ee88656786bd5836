"""K-representatives: any distance, with the center that minimizes it."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags

from gnomon.cluster.frame import frame_of
from gnomon.cluster.seeding import STARTS, Sample
from gnomon.core.decoding import check_shapes
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.quantiles import lower_medians
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import Reads
from gnomon.loops.distances import pairwise


def weighted_mean(X: Array, weight: Array) -> Array:
    """Return the weighted mean."""
    return weight @ X / weight.sum()


def direction(X: Array, weight: Array) -> Array | None:
    """Return the normalized mean of the rows' directions; None when they cancel."""
    length = np.sqrt((X * X).sum(axis=1, keepdims=True))
    mean = weighted_mean(X / np.where(length > 0, length, 1.0), weight)
    size = float(np.sqrt(mean @ mean))
    return mean / size if size > 1e-12 else None


def mode(X: Array, weight: Array) -> Array:
    """Return the heaviest value of every column; ties go to the lowest."""
    values = []
    for column in X.T:
        found, place = np.unique(column, return_inverse=True)
        mass = np.bincount(place, weight)
        values.append(found[np.flatnonzero(mass >= mass.max() * (1 - 1e-12))[0]])
    return np.array(values)


def divergence(X: Array, centers: Array) -> Array:
    """Return the relative entropies D(x‖center); 0·ln 0 is 0, mass where the center has none is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(X > 0, X * np.log(X), 0.0).sum(axis=1)
        logs = np.log(centers)
        cross = np.where(X[:, None] > 0, X[:, None] * logs, 0.0).sum(axis=2)
    return np.maximum(own[:, None] - cross, 0.0)


CENTERS = {
    "l1": lower_medians,
    "sqeuclidean": weighted_mean,
    "cosine": direction,
    "kl": weighted_mean,
    "hamming": mode,
}


class RepresentativeState(NamedTuple):
    """Centers and the rows assigned to them."""

    centers: Array
    labels: Array
    cost: float
    settled: bool


class KRepresentatives(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Learner):
    r"""K-means with another distance and its own center.

    Alternates :math:`c_i=\arg\min_kD(x_i,\mu_k)` and :math:`\mu_k=\arg\min_\mu\sum_{c_i=k}w_iD(x_i,\mu)`;
    both are exact, so the objective :math:`\sum_iw_iD(x_i,\mu_{c_i})` never rises.

    ===========  ===========================================
    distance     center
    ===========  ===========================================
    l1           median of every column (the lower one)
    sqeuclidean  mean
    cosine       normalized mean of directions
    kl           mean of the distributions
    hamming      most frequent value of every column
    ===========  ===========================================

    Parameters
    ----------
    n_clusters : int, default=8
    distance : str or callable, default="l1"
        One of the above, or ``distance(X, centers)`` that returns the (n, k) distances.
    center : "auto" or callable, default="auto"
        ``center(X, weight)`` that returns the best center; needed with a callable distance.
    init : str or array of shape (n_clusters, n_features), default="k-means++"
    n_init : int, default=1
    max_iter : int, default=300
    tol : float, default=0.0
        Stop when the objective changes by no more.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
    labels_ : array of shape (n_samples,)
    inertia_ : float

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0], [0, 1], [1, 0], [10, 10], [10, 12], [100, 10]])
    >>> model = KRepresentatives(2, init=X[[0, 3]]).fit(X)
    >>> model.cluster_centers_, model.inertia_
    (array([[ 0.,  0.],
           [10., 10.]]), 94.0)
    """

    _stop: ClassVar[str] = "self"
    _reads = Reads()
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "distance": [StrOptions(set(CENTERS)), callable],
        "center": [StrOptions({"auto"}), callable],
        "init": [StrOptions(set(STARTS)), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        distance: Any = "l1",
        center: Any = "auto",
        init: Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance = distance
        self.center = center
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _better(self, one: float, other: float) -> bool:
        return one < other - 1e-10 * abs(other)

    def _table(self, X: Array, centers: Array) -> Array:
        distance = getattr(self, "distance", "l1")
        if callable(distance):
            return np.asarray(distance(X, centers), dtype=np.float64)
        return divergence(X, centers) if distance == "kl" else pairwise(X, centers, distance)

    def _center(self) -> Any:
        distance, center = getattr(self, "distance", "l1"), getattr(self, "center", "auto")
        if callable(center):
            return center
        if callable(distance):
            raise DataError("a distance of your own needs its `center` function; without one, use KMedoids.")
        return CENTERS[distance]

    def _start(self, rows: Any, rng: np.random.Generator) -> RepresentativeState:
        self._center()
        if rows.n_rows < self.n_clusters:
            raise DataError(f"n_samples={rows.n_rows} should be >= n_clusters={self.n_clusters}.")
        if getattr(self, "distance", "l1") == "kl" and (rows.X < 0).any():
            raise DataError("distance='kl' needs rows that are distributions; X has negative entries.")
        if isinstance(self.init, str):
            sample = Sample(rows.X, rows.weight, frame_of(rows))
            centers = STARTS[self.init](sample, self.n_clusters, rng).centers
        else:
            centers = np.array(self.init, dtype=np.float64)
            if centers.shape != (self.n_clusters, rows.n_features):
                raise DataError(f"The shape of the initial centers {centers.shape} does not match.")
        return self._assigned(rows, centers, None)

    def _assigned(self, rows: Any, centers: Array, before: Array | None) -> RepresentativeState:
        D = self._table(rows.X, centers)
        labels = D.argmin(axis=1)
        cost = float(rows.weight @ np.where(np.isfinite(D.min(axis=1)), D.min(axis=1), 1e300))
        return RepresentativeState(
            centers, labels, cost, before is not None and bool((labels == before).all())
        )

    def _step(self, rows: Any, state: RepresentativeState) -> tuple[RepresentativeState, Report]:
        if state.settled:
            return state, Report(state.cost, done=True)
        centers, middle = state.centers.copy(), self._center()
        for k in range(len(centers)):
            mine = (state.labels == k) & (rows.weight > 0)
            found = (
                middle(np.asarray(rows.X[mine], dtype=np.float64), rows.weight[mine]) if mine.any() else None
            )
            centers[k] = centers[k] if found is None else found
        fresh = self._assigned(rows, centers, state.labels)
        done = 0 <= state.cost - fresh.cost <= self.tol and self.tol > 0
        return fresh, Report(fresh.cost, done=done)

    def _attributes(self, state: RepresentativeState) -> dict[str, Any]:
        return {"cluster_centers_": state.centers, "labels_": state.labels, "inertia_": state.cost}

    def transform(self, X: Any) -> Array:
        """Return the distance of every row to every center."""
        return self._table(self._rows(X).X, self.cluster_centers_)

    def _check_loaded(self) -> None:
        if "cluster_centers_" in vars(self):
            check_shapes(self, {"cluster_centers_": (len(self.cluster_centers_), self.n_features_in_)})

    def predict(self, X: Any) -> Array:
        """Return the nearest center of every row."""
        return self.transform(X).argmin(axis=1)


class KMedians(KRepresentatives):
    """K-medians: `KRepresentatives` with the l1 distance and coordinate-wise medians.

    Less moved by outliers than k-means.

    Parameters
    ----------
    n_clusters, init, n_init, max_iter, tol, random_state
        As in `KRepresentatives`.

    Examples
    --------
    >>> import numpy as np
    >>> KMedians(1).fit(np.array([[0.0], [1.0], [100.0]])).cluster_centers_
    array([[1.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: rule
        for name, rule in KRepresentatives._parameter_constraints.items()
        if name not in ("distance", "center")
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
