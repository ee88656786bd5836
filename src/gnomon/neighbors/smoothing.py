"""Kernel regression: weighted means, plain sums, and lines fitted around every query."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.validate import POSITIVE, Reads, warn
from gnomon.neighbors.kernel_weights import (
    KERNELS,
    candidate_gammas,
    in_blocks,
    log_kernel,
    normalized,
    squared_distances,
)


class KernelRegressor(RegressorMixin, OneStep):  # type: ignore[misc]
    r"""Regression by a kernel: Nadaraya–Watson, the plain kernel sum, or a local line.

    .. math:: \hat y(x) = \frac{\sum_i K(x, x_i) y_i}{\sum_i K(x, x_i)},\qquad K = e^{-\gamma\lVert x-x_i\rVert^2}

    ``normalize=False`` leaves the division out: the answer goes to zero far from the data. ``degree=1`` fits a line by
    weighted least squares around the query and reads it off there, which mends the bias at the borders and on slopes.
    Weights are computed in logs: far from the data the nearest row decides, never 0/0. Every query looks
    at every row; good for thousands of rows and a few columns of one scale.

    Parameters
    ----------
    gamma : float or "loo", default=1.0
        Width; "loo": the value with the smallest leave-one-out squared error on a grid.
    kernel : {"rbf", "epanechnikov", "tricube", "tophat"} or callable, default="rbf"
        A function of :math:`u=\sqrt\gamma\,\lVert x-x_i\rVert`; compact ones end at u = 1, where a query that none
        reaches gets NaN with a warning.
    normalize : bool, default=True
        Divide by the sum of the weights.
    degree : {0, 1}, default=0
        0: a mean; 1: a local line.
    n_jobs : int, optional
        Threads; all by default.

    Attributes
    ----------
    gamma_ : float
    df_ : float
        Degrees of freedom: the trace of the smoother on the training rows.
    loo_path_ : array of shape (m, 2)
        With ``gamma="loo"``: each γ and its mean squared error.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0]
    >>> KernelRegressor(1.0).fit(X, y).predict([[1.5], [1000.0]]).round(7)
    array([2.3415527, 4.       ])
    >>> KernelRegressor(1.0, normalize=False).fit(X, y).predict([[1.5]]).round(7)
    array([3.8940039])
    >>> KernelRegressor(1.0, degree=1).fit(X, y).predict([[1.5]]).round(7)
    array([2.5807164])
    """

    _reads: ClassVar[Reads] = Reads(y="numbers")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "gamma": [POSITIVE, StrOptions({"loo"})],
        "kernel": [StrOptions(set(KERNELS)), callable],
        "normalize": ["boolean"],
        "degree": [Interval(Integral, 0, 1, closed="both")],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        gamma: Any = 1.0,
        *,
        kernel: Any = "rbf",
        normalize: bool = True,
        degree: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.kernel = kernel
        self.normalize = normalize
        self.degree = degree
        self.n_jobs = n_jobs

    def _solve(self, rows: Any) -> dict[str, Any]:
        if not self.normalize and self.degree:
            raise DataError("degree=1 fits a line, which has no plain sum; use normalize=True.")
        X, y, weight = rows.X, rows.y, rows.weight
        if rows.weighted:
            keep = weight > 0
            X, y, weight = X[keep], y[keep], weight[keep]
        found: dict[str, Any] = {"fit_X_": X, "targets_": y, "fit_weight_": weight, "gamma_": self.gamma}
        if self.gamma == "loo":
            if weight.sum() <= 1 or len(X) < 2:
                raise DataError("gamma='loo' needs at least two rows: one is left out.")
            path = np.array([[g, self._loo_error(X, y, weight, g)] for g in candidate_gammas(X)])
            if not np.isfinite(path[:, 1]).any():
                raise DataError("gamma='loo': no width of the grid reaches a neighbor of every row.")
            found.update(gamma_=float(path[np.nanargmin(path[:, 1]), 0]), loo_path_=path)
        found["df_"] = float(self._own_shares(X, weight, found["gamma_"]).sum())
        return found

    # the smoother

    def _smoother(self, Q: Array, X: Array, weight: Array, gamma: float, own: Any = None) -> Array:
        """Return S with ŷ = S y for a block of queries; NaN where no row is in reach.

        With `own`, the queries are these training rows, and one copy of each is left out of its own fit.
        """
        logs = log_kernel(squared_distances(Q, X), gamma, self.kernel)
        with np.errstate(divide="ignore"):
            logs = logs + np.log(weight)
            if own is not None:
                less = np.log(np.maximum(weight[own] - 1.0, 0.0)) - np.log(weight[own])
                logs[np.arange(len(Q)), own] += less
        if not self.normalize:
            return np.exp(logs)
        p = normalized(logs)
        if self.degree:
            p = np.stack([_local_line(Q[i], X, p[i]) for i in range(len(Q))])
        p[~p.any(axis=1)] = np.nan
        return p

    def _own_shares(self, X: Array, weight: Array, gamma: float) -> Array:
        """Return how much of its own target every training row gets back, per copy of the row times copies."""

        def own(part: slice) -> Array:
            S = self._smoother(X[part], X, weight, gamma)
            return S[np.arange(len(S)), np.arange(part.start, part.stop)]

        return np.concatenate(list(in_blocks(own, len(X), len(X))))

    def _loo_error(self, X: Array, y: Array, weight: Array, gamma: float) -> float:
        """Return the mean squared error when one copy of the row itself is left out."""
        fits = self._loo_fits(X, y, weight, gamma)
        gap = (y - fits).reshape(len(y), -1)
        return float((weight[:, None] * gap**2).sum() / weight.sum())

    def _loo_fits(self, X: Array, y: Array, weight: Array, gamma: float) -> Array:
        def fits(part: slice) -> Array:
            own = np.arange(part.start, part.stop)
            return self._smoother(X[part], X, weight, gamma, own) @ y

        with np.errstate(invalid="ignore"):
            return np.concatenate(list(in_blocks(fits, len(X), len(X))))

    def loo_predict(self) -> Array:
        """Return the prediction for every training row from the others."""
        return self._loo_fits(self.fit_X_, self.targets_, self.fit_weight_, self.gamma_)

    # what a fitted model does

    def smoother_matrix(self, X: Any) -> Array:
        """Return S with predictions S y, (n, rows that count)."""
        Q = self._rows(X).X
        arrays = (self.fit_X_, self.fit_weight_, self.gamma_)
        with self._threads():
            parts = in_blocks(lambda part: self._smoother(Q[part], *arrays), len(Q), len(self.fit_X_))
            return np.concatenate(list(parts))

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the prediction at every row.

        Parameters
        ----------
        X : rows
        return_std : bool, default=False
            Also return the weighted standard deviation of the targets around the prediction.

        Returns
        -------
        mean : array of shape (n,) or (n, t)
        std : array of the same shape, where asked for
        """
        Q = self._rows(X).X
        y = self.targets_.reshape(len(self.targets_), -1)
        anchor = (
            y[0] if self.normalize else np.zeros(y.shape[1])
        )  # weights sum to one: a shift costs no digits
        arrays = (self.fit_X_, self.fit_weight_, self.gamma_)

        def work(part: slice) -> tuple[Array, Array]:
            S = self._smoother(Q[part], *arrays)
            mean = S @ (y - anchor)
            if not return_std:
                return mean + anchor, mean
            p = np.abs(S) / np.abs(S).sum(axis=1, keepdims=True)
            square = np.stack([p[i] @ (y - anchor - mean[i]) ** 2 for i in range(len(p))])
            return mean + anchor, np.sqrt(square)

        with self._threads(), np.errstate(invalid="ignore"):
            parts = list(in_blocks(work, len(Q), len(self.fit_X_)))
        mean, spread = (np.concatenate(part) for part in zip(*parts, strict=True))
        empty = np.isnan(mean).any(axis=1)
        if empty.any():
            warn(
                f"{empty.sum()} of {len(mean)} rows have no training row in reach (row {int(empty.argmax())} first) "
                f"and get NaN; lower gamma (now {self.gamma_:g}) or use kernel='rbf'."
            )
        if self.targets_.ndim == 1:
            mean, spread = mean[:, 0], spread[:, 0]
        return (mean, spread) if return_std else mean

    def plot(self, X: Any, y: Any = None, ax: Any = None) -> Any:
        """Draw the curve over one column."""
        from gnomon.plot.fits import fit_line

        return fit_line(self, X, y, ax=ax, label=f"gamma = {self.gamma_:g}")


def _local_line(x: Array, X: Array, p: Array) -> Array:
    """Return the weights of the targets in the line fitted around x by weighted least squares, read off at x.

    Columns are centered at x and scaled; where they do not determine a slope the smallest one is taken.
    """
    near = np.flatnonzero(p > 0)
    out = np.zeros(len(p))
    if not len(near):
        return out
    root = np.sqrt(p[near])
    Z = np.asarray(X[near], dtype=np.float64) - np.asarray(x, dtype=np.float64)
    size = np.abs(root[:, None] * Z).max(axis=0)
    Z = Z / np.where(size > 0, size, 1.0)
    A = root[:, None] * np.column_stack([np.ones(len(near)), Z])
    out[near] = np.linalg.pinv(A, rcond=1e-10)[0] * root
    return out
