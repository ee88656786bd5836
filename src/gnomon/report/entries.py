"""Entries: what is known of one model in a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import stdtrit

from gnomon.report.metrics import Answers
from gnomon.selection import adjust_p_values, compare_scores, error_interval
from gnomon.selection.intervals import Interval, corrected_error

LEVEL = 0.95  # of the intervals


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
    not_kept: list[float] = field(default_factory=list)  # the worse scores of before and after the search
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


def rank(entries: list[Entry], ratio: float, per_draw: int | None = None, rates: bool = False) -> list[Entry]:
    """Return the entries with intervals and p-values: the best first, then those that did not finish.

    `per_draw` is the number of folds of one drawing, `rates` says that a score is a share of rows.
    """
    finished = [entry for entry in entries if entry.finished]
    done = sorted(finished, key=lambda entry: -_level(entry, finished))  # of equals the one tried first
    for entry in done:
        entry.interval = fold_interval(entry.scores, ratio, per_draw)
        if rates and entry.tested is not None:
            entry.interval = wide_as_rate(entry.interval, int(entry.tested.sum()))
    for entry in done[1:]:
        entry.p_value = _p_value(done[0].scores, entry.scores, ratio)
    if done:
        done[0].p_value = None
        done[0].interval = of_the_best(done, ratio, per_draw)
    rivals = [entry for entry in done[1:] if not entry.baseline]
    for entry, p in zip(rivals, adjust_p_values([entry.p_value for entry in rivals])):
        entry.p_value = float(p)
    return done + [entry for entry in entries if not entry.finished]


def fold_interval(scores: Any, ratio: float, per_draw: int | None = None) -> Interval:
    """Return the mean of the scores of folds and its interval.

    The standard error is that of Nadeau and Bengio. Drawing the folds again adds no rows, so Student's t has as many
    degrees of freedom as one drawing gives.

    >>> fold_interval([0.9, 0.8, 0.85, 0.95, 0.75] * 2, 0.25, per_draw=5)
    Interval(mean=0.85, low=0.727..., high=0.972...)
    """
    values = np.asarray(scores, dtype=float)
    freedom = max(1, min(len(values), per_draw or len(values)) - 1)
    half = corrected_error(values, ratio) * float(stdtrit(freedom, 0.5 + LEVEL / 2))
    mean = float(values.mean())
    return Interval(mean, mean - half, mean + half)


def wide_as_rate(found: Interval, rows: int) -> Interval:
    """Return the interval of a share of rows, at least as wide as so many rows allow: 1.00 ± 0 is never known.

    It is to cover the share of half as many new rows too, whose own variance is twice as large: together they are
    worth a third of the rows.

    >>> wide_as_rate(Interval(1.0, 1.0, 1.0), 300)
    Interval(mean=1.0, low=0.963..., high=1.036...)
    """
    if not 0 <= found.mean <= 1:
        return found
    low, high = error_interval((1 - found.mean) * rows / 3, rows / 3, level=LEVEL)
    return _around(found.mean, found, Interval(found.mean, 1 - high, 1 - low))


def of_the_best(done: list[Entry], ratio: float, per_draw: int | None = None) -> Interval:
    """Return the interval of the best: it also covers what choosing the best by other folds gives.

    The best of several is a little too good on the folds by which it was chosen. In every fold the model that is
    best on the others of its drawing is taken, and the interval reaches as far as that of these scores.
    """
    best = done[0]
    assert best.interval is not None
    each = per_draw or len(best.scores)
    tried = [s for e in done for s in (e.scores, e.not_kept) if len(s) == len(best.scores)]
    if len(tried) < 2 or each < 2 or len(best.scores) % each:
        return best.interval
    elsewhere = chosen_elsewhere(np.array(tried), each)
    return _around(best.interval.mean, best.interval, fold_interval(elsewhere, ratio, per_draw))


def chosen_elsewhere(scores: Any, per_draw: int) -> Any:
    """Return for every fold the score of the model that is best on the other folds of its drawing.

    >>> chosen_elsewhere(np.array([[0.9, 0.5, 0.5], [0.6, 0.7, 0.6]]), 3)
    array([0.6, 0.5, 0.5])
    """
    found = np.empty(scores.shape[1])
    for fold in range(scores.shape[1]):
        first = fold - fold % per_draw
        others = [k for k in range(first, first + per_draw) if k != fold]
        found[fold] = scores[scores[:, others].mean(axis=1).argmax(), fold]
    return found


def _around(mean: float, *found: Interval) -> Interval:
    """Return the interval around a mean that reaches as far as the farthest end of some."""
    half = max(max(mean - one.low, one.high - mean) for one in found)
    return Interval(mean, mean - half, mean + half)


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
