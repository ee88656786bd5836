"""Sums: the one place where statistics of the rows are added up.

Nearly every learner touches its data through a sum over rows. That sum is a function
``partial(chunk, *state)`` that returns a NamedTuple of arrays; `total` adds it over the chunks in fixed
order: of arrays on the thread pool, of Parquet files as they are read, of Dask collections where they lie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

from gnomon.core.rows import Chunk, Rows, join

__all__ = ["Chunk", "merge", "per_row", "total", "total_weight"]


def total(partial: Callable[..., Any], rows: Rows, *state: Any) -> Any:
    """Return Σ partial(chunk, *state) over the chunks of `rows`.

    Parameters
    ----------
    partial : function at module level
        Takes a `Chunk` and the state; returns a NamedTuple of arrays and numbers. They are added field by
        field, unless the type has a method ``merge(other)`` of its own (centered moments, samples).
    rows : Rows
        What ``Estimator._read`` returned.
    *state : arrays, numbers, NamedTuples
        The same for every chunk. Dask sends it to the workers, so it should be small.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.core.rows import MemoryRows
    >>> total(lambda chunk: chunk.X.sum(axis=0), MemoryRows(np.ones((5000, 2))))
    array([5000., 5000.])
    """
    return rows.gather(partial, state, add_up)


def total_weight(rows: Rows) -> float:
    """Return the sum of the weights; it is added up once and remembered with the rows."""
    if rows.known_weight is None:
        rows.known_weight = float(total(_weight, rows)) if rows.weighted else float(rows.n_rows)
    return rows.known_weight


def _weight(chunk: Chunk) -> Any:
    return chunk.weight.sum()


def per_row(function: Callable[..., Any], rows: Rows, *state: Any) -> Any:
    """Return ``function(chunk, *state)`` of all chunks, one below the other: predictions, labels, scores."""
    return rows.gather(function, state, join)


def add_up(parts: Iterable[Any]) -> Any:
    """Merge statistics from first to last."""
    return reduce(merge, parts)


def merge(a: Any, b: Any) -> Any:
    """Add two statistics: by their own `merge`, field by field, or as arrays.

    >>> merge((1, None), (2, None))
    (3, None)
    """
    if hasattr(a, "merge"):
        return a.merge(b)
    if isinstance(a, tuple):
        fields = [merge(x, y) for x, y in zip(a, b, strict=True)]
        return type(a)(*fields) if hasattr(a, "_fields") else tuple(fields)
    return None if a is None else a + b
