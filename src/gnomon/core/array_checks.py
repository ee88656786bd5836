"""Looks at arrays before they become rows: which need no more checks, and which are refused outright."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.rows import is_finite

if TYPE_CHECKING:
    from gnomon.core.validate import Reads

LARGE = 2**20  # entries; so many are looked at chunk by chunk, just before their first use


def is_plain(estimator: Any, X: Any, reads: Reads, reset: bool) -> bool:
    """Tell whether X is a matrix of floats that needs no more than a look at its entries."""
    if not _is_float_matrix(X, reads) or not X.size:
        return False
    if reset:
        if X.shape[0] < reads.min_rows or is_large(X, reads):
            return False
    elif hasattr(estimator, "feature_names_in_") or X.shape[1] != getattr(estimator, "n_features_in_", -1):
        return False
    return is_large(X, reads) or is_finite(X) or (reads.nan and not np.isinf(X).any())


def is_plain_target(y: Any, n: int, reads: Reads) -> bool:
    """Tell whether y is a column of whole numbers, or of floats where numbers are asked for."""
    kinds = "iu" if reads.y == "class" else "iuf"
    return type(y) is np.ndarray and y.shape == (n,) and y.dtype.kind in kinds


def _is_float_matrix(X: Any, reads: Reads) -> bool:
    return type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind == "f" and X.dtype in reads.dtypes


def is_large(X: Any, reads: Reads) -> bool:
    """Tell whether X is a matrix of floats so large that its entries are looked at chunk by chunk."""
    return _is_float_matrix(X, reads) and X.size >= LARGE


def canonical_csr(X: Any) -> Any:
    """Return a CSR array with sorted indices and no duplicates; the caller's matrix is left alone."""
    X = sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def refuse_dates(X: Any, name: str = "X") -> None:
    """Dates are no numbers: what their zero and their unit are is for the user to say."""
    dtype = getattr(X, "dtype", None)
    kinds = list(getattr(X, "dtypes", ())) if dtype is None else [dtype]
    found = any(str(kind).lower().startswith(("date", "time", "<m8", "duration")) for kind in kinds)
    if not found and isinstance(X, np.ndarray) and X.dtype == object:
        found = any(isinstance(one, np.datetime64 | np.timedelta64) for one in X.flat)
    if found:
        raise DataError(
            f"{name} holds dates or spans of time; give numbers: days since a date you choose, or month, weekday, hour "
            "as columns of their own."
        )


def refuse_negative(X: Any, name: str) -> None:
    """Refuse an X with negative entries; `name` is the estimator that does."""
    values = X.data if sparse.issparse(X) else X
    least = values.min(initial=0)
    if least < 0 or (least != least and (values < 0).any()):
        raise DataError(
            f"Negative values in data passed to {name} (input X): it must hold counts or non-negative numbers."
        )


def unmasked(X: Any, nan: bool, name: str) -> Any:
    """Return a masked array as one with NaN in the masked places, or refuse it."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if not nan and np.ma.getmaskarray(X).any():
        raise DataError(
            f"{name} has masked entries, and this model takes no missing values. Impute or drop them."
        )
    return np.ma.filled(X.astype(np.float64), np.nan)
