"""Categories of data frames and arrays as codes 0, 1, ...: learned at fit, applied at prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.frames import frame_like
from gnomon.core.ids import codes_of
from gnomon.core.validate import Reads

Array = np.ndarray


class ReadsCategories:
    """An estimator that reads columns of categories as codes; its `categories_` tell them apart."""

    def _read(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True, **options: Any
    ) -> Any:
        found = learn_categories(X, getattr(self, "categorical_features", None)) if reset else {}
        rows = super()._read(encode(X, found), y, sample_weight, reset=reset, **options)  # type: ignore[misc]
        rows.categories = found
        return rows

    def _rows(self, X: Any, **options: Any) -> Any:
        found = getattr(self, "categories_", None)
        return super()._rows(encode(X, found) if found else X, **options)  # type: ignore[misc]


def learn_categories(X: Any, categorical_features: Any) -> dict[int, Array]:
    """Return the sorted categories of every categorical column, by its position."""
    columns = _chosen(X, categorical_features)
    return {j: _categories(_column(X, j)) for j in columns}


def encode(X: Any, categories: dict[int, Array]) -> Any:
    """Return X with codes in place of categories; an unseen category gets the next free code."""
    if not categories:
        return X
    if hasattr(X, "columns"):
        return frame_like(X, {name: _number(X, j, categories) for j, name in enumerate(X.columns)})
    X = np.array(X, dtype=object if np.asarray(X).dtype.kind in "OUS" else np.float64)
    for j in categories:
        X[:, j] = _codes(X[:, j], categories[j])
    return X.astype(np.float64)


def counts(categories: dict[int, Array], n_features: int) -> Array:
    """Return the number of categories of every feature, 0 for a numeric one."""
    found = np.zeros(n_features, dtype=np.int64)
    for j, values in categories.items():
        found[j] = len(values)
    return found


def _chosen(X: Any, categorical_features: Any) -> list[int]:
    frame = hasattr(X, "columns") and hasattr(X, "dtypes")
    if sparse.issparse(X) and categorical_features is not None and not isinstance(categorical_features, str):
        raise DataError("categorical_features needs a dense X: in a sparse one a category 0 is not stored.")
    if categorical_features is None or (
        isinstance(categorical_features, str) and categorical_features == "from_dtype"
    ):
        types = list(X.dtypes) if frame and categorical_features is not None else []
        return [j for j, kind in enumerate(types) if _is_categorical(kind)]
    chosen = np.asarray(categorical_features)
    width = np.shape(X)[1] if np.ndim(X) == 2 else 0
    if chosen.dtype == bool:
        if width and chosen.shape != (width,):
            raise DataError(
                f"categorical_features is a mask of shape {chosen.shape}; X has {width} features. Give one entry each."
            )
        return np.flatnonzero(chosen).tolist()
    if chosen.dtype.kind in "US" or chosen.dtype == object:
        if not frame:
            raise DataError("categorical_features holds names, but X has none; give column numbers.")
        return [list(X.columns).index(name) for name in chosen]
    if chosen.size and width and (chosen.min() < 0 or chosen.max() >= width):
        raise DataError(
            f"categorical_features must hold column numbers from 0 to {width - 1}; got {chosen.tolist()}."
        )
    return [int(j) for j in chosen]


def _is_categorical(kind: Any) -> bool:
    name = str(kind).lower()
    return name in ("category", "object", "str", "string") or name.startswith(("categorical", "enum"))


def _column(X: Any, j: int) -> Array:
    if hasattr(X, "iloc"):
        return X.iloc[:, j].to_numpy(dtype=object)
    if hasattr(X, "columns"):
        return np.asarray(X[X.columns[j]].to_list(), dtype=object)
    return np.asarray(X, dtype=object)[:, j]


def _missing(x: Array) -> Array:
    return np.array([value is None or value != value for value in x], dtype=bool)


def _categories(x: Array) -> Array:
    present = x[~_missing(x)]
    numeric = all(isinstance(v, int | float | np.number) for v in present)
    return np.unique(present.astype(np.float64 if numeric else str))


def _codes(x: Array, categories: Array) -> Array:
    x = np.asarray(x, dtype=object)
    missing = _missing(x)
    codes = np.full(len(x), np.nan)
    present = x[~missing].astype(str) if categories.dtype.kind == "U" else x[~missing].astype(np.float64)
    place = codes_of(present, categories)
    codes[~missing] = np.where(place < 0, len(categories), place)
    return codes


def _number(X: Any, j: int, categories: dict[int, Array]) -> Array:
    x = _column(X, j)
    return _codes(x, categories[j]) if j in categories else x.astype(np.float64)


READS = Reads(nan=True, sparse=True, dtypes=(np.float64, np.float32))
