"""Columns far from zero, moved there for a fit: slopes do not depend on where zero lies, and rounding must not.

A column of timestamps (1.7e9, give or take a day) leaves a solver nothing but its offset to see. Where the intercept
is free the model on moved columns is the same model: w stays, and b takes up w·center.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.rows import CHUNK_BYTES, MemoryRows
from gnomon.core.sums import total

FAR = 30.0  # spreads that a column may lie away from zero
LARGE = 2**20  # entries from which a pass is work for several threads, and a look at some rows comes first
SOME = 64  # rows of that look


class CentersColumns:
    """A linear learner whose intercept is free; columns that lie far from zero are moved there for its fit."""

    def _intercept_is_free(self) -> bool:
        return bool(self.fit_intercept)

    def _learn(self, data: Any, **given: Any) -> Any:
        return super()._learn(self._near_zero(data), **given)

    def _iterate(self, data: Any) -> Iterator[Any]:
        yield from super()._iterate(self._near_zero(data))

    def _near_zero(self, data: Any) -> Any:
        going_on = getattr(self, "warm_start", False) and self.__sklearn_is_fitted__()
        return near_zero(data) if self._intercept_is_free() and not going_on else data

    def _keep(self, run: Any, data: Any) -> None:
        self._adopt(moved_back(self._learned(run), getattr(data, "center", None)), data)


def near_zero(rows: Any) -> Any:
    """Return rows whose columns lie near zero, with what was taken off as `center`; most rows come back as they are."""
    if not rows.in_memory or rows.sparse or rows.n_rows == 0:
        return rows
    if rows.n_rows * rows.n_features >= LARGE and _near_by_some(rows.unchecked().X):
        return rows
    low, high = (end.astype(np.float64) for end in _ends_of(rows))
    middle = 0.5 * low + 0.5 * high
    center = np.where((np.abs(middle) > FAR * (high - low)) & (high > low), middle, 0.0)
    if not center.any():
        return rows
    X = np.asarray(rows.X, dtype=np.float64) - center
    moved = MemoryRows(X, rows.y, rows._weight, feature_names=rows.feature_names, classes=rows.classes)
    moved.center = center
    for name, value in rows._beside().items():
        setattr(moved, name, value)
    return moved


def _near_by_some(X: Array) -> bool:
    """Tell whether some rows prove that no column is far: all rows spread as much at least, and their middle is at most
    half of their spread away from any entry.
    """
    some = X[:: len(X) // SOME + 1].astype(np.float64)
    spread = some.max(axis=0) - some.min(axis=0)
    return bool((np.abs(some).min(axis=0) <= (FAR - 1.0) * spread).all())


class _Ends(NamedTuple):
    """The smallest and the largest entry of every column."""

    low: Array
    high: Array

    def merge(self, other: _Ends) -> _Ends:
        return _Ends(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


def _ends_of(rows: MemoryRows) -> _Ends:
    """Return the ends of all columns; of large data in one pass, and where they are finite all entries are."""
    if rows.n_rows * rows.n_features < LARGE:
        return _ends(rows.X)
    found = total(lambda chunk: _ends(chunk.X), rows.unchecked().in_chunks_of(CHUNK_BYTES, least=1))
    if not np.isfinite(found).all():
        return _ends(rows.X)
    rows._check = None
    return found


def _ends(X: Array) -> _Ends:
    return _Ends(X.min(axis=0), X.max(axis=0))


def moved_back(found: dict[str, Any], center: Array | None) -> dict[str, Any]:
    """Return what was learned on moved columns as it is on the given ones."""
    if center is None or "coef_" not in found:
        return found
    coef = np.asarray(found["coef_"])
    shift = coef @ center
    intercept = np.asarray(found["intercept_"]) - (shift if coef.ndim > 1 or np.ndim(found["intercept_"]) == 0 else
                                                   np.atleast_1d(shift))  # fmt: skip
    found = {**found, "intercept_": float(intercept) if np.ndim(found["intercept_"]) == 0 else intercept}
    if "intercept_interval_" in found:
        found["intercept_interval_"] = tuple(
            end - float(np.ravel(shift)[0]) for end in found["intercept_interval_"]
        )
    if "covariance_" in found:
        back = np.eye(len(center) + 1)
        back[-1, :-1] = -center
        found["covariance_"] = back @ found["covariance_"] @ back.T
    if "standard_errors_" in found and "covariance_" in found:
        found["standard_errors_"] = np.sqrt(np.maximum(np.diagonal(found["covariance_"]), 0.0))
    return found
