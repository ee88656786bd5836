"""Columns: what each one of a table holds, and how a model is going to see it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from gnomon.core.errors import GnomonError, nearest

NUMBER, CATEGORY, DATE, TEXT, OUT = "number", "category", "date", "text", "left out"
MOST_VALUES = 20  # of a category that have a column each
LARGEST = 1e150
WORDS_OF_A_TEXT = 3.5  # on average, from which on a column of words is a text
ID_NAME = re.compile(
    r"(?:^|[_ .-])(?:id|key|uuid|guid|nr|no|number|index|row)$|[a-z]I[dD]$|^id(?:$|[_ .-])", re.I
)


class QuestionError(GnomonError, ValueError):
    """What is asked cannot be asked of this table: the wrong name, the wrong task. The table may be fine."""


class Column(NamedTuple):
    """One column: its kind, what is missing from it, and in words what is done with it."""

    name: str
    kind: str
    missing: int
    distinct: int
    done: str


def describe(frame: Any, written: dict[str, str] | None = None, target: str | None = None) -> list[Column]:
    """Return what every column of a table is; `written` says of some how their values were written.

    Where there is a target, a category of many values also has a column of mean answers.

    >>> import polars as pl
    >>> for column in describe(
    ...     pl.DataFrame({"age": [3, None, 8, 1], "kind": ["a", "b", "a", "a"], "x": [1] * 4})
    ... ):
    ...     print(column.name, "-", column.kind, "-", column.done)
    age - number - standardized; 1 missing: the median, and a column that says so
    kind - category - a column of 0 and 1 for every value but the most frequent
    x - left out - the same value in every row
    """
    return [_describe(column, (written or {}).get(column.name, ""), target) for column in frame]


def _describe(values: Any, written: str, target: str | None) -> Column:
    kind, done = _kind(values)
    missing = values.null_count()
    if kind == CATEGORY and target is not None and values.drop_nulls().n_unique() > MOST_VALUES:
        done += f"; and the mean {target} of other rows with its value"
    distinct = 0 if values.dtype.is_nested() else values.drop_nulls().n_unique()
    if written and kind != OUT:
        done = f"{written}; {done}"
    if missing and kind in (NUMBER, DATE):
        done += f"; {missing} missing: the median, and a column that says so"
    elif missing and kind == CATEGORY:
        done += f"; {missing} missing: a value of their own"
    elif missing and kind == TEXT:
        done += f"; {missing} missing: no words"
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
    if dtype.is_integer() and len(given) > 20 and distinct == len(given):
        if (given.diff().drop_nulls() == 1).all():
            return OUT, "it counts the rows"
        if ID_NAME.search(values.name) or int(given.max()) - int(given.min()) == len(given) - 1:
            return OUT, "an id: every row has a whole number of its own"
    if dtype.is_integer() and _merged_as_floats(given, distinct):
        return OUT, "whole numbers so long that different ones would be the same to a model: an id?"
    if dtype.is_float() and float(given.abs().max()) > LARGEST:
        return OUT, f"numbers beyond {LARGEST:g} cannot be squared; write them in other units"
    if dtype.is_numeric() or dtype == pl.Boolean:
        return NUMBER, "standardized"
    if dtype == pl.Time:
        return DATE, "the share of the day that has passed, and the hour, standardized"
    if dtype.is_temporal():
        return DATE, "days since 1970, month, weekday and hour where they differ, standardized"
    return _kind_of_words(given, distinct)


def _merged_as_floats(given: Any, distinct: int) -> bool:
    """Tell whether floats would not tell whole numbers apart."""
    if max(abs(int(given.max())), abs(int(given.min()))) <= 2**53:
        return False
    return bool(given.cast(float).n_unique() < distinct)


def _kind_of_words(given: Any, distinct: int) -> tuple[str, str]:
    if distinct > MOST_VALUES and 5 * distinct > len(given) and words_in(given) >= WORDS_OF_A_TEXT:
        return TEXT, "a text: its most frequent words have a column each, weighted by how rare they are"
    if distinct > MOST_VALUES and 2 * distinct > len(given):
        return OUT, "nearly every row has a value of its own"
    if distinct > MOST_VALUES:
        return CATEGORY, (
            f"a column of 0 and 1 for each of the {MOST_VALUES - 1} most frequent values, one for the other "
            f"{distinct - MOST_VALUES + 1}, and one that says how frequent a value is"
        )
    return CATEGORY, "a column of 0 and 1 for every value but the most frequent"


def listed(names: list[str]) -> str:
    """Return names as an English list.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def words_in(given: Any) -> float:
    """Return how many words the texts of a column have on average."""
    return float(given.cast(str).str.strip_chars().str.count_matches(r"\s+").mean()) + 1


def column_named(frame: Any, name: str, role: str) -> Any:
    """Return a column, or say which name was probably meant."""
    if name not in frame.columns:
        known = ", ".join(frame.columns[:12]) + (", ..." if frame.width > 12 else "")
        bare = sum(re.fullmatch(r"[-+\d.,]+", column) is not None for column in frame.columns)
        hint = " The first line of the file must name the columns." if 2 * bare > frame.width else ""
        raise QuestionError(
            f"there is no column {name!r} to be the {role}.{nearest(name, frame.columns)} The columns are {known}."
            f"{hint}"
        )
    return frame[name]
