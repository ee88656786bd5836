"""The bootstrap and the jackknife: what a statistic would do on other samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from math import factorial
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, generator
from gnomon.core.threads import in_order
from gnomon.core.validate import weights as check_weights
from gnomon.selection.intervals import check_level

AT_ONCE = 64  # resamples that one thread takes at a time
MOST_EXACT = 10  # rows of which every resample is listed
METHODS = ("percentile", "basic", "normal", "bca", "studentized")


class Bootstrap(NamedTuple):
    """A statistic, its replicates, and what they say about it."""

    estimate: Any
    replicates: Array  # (resamples,) or (resamples, numbers)
    probabilities: Array
    mean: Any
    variance: Any  # divided by the number of replicates, not by one less
    standard_error: Any
    bias: Any
    low: Any
    high: Any
    method: str
    level: float

    def plot(self, ax: Any = None) -> Any:
        """Draw the replicates with the estimate and the interval."""
        from gnomon.plot.evaluation import replicates

        return replicates(self, ax=ax)


class Replicates(NamedTuple):
    """What the bootstrap of version 0.1 returned; files may hold it."""

    replicates: Array
    probabilities: Array
    mean: Any
    variance: Any


# Statistics of sums: columns to add up, and a function of the sums and n.
SUMS: dict[str, tuple[Callable[[Array], Array], Callable[[Array, float], Array]]] = {
    "mean": (lambda x: x, lambda s, n: s / n),
    "ratio": (lambda x: x, lambda s, n: _ratio(s)),
    "variance": (
        lambda x: np.column_stack([x - x.mean(), (x - x.mean()) ** 2]),
        lambda s, n: (s[:, 1:] - s[:, :1] ** 2 / n) / (n - 1),
    ),
    "correlation": (lambda x: _products(x), lambda s, n: _correlation(s, n)),
}


def _ratio(s: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return s[:, :1] / s[:, 1:2]


def _products(x: Array) -> Array:
    u, v = (x - x.mean(axis=0)).T
    return np.column_stack([u, v, u * u, v * v, u * v])


def _correlation(s: Array, n: float) -> Array:
    u, v, uu, vv, uv = s.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return ((uv - u * v / n) / np.sqrt((uu - u * u / n) * (vv - v * v / n)))[:, None]


def bootstrap(
    statistic: Any,
    data: Any,
    *,
    n_resamples: int = 2000,
    method: str = "percentile",
    level: float = 0.95,
    exact: bool = False,
    weights: Any = None,
    random_state: Any = None,
) -> Bootstrap:
    r"""Resample the data with replacement and look at what a statistic does.

    .. math:: \mu_B = \frac1B \sum_b \hat S_b, \qquad \sigma_B^2 = \frac1B \sum_b (\hat S_b - \mu_B)^2

    ``exact=True`` takes every multiset of n draws with its probability instead (:math:`\binom{2n-1}{n}` of them).

    Parameters
    ----------
    statistic : callable or {"mean", "ratio", "variance", "correlation"}
        Takes the resampled rows, returns a number or a vector of them. The named ones (of one column; of two for a
        ratio of sums and a correlation) are computed from sums and many times faster. For "studentized" it returns
        a pair: estimate and standard error.
    data : array of shape (n,) or (n, d), or tuple of arrays of one length
        A tuple is resampled together: ``statistic(*arrays)``.
    n_resamples : int, default=2000
    method : {"percentile", "basic", "normal", "bca", "studentized"}, default="percentile"
        Of the interval. "bca" corrects for bias and skewness by the jackknife (Efron, Better bootstrap confidence
        intervals, 1987).
    level : float, default=0.95
    exact : bool, default=False
        At most ten rows.
    weights : array of shape (n,), optional
        Draw probabilities, up to a factor.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    Bootstrap
        `estimate`, `replicates`, `mean`, `variance`, `standard_error`, `bias`, and the interval `low`, `high`.

    Examples
    --------
    >>> found = bootstrap(np.median, [1, 2, 4], exact=True)
    >>> round(found.mean, 6), round(found.variance, 6)
    (2.259259, 1.229081)
    >>> found = bootstrap("mean", np.arange(100.0), method="bca", random_state=0)
    >>> found.low < 49.5 < found.high
    True
    """
    if method not in METHODS:
        raise DataError(f"method must be one of {METHODS}; got {method!r}.{nearest(method, METHODS)}")
    check_level(level)
    parts = tuple(np.asarray(part) for part in (data if isinstance(data, tuple) else (data,)))
    n = len(parts[0])
    if any(len(part) != n for part in parts) or n < 2:
        raise DataError(
            f"data must have at least two rows, and parts of one length; got {[len(p) for p in parts]}."
        )
    if n_resamples < 2:
        raise DataError(f"n_resamples must be at least 2; got {n_resamples}.")
    of_rows = _row_function(statistic, parts)
    everything = of_rows(np.arange(n))
    p = None if weights is None else check_weights(weights, n) / np.sum(weights)
    if exact:
        draws, probability = _every(n, np.full(n, 1 / n) if p is None else p)
        values = np.array(
            list(in_order(lambda rows: of_rows(np.asarray(rows)), draws, "bootstrap")), dtype=float
        )
    else:
        key, probability = draw_seed(generator(random_state)), np.full(n_resamples, 1 / n_resamples)
        values = _replicates(statistic, parts, of_rows, n_resamples, key, p)
    values, everything = values.reshape(len(values), -1), np.ravel(np.asarray(everything, dtype=float))
    _refuse_what_is_not_finite(values)
    if method == "studentized":
        return _studentized(values, everything, probability, level)
    mean = probability @ values
    variance = probability @ (values - mean) ** 2
    ends = _ends(method, values, everything, probability, level, lambda: _leave_one_out(of_rows, n))
    told = [_plain(v) for v in (everything, mean, variance, np.sqrt(variance), mean - everything, *ends)]
    return Bootstrap(told[0], _flat(values), probability, *told[1:], method, level)


def _plain(value: Array) -> Any:
    return float(value[0]) if len(value) == 1 else value


def _flat(values: Array) -> Array:
    return values[:, 0] if values.shape[1] == 1 else values


def _named(statistic: Any, parts: tuple[Array, ...]) -> str | None:
    """Return the name of a statistic of sums, if it is one."""
    if statistic is np.mean and len(parts) == 1 and parts[0].ndim == 1:
        return "mean"
    if isinstance(statistic, str):
        if statistic not in SUMS:
            raise DataError(
                f"statistic must be callable or one of {tuple(SUMS)}; got {statistic!r}.{nearest(statistic, SUMS)}"
            )
        return statistic
    return None


def _columns(name: str, parts: tuple[Array, ...]) -> Array:
    x = np.column_stack([part.astype(float) for part in parts])
    wanted = 2 if name in ("ratio", "correlation") else 1
    if x.shape[1] != wanted and not (name == "mean"):
        raise DataError(f"{name!r} needs data of {wanted} columns; got {x.shape[1]}.")
    return np.ascontiguousarray(SUMS[name][0](x))


def _row_function(statistic: Any, parts: tuple[Array, ...]) -> Callable[[Array], Any]:
    name = _named(statistic, parts)
    if name is None:
        return lambda rows: statistic(*(part[rows] for part in parts))
    Z = _columns(name, parts)
    return lambda rows: SUMS[name][1](Z[rows].sum(axis=0)[None], float(len(rows)))[0]


def _replicates(
    statistic: Any, parts: tuple[Array, ...], of_rows: Any, n_resamples: int, key: int, p: Array | None
) -> Array:
    from gnomon.loops.resampling import resample_rows, resample_sums

    n, name = len(parts[0]), _named(statistic, parts)
    Z = None if name is None else _columns(name, parts)
    cumulated = None if p is None else np.cumsum(p)

    def some(first: int) -> Array:
        count = min(AT_ONCE, n_resamples - first)
        if Z is not None and cumulated is None:
            sums = np.empty((count, Z.shape[1]))
            resample_sums(Z, key, first, sums)
            return SUMS[str(name)][1](sums, float(n))
        rows = np.empty((count, n), dtype=np.int64)
        if cumulated is None:
            resample_rows(n, key, first, rows)
        else:
            resample_rows(2**31, key, first, rows)
            rows = np.minimum(np.searchsorted(cumulated, rows / 2**31, "right"), n - 1)
        return np.array([np.ravel(of_rows(mine)) for mine in rows], dtype=float)

    return np.concatenate(list(in_order(some, range(0, n_resamples, AT_ONCE), "bootstrap")))


def _refuse_what_is_not_finite(values: Array) -> None:
    bad = int((~np.isfinite(values)).any(axis=1).sum())
    if bad:
        kind = "NaN" if np.isnan(values).any() else "infinite"
        raise DataError(
            f"the statistic is {kind} for {bad} of {len(values)} resamples; make it defined for all."
        )


def _ends(
    method: str, values: Array, estimate: Array, p: Array, level: float, left_out: Any
) -> tuple[Array, Array]:
    tails = np.array([(1 - level) / 2, (1 + level) / 2])[:, None] + np.zeros(values.shape[1])
    if method == "normal":
        mean = p @ values
        half = stats.norm.isf(tails[0]) * np.sqrt(p @ (values - mean) ** 2)
        return 2 * estimate - mean - half, 2 * estimate - mean + half
    if method == "bca":
        tails = _bca_tails(values, estimate, p, tails, left_out())
    ends = np.array(
        [[_quantile(values[:, j], p, tails[i, j]) for j in range(values.shape[1])] for i in range(2)]
    )
    return (2 * estimate - ends[1], 2 * estimate - ends[0]) if method == "basic" else (ends[0], ends[1])


def _quantile(values: Array, p: Array, share: float) -> float:
    if np.ptp(p):  # exact: unequal chances
        order = np.argsort(values, kind="stable")
        place = np.searchsorted(np.cumsum(p[order]), share - 1e-12)
        return float(values[order[min(place, len(order) - 1)]])
    return float(np.quantile(values, share))


def _bca_tails(values: Array, estimate: Array, p: Array, tails: Array, left_out: Array) -> Array:
    below = p @ (values < estimate) + 0.5 * (p @ (values == estimate))
    z0 = stats.norm.ppf(np.clip(below, 1e-12, 1 - 1e-12))
    pull = left_out.mean(axis=0) - left_out
    square = (pull**2).sum(axis=0)
    a = np.divide((pull**3).sum(axis=0), 6 * square**1.5, out=np.zeros_like(square), where=square > 0)
    z = stats.norm.ppf(tails)
    return stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))


def _studentized(values: Array, everything: Array, p: Array, level: float) -> Bootstrap:
    if values.shape[1] != 2:
        raise DataError("for 'studentized' the statistic must return a pair: estimate and standard error.")
    estimate, error = everything
    with np.errstate(invalid="ignore", divide="ignore"):
        t = (values[:, 0] - estimate) / values[:, 1]
    t = t[np.isfinite(t)]
    if not len(t):
        raise DataError("no resample has a positive standard error; 'studentized' needs data that vary.")
    high, low = np.quantile(t, [(1 - level) / 2, (1 + level) / 2])
    mean = float(p @ values[:, 0])
    variance = float(p @ (values[:, 0] - mean) ** 2)
    ends = float(estimate - low * error), float(estimate - high * error)
    return Bootstrap(
        float(estimate), values[:, 0], p, mean, variance, float(np.sqrt(variance)), mean - float(estimate),
        *ends, "studentized", level,
    )  # fmt: skip


def _every(n: int, p: Array) -> tuple[list[tuple[int, ...]], Array]:
    if n > MOST_EXACT:
        raise DataError(f"exact=True lists every resample; n={n} is too many, use at most {MOST_EXACT}.")
    draws = list(combinations_with_replacement(range(n), n))
    return draws, np.fromiter(_chances(draws, n, p), dtype=np.float64)


def _chances(draws: list[tuple[int, ...]], n: int, p: Array) -> Iterator[float]:
    for draw in draws:
        counts = np.bincount(draw, minlength=n)
        ways = factorial(n)
        for count in counts:
            ways //= factorial(int(count))
        yield float(ways * np.prod(p**counts))


class Jackknife(NamedTuple):
    """A statistic with bias and variance from leaving out one row at a time."""

    estimate: Any
    replicates: Array  # (n,) or (n, numbers)
    bias: Any
    corrected: Any  # estimate minus bias
    variance: Any
    standard_error: Any


def jackknife(statistic: Any, data: Any) -> Jackknife:
    r"""Leave out every row once.

    .. math:: \hat b = (n-1)(\bar\theta_{(\cdot)} - \hat\theta), \qquad
              \hat v = \frac{n-1}n \sum_i (\theta_{(i)} - \bar\theta_{(\cdot)})^2

    Not for statistics that jump, such as the median.

    Parameters
    ----------
    statistic : callable or {"mean", "ratio", "variance", "correlation"}
    data : array, or tuple of arrays of one length

    Examples
    --------
    >>> round(jackknife("mean", [1, 2, 4, 8]).variance, 6)
    2.395833
    """
    parts = tuple(np.asarray(part) for part in (data if isinstance(data, tuple) else (data,)))
    n = len(parts[0])
    if n < 2:
        raise DataError(f"data must have at least two rows; got {n}.")
    of_rows = _row_function(statistic, parts)
    estimate = np.ravel(np.asarray(of_rows(np.arange(n)), dtype=float))
    values = _leave_one_out(of_rows, n)
    _refuse_what_is_not_finite(values)
    mean = values.mean(axis=0)
    bias, variance = (n - 1) * (mean - estimate), (n - 1) / n * ((values - mean) ** 2).sum(axis=0)
    told = [_plain(v) for v in (estimate, bias, estimate - bias, variance, np.sqrt(variance))]
    return Jackknife(told[0], _flat(values), *told[1:])


def _leave_one_out(of_rows: Callable[[Array], Any], n: int) -> Array:
    every = np.arange(n)
    return np.array(
        list(in_order(lambda i: np.ravel(of_rows(np.delete(every, i))), range(n), "jackknife")), dtype=float
    )
