"""Users and items that join a fitted model of interactions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.ids import coded, codes_of, column_of, is_many
from gnomon.core.linalg import Array


def as_rows(table: Any, width: int, what: str) -> sparse.csr_array:
    """Return interactions as rows of at most `width` columns; missing columns at the end are empty."""
    if np.ndim(table) != 2:
        raise DataError(
            f"interactions of a {what} are a sparse matrix with a row for each; got {table!r}. Give N by its name."
        )
    rows = sparse.csr_array(table)
    if rows.shape[1] > width:
        raise DataError(f"interactions of a {what} have {rows.shape[1]} columns; the model knows {width}.")
    if not (np.isfinite(rows.data).all() and (rows.data >= 0).all()):
        raise DataError("interactions must be finite and not negative.")
    rows = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], width), copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def merged(
    ids: Any, names: Array, rows: sparse.csr_array, vectors: Array, factors: Array, table: sparse.csr_array
) -> tuple[Array, Array, sparse.csr_array]:
    """Return sorted ids, their vectors and their interactions, the given ones in place of the known."""
    fresh = column_of(ids if is_many(ids) else [ids])
    if len(fresh) != rows.shape[0] or len(set(fresh.tolist())) < len(fresh):
        raise DataError(
            f"give one row of interactions for each of {len(fresh)} different ids; got {rows.shape[0]}."
        )
    kept = np.flatnonzero(codes_of(names, fresh) < 0)
    every = column_of([*names[kept].tolist(), *fresh.tolist()])
    found, codes = coded(every, None, "")
    if names.dtype == np.int32 and found.dtype.kind == "i" and abs(found).max() < 2**31:
        found = found.astype(np.int32)
    order = np.argsort(codes)
    stacked = sparse.csr_array(sparse.vstack([table[kept], rows]))
    return (
        found,
        np.ascontiguousarray(np.vstack([factors[kept], vectors])[order]),
        sparse.csr_array(stacked[order]),
    )
