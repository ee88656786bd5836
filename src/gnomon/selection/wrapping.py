"""What wrappers of other models share: rows they can take apart, and fits that count whole or not at all."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, check_array, check_consistent_length, column_or_1d, get_tags

from gnomon.core.array_checks import unmasked
from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.estimator import is_learned
from gnomon.core.linalg import Array
from gnomon.core.validate import encode


def indexable_rows(X: Any, estimator: Any = None) -> Any:
    """Return rows that can be taken by number: a data frame, CSR, or an array, checked as the estimator asks for."""
    if hasattr(X, "iloc"):
        return X
    if estimator is None:
        return X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    tags = get_tags(estimator).input_tags
    X = unmasked(X, tags.allow_nan, "X")
    kind = {
        "accept_sparse": "csr" if tags.sparse else False,
        "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
    }
    plain = hasattr(X, "tocsr") or (isinstance(X, np.ndarray) and X.dtype.kind in "fiub")
    return check_array(X, dtype=None if plain else "numeric", estimator=estimator, input_name="X", **kind)


def finite_labels(y: Any) -> Array:
    """Return labels as a vector without NaN or infinity."""
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    return labels


def labeled_rows(X: Any, y: Any, estimator: Any, who: str) -> tuple[Any, Array, Array]:
    """Return rows that can be taken by number, the classes, and the class of every row; two classes or more."""
    if y is None:
        raise DataError("y is missing: this classifier requires y to be passed, but the target y is None.")
    rows = indexable_rows(X, estimator)
    classes, codes = encode(finite_labels(y))
    check_consistent_length(rows, codes)
    if len(classes) < 2:
        raise DegenerateError(f"{who} two classes or more; y has only one class, {classes[0]!r}.")
    return rows, classes, codes


def learn_at_once(model: Any, *data: Any) -> Any:
    """Let a copy of the model learn, and take over what it learned in one step: whole, or not at all."""
    other = copy.copy(model)
    other.__dict__ = {name: value for name, value in vars(model).items() if not is_learned(name)}
    other._learn(*data)
    model.__dict__ = other.__dict__
    return model


def take_rows(X: Any, index: Array) -> Any:
    """Return some rows of a frame, an array or a sparse matrix."""
    return X.iloc[index] if hasattr(X, "iloc") else X[index]


def check_partition(folds: list[tuple[Array, Array]], n: int) -> list[tuple[Array, Array]]:
    """Return the folds, if they hold every row out exactly once."""
    held = np.bincount(np.concatenate([test for _, test in folds]), minlength=n)
    if (held != 1).any():
        row = int(np.flatnonzero(held != 1)[0])
        raise DataError(
            f"cv must hold every row out once; row {row} is held out {held[row]} times. "
            "Take KFold or another partition."
        )
    return folds
