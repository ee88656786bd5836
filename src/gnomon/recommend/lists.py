"""From scores to proposals: variety, quotas, ratings that exist."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array


def rerank_mmr(
    scores: Any,
    similarity: Any = None,
    N: int | None = None,
    trade_off: float = 0.7,
    *,
    groups: Any = None,
    max_per_group: int | None = None,
) -> Array:
    r"""Return an order that trades score against likeness to what is already in the list, with quotas if asked for.

    Maximal marginal relevance (Carbonell and Goldstein, 1998): take again and again

    .. math:: \arg\max_i\; t\, s_i - (1 - t) \max_{j \text{ chosen}} \mathrm{sim}(i, j) .

    Parameters
    ----------
    scores : array of shape (m,)
        Larger is better; bring them to the scale of the similarities.
    similarity : array of shape (m, m), optional
        How alike the items are; without it the order is that of the scores.
    N : int, optional
        Length of the list; all items by default.
    trade_off : float in [0, 1]
        1 is the plain ranking. Ties go to the lower index.
    groups : sequence of length m, optional
        The group of every item; one whose group is None is never left out.
    max_per_group : int, optional
        How many of a group may be in the list.

    Returns
    -------
    array of int
        Indices in the order of the list; fewer than N where quotas leave no more.

    Examples
    --------
    >>> alike = [[1, 0.95, 0.1], [0.95, 1, 0.15], [0.1, 0.15, 1]]
    >>> rerank_mmr([0.9, 0.85, 0.8], alike, trade_off=0.7)
    array([0, 2, 1])
    >>> rerank_mmr([4.0, 3.0, 2.0, 1.0], groups=["horror", "horror", "horror", "comedy"], max_per_group=2)
    array([0, 1, 3])
    """
    s = np.asarray(scores, dtype=np.float64)
    S = np.zeros((s.size, s.size)) if similarity is None else np.asarray(similarity, dtype=np.float64)
    if similarity is None:
        trade_off = 1.0
    if s.ndim != 1 or S.shape != (len(s), len(s)):
        raise DataError(
            f"similarity must be {len(s)} by {len(s)}, one row per score; its shape is {S.shape}."
        )
    if np.isnan(s).any() or np.isnan(S).any():
        raise DataError("scores and similarity must not be NaN.")
    if not 0 <= trade_off <= 1:
        raise DataError(f"trade_off must lie in [0, 1]; got {trade_off}.")
    labels = _labels(groups, max_per_group, len(s))
    used: dict[Any, int] = {}
    left = (
        np.ones(len(s), dtype=bool)
        if labels is None or max_per_group
        else np.array([g is None for g in labels])
    )
    nearest = np.zeros(len(s))
    order: list[int] = []
    for _ in range(min(len(s), len(s) if N is None else N)):
        if not left.any():
            break
        value = np.where(left, trade_off * s - (1 - trade_off) * nearest, -np.inf)
        best = int(np.argmax(value))
        nearest = np.maximum(nearest, S[best]) if order else S[best].copy()
        order.append(best)
        left[best] = False
        if labels is not None and labels[best] is not None:
            used[labels[best]] = used.get(labels[best], 0) + 1
            if used[labels[best]] == max_per_group:
                left &= np.array([label != labels[best] for label in labels])
    return np.array(order, dtype=np.int64)


def _labels(groups: Any, max_per_group: int | None, n: int) -> list[Any] | None:
    if (groups is None) != (max_per_group is None):
        raise DataError("groups and max_per_group make a quota together; give both.")
    if groups is None:
        return None
    labels = list(groups)
    if len(labels) != n or max_per_group is None or max_per_group < 0:
        raise DataError(
            f"groups must be as long as scores ({n}) and max_per_group not negative; got {len(labels)} groups and "
            f"{max_per_group}."
        )
    return labels


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
        Of the shape of x; NaN stays NaN.

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
    return np.where(np.isnan(values), np.nan, np.where(values - low < high - values, low, high))
