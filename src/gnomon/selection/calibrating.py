"""Probabilities that mean what they say: how far they are from it, and maps that bring them there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit, logit

from gnomon.core.errors import DataError, DegenerateError, ModelFileError, nearest
from gnomon.core.linalg import Array
from gnomon.core.threads import in_order
from gnomon.core.validate import weights as check_weights
from gnomon.selection.areas import two_classes
from gnomon.selection.intervals import error_interval

METHODS = ("isotonic", "sigmoid", "beta", "temperature")
AT_ONCE = 65_536  # scores that one thread maps at a time
TINY = 1e-12  # probabilities are kept so far from 0 and 1 before their logit is taken


class Calibration(NamedTuple):
    """Forecast and observed rates bin by bin, and what follows from them."""

    predicted: Array  # mean probability in each bin that is not empty
    observed: Array  # rate of the positive class
    counts: Array
    low: Array  # Wilson interval of the observed rate
    high: Array
    ece: float  # mean distance of the two, weighted by the rows
    mce: float  # largest distance
    ece_if_calibrated: float  # what chance alone would give with these probabilities and bins
    squared: float  # mean squared distance less what chance adds: unbiased, may be negative
    brier: float
    log_loss: float
    reliability: (
        float  # Brier = reliability − resolution + uncertainty, for forecasts that are constant in bins
    )
    resolution: float
    uncertainty: float

    def plot(self, ax: Any = None) -> Any:
        """Draw the reliability diagram."""
        from gnomon.plot import reliability

        return reliability(self, ax=ax)


def calibration(
    y: Any,
    p: Any,
    *,
    n_bins: int = 10,
    strategy: str = "uniform",
    level: float = 0.95,
    sample_weight: Any = None,
) -> Calibration:
    r"""Compare predicted probabilities with what happened.

    .. math:: \mathrm{ECE} = \sum_b \frac{n_b}{n}\,\lvert \bar p_b - \bar y_b\rvert

    The calibration error is never zero, not even for true probabilities: `ece_if_calibrated` is what chance alone
    gives, :math:`\sum_b \frac{n_b}n \sqrt{2 v_b/\pi}` with the variance :math:`v_b` of the rate in a bin. Judge `ece`
    against it.

    Parameters
    ----------
    y : array of shape (n,)
        Two classes; the larger label is positive.
    p : array of shape (n,)
        Its probability.
    n_bins : int, default=10
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of equally many rows. Edges belong to the bin on their left, as in scikit-learn.
    level : float, default=0.95
        Of the bands.
    sample_weight : array of shape (n,), optional

    Examples
    --------
    >>> p = [0.92, 0.83, 0.81, 0.71, 0.62, 0.55, 0.51, 0.44, 0.31, 0.12]
    >>> found = calibration([1, 1, 0, 1, 0, 1, 0, 0, 1, 0], p, n_bins=5)
    >>> round(found.ece, 6), round(found.mce, 6), round(found.brier, 6)
    (0.22, 0.69, 0.23066)
    """
    positive, p = two_classes(y, p)
    if (p < 0).any() or (p > 1).any():
        raise DataError("p must hold probabilities between 0 and 1.")
    if n_bins < 1:
        raise DataError(f"n_bins must be at least 1; got {n_bins}.")
    w = np.ones(len(p)) if sample_weight is None else check_weights(sample_weight, len(p))
    if strategy == "uniform":
        inner = np.linspace(0.0, 1.0, n_bins + 1)[1:-1]
    elif strategy == "quantile":
        inner = np.unique(
            np.percentile(p, np.linspace(0, 100, n_bins + 1)[1:-1])
        )  # bins that coincide are one
    else:
        hint = nearest(strategy, ("uniform", "quantile"))
        raise DataError(f"strategy must be 'uniform' or 'quantile'; got {strategy!r}.{hint}")
    bins = np.searchsorted(inner, p)
    k = len(inner) + 1
    count, hits, sums, noise = (
        np.bincount(bins, values, minlength=k) for values in (w, w * positive, w * p, w * p * (1 - p))
    )
    full = count > 0
    count, hits, sums, noise = count[full], hits[full], sums[full], noise[full]
    predicted, observed, share = sums / count, hits / count, count / w.sum()
    gap = np.abs(predicted - observed)
    low, high = error_interval(np.minimum(hits, count), count, level=level)
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = np.where(count > 1, observed * (1 - observed) / (count - 1), 0.0)
    base = float(hits.sum() / w.sum())
    inside = np.clip(p, TINY, 1 - TINY)
    logs = np.where(positive, np.log(inside), np.log1p(-inside))
    return Calibration(
        predicted, observed, count, np.atleast_1d(low), np.atleast_1d(high),
        float(share @ gap),
        float(gap.max()),
        float(share @ (np.sqrt(2 * noise / np.pi) / count)),
        float(share @ (gap**2 - chance)),
        float(((p - positive) ** 2) @ w / w.sum()),
        -float(logs @ w / w.sum()),
        float(share @ gap**2),
        float(share @ (observed - base) ** 2),
        base * (1 - base),
    )  # fmt: skip


class CalibrationMap(NamedTuple):
    """A map from scores or probabilities to calibrated probabilities; call it."""

    method: str
    parameters: Array  # slope and offset, or a, b and c, or the temperature
    knots: Array  # of the isotonic map
    values: Array
    probabilities: bool  # whether it takes probabilities rather than scores

    def _check_loaded(self) -> None:
        wanted = {"isotonic": 0, "beta": 3, "temperature": 1, "sigmoid": 2}.get(self.method)
        parts = (self.parameters, self.knots, self.values)
        numbers = all(np.ndim(part) == 1 and np.asarray(part).dtype.kind in "fi" for part in parts)
        fits = wanted is not None and numbers and len(self.parameters) == wanted
        if not fits or len(self.knots) != len(self.values) or (wanted == 0 and not len(self.knots)):
            raise ModelFileError("the numbers of a calibration do not fit its method. Get a new copy.")

    def __call__(self, scores: Any) -> Array:
        s = np.asarray(scores, dtype=float)
        if self.method == "isotonic":
            parts = [s.ravel()[first : first + AT_ONCE] for first in range(0, s.size, AT_ONCE)]
            found = [*in_order(lambda part: np.interp(part, self.knots, self.values), parts), np.empty(0)]
            return np.concatenate(found).reshape(s.shape)
        if self.method == "beta":
            a, b, c = self.parameters
            p = np.clip(s, TINY, 1 - TINY)
            return expit(a * np.log(p) - b * np.log1p(-p) + c)
        z = logit(np.clip(s, TINY, 1 - TINY)) if self.probabilities else s
        if self.method == "temperature":
            return expit(z / self.parameters[0])
        return expit(self.parameters[0] * z + self.parameters[1])


def calibrate(scores: Any, y: Any, *, method: str = "isotonic", sample_weight: Any = None) -> CalibrationMap:
    r"""Learn a map from scores to probabilities on rows that the model has not learned from.

    .. math::
        \text{sigmoid:}\ \frac1{1+e^{-(as+b)}}, \qquad
        \text{temperature:}\ \frac1{1+e^{-s/T}}, \qquad
        \text{beta:}\ \frac1{1+e^{-(a\ln p - b\ln(1-p) + c)}}

    "isotonic" takes any non-decreasing map and needs about a thousand rows; "sigmoid" (Platt) two numbers, with targets
    drawn in a little; "temperature" one; "beta" (Kull, Silva Filho and Flach, 2017) three, and can leave
    probabilities that are calibrated as they are.

    Parameters
    ----------
    scores : array of shape (n,)
        Scores, or probabilities when all lie in [0, 1] (required for "beta").
    y : array of shape (n,)
        Two classes.
    method : {"isotonic", "sigmoid", "beta", "temperature"}, default="isotonic"
    sample_weight : array of shape (n,), optional

    Examples
    --------
    >>> found = calibrate([0.1, 0.3, 0.2, 0.8, 0.9], [0, 0, 1, 1, 1])
    >>> found([0.1, 0.25, 0.8])
    array([0. , 0.5, 1. ])
    """
    if method not in METHODS:
        raise DataError(f"method must be one of {METHODS}; got {method!r}.{nearest(method, METHODS)}")
    positive, s = two_classes(y, scores)
    given = None if sample_weight is None else check_weights(sample_weight, len(s))
    there = positive if given is None else positive[given > 0]
    if there.all() or not there.any():
        raise DegenerateError("calibration needs rows of both classes; y has one class only.")
    if not np.isfinite(s).all():
        raise DataError("scores must be finite.")
    inside = bool(s.min() >= 0 and s.max() <= 1)
    none = np.empty(0)
    if method == "isotonic":
        return CalibrationMap(method, none, *isotonic_map(s, positive, given), inside)
    w = np.ones(len(s)) if given is None else given
    if method == "beta":
        if not inside:
            raise DataError("'beta' maps probabilities; scores must lie between 0 and 1.")
        p = np.clip(s, TINY, 1 - TINY)
        return CalibrationMap(
            method, _beta(np.log(p), -np.log1p(-p), positive.astype(float), w), none, none, True
        )
    z = logit(np.clip(s, TINY, 1 - TINY)) if inside else s
    if method == "temperature":
        return CalibrationMap(method, np.array([_temperature(z, positive, w)]), none, none, inside)
    plus, minus = float(w[positive].sum()), float(w[~positive].sum())
    target = np.where(positive, (plus + 1) / (plus + 2), 1 / (minus + 2))
    scale = float(np.abs(z).max()) or 1.0
    a, b = _newton(np.column_stack([z / scale, np.ones(len(z))]), target, w)
    return CalibrationMap(method, np.array([a / scale, b]), none, none, inside)


def isotonic_map(x: Array, positive: Array, w: Array | None = None) -> tuple[Array, Array]:
    """Return the knots and values of the best non-decreasing function of x, linear between the blocks."""
    from gnomon.loops.isotonic import pool

    x, y, w = _by_score(x, positive, w)
    new = x[1:] != x[:-1]
    if not new.all():  # equal scores are one
        first = np.flatnonzero(np.concatenate([[True], new]))
        weight = np.add.reduceat(w, first)
        x, y, w = x[first], np.add.reduceat(w * y, first) / weight, weight
    means, weights, sizes = np.empty(len(y)), np.empty(len(y)), np.empty(len(y), dtype=np.int64)
    blocks = pool(y, w, means, weights, sizes)
    ends = np.cumsum(sizes[:blocks])
    knots = np.column_stack([x[ends - sizes[:blocks]], x[ends - 1]]).ravel()
    values = np.repeat(means[:blocks], 2)
    single = np.concatenate([[True], knots[1:] != knots[:-1]])
    return knots[single], values[single]


def _by_score(x: Array, positive: Array, w: Array | None) -> tuple[Array, Array, Array]:
    """Return scores in rising order, 1 or 0 for the class of each, and positive weights."""
    if w is None:  # values alone are sorted many times faster than places, and the two classes are merged
        plus, minus = in_order(np.sort, (x[positive], x[~positive]))
        place = np.searchsorted(minus, plus) + np.arange(len(plus))
        y, ranked = np.zeros(len(x)), np.empty(len(x))
        y[place] = 1.0
        ranked[place], ranked[y == 0] = plus, minus
        return ranked, y, np.ones(len(x))
    order = np.argsort(np.where(w > 0, x, np.inf), kind="stable")[: np.count_nonzero(w > 0)]
    return x[order], positive[order].astype(float), w[order]


def _newton(F: Array, target: Array, w: Array, steps: int = 100) -> Array:
    """Minimize the weighted logistic loss over the weights of the features, with halved steps where needed."""
    theta = np.zeros(F.shape[1])

    def loss(theta: Array) -> float:
        z = F @ theta
        return -float(w @ (target * log_expit(z) + (1 - target) * log_expit(-z)))

    now = loss(theta)
    for _ in range(steps):
        p = expit(F @ theta)
        slope = F.T @ (w * (p - target))
        curve = (F.T * (w * np.maximum(p * (1 - p), 1e-14))) @ F
        move = np.linalg.lstsq(curve + 1e-12 * np.trace(curve) * np.eye(len(theta)), slope)[0]
        size = 1.0
        while size > 1e-10 and not (new := loss(theta - size * move)) <= now:
            size /= 2
        theta = theta - size * move
        if size <= 1e-10 or now - new <= 1e-13 * (1 + abs(now)):
            break
        now = new
    return theta


def _beta(a: Array, b: Array, y: Array, w: Array) -> Array:
    """Fit a, b ≥ 0 and c. The loss is convex: where the free fit has a negative one, the best lies on a side."""
    F = np.column_stack([a, b, np.ones(len(a))])
    best, least = np.zeros(3), np.inf
    for kept in ([0, 1, 2], [0, 2], [1, 2], [2]):
        theta = np.zeros(3)
        theta[kept] = _newton(F[:, kept], y, w)
        if (theta[:2] < 0).any():
            continue
        z = F @ theta
        loss = -float(w @ (y * log_expit(z) + (1 - y) * log_expit(-z)))
        if loss < least:
            best, least = theta, loss
        if len(kept) == 3:
            break
    return best


def _temperature(z: Array, positive: Array, w: Array) -> float:
    side = np.where(positive, z, -z)
    found = minimize_scalar(
        lambda t: -float(w @ log_expit(side * np.exp(-t))), bounds=(-6, 6), method="bounded"
    )
    return float(np.exp(found.x))
