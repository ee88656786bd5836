"""Multidimensional scaling: points from distances."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.isotonic import isotonic_regression
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array, fix_signs
from gnomon.core.steps import Learner, OneStep, Report
from gnomon.core.validate import COUNT, NOT_NEGATIVE, Reads, check_fitted

CORRECTIONS = ("additive", "sqrt")


def distances(X: Array, metric: Any, params: dict[str, Any] | None) -> Array:
    """The matrix of distances between rows, or X itself where it is one."""
    if isinstance(metric, str) and metric == "precomputed":
        return checked_distances(X)
    return squareform(pdist(np.asarray(X, dtype=np.float64), metric, **(params or {})))


def checked_distances(D: Array) -> Array:
    """A square symmetric matrix without negative entries, zero on its diagonal."""
    D = np.asarray(D, dtype=np.float64)
    if D.shape[0] != D.shape[1]:
        raise DataError(
            f"X must be a square matrix of distances with metric='precomputed'; its shape is {D.shape}."
        )
    size = float(D.max(initial=0.0))
    if D.min(initial=0.0) < 0:
        raise DataError(f"X must hold distances, and one is negative: {D.min():.3g}.")
    if np.abs(D - D.T).max(initial=0.0) > 1e-8 * max(size, 1e-300):
        raise DataError("Array must be symmetric: take (X + X.T) / 2 of the distances X.")
    if np.abs(D.diagonal()).max(initial=0.0) > 1e-8 * size:
        raise DataError("X must have zeros on its diagonal: every row is at distance 0 from itself.")
    return (D + D.T) / 2.0


def double_centered(D: Array) -> tuple[Array, Array]:
    """B = −½ H D² H and the column means of D²."""
    squares = D**2
    means = squares.mean(axis=0)
    return -0.5 * (squares - means - means[:, None] + means.mean()), means


def additive_constant(D: Array) -> float:
    """The smallest constant that makes distances plus it Euclidean (Cailliez 1983)."""
    n = len(D)
    B, _ = double_centered(D)
    A = D - D.mean(axis=0) - D.mean(axis=1)[:, None] + D.mean()
    block = np.block([[np.zeros((n, n)), 2.0 * B], [-np.eye(n), 2.0 * A]])
    return float(max(np.real(linalg.eigvals(block)).max(), 0.0))


class ClassicalMDS(OneStep):
    r"""Classical multidimensional scaling (Torgerson 1952).

    .. math:: B = -\tfrac12 H D^{(2)} H = V \Lambda V^T, \qquad \text{coordinates } \sqrt{\lambda_k}\, v_k

    Of Euclidean distances it gives the points back, which are the scores of `PCA` up to sign. Distances that are not
    Euclidean leave negative eigenvalues: their share is `negative_mass_`, and `correction` can remove it.

    Parameters
    ----------
    n_components : int, default=2
    metric : str or callable, default="euclidean"
        Distance between rows, a name of SciPy's; "precomputed" takes X as the matrix of distances.
    metric_params : dict, optional
        Arguments of the metric.
    correction : {"additive", "sqrt"}, optional
        Add the smallest constant to the distances that makes them Euclidean, or take their roots.

    Attributes
    ----------
    embedding_ : array of shape (n, K)
    eigenvalues_ : array of shape (n,)
        Of B, largest first.
    negative_mass_ : float
        Σ|λ < 0| / Σ|λ|.
    goodness_ : float
        Share of the positive eigenvalues that is kept.
    stress_ : float
        ½ Σ (distance − embedded distance)² over pairs.
    dissimilarity_matrix_ : array of shape (n, n)

    Examples
    --------
    >>> corners = np.array([[0, 0], [4, 0], [4, 3], [0, 3.0]])
    >>> model = ClassicalMDS().fit(corners)
    >>> model.eigenvalues_[:2].round(10), round(model.stress_, 10)
    (array([16.,  9.]), 0.0)
    """

    _reads = Reads()
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT],
        "metric": [str, callable],
        "metric_params": [dict, None],
        "correction": [StrOptions(set(CORRECTIONS)), None],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        correction: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params
        self.correction = correction

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def _solve(self, rows: Any) -> tuple[dict[str, Any], float]:
        D = distances(rows.X, self.metric, self.metric_params)
        if not np.isfinite((D**2).sum()):
            raise DataError("X has entries so large that squared distances overflow; scale its columns.")
        if self.n_components > len(D):
            raise DataError(
                f"n_components={self.n_components} exceeds the number of rows, {len(D)}; lower it."
            )
        constant = 0.0
        if self.correction == "additive":
            constant = additive_constant(D)
            D = np.where(np.eye(len(D), dtype=bool), 0.0, D + constant)
        elif self.correction == "sqrt":
            D = np.sqrt(D)
        B, means = double_centered(D)
        values, vectors = linalg.eigh(B)
        values, vectors = values[::-1], vectors[:, ::-1]
        K = int(self.n_components)
        top = np.maximum(values[:K], 0.0)
        axes = fix_signs(vectors[:, :K])
        Z = axes * np.sqrt(top)
        rounding = len(D) * np.finfo(np.float64).eps * max(float(np.abs(values).max(initial=0.0)), 1e-300)
        values = np.where(np.abs(values) <= rounding, 0.0, values)
        stress = 0.5 * float(((squareform(pdist(Z)) - D) ** 2).sum()) / 2.0 if len(D) > 1 else 0.0
        positive = float(np.maximum(values, 0.0).sum())
        size = float(np.abs(values).sum())
        return {
            "embedding_": Z,
            "eigenvalues_": values,
            "negative_mass_": float(np.abs(np.minimum(values, 0.0)).sum() / size) if size > 0 else 0.0,
            "goodness_": float(top.sum() / positive) if positive > 0 else 0.0,
            "stress_": stress,
            "dissimilarity_matrix_": D,
            "column_means_": means,
            "additive_constant_": constant,
            "X_fit_": np.array(rows.X),
        }, stress

    def fit(self, X: Any, y: Any = None) -> Any:
        """Compute the embedding of the rows of X, or of a matrix of distances."""
        return self._learn(self._read(X), X=X)

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and return the embedding."""
        return self.fit(X).embedding_

    def transform(self, X: Any) -> Array:
        """Place new points by their distances to the training rows (Gower 1968).

        Parameters
        ----------
        X : array
            New rows; with ``metric="precomputed"`` their distances to the training rows.
        """
        X = self._rows(X).X
        if self.metric == "precomputed":
            D = np.asarray(X, dtype=np.float64)
        else:
            D = cdist(np.asarray(X, dtype=np.float64), self.X_fit_, self.metric, **(self.metric_params or {}))
        if self.correction == "additive":
            D = np.where(D > 0, D + self.additive_constant_, 0.0)
        elif self.correction == "sqrt":
            D = np.sqrt(D)
        values = self.eigenvalues_[: self.embedding_.shape[1]]
        scale = np.where(values > 0, values, np.inf)
        return 0.5 * (self.column_means_ - D**2) @ (self.embedding_ / scale)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the coordinates."""
        check_fitted(self)
        return np.array([f"classicalmds{k}" for k in range(self.embedding_.shape[1])], dtype=object)


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
        data = self._read(X)
        data.given = init
        return self._learn(data, X=X)

    def fit_transform(self, X: Any, y: Any = None, init: Any = None) -> Array:
        """Fit, and return the embedding."""
        return self.fit(X, init=init).embedding_

    def _prepare(self, rows: Any) -> ScalingWork:
        D = distances(rows.X, self.metric, self.metric_params)
        if not np.isfinite((D**2).sum()):
            raise DataError("X has entries so large that squared distances overflow; scale its columns.")
        given = getattr(rows, "given", None)
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
            values, vectors = linalg.eigh(B, subset_by_index=[n - m, n - 1])
            Z = np.zeros((n, K))
            Z[:, :m] = fix_signs(vectors[:, ::-1]) * np.sqrt(np.maximum(values[::-1], 0.0))
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
