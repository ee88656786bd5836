"""Soft k-means: every row belongs to every center a little."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import ClusterMixin

from gnomon.cluster import seeding
from gnomon.cluster.frame import frame_of
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array, log_sum_exp
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import per_row, total
from gnomon.core.validate import Reads, warn, without_overflow
from gnomon.loops.distances import pairwise


class SoftState(NamedTuple):
    """Centers, and what the rows look like from them once the run has ended."""

    centers: Array
    responsibilities: Array
    free_energy: float
    distortion: float


class SoftSums(NamedTuple):
    """Responsibilities, and the residuals they weigh, of every center; the two parts of the free energy."""

    counts: Array  # (k,)
    sums: Array  # (k, d) Σ w r (x − center)
    free_energy: float
    distortion: float


def responsibilities(chunk: Any, centers: Array, stiffness: float) -> Array:
    """Return softmax over the centers of −β‖x − μ‖²."""
    logits = -stiffness * pairwise(chunk.X, centers, "sqeuclidean")
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return logits


def soft_sums(chunk: Any, centers: Array, stiffness: float) -> SoftSums:
    """Partial sum of `SoftSums`."""
    squares = pairwise(chunk.X, centers, "sqeuclidean")
    log_mass = log_sum_exp(-stiffness * squares)
    r = np.exp(-stiffness * squares - log_mass[:, None]) * chunk.weight[:, None]
    counts = r.sum(axis=0)
    middle = centers.mean(axis=0)
    sums = r.T @ (chunk.X - middle) - counts[:, None] * (centers - middle)
    return SoftSums(counts, sums, -float(chunk.weight @ log_mass), float((r * squares).sum()))


class SoftKMeans(ClusterMixin, Learner):
    r"""Soft k-means.

    .. math:: r_{ik} = \frac{e^{-\beta\lVert x_i-\mu_k\rVert^2}}{\sum_l e^{-\beta\lVert x_i-\mu_l\rVert^2}},
        \qquad \mu_k = \frac{\sum_i w_i r_{ik} x_i}{\sum_i w_i r_{ik}}

    Alternating the two lowers the free energy :math:`\beta\sum rd + \sum r\ln r`; the distortion alone may
    rise. A large stiffness gives k-means; stiffness ½ is EM for unit Gaussians of equal weight, in general
    a mixture of covariance :math:`I/2\beta`. For a small stiffness all centers merge at the mean, which is
    a solution.

    Parameters
    ----------
    n_clusters : int, default=8
    stiffness : float, default=1.0
        β. Texts that divide by β mean its inverse.
    init : str or array of shape (n_clusters, n_features), default="k-means++"
    n_init : int, default=1
    max_iter : int, default=300
    tol : float, default=1e-6
        Stop when the free energy changes by no more.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
    responsibilities_ : array of shape (n_samples, n_clusters)
    labels_ : array of shape (n_samples,)
    free_energy_, distortion_ : float
    trace_ : Trace
        The free energy; entry 0 belongs to the start.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [4.0], [5.0]])
    >>> model = SoftKMeans(2, stiffness=0.5, init=[[1.0], [2.0]], tol=1e-12).fit(X)
    >>> model.cluster_centers_.ravel().round(4), round(model.free_energy_, 4)
    (array([0.9821, 4.3916]), 1.1555)
    """

    _stop: ClassVar[str] = "objective"
    _reads = Reads(scales=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "stiffness": [Interval(Real, 0, None, closed="neither")],
        "init": [StrOptions(set(seeding.STARTS)), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        stiffness: float = 1.0,
        init: Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.stiffness = stiffness
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _start(self, rows: Any, rng: np.random.Generator) -> SoftState:
        if rows.n_rows < self.n_clusters:
            raise DataError(f"n_samples={rows.n_rows} should be >= n_clusters={self.n_clusters}.")
        if isinstance(self.init, str):
            sample = seeding.sample_of(rows, frame_of(rows))
            centers = seeding.STARTS[self.init](sample, self.n_clusters, rng).centers
        else:
            centers = np.array(self.init, dtype=np.float64)
            if centers.shape != (self.n_clusters, rows.n_features):
                raise DataError(f"The shape of the initial centers {centers.shape} does not match.")
        return SoftState(centers, np.zeros((0, len(centers))), np.nan, np.nan)

    def _step(self, rows: Any, state: SoftState) -> tuple[SoftState, Report]:
        found = total(soft_sums, rows, state.centers, float(self.stiffness))
        counts = np.where(found.counts > 0, found.counts, 1.0)[:, None]
        return state._replace(centers=state.centers + found.sums / counts), Report(found.free_energy)

    def _finish(self, rows: Any, state: SoftState) -> SoftState:
        found = total(soft_sums, rows, state.centers, float(self.stiffness))
        r = per_row(responsibilities, rows, state.centers, float(self.stiffness))
        gaps = pairwise(state.centers, state.centers)[np.triu_indices(self.n_clusters, 1)]
        if len(gaps) and gaps.min() < 1e-8 * max(1.0, float(np.abs(state.centers).max())):
            warn("two centers of SoftKMeans coincide: the stiffness is too small to tell them apart.")
        return SoftState(state.centers, r, float(found.free_energy), float(found.distortion))

    def _attributes(self, state: SoftState) -> dict[str, Any]:
        return {
            "cluster_centers_": state.centers,
            "responsibilities_": state.responsibilities,
            "labels_": state.responsibilities.argmax(axis=1),
            "free_energy_": state.free_energy,
            "distortion_": state.distortion,
        }

    def predict_proba(self, X: Any) -> Array:
        """Return the responsibilities of the centers for these rows."""
        found = per_row(responsibilities, self._rows(X), self.cluster_centers_, float(self.stiffness))
        return without_overflow(found)

    def predict(self, X: Any) -> Array:
        """Return the nearest center of every row."""
        return self.predict_proba(X).argmax(axis=1)
