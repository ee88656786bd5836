"""What a metric asks of rows: how they are prepared, how columns add up, how the sum becomes a distance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial import distance as scipy_distances
from sklearn.metrics import DistanceMetric

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.loops.distances import (
    CODES,
    HAMMING,
    L1,
    LINF,
    LP,
    METRICS,
    NAN_EUCLIDEAN,
)
from gnomon.loops.space_trees import SQUARES
from gnomon.neighbors.distances import whitener

EUCLIDEAN = ("euclidean", "l2", "sqeuclidean")
ON_BLOCKS = (
    "braycurtis",
    "canberra",
    "dice",
    "jaccard",
    "rogerstanimoto",
    "russellrao",
    "sokalsneath",
    "yule",
)
SEQUENCES = ("edit", "levenshtein")
PROBES = 12  # rows among which a function of the user is tried
NO_TRIANGLES = (  # a detour may be shorter: nothing can be left out by the triangle inequality
    "braycurtis",
    "correlation",
    "cosine",
    "dice",
    "nan_euclidean",
    "russellrao",
    "sokalsneath",
    "sqeuclidean",
    "yule",
)
NAMES = sorted(
    {*METRICS, *ON_BLOCKS, *SEQUENCES, "haversine", "mahalanobis", "seuclidean", "matching", "precomputed"}
)


class Metric(NamedTuple):
    """A metric with everything it needs."""

    name: str
    kind: str  # "products", "columns" (sums over columns), "blocks", "edit" or "precomputed"
    code: int = SQUARES  # how columns add up
    p: float = 2.0
    whiten: Array | None = None  # what rows are multiplied by first
    center: Array | None = None  # what is taken from them before that, so that a common shift costs no digits
    weights: Array | None = None  # of columns
    function: Any = None  # of two rows, for a metric of the user
    unit: float = (
        1.0  # a power of two by which rows are multiplied, so that powers of differences stay floats
    )
    params: dict[str, Any] = {}

    @property
    def trees(self) -> bool:
        """Whether boxes and balls bound it."""
        return self.kind == "products" or (self.kind == "columns" and self.code in (L1, LINF, LP, SQUARES))

    def prepare(self, X: Array) -> Array:
        """Return rows whose plain sums over columns are the distances; sparse ones become dense."""
        if sparse.issparse(X):
            X = X.toarray()
        if self.name in ("cosine", "correlation"):
            return directions(X, self.name == "correlation")
        if self.whiten is not None:
            X = X if self.center is None else X - self.center
            return np.ascontiguousarray(X @ self.whiten if self.whiten.ndim == 2 else X * self.whiten)
        return np.ascontiguousarray(X if self.unit == 1.0 else X * X.dtype.type(self.unit))

    def finish(self, sums: Array, width: int) -> Array:
        """Return the distances of sums over columns."""
        if self.name in ("cosine", "correlation"):
            return 0.5 * sums
        if self.name == "sqeuclidean":
            return sums / self.unit / self.unit
        if self.code in (SQUARES, NAN_EUCLIDEAN):
            return np.sqrt(sums) / self.unit
        if self.code == LP:
            return sums ** (1.0 / self.p) / self.unit
        return sums / width if self.code == HAMMING else sums

    def reach(self, radius: float, width: int) -> float:
        """Return a sum over columns that no distance up to `radius` exceeds; hardly more than needed."""
        more = radius * (1.0 + 1e-12)
        if self.name in ("cosine", "correlation"):
            return 2.0 * more
        if self.name == "sqeuclidean":
            return more * self.unit * self.unit
        if self.code in (SQUARES, NAN_EUCLIDEAN):
            return float(np.float64(more * self.unit) ** 2)
        if self.code == LP:
            return float(np.float64(more * self.unit) ** self.p)
        return more * width if self.code == HAMMING else more


def directions(X: Array, center: bool) -> Array:
    """Return rows of unit length; a row without direction is put on an axis of its own, so that half the
    squared distance is one minus the cosine, and one to every row that has a direction.
    """
    from gnomon.loops.distances import _directions

    unit = _directions(np.asarray(X), center)
    return np.column_stack([unit, ~unit.any(axis=1)])


def resolve(metric: Any, p: float, params: dict[str, Any] | None, X: Any) -> Metric:
    """Return the metric by its name, p and further arguments; what it must learn it learns from X."""
    params = dict(params or {})
    if callable(metric):
        return Metric("callable", "blocks", function=metric, params=params)
    if isinstance(metric, DistanceMetric):
        return Metric("object", "blocks", function=metric, params=_only(params, "an object"))
    if metric in SEQUENCES:
        return Metric("edit", "edit", params=params)
    if metric == "precomputed":
        return Metric("precomputed", "precomputed")
    if metric in ("cosine", "correlation"):
        return Metric(metric, "products", params=_only(params, metric))
    if metric in EUCLIDEAN:
        _only(params, metric)
        return Metric({"l2": "euclidean"}.get(metric, metric), "products", unit=unit_of(X, 2.0))
    if metric in ("mahalanobis", "seuclidean"):
        _only(params, metric, "V", "VI")
        rows = X.toarray() if sparse.issparse(X) else X
        center = rows.mean(axis=0, dtype=np.float64)
        return Metric("euclidean", "products", whiten=whitener(rows, metric, **params), center=center)
    if metric == "minkowski":
        return _minkowski(params, p, X)
    if metric in CODES:
        _only(params, metric)
        return Metric(metric, "columns", CODES[metric], p)
    if metric in ON_BLOCKS or metric == "haversine":
        return Metric(metric, "blocks", function=metric, params=params)
    if metric == "matching":
        return Metric("hamming", "columns", HAMMING)
    raise DataError(f"metric={metric!r} is not one of {NAMES}.{nearest(metric, NAMES)}")


def unit_of(X: Any, p: float) -> float:
    """Return the power of two that brings the widest column to a width whose p-th power is a float, where it is none;
    1 else. Multiplying by it is exact.
    """
    if sparse.issparse(X) or np.isinf(p) or p == 1:
        return 1.0
    some = X[:: max(1, len(X) // 1024)]
    with np.errstate(all="ignore"):
        width = float(np.max(some.max(axis=0).astype(np.float64) - some.min(axis=0), initial=0.0))
    if not 0 < width < np.inf or abs(np.log2(width)) * p < 400:
        return 1.0
    # a high power leaves little room; three fifths of it are below the widest difference
    high = 600 // p if p > 2 else 0
    return float(2.0 ** np.clip(high - np.frexp(width)[1], -1000, 1000))


def _minkowski(params: dict[str, Any], p: float, X: Any) -> Metric:
    _only(params, "minkowski", "p", "w")
    p = float(params.get("p", p))
    if not p >= 1:
        raise DataError(f"p={p:g} must be at least 1: below it the triangle inequality fails.")
    w = params.get("w")
    scale = None if w is None else np.asarray(w, dtype=np.float64)
    if scale is not None and (scale < 0).any():
        raise DataError(f"metric_params: w must not be negative; its smallest entry is {scale.min()}.")
    if scale is not None:
        scale = (scale > 0) * 1.0 if np.isinf(p) else scale ** (1.0 / p)
    unit = unit_of(X, p) if scale is None else 1.0
    if p == 2:
        return Metric("euclidean", "products", whiten=scale, unit=unit)
    code = {1.0: L1, np.inf: LINF}.get(p, LP)
    return Metric("minkowski", "columns", code, p, whiten=scale, unit=unit)


def _only(params: dict[str, Any], metric: str, *known: str) -> dict[str, Any]:
    strange = sorted(set(params) - set(known))
    if strange:
        raise DataError(f"metric={metric!r} takes no {strange} in metric_params.")
    return params


def block_distances(metric: Metric, Q: Any, X: Any) -> Array:
    """Return the distances of every row of Q to every row of X under a metric that is no sum over columns."""
    if metric.name == "callable":
        Q, X = _each_row(Q), _each_row(X)
        table = [[metric.function(a, b, **metric.params) for b in X] for a in Q]
        return np.asarray(table, dtype=np.float64).reshape(len(Q), len(X))
    if metric.name == "object":
        rows = [
            np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64) for part in (Q, X)
        ]
        return np.asarray(metric.function.pairwise(*rows), dtype=np.float64)
    if metric.name == "haversine":
        return _haversine(np.asarray(Q, dtype=np.float64), np.asarray(X, dtype=np.float64))
    if metric.name in ("braycurtis", "canberra"):
        return scipy_distances.cdist(Q, X, metric.name, **metric.params)
    return scipy_distances.cdist(np.asarray(Q) != 0, np.asarray(X) != 0, metric.name, **metric.params)


def _each_row(X: Any) -> Any:
    """Return what a function of two rows is called with: rows, or sparse matrices of one row."""
    return [X[i : i + 1] for i in range(X.shape[0])] if sparse.issparse(X) else X


def _haversine(Q: Array, X: Array) -> Array:
    """Great-circle angle of two points given as latitude and longitude in radians."""
    if Q.shape[1] != 2:
        raise DataError(
            "Haversine distance only valid in 2 dimensions, latitude and longitude in radians; "
            f"X has {Q.shape[1]} columns."
        )
    half = np.sin(0.5 * (Q[:, None, :] - X[None, :, :])) ** 2
    root = half[..., 0] + np.cos(Q[:, None, 0]) * np.cos(X[None, :, 0]) * half[..., 1]
    return 2.0 * np.arcsin(np.sqrt(np.minimum(root, 1.0)))


def has_triangles(metric: Metric, X: Any) -> bool:
    """Say whether a function of the user is symmetric and keeps the triangle inequality among a few of the rows."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    some = [X[i] for i in np.unique(np.linspace(0, n - 1, PROBES).astype(int))]
    D = block_distances(metric, some, some)
    slack = 1e-9 * np.abs(D).max(initial=0.0)
    detours = (D[:, :, None] + D[None, :, :]).min(axis=1)
    return bool(np.abs(D - D.T).max(initial=0.0) <= slack and (D <= detours + slack).all())
