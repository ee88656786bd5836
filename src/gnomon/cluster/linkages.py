"""Agglomerative linkage and what can be read off its tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.threads import in_order
from gnomon.core.validate import matrix, weights
from gnomon.loops import linkage as loops
from gnomon.loops import linkage_centers as centers
from gnomon.loops.distances import pairwise

METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
LOOK_ROWS = 256  # rows that one thread takes at a time
TOO_FAR = "some distances are not finite; scale the columns, or mend the matrix."
EUCLIDEAN = ("centroid", "median", "ward")  # squared inside; heights are roots again
CODES = {
    "complete": loops.COMPLETE,
    "average": loops.AVERAGE,
    "weighted": loops.WEIGHTED,
    "ward": loops.WARD,
    "centroid": loops.CENTROID,
    "median": loops.MEDIAN,
}


def linkage(X: Any, method: str = "single", metric: Any = "euclidean", *, sample_weight: Any = None) -> Array:
    r"""Merge the closest clusters until one is left; return the tree in SciPy's layout.

    Distances to a union follow from those to its parts (Lance and Williams):

    ========  ==========================================================================================
    single    :math:`\min(d_{ki}, d_{kj})`
    complete  :math:`\max(d_{ki}, d_{kj})`
    average   :math:`(n_id_{ki} + n_jd_{kj})/(n_i+n_j)`
    weighted  :math:`(d_{ki} + d_{kj})/2`
    centroid  :math:`d^2 = \frac{n_i}{n}d_{ki}^2+\frac{n_j}{n}d_{kj}^2-\frac{n_in_j}{n^2}d_{ij}^2`
    median    :math:`d^2 = \frac12d_{ki}^2+\frac12d_{kj}^2-\frac14d_{ij}^2`
    ward      :math:`d^2 = \frac{(n_i+n_k)d_{ki}^2+(n_j+n_k)d_{kj}^2-n_kd_{ij}^2}{n_i+n_j+n_k}`
    ========  ==========================================================================================

    Single linkage follows chains, complete linkage makes compact clusters, average lies between; Ward's
    height is :math:`\sqrt{2\Delta SSE}`. Centroid and median linkage may invert: a merge below an earlier
    one.

    Parameters
    ----------
    X : array of shape (n_samples, n_features), or distances
        Rows; with ``metric="precomputed"`` a square matrix or SciPy's condensed vector of distances.
    method : str, default="single"
        One of the above.
    metric : str or callable, default="euclidean"
        Centroid, median and Ward need Euclidean distances.
    sample_weight : array of shape (n_samples,), optional
        A row of weight w acts as w coincident rows (average, centroid, ward).

    Returns
    -------
    Z : array of shape (n_samples - 1, 4)
        Lower id, higher id, height and size of every merge; id n + s is the cluster of merge s.

    Examples
    --------
    >>> import numpy as np
    >>> linkage(np.array([[0.0], [1.0], [3.0], [7.0]]), "average")[:, 2].round(4)
    array([1.    , 2.5   , 5.6667])
    """
    if method not in METHODS:
        raise DataError(f"method={method!r} is not one of {list(METHODS)}.{nearest(method, METHODS)}")
    if method in EUCLIDEAN and metric not in ("euclidean", "precomputed"):
        raise DataError(f"method={method!r} needs Euclidean distances; got metric={metric!r}.")
    if not isinstance(metric, str) or metric == "precomputed":
        return _from_distances(_condensed_of(X, metric), method, sample_weight)
    X = matrix(X)
    weight = _positive(sample_weight, len(X))
    if len(X) == 1:
        return np.empty((0, 4))
    if metric == "euclidean":  # a power of two brings the entries near one, so that no square overflows
        unit = _unit(X)
        Z = _link_vectors(X / unit, method, metric, weight)
        Z[:, 2] *= unit
        return Z
    return _link_vectors(X, method, metric, weight)


def _link_vectors(X: Array, method: str, metric: str, weight: Array) -> Array:
    """Choose the engine that needs least memory."""
    if method == "single" and metric in ("euclidean", "sqeuclidean"):
        return _spanning_tree(X, weight, metric)
    if method in EUCLIDEAN and X.shape[1] <= 32:
        return _from_centers(X, method, weight)
    return _from_distances(
        condensed(X, "sqeuclidean" if method in EUCLIDEAN else metric), method, weight, True
    )


def _positive(sample_weight: Any, n: int) -> Array:
    """Return one positive weight a row."""
    if sample_weight is None:
        return np.ones(n)
    weight = weights(sample_weight, n)
    if not (weight > 0).all():
        raise DataError("rows of weight zero have no place in a tree; drop them first.")
    return weight


def condensed(X: Array, metric: str = "euclidean") -> Array:
    """Return the n(n−1)/2 distances above the diagonal, row by row; no square matrix is held."""
    n = len(X)
    D = np.empty(n * (n - 1) // 2)
    step = max(1, 2**20 // n)

    def fill(start: int) -> None:
        block = pairwise(X[start : start + step], X[start:], metric)
        for i in range(min(step, n - start)):
            row = start + i
            at = row * (2 * n - row - 1) // 2
            D[at : at + n - row - 1] = block[i, i + 1 :]

    for _ in in_order(fill, range(0, n, step)):
        pass
    return D


def _condensed_of(X: Any, metric: Any) -> Array:
    """Return condensed distances from a callable, a square matrix or a condensed vector."""
    if callable(metric):
        rows = list(X)
        X = [float(metric(a, b)) for i, a in enumerate(rows) for b in rows[i + 1 :]]
    D = np.array(X, dtype=np.float64)
    if D.ndim == 2:
        if D.shape[0] != D.shape[1]:
            raise DataError(f"precomputed distances must be square or condensed; their shape is {D.shape}.")
        D = squareform(D, checks=False)
    if np.isnan(D).any():
        raise DataError("precomputed distances have NaN entries.")
    if (D < 0).any():
        raise DataError(f"distances must not be negative; the smallest is {D.min():g}.")
    return D


def _from_distances(D: Array, method: str, sample_weight: Any, squared: bool = False) -> Array:
    """Link condensed distances, which are overwritten; `squared` tells that ward and its like got squares."""
    n = round((1 + np.sqrt(1 + 8 * len(D))) / 2)
    if not np.isfinite(D.sum()):
        raise DataError(TOO_FAR)
    weight = _positive(sample_weight, n)
    merges, heights = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    if n == 1:
        return np.empty((0, 4))
    if method == "single":
        loops.prim_condensed(D, n, merges, heights)
        return _tree(merges, heights, weight)
    if method in EUCLIDEAN and not squared:
        D *= D
    unit = _unit(weight)
    size = weight / unit
    if method == "ward":
        _weigh(D, size)
    if not loops.link_condensed(D, n, size, CODES[method], merges, heights):
        raise DataError(TOO_FAR)
    if method in EUCLIDEAN:
        heights = np.sqrt(np.maximum(heights, 0.0)) * (np.sqrt(unit) if method == "ward" else 1.0)
    return _tree(merges, heights, weight, in_order=method in ("centroid", "median"))


def _weigh(D: Array, size: Array) -> None:
    """Ward's distance of rows that stand for many: squares times twice the harmonic share of their sizes."""
    if (size == 1.0).all():
        return
    begin = 0
    for i, own in enumerate(size[:-1]):
        rest = size[i + 1 :]
        D[begin : begin + len(rest)] *= 2.0 * rest * (own / (own + rest))
        begin += len(rest)


def _unit(values: Array) -> float:
    """A power of two near the largest entry: dividing by it rounds nothing and keeps products in range."""
    return float(2.0 ** np.floor(np.log2(max(float(np.abs(values).max()), 1e-300))))


def _spanning_tree(X: Array, weight: Array, metric: str) -> Array:
    n = len(X)
    edges, lengths = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    columns = np.ascontiguousarray((X - X.mean(axis=0)).T, dtype=np.float64)
    centers.prim(columns, np.arange(n), edges, lengths)
    return _tree(edges, np.sqrt(lengths) if metric == "euclidean" else lengths, weight)


def _from_centers(X: Array, method: str, weight: Array) -> Array:
    """Linkages that compare centers of clusters: memory stays at the size of X."""
    n, code, unit = len(X), CODES[method], _unit(weight)
    size = weight / unit
    T = np.array((X - X.mean(axis=0)).T, dtype=np.float64, order="C")
    neighbor, distance = np.empty(n, dtype=np.int64), np.empty(n)
    merges, heights = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)

    def look(start: int) -> None:
        end = min(start + LOOK_ROWS, n)
        centers.first_neighbors(T, size, start, end, code, neighbor, distance)

    for _ in in_order(look, range(0, n, LOOK_ROWS)):
        pass
    if not centers.link_centers(T, size, code, neighbor, distance, merges, heights):
        raise DataError(TOO_FAR)
    heights = np.sqrt(heights) * (np.sqrt(unit) if method == "ward" else 1.0)
    return _tree(merges, heights, weight, in_order=method != "ward")


def _tree(merges: Array, heights: Array, weight: Array, in_order: bool = False) -> Array:
    """Sort the merges by height (stable) unless they must stay in order, and number the clusters."""
    if not in_order:
        order = np.argsort(heights, kind="stable")
        merges, heights = np.ascontiguousarray(merges[order]), heights[order]
    Z = np.empty((len(heights), 4))
    loops.label_merges(merges, heights, weight, Z)
    return Z


def cut_tree(Z: Any, n_clusters: int | None = None, height: float | None = None) -> Array:
    """Return the clusters of a tree, numbered by first appearance.

    Parameters
    ----------
    Z : array of shape (n_samples - 1, 4)
        What `linkage` returned.
    n_clusters : int, optional
        Undo the last ``n_clusters - 1`` merges.
    height : float, optional
        Keep the merges of at most this height.

    Examples
    --------
    >>> import numpy as np
    >>> cut_tree(linkage(np.array([[0.0], [1.0], [3.0], [7.0]])), n_clusters=2)
    array([0, 0, 0, 1])
    """
    Z = np.asarray(Z, dtype=np.float64)
    n = len(Z) + 1
    if (n_clusters is None) == (height is None):
        raise DataError("cut_tree needs one of n_clusters and height.")
    if n_clusters is not None and not 1 <= n_clusters <= n:
        raise DataError(f"n_clusters={n_clusters} must be between 1 and the number of rows, {n}.")
    keep = np.arange(len(Z)) < n - n_clusters if n_clusters is not None else Z[:, 2] <= height
    parent = np.arange(2 * n - 1)
    for s in np.flatnonzero(keep):
        parent[Z[s, :2].astype(int)] = n + s
    for i in range(2 * n - 2, -1, -1):  # parents have higher ids
        parent[i] = parent[parent[i]]
    _, first, label = np.unique(parent[:n], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[label]


def cophenetic_distances(Z: Any) -> Array:
    """Return, condensed, the height at which each pair of rows is first together (SciPy's ``cophenet``).

    Its correlation with the distances themselves tells how well a tree fits:
    ``np.corrcoef(cophenetic_distances(Z), condensed)[0, 1]``.

    Examples
    --------
    >>> import numpy as np
    >>> cophenetic_distances(linkage(np.array([[0.0], [1.0], [3.0]])))
    array([1., 2., 2.])
    """
    from scipy.cluster.hierarchy import cophenet

    return cophenet(np.asarray(Z, dtype=np.float64))


def has_inversions(Z: Any) -> bool:
    """Tell whether some merge lies below one of its parts, as centroid and median linkage allow.

    Examples
    --------
    >>> import numpy as np
    >>> has_inversions(linkage(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.8]]), "centroid"))
    True
    """
    Z = np.asarray(Z, dtype=np.float64)
    n = len(Z) + 1
    own = np.concatenate([np.zeros(n), Z[:, 2]])
    parts = Z[:, :2].astype(int)
    return bool((own[parts].max(axis=1, initial=0.0) > Z[:, 2] * (1 + 1e-12)).any())
