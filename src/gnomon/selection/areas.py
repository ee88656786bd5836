"""Areas under ROC curves: intervals, and what an area says about single points of the curve."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from gnomon.core.errors import DataError, DegenerateError, nearest
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, generator
from gnomon.core.threads import in_order
from gnomon.core.validate import weights as check_weights
from gnomon.selection.intervals import check_level

RESAMPLES_AT_ONCE = 64


class DeLongParts(NamedTuple):
    """The area, and for every row the share of the other class on the right side of it."""

    auc: float
    positive: Array
    negative: Array
    positive_weight: Array
    negative_weight: Array


def delong_parts(y: Any, score: Any, sample_weight: Any = None) -> DeLongParts:
    """Return the structural components of the area (DeLong, DeLong and Clarke-Pearson, 1988), by two sorts."""
    positive, s = two_classes(y, score)
    w = np.ones(len(s)) if sample_weight is None else check_weights(sample_weight, len(s))
    keep = w > 0
    positive, s, w = positive[keep], s[keep], w[keep]
    if positive.all() or not positive.any():
        raise DegenerateError("the area needs rows of both classes; y has one class only.")
    a, b, wa, wb = s[positive], s[~positive], w[positive], w[~positive]
    above = _share_below(a, b, wb)
    below = 1.0 - _share_below(b, a, wa)
    return DeLongParts(float(above @ wa / wa.sum()), above, below, wa, wb)


def _share_below(x: Array, others: Array, weight: Array) -> Array:
    """Return for every x the weighted share of the others below it, half of those equal to it."""
    order = np.argsort(others, kind="stable")
    ranked, cumulated = others[order], np.concatenate([[0.0], np.cumsum(weight[order])])
    low, high = np.searchsorted(ranked, x, "left"), np.searchsorted(ranked, x, "right")
    return (cumulated[low] + cumulated[high]) / (2 * cumulated[-1])


def two_classes(y: Any, score: Any) -> tuple[Array, Array]:
    """Return whether each row is positive (the larger of two labels), and the scores as floats."""
    y, s = np.asarray(y), np.asarray(score, dtype=float)
    if y.ndim != 1 or s.shape != y.shape or not len(y):
        raise DataError(f"y and score must be vectors of one length; got {y.shape} and {s.shape}.")
    if np.isnan(s).any():
        raise DataError("score has NaN entries; such rows cannot be ranked.")
    if y.dtype.kind in "biu":  # two passes tell what sorting would
        top = y.max()
        positive = y == top
        if top != (low := y.min()) and (positive | (y == low)).all():
            return positive, s
    labels = np.unique(y)
    if len(labels) > 2:
        raise DataError(f"y must have two classes; it has {len(labels)}. Take one class against the rest.")
    if len(labels) == 1:
        if labels[0] not in (-1, 0, 1):
            raise DegenerateError(
                f"y has one class only, {labels[0].item()!r}, and nothing says whether it is the positive one."
            )
        return np.full(len(y), bool(labels[0] == 1)), s
    return y == labels[1], s


class AucInterval(NamedTuple):
    """An area under the ROC curve with its standard error and interval."""

    auc: float
    low: float
    high: float
    standard_error: float


def auc_interval(
    y: Any,
    score: Any,
    *,
    method: str = "delong",
    level: float = 0.95,
    sample_weight: Any = None,
    n_resamples: int = 2000,
    random_state: Any = None,
) -> AucInterval:
    r"""Return the area under the ROC curve, P(s⁺ > s⁻) + ½ P(tie), with an interval.

    .. math:: \widehat{\operatorname{Var}} = \frac{s^2_{10}}{m} + \frac{s^2_{01}}{n}

    where :math:`s^2_{10}` is the variance over positive rows of the share of negatives below them, and
    :math:`s^2_{01}` that over negative rows of the share of positives above.

    Parameters
    ----------
    y : array of shape (n,)
        Two classes; the larger label is positive.
    score : array of shape (n,)
        Higher for rows more likely positive.
    method : {"delong", "logit", "bootstrap"}, default="delong"
        DeLong's normal interval, cut at 0 and 1; the same on the logit scale, better near the ends; or percentiles of
        resampled rows. For an area of 0 or 1 the variance is zero, and the interval of the first two is the exact one
        of as many independent pairs as the smaller class has rows.
    level : float, default=0.95
    sample_weight : array of shape (n,), optional
        Repetitions of rows; not for "bootstrap".
    n_resamples, random_state
        For "bootstrap".

    Examples
    --------
    >>> score = [0.9, 0.8, 0.8, 0.7, 0.6, 0.55, 0.5, 0.4, 0.3, 0.1]
    >>> found = auc_interval([1, 1, 0, 1, 0, 1, 0, 0, 1, 0], score)
    >>> round(found.auc, 6), round(found.standard_error, 6)
    (0.7, 0.184391)
    """
    options = ("delong", "logit", "bootstrap")
    if method not in options:
        raise DataError(f"method must be one of {options}; got {method!r}.{nearest(method, options)}")
    check_level(level)
    parts = delong_parts(y, score, sample_weight)
    if method == "bootstrap":
        if sample_weight is not None:
            raise DataError("the bootstrap of weighted rows is not defined here; take method='delong'.")
        areas = bootstrap_auc(y, [score], n_resamples, random_state)[:, 0]
        low, high = np.nanquantile(areas, [(1 - level) / 2, (1 + level) / 2])
        return AucInterval(parts.auc, float(low), float(high), float(np.nanstd(areas)))
    error = float(
        np.sqrt(
            _mean_variance(parts.positive, parts.positive_weight)
            + _mean_variance(parts.negative, parts.negative_weight)
        )
    )
    z = float(stats.norm.isf((1 - level) / 2))
    if parts.auc in (0.0, 1.0):  # no pair is out of order, and the variance is zero: count independent pairs
        pairs = min(float(parts.positive_weight.sum()), float(parts.negative_weight.sum()))
        end = ((1 - level) / 2) ** (1 / pairs)
        return AucInterval(parts.auc, *((end, 1.0) if parts.auc else (0.0, 1 - end)), error)
    if method == "logit":
        center, half = np.log(parts.auc / (1 - parts.auc)), z * error / (parts.auc * (1 - parts.auc))
        low, high = (float(1 / (1 + np.exp(-(center + side * half)))) for side in (-1, 1))
        return AucInterval(parts.auc, low, high, error)
    return AucInterval(parts.auc, max(parts.auc - z * error, 0.0), min(parts.auc + z * error, 1.0), error)


def _mean_variance(values: Array, weight: Array) -> float:
    total = float(weight.sum())
    if total <= 1:
        return float("nan")
    mean = float(values @ weight) / total
    return float(((values - mean) ** 2) @ weight) / (total - 1) / total


def bootstrap_auc(y: Any, scores: list[Any], n_resamples: int, random_state: Any) -> Array:
    """Return areas of several scores in the same resamples, shape (n_resamples, scores); rows are sorted once."""
    from gnomon.loops.resampling import resample_counts

    positive = two_classes(y, scores[0])[0]
    n = len(positive)
    sorted_rows = []
    for score in scores:
        s = two_classes(y, score)[1]
        order = np.argsort(s, kind="stable")
        ends = np.flatnonzero(np.append(np.diff(s[order]) != 0, True))  # last row of each group of ties
        sorted_rows.append((order, ends))
    key = draw_seed(generator(random_state))

    def some(first: int) -> Array:
        counts = np.zeros((min(RESAMPLES_AT_ONCE, n_resamples - first), n), dtype=np.int32)
        resample_counts(n, key, first, counts)
        found = np.empty((len(counts), len(scores)))
        for k, (order, ends) in enumerate(sorted_rows):
            mine, plus = counts[:, order], positive[order]
            up = np.cumsum(mine * plus, axis=1)[:, ends].astype(float)
            down = np.cumsum(mine * ~plus, axis=1)[:, ends].astype(float)
            fresh_up, fresh_down = np.diff(up, axis=1, prepend=0.0), np.diff(down, axis=1, prepend=0.0)
            with np.errstate(invalid="ignore", divide="ignore"):
                found[:, k] = (fresh_up * (down - fresh_down / 2)).sum(axis=1) / (up[:, -1] * down[:, -1])
        return found

    return np.concatenate(list(in_order(some, range(0, n_resamples, RESAMPLES_AT_ONCE), "bootstrap")))


def auc_bounds(auc: Any, *, fpr: Any = None, tpr: Any = None) -> tuple[Any, Any]:
    r"""Return how low and how high a rate can be at a point of any ROC curve with a given area.

    .. math::
        \mathrm{TPR}(f) \in \Bigl[\max\bigl(0, \tfrac{A-(1-f)}{f}\bigr), \min\bigl(1, \tfrac{A}{1-f}\bigr)\Bigr]

    A large area promises little at small false positive rates.

    Parameters
    ----------
    auc : float or array
    fpr, tpr : float or array
        The rate that is fixed; exactly one. The bounds are for the other one.

    Examples
    --------
    >>> low, high = auc_bounds(0.95, fpr=0.1)
    >>> round(low, 6), round(high, 6)
    (0.5, 1.0)
    """
    if (fpr is None) == (tpr is None):
        raise DataError("give fpr or tpr, the rate that is fixed.")
    A, rate = np.broadcast_arrays(
        np.asarray(auc, dtype=float), np.asarray(fpr if tpr is None else tpr, dtype=float)
    )
    if not ((A >= 0) & (A <= 1) & (rate >= 0) & (rate <= 1)).all():
        raise DataError("areas and rates must lie between 0 and 1.")
    with np.errstate(divide="ignore", invalid="ignore"):
        if tpr is None:
            low = np.where(rate > 0, np.maximum(0.0, (A - (1 - rate)) / rate), 0.0)
            high = np.where(rate < 1, np.minimum(1.0, A / (1 - rate)), 1.0)
        else:
            low = np.where(rate > 0, np.maximum(0.0, 1 - A / rate), 0.0)
            high = np.where(rate < 1, np.minimum(1.0, (1 - A) / (1 - rate)), 1.0)
    return (low.item(), high.item()) if not low.ndim else (low, high)
