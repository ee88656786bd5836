"""Outliers: rows whose neighbors are denser than they are."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.validate import COUNT, warn
from gnomon.neighbors.nearest import NearestQuestions
from gnomon.neighbors.searching import METRIC_RULES


def _for_novelty(method: str) -> Any:
    def offered(model: Any) -> bool:
        if not model.novelty:
            raise AttributeError(
                f"{method} is not available when novelty=False, use novelty=True to judge new rows; fit_predict "
                "judges the training rows."
            )
        return True

    return available_if(offered)


def _for_training(model: Any) -> bool:
    if model.novelty:
        raise AttributeError(
            "fit_predict is not available when novelty=True: use fit, then predict new rows."
        )
    return True


class LocalOutlierFactor(OutlierMixin, NearestQuestions):  # type: ignore[misc]
    r"""How much denser the neighbors of a row are than the row itself (Breunig et al. 2000).

    .. math:: \mathrm{lrd}(x) = \Big(\tfrac1k\sum_{o\in N_k(x)}\max(d_k(o), d(x, o))\Big)^{-1},\qquad
        \mathrm{LOF}(x) = \frac1k\sum_{o\in N_k(x)}\frac{\mathrm{lrd}(o)}{\mathrm{lrd}(x)}

    About 1 inside a cluster of whatever density, larger the more a row stands alone. Good where clusters differ in
    density, so that one distance does not fit all. More than k equal rows make a density without bound; raise
    `n_neighbors` then.

    Parameters
    ----------
    n_neighbors : int, default=20
        k; at most one less than there are rows.
    algorithm, leaf_size, metric, p, metric_params, n_jobs
        As in `NearestNeighbors`.
    contamination : "auto" or float, default="auto"
        The share of outliers that sets the threshold; "auto": factors above 1.5.
    novelty : bool, default=False
        True: judge new rows with `predict`, `score_samples`, `decision_function`; never the training rows.

    Attributes
    ----------
    negative_outlier_factor_ : array of shape (n,)
        Minus the factor of every training row: near −1 inside, far below it outside.
    n_neighbors_ : int
    offset_ : float
        Rows below it are outliers.
    index_, effective_metric_, effective_metric_params_, n_samples_fit_
        As in `NearestNeighbors`.

    Examples
    --------
    >>> model = LocalOutlierFactor(n_neighbors=2)
    >>> model.fit_predict([[-1.1], [0.2], [101.1], [0.3]])
    array([ 1,  1, -1,  1])
    >>> model.negative_outlier_factor_.round(3)
    array([ -0.982,  -1.037, -73.37 ,  -0.982])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **METRIC_RULES,
        "n_neighbors": [COUNT],
        "contamination": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="right")],
        "novelty": ["boolean"],
    }

    def __init__(
        self,
        n_neighbors: int = 20,
        *,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        contamination: Any = "auto",
        novelty: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.contamination = contamination
        self.novelty = novelty
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> LocalOutlierFactor:
        """Learn the densities of the rows.

        Parameters
        ----------
        X : rows
        y : ignored

        Returns
        -------
        self
        """
        return self._learn(self._read(X), X=X)

    def iterate(self, X: Any, y: Any = None) -> Any:
        """Yield the fitted model: there is one step."""
        yield from self._iterate(self._read(X))

    def _solve(self, data: Any) -> dict[str, Any]:
        found = super()._solve(data)
        n = len(data)
        if n < 2:
            raise ValueError(
                "Expected n_neighbors < n_samples_fit, but n_neighbors = 1, n_samples_fit = 1, n_samples = 1: "
                "a row is not its own neighbor."
            )
        if self.n_neighbors > n:
            warn(
                f"n_neighbors ({self.n_neighbors}) is greater than the total number of samples ({n}). "
                f"n_neighbors will be set to (n_samples - 1) for estimation."
            )
        k = max(1, min(self.n_neighbors, n - 1))
        index = found["index_"]
        with self._threads():
            values, rows = index.nearest(index.rows, k + 1, prepared=True)
        from gnomon.neighbors.searching import without_self

        values, rows = without_self(values, rows)
        reach = values[:, -1]
        density = _density(values, reach[rows])
        factor = -np.mean(density[rows] / density[:, None], axis=1)
        if (factor < -1e7).any() and not self.novelty:
            warn(
                "Duplicate values are leading to incorrect results. Increase the number of neighbors for more "
                "accurate results."
            )
        offset = (
            -1.5 if self.contamination == "auto" else float(np.percentile(factor, 100.0 * self.contamination))
        )
        return {
            **found,
            "n_neighbors_": k,
            "reach_": reach,
            "density_": density,
            "negative_outlier_factor_": factor.astype(getattr(data, "dtype", np.float64), copy=False),
            "offset_": offset,
        }

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "index_") and not len(self.reach_) == len(self.density_) == self.index_.n_rows:
            raise ModelFileError("its densities do not fit its rows.")

    @available_if(_for_training)
    def fit_predict(self, X: Any, y: Any = None) -> Array:
        """Fit, and return −1 for outliers among the rows and 1 for the rest."""
        return _signs(self.fit(X).negative_outlier_factor_ - self.offset_)

    @_for_novelty("score_samples")
    def score_samples(self, X: Any) -> Array:
        """Return minus the factor of new rows; the training rows are taken for new ones too."""
        check_is_fitted(self)
        values, rows = self._nearest(X, self.n_neighbors_)
        density = _density(values, self.reach_[rows])
        return -np.mean(self.density_[rows] / density[:, None], axis=1)

    @_for_novelty("decision_function")
    def decision_function(self, X: Any) -> Array:
        """Return how far a new row is above the threshold; negative for outliers."""
        return self.score_samples(X) - self.offset_

    @_for_novelty("predict")
    def predict(self, X: Any) -> Array:
        """Return −1 for outliers and 1 for the rest, of new rows."""
        return _signs(self.decision_function(X))

    def plot(self, X: Any, ax: Any = None) -> Any:
        """Draw two columns of the training rows, each with a ring as wide as its factor is above one."""
        from gnomon.plot import style

        points = np.asarray(X, dtype=float)
        ax = style.axes(ax, x="x0", y="x1")
        factor = -self.negative_outlier_factor_
        out = self.negative_outlier_factor_ < self.offset_
        ax.scatter(points[:, 0], points[:, 1], s=10, color=style.QUIET)
        ring = np.clip(factor - 1.0, 0.0, 4.0)
        colors = [style.color(int(one)) for one in out]
        ax.scatter(points[:, 0], points[:, 1], s=200 * ring, facecolors="none", edgecolors=colors)
        return ax


def _density(values: Array, reach: Array) -> Array:
    """Return 1 over the mean distance to the neighbors, none shorter than the neighbor's own reach.

    As in the reference implementation, 1e-10 keeps the density of equal rows finite.
    """
    return 1.0 / (np.mean(np.maximum(values, reach), axis=1) + 1e-10)


def _signs(above: Array) -> Array:
    return np.where(above < 0, -1, 1)
