"""What holds for every fitted estimator, whatever its class: it is looked at when one is read from a file.

Prediction trusts these numbers. A class whose compiled code trusts more of its arrays looks at them itself, in
its ``_check_loaded``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import ModelFileError
from gnomon.core.settings import check_parameters, parameter_names

BY_CLASS = ("class_count_", "class_prior_", "class_log_prior_", "priors_", "class_share_")
BY_COLUMN = ("coef_", "feature_names_in_")


def check_facts(model: Any) -> None:
    """Refuse a fitted estimator whose columns, classes, coefficients or settings no fit can have left.

    >>> from types import SimpleNamespace
    >>> check_facts(SimpleNamespace(n_features_in_=2, coef_=np.zeros(3)))
    Traceback (most recent call last):
        ...
    gnomon.core.errors.ModelFileError: its coef_ does not fit its 2 columns. Get a new copy.
    """
    known = vars(model)
    width, classes = known.get("n_features_in_"), known.get("classes_")
    if width is not None:
        _check_columns(known, width)
    for labels in classes if isinstance(classes, list | tuple) else () if classes is None else (classes,):
        _check_labels(labels)
    if isinstance(classes, np.ndarray):
        _check_by_class(known, len(classes))
    if "startprob_" in known and "transmat_" in known:
        _check_chain(known["startprob_"], known["transmat_"], known.get("emissionprob_"))
    if any(name.endswith("_") and not name.startswith("_") for name in known) and hasattr(
        model, "get_params"
    ):
        _check_settings(model)


def _check_columns(known: dict[str, Any], width: Any) -> None:
    if isinstance(width, bool) or not isinstance(width, int | np.integer) or width < 0:
        raise ModelFileError(f"its number of columns is {width!r}. Get a new copy.")
    for name in BY_COLUMN:
        shape = np.shape(known[name]) if isinstance(known.get(name), np.ndarray) else None
        if shape is not None and shape[-1:] != (width,):
            raise ModelFileError(f"its {name} does not fit its {width} columns. Get a new copy.")


def _check_labels(labels: Any) -> None:
    if (
        not isinstance(labels, np.ndarray)
        or labels.ndim != 1
        or not 0 < len(labels) == len(set(labels.tolist()))
    ):
        raise ModelFileError("its classes_ are not different labels. Get a new copy.")


def _check_by_class(known: dict[str, Any], count: int) -> None:
    """A model says one class for each score, or, with a single score, one of two."""
    for name in BY_CLASS:
        if isinstance(known.get(name), np.ndarray) and known[name].shape[:1] != (count,):
            raise ModelFileError(f"its {name} does not fit its {count} classes. Get a new copy.")
    if type(known.get("n_classes_", count)) not in (int, np.int64) or known.get("n_classes_", count) != count:
        raise ModelFileError(f"its n_classes_ is not the number of its {count} classes. Get a new copy.")
    coef = known.get("coef_")
    if isinstance(coef, np.ndarray) and "n_features_in_" in known:
        scores = len(np.atleast_2d(coef))
        fits = count == 2 if scores == 1 else scores in (count, count * (count - 1) // 2)
        if not fits or np.size(known.get("intercept_", 0.0)) not in (1, scores):
            raise ModelFileError(f"its coef_ does not fit its {count} classes. Get a new copy.")


def _check_chain(start: Any, moves: Any, signs: Any) -> None:
    """Moves lead from each state of the start to another of them, and each state shows its signs."""
    if np.ndim(start) != 1 or np.ndim(moves) < 2 or np.shape(moves)[-2:] != 2 * np.shape(start):
        raise ModelFileError("its transmat_ does not fit its startprob_. Get a new copy.")
    if signs is not None and (np.ndim(signs) < 2 or len(signs) != len(start)):
        raise ModelFileError("its emissionprob_ does not fit its startprob_. Get a new copy.")


def _check_settings(model: Any) -> None:
    """Hold a fitted model's settings to the rules that its fit held them to; an older file may lack some."""
    cls: Any = type(model)
    if hasattr(model, "_parameter_constraints") and all(name in vars(model) for name in parameter_names(cls)):
        check_parameters(model)
