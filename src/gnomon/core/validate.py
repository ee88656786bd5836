"""The only door for data: X, y, weights, sequences, graphs, and the parameters of estimators.

Built on scikit-learn's validation. What passes here is finite where it must be, numeric, of one length, and
never written to.
"""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from gnomon.core.array_checks import (
    canonical_csr,
    is_large,
    is_plain,
    is_plain_target,
    refuse_dates,
    refuse_negative,
    unmasked,
)
from gnomon.core.dask_rows import DaskRows, is_dask
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval
from gnomon.core.rows import MemoryRows, Rows
from gnomon.core.tables import TableRows, is_table

COUNT = Interval(Integral, 1, None, closed="left")  # rules for `_parameter_constraints`
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
NUMBER = Interval(Real, None, None, closed="neither")


class Reads(NamedTuple):
    """What data an estimator takes."""

    sparse: bool = False  # CSR without densifying
    nan: bool = False  # missing entries in X are part of the model
    y: str | None = None  # None, "number", "numbers" (several outputs allowed) or "class"
    scales: bool = False  # learns through sums, so Parquet and Dask work
    optional_y: bool = False  # y may be left out
    min_rows: int = 1
    positive: bool = False  # X must not be negative
    dtypes: tuple[Any, ...] = (np.float64, np.float32)


def read(
    estimator: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    reads: Reads,
    reset: bool = True,
    classes: Any = None,
    lengths: Any = None,
) -> Rows:
    """Return the rows of X, y and weights, checked; `estimator` is only asked, never changed."""
    if is_table(X) or is_dask(X):
        return _read_elsewhere(estimator, X, y, sample_weight, reads, reset, classes, lengths)
    check = _checker(estimator, reads.nan) if is_large(X, reads) else None
    X, y, names = _arrays(estimator, X, y, reads, reset)
    if reads.positive:
        refuse_negative(X, type(estimator).__name__)
    weight = None if sample_weight is None else weights(sample_weight, X.shape[0])
    if reads.y == "class" and y is not None:
        classes, y = encode(y, classes)
    runs = None if lengths is None else run_lengths_of(lengths, X.shape[0])
    return MemoryRows(X, y, weight, feature_names=names, classes=classes, lengths=runs, check=check)


def _arrays(estimator: Any, X: Any, y: Any, reads: Reads, reset: bool) -> tuple[Any, Any, Any]:
    """Return X and y as arrays, and the names of columns, checked by scikit-learn; plain arrays take a short way.

    The entries of a large X are left to `MemoryRows`.
    """
    with_y = reads.y is not None and not (y is None and (reads.optional_y or not reset))
    if is_plain(estimator, X, reads, reset) and (not with_y or is_plain_target(y, len(X), reads)):
        return X, (_numbers(y) if with_y and reads.y != "class" else y if with_y else None), None
    asker = copy.copy(estimator)  # scikit-learn notes names and widths on it
    refuse_dates(X)
    X = unmasked(X, reads.nan, "X")
    options: dict[str, Any] = {
        "accept_sparse": "csr" if reads.sparse else False,
        "dtype": list(reads.dtypes),
        "ensure_all_finite": False if is_large(X, reads) else "allow-nan" if reads.nan else True,
        "ensure_min_samples": reads.min_rows if reset else 1,
        "reset": reset,
    }
    if with_y:
        if reads.y != "class":
            refuse_dates(y, "y")
        options |= {"multi_output": reads.y == "numbers", "y_numeric": reads.y in ("number", "numbers")}
        X, y = _validated(asker, X, y, **options)
        y = y if reads.y == "class" else _numbers(y)
    else:
        X, y = _validated(asker, X, **options), None
    return (canonical_csr(X) if sparse.issparse(X) else X), y, getattr(asker, "feature_names_in_", None)


def _numbers(y: Any) -> Array:
    if sparse.issparse(y):
        raise TypeError("y is a sparse matrix, and targets are read as a dense array; give y.toarray().")
    y = np.asarray(y, dtype=np.float64)
    if not np.isfinite(y).all():
        raise DataError("Input y contains NaN or infinity; drop those rows.")
    return y


def _validated(asker: Any, *data: Any, **options: Any) -> Any:
    """Return what scikit-learn's check returns."""
    with _own_words(type(asker).__name__):
        return validate_data(asker, *data, **options)


@contextmanager
def _own_words(name: str) -> Iterator[None]:
    """Speak of missing entries with our own models as the cure."""
    try:
        yield
    except ValueError as error:
        if str(error).startswith("Input X contains NaN"):
            raise DataError(_missing(name)) from None
        raise


def _missing(name: str) -> str:
    return (
        f"Input X contains NaN, and {name} takes no missing values. Fill them "
        "(gnomon.decomposition.ProbabilisticPCA and gnomon.mixture.GaussianMixture have `impute`) or drop the rows, "
        "or use a model that takes them: trees, forests, HistGradientBoosting, GaussianNB or BayesClassifier of gnomon."
    )


def _checker(estimator: Any, nan: bool) -> Any:
    """Return the function that raises scikit-learn's error for entries that are not finite; NaN may pass."""
    name = type(estimator).__name__

    def check(X: Any) -> None:
        with _own_words(name):
            assert_all_finite(X, allow_nan=nan, estimator_name=name, input_name="X")

    return check


def _read_elsewhere(
    estimator: Any, X: Any, y: Any, weight: Any, reads: Reads, reset: bool, classes: Any, lengths: Any
) -> Rows:
    """Return the rows of a table on disk or of a Dask collection."""
    if reset and not reads.scales:
        raise DataError(
            f"{type(estimator).__name__} needs all rows in memory: it reads them in any order. "
            "Load the table first, or take a sample of it."
        )
    if reads.y is not None and y is None and reset and not reads.optional_y:
        raise DataError("y is missing: give the name of the target column, or a collection of its own.")
    if reads.y is None:
        y = None
    options: dict[str, Any] = {"target": y, "weight": weight, "sequence": lengths, "nan": reads.nan}
    if is_dask(X):
        rows: Any = DaskRows(X, **options)
    else:
        features = None if reset else getattr(estimator, "feature_names_in_", None)
        rows = TableRows(X, features=features, **options)
    if not reset and rows.n_features != estimator.n_features_in_:
        raise DataError(
            f"X has {rows.n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    if reset and rows.n_rows < reads.min_rows:
        raise DataError(
            f"X has {rows.n_rows} rows; {type(estimator).__name__} needs at least {reads.min_rows}."
        )
    if reads.y == "class" and y is not None:
        rows.learn_classes()
    return rows


def encode(y: Any, classes: Any = None) -> tuple[Array, Array]:
    """Return the sorted classes and the code of every label; with `classes` given, refuse others."""
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.ravel()
    if y.ndim != 1 or y.dtype.kind not in "iub":  # whole numbers are labels without a second look
        check_classification_targets(y)
    if classes is None:
        found, codes = np.unique(y, return_inverse=True)
        return found, codes.reshape(y.shape)
    classes = np.unique(np.asarray(classes))
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    if not np.array_equal(classes[codes], y):
        strange = np.setdiff1d(y, classes)
        raise DataError(
            f"The target labels {strange.tolist()} in y do not exist in the initial classes {classes.tolist()}."
        )
    return classes, codes


def weights(sample_weight: Any, n: int) -> Array:
    """Return `n` weights as float64: one number for all, or one each; finite, not negative, not all zero."""
    values = np.asarray(sample_weight)
    if values.ndim == 0:
        values = np.full(n, values)
    if values.dtype.kind not in "iufb":
        raise DataError(f"sample_weight must hold numbers; got {values.dtype}.")
    values = np.ascontiguousarray(values, dtype=np.float64)
    if values.ndim != 1:
        raise DataError(f"Sample weights must be 1D array or scalar; sample_weight has shape {values.shape}.")
    if values.shape != (n,):
        raise DataError(f"sample_weight.shape == {values.shape}, expected {(n,)}: give one weight a row.")
    if not np.isfinite(values).all():
        raise DataError("sample_weight has NaN or infinite entries; drop those rows or mend the weights.")
    if (values < 0).any():
        raise DataError("Negative values in data passed to `sample_weight`; weights count repetitions.")
    if not (values > 0).any():
        raise DataError("sample_weight is zero for every row; at least one row must count.")
    return values


def matrix(
    X: Any, *, name: str = "X", nan: bool = False, allow_sparse: bool = False, min_rows: int = 1
) -> Any:
    """Return X as a finite matrix of floats (or CSR), for functions that are no estimators."""
    found = check_array(
        unmasked(X, nan, name),
        accept_sparse="csr" if allow_sparse else False,
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan" if nan else True,
        ensure_min_samples=min_rows,
        input_name=name,
    )
    return canonical_csr(found) if sparse.issparse(found) else found


def vector(y: Any, *, name: str = "y", n: int | None = None) -> Array:
    """Return y as a finite vector of float64 of length `n`."""
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be a vector of numbers; this {type(y).__name__} is none.") from None
    if values.ndim != 1 or (n is not None and len(values) != n):
        asked = f"length {n}" if n is not None else "one dimension"
        raise DataError(f"{name} must be a vector of {asked}; its shape is {values.shape}.")
    if not np.isfinite(values).all():
        raise DataError(f"{name} has NaN or infinite entries.")
    return values


def numbers(values: Any, *, name: str) -> Array:
    """Return values as an array of float64, whatever its shape.

    >>> numbers([[1, 2], [3, 4]], name="means_init").shape
    (2, 2)
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be an array of numbers whose rows have one length.") from None


def one_each(y: Any, n: int, *, name: str = "y") -> Array:
    """Return y as an array, after a look that it has one entry for each of the `n` rows of X.

    >>> one_each(["a", "b"], 2)
    array(['a', 'b'], dtype='<U1')
    """
    if np.ndim(y) == 0 or len(y) != n:
        raise DataError(
            f"{name} must have one entry for each of the {n} rows of X; its shape is {np.shape(y)}."
        )
    return np.asarray(y)


def without_overflow(values: Array) -> Array:
    """Return an answer about rows, after a look that no square overflowed on the way to it."""
    if np.isnan(values).any():
        raise DataError("X has entries so large that their squares overflow. Scale the columns.")
    return values


def probabilities(p: Any, *, name: str = "p", axis: int = -1, tol: float = 1e-8) -> Array:
    """Return p as float64 after checking that it is not negative and sums to one along `axis`."""
    values = np.asarray(p, dtype=np.float64)
    if not (values >= 0).all():
        raise DataError(f"{name} must not be negative or NaN; its smallest entry is {np.min(values)}.")
    sums = values.sum(axis=axis)
    if values.size == 0 or np.abs(sums - 1).max() > tol:
        raise DataError(f"{name} must sum to one; it sums to {np.ravel(sums)[:3]}. Divide by the sum first.")
    return values


def run_lengths_of(lengths: Any, n: int) -> Array:
    """Return the lengths of the sequences that make up `n` rows, checked; None means a single one."""
    runs = np.array([n]) if lengths is None else np.asarray(lengths)
    if runs.ndim != 1 or runs.dtype.kind not in "iu" or (runs <= 0).any():
        raise DataError("lengths must be positive integers, one for each sequence.")
    if runs.sum() != n:
        raise DataError(f"lengths sum to {runs.sum()}, and X has {n} rows; they must agree.")
    return runs.astype(np.int64)


def sequences(X: Any, lengths: Any = None, *, nan: bool = False) -> tuple[Array, Array]:
    """Return the rows of all sequences and the offsets at which each begins, with the end last.

    >>> sequences([[1.0], [2.0], [3.0]], [1, 2])[1]
    array([0, 1, 3])
    """
    X = matrix(X, nan=nan)
    runs = run_lengths_of(lengths, len(X))
    return X, np.concatenate([[0], np.cumsum(runs)])


def graph(G: Any, *, name: str = "graph", symmetric: bool = False) -> Any:
    """Return a graph, given as an adjacency matrix, as a square CSR array of non-negative weights."""
    A = canonical_csr(
        check_array(G, accept_sparse="csr", dtype=np.float64, ensure_min_features=1, input_name=name)
    )
    if A.shape[0] != A.shape[1]:
        raise DataError(f"{name} must be a square adjacency matrix; its shape is {A.shape}.")
    if A.nnz and A.data.min() < 0:
        raise DataError(f"{name} has negative weights; its smallest is {A.data.min()}.")
    if symmetric and abs(A - A.T).max() > 1e-10 * max(1.0, abs(A).max()):
        raise DataError(f"{name} must be symmetric; take (A + A.T) / 2 first.")
    return A


def check_fitted(estimator: Any) -> None:
    """Raise scikit-learn's `NotFittedError` when nothing learned is there."""
    learned = "n_features_in_" in vars(estimator) or any(
        name.endswith("_") and not name.startswith("__") for name in vars(estimator)
    )
    if not learned:
        name = type(estimator).__name__
        raise NotFittedError(
            f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before using "
            "this estimator."
        )


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's code that called into the library."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("gnomon."):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth)
