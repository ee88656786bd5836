"""Columns: what each one of a table holds, and how a model is going to see it."""

from __future__ import annotations

from typing import Any, NamedTuple

from gnomon.core.errors import GnomonError, nearest

NUMBER, CATEGORY, DATE, OUT = "number", "category", "date", "left out"


class QuestionError(GnomonError, ValueError):
    """What is asked cannot be asked of this table: the wrong name, the wrong task. The table may be fine."""


class Column(NamedTuple):
    """One column: its kind, what is missing from it, and in words what is done with it."""

    name: str
    kind: str
    missing: int
    distinct: int
    done: str


def describe(frame: Any) -> list[Column]:
    """Return what every column of a table is.

    >>> import polars as pl
    >>> for column in describe(
    ...     pl.DataFrame({"age": [3, None, 8, 1], "kind": ["a", "b", "a", "a"], "x": [1] * 4})
    ... ):
    ...     print(column.name, "-", column.kind, "-", column.done)
    age - number - standardized; 1 missing: the median, and a column that says so
    kind - category - a column of 0 and 1 for every value but the most frequent
    x - left out - the same value in every row
    """
    return [_describe(frame[name]) for name in frame.columns]


def _describe(values: Any) -> Column:
    kind, done = _kind(values)
    missing = values.null_count()
    distinct = 0 if values.dtype.is_nested() else values.drop_nulls().n_unique()
    if missing and kind in (NUMBER, DATE):
        done += f"; {missing} missing: the median, and a column that says so"
    elif missing and kind == CATEGORY:
        done += f"; {missing} missing: a value of their own"
    return Column(values.name, kind, missing, distinct, done)


def _kind(values: Any) -> tuple[str, str]:
    import polars as pl

    dtype, given = values.dtype, values.drop_nulls()
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        return OUT, f"{dtype} is no number and no word"
    if given.is_empty():
        return OUT, "nothing in it"
    distinct = given.n_unique()
    if distinct == 1 and not values.null_count():
        return OUT, "the same value in every row"
    if dtype.is_integer() and len(given) > 20 and (given.diff().drop_nulls() == 1).all():
        return OUT, "it counts the rows"
    if dtype.is_numeric() or dtype == pl.Boolean:
        return NUMBER, "standardized"
    if dtype.is_temporal():
        return DATE, "days since 1970, standardized"
    if distinct > 20 and 2 * distinct > len(given):
        return OUT, "nearly every row has a value of its own"
    return CATEGORY, "a column of 0 and 1 for every value but the most frequent"


def column_named(frame: Any, name: str, role: str) -> Any:
    """Return a column, or say which name was probably meant."""
    if name not in frame.columns:
        known = ", ".join(frame.columns[:12]) + (", ..." if frame.width > 12 else "")
        raise QuestionError(
            f"there is no column {name!r} to be the {role}.{nearest(name, frame.columns)} The columns are {known}."
        )
    return frame[name]
