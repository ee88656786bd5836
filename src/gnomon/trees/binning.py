"""Columns as bytes: at most 255 bins of equal weight, one code for missing values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.randomness import stream
from gnomon.core.threads import in_order, shared
from gnomon.loops.bins import code_rows
from gnomon.loops.trees import MISSING_CODE

Array = np.ndarray
SAMPLE = 200_000  # rows that decide where the bins end
CACHED = 2**16  # numbers that are coded while they lie in the cache


class Bins(NamedTuple):
    """Borders of the bins of every column."""

    edges: Array  # (d, 255) upper border of every bin, +inf from the last on
    lows: Array  # (d, 256) smallest value of every bin
    highs: Array  # (d, 256) largest value of every bin
    n_bins: Array  # (d,) int64
    categories: Array  # (d,) int64


def find_bins(X: Array, max_bins: int, categories: Array, weight: Array | None = None) -> Bins:
    """Cut every column: one bin per value where there are few, else bins of about equal weight.

    Above 200 000 rows the borders come from a sample of that many rows.
    """
    d = X.shape[1]
    bins = Bins(
        np.full((d, 255), np.inf), np.zeros((d, 256)), np.zeros((d, 256)), np.ones(d, np.int64), categories
    )
    rows = slice(None)
    if len(X) > SAMPLE:
        rows = np.sort(stream(0, len(X)).choice(len(X), SAMPLE, replace=False, shuffle=False))
    w = None if weight is None or (weight[0] == weight).all() else weight[rows]

    def one(f: int) -> None:
        if categories[f] > 0:
            _category_bins(bins, f, max_bins)
        else:
            _value_bins(bins, f, np.asarray(X[rows, f], dtype=np.float64), w, max_bins)

    list(in_order(one, range(d)))
    return bins


def _category_bins(bins: Bins, f: int, max_bins: int) -> None:
    n = int(bins.categories[f])
    if n > max_bins:
        raise DataError(f"feature {f} has {n} categories; at most max_bins={max_bins} can be coded.")
    codes = np.arange(256.0)
    bins.edges[f, : n - 1] = codes[: n - 1] + 0.5
    bins.lows[f], bins.highs[f], bins.n_bins[f] = codes, codes, n


def _value_bins(bins: Bins, f: int, x: Array, w: Array | None, max_bins: int) -> None:
    values, weight = _distinct(x, w)
    if len(values) == 0:
        return
    last = np.arange(len(values))  # index of the last value of every bin
    if len(values) > max_bins:
        cumulated = np.cumsum(weight)
        targets = cumulated[-1] * np.arange(1, max_bins) / max_bins
        last = np.unique(np.append(np.searchsorted(cumulated, targets * (1 - 1e-12)), len(values) - 1))
    first = np.append(0, last[:-1] + 1)
    n = len(last)
    bins.lows[f, :n], bins.highs[f, :n], bins.n_bins[f] = values[first], values[last], n
    middle = values[last[:-1]] + (values[first[1:]] - values[last[:-1]]) / 2
    bins.edges[f, : n - 1] = np.where(middle < values[first[1:]], middle, values[last[:-1]])


def _distinct(x: Array, w: Array | None) -> tuple[Array, Array]:
    """Distinct finite values and the weight of each."""
    keep = ~np.isnan(x)
    if not keep.all():
        x, w = x[keep], None if w is None else w[keep]
    if w is None:
        x = np.sort(x)
        starts = np.flatnonzero(np.append(True, x[1:] != x[:-1])) if len(x) else np.zeros(0, int)
        return x[starts], np.diff(np.append(starts, len(x))).astype(np.float64)
    order = np.argsort(x, kind="stable")
    x, w = x[order], w[order]
    starts = np.flatnonzero(np.append(True, x[1:] != x[:-1])) if len(x) else np.zeros(0, int)
    return x[starts], np.add.reduceat(w, starts) if len(x) else w


def bin_columns(X: Array, bins: Bins) -> Array:
    """Return the codes of X, (features, rows) uint8; 255 stands for missing or unseen."""
    n, d = X.shape
    codes, step = np.empty((d, n), dtype=np.uint8), max(256, CACHED // max(1, d))

    def code(first: int) -> None:
        block = np.ascontiguousarray(X[first : first + step])
        code_rows(block, bins.edges, bins.categories, first, codes)

    shared(code, range(0, n, step))
    return codes


__all__ = ["MISSING_CODE", "Bins", "bin_columns", "find_bins"]
