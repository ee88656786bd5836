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
    VI = np.asarray(VI, dtype=np.float64)
    values, vectors = linalg.eigh(0.5 * (VI + VI.T))
    if values[0] < -1e-10 * max(abs(values[0]), abs(values[-1])):
        raise DataError(
            f"mahalanobis needs a VI without negative eigenvalues; its smallest is {values[0]:.4g}, and "
            "some squared distances would be negative."
        )
    return vectors * np.sqrt(np.maximum(values, 0.0))


def cosine_similarity(X: Any, Y: Any = None) -> Array:
    r"""Return the cosine of the angle between every row of X and every row of Y.

    .. math:: \cos(x, z) = \frac{x\cdot z}{\lVert x\rVert\,\lVert z\rVert}

    It is the cosine, not the angle: 1 for rows of one direction, 0 for perpendicular ones. A row of zeros has no
    direction; its cosine is 0 with all but its like.

    Parameters
    ----------
    X : array of shape (n, d)
    Y : array of shape (m, d), optional
        X itself by default.

    Returns
    -------
    array of shape (n, m)

    Examples
    --------
    >>> cosine_similarity([[1.0, 0.0]], [[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0]])
    array([[ 1.,  0., -1.]])
    """
    return 1.0 - pairwise_distances(X, Y, "cosine")


def edit_distance(a: Any, b: Any, *, costs: Any = (1.0, 1.0, 1.0)) -> float:
    """Return the fewest insertions, deletions and substitutions that turn one sequence into another.

    Parameters
    ----------
    a, b : str, or sequences of hashable symbols
    costs : three numbers, default=(1, 1, 1)
        Of an insertion, a deletion and a substitution; then the distance is the cheapest way.

    Returns
    -------
    float

    Examples
    --------
    >>> edit_distance("intention", "execution")
    5.0
    """
    return float(edit_table([a], [b], _prices(costs))[0, 0])


def _prices(costs: Any) -> Array:
    prices = np.asarray(costs, dtype=np.float64)
    if prices.shape != (3,) or not np.isfinite(prices).all() or (prices < 0).any():
        raise DataError(
            f"costs must be three numbers (insert, delete, substitute), none negative; got {costs}."
        )
    return prices


def edit_script(a: Any, b: Any, *, costs: Any = (1.0, 1.0, 1.0)) -> list[tuple[str, Any, Any]]:
    """Return a cheapest way from one sequence to another, step by step.

    Parameters
    ----------
    a, b, costs
        As in `edit_distance`.

    Returns
    -------
    list of (operation, old symbol, new symbol)
        Operations are "keep", "substitute", "delete" and "insert". Of equally cheap steps, looked at from the
        end, a kept or substituted symbol comes before a deletion, and a deletion before an insertion.

    Examples
    --------
    >>> [step for step in edit_script("flaw", "lawn") if step[0] != "keep"]
    [('delete', 'f', None), ('insert', None, 'n')]
    """
    insert, delete, substitute = _prices(costs)
    table = np.zeros((len(a) + 1, len(b) + 1))
    table[:, 0], table[0] = delete * np.arange(len(a) + 1), insert * np.arange(len(b) + 1)
    for i, old in enumerate(a):
        for j, new in enumerate(b):
            change = table[i, j] + (0.0 if old == new else substitute)
            table[i + 1, j + 1] = min(change, table[i, j + 1] + delete, table[i + 1, j] + insert)
    script: list[tuple[str, Any, Any]] = []
    i, j = len(a), len(b)
    while i or j:
        same = i and j and a[i - 1] == b[j - 1]
        if i and j and table[i, j] == table[i - 1, j - 1] + (0.0 if same else substitute):
            i, j = i - 1, j - 1
            script.append(("keep" if same else "substitute", a[i], b[j]))
        elif i and table[i, j] == table[i - 1, j] + delete:
            i -= 1
            script.append(("delete", a[i], None))
        else:
            j -= 1
            script.append(("insert", None, b[j]))
    return script[::-1]


def metric_names() -> list[str]:
    """Return the names that `pairwise_distances` knows.

    Examples
    --------
    >>> "cosine" in metric_names()
    True
    """
    return sorted([*METRICS, "edit", "levenshtein", "mahalanobis", "seuclidean", "precomputed"])
