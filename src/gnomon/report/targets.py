"""Targets: what the column to predict holds, which rows can be used, and in which order."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.report.columns import LARGEST, OUT, Column, column_named

MOST_CLASSES = 10  # a whole number with at most so many values is taken for a class
MIN_ROWS = 10


def without_lonely(frame: Any, target: str, said: list[str]) -> Any:
    """Leave out classes of a single row, which cannot be learned from and tested on; not where many are such."""
    counts = frame[target].value_counts(name="(rows)")
    lonely = counts.filter(counts["(rows)"] == 1)[target].to_list()
    if not lonely or len(lonely) > 0.05 * len(frame) or counts.height - len(lonely) < 2:
        return frame
    shown = ", ".join(map(repr, sorted(lonely, key=str)[:5]))
    said.append(f"Left out because a class of one row cannot be learned and tested: {shown} of {target}.")
    return frame.filter(~frame[target].is_in(lonely))


def rows_with(frame: Any, target: str, said: list[str]) -> Any:
    """Return the rows that have a target, and say how many have not."""
    count = frame[target].null_count()
    if not count:
        return frame
    if count == len(frame):
        raise DataError(f"the target {target!r} is empty in every row. Choose another column.")
    said.append(f"{count} rows without {target} were left out.")
    return frame.filter(frame[target].is_not_null())


def in_order_of(frame: Any, column: Any, said: list[str]) -> Any:
    """Return the rows in the order of time, for folds that test on what comes later."""
    if not (column.dtype.is_numeric() or column.dtype.is_temporal()):
        raise DataError(f"the time {column.name!r} must hold dates or numbers; it is {column.dtype}.")
    if column.null_count():
        said.append(f"{column.null_count()} rows without {column.name} were left out.")
        frame = frame.filter(column.is_not_null())
    said.append(
        f"Rows are in the order of {column.name}: models learn from earlier rows and are tested on later ones."
    )
    return frame.sort(column.name, maintain_order=True)


def grouped(frame: Any, group: str, said: list[str]) -> tuple[Any, Any]:
    """Return the table without the column of groups, and the group of every row."""
    column = column_named(frame, group, "group")
    members = column.cast(str).fill_null("(missing)").to_numpy().astype(str)
    count = len(np.unique(members))
    if count < 2:
        raise DataError(f"the group {group!r} has one value; rows of one group cannot be on both sides.")
    said.append(f"All rows of one {group} are in the same fold ({count} groups); no model sees {group}.")
    return frame.drop(group), members


def infer(y: Any, task: str | None) -> tuple[str, str]:
    """Return whether a target holds classes or numbers, and the sentence that says why."""
    distinct = y.n_unique()
    if distinct < 2:
        raise DataError(
            f"the target {y.name!r} has the same value, {y[0]!r}, in every row: there is nothing to predict. "
            "Choose another column."
        )
    number = y.dtype.is_numeric()
    whole = number and bool((y.round() == y).all())
    if task is None:
        task = "classification" if not number or (whole and distinct <= MOST_CLASSES) else "regression"
        why = (
            "whole numbers"
            if whole
            else "numbers"
            if number
            else "words"
            if y.dtype != bool
            else "truth values"
        )
        other = {"classification": "regression", "regression": "classification"}[task]
        hint = f" (--task {other} if not)" if number else ""
        return task, f"{y.name} holds {distinct} different {why}, so this is {task}{hint}."
    if task == "regression" and not number:
        raise DataError(f"the target {y.name!r} holds words, and regression predicts numbers.")
    return task, f"{y.name} holds {distinct} different values; {task} was asked for."


def labels(y: Any) -> Any:
    """Return the classes of the rows, after checking that each can be learned and tested."""
    labels = y.to_numpy() if y.dtype.is_numeric() else y.cast(str).to_numpy().astype(str)
    classes, counts = np.unique(labels, return_counts=True)
    if 2 * len(classes) > len(labels):
        raise DataError(
            f"the target {y.name!r} has {len(classes)} different values in {len(labels)} rows: these are no "
            "classes. Choose another column."
        )
    if counts.min() < 2:
        lonely = [str(name) for name in classes[counts == 1]]
        more = f" and so have {len(lonely) - 1} more," if len(lonely) > 1 else ""
        raise DataError(
            f"the class {lonely[0]!r} of {y.name!r} has a single row,{more} which cannot be learned from and "
            f"tested on. Join such classes with others, or go on without them: --missing {','.join(lonely)!r}."
        )
    return labels


def numbers(y: Any) -> Any:
    """Return the numbers of the rows, after checking that they are finite and can be squared."""
    values = y.cast(float).to_numpy()
    if not np.isfinite(values).all():
        raise DataError(f"the target {y.name!r} is infinite in row {np.isinf(values).argmax() + 1}. Mend it.")
    if np.abs(values).max() > LARGEST:
        row = int(np.abs(values).argmax())
        raise DataError(
            f"the target {y.name!r} is {values[row]:g} in row {row + 1}, too large to be squared. Write it in "
            "other units."
        )
    return values


def enough(frame: Any) -> None:
    """Refuse a table with too few rows."""
    if len(frame) < MIN_ROWS:
        raise DataError(f"the table has {len(frame)} usable rows; a comparison needs at least {MIN_ROWS}.")


def usable(columns: list[Column]) -> None:
    """Refuse a table of which no column is left."""
    if not columns:
        raise DataError("the table has no column besides the target: there is nothing to learn from.")
    if all(column.kind == OUT for column in columns):
        reasons = "; ".join(f"{column.name}: {column.done}" for column in columns[:5])
        raise DataError(f"no column is left to learn from ({reasons}).")
