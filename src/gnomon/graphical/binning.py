"""Numbers put into bins of about equal counts, so that they can be states."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array


def _numbers(X: Any) -> dict[Any, Array] | None:
    """Return the columns of numbers of a frame or matrix by name or place; None for anything else."""
    if isinstance(X, np.ndarray):
        if X.ndim != 2 or X.dtype.kind not in "iuf":
            return None
        return {j: X[:, j].astype(np.float64) for j in range(X.shape[1])}
    if not hasattr(X, "columns") or not hasattr(X, "__len__"):
        return None
    found = {}
    for name in X.columns:
        values = np.asarray(X[name].to_numpy()) if hasattr(X[name], "to_numpy") else np.zeros(0, dtype=object)
        if values.dtype.kind in "iuf":
            found[name] = values.astype(np.float64)
    return found


def _as_matrix(X: Any) -> Any:
    """Return lists of numbers as a matrix, and anything else as it is."""
    if isinstance(X, list) and X and isinstance(X[0], list | tuple):
        try:
            matrix = np.array(X)
        except ValueError:  # rows of different lengths: whoever reads them says so
            return X
        return matrix if matrix.ndim == 2 and matrix.dtype.kind in "iuf" else X
    return X


def bin_edges(X: Any, n_bins: int, weight: Any = None) -> dict[str, Array]:
    """Return the inner edges of the bins of every column with more than `n_bins` different numbers.

    Edges are weighted quantiles, so that a weight of two is the row twice.
    """
    found = {}
    for name, column in (_numbers(_as_matrix(X)) or {}).items():
        share = np.ones(len(column)) if weight is None else np.asarray(weight, dtype=np.float64)
        if share.shape != column.shape:
            return {}  # a weight of the wrong length is an error of whoever reads the data
        seen = np.isfinite(column) & (share > 0)
        values, place = np.unique(column[seen], return_inverse=True)
        if len(values) > n_bins:
            mass = np.cumsum(np.bincount(place.ravel(), share[seen], len(values)))
            cuts = np.searchsorted(mass, mass[-1] * np.arange(1, n_bins) / n_bins * (1 - 1e-12))
            cuts = np.unique(np.minimum(cuts, len(values) - 2))
            found[str(name)] = 0.5 * values[cuts] + 0.5 * values[cuts + 1]
    return found


def put_into_bins(X: Any, edges: dict[str, Array]) -> Any:
    """Return X with the numbers of the named columns replaced by those of their bins; missing cells stay missing."""
    X = _as_matrix(X) if edges else X
    columns = _numbers(X) if edges else None
    if not columns:
        return X
    binned = {}
    for name, column in columns.items():
        if str(name) in edges:
            numbers = np.searchsorted(edges[str(name)], column, side="left").astype(np.float64)
            binned[name] = np.where(np.isfinite(column), numbers, column)
    if isinstance(X, np.ndarray):
        return np.column_stack([binned.get(j, column) for j, column in columns.items()])
    if type(X).__module__.partition(".")[0] == "polars":
        import polars as pl

        return X.with_columns(*(pl.Series(name, values, nan_to_null=True) for name, values in binned.items()))
    return X.assign(**binned) if all(isinstance(name, str) for name in binned) else _assigned(X, binned)


def _assigned(X: Any, binned: dict[Any, Array]) -> Any:
    X = X.copy()
    for name, values in binned.items():
        X[name] = values
    return X
