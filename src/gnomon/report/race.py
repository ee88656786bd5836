"""The race: the strongest models first, on few rows and folds, then the survivors on all, then their settings.

At any moment what is known can be ranked, so it may be stopped at any moment.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from gnomon.core.errors import DataError, GnomonError
from gnomon.report.clock import WARM_ROWS, Clock, OutOfTimeError, stop_in
from gnomon.report.encoder import TableModel
from gnomon.report.entries import Entry
from gnomon.report.menu import Candidate
from gnomon.report.metrics import Answers, ask_all, beside
from gnomon.report.models import table_model
from gnomon.report.tasks import Problem
from gnomon.selection.intervals import Interval, score_interval

Watch = Callable[[str, int, int], None]  # what is going on, steps done, steps in all
INNER = 3  # folds of the inner loop
SEARCH_ROWS = 10_000  # settings are chosen on at most so many rows
LOOKS = (2_000, 8_000)  # training rows of the first looks at a table that is much larger
LOOK_FOLDS = 2
LOOK_SHARE = (0.35, 0.15)  # of the budget
TUNED_FIRST = 3  # so many of the best have their settings chosen before the weak half is measured
IMPORTANCE_COLUMNS = 40  # shuffling takes time; later columns of a wide table are not shuffled
IMPORTANCE_ROWS = 2_000  # of a fold
NO_TIME = "not done within the time budget"
STOPPED = "not done before it was stopped"


class NothingFinishedError(GnomonError):
    """No model could be compared."""


class Race:
    """The loops of a comparison."""

    def __init__(
        self, problem: Problem, folds: int, repeats: int, seed: int, clock: Clock, watch: Watch | None
    ) -> None:
        self.problem, self.seed, self.clock = problem, seed, clock
        self.watch = watch or (lambda name, done, total: None)
        self.splits = [pair for repeat in range(repeats) for pair in self._split(folds, seed + repeat)]
        self.ratio = float(np.mean([len(test) / len(train) for train, test in self.splits]))
        self.entries: list[Entry] = []
        self.leader: Entry | None = None
        self.fitted: list[TableModel] = []  # the leader, fold by fold
        self.interrupted = False
        self.done = 0

    def _split(self, folds: int, seed: int) -> list[tuple[Any, Any]]:
        problem = self.problem
        splitter = problem.splitter(folds, seed)
        pairs = splitter.split(np.empty(len(problem.frame)), problem.y, problem.groups())
        return [(np.sort(train), np.sort(test)) for train, test in pairs]

    # The course of the race

    def run(self, entrants: list[Candidate]) -> list[Entry]:
        """Measure as many candidates as time allows; return all entries, unranked."""
        self.entries = [Entry(c.name, c.baseline, c, n_folds=len(self.splits)) for c in entrants]
        try:
            self._course([e for e in self.entries if e.baseline], [e for e in self.entries if not e.baseline])
        except KeyboardInterrupt:
            self.interrupted = True
            if self.leader is None and not any(entry.looks for entry in self.entries):
                raise
        self._close()
        return self.entries

    def _course(self, baselines: list[Entry], rivals: list[Entry]) -> None:
        for entry in baselines:
            self._measure(entry, {})
        first, rest = rivals, list[Entry]()
        if self.clock.limited and self._large() and len(rivals) > 1:
            first, rest = self._look_at(rivals)
        for entry in first:
            self._measure_in_time(entry)
        ranked = sorted((e for e in first if e.scores), key=lambda e: -float(np.mean(e.scores)))
        if rest:
            self._tune_all(ranked[:TUNED_FIRST])
            for entry in sorted(rest, key=lambda e: -e.looked):
                self._measure_in_time(entry)
            ranked = sorted((e for e in rivals if e.scores), key=lambda e: -float(np.mean(e.scores)))
        self._tune_all([entry for entry in ranked if not entry.searched])

    def _large(self) -> bool:
        return len(self.splits[0][0]) > 2 * LOOKS[0]

    def _look_at(self, rivals: list[Entry]) -> tuple[list[Entry], list[Entry]]:
        """Return who goes on first, the best look first, and who has to wait."""
        going = rivals
        for rows, share in zip(LOOKS, LOOK_SHARE):
            if len(self.splits[0][0]) <= 2 * rows:
                break
            until = self.clock.elapsed() + share * self.clock.budget
            for entry in going:
                if self.clock.elapsed() < until and self.clock.fits(entry.name, rows, LOOK_FOLDS):
                    self._look(entry, rows)
            going = sorted((e for e in going if e.looks and not e.failure), key=lambda e: -e.looked)
            going = going[: max(3, (len(going) + 1) // 2)]
        return going, [entry for entry in rivals if entry not in going and not entry.failure]

    def _close(self) -> None:
        """Say of every entry that is not ranked why; fall back on first looks where there is nothing more."""
        least = min(2, len(self.splits))
        if not any(len(e.scores) >= least and not e.failure for e in self.entries if not e.baseline):
            self._promote_looks()
        for entry in self.entries:
            if not entry.failure and len(entry.scores) < least:
                entry.failure = STOPPED if self.interrupted else NO_TIME
                if entry.looks:
                    rows, scores = entry.looks[-1]
                    shown = self.problem.task.sign * float(np.mean(scores))
                    entry.failure += (
                        f"; {self.problem.task.metric} {shown:.3f} at a first look with {rows} rows"
                    )
        if not any(entry.finished for entry in self.entries):
            reasons = "; ".join(f"{entry.name}: {entry.failure}" for entry in self.entries)
            raise NothingFinishedError(f"no model finished ({reasons}).")

    def _promote_looks(self) -> None:
        """Take the scores of the latest look for the scores, where no model was measured on all rows."""
        most = max((entry.looks[-1][0] for entry in self.entries if entry.looks), default=0)
        for entry in self.entries:
            if most and entry.looks and entry.looks[-1][0] == most:
                entry.scores, entry.told = list(entry.looks[-1][1]), None
                entry.chosen = [{} for _ in entry.scores]
                if self.leader is None or self.leader.baseline or entry.looked > self.leader.looked:
                    self.leader, self.fitted = entry, []

    # One model

    @contextmanager
    def _listening(self, entry: Entry) -> Iterator[None]:
        """Keep warnings and failures of a model with its entry: it must not stop the others."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                yield
            except OutOfTimeError:
                pass
            except Exception as error:
                if len(entry.scores) < len(self.splits) or not entry.scores:
                    entry.failure = f"{type(error).__name__}: {error}".partition("\n")[0]
        told = {str(w.message).partition("\n")[0] for w in caught if _matters(w.category)}
        entry.warned = sorted({*entry.warned, *told})

    def _tell(self, entry: Entry, what: str) -> None:
        """Tell the watcher what runs, what leads and how much time is left."""
        words = f"{entry.name} {what}"
        if self.leader is not None and self.leader.scores:
            shown = self.problem.task.sign * float(np.mean(self.leader.scores))
            words += f" · leading: {self.leader.name} {shown:.4g}"
        if self.clock.limited:
            words += f" · {max(0.0, self.clock.left()):.0f} s left"
        self.watch(words, self.done, len(self.entries) * len(self.splits))

    def _warm(self, entry: Entry) -> None:
        """Compile the loops of a model by a fit to a few rows; neither its time nor its failure counts."""
        if entry.name in self.clock.spent or entry.baseline:
            return
        self._tell(entry, "is compiled")
        rows = self._some(self.splits[0][0], WARM_ROWS)
        begin = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = self._fit(entry, rows, {})
                ask_all(model, self.problem.frame[rows[:10]], self._numbers()) if self._asked() else None
            except Exception:
                pass
        self.clock.compiled(time.monotonic() - begin)

    def _some(self, rows: Any, count: int) -> Any:
        """Return at most so many of the rows: whole sequences and groups, or drawn by the seed; every class is kept."""
        if len(rows) <= count:
            return rows
        problem = self.problem
        if problem.groups() is not None or problem.time is not None:
            return rows[-count:] if problem.time is not None else rows[:count]
        order = np.random.default_rng(self.seed).permutation(rows)
        kept = order[:count]
        if problem.task.name == "classification":
            _, first = np.unique(problem.y[order], return_index=True)
            kept = np.union1d(kept, order[first])
        return np.sort(kept)

    def _look(self, entry: Entry, count: int) -> None:
        """Measure a model on part of the training rows of two folds."""
        with self._listening(entry):
            self._warm(entry)
            scores = []
            for fold, (train, test) in enumerate(self.splits[:LOOK_FOLDS]):
                self.clock.check()
                self._tell(entry, f"on {count} rows, fold {fold + 1} of {LOOK_FOLDS}")
                begin = time.monotonic()
                rows, asked = self._some(train, count), self._some(test, 2 * count)
                model = self._fit(entry, rows, usual(entry.candidate))
                truth = None if self.problem.y is None else self.problem.y[asked]
                scores.append(float(self.problem.task.score(model, self.problem.frame[asked], truth)))
                self.clock.note(entry.name, len(rows), time.monotonic() - begin)
            if np.isfinite(scores).all():
                entry.looks.append((count, scores))

    def _measure_in_time(self, entry: Entry) -> None:
        folds = len(self.splits)
        if entry.failure or (not entry.looks and not self.clock.fits(entry.name, len(self.splits[0][0]))):
            return
        if entry.looks and not self.clock.fits(entry.name, len(self.splits[0][0]), min(2, folds)):
            return
        self._measure(entry, usual(entry.candidate))

    def _measure(self, entry: Entry, settings: dict[str, Any] | None) -> None:
        """Measure a model in every outer fold, with given settings or (None) those that an inner loop chooses."""
        begin, fitted = time.monotonic(), list[TableModel]()
        with self._listening(entry):
            if not entry.baseline:
                self.clock.check()
                self._warm(entry)
            entry.seconds -= time.monotonic() - begin  # compiling is not the model's time
            for fold, (train, test) in enumerate(self.splits):
                if not entry.baseline:
                    self.clock.check()
                self._tell(entry, f"fold {fold + 1} of {len(self.splits)}")
                fitted.append(self._fold(entry, train, test, settings))
                self.done += settings is not None
        entry.seconds += time.monotonic() - begin
        entry.trace = getattr(fitted[-1].model_, "trace_", None) if fitted else None
        if not entry.failure and len(entry.scores) >= min(2, len(self.splits)):
            self._maybe_leads(entry, fitted)

    def _maybe_leads(self, entry: Entry, fitted: list[TableModel]) -> None:
        top = -np.inf if self.leader is None else float(np.mean(self.leader.scores))
        if self.leader is None or float(np.mean(entry.scores)) > top:
            self.leader, self.fitted = entry, fitted
            rows = len(self.problem.frame)
            self.clock.reserve = 1.0 + 2.0 * (0.0 if entry.baseline else self.clock.guess(entry.name, rows))

    def _fold(self, entry: Entry, train: Any, test: Any, settings: dict[str, Any] | None) -> TableModel:
        problem, begin = self.problem, time.monotonic()
        chosen = self._search(entry, train) if settings is None else settings
        fitting = time.monotonic()
        model = self._fit(entry, train, chosen)
        if self.clock.limited and not entry.baseline and self.clock.left() <= 0 and len(entry.scores) >= 2:
            raise OutOfTimeError  # the fit was cut short; there are folds enough without it
        unseen = problem.frame[test]
        truth = None if problem.y is None else problem.y[test]
        if problem.metric is None or not self._asked():
            score = float(problem.task.score(model, unseen, truth))
        else:
            told = ask_all(model, unseen, self._numbers())
            score = problem.metric.sign * float(problem.metric.value(truth, told))
            self._keep(entry, told, test, truth)
        if not np.isfinite(score):
            raise DataError(f"its {problem.task.metric} on unseen rows is {score}")
        entry.scores.append(score)
        entry.chosen.append({} if settings is not None else chosen)
        self.clock.note(entry.name, len(train), time.monotonic() - (fitting if settings is None else begin))
        return model

    def _asked(self) -> bool:
        return self.problem.y is not None

    def _numbers(self) -> bool:
        return self.problem.task.name != "classification"

    def _keep(self, entry: Entry, told: Answers, test: Any, truth: Any) -> None:
        """Keep what was said of unseen rows, and what other metrics make of it."""
        n, problem = len(self.problem.frame), self.problem
        if entry.told is None:
            said = np.zeros(n, dtype=np.result_type(told.said, problem.y))
            scores = None if told.scores is None else np.full((n, len(np.unique(problem.y))), np.nan)
            entry.told = told._replace(said=said, scores=scores)
            entry.tested = np.zeros(n, dtype=bool)
        entry.told.said[test], entry.tested[test] = told.said, True
        if told.scores is not None and entry.told.scores is not None:
            places = np.searchsorted(np.unique(problem.y), told.classes)
            entry.told.scores[test] = 0.0
            entry.told.scores[np.ix_(test, places)] = told.scores
        for metric in beside(problem.task.name, problem.metric):
            try:
                value = float(metric.value(truth, told))
            except (GnomonError, ValueError):
                continue
            entry.beside.setdefault(metric.label, []).append(value)

    def _fit(self, entry: Entry, rows: Any, settings: dict[str, Any]) -> TableModel:
        problem = self.problem
        model = table_model(entry.candidate.model, problem).set_params(
            **{f"model__{k}": v for k, v in settings.items()}
        )
        seconds = np.inf if entry.baseline else max(self.clock.left(), 0.05)
        y = None if problem.y is None else problem.y[rows]
        return model.fit(problem.frame[rows], y, stop=lambda inner: stop_in(inner, seconds))

    # Settings

    def _tune_all(self, ranked: list[Entry]) -> None:
        """Choose the settings of models, the best first; the better of before and after is kept."""
        for entry in ranked:
            if not settings_of(entry.candidate) or entry.failure:
                continue
            rows = min(len(self.splits[0][0]), SEARCH_ROWS)
            fits = len(ParameterGrid(settings_of(entry.candidate))) * INNER * len(self.splits)
            if not self.clock.fits(entry.name, rows, fits):
                continue
            self._tune(entry)

    def _tune(self, entry: Entry) -> None:
        better = Entry(entry.name, False, entry.candidate, n_folds=entry.n_folds, warned=entry.warned)
        before, held = self.leader, self.fitted
        self._measure(better, None)
        entry.searched = True
        entry.seconds += better.seconds
        if (
            better.failure
            or not better.complete
            or float(np.mean(better.scores)) < float(np.mean(entry.scores))
        ):
            if self.leader is better:
                self.leader, self.fitted = before, held
            return
        for name in ("scores", "chosen", "beside", "told", "tested", "trace", "warned"):
            setattr(entry, name, getattr(better, name))
        entry.n_folds = better.n_folds
        if self.leader is better:
            self.leader = entry

    def _search(self, entry: Entry, rows: Any) -> dict[str, Any]:
        """Return the settings that do best in an inner loop over these rows."""
        problem = self.problem
        rows = self._some(rows, SEARCH_ROWS)
        y = None if problem.y is None else problem.y[rows]
        pairs = list(
            problem.splitter(INNER, self.seed, y).split(np.empty(len(rows)), y, problem.groups(rows))
        )
        best, top, trouble = None, -np.inf, None
        for settings in ParameterGrid(settings_of(entry.candidate)):
            try:
                score = np.mean(
                    [self._inner(entry, rows[train], rows[test], settings) for train, test in pairs]
                )
            except (GnomonError, ValueError, ArithmeticError) as error:
                trouble = error
                continue
            if best is None or score > top:
                best, top = settings, score
        if best is None:
            raise trouble or DataError("no settings could be tried")
        return {**fixed(entry.candidate), **best}

    def _inner(self, entry: Entry, train: Any, test: Any, settings: dict[str, Any]) -> float:
        self.clock.check()
        model = self._fit(entry, train, {**fixed(entry.candidate), **settings})
        truth = None if self.problem.y is None else self.problem.y[test]
        return float(self.problem.task.score(model, self.problem.frame[test], truth))

    # After the race

    def refit(self, winner: Entry) -> tuple[TableModel, dict[str, Any]]:
        """Return the best model, its settings chosen and its parameters learned on all rows."""
        if self.interrupted and self.fitted and winner is self.leader:
            return self.fitted[0], winner.chosen[0] or usual(winner.candidate)
        tuned = any(winner.chosen)
        settings = usual(winner.candidate)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = np.arange(len(self.problem.frame))
            if tuned and self._time_to_search(winner):
                self.clock.budget = np.inf
                settings = self._search(winner, rows)
            elif tuned:
                words = [repr(chosen) for chosen in winner.chosen]
                settings = winner.chosen[words.index(max(dict.fromkeys(words), key=words.count))]
            self.clock.budget = np.inf
            return self._fit(winner, rows, settings), settings

    def _time_to_search(self, winner: Entry) -> bool:
        fits = len(ParameterGrid(settings_of(winner.candidate))) * INNER
        return self.clock.fits(winner.name, min(len(self.problem.frame), SEARCH_ROWS), fits)

    def importance(self, shuffles: int = 2, most: int = IMPORTANCE_COLUMNS) -> dict[str, Interval]:
        """Return how much score the best model loses on unseen rows when a column is shuffled."""
        if self.problem.y is None or len(self.fitted) < 2:
            return {}
        names = self.fitted[0].encoder_.columns()[:most]
        losses: dict[str, list[float]] = {name: [] for name in names}
        for fold, (model, (_, test)) in enumerate(zip(self.fitted, self.splits)):
            rows = self._some(test, IMPORTANCE_ROWS)
            frame, y = self.problem.frame[rows], self.problem.y[rows]
            whole = self.problem.task.score(model, frame, y)
            rng = np.random.default_rng([self.seed, fold])
            for name in names:
                orders = [rng.permutation(len(frame)) for _ in range(shuffles)]
                shuffled = [frame.with_columns(frame[name][order]) for order in orders]
                losses[name].append(whole - np.mean([self.problem.task.score(model, s, y) for s in shuffled]))
        found = {name: score_interval(values, self.ratio) for name, values in losses.items()}
        return dict(sorted(found.items(), key=lambda item: -item[1].mean))


def fixed(candidate: Any) -> dict[str, Any]:
    """Return the settings of a menu that have one value."""
    return {name: values[0] for name, values in candidate.grid.items() if len(values) == 1}


def settings_of(candidate: Any) -> dict[str, list[Any]]:
    """Return the settings of a menu among which there is a choice."""
    return {name: values for name, values in candidate.grid.items() if len(values) > 1}


def usual(candidate: Any) -> dict[str, Any]:
    """Return the settings before any is chosen: the model's own where the menu has them, else the middle ones."""
    own = candidate.model.get_params(deep=False)
    chosen = {}
    for name, values in settings_of(candidate).items():
        same = [value for value in values if repr(value) == repr(own.get(name))]
        chosen[name] = same[0] if same else values[len(values) // 2]
    return {**fixed(candidate), **chosen}


def _matters(category: type) -> bool:
    from sklearn.exceptions import ConvergenceWarning

    return issubclass(category, ConvergenceWarning | RuntimeWarning)
