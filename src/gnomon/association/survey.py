"""Questionnaires as baskets: every answer is an item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array


def encode_survey(
    df: Any,
    *,
    ordinal: Any = (),
    categorical: Any = (),
    numeric: Any = (),
    split: Any = "median",
    labels: Mapping[Any, Any] | None = None,
) -> Any:
    """Return a table of boolean items from the answers of a survey.

    An ordinal or numeric question becomes two items, at most the median and above it; where nothing is above
    the median,
    below it and at least it. With cuts given it becomes one item per interval. A categorical question becomes
    an item per
    level. Who did not answer has no item of the question, everybody else exactly one.

    Parameters
    ----------
    df : DataFrame
        One row per respondent.
    ordinal, numeric, categorical : lists of column names
        What the columns are; with none given at all, columns of numbers are ordinal and the rest categorical.
    split : "median", number, list of cuts, or dict of these by column
        Where ordinal and numeric answers are cut; a value equal to a cut is below it.
    labels : dict, optional
        Column -> the name to use for it.

    Returns
    -------
    DataFrame of bool
        Columns such as ``"age <= 41"``, ``"age > 41"`` and ``"home=rented"``.

    Examples
    --------
    >>> import pandas as pd
    >>> answers = pd.DataFrame({"income": [1, 2, 5], "home": ["own", None, "rent"]})
    >>> encode_survey(answers, ordinal=["income"], categorical=["home"]).astype(int).to_dict("list")
    {'income <= 2': [1, 1, 0], 'income > 2': [0, 0, 1], 'home=own': [1, 0, 0], 'home=rent': [0, 0, 1]}
    """
    pd = import_pandas()
    frame = (
        df
        if isinstance(df, pd.DataFrame)
        else df.to_pandas()
        if hasattr(df, "to_pandas")
        else pd.DataFrame(df)
    )
    numbers, names = [*ordinal, *numeric], list(categorical)
    if not numbers and not names:
        numbers = [name for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name].dtype)]
        names = [name for name in frame.columns if name not in numbers]
    unknown = [name for name in (*numbers, *names) if name not in frame.columns]
    if unknown:
        raise DataError(f"there is no column {unknown[0]!r}; the columns are {list(frame.columns)}.")
    items: dict[str, Array] = {}
    shown = labels or {}
    for name in frame.columns:
        label = shown.get(name, name)
        if name in names:
            items |= _levels(frame[name], label)
        elif name in numbers:
            items |= _cut(
                frame[name], label, split.get(name, "median") if isinstance(split, Mapping) else split
            )
    return pd.DataFrame(items, index=frame.index)


def _levels(column: Any, label: Any) -> dict[str, Array]:
    present = column.notna().to_numpy()
    values = column.to_numpy(dtype=object)
    found = list(dict.fromkeys(values[present].tolist()))
    levels = sorted(found, key=lambda level: (str(type(level)), level))
    return {
        f"{label}={level}": np.array([here and v == level for here, v in zip(present, values)])
        for level in levels
    }


def _cut(column: Any, label: Any, split: Any) -> dict[str, Array]:
    if hasattr(column, "cat"):
        column = column.cat.codes.where(column.notna())
    try:
        x = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise DataError(f"column {label!r} is not numeric; name it in `categorical`.") from None
    present = ~np.isnan(x)
    if isinstance(split, str):
        if split != "median":
            raise DataError(f"split must be 'median', a number, a list of cuts or a dict; got {split!r}.")
        if not present.any():
            return {}
        middle = float(np.median(x[present]))
        if (x[present] > middle).any():
            return {f"{label} <= {middle:g}": x <= middle, f"{label} > {middle:g}": x > middle}
        return {f"{label} < {middle:g}": x < middle, f"{label} >= {middle:g}": x >= middle}
    cuts = np.unique(np.atleast_1d(np.asarray(split, dtype=np.float64)))
    items = {f"{label} <= {cuts[0]:g}": x <= cuts[0]}
    for low, high in zip(cuts[:-1], cuts[1:]):
        items[f"{low:g} < {label} <= {high:g}"] = (x > low) & (x <= high)
    return items | {f"{label} > {cuts[-1]:g}": x > cuts[-1]}
