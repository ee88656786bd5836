r"""Intervals for scores and rates, and p-values after many questions.

With scores of k folds, tested on a share :math:`r` of the rows they learned from, the variance of a mean is
:math:`(1/k + r) s^2` instead of :math:`s^2 / k` (Nadeau and Bengio, Inference for the generalization error, 2003).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from scipy.special import stdtrit

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array


class Interval(NamedTuple):
    """A mean and the ends of its interval."""

    mean: float
    low: float
    high: float


def score_interval(scores: Any, ratio: float = 0.0, level: float = 0.95) -> Interval:
    r"""Return the mean of the scores of folds and its interval, corrected for what the folds share.

    .. math:: \bar s \pm t_{k-1}\,\sqrt{(1/k + r)\,\hat\sigma^2}

    Parameters
    ----------
    scores : array of shape (k,)
        One score a fold.
    ratio : float, default=0
        Test rows over training rows, 1/(k-1) for k folds; 0 for scores of independent samples.
    level : float, default=0.95

    Examples
    --------
    >>> score_interval([0.9, 0.8, 0.85, 0.95, 0.75], 0.25)
    Interval(mean=0.85, low=0.702..., high=0.997...)
    """
    values = np.asarray(scores, dtype=float)
    check_level(level)
    if values.ndim != 1 or len(values) < 2:
        raise DataError(f"scores must be a vector of at least two; its shape is {values.shape}.")
    if not ratio >= 0:
        raise DataError(f"ratio must not be negative: test rows over training rows; got {ratio}.")
    half = corrected_error(values, ratio) * float(stdtrit(len(values) - 1, 0.5 + level / 2))
    return Interval(float(values.mean()), float(values.mean()) - half, float(values.mean()) + half)


def corrected_error(values: Array, ratio: float) -> float:
    """Return the corrected standard error of the mean."""
    return float(np.sqrt((1 / len(values) + ratio) * values.var(ddof=1)))


METHODS = ("wilson", "exact", "hoeffding", "jeffreys")


def error_interval(errors: Any, n: Any, *, method: str = "wilson", level: float = 0.95) -> tuple[Any, Any]:
    r"""Return the ends of an interval for a rate of which `errors` of n were seen.

    Parameters
    ----------
    errors, n : numbers or arrays
        Counts; weighted counts may be fractions.
    method : {"wilson", "exact", "hoeffding", "jeffreys"}, default="wilson"
        Wilson's score interval, close to its level on average; the exact one of Clopper and Pearson, never below its
        level; Hoeffding's, which needs no binomial and is the widest; Jeffreys' posterior.
    level : float, default=0.95

    Returns
    -------
    low, high : floats or arrays
        NaN where n is zero.

    Examples
    --------
    >>> low, high = error_interval(45, 50)
    >>> round(low, 6), round(high, 6)
    (0.786398, 0.956524)
    """
    check_level(level)
    if method not in METHODS:
        raise DataError(f"method must be one of {METHODS}; got {method!r}.{nearest(method, METHODS)}")
    k, m = np.broadcast_arrays(np.asarray(errors, dtype=float), np.asarray(n, dtype=float))
    if (k < 0).any() or (k > m * (1 + 1e-12)).any():
        raise DataError("errors must lie between 0 and n.")
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = _ENDS[method](k, m, 1 - level)
    low, high = np.where(m > 0, low, np.nan), np.where(m > 0, high, np.nan)
    return (low.item(), high.item()) if not low.ndim else (low, high)


def _wilson(k: Array, n: Array, delta: float) -> tuple[Array, Array]:
    z = stats.norm.isf(delta / 2)
    p, c = k / n, z * z / n
    middle, half = (p + c / 2) / (1 + c), z * np.sqrt(p * (1 - p) / n + c / (4 * n)) / (1 + c)
    return np.where(k == 0, 0.0, middle - half), np.where(k == n, 1.0, middle + half)


def _exact(k: Array, n: Array, delta: float) -> tuple[Array, Array]:
    low = np.where(k > 0, stats.beta.ppf(delta / 2, k, n - k + 1), 0.0)
    return low, np.where(k < n, stats.beta.isf(delta / 2, k + 1, n - k), 1.0)


def _hoeffding(k: Array, n: Array, delta: float) -> tuple[Array, Array]:
    half = np.sqrt(np.log(2 / delta) / (2 * n))
    return np.maximum(k / n - half, 0.0), np.minimum(k / n + half, 1.0)


def _jeffreys(k: Array, n: Array, delta: float) -> tuple[Array, Array]:
    low = np.where(k > 0, stats.beta.ppf(delta / 2, k + 0.5, n - k + 0.5), 0.0)
    return low, np.where(k < n, stats.beta.isf(delta / 2, k + 0.5, n - k + 0.5), 1.0)


_ENDS = {"wilson": _wilson, "exact": _exact, "hoeffding": _hoeffding, "jeffreys": _jeffreys}


def adjust_p_values(p_values: Any, method: str = "holm") -> Array:
    """Return p-values adjusted for having asked several times.

    Parameters
    ----------
    p_values : array of shape (m,)
    method : {"holm", "bonferroni", "bh"}, default="holm"
        The first two keep the chance of any false alarm below the level, Holm's with smaller values; "bh" keeps the
        expected share of false alarms below it (Benjamini and Hochberg, 1995). NaN stays NaN and is not counted.

    Examples
    --------
    >>> adjust_p_values([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or (p < 0).any() or (p > 1).any():
        raise DataError(f"p_values must be a vector of numbers between 0 and 1; got {p_values}.")
    m, order = int((~np.isnan(p)).sum()), np.argsort(p, kind="stable")  # NaN is sorted to the end
    order = order[:m]
    ranked = p[order]
    if method == "bonferroni":
        steps = ranked * m
    elif method == "holm":
        steps = np.maximum.accumulate(ranked * np.arange(m, 0, -1))
    elif method == "bh":
        steps = np.minimum.accumulate((ranked * m / np.arange(1, m + 1))[::-1])[::-1]
    else:
        options = ("holm", "bonferroni", "bh")
        raise DataError(f"method must be one of {options}; got {method!r}.{nearest(method, options)}")
    adjusted = np.full_like(p, np.nan)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def check_level(level: float) -> None:
    """Raise when a level is no probability strictly between 0 and 1."""
    if not 0 < level < 1:
        raise DataError(f"level must lie between 0 and 1, both excluded; got {level}.")
