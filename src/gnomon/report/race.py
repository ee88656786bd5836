"""The race: the strongest models first, on few rows and folds, then the survivors on all, then their settings.

At any moment what is known can be ranked, so it may be stopped at any moment.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from gnomon.core.callbacks import StopRequest
from gnomon.core.errors import DataError, GnomonError
from gnomon.core.threads import thread_count
from gnomon.report import measuring
from gnomon.report.entries import Entry
from gnomon.report.grids import fixed, settings_of, usual
from gnomon.report.measuring import Measuring
from gnomon.report.menu import Candidate

INNER = 3  # folds of the inner loop; one division of the rows where time is short
SEARCH_ROWS = 10_000  # settings are chosen on at most so many rows
SEARCHES = (
    (INNER, SEARCH_ROWS),
    (1, SEARCH_ROWS),
    (1, 4_000),
)  # folds and rows of a search: what there is time for
LOOK_SHARE = (0.2, 0.12)  # of the budget
TUNED_FIRST = 3  # so many of the best have their settings chosen before the weak half is measured
TUNE_SHARE = 0.5  # of the time that is left, for the settings of a model while others wait to be measured
QUICK_SHARE = 0.2  # a model whose first folds take more of the time that is left waits for quicker ones
FIRST_SHARE = 0.6  # of the time that is left, for two folds and the last fit of the model that goes first
NO_TIME = "not done within the time budget"
STOPPED = "not done before it was stopped"


class NothingFinishedError(GnomonError):
    """No model could be compared."""


class Race(Measuring):
    """The order in which models are measured, and the choice of their settings."""

    interrupted = False
    inner, search_rows = SEARCHES[0]

    def run(self, entrants: list[Candidate]) -> list[Entry]:
        """Measure as many candidates as time allows; return all entries, unranked."""
        self.entries = [Entry(c.name, c.baseline, c, n_folds=len(self.splits)) for c in entrants]
        self.clock.starting = {c.name: c.starts_in for c in entrants if c.starts_in}
        try:
            self._course([e for e in self.entries if e.baseline], [e for e in self.entries if not e.baseline])
        except KeyboardInterrupt:
            self.halt()
            if not any(self._known(e) for e in self.entries if not e.baseline):
                raise  # a baseline alone is no news
        self._close()
        return self.entries

    def halt(self) -> None:
        """Let fits that still run end at their next step, and begin no other."""
        self.interrupted = self.clock.stopped = True
        self.stop.set()
        self.stop = StopRequest()

    def _known(self, entry: Entry) -> bool:
        return len(entry.scores) >= 2 or len(entry.looks) == len(measuring.LOOKS)

    # The course of the race

    def _course(self, baselines: list[Entry], rivals: list[Entry]) -> None:
        for entry in baselines:
            self.measure(entry, {})
        if self.clock.limited and self._large() and len(rivals) > 1:
            self._against_time(rivals)
        else:
            if self.clock.limited:  # a few folds of all before all folds of any
                self._each_in_time(rivals, folds=self._few())
            self._each_in_time(_ranked(rivals) if self.clock.limited else rivals)
        self._tune_all([entry for entry in _ranked(rivals) if not entry.searched])

    def _large(self) -> bool:
        return self.rows > 2 * measuring.LOOKS[-1]

    def _against_time(self, rivals: list[Entry]) -> None:
        """The strongest model has its first folds at once; looks choose among the others; the best is completed.

        Slow models have their first folds only when the settings of the best so far are chosen.
        """
        first = rivals[0]
        for look in range(len(measuring.LOOKS)):
            self.look(first, look)
        self._afford(first)
        if not first.failure:
            self.measure(first, usual(first.candidate), folds=self._few())
        going, rest = self._look_at(rivals[1:])
        slow = [entry for entry in going if not self._measure_in_time(entry, QUICK_SHARE, self._few())]
        for best in _ranked([first, *going])[:1]:
            self._measure_in_time(best)
            self._tune_all([best], TUNE_SHARE)
        self._each_in_time(slow, folds=self._few())
        contenders = _ranked([first, *going])
        self._each_in_time(contenders[:TUNED_FIRST])
        waiting = [entry for entry in contenders[:TUNED_FIRST] if entry.complete and not entry.searched]
        self._tune_all(waiting, TUNE_SHARE)
        self._each_in_time(contenders[TUNED_FIRST:])
        self._each_in_time(sorted(rest, key=lambda e: -e.looked))

    def _few(self) -> int:
        """Return how many folds tell something of a model: two, or as many as are done at a time."""
        return max(2, thread_count())

    def _afford(self, first: Entry) -> None:
        """Where two folds of the first model and its last fit do not fit into the time, let fewer rows do."""
        rows = self.rows
        while rows > 2 * measuring.LOOKS[-1] and not self.clock.fits(first.name, rows, 4 / FIRST_SHARE):
            rows //= 2
        if rows < self.rows:
            self.shrink(rows)

    def _look_at(self, rivals: list[Entry]) -> tuple[list[Entry], list[Entry]]:
        """Return who goes on first, the best look first, and who has to wait: at each look the weaker half."""
        going = rivals
        for look, share in enumerate(LOOK_SHARE):
            until = self.clock.elapsed() + share * self.clock.budget
            for entry in going:
                guess = self.clock.guess(entry.name, measuring.LOOKS[look])
                if self.clock.elapsed() + guess <= until and self.clock.left() > guess:
                    self.look(entry, look)
            seen = sorted(
                (e for e in going if len(e.looks) > look and not e.failure), key=lambda e: -e.looked
            )
            if seen:
                going = seen[: max(3, (len(going) + 1) // 2)]
        return going, [entry for entry in rivals if entry not in going and not entry.failure]

    def _each_in_time(self, entries: list[Entry], folds: int | None = None) -> None:
        """Measure models, the quick ones first where time is short."""
        slow = [entry for entry in entries if not self._measure_in_time(entry, QUICK_SHARE, folds)]
        for entry in sorted(slow, key=lambda e: self.clock.guess(e.name, self.rows)):
            self._measure_in_time(entry, folds=folds)

    def _measure_in_time(self, entry: Entry, share: float = 1.0, folds: int | None = None) -> bool:
        """Measure a model if the next folds of it are likely to end within a share of the time; tell whether."""
        if entry.failure or entry.complete:
            return True
        count = (
            min(self._few(), len(self.splits) - len(entry.scores)) if entry.name in self.clock.spent else 1
        )
        if self.clock.fits(entry.name, self.rows, count / share):
            self.measure(entry, usual(entry.candidate), folds)
            return True
        return False

    # The end of the race

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
        count = len(measuring.LOOKS)
        twice = [entry for entry in self.entries if len(entry.looks) == count and not entry.failure]
        for entry in twice:
            entry.scores, entry.told = [score for _, score in entry.looks], None
            entry.chosen, entry.n_folds = [{} for _ in entry.scores], len(self.splits)
        if twice:
            self.leader, self.fitted = max(twice, key=lambda e: e.looked), {}

    # Settings

    def _tune_all(self, ranked: list[Entry], share: float = 1.0) -> None:
        """Choose the settings of models, the best first, each in a share of the time that is left.

        The better of before and after is kept.
        """
        for entry in ranked:
            if not settings_of(entry.candidate) or entry.failure or not entry.scores:
                continue
            fits = len(ParameterGrid(settings_of(entry.candidate)))
            for inner, most in SEARCHES:
                trying = inner * fits * self.clock.guess(entry.name, min(self.rows, most))
                again = self.clock.guess(entry.name, self.rows)
                if not self.clock.limited or (trying + again) * len(self.splits) < share * self.clock.left():
                    self.inner, self.search_rows = inner, most
                    self._tune(entry)
                    break

    def _tune(self, entry: Entry) -> None:
        better = Entry(entry.name, False, entry.candidate, n_folds=entry.n_folds, warned=entry.warned)
        before, held = self.leader, self.fitted
        try:
            self.measure(better, None)
        except KeyboardInterrupt:
            self.leader, self.fitted = before, held
            raise
        entry.searched = True
        entry.seconds += better.seconds
        worse = better.failure or not better.complete or np.mean(better.scores) < np.mean(entry.scores)
        if worse:
            entry.not_kept = better.scores
            if self.leader is better:
                self.leader, self.fitted = before, held
            return
        entry.not_kept = entry.scores
        for name in ("scores", "chosen", "beside", "told", "tested", "by_fold", "trace", "warned"):
            setattr(entry, name, getattr(better, name))
        entry.tuned = True
        entry.n_folds = better.n_folds
        if self.leader is better:
            self.leader = entry

    def search(self, entry: Entry, rows: Any) -> dict[str, Any]:
        """Return the settings that do best in an inner loop over these rows."""
        problem = self.problem
        rows = self.some(rows, self.search_rows)
        y = None if problem.y is None else problem.y[rows]
        pairs = list(
            problem.splitter(INNER, self.seed, y).split(np.empty(len(rows)), y, problem.groups(rows))
        )[-self.inner :]
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


def _ranked(entries: list[Entry]) -> list[Entry]:
    """Return the models that have scores, the best first, compared on folds that all have."""
    seen = [entry for entry in entries if entry.scores and not entry.failure]
    same = min((len(entry.scores) for entry in seen), default=0)
    return sorted(seen, key=lambda e: -float(np.mean(e.scores[:same])))
