"""Mini-batch k-means: centers that move after every few rows."""

from __future__ import annotations

from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags

from gnomon.cluster import lloyd, seeding
from gnomon.cluster.centers import distances_to, nearest_labels, negative_cost
from gnomon.cluster.frame import Frame, frame_of
from gnomon.cluster.sparse_rows import dense
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed, stream
from gnomon.core.rows import Chunk
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import per_row, total
from gnomon.core.validate import Reads, check_fitted, warn
from gnomon.loops import kmeans_few

LONGEST = 200  # passes in one call


class BatchState(NamedTuple):
    """Centers, how much each has seen, and the smoothed cost."""

    centers: Array
    counts: Array
    labels: Array
    cost: float
    smooth: float  # exponentially weighted cost per row
    best: float  # its smallest value so far
    idle: int  # batches since then
    batches: int
    seed: int


class BatchWork:
    """The workspace: the rows, the unit they are measured in, and the order in which batches are drawn."""

    def __init__(self, rows: Any) -> None:
        self.rows, self.frame, self.X = rows, frame_of(rows), lloyd.plain(rows.X)

    @cached_property
    def canonical(self) -> tuple[Array, Array]:
        """Return the rows in canonical order and their cumulative weights."""
        weight = self.rows.weight
        order = seeding.Sample(self.rows.X, weight, self.frame).order
        edges, counted = np.cumsum(weight[order]), _rows_counted(weight)
        return order, edges if counted == edges[-1] else edges * (counted / edges[-1])


class MiniBatchKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Learner):
    r"""K-means on small random batches.

    Each batch is assigned to the current centers, and every center moves to the mean of all rows it has been
    given so far, :math:`\mu_k \leftarrow \mu_k + \frac{1}{N_k}\sum (x - \mu_k)`. Reaches a cost a few percent
    above `KMeans` after looking at a fraction of the rows; use `KMeans` when the last percent counts.

    Parameters
    ----------
    n_clusters : int, default=8
    init : str or array, default="k-means++"
        As in `KMeans`; drawn from `init_size` rows.
    max_iter : int, default=100
        Passes over as many rows as the data have.
    batch_size : int, default=1024
    verbose, compute_labels
        As in scikit-learn.
    random_state : int, RandomState, Generator or None
    tol : float, default=0.0
        Stop when a pass moves the centers, squared, by at most this share of the mean variance.
    max_no_improvement : int or None, default=10
        Stop after so many batches without a smaller smoothed cost.
    init_size : int, optional
        Rows to seed from, at least `n_clusters`; ``3 * batch_size`` and at least ``3 * n_clusters`` by default.
    n_init : int or "auto", default="auto"
        Starts; the best at seeding is kept.
    reassignment_ratio : float, default=0.01
        A center that has been given fewer rows than this share of the largest is moved to a random row.

    Attributes
    ----------
    cluster_centers_, labels_, inertia_, n_iter_, n_steps_, counts_, trace_
        As in `KMeans`; `n_steps_` counts batches.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[0.0], [10.0]], 50, axis=0)
    >>> np.sort(MiniBatchKMeans(2, random_state=0).fit(X).cluster_centers_.ravel())
    array([ 0., 10.])
    """

    _stop: ClassVar[str] = "self"
    _monotone: ClassVar[bool] = False  # the smoothed cost of random batches may rise
    _reads = Reads(sparse=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions(set(seeding.STARTS)), callable, "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
        "compute_labels": ["boolean"],
        "random_state": ["random_state", np.random.Generator],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_no_improvement": [Interval(Integral, 0, None, closed="left"), None],
        "init_size": [Interval(Integral, 1, None, closed="left"), None],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "reassignment_ratio": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        max_iter: int = 100,
        batch_size: int = 1024,
        verbose: int = 0,
        compute_labels: bool = True,
        random_state: Any = None,
        tol: float = 0.0,
        max_no_improvement: int | None = 10,
        init_size: int | None = None,
        n_init: int | str = "auto",
        reassignment_ratio: float = 0.01,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _starts(self) -> int:
        return 1

    def _prepare(self, rows: Any) -> BatchWork:
        return BatchWork(rows)

    def _start(self, work: BatchWork, rng: np.random.Generator) -> BatchState:
        rows = work.rows
        if rows.n_rows < self.n_clusters:
            raise DataError(f"n_samples={rows.n_rows} should be >= n_clusters={self.n_clusters}.")
        centers = self._seeds(rows, work.frame, rng)
        state = BatchState(
            centers, np.zeros(len(centers)), np.zeros(0, int), 0.0, np.inf, np.inf, 0, 0, draw_seed(rng)
        )
        return state._replace(labels=np.zeros(rows.n_rows, dtype=np.int32))

    def _seeds(self, rows: Any, frame: Frame, rng: np.random.Generator) -> Array:
        if not isinstance(self.init, str):
            init = self.init
            if callable(init):
                random_state = np.random.RandomState(draw_seed(rng) % 2**32)
                init = init(rows.X, self.n_clusters, random_state=random_state)
            return seeding.given(rows, frame, init, self.n_clusters).centers
        whole = seeding.Sample(rows.X, rows.weight, frame)
        size = self._seeding_rows()
        if size < _rows_counted(rows.weight):
            chosen = whole.pick(rows.weight, rng.random(size))
            whole = seeding.Sample(rows.X[chosen], np.ones(size), frame)
        tries = (
            3
            if self.n_init == "auto" and self.init != "k-means++"
            else 1
            if self.n_init == "auto"
            else self.n_init
        )
        found = [seeding.STARTS[self.init](whole, self.n_clusters, rng).centers for _ in range(int(tries))]
        chunk = Chunk(whole.X, None, whole.weight, 0)
        return max(found, key=lambda centers: negative_cost(chunk, centers)) if tries != 1 else found[0]

    def _seeding_rows(self) -> int:
        if self.init_size is None:
            return max(3 * self.batch_size, 3 * self.n_clusters)
        if self.init_size < self.n_clusters:
            enough = 3 * self.n_clusters
            warn(
                f"init_size={self.init_size} should be at least n_clusters={self.n_clusters}; taking {enough}.",
                RuntimeWarning,
            )
            return enough
        return self.init_size

    def _step(self, work: BatchWork, state: BatchState) -> tuple[BatchState, Report]:
        """One pass: as many batches as make up the data."""
        rows, frame, (order, edges) = work.rows, work.frame, work.canonical
        rng = stream(state.seed, state.batches)
        before, done, last = state.centers, False, np.searchsorted(edges, edges[-1])
        size = int(np.ceil(min(self.batch_size, edges[-1])))  # weights count rows
        for _ in range(int(np.ceil(edges[-1] / size))):
            chosen = order[
                np.minimum(np.searchsorted(edges, rng.random(size) * edges[-1], side="right"), last)
            ]
            state = self._batch(rows.X[chosen], frame, state, rng)
            if self.max_no_improvement is not None and state.idle >= self.max_no_improvement:
                done = True
                break
        shift = float((((state.centers - before) * frame.scale) ** 2).sum())
        done = done or (self.tol > 0 and shift <= self.tol * frame.variance)
        return state, Report(state.smooth * float(rows.weight.sum()), done=done, change=shift)

    def _stretch(self, work: BatchWork, state: BatchState, most: int) -> tuple[BatchState, Any]:
        """Passes over few dense rows in one compiled call, with the numbers of single ones."""
        rows, frame, (order, edges) = work.rows, work.frame, work.canonical
        if (
            rows.sparse
            or self.batch_size < edges[-1]
            or rows.X.size * len(state.centers) > lloyd.FEW_PRODUCTS
        ):
            return self._step(work, state)
        patience = np.inf if self.max_no_improvement is None else float(self.max_no_improvement)
        centers, counts, costs = state.centers.copy(), state.counts.copy(), np.empty(min(most, LONGEST))
        before = (float(state.smooth), float(state.best), state.idle)
        still = float(self.tol * frame.variance) if self.tol > 0 else -1.0
        limits = float(self.reassignment_ratio), still, patience
        made, smooth, best, idle, shift = kmeans_few.pass_in_batches(
            work.X,
            order,
            edges,
            state.seed,
            state.batches,
            frame.scale,
            *limits,
            before,
            centers,
            counts,
            costs,
        )
        if made == 0:  # a center has to be moved
            return self._step(work, state)
        done = idle >= patience or shift <= still
        weight = float(rows.weight.sum())
        reports = [Report(cost * weight) for cost in costs[:made].tolist()]
        reports[-1] = reports[-1]._replace(done=bool(done), change=shift)
        batches = state.batches + made
        numbers = {"smooth": smooth, "best": best, "idle": int(idle), "batches": batches}
        return state._replace(centers=centers, counts=counts, **numbers), reports

    def _batch(self, X: Array, frame: Frame, state: BatchState, rng: np.random.Generator) -> BatchState:
        """Assign a batch and move the centers."""
        n = X.shape[0]
        chunk = Chunk(X, None, np.ones(n), 0)
        if sparse.issparse(X):
            found = lloyd.assignment_sums(chunk, state.centers, frame, False)
        else:
            found, _ = lloyd.batch_sums(chunk, state.centers, frame)
        counts = state.counts + found.counts
        centers = state.centers + found.sums / np.where(counts > 0, counts, 1.0)[:, None]
        if self.reassignment_ratio > 0 and (state.batches + 1) % 10 == 0:
            poor = np.flatnonzero(counts < self.reassignment_ratio * counts.max())[: n // 2]
            centers[poor] = dense(X[rng.permutation(n)[: len(poor)]])
            counts[poor] = counts[counts > 0].min() if len(poor) else 0
        cost = found.cost / n
        smooth = cost if not np.isfinite(state.smooth) else 0.9 * state.smooth + 0.1 * cost
        better = smooth < state.best
        return state._replace(
            centers=centers,
            counts=counts,
            smooth=smooth,
            best=min(smooth, state.best),
            idle=0 if better else state.idle + 1,
            batches=state.batches + 1,
        )

    def _labeled(self, rows: Any, state: BatchState) -> BatchState:
        labels = per_row(nearest_labels, rows, state.centers)
        return state._replace(labels=labels, cost=-float(total(negative_cost, rows, state.centers)))

    def _finish(self, work: BatchWork, state: BatchState) -> BatchState:
        return self._labeled(work.rows, state) if self.compute_labels else state._replace(cost=state.smooth)

    def _attributes(self, state: BatchState) -> dict[str, Any]:
        found = {
            "cluster_centers_": state.centers,
            "counts_": state.counts,
            "inertia_": float(state.cost),
            "n_steps_": state.batches,
        }
        return {**found, "labels_": state.labels} if self.compute_labels else found

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MiniBatchKMeans:
        """Move the centers by one batch of rows; the first call draws the seeds from it."""
        first = not hasattr(self, "counts_")
        rows = self._read(X, None, sample_weight, reset=first)
        frame = frame_of(rows)
        if first:
            from gnomon.core.randomness import generator

            if rows.n_rows < self.n_clusters:
                raise DataError(f"n_samples={rows.n_rows} should be >= n_clusters={self.n_clusters}.")
            centers = self._seeds(rows, frame, generator(self.random_state))
            self._adopt({"cluster_centers_": centers, "counts_": np.zeros(len(centers)), "n_steps_": 0}, rows)
        found = total(lloyd.assignment_sums, rows, self.cluster_centers_, frame, False)
        self.counts_ = self.counts_ + found.counts
        self.cluster_centers_ = (
            self.cluster_centers_ + found.sums / np.where(self.counts_ > 0, self.counts_, 1.0)[:, None]
        )
        self.n_steps_ += 1
        if self.compute_labels:
            self.labels_ = per_row(nearest_labels, rows, self.cluster_centers_)
        self.inertia_ = float(found.cost)
        return self

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def predict(self, X: Any) -> Array:
        """Return the nearest center of every row."""
        return per_row(nearest_labels, self._rows(X), self.cluster_centers_)

    def transform(self, X: Any) -> Array:
        """Return the distance of every row to every center."""
        return per_row(distances_to, self._rows(X), self.cluster_centers_)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the objective on these rows."""
        check_fitted(self)
        return float(
            total(negative_cost, self._read(X, None, sample_weight, reset=False), self.cluster_centers_)
        )


def _rows_counted(weight: Array) -> float:
    """Return how many rows the weights stand for: their sum where all are whole, else as many as have some."""
    whole = np.array_equal(weight, np.floor(weight))
    return float(weight.sum()) if whole else float(np.count_nonzero(weight))
