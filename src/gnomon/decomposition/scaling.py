"""Multidimensional scaling by majorization: points whose distances come as near as can be."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import linalg
from scipy.spatial.distance import pdist, squareform
from sklearn.isotonic import isotonic_regression
from sklearn.utils import Tags

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array, symmetric_eigen
from gnomon.core.parameters import StrOptions
from gnomon.core.steps import Learner, Report
from gnomon.core.validate import COUNT, NOT_NEGATIVE, Reads
from gnomon.decomposition.classical import distances, double_centered


class ScalingState(NamedTuple):
    """Points, their stress, and the distances they are to have."""

    Z: Array
    stress: float
    D: Array


class ScalingWork(NamedTuple):
    """Distances, weights of the pairs, and the inverse that weighted steps need."""

    D: Array
    weights: Array | None
    inverse: Array | None
    given: Any  # points to start from


class MDS(Learner):
    r"""Metric and non-metric multidimensional scaling by majorization (SMACOF; de Leeuw 1977).

    .. math:: \min_Z \sum_{i<j} w_{ij} \bigl(\delta_{ij} - \lVert z_i - z_j \rVert\bigr)^2

    Every step minimizes a quadratic that lies above the stress and touches it, so the stress never rises. Non-metric
    scaling replaces distances by the nearest numbers in the same order. The result is a local optimum; the classical
    start makes it a good one and the same one every time.

    Parameters
    ----------
    n_components : int, default=2
    metric_mds : bool, default=True
        False keeps the order of the distances only.
    n_init : int, default=1
        Random starts.
    init : {"classical_mds", "random"} or array of shape (n, K)
    max_iter : int, default=300
    verbose, n_jobs
        Kept for scikit-learn.
    eps : float, default=1e-6
        Stop when the stress falls by less than this share of it.
    random_state : int, RandomState, Generator or None
    metric, metric_params
        As in `ClassicalMDS`.
    normalized_stress : bool or "auto"
        Whether `stress_` is Kruskal's stress-1; "auto" for non-metric scaling.
    weights : array of shape (n, n), optional
        Weights of the pairs; 0 where a distance is unknown.

    Attributes
    ----------
    embedding_ : array of shape (n, K)
    stress_ : float
    dissimilarity_matrix_ : array of shape (n, n)
    n_iter_ : int
    trace_ : Trace
        The raw stress after every step (of pairs counted once).

    Examples
    --------
    >>> D = np.array([[0, 3, 5, 4], [3, 0, 4, 5], [5, 4, 0, 3], [4, 5, 3, 0.0]])
    >>> model = MDS(metric="precomputed").fit(D)
    >>> round(model.stress_, 6)
    0.0
    """

    _stop: ClassVar[str] = "self"
    _monotone: ClassVar[bool] = False
    _reads = Reads()
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT],
        "metric_mds": ["boolean"],
        "n_init": [COUNT],
        "init": [StrOptions({"random", "classical_mds"}), "array-like"],
        "max_iter": [COUNT],
        "verbose": ["verbose"],
        "eps": [NOT_NEGATIVE],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "metric": [str, callable],
        "metric_params": [dict, None],
        "normalized_stress": ["boolean", StrOptions({"auto"})],
        "weights": ["array-like", None],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric_mds: bool = True,
        n_init: int = 1,
        init: Any = "classical_mds",
        max_iter: int = 300,
        verbose: int = 0,
        eps: float = 1e-6,
        n_jobs: int | None = None,
        random_state: Any = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        normalized_stress: Any = "auto",
        weights: Any = None,
    ) -> None:
        self.n_components = n_components
        self.metric_mds = metric_mds
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.verbose = verbose
        self.eps = eps
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.metric = metric
        self.metric_params = metric_params
        self.normalized_stress = normalized_stress
        self.weights = weights

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def fit(self, X: Any, y: Any = None, init: Any = None) -> Any:
        """Compute the embedding of the rows of X, or of a matrix of distances; `init` are points to start from."""
        return self._learn(self._data(X, init), X=X)

    def iterate(self, X: Any, y: Any = None, init: Any = None) -> Iterator[Self]:
        """Yield a fitted copy of the model at the start and after every step; arguments are those of `fit`."""
        yield from self._iterate(self._data(X, init))

    def _data(self, X: Any, init: Any) -> Any:
        rows = self._read(X)
        rows.given = init  # before the fit: part of what its data are
        return rows

    def fit_transform(self, X: Any, y: Any = None, init: Any = None) -> Array:
        """Fit, and return the embedding."""
        return self.fit(X, init=init).embedding_

    def _prepare(self, rows: Any) -> ScalingWork:
        D = distances(rows.X, self.metric, self.metric_params)
        if not np.isfinite((D**2).sum()):
            raise DataError("X has entries so large that squared distances overflow; scale its columns.")
        given = rows.given
        if given is None and not isinstance(self.init, str):
            given = self.init
        if self.weights is None:
            return ScalingWork(D, None, None, given)
        w = np.asarray(self.weights, dtype=np.float64)
        if w.shape != D.shape or (w < 0).any() or not np.allclose(w, w.T):
            raise DataError(
                f"weights must be a symmetric matrix of shape {D.shape} without negative entries."
            )
        w = np.where(np.eye(len(w), dtype=bool), 0.0, w)
        V = np.diag(w.sum(axis=1)) - w
        ones = np.ones_like(V) / len(V)
        return ScalingWork(D, w, linalg.pinvh(V + ones) - ones, given)

    def _starts(self) -> int:
        fixed = not isinstance(self.init, str) or self.init == "classical_mds"
        return 1 if fixed else int(self.n_init)

    def _start(self, work: ScalingWork, rng: np.random.Generator) -> ScalingState:
        n, K = len(work.D), int(self.n_components)
        if work.given is not None:
            Z = np.array(work.given, dtype=np.float64)
            if Z.shape != (n, K):
                raise DataError(f"init matrix should be of shape ({n}, {K}); its shape is {Z.shape}.")
        elif self.init == "classical_mds":
            B, _ = double_centered(work.D)
            m = min(K, n)
            values, vectors = symmetric_eigen(B, m)
            Z = np.zeros((n, K))
            Z[:, :m] = vectors * np.sqrt(np.maximum(values, 0.0))
        else:
            Z = rng.uniform(size=(n, K)) * float(work.D.mean() or 1.0)
        return ScalingState(Z, np.inf, work.D)

    def _step(self, work: ScalingWork, state: ScalingState) -> tuple[ScalingState, Report]:
        D, w, n = work.D, work.weights, len(work.D)
        d = squareform(pdist(state.Z)) if n > 1 else np.zeros((1, 1))
        targets = D if self.metric_mds else disparities(D, d)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(d > 0, targets / np.where(d > 0, d, 1.0), 0.0)
        if w is not None:
            ratio = ratio * w
        B = -ratio
        B[np.diag_indices(n)] += ratio.sum(axis=1)
        Z = B @ state.Z
        Z = Z / n if w is None else work.inverse @ Z
        d = squareform(pdist(Z)) if n > 1 else np.zeros((1, 1))
        square = (d - targets) ** 2 if w is None else w * (d - targets) ** 2
        stress = 0.5 * float(square.sum())
        size = float((d**2).sum() if w is None else (w * d**2).sum()) / 2.0
        change = (state.stress - stress) / max(size, 1e-300)
        done = np.isfinite(state.stress) and change < self.eps
        return ScalingState(Z, stress, D), Report(stress, done=bool(done), change=change)

    def _attributes(self, state: ScalingState) -> dict[str, Any]:
        normalized = self.normalized_stress is True or (
            self.normalized_stress == "auto" and not self.metric_mds
        )
        stress = state.stress
        if normalized and np.isfinite(stress) and len(state.Z) > 1:
            stress = float(np.sqrt(stress / max(float((pdist(state.Z) ** 2).sum()), 1e-300)))
        return {"embedding_": state.Z, "stress_": float(stress), "dissimilarity_matrix_": state.D}


def disparities(D: Array, d: Array) -> Array:
    """The numbers nearest to d that are ordered like D, scaled to the same sum of squares as before."""
    n = len(D)
    upper = np.triu_indices(n, 1)
    x, y = D[upper], d[upper]
    order = np.lexsort((y, x))
    fitted = np.empty_like(y)
    fitted[order] = isotonic_regression(y[order])
    fitted *= np.sqrt(len(y) / max(float((fitted**2).sum()), 1e-300))
    out = np.zeros_like(d)
    out[upper] = fitted
    return out + out.T
