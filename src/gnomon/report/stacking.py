"""A combination of the best models, where it is better than each of them on unseen rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import GnomonError
from gnomon.report.entries import Entry
from gnomon.report.grids import usual
from gnomon.report.menu import Candidate
from gnomon.report.metrics import Answers, beside
from gnomon.report.race import Race
from gnomon.selection import compare_scores

MOST_MEMBERS = 4
ROUNDS = 12  # of greedy choice: weights are multiples of 1/12
LEVEL = 0.2  # a combination takes part when it is better than the best model at this level


def combine(race: Race) -> Entry | None:
    """Return the weighted mean of the best models as an entry, or None where it is not better than the best.

    The weights of a fold are learned from what the members said of unseen rows of the other folds of the same
    drawing; where folds go through time, from the folds before it alone.
    """
    members = _members(race)
    if len(members) < 2:
        return None
    problem, numbers = race.problem, race.problem.task.name != "classification"
    assert problem.metric is not None
    classes = None if numbers else np.unique(problem.y)
    said = [np.stack([member.by_fold[k] for member in members]) for k in range(len(race.splits))]
    truth = [problem.y[test] for _, test in race.splits]
    entry = Entry("", False, n_folds=len(race.splits), tested=members[0].tested)
    whole = np.zeros((len(problem.y), *said[0].shape[2:]))
    for k, (_, test) in enumerate(race.splits):
        known = other_folds(k, race.per_draw, problem.time is not None)
        weights = _weights([said[j] for j in known], [truth[j] for j in known], classes, len(members))
        whole[test] = np.tensordot(weights, said[k], 1)
        told = _told(whole[test], classes)
        entry.scores.append(problem.metric.sign * float(problem.metric.value(truth[k], told)))
        entry.chosen.append({})
        _note(entry, race, told, truth[k])
    best = members[0]
    found = compare_scores(best.scores, entry.scores, n_train=1.0, n_test=race.ratio)
    if not (np.mean(entry.scores) > np.mean(best.scores) and found.p_value < LEVEL):
        return None
    entry.told, entry.seconds = _told(whole, classes), sum(member.seconds for member in members)
    return _named(entry, members, _weights(said, truth, classes, len(members)), numbers)


def other_folds(fold: int, per_draw: int, in_time: bool) -> list[int]:
    """Return the folds from which the weights of a fold may be learned.

    >>> other_folds(4, 3, in_time=False), other_folds(2, 3, in_time=True)
    ([3, 5], [0, 1])
    """
    if in_time:
        return list(range(fold))
    first = fold - fold % per_draw
    return [other for other in range(first, first + per_draw) if other != fold]


def _weights(said: list[Any], truth: list[Any], classes: Any, members: int) -> Any:
    """Return weights that are learned from some folds; equal ones where there is no fold yet."""
    if not said:
        return np.full(members, 1.0 / members)
    return learn_weights(np.concatenate(said, axis=1), np.concatenate(truth), classes)


def _members(race: Race) -> list[Entry]:
    """Return the best complete models that give numbers or probabilities for every fold."""
    if race.problem.y is None or race.problem.metric is None or race.interrupted:
        return []
    if race.problem.task.name == "recommend" or race.per_draw < 2:
        return []
    numbers = race.problem.task.name != "classification"
    fit = [
        e for e in race.entries
        if e.complete and e.finished and not e.baseline and e.told is not None and (numbers or e.told.probabilities)
        and len(e.by_fold) == len(race.splits)
    ]  # fmt: skip
    return sorted(fit, key=lambda e: -float(np.mean(e.scores)))[:MOST_MEMBERS]


def _told(blended: Any, classes: Any) -> Answers:
    if classes is None:
        return Answers(blended)
    return Answers(classes[blended.argmax(axis=1)], blended, True, classes)


def learn_weights(said: Any, y: Any, classes: Any = None) -> Any:
    """Return weights, none negative, of sum one, chosen greedily: squared error for numbers, log loss for classes.

    >>> learn_weights(np.array([[0.0, 0.0], [2.0, 4.0]]), np.array([1.0, 2.0]))
    array([0.5, 0.5])
    """
    place = None if classes is None else np.searchsorted(classes, y)
    sums, counts = np.zeros_like(said[0]), np.zeros(len(said))
    for step in range(ROUNDS):
        losses = [_loss((sums + one) / (step + 1), y, place) for one in said]
        pick = int(np.argmin(losses))
        sums, counts[pick] = sums + said[pick], counts[pick] + 1
    return counts / counts.sum()


def _loss(mean: Any, y: Any, place: Any) -> float:
    if place is None:
        return float(np.mean((mean - y) ** 2))
    return -float(np.log(np.maximum(mean[np.arange(len(y)), place], 1e-15)).mean())


def _note(entry: Entry, race: Race, told: Answers, truth: Any) -> None:
    assert race.problem.metric is not None
    for metric in beside(race.problem.task.name, race.problem.metric):
        try:
            entry.beside.setdefault(metric.label, []).append(float(metric.value(truth, told)))
        except GnomonError:
            continue


def _named(entry: Entry, members: list[Entry], weights: Any, numbers: bool) -> Entry | None:
    """Return the entry with a model: a vote of the members with weights, each with its settings."""
    from sklearn.base import clone

    from gnomon.ensemble import VotingClassifier, VotingRegressor

    kept = [(member, float(w)) for member, w in zip(members, weights) if w > 0]
    if len(kept) < 2:
        return None
    parts = []
    for member, _ in kept:
        settings = {**usual(member.candidate), **often(member)}
        parts.append((member.name, clone(member.candidate.model).set_params(**settings)))
    voted = [w for _, w in kept]
    model = (
        VotingRegressor(parts, weights=voted)
        if numbers
        else VotingClassifier(parts, voting="soft", weights=voted)
    )
    names = [member.name for member, _ in kept]
    entry.name = "combination of " + ", ".join(names[:-1]) + " and " + names[-1]
    entry.candidate = Candidate(entry.name, model, {})
    return entry


def often(entry: Entry) -> dict[str, Any]:
    """Return the settings that were chosen most often."""
    words = [repr(chosen) for chosen in entry.chosen]
    return entry.chosen[words.index(max(dict.fromkeys(words), key=words.count))] if words else {}
