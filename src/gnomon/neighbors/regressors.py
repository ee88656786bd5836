"""Numbers by the average of neighbors: the k nearest, or all within a radius."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.validate import warn
from gnomon.neighbors.asking import KNearest, WithinRadius
from gnomon.neighbors.searching import Searching
from gnomon.neighbors.tables import table
from gnomon.neighbors.voting import average, quantiles


class Averages(RegressorMixin, Searching):  # type: ignore[misc]
    """What every regression by neighbors has."""

    _target: ClassVar[str | None] = "numbers"

    def _answers(self, data: Any) -> dict[str, Any]:
        return {"targets_": data.y[data.weight > 0] if data.weighted else data.y}

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "index_") and len(self.targets_) != self.index_.n_rows:
            raise ModelFileError("its targets do not fit its rows.")

    def _columns(self) -> Array:
        y = self.targets_
        return y[:, None] if y.ndim == 1 else y

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the weighted mean of the neighbors' targets.

        Parameters
        ----------
        X : rows, or None for the training rows without themselves
        return_std : bool, default=False
            Also return the weighted standard deviation of the neighbors' targets.

        Returns
        -------
        mean : array of shape (n,) or (n, t)
        std : array of the same shape, where asked for
        """
        check_is_fitted(self)
        mean, spread = average(self._ballot(X), self._columns())
        self._warn_empty(mean)
        if self.targets_.ndim == 1:
            mean, spread = mean[:, 0], spread[:, 0]
        return (mean, spread) if return_std else mean

    def _warn_empty(self, mean: Array) -> None:
        empty = np.isnan(mean).any(axis=1)
        if empty.any():
            warn(
                f"{empty.sum()} of {len(mean)} rows have no neighbors that count, row {int(empty.argmax())} first: "
                "One or more samples have no neighbors within specified radius; predicting NaN."
            )

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Return the central interval that holds this share of the neighbors' targets.

        Parameters
        ----------
        X : rows
        level : float, default=0.9

        Returns
        -------
        lower, upper : arrays of shape (n,) or (n, t)
        """
        check_is_fitted(self)
        ballot, y = self._ballot(X), self._columns()
        ends = [quantiles(ballot, y[:, j], level) for j in range(y.shape[1])]
        lower, upper = (np.column_stack(end) for end in zip(*ends, strict=True))
        return (lower[:, 0], upper[:, 0]) if self.targets_.ndim == 1 else (lower, upper)


class KNeighborsRegressor(Averages, KNearest):
    r"""Regression by the mean of the k nearest rows.

    .. math:: \hat y(x) = \frac{\sum_{i\in N_k(x)} \omega_i y_i}{\sum_{i\in N_k(x)} \omega_i}

    Follows any shape, jumps from one set of neighbors to the next, and never leaves the range of the targets it saw:
    it does not continue a trend. `KernelRegressor` is the smooth relative. Bring the columns to comparable scales
    first.

    Parameters
    ----------
    n_neighbors, weights, algorithm, leaf_size, p, metric, metric_params, n_jobs
        As in `KNeighborsClassifier`.

    Attributes
    ----------
    index_, effective_metric_, effective_metric_params_, n_samples_fit_
        As in `KNeighborsClassifier`.

    Examples
    --------
    >>> model = KNeighborsRegressor(3).fit([[0.0], [1.0], [2.0], [3.0], [10.0]], [0.0, 1.0, 4.0, 9.0, 100.0])
    >>> mean, std = model.predict([[1.4]], return_std=True)
    >>> mean.round(6), std.round(6)
    (array([1.666667]), array([1.699673]))
    """

    def neighbors_table(self, X: Any) -> Any:
        """Return who decided: query, place, row, distance, weight and target of every neighbor.

        Parameters
        ----------
        X : rows to ask about, or None for the training rows without themselves

        Returns
        -------
        polars DataFrame
        """
        return table(self, self._ballot(X), self._columns())

    def plot(self, X: Any, y: Any = None, ax: Any = None) -> Any:
        """Draw the prediction over one column, with the interval of the neighbors' targets."""
        from gnomon.plot.fits import predictive_band

        return predictive_band(self, X, y, ax=ax)


class RadiusNeighborsRegressor(Averages, WithinRadius):
    r"""Regression by the mean of all rows within a radius.

    .. math:: \hat y(x) = \frac{\sum_{i:\,d(x,x_i)\le r} \omega_i y_i}{\sum_{i:\,d(x,x_i)\le r} \omega_i}

    A query without any row in reach gets NaN, with a warning that counts them.

    Parameters
    ----------
    radius : float, default=1.0
    weights, algorithm, leaf_size, p, metric, metric_params, n_jobs
        As in `KNeighborsClassifier`.

    Attributes
    ----------
    index_, effective_metric_, effective_metric_params_, n_samples_fit_
        As in `KNeighborsClassifier`.

    Examples
    --------
    >>> model = RadiusNeighborsRegressor(1.0).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0])
    >>> model.predict([[1.4]])
    array([2.5])
    """
