"""Which ratings to test on: any of them, or such as respect users and time."""

from __future__ import annotations

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array

WAYS = ("random", "user", "leave_one_out", "time", "user_time")


def check_split(test: float, by: str, times: Array | None) -> None:
    """Raise when ratings cannot be parted so."""
    if by not in WAYS:
        raise DataError(f"by must be 'random', 'user', 'leave_one_out', 'time' or 'user_time'; got {by!r}.")
    if not 0 < test < 1:
        raise DataError(f"test must lie between 0 and 1; got {test}.")
    if by in ("time", "user_time") and times is None:
        raise DataError(f"by={by!r} needs the times of the ratings.")


def held_out(users: Array, times: Array | None, test: float, by: str, rng: np.random.Generator) -> Array:
    """Return which ratings are held out, of ratings that lie by user."""
    n = len(users)
    lot = rng.random(n)
    if times is not None and by in ("time", "user_time", "leave_one_out"):
        order = np.lexsort((lot, times))
        lot = np.empty(n)
        lot[order] = -np.arange(n)  # the latest first
    held = np.zeros(n, dtype=bool)
    if by in ("random", "time"):
        held[np.argsort(lot, kind="stable")[: round(test * n)]] = True
        return held
    count = np.bincount(users)
    place = np.arange(n) - np.repeat(np.cumsum(count) - count, count)
    wanted = np.where(count > 1, 1, 0) if by == "leave_one_out" else np.floor(test * count + 0.5)
    held[np.lexsort((lot, users))] = place < wanted[users]
    return held
