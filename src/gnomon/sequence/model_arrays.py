"""Arrays of a state-space model: with or without a time axis, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array


def stack(value: Any, default: Array, name: str, T: int | None, early: bool) -> Array:
    """Return an array with a leading time axis; `early` arrays of length T − 1 begin with the second row."""
    if value is None:
        return default[None]
    found = np.asarray(value, dtype=np.float64)
    if not np.isfinite(found).all():
        raise DataError(f"{name} must be finite.")
    shape = default.shape
    if found.ndim < len(shape) and found.size == default.size:
        found = found.reshape(shape)
    if found.shape == shape:
        return np.ascontiguousarray(found[None])
    if T is not None and found.shape[1:] == shape and len(found) == T - 1 and early:
        found = np.concatenate([found[:1], found])
    if T is None or found.shape != (T, *shape):
        raise DataError(
            f"{name} must have shape {shape}, or that for each of the {T} rows; got {np.shape(value)}."
        )
    return np.ascontiguousarray(found)


def check_semidefinite(M: Array, name: str) -> None:
    """Refuse covariances that are not symmetric or have a negative eigenvalue."""
    if not np.allclose(M, np.swapaxes(M, -1, -2), rtol=1e-8, atol=1e-10):
        raise DataError(f"{name} must be symmetric.")
    smallest = float(np.linalg.eigvalsh(M).min())
    if smallest < -1e-8 * max(1.0, float(np.abs(M).max())):
        raise DataError(f"{name} must be positive semidefinite; its smallest eigenvalue is {smallest:.3g}.")
