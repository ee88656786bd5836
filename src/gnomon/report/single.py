"""One model and one table: prepare a fit, load a model, predict."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import get_tags

import gnomon
from gnomon.core.errors import DataError, nearest
from gnomon.report.columns import QuestionError
from gnomon.report.encoder import TableModel
from gnomon.report.forms import check_plain
from gnomon.report.menu import calibrated, find_model, make
from gnomon.report.models import table_model
from gnomon.report.tasks import PART, Problem, pose

KINDS = {
    "classifier": "classification",
    "regressor": "regression",
    "clusterer": "cluster",
    "density_estimator": "density",
}


class Job(NamedTuple):
    """A model that is ready to be fitted, and the problem it is to be fitted to."""

    model: TableModel
    problem: Problem


def prepare(
    name: str,
    frame: Any,
    target: str | None = None,
    *,
    sequence: str | None = None,
    settings: dict[str, Any] | None = None,
    random_state: int = 0,
    task: str | None = None,
    probabilities: bool = False,
    **options: Any,
) -> Job:
    """Return a model by name, with the encoder for a table, ready to be fitted.

    With `probabilities` a classifier that has none gets them by calibration, as in a comparison. `options` are those
    of a comparison: exclude, group, time, missing.
    """
    cls = find_model(name)
    try:
        model = make(cls, random_state, **(settings or {}))
    except TypeError as error:
        known = cls._get_param_names() if hasattr(cls, "_get_param_names") else []
        wrong = next((word for word in settings or {} if word not in known), "")
        raise QuestionError(f"{name}: {error}.{nearest(wrong, known)}") from None
    task = task or _task(model, name)
    if probabilities and not hasattr(model, "predict_proba"):
        model = calibrated(model)
    problem = pose(frame, target, task, sequence, **options)
    if problem.sequence == PART:  # nothing is tested here, so the one sequence need not be cut
        problem = problem._replace(sequence=None, frame=problem.frame.drop(PART), said=problem.said[1:])
    return Job(table_model(model, problem), problem)


def _task(model: Any, name: str) -> str:
    tags = get_tags(model)
    if tags.input_tags.two_d_array and tags.estimator_type in KINDS:
        return KINDS[tags.estimator_type]
    if tags.input_tags.two_d_array and hasattr(model, "decode"):
        return "sequence"
    if hasattr(model, "predict_matrix"):
        return "recommend"
    raise QuestionError(f"{name} does not learn from a table of rows; use it from Python.")


def load_model(path: str | Path) -> Any:
    """Return a saved model; a file that is not there is bad data, not a fault."""
    if not Path(path).is_file():
        raise DataError(f"{path} does not exist. Models are written by gnomon fit and gnomon compare.")
    model = gnomon.load(path)
    if not hasattr(model, "get_params"):
        raise DataError(f"{path} holds a {type(model).__name__}, which is no model.")
    return model


def predictions(
    model: Any,
    frame: Any,
    *,
    proba: bool = False,
    interval: float | None = None,
    threshold: float | None = None,
) -> tuple[Any, list[str]]:
    """Return the table with predictions added to it, and what is worth a remark."""
    import polars as pl

    name = _free_name(frame, f"predicted {model.target}" if getattr(model, "target", None) else "predicted")
    rows = frame if isinstance(model, TableModel) else _matrix(model, frame)
    for column, form in (getattr(getattr(model, "encoder_", None), "forms", None) or {}).items():
        if column in frame.columns:
            check_plain(frame[column], form)
    inner = getattr(model, "model_", model)
    said = np.asarray(model.predict(rows)) if threshold is None else _decided(model, inner, rows, threshold)
    found = [pl.Series(name, said)]
    if proba:
        _has(inner, "predict_proba", "--proba")
        P = np.asarray(model.predict_proba(rows))
        labels = getattr(inner, "classes_", range(P.shape[1]))
        found += [pl.Series(f"P({label})", column) for label, column in zip(labels, P.T)]
    if interval is not None:
        if not hasattr(model, "residuals_"):
            _has(inner, "predict_interval", "--interval")
        ends = model.predict_interval(rows, level=interval)
        found += [pl.Series(f"{name} {end}", column) for end, column in zip(("low", "high"), ends)]
    return frame.with_columns(found), _remarks(model, frame)


def _decided(model: Any, inner: Any, rows: Any, threshold: float) -> Any:
    """Return one of two classes for every row: the positive one from a probability on."""
    _has(inner, "predict_proba", "--threshold")
    classes = np.asarray(getattr(inner, "classes_", ()))
    if len(classes) != 2:
        raise QuestionError(f"--threshold parts two classes; the model has {len(classes)}.")
    positive = getattr(model, "positive_", classes[1])
    place = int(np.flatnonzero(classes == positive)[0])
    return np.where(
        np.asarray(model.predict_proba(rows))[:, place] >= threshold, classes[place], classes[1 - place]
    )


def _has(model: Any, method: str, option: str) -> None:
    if not hasattr(model, method):
        raise QuestionError(f"{type(model).__name__} has no {method}; leave out {option}.")


def _remarks(model: Any, frame: Any) -> list[str]:
    unseen = model.encoder_.unseen(frame) if isinstance(model, TableModel) else {}
    return [
        f"column {name!r}: {count} values were never seen while learning; taken for the most frequent one."
        for name, count in unseen.items()
    ]


def _free_name(frame: Any, name: str) -> str:
    while name in frame.columns:
        name += " (model)"
    return name


def _matrix(model: Any, frame: Any) -> Any:
    """Return the columns that a model without an encoder was fitted to."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        count = getattr(model, "n_features_in_", frame.width)
        if frame.width != count:
            raise DataError(f"the model was fitted to {count} columns; the table has {frame.width}.")
        return frame.to_numpy()
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise DataError(f"the table has no column {missing[0]!r}, which the model needs. Add it.")
    return frame.select([str(name) for name in names])
