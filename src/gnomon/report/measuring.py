"""Measuring models on rows that they have not learned from: on a few rows first, then fold by fold.

As many folds are done at a time as there are threads; the scores do not depend on how many.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from gnomon.core.callbacks import StopRequest
from gnomon.core.errors import DataError, GnomonError
from gnomon.core.threads import in_order, thread_count
from gnomon.report.clock import PAGE_SECONDS, WARM_ROWS, Clock, OutOfTimeError, stop_in
from gnomon.report.encoder import TableModel
from gnomon.report.entries import Entry
from gnomon.report.grids import usual
from gnomon.report.menu import CALIBRATION_FOLDS
from gnomon.report.metrics import Answers, ask_all, beside
from gnomon.report.models import table_model
from gnomon.report.tasks import Problem

Watch = Callable[[str, int, int], None]  # what is going on, steps done, steps in all
LOOKS = (1_000, 4_000)  # training rows of the first looks, one fold each, at a table that is much larger
CUT_SHORT = "the time budget ended its learning early"
CLOSER_LOOKS = 3.0  # seconds for importances and what the columns do, besides the last fit and the page


class Told(NamedTuple):
    """What came of one fold."""

    model: TableModel
    chosen: dict[str, Any]
    score: float
    answers: Answers | None


class Measuring:
    """The folds of a table, and models measured on them."""

    def __init__(
        self, problem: Problem, folds: int, repeats: int, seed: int, clock: Clock, watch: Watch | None
    ) -> None:
        self.problem, self.seed, self.clock = problem, seed, clock
        self.watch = watch or (lambda name, done, total: None)
        self.splits = [pair for repeat in range(repeats) for pair in self._split(folds, seed + repeat)]
        self.per_draw = len(self.splits) // repeats  # folds of one drawing
        self.ratio = float(np.mean([len(test) / len(train) for train, test in self.splits]))
        self.most_rows: int | None = None  # training rows of a fold where there is no time for all of them
        self.entries: list[Entry] = []
        self.leader: Entry | None = None
        self.fitted: dict[int, TableModel] = {}  # fold -> the leader that learned from its training rows
        self.stop = StopRequest()
        self.done = 0

    def _split(self, folds: int, seed: int) -> list[tuple[Any, Any]]:
        problem = self.problem
        splitter = problem.splitter(folds, seed)
        pairs = splitter.split(np.empty(len(problem.frame)), problem.y, problem.groups())
        return [(np.sort(train), np.sort(test)) for train, test in pairs]

    @property
    def rows(self) -> int:
        """Training rows of the first fold."""
        return len(self.splits[0][0])

    def can_calibrate(self) -> bool:
        """Tell whether the training rows of every fold have enough of each class for the folds of a calibration."""
        if self.problem.task.name != "classification":
            return True
        codes = np.unique(self.problem.y, return_inverse=True)[1]
        least = min(np.bincount(codes[train], minlength=codes.max() + 1).min() for train, _ in self.splits)
        return bool(least >= CALIBRATION_FOLDS)

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

    def shrink(self, count: int) -> None:
        """Let models learn from at most so many rows of a fold."""
        self.splits = [(self.some(train, count), test) for train, test in self.splits]
        self.most_rows = count

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

    def tell(self, entry: Entry, what: str) -> None:
        """Tell the watcher what runs, what leads and how much time is left."""
        words = f"{entry.name} {what}"
        if self.clock.limited:
            words += f" · {max(0.0, self.clock.left()):.0f} s left"
        if self.leader is not None and self.leader.scores:
            shown = self.problem.task.sign * float(np.mean(self.leader.scores))
            words += f" · leading: {self.leader.name} {shown:.4g}"
        self.watch(words, self.done, len(self.entries) * len(self.splits))

    def fit(
        self, entry: Entry, rows: Any, settings: dict[str, Any], seconds: float | None = None
    ) -> TableModel:
        """Return a model that learned from these rows, with these settings, in the time that is left or given."""
        problem = self.problem
        model = table_model(clone(entry.candidate.model), problem).set_params(
            **{f"model__{k}": v for k, v in settings.items()}
        )
        if seconds is None:
            seconds = np.inf if entry.baseline else max(self.clock.left(), 0.05)
        y = None if problem.y is None else problem.y[rows]
        return model.fit(problem.frame[rows], y, stop=lambda inner: stop_in(inner, seconds, self.stop))

    def _warm(self, entry: Entry) -> None:
        """Compile the loops of a model by a fit to a few rows; neither its time nor its failure counts."""
        if entry.name in self.clock.spent or entry.baseline:
            return
        self.tell(entry, "is compiled")
        rows = self.some(self.splits[0][0], WARM_ROWS)
        begin = time.monotonic()
        with warnings.catch_warnings(), self.clock.doing("compiling"):
            warnings.simplefilter("ignore")
            try:
                model = self.fit(entry, rows, usual(entry.candidate))
                ask_all(model, self.problem.frame[rows[:10]], self._numbers()) if self._asked() else None
            except Exception:
                pass
        self.clock.starting.pop(entry.name, None)
        self.clock.compiled(time.monotonic() - begin)

    def look(self, entry: Entry, look: int) -> None:
        """Measure a model on part of the training rows of one fold."""
        (train, test), count = self.splits[look], LOOKS[look]
        with self._listening(entry), self.clock.doing("first looks"):
            self._warm(entry)
            self.clock.check()
            self.tell(entry, f"on {count} rows")
            begin = time.monotonic()
            rows, asked = self.some(train, count), self.some(test, LOOKS[-1])
            model = self.fit(entry, rows, usual(entry.candidate))
            asking = time.monotonic()
            truth = None if self.problem.y is None else self.problem.y[asked]
            score = float(self.problem.task.score(model, self.problem.frame[asked], truth))
            asking_all = (time.monotonic() - asking) * len(test) / len(asked)
            self.clock.note(entry.name, len(rows), asking - begin + asking_all)
            if np.isfinite(score):
                entry.looks.append((count, score))

    def measure(self, entry: Entry, settings: dict[str, Any] | None, folds: int | None = None) -> None:
        """Measure a model in the outer folds that it has not done; with `folds` in the first ones only.

        The settings are given, or (None) each fold searches for its own.
        """
        begin, fitted = time.monotonic(), dict[int, TableModel]()
        last = len(self.splits) if folds is None else min(folds, len(self.splits))
        try:
            with self._listening(entry), self.clock.doing("folds" if settings is not None else "settings"):
                if not entry.baseline:
                    self.clock.check()
                    self._warm(entry)
                begin = time.monotonic()  # compiling is not the model's time
                while len(entry.scores) < last and self._in_time(entry, last):
                    self._round(entry, settings, last, fitted)
        finally:  # what is known is kept, however it ends
            entry.seconds += time.monotonic() - begin
            if fitted:
                entry.trace = getattr(fitted[max(fitted)].model_, "trace_", None)
            if fitted and not entry.failure and len(entry.scores) >= min(2, len(self.splits)):
                self._maybe_leads(entry, fitted)

    def _in_time(self, entry: Entry, last: int) -> bool:
        """Tell whether more folds may begin; the first two are tried in any time that is left."""
        if entry.baseline:
            return True
        self.clock.check()
        count = min(last - len(entry.scores), thread_count())
        return len(entry.scores) < 2 or self.clock.fits(entry.name, self.rows, count)

    def _round(
        self, entry: Entry, settings: dict[str, Any] | None, last: int, fitted: dict[int, TableModel]
    ) -> None:
        """Do as many folds as there are threads."""
        first = len(entry.scores)
        places = range(first, min(first + thread_count(), last))
        which = f"fold {first + 1}" if len(places) == 1 else f"folds {first + 1} to {places[-1] + 1}"
        begin, searching = time.monotonic(), settings is None
        self.tell(entry, f"{'settings, ' * searching}{which} of {len(self.splits)}")
        for place, told in zip(places, in_order(lambda k: self._fold(entry, k, settings), places)):
            cut_short = self.clock.limited and not entry.baseline and self.clock.left() <= 0
            if cut_short and len(entry.scores) >= 2:
                raise OutOfTimeError  # the fit was cut short; there are folds enough without it
            if cut_short:
                entry.warned = sorted({*entry.warned, CUT_SHORT})
            self._keep(entry, told, place)
            fitted[place] = told.model
            self.done += not searching
        if not searching:
            self.clock.note(entry.name, self.rows, (time.monotonic() - begin) / len(places))

    def _fold(self, entry: Entry, place: int, settings: dict[str, Any] | None) -> Told:
        problem, (train, test) = self.problem, self.splits[place]
        chosen = self.search(entry, train) if settings is None else settings
        model = self.fit(entry, train, chosen)
        unseen = problem.frame[test]
        truth = None if problem.y is None else problem.y[test]
        told = None
        if problem.metric is None or not self._asked():
            score = float(problem.task.score(model, unseen, truth))
        else:
            told = ask_all(model, unseen, self._numbers())
            score = problem.metric.sign * float(problem.metric.value(truth, told))
        if not np.isfinite(score):
            raise DataError(f"its {problem.task.metric} on unseen rows is {score}")
        return Told(model, chosen, score, told)

    def search(self, entry: Entry, rows: Any) -> dict[str, Any]:
        """Return the settings that do best in an inner loop over these rows."""
        raise NotImplementedError

    def _maybe_leads(self, entry: Entry, fitted: dict[int, TableModel]) -> None:
        same = 0 if self.leader is None else min(len(entry.scores), len(self.leader.scores))
        if self.leader is entry:
            self.fitted |= fitted
        elif self.leader is None or np.mean(entry.scores[:same]) > np.mean(self.leader.scores[:same]):
            self.leader, self.fitted = entry, fitted
        else:
            return
        again = 0.0 if entry.baseline else self.clock.guess(entry.name, len(self.problem.frame))
        self.clock.reserve = PAGE_SECONDS + CLOSER_LOOKS + 2.0 * again

    def _asked(self) -> bool:
        return self.problem.y is not None

    def _numbers(self) -> bool:
        return self.problem.task.name != "classification"

    def _keep(self, entry: Entry, found: Told, place: int) -> None:
        """Keep the score of a fold, what was said of unseen rows, and what other metrics make of it."""
        entry.scores.append(found.score)
        entry.chosen.append(found.chosen)
        told, test = found.answers, self.splits[place][1]
        if told is None:
            return
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
                value = float(metric.value(problem.y[test], told))
            except (GnomonError, ValueError):
                continue
            entry.beside.setdefault(metric.label, []).append(value)


def _matters(category: type) -> bool:
    from sklearn.exceptions import ConvergenceWarning

    return issubclass(category, ConvergenceWarning | RuntimeWarning)
