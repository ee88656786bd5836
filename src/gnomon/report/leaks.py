"""Leaks: columns that know the target already, and rows that would be on both sides of a fold."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.report.columns import CATEGORY, OUT, Column

NEAR_PERFECT = 0.05  # of the baseline's error is left by a single column: too good
MOST_BINS = 50
MANY_COPIES = 0.01  # share of the rows


def find_leaks(frame: Any, y: Any, columns: list[Column], target: str, classes: bool) -> list[str]:
    """Return warnings, in sentences, about columns that tell the target and about rows that are repeated.

    >>> import polars as pl
    >>> y = np.arange(40) % 2
    >>> frame = pl.DataFrame({"copy": [f"v{k}" for k in y], "x": range(40)})
    >>> columns = [Column("copy", CATEGORY, 0, 2, ""), Column("x", OUT, 0, 40, "")]
    >>> find_leaks(frame, y, columns, "y", True)[0]
    "copy is y under another name: every value of one goes with one value of the other. Leave it out: --exclude 'copy'."
    """
    said = []
    for column in columns:
        if column.kind == OUT:
            continue
        codes = _binned(frame[column.name], column.kind)
        if _same(frame[column.name], y, column.distinct):
            said.append(
                f"{column.name} is {target} under another name: every value of one goes with one value of the other. "
                f"Leave it out: --exclude {column.name!r}."
            )
        elif _left_over(codes, y, classes) <= NEAR_PERFECT:
            said.append(
                f"{column.name} alone predicts {target} almost perfectly. Is it known before {target} is? If not, "
                f"leave it out: --exclude {column.name!r}."
            )
    return said + _copies(frame, y)


def _codes(column: Any) -> Any:
    import polars as pl

    return column.cast(pl.String).fill_null("").rank("dense").to_numpy().astype(np.int64) - 1


def _same(column: Any, y: Any, distinct: int) -> bool:
    """Tell whether a column and the target are one-to-one, where values repeat; or equal numbers."""
    labels, places = np.unique(y, return_inverse=True)
    if column.dtype.is_numeric() and y.dtype.kind == "f":
        x = column.cast(float).to_numpy()
        there = ~np.isnan(x)
        if there.sum() > 10 and x[there].std() > 0 and y[there].std() > 0:
            return bool(abs(np.corrcoef(x[there], y[there])[0, 1]) > 1 - 1e-9)
    if distinct != len(labels) or 2 * distinct > len(y) or column.null_count():
        return False
    codes = _codes(column)
    return len(np.unique(codes * len(labels) + places)) == len(labels)


def _binned(column: Any, kind: str) -> Any:
    """Return every value as one of a few numbers: categories as they are, numbers and dates in bins of equal count."""
    if kind == CATEGORY or not (column.dtype.is_numeric() or column.dtype.is_temporal()):
        return _codes(column) if kind == CATEGORY else np.zeros(len(column), dtype=np.int64)
    x = column.to_physical().cast(float).to_numpy()
    edges = np.unique(np.nanquantile(x, np.linspace(0, 1, MOST_BINS + 1)[1:-1]))
    return np.where(np.isnan(x), len(edges) + 1, np.searchsorted(edges, x))


def _left_over(codes: Any, y: Any, classes: bool) -> float:
    """Return the error of the best guess by bin on one half of the rows, from the other half, over the baseline's."""
    half = np.random.default_rng(0).permutation(len(y)) % 2 == 0
    if len(y) < 40 or codes.max() == 0:
        return 1.0
    if classes:
        labels, places = np.unique(y, return_inverse=True)
        table = np.zeros((codes.max() + 1, len(labels)))
        np.add.at(table, (codes[half], places[half]), 1)
        table += 1e-6 * np.bincount(places[half], minlength=len(labels))
        wrong = float((table.argmax(axis=1)[codes[~half]] != places[~half]).mean())
        base = float((np.bincount(places[half]).argmax() != places[~half]).mean())
        return wrong / base if base > 0 else 1.0
    count = np.bincount(codes[half], minlength=codes.max() + 1)
    mean = np.bincount(codes[half], y[half], minlength=codes.max() + 1) / np.maximum(count, 1)
    said = np.where(count > 0, mean, y[half].mean())[codes[~half]]
    base = float(((y[~half] - y[half].mean()) ** 2).sum())
    return (float(((y[~half] - said) ** 2).sum()) / base) ** 0.5 if base > 0 else 1.0


def _copies(frame: Any, y: Any) -> list[str]:
    import polars as pl

    plain = [name for name, dtype in frame.schema.items() if not dtype.is_nested() and dtype != pl.Object]
    if len(plain) < 3:  # a few columns with few values repeat by nature
        return []
    hidden = pl.Series("(target)", y)
    count = int(frame.select(plain).with_columns(hidden).is_duplicated().sum())
    if count <= MANY_COPIES * len(y):
        return []
    return [
        f"{count} rows are there more than once, so a model may be tested on a row that it has learned by heart. "
        "Remove the copies, or name the column that tells what belongs together: --group."
    ]
