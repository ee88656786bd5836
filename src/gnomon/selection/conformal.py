"""Intervals that keep their promise, around any regressor."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import HasMethods, StrOptions
from gnomon.core.settings import check_parameters
from gnomon.core.threads import in_order
from gnomon.core.validate import one_each
from gnomon.selection.held_out import SHARE, Conformal, group_of_rows, rank_of
from gnomon.selection.intervals import check_level
from gnomon.selection.wrapping import indexable_rows, take_rows

ROWS_AT_ONCE = 512


def kth_smallest(said: Array, residuals: Array, fold_of: Array, k: int) -> Array:
    """Return for every row of `said` (rows, folds) the k-th smallest of ``said[fold_of[i]] + residuals[i]``.

    Residuals rise. Predictions of one row by several folds hardly differ: with their smallest and largest, f and g, and
    the k-th residual q, the answer lies between f + q and g + q, and residuals further than g − f from q need not be
    looked at.
    """
    q, n = residuals[k - 1], len(residuals)
    low, high = said.min(axis=1), said.max(axis=1)
    with np.errstate(invalid="ignore"):
        reach = (high - low) + 1e-14 * (np.abs(low) + np.abs(high) + abs(q))  # and what rounding may move
    reach = np.where(np.isfinite(reach), reach, np.inf)
    first = np.searchsorted(residuals, q - reach) if np.isfinite(q) else np.zeros(len(said), dtype=int)
    last = np.searchsorted(residuals, q + reach, "right") if np.isfinite(q) else np.full(len(said), n)
    order, found = np.argsort(reach, kind="stable"), np.empty(len(said))

    def some(start: int) -> tuple[Array, Array]:
        rows = order[start : start + ROWS_AT_ONCE]
        a, b = first[rows].min(), last[rows].max()
        near = said[rows][:, fold_of[a:b]] + residuals[a:b]
        return rows, np.partition(near, k - 1 - a, axis=1)[:, k - 1 - a]

    for rows, values in in_order(some, range(0, len(said), ROWS_AT_ONCE)):
        found[rows] = values
    return found


class ConformalRegressor(RegressorMixin, Conformal):
    r"""Intervals with a guaranteed coverage around any regressor.

    .. math:: P\bigl(y \in [\hat f(x) - q,\ \hat f(x) + q]\bigr) \ge 1 - \alpha, \qquad
              q = \text{the } \lceil (n+1)(1-\alpha)\rceil\text{-th smallest } \lvert y_i - \hat f(x_i)\rvert

    The promise needs no model to be right, only rows that might have come in any other order. It holds on average over
    x: give groups for one promise each (Mondrian), and for data that drift in time take `AdaptiveConformal`.

    Parameters
    ----------
    estimator : regressor
        Least squares when not given.
    method : {"split", "cv+", "jackknife+"}, default="split"
        One part of the rows calibrates; or every row does, by fits that left its fold (or itself) out, at the price of
        a guarantee of :math:`1 - 2\alpha` (Barber, Candès, Ramdas and Tibshirani, Predictive inference with the
        jackknife+, 2021).
    residual : {"absolute", "interval"}, default="absolute"
        "interval" widens (or narrows) the intervals of an estimator that has `predict_interval`, so that their width
        follows x; for "split".
    calibration_size : float, default=0.25
        Share of the rows that calibrates, for "split".
    cv : int or splitter, default=5
        For "cv+".
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    estimator_ : regressor
        Fitted to the learning part, or to all rows.
    scores_ : dict
        Sorted scores of every group.

    Examples
    --------
    >>> from gnomon.linear import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, (400, 1))
    >>> y = 3 * X[:, 0] + rng.normal(0, 0.5, 400)
    >>> model = ConformalRegressor(LinearRegression(), random_state=0).fit(X[:300], y[:300])
    >>> low, high = model.predict_interval(X[300:], level=0.9)
    >>> bool(0.82 < np.mean((low <= y[300:]) & (y[300:] <= high)) <= 0.98)
    True
    """

    _default = ("gnomon.linear", "LinearRegression")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "method": [StrOptions({"split", "cv+", "jackknife+"})],
        "residual": [StrOptions({"absolute", "interval"})],
        "calibration_size": [SHARE],
        "cv": ["cv_object"],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "split",
        residual: str = "absolute",
        calibration_size: float = 0.25,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.residual = residual
        self.calibration_size = calibration_size
        self.cv = cv
        self.random_state = random_state

    def _learn(self, X: Any, y: Any, groups: Any) -> None:
        check_parameters(self)
        X_, y_ = self._arrays(X, y)
        if self.method != "split":
            if groups is not None or self.residual != "absolute":
                raise DataError("groups and residual='interval' need method='split'.")
            self.estimator_ = clone(self._base()).fit(X, y)
            self.residuals_, self.fold_of_ = self._held_out(self._folds(len(y_)), X_, y_, self._score)
            self._keep_scores(self.residuals_, None, np.arange(len(y_)))
            return
        groups = None if groups is None else group_of_rows(groups, len(y_))
        train, held = self._parts(len(y_))
        self.estimator_ = clone(self._base()).fit(take_rows(X_, train), y_[train])
        self._keep_scores(self._score(self.estimator_, take_rows(X_, held), y_[held]), groups, held)

    def _arrays(self, X: Any, y: Any) -> tuple[Any, Array]:
        if y is None:
            raise DataError("y is missing: this regressor requires y to be passed, but the target y is None.")
        rows = indexable_rows(X, self._base())
        y = column_or_1d(y, warn=True, dtype=np.float64)
        check_consistent_length(rows, y)
        assert_all_finite(y, input_name="y")
        return rows, y

    def _score(self, model: Any, X: Any, y: Array) -> Array:
        if self.residual == "absolute":
            return np.abs(y - np.ravel(model.predict(X)))
        low, high = self._base_interval(model, X)
        return np.maximum(low - y, y - high)

    def _base_interval(self, model: Any, X: Any) -> tuple[Array, Array]:
        if not hasattr(model, "predict_interval"):
            raise DataError(
                f"residual='interval' needs an estimator with predict_interval; {type(model).__name__} has none."
            )
        low, high = model.predict_interval(X)
        return np.ravel(low), np.ravel(high)

    def predict(self, X: Any) -> Array:
        """Return the regressor's predictions."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    def predict_interval(self, X: Any, level: float = 0.9, *, groups: Any = None) -> tuple[Array, Array]:
        """Return the lower and the upper ends of the intervals; infinite when there are too few scores.

        Parameters
        ----------
        X : rows
        level : float, default=0.9
            Promised coverage.
        groups : array, optional
            The group of every row, when fitted with groups.
        """
        check_is_fitted(self, "estimator_")
        check_level(level)
        if self.method != "split":
            return self._from_folds(X, level)
        if self.residual == "interval":
            low, high = self._base_interval(self.estimator_, X)
        else:
            low = high = np.ravel(self.estimator_.predict(X))
        q = self._limits(len(low), level, groups)
        return low - q, high + q

    def _from_folds(self, X: Any, level: float) -> tuple[Array, Array]:
        said = np.column_stack(list(in_order(lambda model: np.ravel(model.predict(X)), self.models_)))
        n = len(self.residuals_)
        k = rank_of(n, level)
        if k > n:
            return np.full(len(said), -np.inf), np.full(len(said), np.inf)
        order = np.argsort(self.residuals_, kind="stable")
        held = self.residuals_[order], self.fold_of_[order]
        return -kth_smallest(-said, *held, k), kth_smallest(said, *held, k)

    def coverage(self, X: Any, y: Any, level: float = 0.9, *, groups: Any = None) -> Any:
        """Return a table of the coverage on new rows, by group, with exact intervals, and the mean width."""
        low, high = self.predict_interval(
            X, level, groups=groups if getattr(self, "grouped_", False) else None
        )
        y = one_each(y, len(low)).astype(float)
        return self._coverage((low <= y) & (y <= high), high - low, groups)
