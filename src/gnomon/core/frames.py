"""Tables for people: pandas, which the library itself does without, imported where a table is asked for."""

from __future__ import annotations

from typing import Any


def import_pandas() -> Any:
    """Return the pandas module, or say how to get it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "this answer is a pandas table, and pandas is not installed. Install it with: pip install pandas"
        ) from error
    return pandas


def frame_like(X: Any, columns: dict[Any, Any]) -> Any:
    """Return these columns as a frame of the library that X is a frame of: polars, or else pandas.

    >>> import polars as pl
    >>> frame_like(pl.DataFrame({"a": [1]}), {"b": [2, 3]}).shape
    (2, 1)
    """
    if type(X).__module__.partition(".")[0] == "polars":
        import polars

        return polars.DataFrame(columns)
    return import_pandas().DataFrame(columns)
