"""Time in a comparison: how much is left, what a fit is going to take, what compiling took, and where it all went."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

WARM_ROWS = 60  # a first fit to so few rows compiles the loops; it is not counted as the model's time
MOST_RESERVE = 0.3  # share of the budget that is kept for the last fit, the importances and the page
PAGE_SECONDS = 3.0  # the pictures and the page
GRACE = 20.0  # seconds of compiling at most that come on top of a budget: they are spent in a first run alone


class OutOfTimeError(Exception):
    """The time is over."""


class Clock:
    """The time of a comparison: a deadline for new work, with a reserve for what comes after it."""

    def __init__(self, begin: float, budget: float | None) -> None:
        self.begin, self.budget = begin, np.inf if budget is None else budget
        self.reserve = 0.0
        self.stopped = False  # whether somebody asked to stop
        self.grace = 0.0  # seconds that compiling has taken, and that are given back
        self.compiling = 0.0  # the longest that a model's loops took so far: the next ones may take as long
        self.starting: dict[str, float] = {}  # model -> seconds to load what it stands on, until it is loaded
        self.spent: dict[str, list[tuple[int, float]]] = {}  # model -> (rows, seconds) of its fits
        self.ledger: dict[str, float] = {}  # what was done -> seconds
        self._doing, self._since = "the rest", begin

    @property
    def limited(self) -> bool:
        """Whether there is a deadline at all."""
        return bool(np.isfinite(self.budget))

    def elapsed(self) -> float:
        """Return the seconds since the begin."""
        return time.monotonic() - self.begin

    def left(self) -> float:
        """Return the seconds in which something new may still begin and end."""
        return float(
            self.budget + self.grace - self.elapsed() - min(self.reserve, MOST_RESERVE * self.budget)
        )

    def spare(self) -> float:
        """Return the seconds until the page has to be made."""
        return float(self.budget + self.grace - self.elapsed() - PAGE_SECONDS)

    def check(self) -> None:
        """Raise when the time is over."""
        if self.stopped or self.left() <= 0:
            raise OutOfTimeError

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """Write down the time inside the block as spent on something; a block inside has its own.

        >>> clock = Clock(time.monotonic(), None)
        >>> with clock.doing("folds"), clock.doing("compiling"):
        ...     pass
        >>> sorted(clock.ledger)
        ['compiling', 'folds', 'the rest']
        """
        before = self._doing
        self._turn_to(what)
        try:
            yield
        finally:
            self._turn_to(before)

    def _turn_to(self, what: str) -> None:
        now = time.monotonic()
        self.ledger[self._doing] = self.ledger.get(self._doing, 0.0) + now - self._since
        self._doing, self._since = what, now

    def compiled(self, seconds: float) -> None:
        """Note what a first fit to a few rows took, and give it back: else small budgets end before models begin."""
        self.compiling = max(self.compiling, seconds)
        self.grace = min(self.grace + seconds, GRACE)

    def note(self, name: str, rows: int, seconds: float) -> None:
        """Note what a fit took; of fits at the same time each has its share."""
        self.spent.setdefault(name, []).append((rows, seconds))

    def guess(self, name: str, rows: int) -> float:
        """Return what a fit of a model to so many rows is going to take: from its own, or from compiling.

        >>> clock = Clock(0.0, 60.0)
        >>> clock.note("KMeans", 1000, 2.0)
        >>> clock.guess("KMeans", 4000)
        8.0
        """
        known = self.spent.get(name)
        if not known:
            return self.compiling + self.starting.get(name, 0.0)
        last_rows, last = known[-1]
        first_rows, first = known[0]
        if not (last_rows > first_rows and first > 0.05):
            return float(last * rows / last_rows)
        power = float(np.log(last / first) / np.log(last_rows / first_rows))
        if power > 1 or rows < last_rows:
            return float(last * (rows / last_rows) ** np.clip(power, 0.5, 2.5))
        # Part of the time is the same for any rows; the rest grows with them.
        each = max(0.0, last - first) / (last_rows - first_rows)
        return float(last + each * (rows - last_rows))

    def fits(self, name: str, rows: int, times: float = 1.0) -> bool:
        """Tell whether so many fits of a model are likely to end in time."""
        return not self.limited or self.guess(name, rows) * times < self.left()


def stop_in(model: Any, seconds: float, request: Any = None) -> Any:
    """Return the model, told to stop learning after so many seconds, or at a request, where it can."""
    if hasattr(model, "set_callbacks"):
        from gnomon.core.callbacks import TimeBudget

        limit = [TimeBudget(max(seconds, 1e-3))] if np.isfinite(seconds) else []
        callbacks = [*limit, *([] if request is None else [request])]
        if callbacks:
            model.set_callbacks(*callbacks)
    return model
