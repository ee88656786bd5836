"""Distances between rows: all pairs, the nearest, the k nearest. Arrays in, arrays out; float32 or float64.

Products go through BLAS in blocks; an entry that cancellation would spoil is summed again directly, so a
distance is never negative and is exactly zero between equal rows. Sums are float64 whatever the input. NaN in
gives NaN out, except where the metric itself leaves missing entries out.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.threads import in_order
from gnomon.loops._compile import compiled
from gnomon.loops.edits import edit_table

__all__ = ["METRICS", "check_metric", "edit_table", "nearest_rows", "pairwise"]

BLOCK = 2**18  # distances computed by one task
STRIP = 256  # distances looked over at once
CANCELED = 1e-6  # a squared distance below this share of the squared norms is summed again

L1, LINF, LP, HAMMING, HAMMING_COUNT, NAN_EUCLIDEAN, OBSERVED = range(7)
CODES = {
    "manhattan": L1,
    "l1": L1,
    "cityblock": L1,
    "chebyshev": LINF,
    "linf": LINF,
    "minkowski": LP,
    "hamming": HAMMING,
    "hamming_count": HAMMING_COUNT,
    "nan_euclidean": NAN_EUCLIDEAN,
    "observed_euclidean": OBSERVED,  # over the present entries, not scaled up
}
PRODUCTS = ("euclidean", "l2", "sqeuclidean", "cosine", "correlation")  # through a matrix product
METRICS = sorted({*CODES, *PRODUCTS} - {"observed_euclidean"})


@compiled(fastmath=True)
def direct_square(x, y):
    """Σ_j (x_j − y_j)²."""
    total = 0.0
    for j in range(x.size):
        gap = np.float64(x[j]) - np.float64(y[j])
        total += gap * gap
    return total


@compiled
def mend(X, Y, xx, yy, D, root):
    """D holds −2x·y: add the squared norms, sum canceled entries again, take the root if asked."""
    for i in range(D.shape[0]):
        row, norm = D[i], xx[i]
        canceled = 0
        for j in range(row.size):  # free of branches, so that it is vectorized
            norms = norm + yy[j]
            d = row[j] + norms
            canceled += d <= CANCELED * norms
            row[j] = d
        if canceled > 0:
            for j in range(row.size):
                if row[j] <= CANCELED * (norm + yy[j]):
                    row[j] = direct_square(X[i], Y[j])
        if root:
            for j in range(row.size):
                row[j] = np.sqrt(row[j])


@compiled(fastmath=True)
def distance(x, y, code, p):
    """One distance between two rows, by its integer code."""
    total, seen = 0.0, 0
    for j in range(x.size):
        gap = abs(np.float64(x[j]) - np.float64(y[j]))
        if code == L1:
            total += gap
        elif code == LINF:
            total = gap if gap > total or np.isnan(gap) else total
        elif code == LP:
            total += gap**p
        elif code in (NAN_EUCLIDEAN, OBSERVED):
            if not np.isnan(gap):
                total += gap * gap
                seen += 1
        elif x[j] != y[j]:
            total += 1.0
    if code == LP:
        return total ** (1.0 / p)
    if code == HAMMING:
        return total / x.size
    if code == OBSERVED:
        return np.sqrt(total)
    if code == NAN_EUCLIDEAN:
        return np.sqrt(total * (x.size / seen)) if seen > 0 else np.nan
    return total


@compiled
def fill_distances(X, Y, code, p, D):
    """D[i, j] = distance(X[i], Y[j])."""
    for i in range(X.shape[0]):
        for j in range(Y.shape[0]):
            D[i, j] = distance(X[i], Y[j], code, p)


@compiled
def smallest(D, first, index, value):
    """Insert the columns of D, numbered from `first`, into ascending lists; ties keep the lower."""
    k = index.shape[1]
    for i in range(D.shape[0]):
        worst = value[i, k - 1]
        for start in range(0, D.shape[1], STRIP):
            row = D[i, start : start + STRIP]
            closer = 0
            for j in range(row.size):
                closer += row[j] < worst
            if closer == 0:  # nearly always, once the lists have filled
                continue
            for j in range(row.size):
                d = row[j]
                if d < worst:
                    at = k - 1
                    while at > 0 and value[i, at - 1] > d:
                        value[i, at] = value[i, at - 1]
                        index[i, at] = index[i, at - 1]
                        at -= 1
                    value[i, at] = d
                    index[i, at] = first + start + j
                    worst = value[i, k - 1]


class Prepared:
    """Rows made ready for a metric: as they are, normalized or centered; with their squared norms."""

    def __init__(self, X: Any, metric: str, shift: Any = None) -> None:
        self.X = np.ascontiguousarray(X)
        if metric in ("cosine", "correlation"):
            self.X = _directions(self.X, metric == "correlation")
        self.centered = self.norms = None
        if metric in PRODUCTS:
            self.shift = np.zeros(X.shape[1]) if metric in ("cosine", "correlation") else shift
            if self.shift is None:
                self.shift = self.X.mean(axis=0, dtype=np.float64)
            self.centered = self.X - self.shift
            self.norms = np.einsum("ij,ij->i", self.centered, self.centered)


def _directions(X: Any, center: bool) -> Any:
    """Rows of unit length; rows without a direction stay zero."""
    X = X.astype(np.float64)
    X = X / np.maximum(np.abs(X).max(axis=1, keepdims=True), np.finfo(float).tiny)
    if center:
        size = np.abs(X).max(axis=1, keepdims=True, initial=0.0)
        X = X - X.mean(axis=1, keepdims=True)
        X[np.abs(X).max(axis=1) <= 4e-16 * size.ravel()] = 0.0
    return X / np.maximum(np.sqrt((X * X).sum(axis=1, keepdims=True)), np.finfo(float).tiny)


def check_metric(metric: Any) -> None:
    """Raise with the nearest name when `metric` is not known."""
    if metric not in CODES and metric not in PRODUCTS:
        raise DataError(f"metric={metric!r} is not one of {METRICS}.{nearest(metric, METRICS)}")


def pairwise(X: Any, Y: Any, metric: str = "euclidean", p: float = 2.0, out: Any = None) -> Any:
    """Return the (n, m) distances between the rows of X and of Y in float64.

    >>> pairwise(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[5., 0.]])
    """
    check_metric(metric)
    D = np.empty((len(X), len(Y))) if out is None else out
    there = Prepared(Y, metric)

    def fill(block: tuple[int, int]) -> None:
        _fill(X[block[0] : block[1]], there, metric, p, D[block[0] : block[1]])

    for _ in in_order(fill, _blocks(len(X), len(Y))):
        pass
    return D


def _blocks(n: int, width: int) -> Iterator[tuple[int, int]]:
    step = max(16, BLOCK // max(1, width))
    return ((a, min(a + step, n)) for a in range(0, n, step))


def _fill(X: Any, there: Prepared, metric: str, p: float, D: Any) -> None:
    """Fill one block of distances."""
    if X.shape[1] != there.X.shape[1]:
        raise DataError(f"rows of {X.shape[1]} columns have no distance to rows of {there.X.shape[1]}.")
    if metric in CODES:
        fill_distances(np.ascontiguousarray(X), there.X, CODES[metric], float(p), D)
        return
    here = Prepared(X, metric, there.shift)
    exact = D if D.dtype == np.float64 and D.flags.c_contiguous else np.empty(D.shape)
    np.matmul(-2.0 * here.centered, there.centered.T, out=exact)
    mend(here.X, there.X, here.norms, there.norms, exact, metric in ("euclidean", "l2"))
    if metric in ("cosine", "correlation"):
        exact *= 0.5  # 1 − cos = ½‖u − v‖² of unit vectors
        _without_direction(here, there, exact)
    if exact is not D:
        D[...] = exact


def _without_direction(here: Prepared, there: Prepared, D: Any) -> None:
    """A row without a direction is at distance 1 from all but its like."""
    zero, other = here.norms == 0, there.norms == 0
    if zero.any() or other.any():
        D[zero[:, None] != other[None, :]] = 1.0
        D[np.ix_(zero, other)] = 0.0


def nearest_rows(X: Any, Y: Any, k: int = 1, metric: str = "euclidean", p: float = 2.0) -> tuple[Any, Any]:
    """Return indices and distances of the k rows of Y nearest to every row of X, ascending.

    Ties go to the lower index. The n×m distances are never held at once.
    """
    check_metric(metric)
    if not 1 <= k <= len(Y):
        raise DataError(f"k={k} must be between 1 and the number of rows to choose from, {len(Y)}.")
    there = Prepared(Y, metric)
    squared = "sqeuclidean" if metric in ("euclidean", "l2") else metric

    def search(block: tuple[int, int]) -> tuple[Any, Any]:
        D = np.empty((block[1] - block[0], len(Y)))
        _fill(X[block[0] : block[1]], there, squared, p, D)
        index, value = np.zeros((len(D), k), dtype=np.int64), np.full((len(D), k), np.inf)
        smallest(D, 0, index, value)
        return index, value

    found = list(in_order(search, _blocks(len(X), len(Y))))
    index, value = (np.concatenate(part) for part in zip(*found, strict=True))
    return index, np.sqrt(value) if squared != metric else value
