"""Columns of words, categories and other objects as codes of states, from frames and arrays of objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.frames import frame_like
from gnomon.core.linalg import Array
from gnomon.graphical.factor import states_of

MAX_STATES = 1000  # found in one column; more look like numbers that should be put into bins


def coded_frame(
    X: Any, known: dict[str, Any], names: Sequence[str] | None, unknown: str
) -> tuple[Any, dict[Any, tuple[Any, ...]] | None]:
    """Return X with its columns as codes and the states of each, where some column is not of numbers."""
    columns = _columns_of(X)
    if columns is None or all(_is_numeric(values) for values in columns.values()):
        return X, None
    found: dict[Any, tuple[Any, ...]] = {}
    codes = []
    for j, (label, values) in enumerate(columns.items()):
        name = (
            label
            if isinstance(label, str)
            else (names[j] if names is not None and j < len(names) else f"x{j}")
        )
        one, states = _object_codes(values, known.get(name), str(name), unknown)
        found[label] = states
        codes.append(one)
    matrix = np.column_stack(codes).astype(np.float64) if codes else np.zeros((len(X), 0))
    matrix[matrix < 0] = np.nan
    if not hasattr(X, "columns"):
        return matrix, found
    return frame_like(X, dict(zip(columns, matrix.T, strict=True))), found


def _columns_of(X: Any) -> dict[Any, Any] | None:
    """Return the columns of a frame or of a matrix of objects, by name or number; None for anything else."""
    module = type(X).__module__.partition(".")[0]
    if module == "polars":
        return {name: X[name] for name in X.columns}
    if module == "pandas" and hasattr(X, "columns"):
        if len(set(X.columns)) < len(X.columns):
            twice = next(name for j, name in enumerate(X.columns) if name in list(X.columns[:j]))
            raise DataError(f"the names of X's columns must be unique; {twice!r} is there twice. Rename one.")
        return {name: X[name] for name in X.columns}
    if isinstance(X, np.ndarray):
        if X.ndim == 2 and X.dtype.kind in "OUS":
            return {j: X[:, j] for j in range(X.shape[1])}
        return None
    if isinstance(X, list) and X and isinstance(X[0], list | tuple) and _has_strings(X):
        if len({len(row) for row in X}) > 1:
            raise DataError("the rows of X have different lengths.")
        return {j: np.array([row[j] for row in X], dtype=object) for j in range(len(X[0]))}
    return None


def _has_strings(X: list[Any]) -> bool:
    return any(isinstance(value, str) for row in X for value in row)


def _is_numeric(values: Any) -> bool:
    """Whether a column is of numbers; a column of objects is when all of them are."""
    kind = getattr(values, "dtype", None)
    if type(values).__module__.partition(".")[0] == "polars":
        return bool(kind.is_numeric())
    if isinstance(kind, np.dtype) and kind.kind in "iufc":
        return True
    if isinstance(kind, np.dtype) and kind.kind in "O":
        return not any(isinstance(value, str | bool | np.bool_ | bytes) for value in np.asarray(values))
    nullable = ("Int64Dtype", "Int32Dtype", "Int16Dtype", "Int8Dtype", "Float64Dtype", "Float32Dtype")
    return type(kind).__name__ in nullable


def _object_codes(
    values: Any, known: Sequence[Any] | None, name: str, unknown: str
) -> tuple[Array, tuple[Any, ...]]:
    """Return the codes of a column of anything and its states."""
    entries, natural, codes = _entries(values)
    if known is not None:
        states = states_of(known, name)
    elif natural is not None:
        states = states_of(natural, name)
    else:
        distinct = {entry for entry in entries if not _missing(entry)}
        if not distinct:
            raise DataError(
                f"column {name!r} of X has no observed entry, so its states are not known; give states."
            )
        states = tuple(sorted(distinct, key=lambda value: (type(value).__name__, value)))
        if len(states) > MAX_STATES:
            raise DataError(
                f"column {name!r} of X has {len(states)} different values; at most {MAX_STATES} can be states."
            )
    place: dict[Any, int] = {state: code for code, state in enumerate(states)}
    words = {str(state): code for state, code in place.items()}
    if codes is not None:
        table = np.array(
            [_code_of(entry, place, words, name, unknown, entries, codes) for entry in entries],
            dtype=np.int32,
        )
        return np.append(table, np.int32(-1))[codes], states
    table = {entry: _code_of(entry, place, words, name, unknown) for entry in set(entries)}
    return np.fromiter(map(table.__getitem__, entries), dtype=np.int32, count=len(entries)), states


def _code_of(
    entry: Any, place: dict[Any, int], words: dict[str, int], name: str, unknown: str, entries: Any = None,
    codes: Array | None = None,
) -> int:  # fmt: skip
    """Return the code of an entry; of a category that no row has, none."""
    if _missing(entry):
        return -1
    code = place.get(entry, words.get(str(entry), -1))
    # a word where all states are numbers is no state that was not seen: it is a wrong column
    strange = isinstance(entry, str) and not any(isinstance(state, str) for state in place)
    refused = unknown != "missing" or strange
    if code < 0 and refused and (codes is None or (codes == list(entries).index(entry)).any()):
        kind = "string " if isinstance(entry, str) else ""
        raise DataError(
            f"column {name!r} of X holds the {kind}{entry!r}, which is none of its states {list(words)[:20]}."
            f"{nearest(entry, words)} Mend the value, or declare it in states."
        )
    return code


def _entries(values: Any) -> tuple[list[Any], Sequence[Any] | None, Array | None]:
    """Return the entries of a column and, for categorical types, all states in their own order.

    Of a pandas category the entries are its categories, and the codes of the rows come beside.
    """
    kind = getattr(values, "dtype", None)
    if type(values).__module__.partition(".")[0] == "polars":
        natural = kind.categories.to_list() if type(kind).__name__ == "Enum" else None
        if natural is None and str(kind) == "Boolean":
            natural = [False, True]
        return values.to_list(), natural, None
    if type(kind).__name__ == "CategoricalDtype":
        categories = kind.categories.tolist()
        return categories, categories, np.asarray(getattr(values, "cat", values).codes)
    entries = values.tolist() if hasattr(values, "tolist") else list(values)
    boolean = isinstance(kind, np.dtype) and kind.kind == "b"
    return entries, [False, True] if boolean else None, None


def _missing(entry: Any) -> bool:
    if entry is None:
        return True
    if isinstance(entry, float):
        return entry != entry
    return type(entry).__name__ in ("NAType", "NaTType")
