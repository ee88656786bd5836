"""Closer looks at the best model: where it errs, from which probability on to decide, and what a column does."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.threads import in_order
from gnomon.report.columns import CATEGORY, NUMBER, OUT
from gnomon.report.entries import Entry
from gnomon.report.metrics import CLASSES, Answers, positive_class
from gnomon.report.tasks import Problem
from gnomon.selection import calibration, error_interval
from gnomon.selection.intervals import Interval, score_interval

DEPENDENCE_COLUMNS, DEPENDENCE_POINTS, DEPENDENCE_ROWS = 4, 12, 200
GROUP_COLUMNS, GROUP_VALUES, GROUP_ROWS = 4, 5, 20
JUDGES = ("accuracy", "balanced_accuracy", "f1")


class Group(NamedTuple):
    """Rows that share something, and how wrong the model is there."""

    column: str
    value: str
    rows: int
    error: Interval
    worse: bool  # its interval lies above the error of all rows


class Decision(NamedTuple):
    """From which probability on a row is called positive, and what that gives."""

    positive: Any
    thresholds: Any
    curves: dict[str, Any]  # metric -> value at every threshold
    best: dict[str, tuple[float, float]]  # metric -> (threshold, value)
    usual: dict[str, float]  # metric -> value at one half
    calibration: Any


def two_class_answers(problem: Problem, entry: Entry) -> tuple[Any, Any, Any] | None:
    """Return the positive class, whether each tested row is of it, and its probability; None where there is none."""
    if entry.told is None or not entry.told.probabilities or problem.task.name != "classification":
        return None
    classes = np.unique(problem.y)
    if len(classes) != 2:
        return None
    positive = positive_class(problem.y)
    p = entry.told.scores[entry.tested, int(np.flatnonzero(classes == positive)[0])]
    return positive, problem.y[entry.tested] == positive, np.clip(p, 0.0, 1.0)


def decide(problem: Problem, entry: Entry) -> Decision | None:
    """Return what every threshold gives on unseen rows, for two classes with probabilities."""
    found = two_class_answers(problem, entry)
    if found is None:
        return None
    positive, truth, p = found
    grid = np.linspace(0.02, 0.98, 49)
    y = truth.astype(int)
    curves: dict[str, Any] = {name: np.empty(len(grid)) for name in JUDGES}
    for place, threshold in enumerate(grid):
        told = Answers((p >= threshold).astype(int))
        for name in JUDGES:
            curves[name][place] = CLASSES[name].value(y, told)
    best = {name: (float(grid[v.argmax()]), float(v.max())) for name, v in curves.items()}
    middle = int(np.abs(grid - 0.5).argmin())
    usual = {name: float(values[middle]) for name, values in curves.items()}
    return Decision(positive, grid, curves, best, usual, calibration(y, p, strategy="quantile"))


def errors_by_group(problem: Problem, entry: Entry, names: list[str]) -> list[Group]:
    """Return how wrong a model is on unseen rows, by the values of columns; numbers in thirds."""
    if entry.told is None or problem.y is None or problem.task.name == "recommend":
        return []
    classes = problem.task.name == "classification"
    wrong = (entry.told.said != problem.y) if classes else np.abs(entry.told.said - problem.y)
    tested = entry.tested
    overall = float(wrong[tested].mean())
    kinds = {column.name: column.kind for column in problem.columns}
    found: list[Group] = []
    for name in [n for n in names if kinds.get(n) in (CATEGORY, NUMBER)][:GROUP_COLUMNS]:
        for value, mine in _groups(problem.frame[name], kinds[name]):
            here = mine & tested
            if int(here.sum()) >= GROUP_ROWS:
                error = _interval(wrong[here], classes)
                found.append(Group(name, value, int(here.sum()), error, error.low > overall))
    return found


def _groups(column: Any, kind: str) -> list[tuple[str, Any]]:
    if kind == CATEGORY or column.n_unique() <= GROUP_VALUES:
        words = column.cast(str).fill_null("(missing)")
        top = words.value_counts(sort=True, name="(rows)")[column.name].to_list()[:GROUP_VALUES]
        return [(value, (words == value).to_numpy()) for value in sorted(top)]
    x = column.cast(float).to_numpy()
    low, high = np.nanquantile(x, [1 / 3, 2 / 3])
    if not low < high:
        return []
    return [
        (f"up to {low:.3g}", x <= low),
        (f"above {low:.3g}, up to {high:.3g}", (x > low) & (x <= high)),
        (f"above {high:.3g}", x > high),
    ]


def _interval(wrong: Any, classes: bool) -> Interval:
    if classes:
        low, high = error_interval(int(wrong.sum()), len(wrong))
        return Interval(float(wrong.mean()), low, high)
    return score_interval(wrong)


class Dependence(NamedTuple):
    """What a model says on average when a column is set to a value."""

    values: list[Any]
    means: list[Interval]  # over the folds' models
    label: str


def partial_dependence(race: Any, names: list[str]) -> dict[str, Dependence]:
    """Return the mean answer of the folds' models when a column is set to each of a few values."""
    problem: Problem = race.problem
    classes = None if problem.task.name != "classification" else np.unique(problem.y)
    models = [model for _, model in sorted(race.fitted.items())]
    if problem.y is None or len(models) < 2 or (classes is not None and len(classes) != 2):
        return {}
    if classes is not None and not hasattr(models[0].model_, "predict_proba"):
        return {}
    kinds = {column.name: column.kind for column in problem.columns if column.kind != OUT}
    chosen = [name for name in names if kinds.get(name) in (NUMBER, CATEGORY)][:DEPENDENCE_COLUMNS]
    rows = race.some(np.arange(len(problem.frame)), DEPENDENCE_ROWS)
    label = f"mean predicted {problem.target}" if classes is None else f"mean P({positive_class(problem.y)})"
    found = {}
    for name in chosen:
        values = _settings(problem.frame[name], kinds[name])
        if len(values) > 1:
            means = in_order(lambda m: _means(m, problem, rows, name, values), models)  # noqa: B023
            table = np.array(list(means))  # (folds, values)
            found[name] = Dependence(
                values, [score_interval(column, race.ratio) for column in table.T], label
            )
    return found


def _settings(column: Any, kind: str) -> list[Any]:
    given = column.drop_nulls()
    if kind == CATEGORY:
        return sorted(given.value_counts(sort=True, name="(rows)")[column.name].to_list()[:8], key=str)
    if given.n_unique() <= DEPENDENCE_POINTS:
        return given.unique().sort().to_list()
    values, shares = given.cast(float).to_numpy(), np.linspace(0.02, 0.98, DEPENDENCE_POINTS)
    quantiles = np.quantile(values, shares)
    if 2 * len(np.unique(quantiles)) < DEPENDENCE_POINTS:  # most rows have the same value
        quantiles = np.quantile(np.unique(values), [0.0, *shares])
    if column.dtype.is_integer():
        quantiles = quantiles.round()
    return np.unique(quantiles).tolist()


def _means(model: Any, problem: Problem, rows: Any, name: str, values: list[Any]) -> list[float]:
    import polars as pl

    frame = problem.frame[rows]
    dtype = frame[name].dtype
    parts = [frame.with_columns(pl.Series(name, [value] * len(frame)).cast(dtype)) for value in values]
    whole = pl.concat(parts)
    if problem.task.name == "classification":
        place = int(np.flatnonzero(np.asarray(model.classes_) == positive_class(problem.y))[0])
        said = np.asarray(model.predict_proba(whole))[:, place]
    else:
        said = np.asarray(model.predict(whole))
    return said.reshape(len(values), len(frame)).mean(axis=1).tolist()
