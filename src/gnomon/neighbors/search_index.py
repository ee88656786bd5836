"""Search indexes: built once from the rows, asked for the nearest rows or for all within a radius.

Every kind gives the same answer: distances ascending, of equal ones the lower row first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.linalg import Array
from gnomon.neighbors.metrics import Metric

QUERIES = 256  # rows of a task


class Found(NamedTuple):
    """What lies within a radius: the rows of query i are those from ends[i] to ends[i + 1]."""

    ends: Array
    distances: Array
    rows: Array


class Index:
    """What every index has."""

    n_rows: int
    rows: Any  # as the metric prepared them
    metric: Metric

    def nearest(self, Q: Any, k: int, *, prepared: bool = False) -> tuple[Array, Array]:
        """Return the distances and the rows of the k nearest to every query; `prepared`: they are `rows`."""
        raise NotImplementedError

    def within(self, Q: Any, radius: float, *, prepared: bool = False) -> Found:
        """Return all rows at most `radius` away, for each query in the order of the rows."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise `ModelFileError` when arrays from a file are impossible."""


def tasks(n: int, size: int = QUERIES) -> Iterator[slice]:
    """Return the rows of every task."""
    return (slice(begin, min(begin + size, n)) for begin in range(0, n, size))


def stacked(parts: Any, k: int) -> tuple[Array, Array]:
    """Return distances and rows of all tasks, one below the other."""
    values, rows = zip(*parts, strict=True)
    return np.concatenate(values).reshape(-1, k), np.concatenate(rows).reshape(-1, k)


def joined(parts: Any) -> Found:
    """Return what all tasks found within a radius."""
    counts, labels, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Found(np.concatenate([[0], np.cumsum(counts)]), values, labels)


def closed(found: Found, radius: float) -> Found:
    """Drop what rounding let in beyond the radius, and put the rows of every query in order."""
    query = np.repeat(np.arange(len(found.ends) - 1), np.diff(found.ends))
    order = np.lexsort((found.rows, query))
    order = order[found.distances[order] <= radius]
    counts = np.bincount(query[order], minlength=len(found.ends) - 1)
    ends = np.concatenate([[0], np.cumsum(counts)])
    return Found(ends, found.distances[order], found.rows[order])


def len_of(X: Any) -> int:
    """Return how many rows there are."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
