"""Scores of forecasts that reward the truth: whoever says what she believes does best."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.selection.intervals import check_level

RULES = ("log", "brier", "spherical", "crps", "pinball", "interval")


def proper_score(y: Any, forecast: Any, rule: str = "log", *, level: Any = 0.9) -> Array:
    r"""Return a proper score for every row; smaller is better.

    .. math::
        \mathrm{CRPS}(F, y) = \int (F(z) - \mathbb 1\{z \ge y\})^2 dz = E|Z - y| - \tfrac12 E|Z - Z'|

    "log" is minus the log density or probability, infinite for what was called impossible; "brier" the squared distance
    of the probabilities; "interval" the width plus :math:`\frac2\alpha` times the miss (Gneiting and Raftery, Strictly
    proper scoring rules, 2007).

    Parameters
    ----------
    y : array of shape (n,)
        What happened: numbers, or class codes 0, 1, … for probabilities.
    forecast : distribution, array or pair of arrays
        For "log" and "crps" a frozen SciPy distribution (of shape (n,)), as `predict_distribution` returns it, or draws
        of shape (n, m); for "log", "brier" and "spherical" probabilities of shape (n, classes), or (n,) of class 1; for
        "pinball" quantiles of shape (n,); for "interval" a pair of ends.
    rule : {"log", "brier", "spherical", "crps", "pinball", "interval"}, default="log"
    level : float, default=0.9
        Of the interval, or the probability of the quantile.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> proper_score([0.0, 2.0], norm([0.0, 0.0], 1.0), "crps").round(6)
    array([0.233695, 1.452792])
    >>> proper_score([1, 0], [[0.2, 0.8], [0.5, 0.5]], "brier")
    array([0.08, 0.5 ])
    """
    if rule not in RULES:
        raise DataError(f"rule must be one of {RULES}; got {rule!r}.{nearest(rule, RULES)}")
    y = np.asarray(y)
    if y.ndim != 1 or not len(y):
        raise DataError(f"y must be a vector, not empty; its shape is {y.shape}.")
    if rule in ("interval", "pinball"):
        check_level(level)
    if rule == "interval":
        return _interval(y.astype(float), forecast, level)
    if rule == "pinball":
        quantiles = np.asarray(forecast, dtype=float)
        if quantiles.shape != y.shape:
            raise DataError(f"quantiles must have the shape {y.shape} of y; got {quantiles.shape}.")
        gap = y.astype(float) - quantiles
        return np.maximum(level * gap, (level - 1) * gap)
    if rule == "crps":
        return _crps(y.astype(float), forecast)
    if hasattr(forecast, "logpdf") or hasattr(forecast, "logpmf"):
        if rule != "log":
            raise DataError(
                f"{rule!r} takes probabilities of classes; take 'log' or 'crps' for a distribution."
            )
        return -np.asarray(_log_density(forecast, y))
    return _classes(y, forecast, rule)


def _log_density(forecast: Any, y: Array) -> Any:
    try:
        return forecast.logpdf(y)
    except AttributeError:
        return forecast.logpmf(y)


def _classes(y: Array, forecast: Any, rule: str) -> Array:
    P = np.asarray(forecast, dtype=float)
    P = np.column_stack([1 - P, P]) if P.ndim == 1 else P
    if P.shape[0] != len(y) or not (P >= 0).all() or np.abs(P.sum(axis=1) - 1).max() > 1e-6:
        raise DataError(f"probabilities must have one row for each of {len(y)}, not negative, with sum one.")
    codes = y.astype(int)
    if (codes < 0).any() or (codes >= P.shape[1]).any() or (codes != y).any():
        raise DataError(f"y must hold codes 0 to {P.shape[1] - 1} of the columns.")
    told = P[np.arange(len(y)), codes]
    if rule == "log":
        with np.errstate(divide="ignore"):
            return -np.log(told)
    if rule == "brier":
        return (P**2).sum(axis=1) - 2 * told + 1
    return -told / np.sqrt((P**2).sum(axis=1))


def _interval(y: Array, forecast: Any, level: float) -> Array:
    low, high = (np.asarray(end, dtype=float) for end in forecast)
    if low.shape != y.shape or high.shape != y.shape or (low > high).any():
        raise DataError("the lower ends must not lie above the upper ends, one pair for each row.")
    alpha = 1 - level
    return high - low + 2 / alpha * (np.maximum(low - y, 0) + np.maximum(y - high, 0))


def _crps(y: Array, forecast: Any) -> Array:
    name = getattr(getattr(forecast, "dist", None), "name", "")
    if name == "norm":
        m, s = forecast.mean(), forecast.std()
        z = (y - m) / s
        return s * (z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi))
    if hasattr(forecast, "ppf"):  # twice the pinball loss, averaged over quantiles
        u = (np.arange(2000) + 0.5) / 2000
        q = np.array([np.broadcast_to(forecast.ppf(one), y.shape) for one in u])
        gap = y - q
        return 2 * np.maximum(u[:, None] * gap, (u[:, None] - 1) * gap).mean(axis=0)
    draws = np.asarray(forecast, dtype=float)
    if draws.ndim != 2 or len(draws) != len(y):
        raise DataError("forecast must be a distribution, or draws of shape (n, m).")
    draws, m = np.sort(draws, axis=1), draws.shape[1]
    weight = 2 * np.arange(1, m + 1) - m - 1
    return np.abs(draws - y[:, None]).mean(axis=1) - draws @ weight / m**2
