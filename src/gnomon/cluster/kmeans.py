"""K-means: k centers that minimize the squared distance of every row to its own."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from gnomon.cluster import lloyd, seeding
from gnomon.cluster.bounds import LloydWork
from gnomon.cluster.centers import (
    ClusterSums,
    KMeansState,
    carried,
    cluster_sums,
    column,
    distances_to,
    movement,
    nearest_labels,
    negative_cost,
    new_centers,
    relocate,
    state_of,
    without,
)
from gnomon.cluster.frame import frame_of
from gnomon.cluster.optimal import optimal_1d
from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed
from gnomon.core.steps import Learner, Report, Run
from gnomon.core.sums import per_row, total
from gnomon.core.validate import Reads, check_fitted, warn


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Learner):
    r"""K-means clustering.

    .. math:: \min_{c, \mu} \sum_i w_i \lVert x_i - \mu_{c_i} \rVert^2

    Alternates two exact minimizations: every row goes to its nearest center (ties to the lower index), every
    center to the mean of its rows. The joint problem is NP-hard; the objective never rises and the run
    ends after finitely many steps at a local optimum, so the start matters: seeds of k-means++ cost at most
    :math:`8(\ln k + 2)` times the optimum in expectation, and `n_init` starts keep the best.

    Good for round clusters of similar size on columns of one scale. Use `GaussianMixture` for elongated or
    overlapping clusters, `KMedoids` for other distances, `SpectralClustering` for shapes that are not convex.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of centers.
    init : str, array or callable, default="k-means++"
        "k-means++"; "random" (k distinct rows); "random_partition" (means of random labels); "farthest"
        (farthest-first); "k-means-parallel" (k-means||); an array (k, d) of centers; a vector of n labels; or
        a function ``init(X, n_clusters, random_state)`` that returns centers.
    n_init : int or "auto", default="auto"
        Starts; "auto" is 10 for the random ones and 1 else.
    max_iter : int, default=300
        Iterations at most.
    tol : float, default=1e-4
        Stop when the squared movement of the centers is at most `tol` times the mean variance of the columns.
        With 0 the run ends when no label changes.
    verbose : int, default=0
        Above 0 a line is printed after every step.
    random_state : int, RandomState, Generator or None
        Where the randomness comes from. The order of the rows does not matter to it.
    copy_x : bool, default=True
        Kept for scikit-learn; X is never written to.
    algorithm : str, default="auto"
        "lloyd" (no bounds), "hamerly" (one bound a row), "yinyang" (a bound for each group of centers),
        "elkan" (a bound for each center): the same iterates at different speed. "optimal_1d": the global
        optimum for a single column, by dynamic programming.
    n_local_trials : int, optional
        Draws per seed of k-means++; 1 is the plain rule.
    empty_cluster : {"farthest", "drop", "error"}, default="farthest"
        A cluster without rows takes the row of largest cost, is removed, or is an error.
    missing : {"error", "ignore"}, default="error"
        "ignore": cost, assignment and means over the present entries only.

    Attributes
    ----------
    cluster_centers_ : array of shape (k, n_features)
    labels_ : array of shape (n_samples,)
        The nearest center of every row.
    inertia_ : float
        The objective.
    n_iter_ : int
        Iterations, counted as scikit-learn does.
    n_clusters_ : int
        Centers left after ``empty_cluster="drop"``.
    half_steps_ : array of shape (steps, 2)
        Cost after the assignment and after the means, for each iteration that moved something.
    restarts_ : array of shape (n_init,)
        Final objective of every start.
    init_trace_ : dict
        The rows chosen as seeds and the cost after each.
    trace_ : Trace
        The objective after every iteration.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> model = KMeans(2, init=np.array([[0.0], [12.0]])).fit(X)
    >>> model.cluster_centers_.ravel(), model.inertia_, model.n_iter_
    (array([ 1., 11.]), 4.0, 2)
    >>> model.half_steps_
    array([[10.,  4.]])
    """

    _stop: ClassVar[str] = "self"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions(set(seeding.STARTS)), callable, "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state", np.random.Generator],
        "copy_x": ["boolean"],
        "algorithm": [StrOptions({"auto", "lloyd", "hamerly", "yinyang", "elkan", "optimal_1d"})],
        "n_local_trials": [Interval(Integral, 1, None, closed="left"), None],
        "empty_cluster": [StrOptions({"farthest", "drop", "error"})],
        "missing": [StrOptions({"error", "ignore"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
        copy_x: bool = True,
        algorithm: str = "auto",
        n_local_trials: int | None = None,
        empty_cluster: str = "farthest",
        missing: str = "error",
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.n_local_trials = n_local_trials
        self.empty_cluster = empty_cluster
        self.missing = missing

    @property
    def _reads(self) -> Reads:  # type: ignore[override]
        nan, plane = self.missing == "ignore", self.algorithm != "optimal_1d"
        return Reads(nan=nan, sparse=plane and not nan, scales=plane)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # the three hooks

    def _prepare(self, rows: Any) -> LloydWork:
        return LloydWork(rows, self.missing == "ignore")

    def _start(self, work: LloydWork, rng: np.random.Generator) -> KMeansState:
        rows = work.rows
        if rows.n_rows < self.n_clusters:
            raise DataError(
                f"n_samples={rows.n_rows} should be >= n_clusters={self.n_clusters}: "
                "each cluster needs a row. Lower n_clusters."
            )
        seeds = self._seeds(work, rng)
        labels = np.zeros(rows.n_rows if rows.in_memory else 0, dtype=np.int32)
        state = self._assign(work, seeds.centers, labels)
        return state._replace(
            seed_rows=seeds.rows,
            seed_costs=seeds.costs,
            settled=self.algorithm == "optimal_1d",
            restarts=np.array(work.restarts),
        )

    def _step(self, work: LloydWork, state: KMeansState) -> tuple[KMeansState, Report]:
        if state.settled:
            return state, Report(state.cost, done=True, change=0.0)
        rows, frame = work.rows, work.frame
        ready = self._fill_empty(work, state)
        centers = new_centers(ready)
        shift = movement(state.centers, centers, frame.scale)
        gain = float((column(ready.counts) * (centers - ready.centers) ** 2).sum())
        carries = ready is state and rows.in_memory and not rows.sparse and self.missing == "error"
        known = carried(state, centers, frame.scale) if carries else None
        fresh = self._assign(work, centers, ready.labels, ready.centers, known)
        row = [
            state.cost,
            max(ready.cost - gain, fresh.cost),
        ]  # the difference rounds; the cost cannot have risen
        fresh = fresh._replace(
            half_steps=np.vstack([state.half_steps, row]),
            seed_rows=state.seed_rows,
            seed_costs=state.seed_costs,
            restarts=state.restarts,
            settled=ready is state
            and (fresh.changed == state.changed if not rows.in_memory else fresh.changed == 0),
        )
        done = shift <= self.tol * frame.variance
        return fresh, Report(fresh.cost, done=done, change=shift)

    def _attributes(self, state: KMeansState) -> dict[str, Any]:
        return {
            "cluster_centers_": state.centers,
            "labels_": state.labels,
            "inertia_": float(state.cost),
            "counts_": state.counts if state.counts.ndim == 1 else state.counts.max(axis=1),
            "n_clusters_": len(state.centers),
            "half_steps_": state.half_steps,
            "restarts_": state.restarts if len(state.restarts) else np.array([state.cost]),
            "init_trace_": {"rows": state.seed_rows, "costs": state.seed_costs},
        }

    def _finish(self, work: LloydWork, state: KMeansState) -> KMeansState:
        found = int((column(state.counts).max(axis=1) > 0).sum())
        if found < len(state.centers):
            warn(
                f"Number of distinct clusters ({found}) found smaller than n_clusters ({self.n_clusters}). "
                "Possibly due to duplicate points in X; lower n_clusters.",
                ConvergenceWarning,
            )
        if not work.rows.in_memory:
            state = state._replace(labels=per_row(nearest_labels, work.rows, state.centers))
        return state._replace(restarts=np.array(work.restarts))

    # how the hooks do it

    def _assign(
        self,
        work: LloydWork,
        centers: Array,
        labels: Array,
        before: Array | None = None,
        known: lloyd.Known | None = None,
    ) -> KMeansState:
        """Return the state of these centers: every row at its nearest."""
        if work.rows.in_memory:
            labels = labels.copy()
            found = work.assign(centers, labels, self._bounds(len(centers)), before, known)
        else:
            found = total(lloyd.assignment_sums, work.rows, centers, work.frame, work.missing)
        return state_of(centers, labels, found, known)

    def _bounds(self, k: int) -> int:
        """Return how many groups of bounds a row keeps."""
        auto = 1 if k <= 64 else 2  # measured: more groups spare less than they cost
        return {"lloyd": 0, "hamerly": 1, "yinyang": max(1, k // 10), "elkan": k}.get(self.algorithm, auto)

    def _fill_empty(self, work: LloydWork, state: KMeansState) -> KMeansState:
        """Apply the rule for clusters without rows."""
        if state.counts.ndim == 1 and state.counts.all():
            return state
        empty = np.flatnonzero(column(state.counts).max(axis=1) <= 0)
        if not len(empty):
            return state
        if self.empty_cluster == "error":
            raise DegenerateError(
                f"cluster {empty[0]} has no rows; use another start or empty_cluster='farthest'."
            )
        if self.empty_cluster == "drop":
            return without(state, empty)
        far = total(lloyd.farthest_rows, work.rows, state.centers, work.frame, 2 * len(empty))
        moved = relocate(state, empty, far, work.frame.scale)
        return state if moved.cost == state.cost else moved

    def _starts(self) -> int:
        if self.algorithm == "optimal_1d" or not (isinstance(self.init, str) or callable(self.init)):
            return 1
        random = callable(self.init) or self.init in ("random", "random_partition")
        return (10 if random else 1) if self.n_init == "auto" else int(self.n_init)

    def _seeds(self, work: LloydWork, rng: np.random.Generator) -> seeding.Seeds:
        """Return the centers to start from."""
        rows, frame = work.rows, work.frame
        if self.algorithm == "optimal_1d":
            return self._optimum(rows)
        if isinstance(self.init, str):
            options = {"trials": self.n_local_trials} if self.init == "k-means++" else {}
            return seeding.STARTS[self.init](work.sample, self.n_clusters, rng, **options)
        if callable(self.init):
            if not rows.in_memory:
                raise DataError(
                    "init as a function needs the data in memory; give an array of centers instead."
                )
            random_state = np.random.RandomState(draw_seed(rng) % 2**32)
            init = self.init(rows.X, self.n_clusters, random_state=random_state)
            return seeding.given(rows, frame, init, self.n_clusters)
        return seeding.given(rows, frame, self.init, self.n_clusters)

    def _optimum(self, rows: Any) -> seeding.Seeds:
        if rows.n_features != 1:
            raise DataError(f"algorithm='optimal_1d' needs a single column; X has {rows.n_features}.")
        centers = optimal_1d(rows.X[:, 0], rows.weight, self.n_clusters)[:, None]
        return seeding.Seeds(centers, np.full(len(centers), -1), np.zeros(0))

    def _run(self, data: Any, work: Any, watch: Any, position: Any) -> Run:
        run = super()._run(data, work, watch, position)
        work.restarts = [*run.state.restarts, run.objective()]
        return run

    def _better(self, one: float, other: float) -> bool:
        return one < other - 1e-10 * abs(other)  # rounding decides nothing: ties go to the earlier start

    # what a fitted model does

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit and return the label of every row."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X: Any) -> Array:
        """Return the nearest center of every row; ties go to the lower index."""
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

    def sufficient_statistics(self, X: Any, sample_weight: Any = None) -> ClusterSums:
        """Return Σw, Σwx and Σw‖x‖² of every cluster of these rows; the sums of blocks of rows add up."""
        check_fitted(self)
        return total(cluster_sums, self._read(X, None, sample_weight, reset=False), self.cluster_centers_)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KMeans:
        """Move the centers to the means of all rows seen so far, each counted where it was nearest then."""
        if not hasattr(self, "counts_"):
            return self.fit(X, sample_weight=sample_weight)
        rows = self._read(X, None, sample_weight, reset=False)
        frame = frame_of(rows)
        found = total(lloyd.assignment_sums, rows, self.cluster_centers_, frame, False)
        counts = self.counts_ + found.counts
        self.cluster_centers_ = (
            self.cluster_centers_ + found.sums / np.where(counts > 0, counts, 1.0)[:, None]
        )
        self.counts_ = counts
        self.labels_ = per_row(nearest_labels, rows, self.cluster_centers_)
        self.inertia_ = -float(total(negative_cost, rows, self.cluster_centers_))
        self.n_iter_ += 1
        return self

    def plot(self, X: Any = None, ax: Any = None) -> Any:
        """Draw the cells of the centers, and the rows of X in the colors of their clusters (two columns)."""
        from gnomon.plot.cluster import voronoi

        return voronoi(self, X, ax=ax)
