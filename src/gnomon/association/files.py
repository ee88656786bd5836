"""Baskets from files and long tables."""

from __future__ import annotations

import csv
import os
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
        What stands between the items of a line; by default a comma where the file has any, else blanks. A comma
        between quotation marks belongs to the item.

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
    lines = _lines(source)
    if sep is None and any("," in line for line in lines):
        sep = ","
    parted = ((_unquoted(line) if sep == "," and '"' in line else line.split(sep)) for line in lines)
    return [[word.strip() for word in words if word.strip()] for words in parted]


def read_data(path: Any) -> Any:
    """Return what a file holds: the table of a Parquet file, else the baskets of a text file."""
    return table_of(path) if os.fspath(path).endswith((".parquet", ".pq")) else read_baskets(path)


def _lines(source: Any) -> list[str]:
    try:
        return Path(source).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        name = Path(source).name
        raise DataError(f"{name} is not text in UTF-8. Save it as UTF-8, one basket a line.") from None


def _unquoted(line: str) -> list[str]:
    """Part a line at its commas, but for those between quotation marks."""
    return next(csv.reader([line], skipinitialspace=True))


def _gathered(table: Any, basket: Any, item: Any) -> list[list[Any]]:
    for name in (basket, item):
        if name not in list(table.columns):
            raise DataError(f"there is no column {name!r}; the columns are {list(table.columns)}.")
    found: dict[Hashable, list[Any]] = {}
    for key, thing in zip(table[basket].to_list(), table[item].to_list()):
        found.setdefault(key, []).append(thing)
    return list(found.values())
