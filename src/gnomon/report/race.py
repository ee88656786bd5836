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
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from gnomon.core.errors import DataError, GnomonError
from gnomon.report.clock import WARM_ROWS, Clock, OutOfTimeError, stop_in
from gnomon.report.encoder import TableModel
from gnomon.report.entries import Entry
from gnomon.report.grids import fixed, settings_of, usual
from gnomon.report.menu import Candidate
from gnomon.report.metrics import Answers, ask_all, beside
from gnomon.report.models import table_model
from gnomon.report.tasks import Problem

Watch = Callable[[str, int, int], None]  # what is going on, steps done, steps in all
INNER = 3  # folds of the inner loop
SEARCH_ROWS = 10_000  # settings are chosen on at most so many rows
LOOKS = (1_000, 4_000)  # training rows of the first looks, one fold each, at a table that is much larger
LOOK_SHARE = (0.3, 0.15)  # of the budget
AFTER = 5.0  # seconds for importances, curves and the page, besides the last fit
TUNED_FIRST = 3  # so many of the best have their settings chosen before the weak half is measured
QUICK_SHARE = 0.25  # a model whose first two folds take more of the time that is left waits for quicker ones
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
        self.per_draw = len(self.splits) // repeats  # folds of one drawing
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
        self.clock.starting = {c.name: c.starts_in for c in entrants if c.starts_in}
        try:
            self._course([e for e in self.entries if e.baseline], [e for e in self.entries if not e.baseline])
        except KeyboardInterrupt:
            self.interrupted = True
            if not any(
                len(e.scores) >= 2 or len(e.looks) == len(LOOKS) for e in self.entries if not e.baseline
            ):
                raise  # a baseline alone is no news
        self._close()
        return self.entries

    def _course(self, baselines: list[Entry], rivals: list[Entry]) -> None:
        for entry in baselines:
            self._measure(entry, {})
        first, rest = rivals, list[Entry]()
        if self.clock.limited and self._large() and len(rivals) > 1:
            first, rest = self._look_at(rivals)
        slow = [entry for entry in first if not self._measure_in_time(entry, QUICK_SHARE)]
        rows = len(self.splits[0][0])
        for entry in sorted(slow, key=lambda e: self.clock.guess(e.name, rows)):
            self._measure_in_time(entry)
        ranked = sorted((e for e in first if e.scores), key=lambda e: -float(np.mean(e.scores)))
        if rest:
            self._tune_all(ranked[:TUNED_FIRST])
            for entry in sorted(rest, key=lambda e: -e.looked):
                self._measure_in_time(entry)
            ranked = sorted((e for e in rivals if e.scores), key=lambda e: -float(np.mean(e.scores)))
        self._tune_all([entry for entry in ranked if not entry.searched])

    def _large(self) -> bool:
        return len(self.splits[0][0]) > 2 * LOOKS[-1]

    def _look_at(self, rivals: list[Entry]) -> tuple[list[Entry], list[Entry]]:
        """Return who goes on first, the best look first, and who has to wait: at each look the weaker half."""
        going = rivals
        for look, share in enumerate(LOOK_SHARE):
            until = self.clock.elapsed() + share * self.clock.budget
            for entry in going:
                late = self.clock.elapsed() + self.clock.starting.get(entry.name, 0.0) > until
                if not late and self.clock.fits(entry.name, LOOKS[look]):
                    self._look(entry, look)
            seen = sorted(
                (e for e in going if len(e.looks) > look and not e.failure), key=lambda e: -e.looked
            )
            if seen:
                going = seen[: max(3, (len(going) + 1) // 2)]
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
                    rows, score = entry.looks[-1]
                    shown = self.problem.task.sign * score
                    entry.failure += (
                        f"; {self.problem.task.metric} {shown:.3f} at a first look with {rows} rows"
                    )
        if not any(entry.finished for entry in self.entries):
            reasons = "; ".join(f"{entry.name}: {entry.failure}" for entry in self.entries)
            raise NothingFinishedError(f"no model finished ({reasons}).")

    def _promote_looks(self) -> None:
        """Take the scores of the looks for the scores, where no model was measured on all rows."""
        twice = [entry for entry in self.entries if len(entry.looks) == len(LOOKS) and not entry.failure]
        for entry in twice:
            entry.scores, entry.told = [score for _, score in entry.looks], None
            entry.chosen, entry.n_folds = [{} for _ in entry.scores], len(self.splits)
        if twice:
            self.leader, self.fitted = max(twice, key=lambda e: e.looked), []

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
        if self.clock.limited:
            words += f" · {max(0.0, self.clock.left()):.0f} s left"
        if self.leader is not None and self.leader.scores:
            shown = self.problem.task.sign * float(np.mean(self.leader.scores))
            words += f" · leading: {self.leader.name} {shown:.4g}"
        self.watch(words, self.done, len(self.entries) * len(self.splits))

    def _warm(self, entry: Entry) -> None:
        """Compile the loops of a model by a fit to a few rows; neither its time nor its failure counts."""
        if entry.name in self.clock.spent or entry.baseline:
            return
        self._tell(entry, "is compiled")
        rows = self.some(self.splits[0][0], WARM_ROWS)
        begin = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = self.fit(entry, rows, usual(entry.candidate))
                ask_all(model, self.problem.frame[rows[:10]], self._numbers()) if self._asked() else None
            except Exception:
                pass
        self.clock.starting.pop(entry.name, None)
        self.clock.compiled(time.monotonic() - begin)

    def some(self, rows: Any, count: int) -> Any:
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

    def _look(self, entry: Entry, look: int) -> None:
        """Measure a model on part of the training rows of one fold."""
        (train, test), count = self.splits[look], LOOKS[look]
        with self._listening(entry):
            self._warm(entry)
            self.clock.check()
            self._tell(entry, f"on {count} rows")
            begin = time.monotonic()
            rows, asked = self.some(train, count), self.some(test, LOOKS[-1])
            model = self.fit(entry, rows, usual(entry.candidate))
            truth = None if self.problem.y is None else self.problem.y[asked]
            score = float(self.problem.task.score(model, self.problem.frame[asked], truth))
            self.clock.note(entry.name, len(rows), time.monotonic() - begin)
            if np.isfinite(score):
                entry.looks.append((count, score))

    def _measure_in_time(self, entry: Entry, share: float = 1.0) -> bool:
        """Measure a model if two folds of it are likely to end within a share of the time; tell whether."""
        rows, folds = len(self.splits[0][0]), min(2, len(self.splits))
        if not entry.failure and self.clock.fits(entry.name, rows, (folds if entry.looks else 1) / share):
            self._measure(entry, usual(entry.candidate))
            return True
        return bool(entry.failure)

    def _measure(self, entry: Entry, settings: dict[str, Any] | None) -> None:
        """Measure a model in every outer fold, with given settings or (None) those that an inner loop chooses."""
        begin, fitted = time.monotonic(), list[TableModel]()
        try:
            with self._listening(entry):
                if not entry.baseline:
                    self.clock.check()
                    self._warm(entry)
                begin = time.monotonic()  # compiling is not the model's time
                for fold, (train, test) in enumerate(self.splits):
                    if not entry.baseline:
                        self.clock.check()
                        if len(entry.scores) >= 2 and not self.clock.fits(entry.name, len(train)):
                            break  # another fold would not end in time
                    self._tell(entry, f"fold {fold + 1} of {len(self.splits)}")
                    fitted.append(self._fold(entry, train, test, settings))
                    self.done += settings is not None
        finally:  # what is known is kept, however it ends
            entry.seconds += time.monotonic() - begin
            entry.trace = getattr(fitted[-1].model_, "trace_", None) if fitted else None
            if not entry.failure and len(entry.scores) >= min(2, len(self.splits)):
                self._maybe_leads(entry, fitted)

    def _maybe_leads(self, entry: Entry, fitted: list[TableModel]) -> None:
        same = 0 if self.leader is None else min(len(entry.scores), len(self.leader.scores))
        if self.leader is None or np.mean(entry.scores[:same]) > np.mean(self.leader.scores[:same]):
            self.leader, self.fitted = entry, fitted
            rows = len(self.problem.frame)
            self.clock.reserve = AFTER + 2.0 * (0.0 if entry.baseline else self.clock.guess(entry.name, rows))

    def _fold(self, entry: Entry, train: Any, test: Any, settings: dict[str, Any] | None) -> TableModel:
        problem, begin = self.problem, time.monotonic()
        chosen = self.search(entry, train) if settings is None else settings
        fitting = time.monotonic()
        model = self.fit(entry, train, chosen)
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
        entry.chosen.append(chosen)
        self.clock.note(entry.name, len(train), time.monotonic() - (fitting if settings is None else begin))
        return model

    def _asked(self) -> bool:
        return self.problem.y is not None

    def _numbers(self) -> bool:
        return self.problem.task.name != "classification"

    def _keep(self, entry: Entry, told: Answers, test: Any, truth: Any) -> None:
        """Keep what was said of unseen rows, and what other metrics make of it."""
        n, problem = len(self.problem.frame), self.problem
        classes = None if told.classes is None else np.unique(problem.y)
        scores = None if told.scores is None else np.zeros((len(test), len(classes)))
        if scores is not None:
            scores[:, np.searchsorted(classes, told.classes)] = told.scores
        if entry.told is None:
            said = np.zeros(n, dtype=np.result_type(told.said, problem.y))
            whole = None if scores is None else np.full((n, len(classes)), np.nan)
            entry.told = told._replace(said=said, scores=whole, classes=classes)
            entry.tested = np.zeros(n, dtype=bool)
        entry.told.said[test], entry.tested[test] = told.said, True
        if scores is not None and entry.told.scores is not None:
            entry.told.scores[test] = scores
        entry.by_fold.append(told.said if classes is None else scores)
        assert problem.metric is not None
        for metric in beside(problem.task.name, problem.metric):
            try:
                value = float(metric.value(truth, told))
            except (GnomonError, ValueError):
                continue
            entry.beside.setdefault(metric.label, []).append(value)

    def fit(self, entry: Entry, rows: Any, settings: dict[str, Any]) -> TableModel:
        """Return a model that learned from these rows, with these settings, in the time that is left."""
        problem = self.problem
        model = table_model(clone(entry.candidate.model), problem).set_params(
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
        try:
            self._measure(better, None)
        except KeyboardInterrupt:
            self.leader, self.fitted = before, held
            raise
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
        for name in ("scores", "chosen", "beside", "told", "tested", "by_fold", "trace", "warned"):
            setattr(entry, name, getattr(better, name))
        entry.tuned = True
        entry.n_folds = better.n_folds
        if self.leader is better:
            self.leader = entry

    def search(self, entry: Entry, rows: Any) -> dict[str, Any]:
        """Return the settings that do best in an inner loop over these rows."""
        problem = self.problem
        rows = self.some(rows, SEARCH_ROWS)
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
        model = self.fit(entry, train, {**fixed(entry.candidate), **settings})
        truth = None if self.problem.y is None else self.problem.y[test]
        return float(self.problem.task.score(model, self.problem.frame[test], truth))


def _matters(category: type) -> bool:
    from sklearn.exceptions import ConvergenceWarning

    return issubclass(category, ConvergenceWarning | RuntimeWarning)
