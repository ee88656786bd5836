"""Tasks: what is asked of a table, how an answer is scored, and on which rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import silhouette_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from gnomon.core.errors import DataError, nearest
from gnomon.report.columns import (
    CATEGORY,
    DATE,
    NUMBER,
    OUT,
    Column,
    QuestionError,
    column_named,
    describe,
)

MOST_CLASSES = 10  # a whole number with at most so many values is taken for a class
PART = "(part)"  # the column that cuts a single sequence into parts, to learn from some and test on others
MIN_ROWS = 10


class Task(NamedTuple):
    """A question: what is measured and in which direction it is good."""

    name: str
    metric: str
    score: Callable[[Any, Any, Any], float]  # (model, table, target) -> larger is better
    answer: str  # how the best model is announced
    sign: int = 1  # -1: the score is shown with its sign turned, because smaller is better
    needs_target: bool = False
    limits: tuple[float, float] = (-np.inf, np.inf)  # of the metric as it is shown


def _accuracy(model: Any, frame: Any, y: Any) -> float:
    return float((model.predict(frame) == y).mean())


def _negative_error(model: Any, frame: Any, y: Any) -> float:
    return -float(np.sqrt(np.mean((model.predict(frame) - y) ** 2)))


def _silhouette(model: Any, frame: Any, y: Any) -> float:
    """Return the mean silhouette of rows that the model did not learn from; 0 when all fall into one group."""
    labels, X = np.asarray(model.predict(frame)), model.matrix(frame)
    if not 1 < len(np.unique(labels)) < len(labels):
        return 0.0
    return float(silhouette_score(X, labels, sample_size=min(len(X), 2000), random_state=0))


def _log_density(model: Any, frame: Any, y: Any) -> float:
    return float(model.log_density(frame))


TASKS = {
    task.name: task
    for task in (
        Task("classification", "accuracy", _accuracy, "predicts {target} best", 1, True, (0, 1)),
        Task("regression", "error (RMSE)", _negative_error, "predicts {target} best", -1, True, (0, np.inf)),
        Task("cluster", "silhouette", _silhouette, "finds the clearest groups", limits=(-1, 1)),
        Task("density", "log density of a row", _log_density, "describes the rows best"),
        Task("sequence", "log likelihood of a row", _log_density, "describes the sequences best"),
        Task("recommend", "error (RMSE)", _negative_error, "predicts {target} best", -1, limits=(0, np.inf)),
    )
}


class Problem(NamedTuple):
    """A table with its question, ready to be compared on."""

    task: Task
    menu: str  # which part of the families' menus: the task, or for example "sequence of counts"
    frame: Any
    y: Any
    columns: list[Column]
    target: str | None
    sequence: str | None
    said: list[str]  # what was inferred, in sentences

    def splitter(self, folds: int, seed: int | None) -> Any:
        """Return how rows are divided into those to learn from and those to test on."""
        if self.sequence is not None:
            return GroupKFold(
                min(folds, self.frame[self.sequence].n_unique()), shuffle=True, random_state=seed
            )
        kind = StratifiedKFold if self.task.name == "classification" else KFold
        return kind(min(folds, self._most_folds()), shuffle=True, random_state=seed)

    def _most_folds(self) -> int:
        if self.task.name != "classification":
            return len(self.frame)
        return max(2, int(np.unique(self.y, return_counts=True)[1].min()))

    def groups(self, rows: Any = None) -> Any:
        """Return the sequence of every row, where rows form sequences."""
        if self.sequence is None:
            return None
        named = self.frame[self.sequence].to_numpy()
        return named if rows is None else named[rows]


def pose(
    frame: Any, target: str | None = None, task: str | None = None, sequence: str | None = None
) -> Problem:
    """Return the question that a table and a target pose, with what was inferred on the way."""
    if task == "rules":
        raise QuestionError(
            "rules are not compared; `gnomon compare FILE --task rules` looks for them, in Python gnomon.association."
        )
    if task is not None and task not in TASKS:
        raise QuestionError(f"there is no task {task!r}.{nearest(task, TASKS)} There are {', '.join(TASKS)}.")
    if task is None and target is None:
        raise QuestionError(
            "name the column to predict with --target, or a task: cluster, density, sequence, recommend or rules."
        )
    if task == "recommend":
        return _ratings(frame, target)
    if target is not None and task not in (None, "classification", "regression"):
        raise QuestionError(f"the task {task!r} has no target; leave out --target {target}.")
    if target is None and task is not None and TASKS[task].needs_target:
        raise QuestionError(f"the task {task!r} needs the column to predict: --target.")
    if target is not None:
        return _with_target(frame, target, task)
    return _sequences(frame, sequence) if task == "sequence" else _without_target(frame, TASKS[str(task)])


def _with_target(frame: Any, target: str, task: str | None) -> Problem:
    column_named(frame, target, "target")
    said = []
    missing = frame[target].null_count()
    if missing:
        said.append(f"{missing} rows without {target} were left out.")
        frame = frame.filter(frame[target].is_not_null())
    _enough(frame)
    found, why = _infer(frame[target], task)
    said.insert(0, why)
    y = _labels(frame[target]) if found == "classification" else _numbers(frame[target])
    rest = frame.drop(target)
    columns = describe(rest)
    _usable(columns)
    return Problem(TASKS[found], found, rest, y, columns, target, None, said)


def _infer(y: Any, task: str | None) -> tuple[str, str]:
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


def _labels(y: Any) -> Any:
    """Return the classes of the rows, after checking that each can be learned and tested."""
    labels = y.to_numpy() if y.dtype.is_numeric() else y.cast(str).to_numpy().astype(str)
    classes, counts = np.unique(labels, return_counts=True)
    if 2 * len(classes) > len(labels):
        raise DataError(
            f"the target {y.name!r} has {len(classes)} different values in {len(labels)} rows: these are no "
            "classes. Choose another column."
        )
    if counts.min() < 2:
        raise DataError(
            f"the class {classes[counts.argmin()]!r} of {y.name!r} has a single row, which cannot be learned "
            "from and tested on. Join it with another class or remove the row."
        )
    return labels


def _numbers(y: Any) -> Any:
    numbers = y.cast(float).to_numpy()
    if not np.isfinite(numbers).all():
        raise DataError(
            f"the target {y.name!r} is infinite in row {np.isinf(numbers).argmax() + 1}. Mend it."
        )
    return numbers


def _enough(frame: Any) -> None:
    if len(frame) < MIN_ROWS:
        raise DataError(f"the table has {len(frame)} usable rows; a comparison needs at least {MIN_ROWS}.")


def _usable(columns: list[Column]) -> None:
    if all(column.kind == OUT for column in columns):
        reasons = "; ".join(f"{column.name}: {column.done}" for column in columns[:5])
        raise DataError(f"no column is left to learn from ({reasons}).")


def _without_target(frame: Any, task: Task) -> Problem:
    _enough(frame)
    columns, said = describe(frame), []
    menu = task.name
    if task.name == "density":
        columns = _only_numbers(columns)
        used = [column.name for column in columns if column.kind != OUT]
        whole = frame.drop_nulls(used)
        if len(whole) < len(frame):
            said.append(f"{len(frame) - len(whole)} rows with missing values were left out.")
        frame, menu = whole, _of_counts("density", whole, used, said)
        _enough(frame)
        columns = [column._replace(done=_shown_as(menu, column)) for column in columns]
    _usable(columns)
    return Problem(task, menu, frame, None, columns, None, None, said)


def _sequences(frame: Any, sequence: str | None) -> Problem:
    _enough(frame)
    said = []
    if sequence is None:
        sequence, parts = PART, min(10, len(frame) // 5)
        said.append(f"No --sequence column was named, so the table is one sequence, cut into {parts} parts.")
        frame = frame.with_columns(_parts(len(frame), parts))
    else:
        column_named(frame, sequence, "sequence")
        frame = frame.sort(sequence, maintain_order=True)
        said.append(f"The rows of one {sequence} form one sequence, in the order of the file.")
    if frame[sequence].n_unique() < 4:
        raise DataError(f"column {sequence!r} names fewer than four sequences; too few to learn and to test.")
    columns = _only_numbers(describe(frame.drop(sequence)))
    _usable(columns)
    menu = _of_counts("sequence", frame, [c.name for c in columns if c.kind != OUT], said)
    columns = [column._replace(done=_shown_as(menu, column)) for column in columns]
    return Problem(TASKS["sequence"], menu, frame, None, columns, None, sequence, said)


def _ratings(frame: Any, target: str | None) -> Problem:
    from gnomon.report.ratings import pose_ratings

    pairs, y, columns, rating, said = pose_ratings(frame, target)
    _enough(pairs)
    if len(np.unique(y)) < 2:
        raise DataError(f"all ratings are {y[0]:g}: there is nothing to predict.")
    return Problem(TASKS["recommend"], "recommend", pairs, y, columns, rating, None, said)


def _parts(rows: int, parts: int) -> Any:
    import polars as pl

    return pl.Series(PART, np.arange(rows) * parts // rows)


def _only_numbers(columns: list[Column]) -> list[Column]:
    """Leave out what has no density: words, dates, and numbers that are a yes or no."""
    return [
        c._replace(kind=OUT, done="densities are of numbers")
        if c.kind in (CATEGORY, DATE) or c.distinct <= 2
        else c
        for c in columns
    ]


def _of_counts(task: str, frame: Any, used: list[str], said: list[str]) -> str:
    """Return the menu: for counts when every used column holds whole numbers from 0 up."""
    if used and all(frame[name].dtype.is_integer() and (frame[name].min() or 0) >= 0 for name in used):
        said.append("All columns hold counts, so models of counts are compared.")
        return f"{task} of counts"
    return task


def _shown_as(menu: str, column: Column) -> str:
    if column.kind != NUMBER:
        return column.done
    return "a count, as it is" if menu.endswith("counts") else "standardized"
