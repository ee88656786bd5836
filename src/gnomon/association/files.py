"""Baskets from files and long tables."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

from gnomon.core.errors import DataError
from gnomon.core.rating_columns import table_of


def read_baskets(source: Any, *, basket: Any = None, item: Any = None, sep: str | None = None) -> Any:
    """Read baskets from a text file, or gather them from a long table with one row per bought item.

    Parameters
    ----------
    source : path or data frame
        A text file with one basket a line; a Parquet or CSV file, or a frame, with a row for every item of
        every basket (then `basket` and `item` name its columns).
    basket, item : str, optional
        Columns of the basket's id and of the item in a long table.
    sep : str, optional
        What stands between the items of a line; by default a comma where the file has any, else blanks.

    Returns
    -------
    list of lists
        The baskets, in the order in which they first appear.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"receipt": [7, 7, 8], "article": ["tea", "milk", "tea"]})
    >>> read_baskets(table, basket="receipt", item="article")
    [['tea', 'milk'], ['tea']]
    """
    if (basket is None) != (item is None):
        raise DataError("basket and item must be given together: the two columns of a long table.")
    if basket is not None:
        return _gathered(table_of(source), basket, item)
    lines = Path(source).read_text(encoding="utf-8").splitlines()
    if sep is None and any("," in line for line in lines):
        sep = ","
    return [[word.strip() for word in line.split(sep) if word.strip()] for line in lines]


def _gathered(table: Any, basket: Any, item: Any) -> list[list[Any]]:
    for name in (basket, item):
        if name not in list(table.columns):
            raise DataError(f"there is no column {name!r}; the columns are {list(table.columns)}.")
    found: dict[Hashable, list[Any]] = {}
    for key, thing in zip(table[basket].to_list(), table[item].to_list()):
        found.setdefault(key, []).append(thing)
    return list(found.values())
