"""From scores to proposals: variety, quotas, ratings that exist."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array


def rerank_mmr(scores: Any, similarity: Any, N: int | None = None, trade_off: float = 0.7) -> Array:
    r"""Return an order that trades score against likeness to what is already in the list.

    Maximal marginal relevance (Carbonell and Goldstein, 1998): take again and again

    .. math:: \arg\max_i\; t\, s_i - (1 - t) \max_{j \text{ chosen}} \mathrm{sim}(i, j) .

    Parameters
    ----------
    scores : array of shape (m,)
        Larger is better; bring them to the scale of the similarities.
    similarity : array of shape (m, m)
        How alike the items are.
    N : int, optional
        Length of the list; all items by default.
    trade_off : float in [0, 1]
        1 is the plain ranking. Ties go to the lower index.

    Returns
    -------
    array of int
        Indices in the order of the list.

    Examples
    --------
    >>> alike = [[1, 0.95, 0.1], [0.95, 1, 0.15], [0.1, 0.15, 1]]
    >>> rerank_mmr([0.9, 0.85, 0.8], alike, trade_off=0.7)
    array([0, 2, 1])
    """
    s, S = np.asarray(scores, dtype=np.float64), np.asarray(similarity, dtype=np.float64)
    if s.ndim != 1 or S.shape != (len(s), len(s)):
        raise DataError(
            f"similarity must be {len(s)} by {len(s)}, one row per score; its shape is {S.shape}."
        )
    if not 0 <= trade_off <= 1:
        raise DataError(f"trade_off must lie in [0, 1]; got {trade_off}.")
    left = np.ones(len(s), dtype=bool)
    nearest = np.zeros(len(s))
    order: list[int] = []
    for _ in range(min(len(s), len(s) if N is None else N)):
        value = np.where(left, trade_off * s - (1 - trade_off) * nearest, -np.inf)
        best = int(np.argmax(value))
        nearest = np.maximum(nearest, S[best]) if order else S[best].copy()
        order.append(best)
        left[best] = False
    return np.array(order, dtype=np.int64)


def enforce_quota(ids: Any, groups: Any, max_per_group: int) -> Array:
    """Return the list with at most so many items of each group, the first ones.

    Parameters
    ----------
    ids : sequence
        A list of items, best first.
    groups : dict, or sequence as long as ids
        Item -> group, or the group of every entry. An item without a group is never left out.
    max_per_group : int
        How many of a group may stay.

    Returns
    -------
    array
        The ids that stay, in order.

    Examples
    --------
    >>> enforce_quota([4, 8, 1, 6], ["horror", "horror", "horror", "comedy"], 2)
    array([4, 8, 6])
    """
    if max_per_group < 0:
        raise DataError(f"max_per_group must not be negative; got {max_per_group}.")
    listed = list(ids)
    if hasattr(groups, "get"):
        labels = [groups.get(one) for one in listed]
    else:
        labels = list(groups)
        if len(labels) != len(listed):
            raise DataError(
                f"groups must be a dict or as long as ids ({len(listed)}); its length is {len(labels)}."
            )
    used: dict[Any, int] = {}
    kept = []
    for one, label in zip(listed, labels):
        used[label] = used.get(label, 0) + 1
        if label is None or used[label] <= max_per_group:
            kept.append(one)
    return np.array(kept, dtype=np.asarray(ids).dtype)


def round_ratings(x: Any, options: Any) -> Array:
    """Return the nearest allowed rating of every number; half-way goes to the larger.

    Parameters
    ----------
    x : array
        Numbers.
    options : sequence of numbers
        The ratings that exist, such as 1 to 5 in halves.

    Returns
    -------
    array
        Of the shape of x.

    Examples
    --------
    >>> round_ratings([2.5, 3.49, 0.2, 9], range(1, 6))
    array([3., 3., 1., 5.])
    """
    grid = np.unique(np.asarray(list(options), dtype=np.float64))
    if not len(grid):
        raise DataError("options is empty; name the ratings that exist.")
    values = np.asarray(x, dtype=np.float64)
    above = (
        np.clip(np.searchsorted(grid, values), 1, len(grid) - 1)
        if len(grid) > 1
        else np.zeros(values.shape, int)
    )
    low, high = grid[np.maximum(above - 1, 0)], grid[above]
    return np.where(values - low < high - values, low, high)
