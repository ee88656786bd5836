"""Tasks: what is asked of a table, how an answer is scored, and on which rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import silhouette_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from gnomon.core.errors import DataError, nearest
from gnomon.report.columns import (
    CATEGORY,
    DATE,
    NUMBER,
    OUT,
    TEXT,
    Column,
    QuestionError,
    column_named,
    describe,
)
from gnomon.report.forms import understand
from gnomon.report.metrics import AMOUNTS, CLASSES, Metric, choose_metric

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
        Task(
            "classification", "accuracy", CLASSES["accuracy"].score, "predicts {target} best", 1, True, (0, 1)
        ),
        Task(
            "regression",
            "error (RMSE)",
            AMOUNTS["rmse"].score,
            "predicts {target} best",
            -1,
            True,
            (0, np.inf),
        ),
        Task("cluster", "silhouette", _silhouette, "finds the clearest groups", limits=(-1, 1)),
        Task("density", "log density of a row", _log_density, "describes the rows best"),
        Task("sequence", "log likelihood of a row", _log_density, "describes the sequences best"),
        Task(
            "recommend",
            "error (RMSE)",
            AMOUNTS["rmse"].score,
            "predicts {target} best",
            -1,
            limits=(0, np.inf),
        ),
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
    metric: Metric | None = None
    group: Any = None  # of every row: rows of one group are never on both sides
    time: str | None = None  # the column by which the rows are sorted: the past learns, the future tests
    missing: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()  # about leaks
    forms: dict[str, str] | None = None  # how the numbers and dates of some columns were written

    def splitter(self, folds: int, seed: int | None, y: Any = None) -> Any:
        """Return how rows are divided into those to learn from and those to test on."""
        if self.time is not None:
            return TimeSeriesSplit(folds)
        named = self.groups()
        if named is not None:
            most = min(folds, len(np.unique(named)))
            if self.task.name == "classification":
                return StratifiedGroupKFold(most, shuffle=True, random_state=seed)
            return GroupKFold(most, shuffle=True, random_state=seed)
        kind = StratifiedKFold if self.task.name == "classification" else KFold
        return kind(min(folds, self._most_folds(self.y if y is None else y)), shuffle=True, random_state=seed)

    def _most_folds(self, y: Any) -> int:
        if self.task.name != "classification":
            return len(self.frame)
        return max(2, int(np.unique(y, return_counts=True)[1].min()))

    def groups(self, rows: Any = None) -> Any:
        """Return the sequence or group of every row, where rows belong together."""
        if self.sequence is None and self.group is None:
            return None
        named = self.group if self.sequence is None else self.frame[self.sequence].to_numpy()
        return named if rows is None else named[rows]


def pose(
    frame: Any,
    target: str | None = None,
    task: str | None = None,
    sequence: str | None = None,
    *,
    metric: str | None = None,
    exclude: list[str] | None = None,
    group: str | None = None,
    time: str | None = None,
    missing: list[str] | None = None,
) -> Problem:
    """Return the question that a table and a target pose, with what was inferred on the way."""
    _check_question(target, task)
    for name in exclude or []:
        column_named(frame, name, "one to exclude")
    if target in (exclude or []):
        raise QuestionError(f"{target!r} cannot be the target and excluded.")
    frame, forms, written = understand(frame.drop(exclude or []))
    if target is None and (group or time):
        raise QuestionError("--group and --time are for tables with a --target.")
    if task == "recommend":
        problem = _ratings(frame, target)
    elif target is not None:
        problem = _with_target(frame, target, task, group, time, written)
    elif task == "sequence":
        problem = _sequences(frame, sequence, written)
    else:
        problem = _without_target(frame, TASKS[str(task)], written)
    used = {column.name for column in problem.columns}
    forms = {name: form for name, form in forms.items() if name in used}
    return judged_by(problem._replace(forms=forms, missing=tuple(missing or ())), metric)


def judged_by(problem: Problem, name: str | None) -> Problem:
    """Return the problem with the metric of a name, or the one that suits its target."""
    metric, why = choose_metric(name, problem.task.name, problem.y)
    if metric is None:
        return problem
    task = problem.task._replace(
        metric=metric.label, score=metric.score, sign=metric.sign, limits=metric.limits
    )
    return problem._replace(task=task, metric=metric, said=[*problem.said, *([why] if why else [])])


def _check_question(target: str | None, task: str | None) -> None:
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
    if target is not None and task not in (None, "classification", "regression", "recommend"):
        raise QuestionError(f"the task {task!r} has no target; leave out --target {target}.")
    if target is None and task is not None and TASKS[task].needs_target:
        raise QuestionError(f"the task {task!r} needs the column to predict: --target.")


def _with_target(
    frame: Any, target: str, task: str | None, group: str | None, time: str | None, written: dict[str, str]
) -> Problem:
    column_named(frame, target, "target")
    said: list[str] = []
    frame = _rows_with(frame, target, said)
    if time is not None:
        frame = _in_order_of(frame, column_named(frame, time, "time"), said)
    _enough(frame)
    found, why = _infer(frame[target], task)
    said.insert(0, why)
    y = _labels(frame[target]) if found == "classification" else _numbers(frame[target])
    rest, members = frame.drop(target), None
    if group is not None:
        rest, members = _grouped(rest, group, said)
    columns = describe(rest, written)
    _usable(columns)
    return Problem(TASKS[found], found, rest, y, columns, target, None, said, group=members, time=time)


def _rows_with(frame: Any, target: str, said: list[str]) -> Any:
    count = frame[target].null_count()
    if not count:
        return frame
    said.append(f"{count} rows without {target} were left out.")
    return frame.filter(frame[target].is_not_null())


def _in_order_of(frame: Any, column: Any, said: list[str]) -> Any:
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


def _grouped(frame: Any, group: str, said: list[str]) -> tuple[Any, Any]:
    """Return the table without the column of groups, and the group of every row."""
    column = column_named(frame, group, "group")
    members = column.cast(str).fill_null("(missing)").to_numpy().astype(str)
    count = len(np.unique(members))
    if count < 2:
        raise DataError(f"the group {group!r} has one value; rows of one group cannot be on both sides.")
    said.append(f"All rows of one {group} are in the same fold ({count} groups); no model sees {group}.")
    return frame.drop(group), members


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


def _without_target(frame: Any, task: Task, written: dict[str, str]) -> Problem:
    _enough(frame)
    columns, said = describe(frame, written), []
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


def _sequences(frame: Any, sequence: str | None, written: dict[str, str]) -> Problem:
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
    columns = _only_numbers(describe(frame.drop(sequence), written))
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
        if c.kind in (CATEGORY, DATE, TEXT) or c.distinct <= 2
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
