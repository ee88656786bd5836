"""How alike two raters, or two items, are by what they have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError, nearest
from gnomon.core.ids import codes_of
from gnomon.core.linalg import Array
from gnomon.core.ratings import read_ratings
from gnomon.core.threads import in_order

KINDS = ("pearson", "cosine", "adjusted_cosine", "msd", "jaccard")
BLOCK = 256  # rows of the table at a time


def similarity(
    R: Any,
    a: Any = None,
    b: Any = None,
    *,
    kind: str = "pearson",
    mode: str = "user",
    min_common: int = 2,
    shrinkage: float = 0.0,
) -> Any:
    r"""Return how alike two users (or items) are, or the table of all pairs.

    Only what both have rated counts. Pearson's correlation takes its means over that **common** set,

    .. math:: \frac{\sum_{i \in C} (Y_{ai} - \bar Y_a^C)(Y_{bi} - \bar Y_b^C)}
              {\sqrt{\sum_{i \in C} (Y_{ai} - \bar Y_a^C)^2 \sum_{i \in C} (Y_{bi} - \bar Y_b^C)^2}} .

    Parameters
    ----------
    R : RatingMatrix, sparse matrix, or table with NaN
        The ratings.
    a, b : ids, optional
        A pair; with neither the table of all pairs is returned.
    kind : {"pearson", "cosine", "adjusted_cosine", "msd", "jaccard"}
        "cosine": of the raw common ratings. "adjusted_cosine": the same of ratings minus the mean of the *other* side
        (for items: minus the users' means). "msd": 1 / (1 + mean squared difference). "jaccard": common over all.
    mode : {"user", "item"}
        What is compared.
    min_common : int
        Pairs with fewer in common are NaN, as are those where a correlation is not defined.
    shrinkage : float
        β: multiply by c / (c + β), c the number in common.

    Returns
    -------
    float, or array of shape (n, n)

    Examples
    --------
    >>> R = [[5, 3, 4, 1], [4, 2, 5, 2], [1, 5, 2, np.nan]]
    >>> round(similarity(R, 0, 1), 4), round(similarity(R, 0, 2, kind="cosine"), 4)
    (0.7482, 0.723)
    """
    if kind not in KINDS:
        raise DataError(f"kind must be one of {KINDS}; got {kind!r}.{nearest(kind, KINDS)}")
    if mode not in ("user", "item"):
        raise DataError(f"mode must be 'user' or 'item'; got {mode!r}.")
    ratings = read_ratings(R)
    table = ratings.to_csr() if mode == "user" else sparse.csr_array(ratings.to_csr().T)
    if (a is None) != (b is None):
        raise DataError("give both a and b, or neither for the table of all pairs.")
    if a is None:
        return similarity_table(table, kind, min_common, shrinkage)
    names = ratings.user_names if mode == "user" else ratings.item_names
    codes = codes_of([a, b], names)
    if (codes < 0).any():
        raise DataError(f"{mode} {(a, b)[int(np.flatnonzero(codes < 0)[0])]!r} is not among the ratings.")
    return float(similarity_rows(table, np.array([codes[0]]), kind, min_common, shrinkage)[0, codes[1]])


def similarity_table(table: sparse.csr_array, kind: str, min_common: int, shrinkage: float) -> Array:
    """Return the similarities of all rows of a sparse table."""
    n = table.shape[0]
    prepared = _prepared(table, kind)

    def block(begin: int) -> Array:
        rows = np.arange(begin, min(begin + BLOCK, n))
        return _rows_of(prepared, rows, kind, min_common, shrinkage)

    return np.concatenate(list(in_order(block, range(0, n, BLOCK))))


def similarity_rows(
    table: sparse.csr_array, rows: Array, kind: str, min_common: int, shrinkage: float
) -> Array:
    """Return the similarities of some rows of a sparse table to all."""
    return _rows_of(_prepared(table, kind), rows, kind, min_common, shrinkage)


def _prepared(table: sparse.csr_array, kind: str) -> tuple[Any, ...]:
    """Return the values, their squares and where they are, once from the left and once turned."""
    table = sparse.csr_array(table)
    values = table.data.astype(np.float64)
    if kind == "adjusted_cosine":
        columns = np.bincount(table.indices, minlength=table.shape[1])
        means = np.bincount(table.indices, values, minlength=table.shape[1]) / np.maximum(columns, 1)
        values = values - means[table.indices]
    elif kind == "pearson" and len(values):  # a shift of all changes nothing but the rounding
        rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
        counts = np.bincount(rows, minlength=table.shape[0])
        values = values - (np.bincount(rows, values, minlength=table.shape[0]) / np.maximum(counts, 1))[rows]

    def with_values(data: Array) -> sparse.csr_array:
        return sparse.csr_array((data, table.indices, table.indptr), shape=table.shape)

    X, S, B = with_values(values), with_values(values**2), with_values(np.ones(len(values)))
    return X, S, B, sparse.csr_array(X.T), sparse.csr_array(S.T), sparse.csr_array(B.T)


def _rows_of(prepared: tuple[Any, ...], rows: Array, kind: str, min_common: int, shrinkage: float) -> Array:
    X, S, B, XT, ST, BT = prepared
    x, s, b = X[rows], S[rows], B[rows]

    def times(left: Any, right: Any) -> Array:
        return (left @ right).toarray()

    common = times(b, BT)
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind == "jaccard":
            sizes = np.asarray(B.sum(axis=1)).ravel()
            found = common / (sizes[rows][:, None] + sizes[None, :] - common)
        elif kind == "msd":
            found = 1.0 / (1.0 + np.maximum(0.0, (times(s, BT) - 2 * times(x, XT) + times(b, ST)) / common))
        else:
            xy, xx, yy = times(x, XT), times(s, BT), times(b, ST)
            if kind == "pearson":
                mx, my = times(x, BT), times(b, XT)
                xy, xx0, yy0 = xy - mx * my / common, xx, yy
                xx, yy = xx - mx**2 / common, yy - my**2 / common
                xx[xx <= 1e-12 * xx0], yy[yy <= 1e-12 * yy0] = 0.0, 0.0  # all equal, but for rounding
            scale = np.sqrt(xx * yy)
            found = np.where(scale > 0, np.clip(xy / np.where(scale > 0, scale, 1.0), -1.0, 1.0), np.nan)
        found = np.where(common >= max(1, min_common), found, np.nan)
        if shrinkage:
            found = found * (common / (common + shrinkage))
    return found
