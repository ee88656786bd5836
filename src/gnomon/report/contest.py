"""The comparison: models against each other on rows that none of them has learned from."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags

from gnomon.core.errors import DataError, GnomonError
from gnomon.core.saving import save, write_atomically
from gnomon.report.encoder import TableEncoder, TableModel
from gnomon.report.menu import Candidate, candidates
from gnomon.report.ratings import PairEncoder
from gnomon.report.tables import read_table
from gnomon.report.tasks import Problem, pose
from gnomon.selection import adjust_p_values, compare_scores
from gnomon.selection.intervals import Interval, score_interval

Watch = Callable[[str, int, int], None]  # name of the model, steps done, steps in all
INNER = 3  # folds of the inner loop
IMPORTANCE_COLUMNS = 40  # shuffling takes time; later columns of a wide table are not shuffled


class NothingFinishedError(GnomonError):
    """No model could be compared."""


@dataclass
class Entry:
    """One model in a comparison."""

    name: str
    baseline: bool
    scores: list[float] = field(default_factory=list)  # of the outer folds, larger is better
    chosen: list[dict[str, Any]] = field(default_factory=list)  # the settings that each inner loop chose
    answers: Any = None  # what was said of every row by a model that had not seen it
    trace: Any = None
    seconds: float = 0.0
    warned: list[str] = field(default_factory=list)
    failure: str = ""
    interval: Interval | None = None
    p_value: float | None = (
        None  # against the best, adjusted for the number of models (the baseline's is not)
    )

    @property
    def finished(self) -> bool:
        """Whether the model has a score in every fold."""
        return not self.failure


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
    sequence: str | None = None,
    time_budget: float | None = None,
    folds: int = 5,
    repeats: int | None = None,
    random_state: int = 0,
    watch: Watch | None = None,
) -> Comparison:
    """Compare models of the library on a table by nested cross-validation.

    The inner loop chooses the settings of a model, the outer loop measures what it then says of rows that it has
    not seen. Medians, scales and categories are learned from the training rows of each fold alone.

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
    sequence : str, optional
        For the task "sequence": the column that says which sequence a row belongs to.
    time_budget : float, optional
        Seconds after which no further fit begins; models that are not done by then are left out and named.
    folds, repeats : int
        Outer folds, and how often they are drawn anew: twice for up to 1000 rows, else once.
    random_state : int
        Seed of the folds and of the models.
    watch : function (name, done, total), optional
        Told of every finished fold.

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
    begin = time.monotonic()
    source, frame = _open(table)
    problem = pose(frame, target, task, sequence)
    repeats = repeats or (2 if len(problem.frame) <= 1000 else 1)
    contest = _Contest(problem, folds, repeats, random_state, begin, time_budget, watch)
    winner, entries = contest.run(candidates(problem.menu, models, random_state, len(problem.frame)))
    model, settings = contest.refit(winner)
    importance = contest.importance()
    seconds = time.monotonic() - begin
    return Comparison(
        problem, entries, model, settings, importance, folds, repeats, random_state, seconds, source
    )


def _open(table: Any) -> tuple[str, Any]:
    import polars as pl

    if isinstance(table, str | Path):
        return str(table), read_table(table)
    return "", table if isinstance(table, pl.DataFrame) else pl.from_pandas(table)


class _OutOfTimeError(Exception):
    """The time is over."""


class _Contest:
    """The loops of a comparison."""

    def __init__(
        self,
        problem: Problem,
        folds: int,
        repeats: int,
        seed: int,
        begin: float,
        budget: float | None,
        watch: Watch | None,
    ) -> None:
        self.problem, self.seed = problem, seed
        self.deadline = np.inf if budget is None else begin + budget
        self.watch = watch or (lambda name, done, total: None)
        self.splits = [pair for repeat in range(repeats) for pair in self._split(folds, seed + repeat)]
        self.ratio = float(np.mean([len(test) / len(train) for train, test in self.splits]))
        self.fitted: list[TableModel] = []  # the best model so far, fold by fold

    def _split(self, folds: int, seed: int) -> list[tuple[Any, Any]]:
        problem = self.problem
        splitter = problem.splitter(folds, seed)
        pairs = splitter.split(np.empty(len(problem.frame)), problem.y, problem.groups())
        return [(np.sort(train), np.sort(test)) for train, test in pairs]

    def run(self, entrants: list[Candidate]) -> tuple[Candidate, list[Entry]]:
        """Return the best candidate and all entries, ranked."""
        entries, winner, top = [], None, -np.inf
        total = len(entrants) * len(self.splits)
        for place, candidate in enumerate(entrants):
            entry, fitted = self._enter(candidate, place * len(self.splits), total)
            entries.append(entry)
            if entry.finished and np.mean(entry.scores) > top:
                winner, top, self.fitted = candidate, float(np.mean(entry.scores)), fitted
        if winner is None:
            reasons = "; ".join(f"{entry.name}: {entry.failure}" for entry in entries)
            raise NothingFinishedError(f"no model finished ({reasons}).")
        return winner, self._rank(entries)

    def _enter(self, candidate: Candidate, done: int, total: int) -> tuple[Entry, list[TableModel]]:
        """Measure one candidate in every outer fold."""
        entry, fitted = Entry(candidate.name, candidate.baseline), []
        begin = time.monotonic()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                for fold, (train, test) in enumerate(self.splits):
                    self.watch(candidate.name, done + fold, total)
                    fitted.append(self._fold(candidate, entry, train, test))
            except _OutOfTimeError:
                entry.failure = "not done within the time budget"
            except Exception as error:  # a model that cannot take this table must not stop the others
                entry.failure = f"{type(error).__name__}: {error}".partition("\n")[0]
        self.watch(candidate.name, done + len(self.splits), total)
        entry.seconds = time.monotonic() - begin
        entry.warned = sorted({str(w.message).partition("\n")[0] for w in caught if _matters(w.category)})
        entry.trace = getattr(fitted[-1].model_, "trace_", None) if fitted else None
        return entry, fitted

    def _fold(self, candidate: Candidate, entry: Entry, train: Any, test: Any) -> TableModel:
        problem = self.problem
        model, settings = self._search(candidate, train)
        unseen = problem.frame[test]
        truth = None if problem.y is None else problem.y[test]
        entry.scores.append(float(problem.task.score(model, unseen, truth)))
        if not np.isfinite(entry.scores[-1]):
            raise DataError(f"its {problem.task.metric} on unseen rows is {entry.scores[-1]}")
        entry.chosen.append(settings)
        if problem.y is not None:
            answers = np.asarray(model.predict(unseen))
            if entry.answers is None:
                entry.answers = np.empty(len(problem.frame), dtype=np.result_type(answers, problem.y))
            entry.answers[test] = answers
        return model

    def _search(self, candidate: Candidate, rows: Any) -> tuple[TableModel, dict[str, Any]]:
        """Return the candidate fitted to these rows, with the settings that an inner loop over them chose."""
        if time.monotonic() > self.deadline and not candidate.baseline:
            raise _OutOfTimeError
        problem = self.problem
        model = table_model(candidate.model, problem)
        frame, y = problem.frame[rows], None if problem.y is None else problem.y[rows]
        if not any(len(values) > 1 for values in candidate.grid.values()):
            fixed = {f"model__{name}": values[0] for name, values in candidate.grid.items()}
            return model.set_params(**fixed).fit(frame, y), {}
        grid = {f"model__{name}": values for name, values in candidate.grid.items()}
        inner = problem.splitter(INNER, self.seed)
        search = GridSearchCV(model, grid, scoring=self._scored_in_time, cv=inner, error_score="raise")
        search.fit(frame, y, groups=problem.groups(rows))
        return search.best_estimator_, {k.removeprefix("model__"): v for k, v in search.best_params_.items()}

    def _scored_in_time(self, model: TableModel, frame: Any, y: Any = None) -> float:
        if time.monotonic() > self.deadline:
            raise _OutOfTimeError
        return self.problem.task.score(model, frame, y)

    def _rank(self, entries: list[Entry]) -> list[Entry]:
        done = [entry for entry in entries if entry.finished]
        done.sort(key=lambda entry: -float(np.mean(entry.scores)))  # of equals the one tried first
        for entry in done:
            entry.interval = score_interval(entry.scores, self.ratio)
        for entry in done[1:]:
            entry.p_value = self._p_value(done[0].scores, entry.scores)
        rivals = [entry for entry in done[1:] if not entry.baseline]
        for entry, p in zip(rivals, adjust_p_values([entry.p_value for entry in rivals])):
            entry.p_value = float(p)
        return done + [entry for entry in entries if not entry.finished]

    def _p_value(self, one: Any, other: Any) -> float:
        """Return how surprising the difference is; NaN where a score is infinite."""
        if not (np.isfinite(one).all() and np.isfinite(other).all()):
            return float("nan")
        return compare_scores(one, other, n_train=1.0, n_test=self.ratio).p_value

    def refit(self, winner: Candidate) -> tuple[TableModel, dict[str, Any]]:
        """Return the best model, its settings chosen and its parameters learned on all rows."""
        self.deadline = np.inf
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._search(winner, np.arange(len(self.problem.frame)))

    def importance(self, shuffles: int = 2, most: int = IMPORTANCE_COLUMNS) -> dict[str, Interval]:
        """Return how much score the best model loses on unseen rows when a column is shuffled."""
        if self.problem.y is None:
            return {}
        names = self.fitted[0].encoder_.columns()[:most]
        losses: dict[str, list[float]] = {name: [] for name in names}
        for fold, (model, (_, test)) in enumerate(zip(self.fitted, self.splits)):
            frame, y = self.problem.frame[test], self.problem.y[test]
            whole = self.problem.task.score(model, frame, y)
            rng = np.random.default_rng([self.seed, fold])
            for name in names:
                orders = [rng.permutation(len(frame)) for _ in range(shuffles)]
                shuffled = [frame.with_columns(frame[name][order]) for order in orders]
                losses[name].append(whole - np.mean([self.problem.task.score(model, s, y) for s in shuffled]))
        found = {name: score_interval(values, self.ratio) for name, values in losses.items()}
        return dict(sorted(found.items(), key=lambda item: -item[1].mean))


def table_model(model: Any, problem: Problem) -> TableModel:
    """Return a model with the encoder that suits it and the problem."""
    if problem.task.name == "recommend":
        return TableModel(model, PairEncoder(*problem.frame.columns), target=problem.target)
    tags = get_tags(model)
    counts = problem.menu.endswith("of counts")
    encoder = TableEncoder.of(
        problem.columns,
        scale=not (counts or tags.input_tags.positive_only),
        fill=problem.task.name != "sequence",
    )
    return TableModel(model, encoder, target=problem.target, sequence=problem.sequence)


def _matters(category: type) -> bool:
    from sklearn.exceptions import ConvergenceWarning

    return issubclass(category, ConvergenceWarning | RuntimeWarning)
