"""After the race: the best model on all rows, what it loses without a column, and whether more rows would help."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from gnomon.report.encoder import TableModel
from gnomon.report.entries import Entry
from gnomon.report.grids import settings_of, usual
from gnomon.report.metrics import positive_class
from gnomon.report.race import INNER, SEARCH_ROWS, Race
from gnomon.report.stacking import often
from gnomon.selection.intervals import Interval, score_interval

IMPORTANCE_COLUMNS = 40  # shuffling takes time; later columns of a wide table are not shuffled
IMPORTANCE_ROWS = 2_000  # of a fold
SHARES = (0.1, 0.25, 0.5)  # of the training rows, for the learning curve
CURVE_FOLDS = 3


def refit(race: Race, winner: Entry) -> tuple[TableModel, dict[str, Any]]:
    """Return the best model, its settings chosen and its parameters learned on all rows.

    When the race was stopped it is the model of the first fold: nobody waits for another fit then.
    """
    settings = {**usual(winner.candidate), **often(winner)}
    if race.interrupted and race.fitted and winner is race.leader:
        return race.fitted[0], settings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = np.arange(len(race.problem.frame))
        if winner.tuned and _time_to_search(race, winner):
            race.clock.budget = np.inf
            settings = race.search(winner, rows)
        race.clock.budget = np.inf
        return race.fit(winner, rows, settings), settings


def lead_with(race: Race, winner: Entry, seconds: float) -> None:
    """Fit a combination in every fold, as the models were, where there is time for it: what it does is then shown."""
    rows = len(race.splits[0][0])
    parts = [name for name, _ in winner.candidate.model.estimators]
    if sum(race.clock.guess(name, rows) for name in parts) * len(race.splits) < seconds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            race.fitted = [race.fit(winner, train, {}) for train, _ in race.splits]
        race.leader = winner


def _time_to_search(race: Race, winner: Entry) -> bool:
    fits = len(ParameterGrid(settings_of(winner.candidate))) * INNER
    return race.clock.fits(winner.name, min(len(race.problem.frame), SEARCH_ROWS), fits)


def keep_residuals(race: Race, winner: Entry, model: TableModel) -> None:
    """Keep with a regressor how far it was off on unseen rows, for intervals; with two classes the positive one."""
    if race.problem.task.name == "classification" and len(np.unique(race.problem.y)) == 2:
        model.positive_ = positive_class(race.problem.y).item()
    if race.problem.y is not None and race.problem.task.name == "regression" and winner.told is not None:
        off = np.abs(race.problem.y - winner.told.said)[winner.tested]
        model.residuals_ = np.sort(off)


def importance(
    race: Race, shuffles: int = 2, most: int = IMPORTANCE_COLUMNS, seconds: float = np.inf
) -> dict[str, Interval]:
    """Return how much score the best model loses on unseen rows when a column is shuffled; two folds at least."""
    problem, begin = race.problem, time.monotonic()
    if problem.y is None or len(race.fitted) < 2 or race.interrupted:
        return {}
    names = race.fitted[0].encoder_.columns()[:most]
    losses: dict[str, list[float]] = {name: [] for name in names}
    for fold, (model, (_, test)) in enumerate(zip(race.fitted, race.splits)):
        if fold >= 2 and (time.monotonic() - begin) * (fold + 1) / fold > seconds:
            break
        rows = race.some(test, IMPORTANCE_ROWS)
        frame, y = problem.frame[rows], problem.y[rows]
        whole = problem.task.score(model, frame, y)
        rng = np.random.default_rng([race.seed, fold])
        for name in names:
            orders = [rng.permutation(len(frame)) for _ in range(shuffles)]
            shuffled = [frame.with_columns(frame[name][order]) for order in orders]
            losses[name].append(whole - np.mean([problem.task.score(model, s, y) for s in shuffled]))
    found = {name: score_interval(values, race.ratio) for name, values in losses.items()}
    return dict(sorted(found.items(), key=lambda item: -item[1].mean))


def learning_curve(
    race: Race, winner: Entry, settings: dict[str, Any], seconds: float
) -> dict[int, list[float]]:
    """Return scores by the number of training rows: would more rows help? Nothing where time is short."""
    problem, begin = race.problem, time.monotonic()
    folds = race.splits[:CURVE_FOLDS]
    rows = len(folds[0][0])
    if problem.y is None or problem.groups() is not None or problem.time is not None or race.interrupted:
        return {}
    if winner.baseline or len(winner.scores) < len(folds) or rows * SHARES[0] < 20:
        return {}
    found: dict[int, list[float]] = {}
    for share in SHARES:
        count = int(share * rows)
        if time.monotonic() - begin + race.clock.guess(winner.name, count) * len(folds) > seconds:
            return {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[count] = [_one(race, winner, settings, fold, count) for fold in folds]
            except Exception:
                continue
    found[rows] = list(winner.scores[: len(folds)])
    return found if len(found) > 2 else {}


def _one(race: Race, winner: Entry, settings: dict[str, Any], fold: tuple[Any, Any], count: int) -> float:
    train, test = fold
    model = race.fit(winner, race.some(train, count), settings)
    rows = race.some(test, 10 * IMPORTANCE_ROWS)
    return float(race.problem.task.score(model, race.problem.frame[rows], race.problem.y[rows]))
