"""The comparison: models against each other on rows that none of them has learned from."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gnomon.core.saving import save, write_atomically
from gnomon.report.after import fit_the_best, last_fit, look_closer
from gnomon.report.clock import Clock
from gnomon.report.encoder import TableModel
from gnomon.report.entries import Entry, rank
from gnomon.report.looks import Dependence
from gnomon.report.measuring import Watch
from gnomon.report.menu import candidates, too_many_rows
from gnomon.report.race import Race
from gnomon.report.stacking import combine
from gnomon.report.tables import read_table
from gnomon.report.tasks import Problem, pose
from gnomon.selection.intervals import Interval


@dataclass
class Comparison:
    """What came of a comparison: the ranking, the best model fitted to all rows, and how it was done."""

    problem: Problem
    entries: list[Entry]  # the best first, then what did not finish
    model: TableModel
    settings: dict[str, Any]
    importance: dict[str, Interval]
    folds: int
    repeats: int
    random_state: int
    seconds: float
    source: str = ""
    time_budget: float | None = None
    interrupted: bool = False
    too_large: dict[str, int] = field(
        default_factory=dict
    )  # models that stay away from so many rows, and their limit
    curve: dict[int, list[float]] = field(default_factory=dict)  # scores of the best by training rows
    dependence: dict[str, Dependence] = field(
        default_factory=dict
    )  # of what the best says, on its chief columns
    options: dict[str, Any] = field(default_factory=dict)  # what was asked for beside the target
    spent: dict[str, float] = field(default_factory=dict)  # what was done -> seconds
    most_rows: int | None = None  # training rows of a fold where there was no time for all of them

    @property
    def best(self) -> Entry:
        """The winner."""
        return self.entries[0]

    @property
    def ranked(self) -> list[Entry]:
        """The models that finished, the best first."""
        return [entry for entry in self.entries if entry.finished]

    def equals(self, level: float = 0.05) -> list[Entry]:
        """Return the models that cannot be told from the best."""
        return [e for e in self.ranked[1:] if e.p_value is not None and e.p_value > level]

    def shown(self, value: float) -> float:
        """Return a score as it is shown: errors are positive."""
        return self.problem.task.sign * value

    def to_html(self) -> str:
        """Return the report: one page that needs no other file and no network."""
        from gnomon.report.page import page

        return page(self)

    def write(self, folder: str | Path) -> dict[str, Path]:
        """Write the page and the best model into a folder, each whole or not at all; return the paths."""
        folder = Path(folder)
        text = self.to_html().encode()
        folder.mkdir(parents=True, exist_ok=True)
        paths = {"report": folder / "report.html", "model": folder / "best.gnomon"}
        save(self.model, paths["model"])
        write_atomically(paths["report"], text)
        return paths

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain numbers, words, lists and dicts."""
        from gnomon.report.words import as_dict

        return as_dict(self)

    def __repr__(self) -> str:
        from gnomon.report.words import answer

        return answer(self)


def compare(
    table: Any,
    target: str | None = None,
    *,
    task: str | None = None,
    models: list[str] | None = None,
    metric: str | None = None,
    exclude: list[str] | None = None,
    group: str | None = None,
    time_column: str | None = None,
    missing: list[str] | None = None,
    sequence: str | None = None,
    time_budget: float | None = None,
    folds: int = 5,
    repeats: int | None = None,
    random_state: int = 0,
    watch: Watch | None = None,
) -> Comparison:
    """Compare models of the library on a table by nested cross-validation.

    Every model is measured on rows that it has not seen, first with its usual settings, then with settings that an
    inner loop chooses. Medians, scales and categories are learned from the training rows of each fold alone. With a
    time budget and many rows the strongest families go first, on few rows and folds; the better half is measured on
    all rows, then the settings of the best, then the others. What is known can be reported at any moment.

    Parameters
    ----------
    table : path or data frame
        A file that `read_table` reads, or a polars or pandas frame.
    target : str, optional
        The column to predict.
    task : {"classification", "regression", "cluster", "density", "sequence", "recommend"}, optional
        What is asked; inferred from the target when left out. For "recommend" the table has a row for every rating,
        and the target, if any, is the column of the ratings.
    models : list of str, optional
        Names of models; all on the families' menus when left out. Baselines always take part.
    metric : str, optional
        What decides: "accuracy", "balanced_accuracy", "auc", "average_precision", "log_loss", "brier" or "f1" for
        classes; "rmse", "mae", "r2", "pinball" ("pinball@0.9") or "poisson" for numbers. When left out: accuracy, or
        for uneven classes the area under the curve (two) or the log loss (more); the root mean squared error.
    exclude : list of str, optional
        Columns that no model may see.
    group : str, optional
        A column such as a person or a household: all rows of one value are in the same fold.
    time_column : str, optional
        A column of dates or numbers: models learn from earlier rows and are tested on later ones.
    missing : list of str, optional
        Words that mean that a value is missing, besides the usual ones.
    sequence : str, optional
        For the task "sequence": the column that says which sequence a row belongs to.
    time_budget : float, optional
        Seconds. Models that are not done by then are left out and named; none by default.
    folds, repeats : int
        Outer folds, and how often they are drawn anew: twice for up to 1000 rows, else once.
    random_state : int
        Seed of the folds and of the models.
    watch : function (words, done, total), optional
        Told of every step: what runs, what leads, how much time is left.

    Returns
    -------
    Comparison
        ``ranked``, ``best``, ``model``, ``write(folder)``, ``to_html()``, ``to_dict()``.

    Examples
    --------
    >>> import polars as pl
    >>> from gnomon.datasets import load_old_faithful
    >>> table = pl.DataFrame(load_old_faithful().data, schema=["eruption", "waiting"])
    >>> result = compare(table, "waiting", models=["LinearRegression"], repeats=1)
    >>> [entry.name for entry in result.ranked]
    ['LinearRegression', 'always the mean']
    >>> result.model.predict(pl.DataFrame({"eruption": [3.0]})).round(1)
    array([65.7])
    """
    clock = Clock(time.monotonic(), time_budget)
    with clock.doing("reading"):
        source, frame = _open(table, missing, exclude)
        problem = pose(
            frame, target, task, sequence, metric=metric, exclude=exclude, group=group, time=time_column,
            missing=missing,
        )  # fmt: skip
    rows = len(problem.frame)
    repeats = 1 if problem.time is not None else repeats or (2 if rows <= 1000 else 1)
    race = Race(problem, folds, repeats, random_state, clock, watch)
    race.run(candidates(problem.menu, models, random_state, rows, calibrate=race.can_calibrate()))
    stacked = combine(race) if models is None or len(models) > 1 else None
    if stacked is not None and clock.limited and last_fit(race, stacked) > clock.spare():
        stacked = None  # there is no time to fit it
    rates = problem.metric is not None and problem.metric.name == "accuracy"
    entries = rank([*race.entries, *([stacked] if stacked else [])], race.ratio, race.per_draw, rates)
    model, settings = fit_the_best(race, entries[0])
    losses, dependence, curve = look_closer(race, entries[0], settings)
    return Comparison(
        problem, entries, model, settings, losses, folds, repeats, random_state, clock.elapsed(),
        source, time_budget, race.interrupted, too_many_rows(problem.menu, rows) if models is None else {},
        curve, dependence,
        {
            "task": task, "exclude": exclude, "group": group, "time": time_column, "missing": missing,
            "sequence": sequence,
        },
        clock.ledger, race.most_rows,
    )  # fmt: skip


def _open(table: Any, missing: list[str] | None, exclude: list[str] | None) -> tuple[str, Any]:
    import polars as pl

    if isinstance(table, str | Path):
        return str(table), read_table(table, missing=missing, words=exclude)
    return "", table if isinstance(table, pl.DataFrame) else pl.from_pandas(table)
