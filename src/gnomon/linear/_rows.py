"""Rows as discriminative models want them: class weights folded in, sparse chunks kept, classes checked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.rows import MemoryRows
from gnomon.core.sums import total
from gnomon.solvers.terms import cut

LIMIT = 1e150  # of squares of X times costs


class Mass(NamedTuple):
    """Weight of every class."""

    weight: Array


def class_mass(chunk, k):
    """Weight of the rows of each of the k classes in a chunk."""
    return Mass(np.bincount(chunk.y, weights=chunk.weight, minlength=k).astype(float))


def check_classes(rows: Any, name: str) -> None:
    """Refuse a target with a single class, by name."""
    if len(rows.classes) < 2:
        raise DataError(
            f"{name} needs samples of at least 2 classes in the data, but the data contains only one class: "
            f"{rows.classes[0]!r}. Add rows of another class."
        )


def weigh_classes(rows: Any, class_weight: Any) -> Any:
    """Multiply weights by those of the classes, and cut sparse rows once."""
    if class_weight is not None:
        if not rows.in_memory:
            raise DataError(
                "class_weight needs rows in memory; give the weights as a column with sample_weight."
            )
        by_class = compute_weights(class_weight, rows)
        rows = MemoryRows(
            rows.X,
            rows.y,
            rows.weight * by_class[rows.y],
            feature_names=rows.feature_names,
            classes=rows.classes,
        )
    return cut(rows)


def compute_weights(class_weight: Any, rows: Any) -> Array:
    """Return the weight of every class: ``"balanced"`` counts weighted rows."""
    k = len(rows.classes)
    if class_weight is None:
        return np.ones(k)
    if isinstance(class_weight, str):
        mass = total(class_mass, rows, k).weight
        return mass.sum() / (k * np.where(mass > 0, mass, np.inf))
    return compute_class_weight(class_weight, classes=rows.classes, y=rows.classes)


def refuse_overflow(rows: Any, C: float) -> None:
    """Refuse rows whose squares, times their costs, leave no digit to the penalty and none to the loss."""
    values = rows.X.data if rows.sparse else rows.X
    top = max(float(np.max(values, initial=0.0)), -float(np.min(values, initial=0.0)))
    heaviest = float(rows.weight.max()) * (C if np.isfinite(C) else 1.0)
    with np.errstate(over="ignore"):
        if not np.square(top) * heaviest < LIMIT:
            raise DataError(
                "the squares of X, times C and sample_weight, come close to overflowing; divide the columns "
                "of X by their size, and the weights by their mean."
            )


def rows_that_count(rows: Any) -> Any:
    """Return rows in memory without those of weight zero: they have no price, and may lie anywhere."""
    if not rows.in_memory or not rows.weighted or (rows.weight > 0).all():
        return rows
    return rows.take(np.flatnonzero(rows.weight > 0))
