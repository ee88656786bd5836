"""What a tree is grown for, row by row, and the limits that it keeps to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.loops.trees import ABSOLUTE, ENTROPIES, ENTROPY, ERROR, GINI, POISSON, SQUARED

Array = np.ndarray

CRITERIA = {
    "gini": GINI,
    "entropy": ENTROPY,
    "log_loss": ENTROPY,
    "error": ERROR,
    "squared_error": SQUARED,
    "friedman_mse": SQUARED,  # the same number: w_l w_r / (w_l + w_r) times the squared difference of means
    "poisson": POISSON,
    "absolute_error": ABSOLUTE,
    "entropies": ENTROPIES,  # the mean entropy of several columns of classes, from indicators
}
NO_LIMIT = 2**31 - 1
_NOTHING = np.zeros((1, 1))


class Problem(NamedTuple):
    """What the tree is to predict, row by row."""

    criterion: int
    n_stats: int  # classes, or outputs
    labels: Array  # (n,) int16
    target: Array  # (n, outputs) float64
    weight: Array  # (n,) float64, positive
    reps: Array  # (n,) float64


def repetitions(weight: Array) -> Array:
    """How many rows each row stands for: its weight where all weights are whole numbers, else one."""
    return weight if np.array_equal(weight, np.floor(weight)) else np.ones_like(weight)


def class_problem(criterion: str, codes: Array, n_classes: int, weight: Array, reps: Array) -> Problem:
    """Return the problem of telling classes apart."""
    labels = np.ascontiguousarray(codes, dtype=np.int16)
    return Problem(CRITERIA[criterion], n_classes, labels, _NOTHING, weight, reps)


def number_problem(criterion: str, y: Array, weight: Array, reps: Array) -> Problem:
    """Return the problem of predicting numbers; y is (n, outputs)."""
    target = np.ascontiguousarray(y, dtype=np.float64)
    labels = np.zeros(1, dtype=np.int16)
    return Problem(CRITERIA[criterion], target.shape[1], labels, target, weight, reps)


class Growth(NamedTuple):
    """Limits of growth, in numbers."""

    max_depth: int = NO_LIMIT
    max_features: int = NO_LIMIT
    max_leaf_nodes: int = 0  # 0: no limit, depth first
    min_samples_split: float = 2.0
    min_samples_leaf: float = 1.0
    min_weight_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    random: bool = False
    monotone: Array | None = None


def checked_signs(given: Any, d: int) -> Array | None:
    """Return monotone constraints as an array of one sign a column."""
    if given is None:
        return None
    signs = np.asarray(given)
    if signs.shape != (d,) or not np.isin(signs, (-1, 0, 1)).all():
        raise DataError(
            f"monotonic_cst must hold one of -1, 0, 1 for each of the {d} features; got {signs.tolist()}."
        )
    return signs.astype(np.int64)


def check_one_direction(signs: Any, rows: Any) -> None:
    """Refuse monotone constraints where no single number is predicted: several outputs, more than two classes."""
    if signs is None:
        return
    if np.ndim(rows.y) == 2 and rows.y.shape[1] > 1:
        raise DataError("monotonic_cst takes one output; fit one model per output.")
    if rows.classes is not None and len(rows.classes) > 2:
        raise DataError("monotonic_cst needs two classes: it speaks about the share of the second.")


def signs_by_name(signs: Any, rows: Any) -> Any:
    """Return monotone constraints given by the names of columns as one sign a column; others as they are."""
    if not isinstance(signs, dict):
        return signs
    names = [] if rows.feature_names is None else [str(name) for name in rows.feature_names]
    unknown = sorted(set(signs) - set(names))
    if unknown:
        raise DataError(
            f"monotonic_cst names {unknown}, and X has the columns {names}; a dict needs names of columns."
        )
    return [signs.get(name, 0) for name in names]


def positive(rows: Any) -> tuple[Array, Any, Array]:
    """Return X, y and weights of the rows that count."""
    weight = rows.weight
    keep = weight > 0
    if keep.all():
        return rows.X, rows.y, weight
    return rows.X[keep], rows.y[keep], weight[keep]
