"""Leaks: columns that know the target already, and rows that would be on both sides of a fold."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.report.columns import CATEGORY, OUT, TEXT, Column

NEAR_PERFECT = 0.05  # of the baseline's error is left by a single column: too good
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
        if _same(frame[column.name], y, column.distinct):
            said.append(
                f"{column.name} is {target} under another name: every value of one goes with one value of the other. "
                f"Leave it out: --exclude {column.name!r}."
            )
        elif _left_over(frame[column.name], column.kind, y, classes) <= NEAR_PERFECT:
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


def _left_over(column: Any, kind: str, y: Any, classes: bool) -> float:
    """Return the error that a single column leaves on one half of the rows, over the baseline's.

    What is said of a row is learned from the other half: the answer for its category, or of the nearest number.
    """
    half = np.random.default_rng(0).permutation(len(y)) % 2 == 0
    if len(y) < 40 or kind == TEXT:
        return 1.0
    z = np.unique(y, return_inverse=True)[1] if classes else y
    usual = np.bincount(z[half]).argmax() if classes else z[half].mean()
    said = (
        _of_category(_codes(column), z, half, classes, usual)
        if kind == CATEGORY
        else _of_nearest(column, z, half)
    )
    if classes:
        wrong, base = float((said != z[~half]).mean()), float((usual != z[~half]).mean())
    else:
        wrong, base = (float(((a - z[~half]) ** 2).mean() ** 0.5) for a in (said, usual))
    return wrong / base if base > 0 else 1.0


def _of_category(codes: Any, z: Any, half: Any, classes: bool, usual: Any) -> Any:
    k = int(codes.max()) + 1
    count = np.bincount(codes[half], minlength=k)
    if classes:
        table = np.zeros((k, int(z.max()) + 1))
        np.add.at(table, (codes[half], z[half]), 1)
        answers = table.argmax(axis=1)
    else:
        answers = np.bincount(codes[half], z[half], minlength=k) / np.maximum(count, 1)
    return np.where(count > 0, answers, usual)[codes[~half]]


def _of_nearest(column: Any, z: Any, half: Any) -> Any:
    x = column.to_physical().cast(float).to_numpy()
    x = np.where(np.isnan(x), np.nanmin(x) - 1.0, x)
    order = np.argsort(x[half], kind="stable")
    known, answers = x[half][order], z[half][order]
    right = np.clip(np.searchsorted(known, x[~half]), 1, len(known) - 1)
    left = right - 1
    return answers[np.where(x[~half] - known[left] <= known[right] - x[~half], left, right)]


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
