"""Conformal intervals for series that drift: the level is steered by the misses."""

from __future__ import annotations

from bisect import insort
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import vector
from gnomon.selection.intervals import check_level


class IntervalsOverTime(NamedTuple):
    """Intervals made one after the other, each before its value was seen."""

    low: Array
    high: Array
    covered: Array  # booleans
    levels: Array  # the level that was asked of the past scores at each time

    @property
    def coverage(self) -> float:
        """Share of the times at which the value was inside."""
        return float(self.covered.mean())


class AdaptiveConformal:
    r"""Intervals around the predictions of any model of a series, with coverage that holds in the long run.

    .. math:: \alpha_{t+1} = \alpha_t + \gamma\,(\alpha - \mathbb 1\{y_t \notin C_t\})

    Whatever the series does, the share of misses over T steps is within
    :math:`(\max(\alpha, 1 - \alpha) + \gamma)/(\gamma T)` of :math:`\alpha` (Gibbs and Candès, Adaptive conformal
    inference under distribution shift, 2021). For rows without order take `ConformalRegressor`.

    Parameters
    ----------
    level : float, default=0.9
        Coverage aimed at, :math:`1-\alpha`.
    gamma : float, default=0.02
        Step; 0 leaves the level fixed. Larger ones follow changes faster, with intervals that vary more.
    window : int, optional
        How many of the last scores count; all by default.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.concatenate([rng.normal(0, 1, 500), rng.normal(0, 3, 500)])
    >>> found = AdaptiveConformal(0.9, window=200).run(y, np.zeros(1000))
    >>> bool(abs(found.coverage - 0.9) < 0.02)
    True
    """

    def __init__(self, level: float = 0.9, *, gamma: float = 0.02, window: int | None = None) -> None:
        check_level(level)
        if gamma < 0:
            raise DataError(f"gamma must not be negative; got {gamma}.")
        if window is not None and window < 1:
            raise DataError(f"window must be at least 1; got {window}.")
        self.level, self.gamma, self.window = level, gamma, window
        self.alpha_ = 1.0 - level
        self._ranked: list[float] = []
        self._recent: deque[float] = deque()

    def interval(self, prediction: float) -> tuple[float, float]:
        """Return the interval for the next value."""
        n = len(self._ranked)
        k = int(np.ceil((n + 1) * (1.0 - self.alpha_) - 1e-9))
        if k > n:
            return -np.inf, np.inf
        if k < 1:
            return np.inf, -np.inf  # empty: the past was covered too often
        q = self._ranked[k - 1]
        return prediction - q, prediction + q

    def update(self, y: float, prediction: float) -> bool:
        """Take in what came, and return whether it was inside the interval."""
        if not (np.isfinite(y) and np.isfinite(prediction)):
            raise DataError(f"y and prediction must be finite; got {y} and {prediction}.")
        low, high = self.interval(prediction)
        inside = bool(low <= y <= high)
        self.alpha_ += self.gamma * ((1.0 - self.level) - (not inside))
        score = abs(float(y) - float(prediction))
        insort(self._ranked, score)
        self._recent.append(score)
        if self.window is not None and len(self._recent) > self.window:
            gone = self._recent.popleft()
            del self._ranked[int(np.searchsorted(self._ranked, gone))]
        return inside

    def run(self, y: Any, predictions: Any) -> IntervalsOverTime:
        """Go through a series, each prediction made before its value was known.

        Parameters
        ----------
        y, predictions : arrays of shape (T,)
        """
        y = vector(y, name="y")
        said = vector(predictions, name="predictions", n=len(y))
        ends, covered, levels = np.empty((2, len(y))), np.empty(len(y), bool), np.empty(len(y))
        for t in range(len(y)):
            levels[t] = 1.0 - self.alpha_
            ends[:, t] = self.interval(said[t])
            covered[t] = self.update(y[t], said[t])
        return IntervalsOverTime(ends[0], ends[1], covered, levels)
