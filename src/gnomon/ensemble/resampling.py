"""The bootstrap of a statistic: resamples as counts, all of them for small samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from math import factorial
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.threads import in_order

Array = np.ndarray


class Bootstrap(NamedTuple):
    """Replicates of a statistic with the probability of each."""

    replicates: Array
    probabilities: Array
    mean: Any
    variance: Any  # divided by the number of replicates, not by one less

    def interval(self, level: float = 0.9) -> tuple[Any, Any]:
        """Return the percentile interval."""
        order = np.argsort(self.replicates, axis=0, kind="stable")
        cumulated = np.cumsum(self.probabilities[order])
        ends = np.searchsorted(cumulated, [(1 - level) / 2, (1 + level) / 2 - 1e-12])
        values = self.replicates[order[np.minimum(ends, len(order) - 1)]]
        return values[0], values[1]


def bootstrap(
    statistic: Callable[[Array], Any],
    data: Any,
    *,
    n_resamples: int = 1000,
    exact: bool = False,
    weights: Any = None,
    random_state: Any = None,
) -> Bootstrap:
    r"""Resample the data with replacement and look at what a statistic does.

    .. math:: \mu_B = \frac1B \sum_b \hat S_b, \qquad \sigma_B^2 = \frac1B \sum_b (\hat S_b - \mu_B)^2

    ``exact=True`` takes every multiset of n draws with its probability instead (:math:`\binom{2n-1}{n}` of
    them).

    Parameters
    ----------
    statistic : callable
        Takes the resampled rows, returns a number.
    data : array of shape (n,) or (n, d)
    n_resamples : int, default=1000
    exact : bool, default=False
    weights : array of shape (n,), optional
        Draw probabilities, up to a factor.
    random_state : int, RandomState, Generator or None

    Examples
    --------
    >>> found = bootstrap(np.median, [1, 2, 4], exact=True)
    >>> round(found.mean, 6), round(found.variance, 6)
    (2.259259, 1.229081)
    """
    data = np.asarray(data, dtype=np.float64)
    n = len(data)
    p = np.full(n, 1 / n) if weights is None else np.asarray(weights, dtype=np.float64) / np.sum(weights)
    if exact:
        draws, probability = _every(n, p)
    else:
        seed = draw_seed(generator(random_state))
        draws = [stream(seed, b).choice(n, n, p=None if weights is None else p) for b in range(n_resamples)]
        probability = np.full(n_resamples, 1 / n_resamples)
    values = np.array(list(in_order(lambda rows: statistic(data[np.asarray(rows)]), draws)), dtype=np.float64)
    bad = int(np.isnan(values).sum())
    if bad:
        raise DataError(
            f"the statistic is NaN for {bad} of {len(values)} resamples; make it defined for all."
        )
    mean = probability @ values
    return Bootstrap(values, probability, float(mean), float(probability @ (values - mean) ** 2))


def _every(n: int, p: Array) -> tuple[list[tuple[int, ...]], Array]:
    if n > 10:
        raise DataError(f"exact=True lists every resample; n={n} is too many, use at most 10.")
    draws = list(combinations_with_replacement(range(n), n))
    return draws, np.fromiter(_chances(draws, n, p), dtype=np.float64)


def _chances(draws: list[tuple[int, ...]], n: int, p: Array) -> Iterator[float]:
    for draw in draws:
        counts = np.bincount(draw, minlength=n)
        ways = factorial(n)
        for count in counts:
            ways //= factorial(int(count))
        yield float(ways * np.prod(p**counts))
