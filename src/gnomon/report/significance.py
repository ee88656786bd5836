r"""Intervals and tests for scores of cross-validation, whose folds share most of their training rows.

With scores of k folds, tested on a share :math:`r` of the rows they learned from, the variance of a mean is
:math:`(1/k + r) s^2` instead of :math:`s^2 / k` (Nadeau and Bengio, Inference for the generalization error, 2003).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit


class Interval(NamedTuple):
    """A mean and the ends of its interval."""

    mean: float
    low: float
    high: float


def interval(scores: Any, ratio: float, level: float = 0.95) -> Interval:
    """Return the mean of the scores of folds and its interval; `ratio` is test rows over training rows.

    >>> interval([0.9, 0.8, 0.85, 0.95, 0.75], 0.25)
    Interval(mean=0.85, low=0.702..., high=0.997...)
    """
    scores = np.asarray(scores, dtype=float)
    half = _error(scores, ratio) * float(stdtrit(len(scores) - 1, 0.5 + level / 2))
    return Interval(float(scores.mean()), float(scores.mean()) - half, float(scores.mean()) + half)


def paired_p_value(one: Any, other: Any, ratio: float) -> float:
    """Return the two-sided p-value of the corrected t-test that two models score the same on the same folds.

    >>> round(paired_p_value([0.9, 0.8, 0.85, 0.95], [0.7, 0.7, 0.65, 0.8], 0.25), 4)
    0.0172
    """
    difference = np.asarray(one, dtype=float) - np.asarray(other, dtype=float)
    error = _error(difference, ratio)
    if error == 0.0:
        return 1.0 if difference.mean() == 0 else 0.0
    return float(2 * stdtr(len(difference) - 1, -abs(difference.mean()) / error))


def holm(p_values: Any) -> Any:
    """Return p-values adjusted by Holm's method for having asked several times.

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def _error(values: Any, ratio: float) -> float:
    """Return the corrected standard error of the mean."""
    return float(np.sqrt((1 / len(values) + ratio) * values.var(ddof=1)))
