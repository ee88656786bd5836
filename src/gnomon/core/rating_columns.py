"""Columns of a table of ratings: numbers, times, and where they come from."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array


def numbers_of(ratings: Any) -> Array:
    """Return ratings as finite numbers, or say which is none."""
    try:
        given = np.asarray(plain(ratings))
        values = None if given.dtype.kind in "Mmc" else given.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError("ratings must be numbers.") from None
    if values is None:
        raise DataError(f"ratings must be numbers; they are of the kind {given.dtype}.")
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim != 1:
        raise DataError(f"ratings must be a vector; their shape is {values.shape}.")
    if not np.isfinite(values).all():
        i = int(np.flatnonzero(~np.isfinite(values))[0])
        raise DataError(f"rating {i} is {values[i]}; drop ratings that are NaN or infinite.")
    return values


def times_of(times: Any, n: int) -> Array:
    """Return times or dates as numbers."""
    when = np.asarray(plain(times))
    told = f"times must be {n} finite numbers or dates, one for every rating"
    if when.dtype.kind in "Mm" and np.isnat(when).any():
        raise DataError(f"{told}; time {int(np.argmax(np.isnat(when)))} is missing.")
    if when.dtype.kind in "Mm":
        when = (
            when.astype("datetime64[ns]").astype(np.int64)
            if when.dtype.kind == "M"
            else when.astype(np.int64)
        )
    try:
        when = when.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{told}; they are of the kind {when.dtype}.") from None
    if when.shape != (n,) or not np.isfinite(when).all():
        raise DataError(f"{told}.")
    return when


def table_of(df: Any) -> Any:
    """Return a frame as it is, or what a Parquet or CSV file holds."""
    if isinstance(df, str | os.PathLike):
        import polars as pl

        name = os.fspath(df)
        try:
            return pl.read_parquet(name) if name.endswith((".parquet", ".pq")) else pl.read_csv(name)
        except FileNotFoundError:
            raise FileNotFoundError(
                f"there is no file {name!r}; text is taken for the path of a Parquet or CSV file."
            ) from None
        except (pl.exceptions.PolarsError, IsADirectoryError) as error:
            reason = str(error).splitlines()[0]
            raise DataError(f"{name!r} cannot be read as a table: {reason}.") from None
    return df.to_pandas() if hasattr(df, "to_pandas") and not hasattr(df, "columns") else df


def plain(column: Any) -> Any:
    """Return the column of a frame as an array."""
    return column.to_numpy() if hasattr(column, "to_numpy") else column
