"""How large the answer will be, before it is asked for."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from gnomon.association.baskets import baskets_of
from gnomon.association.ranks import least_count, ranked
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, generator

SIZES = 64  # sets of more items than this are counted with the last


class Work(NamedTuple):
    """What `estimate_work` expects."""

    sets: float  # frequent sets in all, in the mean
    standard_error: float  # of that
    at_least: int  # frequent sets there are for certain: the subsets of one that was met
    by_size: Array  # expected number of sets of 1, 2, ... items
    longest: int  # the largest frequent set that was met
    min_count: int


def estimate_work(
    df: Any,
    min_support: float = 0.5,
    *,
    min_count: int | None = None,
    max_len: int | None = None,
    n_probes: int = 500,
    random_state: Any = 0,
) -> Work:
    """Estimate how many frequent sets there are, without finding them.

    Random descents of the search tree: at every set one of its n frequent extensions is taken, and the
    descent stands for
    n times as many. The mean over descents is the true number, whatever the tree (Knuth, 1975), but a tree with
    few deep branches needs many descents: see the standard error. Any set that was met gives a bound that is
    certain, as
    all its subsets are frequent.

    Parameters
    ----------
    df, min_support, min_count, max_len
        As in `apriori`.
    n_probes : int
        Descents.
    random_state : int, RandomState, Generator or None
        Where the randomness comes from.

    Returns
    -------
    Work
        The expected number of ``sets``, its ``standard_error``, ``at_least``, ``by_size``, ``longest``,
        ``min_count``.

    Examples
    --------
    >>> work = estimate_work([list("abcdefghij")] * 5, min_support=0.9)
    >>> work.at_least, work.longest, 500 < work.sets < 2000
    (1023, 10, True)
    """
    from gnomon.loops.closedsets import greedy_length, probes

    if n_probes < 1:
        raise DataError(f"n_probes must be at least 1; got {n_probes}.")
    baskets = baskets_of(df)
    least = least_count(baskets.n, min_support, min_count)
    data = ranked(baskets, least)
    p = len(data.columns)
    longest = SIZES if max_len is None else int(max_len)
    widths = np.zeros((n_probes, max(1, min(longest, SIZES))))
    if p == 0:
        return Work(0.0, 0.0, 0, np.zeros(0), 0, least)
    where = (data.starts, data.items, data.basket_starts, data.baskets, least)
    seed = draw_seed(generator(random_state))
    met = int(probes(seed, n_probes, *where, longest, widths))
    met = max(met, *(int(greedy_length(first, *where)) for first in sorted({p - 1, p // 2, 0})))
    totals = widths.sum(axis=1)
    by_size = widths.mean(axis=0)
    reach = min(met, longest)
    return Work(
        float(totals.mean()),
        float(totals.std(ddof=1) / math.sqrt(n_probes)) if n_probes > 1 else math.inf,
        sum(math.comb(met, k) for k in range(1, reach + 1)),
        by_size[: int(np.flatnonzero(by_size)[-1]) + 1],
        met,
        least,
    )
