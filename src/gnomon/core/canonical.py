"""Canonical order: rows in an order that only their values decide, and which of them are copies of each other.

A learner that draws or shuffles rows does it in this order. Then shuffled rows, and a row of weight two written twice,
give the same model for the same seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array

FEW_TIES = 1 / 16  # share of keys that are the one before, up to which they are put in order afterwards


def order_by_value(*columns: Array) -> Array:
    """Return the order of the rows by the first column, then the next; a matrix counts as its columns.

    >>> order_by_value(np.array([[2.0, 0.0], [1.0, 5.0], [1.0, 3.0]]))
    array([2, 1, 0])
    """
    lines = [line for one in columns for line in (one.T if one.ndim == 2 else [one])]
    return np.lexsort(lines[::-1])


def order_by_key(
    keys: Array, differ: Callable[[Array, Array], Array], values: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """Return the order of the rows by a key of their values, and where a row differs from the one before it.

    Equal rows have equal keys; different rows may share one, and are then told apart by their values.

    Parameters
    ----------
    keys : array of shape (n,)
        Any function of the values of a row.
    differ : callable
        ``differ(a, b)`` tells for rows a[i] and b[i] whether they differ.
    values : callable
        ``values(rows)`` returns what decides between different rows of one key: a matrix, a line a row.

    Examples
    --------
    >>> x, y = np.array([1e20, 3.0, 1e20, 1e20]), np.array([1, 0, 0, 1])
    >>> order, fresh = order_by_key(
    ...     x + y,  # the label is lost in rounding
    ...     lambda a, b: (x[a] != x[b]) | (y[a] != y[b]),
    ...     lambda rows: np.column_stack([x[rows], y[rows]]),
    ... )
    >>> order, fresh
    (array([1, 2, 0, 3]), array([ True,  True,  True, False]))
    """
    order = _stable_order(keys)
    ranked = keys[order]
    fresh = np.ones(len(order), dtype=bool)
    tied = np.flatnonzero(ranked[1:] == ranked[:-1])
    if len(tied):
        unequal = differ(order[tied], order[tied + 1])
        if unequal.any():
            places = _whole_ties(ranked, tied[unequal])
            rows = order[places]
            order[places] = rows[order_by_value(keys[rows], values(rows))]
            unequal = differ(order[tied], order[tied + 1])
        fresh[tied + 1] = unequal
    return order, fresh


def _stable_order(keys: Array) -> Array:
    """Return ``argsort(keys, kind="stable")``; NumPy's quick sort is several times as fast, and few keys tie."""
    if keys.dtype.kind not in "iu":
        return np.argsort(keys, kind="stable")
    order = np.argsort(keys)
    ranked = keys[order]
    same = ranked[1:] == ranked[:-1]
    count = np.count_nonzero(same)
    if count > FEW_TIES * len(keys):
        return np.argsort(keys, kind="stable")
    if count:
        places = np.flatnonzero(np.append(same, False) | np.append(False, same))
        rows = order[places]
        order[places] = rows[np.lexsort((rows, keys[rows]))]
    return order


def _whole_ties(ranked: Array, within: Array) -> Array:
    """Return the places of all rows that share a key with one of these places."""
    run = np.cumsum(np.append(True, ranked[1:] != ranked[:-1]))
    return np.flatnonzero(np.isin(run, run[within]))


def rows_differ(A: Any, B: Any) -> Array:
    """Tell for every row whether two matrices, dense or sparse, differ in it."""
    if sparse.issparse(A):
        return np.diff(sparse.csr_array(A != B).indptr) > 0
    return np.asarray((A != B).any(axis=1))
