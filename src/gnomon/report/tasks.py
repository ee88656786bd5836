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
    listed,
)
from gnomon.report.forms import understand
from gnomon.report.leaks import find_leaks
from gnomon.report.metrics import AMOUNTS, CLASSES, Metric, choose_metric
from gnomon.report.targets import (
    enough,
    grouped,
    in_order_of,
    infer,
    labels,
    numbers,
    rows_with,
    usable,
    without_lonely,
)

PART = "(part)"  # the column that cuts a single sequence into parts, to learn from some and test on others


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


def _perplexity(model: Any, frame: Any, y: Any) -> float:
    """Return minus the perplexity: half of each unseen document predicts the other half."""
    from gnomon.topics import perplexity

    return -float(perplexity(model.model_, model.matrix(frame)))


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
        Task("topics", "perplexity", _perplexity, "describes the documents best", -1, limits=(1, np.inf)),
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
    frame = frame.drop(exclude or [])
    forms: dict[str, str] = {}
    written: dict[str, str] = {}
    if task != "recommend":  # ids are names, however they look
        frame, forms, written = understand(frame, target)
    if target is None and (group or time):
        raise QuestionError("--group and --time are for tables with a --target.")
    if task == "recommend":
        problem = _ratings(frame, target)
    elif target is not None:
        problem = _with_target(frame, target, task, group, time, written)
    elif task == "topics":
        problem = _documents(frame)
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
            "name the column to predict with --target, or a task: cluster, density, sequence, topics, recommend or "
            "rules."
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
    frame = rows_with(frame, target, said)
    if time is not None:
        frame = in_order_of(frame, column_named(frame, time, "time"), said)
    enough(frame)
    found, why = infer(frame[target], task)
    said.insert(0, why)
    if found == "classification":
        frame = without_lonely(frame, target, said)
    y = labels(frame[target]) if found == "classification" else numbers(frame[target])
    rest, members = frame.drop(target), None
    if group is not None:
        rest, members = grouped(rest, group, said)
    columns = describe(rest, written, target)
    usable(columns)
    warned = find_leaks(rest, y, columns, target, found == "classification")
    return Problem(
        TASKS[found], found, rest, y, columns, target, None, said,
        group=members, time=time, warned=tuple(warned),
    )  # fmt: skip


def _without_target(frame: Any, task: Task, written: dict[str, str]) -> Problem:
    enough(frame)
    columns, said = describe(frame, written), []
    menu = task.name
    if task.name == "density":
        columns = _only_numbers(columns)
        used = [column.name for column in columns if column.kind != OUT]
        whole = frame.drop_nulls(used)
        if len(whole) < len(frame):
            said.append(f"{len(frame) - len(whole)} rows with missing values were left out.")
        frame, menu = whole, _of_counts("density", whole, used, said)
        enough(frame)
        columns = [column._replace(done=_shown_as(menu, column)) for column in columns]
    usable(columns)
    return Problem(task, menu, frame, None, columns, None, None, said)


def _sequences(frame: Any, sequence: str | None, written: dict[str, str]) -> Problem:
    enough(frame)
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
    told = describe(frame.drop(sequence), written)
    columns = _only_numbers(told)
    if all(column.kind == OUT for column in columns):
        return _symbols(frame, sequence, told, said)
    menu = _of_counts("sequence", frame, [c.name for c in columns if c.kind != OUT], said)
    columns = [column._replace(done=_shown_as(menu, column)) for column in columns]
    return Problem(TASKS["sequence"], menu, frame, None, columns, None, sequence, said)


def _symbols(frame: Any, sequence: str, columns: list[Column], said: list[str]) -> Problem:
    """Return the problem of sequences whose rows are words: each is one of a few symbols."""
    columns = [
        c._replace(kind=OUT, done="too many values for symbols, or none")
        if c.kind not in (CATEGORY, NUMBER)
        else c._replace(kind=CATEGORY, done="a symbol, as it is")
        for c in columns
    ]
    usable(columns)
    used = [column.name for column in columns if column.kind != OUT]
    said.append(f"{listed(used)} hold{'s' * (len(used) == 1)} symbols, so models of symbols are compared.")
    return Problem(TASKS["sequence"], "sequence of symbols", frame, None, columns, None, sequence, said)


def _documents(frame: Any) -> Problem:
    from gnomon.report.documents import pose_documents

    enough(frame)
    held, columns, _, said = pose_documents(frame, describe(frame))
    enough(held)
    return Problem(TASKS["topics"], "topics", held, None, columns, None, None, said)


def _ratings(frame: Any, target: str | None) -> Problem:
    from gnomon.report.ratings import pose_ratings

    pairs, y, columns, rating, said = pose_ratings(frame, target)
    enough(pairs)
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
