"""How alike two raters, or two items, are by what they have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError, nearest
from gnomon.core.ids import codes_of
from gnomon.core.linalg import Array
from gnomon.core.ratings import read_ratings
from gnomon.core.threads import shared

CODES = {"pearson": 0, "cosine": 1, "adjusted_cosine": 1, "msd": 2, "jaccard": 3}  # of `loops.co_rated`
KINDS = tuple(CODES)
PIECES = 16  # rows are dealt out to so many pieces of work: early rows have more partners than late ones


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
    if not shrinkage >= 0 or min_common < 1:
        raise DataError(
            f"shrinkage must not be negative and min_common at least 1; got {shrinkage} and {min_common}."
        )
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
    two = sparse.csr_array(_centered(table, kind)[codes])
    return float(_table_of(two, kind, min_common, shrinkage)[0, 1])


def similarity_table(table: sparse.csr_array, kind: str, min_common: int, shrinkage: float) -> Array:
    """Return the similarities of all rows of a sparse table, NaN where two have too little in common."""
    return _table_of(_centered(table, kind), kind, min_common, shrinkage)


def _table_of(table: sparse.csr_array, kind: str, min_common: int, shrinkage: float) -> Array:
    from gnomon.loops.co_rated import similar_rows

    table.sort_indices()
    turned = table.tocsc()
    out = np.full((table.shape[0], table.shape[0]), np.nan)
    rows = table.indptr.astype(np.int64), table.indices.astype(np.int64), table.data
    columns = turned.indptr.astype(np.int64), turned.indices.astype(np.int64), turned.data

    def piece(begin: int) -> None:
        similar_rows(begin, PIECES, CODES[kind], max(1, min_common), float(shrinkage), *rows, *columns, out)

    shared(piece, range(PIECES))
    return out


def _centered(table: sparse.csr_array, kind: str) -> sparse.csr_array:
    """Return the table with the values that are compared: minus means of the columns, or of the rows."""
    table = sparse.csr_array(table, dtype=np.float64)
    values = table.data
    if kind == "adjusted_cosine":
        columns = np.bincount(table.indices, minlength=table.shape[1])
        means = np.bincount(table.indices, values, minlength=table.shape[1]) / np.maximum(columns, 1)
        values = values - means[table.indices]
    elif kind == "pearson" and len(values):  # a shift of all changes nothing but the rounding
        rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
        counts = np.bincount(rows, minlength=table.shape[0])
        values = values - (np.bincount(rows, values, minlength=table.shape[0]) / np.maximum(counts, 1))[rows]
    return sparse.csr_array((values.copy(), table.indices.copy(), table.indptr), shape=table.shape)
