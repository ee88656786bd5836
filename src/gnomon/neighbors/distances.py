"""Distances between rows, shared by neighbors and clustering."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import DataConversionWarning

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import matrix, warn
from gnomon.kernels.tiles import square_norms, squared_distances
from gnomon.loops.distances import METRICS, check_metric, edit_table, pairwise

YES_NO = (
    "dice",
    "jaccard",
    "rogerstanimoto",
    "russellrao",
    "sokalsneath",
    "yule",
)  # of columns that hold or not
SHARES = ("braycurtis", "canberra")  # differences as shares of the sizes
BLOCK = 256  # sparse rows that are filled at a time


def pairwise_distances(
    X: Any, Y: Any = None, metric: Any = "euclidean", *, n_jobs: int | None = None, **params: Any
) -> Array:
    r"""Return the distance of every row of X to every row of Y.

    ================================  ====================================================================
    euclidean, l2; sqeuclidean        :math:`\lVert x-z\rVert`; its square (not a metric)
    manhattan, l1, cityblock          :math:`\sum_j|x_j-z_j|`
    minkowski (``p``, ``w``)          :math:`(\sum_jw_j|x_j-z_j|^p)^{1/p}`, :math:`p\ge1`
    chebyshev, linf                   :math:`\max_j|x_j-z_j|`
    cosine                            1 − cosine; a zero row is at 1 from all but its like
    correlation                       1 − Pearson correlation over the columns; of a constant row it is 0
    hamming; hamming_count            share, or number, of unequal columns
    edit, levenshtein                 fewest insertions, deletions and substitutions, of sequences
    mahalanobis (``V`` or ``VI``)     :math:`\sqrt{(x-z)^TV^{-1}(x-z)}`; V is estimated from X if absent
    seuclidean (``V``)                the same with a diagonal V
    nan_euclidean                     :math:`\sqrt{\frac d{\#\,present}\sum_{present}(x_j-z_j)^2}`
    haversine                         the angle between two places on a globe, (latitude, longitude) in radians
    braycurtis, canberra              SciPy's, of sizes; dice, jaccard, rogerstanimoto, russellrao, sokalsneath
                                      and yule of columns that are zero or not
    ================================  ====================================================================

    Products go through BLAS; where cancellation would spoil a distance it is summed again, so none is
    negative and equal rows are at distance zero.

    Parameters
    ----------
    X : array of shape (n, d), or a sequence of sequences for "edit"
        Sparse rows have Euclidean, cosine and Manhattan distances.
    Y : array of shape (m, d), optional
        X itself by default.
    metric : str or callable, default="euclidean"
        One of the above, "precomputed" (X is returned, checked), or a function of two rows.
    n_jobs : int, optional
        Kept for scikit-learn; the number of threads is that of `gnomon.threads`.
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
    if sparse.issparse(X) or sparse.issparse(Y):
        return _of_sparse_rows(X, Y, metric, params)
    if metric in YES_NO:
        X, Y = _held(X, metric), None if Y is None else _held(Y, metric)
    nan = metric == "nan_euclidean"
    X = matrix(X, nan=nan)
    if metric == "precomputed":
        return _given(X, Y)
    Z = X if Y is None else matrix(Y, name="Y", nan=nan)
    if X.shape[1] != Z.shape[1]:
        raise DataError(f"X has {X.shape[1]} columns and Y has {Z.shape[1]}; they must agree.")
    if metric in ("mahalanobis", "seuclidean"):
        whiten = whitener(X, metric, **params)
        return _mirrored(pairwise(X @ whiten, Z @ whiten), Y)
    p = float(params.pop("p", 2.0))
    if metric == "minkowski" and p < 1:
        raise DataError(f"minkowski needs p of at least 1; got {p}.")
    if metric == "minkowski" and params.get("w") is not None:
        share = _weights(params.pop("w"), X.shape[1]) ** (1.0 / p)
        X, Z = X * share, Z * share
    if params:
        raise DataError(f"metric={metric!r} takes no {sorted(params)}.")
    if metric == "minkowski":
        metric = {1.0: "l1", 2.0: "euclidean", np.inf: "linf"}.get(p, metric)
    if metric == "haversine":
        return _mirrored(_angles_on_a_globe(X, Z), Y)
    if metric in (*YES_NO, *SHARES):
        return cdist(X, Z, metric)
    check_metric(metric)
    return _mirrored(pairwise(X, Z, metric, p), Y)


def _given(D: Array, Y: Any) -> Array:
    """Return distances that were computed before, checked: one to each row of Y, or of X itself."""
    width = len(D) if Y is None else np.shape(Y)[0]
    if D.shape[1] != width:
        raise DataError(
            f"precomputed distances need a column for each row that they lead to, {width}; their shape is {D.shape}."
        )
    if (D < 0).any():
        raise DataError("precomputed distances must not be negative: give non-negative values.")
    return D


def _held(X: Any, metric: str) -> Array:
    """Return which entries are not zero, as numbers SciPy reads as such."""
    X = np.asarray(X)
    if X.dtype != bool:
        warn(f"Data was converted to boolean for metric {metric}", DataConversionWarning)
    return X.astype(bool).astype(np.float64)


def _weights(w: Any, d: int) -> Array:
    w = np.asarray(w, dtype=np.float64)
    if w.shape != (d,) or not (w >= 0).all() or not np.isfinite(w).all():
        raise DataError(f"w must hold a finite weight of at least 0 for each of the {d} columns.")
    return w


def _angles_on_a_globe(X: Array, Z: Array) -> Array:
    """Return 2 asin √(sin²(Δφ/2) + cos φ cos φ′ sin²(Δλ/2)) for latitudes φ and longitudes λ."""
    if X.shape[1] != 2:
        raise DataError(
            f"haversine needs two columns, latitude and longitude in radians; X has {X.shape[1]}."
        )
    up, along = (0.5 * (X[:, None, j] - Z[:, j]) for j in (0, 1))
    square = np.sin(up) ** 2 + np.cos(X[:, :1]) * np.cos(Z[:, 0]) * np.sin(along) ** 2
    return 2.0 * np.arcsin(np.sqrt(np.minimum(square, 1.0)))


def _of_sparse_rows(X: Any, Y: Any, metric: Any, params: dict[str, Any]) -> Array:
    """Return distances of sparse rows: by sparse products, or with some rows filled at a time."""
    if metric not in ("euclidean", "l2", "sqeuclidean", "cosine", "manhattan", "l1", "cityblock") or params:
        raise TypeError(
            f"metric={metric!r} takes no sparse rows, or not with {sorted(params)}; 'euclidean', 'sqeuclidean', "
            "'cosine' and 'manhattan' do. Else give X.toarray()."
        )
    X = sparse.csr_array(matrix(X, allow_sparse=True))
    Z = X if Y is None else sparse.csr_array(matrix(Y, name="Y", allow_sparse=True))
    if X.shape[1] != Z.shape[1]:
        raise DataError(f"X has {X.shape[1]} columns and Y has {Z.shape[1]}; they must agree.")
    if metric == "cosine":
        D = 0.5 * squared_distances(
            _unit(X), _unit(Z), Y is None
        )  # ‖u − v‖² = 2 − 2 cos of rows of length one
        none, nothing = square_norms(X) == 0, square_norms(Z) == 0
        D[none] = ~nothing
        D[:, nothing] = ~none[:, None]
        return D
    if metric in ("euclidean", "l2", "sqeuclidean"):
        squares = squared_distances(X, Z, Y is None)
        return squares if metric == "sqeuclidean" else np.sqrt(squares)
    D = np.empty((X.shape[0], Z.shape[0]))
    for i in range(0, X.shape[0], BLOCK):
        filled = X[i : i + BLOCK].toarray()
        for j in range(0, Z.shape[0], BLOCK):
            D[i : i + BLOCK, j : j + BLOCK] = pairwise(filled, Z[j : j + BLOCK].toarray(), "l1", 1.0)
    return _mirrored(D, Y)


def _unit(X: Any) -> Any:
    """Return sparse rows of length one; rows of zeros stay."""
    sizes = np.sqrt(square_norms(X))
    return sparse.csr_array(X.multiply(1.0 / np.where(sizes > 0, sizes, 1.0)[:, None]))


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


def cosine_similarity(X: Any, Y: Any = None, dense_output: bool = True) -> Any:
    r"""Return the cosine of the angle between every row of X and every row of Y.

    .. math:: \cos(x, z) = \frac{x\cdot z}{\lVert x\rVert\,\lVert z\rVert}

    It is the cosine, not the angle: 1 for rows of one direction, 0 for perpendicular ones. A row of zeros has no
    direction; its cosine is 0 with all but its like.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    Y : array or sparse matrix of shape (m, d), optional
        X itself by default.
    dense_output : bool, default=True
        False: the cosines of sparse rows are sparse too, and rows of zeros have none.

    Returns
    -------
    array of shape (n, m)

    Examples
    --------
    >>> cosine_similarity([[1.0, 0.0]], [[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0]])
    array([[ 1.,  0., -1.]])
    """
    if dense_output or not (sparse.issparse(X) and (Y is None or sparse.issparse(Y))):
        return 1.0 - pairwise_distances(X, Y, "cosine")
    first = _unit(sparse.csr_array(matrix(X, allow_sparse=True)))
    other = first if Y is None else _unit(sparse.csr_array(matrix(Y, name="Y", allow_sparse=True)))
    return first @ other.T


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
    others = ("edit", "levenshtein", "mahalanobis", "seuclidean", "haversine", "precomputed")
    return sorted([*METRICS, *others, *YES_NO, *SHARES])
