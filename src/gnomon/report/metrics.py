"""Metrics: what a comparison can be judged by, for classes and for numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.report.columns import QuestionError
from gnomon.selection import confusion_table, proper_score
from gnomon.selection.areas import delong_parts

LABELS, ORDER, PROBABILITIES, NUMBERS = "labels", "order", "probabilities", "numbers"
UNEVEN = 0.15  # a smallest of two classes below this share, or half of an even share of more, is uneven
TINY = 1e-15  # a probability of 0 for what happened costs as much as this one


class Answers(NamedTuple):
    """What a model says of rows: labels or numbers, and where it has them probabilities or scores of the classes."""

    said: Any
    scores: Any = None  # (n, K): probabilities, or one score for each class
    probabilities: bool = False
    classes: Any = None


class Metric(NamedTuple):
    """A measure of answers against the truth; `value` is as it is shown, `sign` -1 where smaller is better."""

    name: str
    label: str
    needs: str
    value: Callable[[Any, Answers], float]
    sign: int = 1
    limits: tuple[float, float] = (-np.inf, np.inf)

    def score(self, model: Any, frame: Any, y: Any) -> float:
        """Return the score of a model on a table, larger is better."""
        return self.sign * self.value(y, ask(model, frame, self.needs))


def ask(model: Any, frame: Any, needs: str = PROBABILITIES) -> Answers:
    """Return what a fitted model says of a table; no more than the metric needs."""
    if needs in (LABELS, NUMBERS):
        return Answers(np.asarray(model.predict(frame)))
    inner = model.model_
    classes = np.asarray(inner.classes_)
    if hasattr(inner, "predict_proba"):
        P = np.asarray(model.predict_proba(frame), dtype=float)
        return Answers(classes[P.argmax(axis=1)], P, True, classes)
    said = np.asarray(model.predict(frame))
    if needs == PROBABILITIES or not hasattr(inner, "decision_function"):
        return Answers(said, None, False, classes)
    S = np.asarray(model.decision_function(frame), dtype=float)
    return Answers(said, np.column_stack([-S, S]) if S.ndim == 1 else S, False, classes)


def ask_all(model: Any, frame: Any, numbers: bool) -> Answers:
    """Return everything that a fitted model says of a table."""
    return ask(model, frame, NUMBERS if numbers else ORDER)


def codes(y: Any, classes: Any) -> Any:
    """Return the place of every label among the classes; -1 where a label is none of them."""
    place = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    return np.where(classes[place] == y, place, -1)


def positive_class(y: Any) -> Any:
    """Return the rarer of two classes, which is what one usually looks for; of equals the larger label."""
    classes, counts = np.unique(y, return_counts=True)
    return classes[::-1][counts[::-1].argmin()]


def _accuracy(y: Any, told: Answers) -> float:
    return float(np.mean(told.said == y))


def _balanced(y: Any, told: Answers) -> float:
    found = confusion_table(y, told.said)
    there = found.counts.sum(axis=1) > 0
    return float((np.diag(found.counts)[there] / found.counts.sum(axis=1)[there]).mean())


def _f1(y: Any, told: Answers) -> float:
    """Return F1 of the rarer of two classes; for more the mean over classes."""
    found = confusion_table(y, told.said)
    counts = found.counts
    with np.errstate(invalid="ignore"):
        each = np.nan_to_num(2 * np.diag(counts) / (counts.sum(axis=0) + counts.sum(axis=1)))
    rare = found.labels == positive_class(y)
    return float(each[rare][0] if len(found.labels) == 2 else each.mean())


def _with_scores(told: Answers, metric: str, probabilities: bool = False) -> Any:
    if told.scores is None or (probabilities and not told.probabilities):
        raise DataError(f"it has no probabilities, which the {metric} needs")
    return told.scores


def _one_against_rest(y: Any, told: Answers, measure: Callable[[Any, Any], float], name: str) -> float:
    """Return the measure of the rarer of two classes, or its mean over the classes of which there are rows."""
    scores, classes = _with_scores(told, name), told.classes
    wanted = [positive_class(y)] if len(np.unique(y)) == 2 and len(classes) == 2 else classes
    found = []
    for place, label in enumerate(classes):
        mine = y == label
        if label in wanted and mine.any() and not mine.all():
            found.append(measure(mine.astype(int), scores[:, place]))
    return float(np.mean(found)) if found else float("nan")


def _auc(y: Any, told: Answers) -> float:
    return _one_against_rest(y, told, lambda mine, score: delong_parts(mine, score).auc, "AUC")


def _average_precision(y: Any, told: Answers) -> float:
    from sklearn.metrics import average_precision_score

    return _one_against_rest(y, told, average_precision_score, "average precision")


def _log_loss(y: Any, told: Answers) -> float:
    P = _with_scores(told, "log loss", True)
    place = codes(y, told.classes)
    p = np.where(place >= 0, P[np.arange(len(y)), place], 0.0)
    return float(-np.log(np.clip(p, TINY, 1.0)).mean())


def _brier(y: Any, told: Answers) -> float:
    """Return the mean squared distance of the probabilities; of two classes that of one of them."""
    P = _with_scores(told, "Brier score", True)
    place = codes(y, told.classes)
    P = np.column_stack([P, np.zeros(len(P))])  # a class that the model never saw had probability 0
    place = np.where(place >= 0, place, P.shape[1] - 1)
    return float(proper_score(place, P, rule="brier").mean()) / (2 if len(told.classes) == 2 else 1)


def _rmse(y: Any, told: Answers) -> float:
    return float(np.sqrt(np.mean((told.said - y) ** 2)))


def _mae(y: Any, told: Answers) -> float:
    return float(np.mean(np.abs(told.said - y)))


def _r2(y: Any, told: Answers) -> float:
    total = float(((y - y.mean()) ** 2).sum())
    return 1 - float(((y - told.said) ** 2).sum()) / total if total > 0 else float("nan")


def _pinball(level: float) -> Callable[[Any, Answers], float]:
    return lambda y, told: float(proper_score(y, told.said, rule="pinball", level=level).mean())


def _poisson(y: Any, told: Answers) -> float:
    """Return the mean Poisson deviance; rates of 0 and below count as a millionth of the mean."""
    from sklearn.metrics import mean_poisson_deviance

    if (y < 0).any():
        raise QuestionError(
            "the Poisson deviance is for targets that are not negative; choose another --metric."
        )
    return float(mean_poisson_deviance(y, np.maximum(told.said, 1e-6 * max(float(y.mean()), 1e-300))))


UNIT, ERROR = (0.0, 1.0), (0.0, np.inf)
CLASSES = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "accuracy", LABELS, _accuracy, 1, UNIT),
        Metric("balanced_accuracy", "balanced accuracy", LABELS, _balanced, 1, UNIT),
        Metric("auc", "AUC", ORDER, _auc, 1, UNIT),
        Metric("average_precision", "average precision", ORDER, _average_precision, 1, UNIT),
        Metric("log_loss", "log loss", PROBABILITIES, _log_loss, -1, ERROR),
        Metric("brier", "Brier score", PROBABILITIES, _brier, -1, (0.0, 2.0)),
        Metric("f1", "F1", LABELS, _f1, 1, UNIT),
    )
}
AMOUNTS = {
    metric.name: metric
    for metric in (
        Metric("rmse", "error (RMSE)", NUMBERS, _rmse, -1, ERROR),
        Metric("mae", "error (MAE)", NUMBERS, _mae, -1, ERROR),
        Metric("r2", "R²", NUMBERS, _r2, 1, (-np.inf, 1.0)),
        Metric("pinball", "pinball loss", NUMBERS, _pinball(0.5), -1, ERROR),
        Metric("poisson", "Poisson deviance", NUMBERS, _poisson, -1, ERROR),
    )
}
BY_TASK = {"classification": CLASSES, "regression": AMOUNTS, "recommend": AMOUNTS}
BESIDE = {  # shown beside the one that decides
    "classification": ("accuracy", "balanced_accuracy", "auc", "log_loss"),
    "regression": ("rmse", "mae", "r2"),
    "recommend": ("rmse", "mae"),
}


def choose_metric(name: str | None, task: str, y: Any) -> tuple[Metric | None, str]:
    """Return the metric of a name, or the one that suits the target, and why in a sentence.

    >>> choose_metric(None, "classification", np.array([0] * 9 + [1]))[0].label
    'AUC'
    """
    if task not in BY_TASK:
        if name is not None:
            raise QuestionError(f"the task {task!r} has one metric of its own; leave out --metric.")
        return None, ""
    known = BY_TASK[task]
    if name is None:
        return _suited(task, y)
    plain = name.lower().replace("-", "_").replace(" ", "_").replace("²", "2")
    if plain.startswith("pinball") and task != "classification" and plain != "pinball":
        return _pinball_at(name, plain), ""
    if plain not in known:
        raise QuestionError(
            f"there is no metric {name!r} for {task}.{nearest(plain, known)} There are {', '.join(known)}."
        )
    return known[plain], ""


def _pinball_at(name: str, plain: str) -> Metric:
    try:
        level = float(plain.removeprefix("pinball").strip("_@:="))
    except ValueError:
        level = -1.0
    if not 0 < level < 1:
        raise QuestionError(f"--metric {name}: write the quantile behind it, between 0 and 1: pinball@0.9.")
    return AMOUNTS["pinball"]._replace(
        name=f"pinball@{level:g}", label=f"pinball loss at {level:g}", value=_pinball(level)
    )


def _suited(task: str, y: Any) -> tuple[Metric, str]:
    if task != "classification":
        return AMOUNTS["rmse"], ""
    classes, counts = np.unique(y, return_counts=True)
    share = float(counts.min() / counts.sum())
    if share >= (UNEVEN if len(classes) == 2 else 0.5 / len(classes)):
        return CLASSES["accuracy"], ""
    rare = f"{share:.1%} of the rows are {classes[counts.argmin()]}"
    chosen = CLASSES["auc"] if len(classes) == 2 else CLASSES["log_loss"]
    return (
        chosen,
        f"The classes are uneven ({rare}), so models are judged by {chosen.label} (--metric for another).",
    )


def beside(task: str, chosen: Metric) -> list[Metric]:
    """Return the metrics that are shown beside the one that decides."""
    names = [name for name in BESIDE.get(task, ()) if name != chosen.name]
    return [BY_TASK[task][name] for name in names]
