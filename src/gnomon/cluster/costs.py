"""What a clustering costs, and the cells of its centers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import matrix, weights
from gnomon.loops.distances import pairwise


class Distortion(NamedTuple):
    """Cost of every cluster, and their sum (for diameters the largest)."""

    clusters: Array
    total: float


def distortion(
    X: Any, labels: Any, kind: str = "centroid", *, metric: str = "sqeuclidean", sample_weight: Any = None
) -> Distortion:
    r"""Return how spread out clusters are.

    "centroid": :math:`\sum_{i\in C}w_i\lVert x_i-\bar x\rVert^2`, or the summed distance to the medoid for
    another metric. "pairwise": the sum over unordered pairs. "diameter": the largest distance inside. For
    squared distances the pairwise sum is :math:`|C|` times the centroid cost.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    labels : array of shape (n_samples,)
    kind : {"centroid", "pairwise", "diameter"}
    metric : str, default="sqeuclidean"
    sample_weight : array of shape (n_samples,), optional

    Examples
    --------
    >>> distortion([[0.0], [1.0], [3.0]], [0, 0, 0], "pairwise", metric="euclidean").total
    6.0
    """
    X = matrix(X)
    weight = np.ones(len(X)) if sample_weight is None else weights(sample_weight, len(X))
    names, labels = np.unique(labels, return_inverse=True)
    if len(labels) != len(X):
        raise DataError(f"labels has {len(labels)} entries for {len(X)} rows.")
    if kind not in ("centroid", "pairwise", "diameter"):
        raise DataError(f"kind={kind!r} is not one of centroid, pairwise, diameter.")
    costs = np.array([_cost(X[labels == k], weight[labels == k], kind, metric) for k in range(len(names))])
    return Distortion(costs, float(costs.max() if kind == "diameter" else costs.sum()))


def _cost(X: Array, weight: Array, kind: str, metric: str) -> float:
    if kind == "centroid" and metric == "sqeuclidean":
        center = weight @ X / weight.sum()
        return float(weight @ ((X - center) ** 2).sum(axis=1))
    D = pairwise(X, X, metric)
    if kind == "centroid":
        return float((D @ weight).min())
    if kind == "pairwise":
        return float(weight @ D @ weight / 2)
    return float(D[np.ix_(weight > 0, weight > 0)].max(initial=0.0))


def voronoi_cells(centers: Any, box: Any) -> list[Array]:
    """Return the polygon of points nearer to each center than to any other, clipped to a box.

    Parameters
    ----------
    centers : array of shape (k, 2)
    box : (x_low, x_high, y_low, y_high)

    Returns
    -------
    list of k arrays of shape (corners, 2)
        Counter-clockwise; empty where a cell misses the box.

    Examples
    --------
    >>> voronoi_cells([[0.0, 0.0], [2.0, 0.0]], (-1, 3, -1, 1))[0]
    array([[-1., -1.],
           [ 1., -1.],
           [ 1.,  1.],
           [-1.,  1.]])
    """
    centers = matrix(centers, name="centers")
    if centers.shape[1] != 2:
        raise DataError(f"cells are drawn in the plane; the centers have {centers.shape[1]} columns.")
    a, b, c, d = (float(side) for side in box)
    frame = np.array([[a, c], [b, c], [b, d], [a, d]])
    cells = []
    for k, center in enumerate(centers):
        cell = frame
        for other in np.delete(centers, k, axis=0):
            if not np.array_equal(other, center):
                cell = _clip(cell, other - center, (other @ other - center @ center) / 2)
        cells.append(cell)
    return cells


def _clip(cell: Array, normal: Array, offset: float) -> Array:
    """Keep the part of a convex polygon where normal·x ≤ offset."""
    if len(cell) == 0:
        return cell
    side = cell @ normal - offset
    kept = []
    for i in range(len(cell)):
        j = (i + 1) % len(cell)
        if side[i] <= 0:
            kept.append(cell[i])
        if (side[i] < 0 < side[j]) or (side[j] < 0 < side[i]):
            share = side[i] / (side[i] - side[j])
            kept.append(cell[i] + share * (cell[j] - cell[i]))
    return np.array(kept).reshape(-1, 2)
