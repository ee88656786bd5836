"""After the race: the best model on all rows, what it loses without a column, and whether more rows would help."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from gnomon.core.threads import in_order, thread_count
from gnomon.report.encoder import TableModel
from gnomon.report.entries import Entry
from gnomon.report.grids import settings_of, usual
from gnomon.report.looks import Dependence, partial_dependence
from gnomon.report.metrics import positive_class
from gnomon.report.race import INNER, SEARCH_ROWS, Race
from gnomon.report.stacking import often
from gnomon.selection.intervals import Interval, score_interval

IMPORTANCE_COLUMNS = 40  # shuffling takes time; later columns of a wide table are not shuffled
IMPORTANCE_ROWS = 2_000  # of a fold
LEAST_ROWS = 250  # of a fold, where time is short
SHUFFLES = 2
CLOSER = 30.0  # seconds for each of the closer looks where there is no budget
STOPPED_FIT = 5.0  # seconds of a last fit after a stop, where there is no model of a fold
SHARES = (0.1, 0.25, 0.5)  # of the training rows, for the learning curve
CURVE_FOLDS = 3


def fit_the_best(race: Race, best: Entry) -> tuple[TableModel, dict[str, Any]]:
    """Return the best model and its settings, with what it needs for intervals; a stop leaves the model of a fold."""
    race.tell(best, "learns from all rows")
    with race.clock.doing("the last fit"):
        try:
            model, settings = refit(race, best)
        except KeyboardInterrupt:
            race.halt()
            model, settings = refit(race, best)
    keep_residuals(race, best, model)
    return model, settings


def look_closer(
    race: Race, best: Entry, settings: dict[str, Any]
) -> tuple[dict[str, Interval], dict[str, Dependence], dict[int, list[float]]]:
    """Return importances, what columns do, and the learning curve, as far as there is time; a stop ends them."""
    losses: dict[str, Interval] = {}
    dependence: dict[str, Dependence] = {}
    curve: dict[int, list[float]] = {}
    race.tell(best, "is looked at closely")
    with race.clock.doing("closer looks"):
        try:
            if hasattr(best.candidate.model, "estimators"):
                lead_with(race, best, _share(race, 0.3))
            if race.leader is best:
                losses = importance(race, seconds=_share(race, 0.5))
                dependence = partial_dependence(race, list(losses)) if losses else {}
            curve = learning_curve(race, best, settings, _share(race, 0.8))
        except KeyboardInterrupt:
            race.halt()
    return losses, dependence, curve


def _share(race: Race, part: float) -> float:
    """Return the seconds that a closer look may take: part of what is left before the page is made."""
    return part * race.clock.spare() if race.clock.limited else CLOSER


def refit(race: Race, winner: Entry) -> tuple[TableModel, dict[str, Any]]:
    """Return the best model, its settings chosen and its parameters learned on all rows.

    When the race was stopped it is the model of a fold: nobody waits for another fit then. Where the folds had no time
    for all rows and the last fit has none either, it learns from as many as they did.
    """
    settings = {**usual(winner.candidate), **often(winner)}
    if race.interrupted and race.fitted and winner is race.leader:
        return race.fitted[min(race.fitted)], settings
    rows = np.arange(len(race.problem.frame))
    if race.most_rows is not None and last_fit(race, winner) > race.clock.spare():
        rows = race.some(rows, race.most_rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if winner.tuned and not race.interrupted and _time_to_search(race, winner):
            settings = race.search(winner, rows)
        seconds = STOPPED_FIT if race.interrupted else np.inf
        return race.fit(winner, rows, settings, seconds=seconds), settings


def last_fit(race: Race, winner: Entry) -> float:
    """Return what the fit to all rows is going to take; a combination is as slow as its parts together."""
    parts = getattr(winner.candidate.model, "estimators", None)
    names = [winner.name] if parts is None else [name for name, _ in parts]
    return sum(race.clock.guess(name, len(race.problem.frame)) for name in names)


def lead_with(race: Race, winner: Entry, seconds: float) -> None:
    """Fit a combination in every fold, as the models were, where there is time for it: what it does is then shown."""
    if last_fit(race, winner) * len(race.splits) < seconds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            models = in_order(lambda pair: race.fit(winner, pair[0], {}, seconds=np.inf), race.splits)
            race.fitted = dict(enumerate(models))
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


def importance(race: Race, most: int = IMPORTANCE_COLUMNS, seconds: float = np.inf) -> dict[str, Interval]:
    """Return how much score the best model loses on unseen rows when a column is shuffled.

    Two folds at least are asked, with as many rows and as many folds as the time allows; nothing where it is too short.
    """
    problem, begin = race.problem, time.monotonic()
    if problem.y is None or len(race.fitted) < 2 or race.interrupted:
        return {}
    names = next(iter(race.fitted.values())).encoder_.columns()[:most]
    losses: dict[str, list[float]] = {name: [] for name in names}
    count, shuffles = _affordable(race, len(names), seconds)
    if not count:
        return {}
    for done, (fold, model) in enumerate(sorted(race.fitted.items())):
        if done >= 2 and (time.monotonic() - begin) * (done + 1) / done > seconds:
            break
        rows = race.some(race.splits[fold][1], count)
        frame, y = problem.frame[rows], problem.y[rows]
        whole = problem.task.score(model, frame, y)
        rng = np.random.default_rng([race.seed, fold])
        orders = [[rng.permutation(len(frame)) for _ in range(shuffles)] for _ in names]

        def loss(
            place: int, model: Any = model, frame: Any = frame, y: Any = y, orders: Any = orders
        ) -> float:
            column = frame[names[place]]
            shuffled = [frame.with_columns(column[order]) for order in orders[place]]
            return float(np.mean([problem.task.score(model, one, y) for one in shuffled]))

        for name, left in zip(names, in_order(loss, range(len(names)))):
            losses[name].append(whole - left)
    found = {name: score_interval(values, race.ratio) for name, values in losses.items()}
    return dict(sorted(found.items(), key=lambda item: -item[1].mean))


def _affordable(race: Race, columns: int, seconds: float) -> tuple[int, int]:
    """Return rows and shuffles of a fold with which two folds end in time; no rows where there is no way."""
    if not np.isfinite(seconds):
        return IMPORTANCE_ROWS, SHUFFLES
    fold, model = min(race.fitted.items())
    rows = race.some(race.splits[fold][1], LEAST_ROWS)
    begin = time.monotonic()
    race.problem.task.score(model, race.problem.frame[rows], race.problem.y[rows])
    least = 2.0 * columns * (time.monotonic() - begin) / thread_count()  # two folds, one shuffle
    for count, shuffles in ((IMPORTANCE_ROWS, SHUFFLES), (IMPORTANCE_ROWS // 2, 1), (LEAST_ROWS, 1)):
        if least * shuffles * count / LEAST_ROWS < seconds:
            return count, shuffles
    return 0, 0


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
                found[count] = list(in_order(lambda fold: _one(race, winner, settings, fold, count), folds))  # noqa: B023
            except Exception:
                continue
    found[rows] = list(winner.scores[: len(folds)])
    return found if len(found) > 2 else {}


def _one(race: Race, winner: Entry, settings: dict[str, Any], fold: tuple[Any, Any], count: int) -> float:
    train, test = fold
    model = race.fit(winner, race.some(train, count), settings, seconds=np.inf)
    rows = race.some(test, 10 * IMPORTANCE_ROWS)
    return float(race.problem.task.score(model, race.problem.frame[rows], race.problem.y[rows]))
