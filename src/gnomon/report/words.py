"""A comparison in words and plain values."""

from __future__ import annotations

import math
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon import __version__
from gnomon.report.after import IMPORTANCE_COLUMNS
from gnomon.report.columns import listed
from gnomon.report.entries import Entry
from gnomon.report.looks import Decision, Group
from gnomon.report.race import INNER, NO_TIME, SEARCH_ROWS, STOPPED

if TYPE_CHECKING:
    from gnomon.report.contest import Comparison

CHANCE = "Many groups were looked at; some stand out by chance."


def number(value: float, digits: int = 3) -> str:
    """Return a number for people, with so many digits that matter; powers of ten only when there is no other way.

    >>> number(0.94444), number(54.4966), number(1234.5), number(-2.0), number(1.23456e9)
    ('0.944', '54.5', '1234', '-2.00', '1.23e+09')
    """
    if value == 0 or not 1e-4 <= abs(value) < 1e6:
        return f"{value:.{digits}g}"
    return f"{value:.{_decimals(value, digits)}f}"


def _decimals(value: float, digits: int) -> int:
    """Return how many decimals show so many digits of a number."""
    return max(0, digits - 1 - math.floor(math.log10(abs(value))))


def score(result: Comparison, entry: Entry) -> str:
    """Return the score of a model with half the width of its interval: 54.7 ± 2.4."""
    if entry.interval is None:
        return ""
    mean, half = result.shown(entry.interval.mean), (entry.interval.high - entry.interval.low) / 2
    if not (1e-4 <= half < 1e6 and abs(mean) < 1e6):
        return f"{number(mean)} ± {number(half, 2)}"
    decimals = _decimals(half, 2)
    return f"{mean:.{decimals}f} ± {half:.{decimals}f}"


def bounds(result: Comparison, entry: Entry) -> list[float]:
    """Return the ends of a model's interval, within what the metric can be."""
    assert entry.interval is not None
    low, high = result.problem.task.limits
    ends = sorted([result.shown(entry.interval.low), result.shown(entry.interval.high)])
    return [max(low, ends[0]), min(high, ends[1])]


def answer(result: Comparison) -> str:
    """Return the outcome in one or two sentences."""
    task, best = result.problem.task, result.best
    if all(entry.baseline for entry in result.ranked) and len(result.entries) > 1:
        alone = f"No model could be measured, only the baseline ({best.name}): {task.metric} {score(result, best)}."
        more = "" if result.time_budget is None else " Give it more time: --time-budget."
        return f"{alone} {untried(result)}{more}"
    verb = task.answer.format(target=result.problem.target)
    lead = f"{best.name} {verb}: {task.metric} {score(result, best)}"
    equal = result.equals()
    if equal:
        lead += f"; not distinguishable from {listed([entry.name for entry in equal])}"
    elif len(result.ranked) > 1:
        lead += "; better than every other model tried"
    return " ".join(part for part in (f"{lead}.", _against_baseline(result), untried(result)) if part)


def untried(result: Comparison) -> str:
    """Say how many models were not tried, and why."""
    late = [entry for entry in result.entries if entry.failure.startswith((NO_TIME, STOPPED))]
    failed = [entry for entry in result.entries if not entry.finished and entry not in late]
    few = [entry for entry in result.ranked if not entry.complete]
    when = "before it was stopped" if result.interrupted else f"within {_seconds(result.time_budget)}"
    parts = [f"{_models(len(late))} could not be measured {when}"] if late else []
    parts += [f"{_models(len(result.too_large))} stayed away from {len(result.problem.frame)} rows"] * bool(
        result.too_large
    )
    parts += [f"{_models(len(failed))} failed"] if failed else []
    parts += [f"{_models(len(few))} did not get through all folds"] if few else []
    return listed(parts) + "." if parts else ""


def _models(count: int) -> str:
    return f"{count} model{'s' * (count != 1)}"


def _seconds(budget: float | None) -> str:
    return "the time" if budget is None else f"{budget:g} s"


def _against_baseline(result: Comparison) -> str:
    """Say what the baseline reaches, and warn when nothing beats it."""
    base = next((entry for entry in result.ranked if entry.baseline), None)
    if base is None:
        return ""
    if base is result.best or base in result.equals():
        why = "there are too few rows, or the columns say little"
        return f"No model is clearly better than the baseline ({base.name}): {why}."
    return f"The baseline ({base.name}) has {score(result, base)}."


def p_value(entry: Entry) -> str:
    """Return the p-value against the best, for people."""
    if entry.p_value is None:
        return "best"
    return "< 0.001" if entry.p_value < 0.001 else f"{entry.p_value:.3f}"


def settings(values: dict[str, Any]) -> str:
    """Return chosen settings as code."""
    return (
        ", ".join(f"{k.removeprefix('estimator__')}={value!r}" for k, value in values.items()) or "defaults"
    )


def decision_in_words(found: Decision) -> list[str]:
    """Say from which probability on to decide, and whether probabilities mean what they say."""
    threshold, best = found.best["f1"]
    lines = [
        f"A row is called {found.positive} from probability 0.5 on. F1 would be best from {threshold:.2f} on "
        f"({best:.3f} instead of {found.usual['f1']:.3f}): gnomon predict best.gnomon new.csv --threshold "
        f"{threshold:.2f}."
    ]
    off, chance = found.calibration.ece, found.calibration.ece_if_calibrated
    fine = (
        "which is about what chance gives: they can be taken at their word"
        if off < 2 * chance
        else (
            "more than chance gives: do not take them at their word without calibrating them "
            "(gnomon.selection.CalibratedClassifier)"
        )
    )
    return [*lines, f"Probabilities are off by {off:.3f} on average ({chance:.3f} by chance), {fine}."]


def groups_in_words(found: list[Group]) -> str:
    """Say in which groups of rows a model is worse than elsewhere."""
    worse = [f"{group.column} {group.value}" for group in found if group.worse]
    if not worse:
        return "No group of rows stands out: every interval reaches down to the error of all rows (the line)."
    return f"It is worse than on average (the line) where {listed(worse)}. " + CHANCE


def curve_in_words(result: Comparison) -> str:
    """Say whether more rows would help: by what the last doubling gave."""
    sizes = list(result.curve)
    last, before = (np.asarray(result.curve[size]) for size in (sizes[-1], sizes[-2]))
    gain, error = float((last - before).mean()), float((last - before).std(ddof=1) / np.sqrt(len(last)))
    step = f"From {sizes[-2]} to {sizes[-1]} rows the {result.problem.task.metric} changed by {number(abs(gain), 2)}"
    if gain > 2 * error and gain > 0:
        return f"{step} for the better, so more rows are likely to help."
    return f"{step}, no more than the folds differ, so more rows alone would probably not help much."


def how(result: Comparison) -> list[str]:
    """Return how the comparison was made, in sentences."""
    times = "" if result.repeats == 1 else f", drawn {result.repeats} times"
    splits = len(result.best.scores)
    wide = result.importance and len(result.model.encoder_.columns()) > IMPORTANCE_COLUMNS
    return [
        f"{_folds(result, splits)}{times} measure a model on rows it has not seen, first with its usual settings; then "
        f"inside each, {INNER} inner folds (one division where time is short; of at most {SEARCH_ROWS} rows) choose "
        "its settings, and the better of the two is kept. Medians, scales and categories are learned from the training "
        "rows of a fold alone.",
        *([_part_of_the_rows(result)] if result.most_rows else []),
        "Intervals (95%) and p-values use the corrected resampled t of Nadeau and Bengio, because folds share "
        "training rows; that of an accuracy is never narrower than the number of rows allows. P-values of models "
        "against the best are adjusted by Holm's method for their number; the "
        "baseline has a test of its own.",
        "The best of several scores is a little too good: expect slightly less on new rows. Its interval therefore "
        "also covers the scores of choosing the best by the other folds, fold by fold.",
        f"Seed {result.random_state}. {_saved(result)}",
        time_in_words(result),
        *([f"Importance was measured for the first {IMPORTANCE_COLUMNS} columns only."] if wide else []),
    ]


def _folds(result: Comparison, splits: int) -> str:
    if result.problem.time is not None:
        return f"{splits} steps through time, in the order of {result.problem.time}, each tested on what comes next,"
    return f"Nested cross-validation: {splits // result.repeats or 1} outer folds"


def _part_of_the_rows(result: Comparison) -> str:
    return (
        f"There was no time for all rows: the models of the folds learned from {result.most_rows} rows each. "
        "With a larger --time-budget they are likely to do better."
    )


def _saved(result: Comparison) -> str:
    learned, rows = result.model.n_rows_, len(result.problem.frame)
    if result.interrupted and learned < rows:
        return "It was stopped: the saved model learned from the training rows of one fold."
    if learned < rows:
        return f"The saved model learned from {learned} of the {rows} rows: there was no time for all."
    return f"The saved model was fitted again, settings included, on all {rows} rows."


def time_in_words(result: Comparison) -> str:
    """Say where the time went; what compiling took is no model's time."""
    spent = sorted(result.spent.items(), key=lambda one: one[0] == "the rest")  # the rest comes last
    parts = [f"{what} {seconds:.1f}" for what, seconds in spent if seconds >= 0.05]
    told = f"Seconds: {result.seconds:.1f} in all"
    return f"{told} ({', '.join(parts)}). Compiling is counted as no model's time." if parts else f"{told}."


def versions() -> dict[str, str]:
    """Return the versions of what was used."""
    found = {"gnomon": __version__, "Python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", "polars", "numba"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def as_dict(result: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values, for scripts."""
    problem = result.problem
    return {
        "answer": answer(result),
        "task": problem.menu,
        "target": problem.target,
        "metric": problem.task.metric,
        "better": "lower" if problem.task.sign < 0 else "higher",
        "rows": len(problem.frame),
        "said": problem.said,
        "warnings": list(problem.warned),
        "interrupted": result.interrupted,
        "not_tried": {
            **{e.name: e.failure for e in result.entries if not e.finished},
            **{name: f"takes at most {limit} rows" for name, limit in result.too_large.items()},
        },
        "columns": [column._asdict() for column in problem.columns],
        "ranking": [_entry(result, entry) for entry in result.ranked],
        "left_out": {entry.name: entry.failure for entry in result.entries if not entry.finished},
        "best": {"model": result.best.name, "settings": result.settings},
        "importance": {name: loss._asdict() for name, loss in result.importance.items()},
        "folds": result.folds,
        "repeats": result.repeats,
        "seed": result.random_state,
        "seconds": round(result.seconds, 3),
        "spent": {what: round(seconds, 3) for what, seconds in result.spent.items()},
        "versions": versions(),
    }


def _entry(result: Comparison, entry: Entry) -> dict[str, Any]:
    assert entry.interval is not None
    low, high = bounds(result, entry)
    return {
        "model": entry.name,
        "baseline": entry.baseline,
        "score": result.shown(entry.interval.mean),
        "low": low,
        "high": high,
        "p_value": entry.p_value,
        "folds": [result.shown(value) for value in entry.scores],
        "chosen": entry.chosen,
        "beside": {label: sum(values) / len(values) for label, values in entry.beside.items()},
        "complete": entry.complete,
        "seconds": round(entry.seconds, 3),
        "warnings": entry.warned,
    }
