"""Distances between rows, shared by neighbors and clustering."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import matrix
from gnomon.loops.distances import METRICS, check_metric, edit_table, pairwise


def pairwise_distances(X: Any, Y: Any = None, metric: Any = "euclidean", **params: Any) -> Array:
    r"""Return the distance of every row of X to every row of Y.

    ================================  ====================================================================
    euclidean, l2; sqeuclidean        :math:`\lVert x-z\rVert`; its square (not a metric)
    manhattan, l1, cityblock          :math:`\sum_j|x_j-z_j|`
    minkowski (``p``)                 :math:`(\sum_j|x_j-z_j|^p)^{1/p}`, :math:`p\ge1`
    chebyshev, linf                   :math:`\max_j|x_j-z_j|`
    cosine                            1 − cosine; a zero row is at 1 from all but its like
    correlation                       1 − Pearson correlation over the columns; of a constant row it is 0
    hamming; hamming_count            share, or number, of unequal columns
    edit, levenshtein                 fewest insertions, deletions and substitutions, of sequences
    mahalanobis (``V`` or ``VI``)     :math:`\sqrt{(x-z)^TV^{-1}(x-z)}`; V is estimated from X if absent
    seuclidean (``V``)                the same with a diagonal V
    nan_euclidean                     :math:`\sqrt{\frac d{\#\,present}\sum_{present}(x_j-z_j)^2}`
    ================================  ====================================================================

    Products go through BLAS; where cancellation would spoil a distance it is summed again, so none is
    negative and equal rows are at distance zero.

    Parameters
    ----------
    X : array of shape (n, d), or a sequence of sequences for "edit"
    Y : array of shape (m, d), optional
        X itself by default.
    metric : str or callable, default="euclidean"
        One of the above, "precomputed" (X is returned, checked), or a function of two rows.
    **params
        Arguments of the metric.

    Returns
    -------
    array of shape (n, m)

    Examples
    --------
    >>> pairwise_distances([[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    >>> pairwise_distances(["kitten"], ["sitting"], "edit")
    array([[3.]])
    """
    if metric in ("edit", "levenshtein"):
        return edit_table(X, X if Y is None else Y, **params)
    if callable(metric):
        return np.array([[float(metric(a, b, **params)) for b in (X if Y is None else Y)] for a in X])
    nan = metric == "nan_euclidean"
    X = matrix(X, nan=nan)
    if metric == "precomputed":
        if (X < 0).any():
            raise DataError("precomputed distances must not be negative.")
        return X
    Z = X if Y is None else matrix(Y, name="Y", nan=nan)
    if X.shape[1] != Z.shape[1]:
        raise DataError(f"X has {X.shape[1]} columns and Y has {Z.shape[1]}; they must agree.")
    if metric in ("mahalanobis", "seuclidean"):
        whiten = whitener(X, metric, **params)
        return _mirrored(pairwise(X @ whiten, Z @ whiten), Y)
    p = float(params.pop("p", 2.0))
    if params:
        raise DataError(f"metric={metric!r} takes no {sorted(params)}.")
    if metric == "minkowski":
        if p < 1:
            raise DataError(f"minkowski needs p of at least 1; got {p}.")
        metric = {1.0: "l1", 2.0: "euclidean", np.inf: "linf"}.get(p, metric)
    check_metric(metric)
    return _mirrored(pairwise(X, Z, metric, p), Y)


def _mirrored(D: Array, Y: Any) -> Array:
    """Make the distances of a set to itself exactly symmetric."""
    if Y is None:
        lower = np.tril_indices(len(D), -1)
        D[lower] = D.T[lower]
    return D


def whitener(X: Array, metric: str, V: Any = None, VI: Any = None) -> Array:
    """Return W with (x − z)ᵀV⁻¹(x − z) = ‖(x − z)W‖²."""
    if metric == "seuclidean":
        V = X.var(axis=0, ddof=1) if V is None else np.asarray(V, dtype=np.float64)
        if not (V > 0).all():
            raise DataError("seuclidean needs positive variances; drop the constant columns.")
        return np.diag(1 / np.sqrt(V))
    if VI is None:
        V = np.atleast_2d(np.cov(X, rowvar=False)) if V is None else np.asarray(V, dtype=np.float64)
        try:
            return linalg.solve_triangular(linalg.cholesky(V, lower=True), np.eye(len(V)), lower=True).T
        except linalg.LinAlgError:
            raise DataError("mahalanobis needs a positive definite V; drop collinear columns.") from None
    return linalg.cholesky(np.asarray(VI, dtype=np.float64), lower=True)


def metric_names() -> list[str]:
    """Return the names that `pairwise_distances` knows.

    Examples
    --------
    >>> "cosine" in metric_names()
    True
    """
    return sorted([*METRICS, "edit", "levenshtein", "mahalanobis", "seuclidean", "precomputed"])
