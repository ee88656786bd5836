"""Entries: what is known of one model in a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnomon.report.metrics import Answers
from gnomon.selection import adjust_p_values, compare_scores
from gnomon.selection.intervals import Interval, score_interval


@dataclass
class Entry:
    """One model in a comparison."""

    name: str
    baseline: bool
    candidate: Any = None  # a Candidate of the menu, or of a combination
    scores: list[float] = field(default_factory=list)  # of the outer folds, larger is better
    chosen: list[dict[str, Any]] = field(default_factory=list)  # settings of each fold that are not the usual
    beside: dict[str, list[float]] = field(default_factory=dict)  # other metrics, as they are shown
    told: Answers | None = None  # what was said of every row by a model that had not seen it
    tested: Any = None  # which rows these are
    by_fold: list[Any] = field(default_factory=list)  # what was said in each fold: numbers, or probabilities
    trace: Any = None
    seconds: float = 0.0
    warned: list[str] = field(default_factory=list)
    failure: str = ""
    looks: list[tuple[int, float]] = field(default_factory=list)  # (rows, score) of first looks
    searched: bool = False  # whether an inner loop looked for settings
    tuned: bool = False  # whether the scores are those of settings that it chose
    n_folds: int = 0  # outer folds that were meant to be done
    interval: Interval | None = None
    p_value: float | None = (
        None  # against the best, adjusted for the number of models (the baseline's is not)
    )

    @property
    def finished(self) -> bool:
        """Whether the model is in the ranking."""
        return not self.failure

    @property
    def complete(self) -> bool:
        """Whether the model has a score in every fold."""
        return bool(self.scores) and len(self.scores) == self.n_folds

    @property
    def answers(self) -> Any:
        """What was said of every row."""
        return None if self.told is None else self.told.said

    @property
    def looked(self) -> float:
        """Score of the latest first look."""
        return self.looks[-1][1] if self.looks else -np.inf


def rank(entries: list[Entry], ratio: float) -> list[Entry]:
    """Return the entries with intervals and p-values: the best first, then those that did not finish."""
    finished = [entry for entry in entries if entry.finished]
    done = sorted(finished, key=lambda entry: -_level(entry, finished))  # of equals the one tried first
    for entry in done:
        entry.interval = score_interval(entry.scores, ratio)
    for entry in done[1:]:
        entry.p_value = _p_value(done[0].scores, entry.scores, ratio)
    if done:
        done[0].p_value = None
    rivals = [entry for entry in done[1:] if not entry.baseline]
    for entry, p in zip(rivals, adjust_p_values([entry.p_value for entry in rivals])):
        entry.p_value = float(p)
    return done + [entry for entry in entries if not entry.finished]


def _level(entry: Entry, done: list[Entry]) -> float:
    """Return the mean score; with fewer folds than others the difference on the same folds."""
    whole = [other for other in done if other.complete]
    if entry.complete or not whole:
        return float(np.mean(entry.scores))
    best = max(whole, key=lambda other: float(np.mean(other.scores)))
    gap = float(np.mean(entry.scores)) - float(np.mean(best.scores[: len(entry.scores)]))
    return float(np.mean(best.scores)) + gap


def _p_value(one: Any, other: Any, ratio: float) -> float:
    """Return how surprising the difference is on the folds that both have; NaN where a score is infinite."""
    k = min(len(one), len(other))
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return float("nan")
    return compare_scores(one[:k], other[:k], n_train=1.0, n_test=ratio).p_value
