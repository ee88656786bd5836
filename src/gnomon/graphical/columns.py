"""Columns of named states as codes: from arrays, pandas, polars, Parquet and Dask; -1 is a missing cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.rows import Chunk, MemoryRows, Rows
from gnomon.core.sums import total
from gnomon.core.validate import Reads, read, warn
from gnomon.graphical.factor import states_of
from gnomon.graphical.text_tables import coded_table

MAX_STATES = 1000  # found in one column; more look like numbers that should be put into bins
READS = Reads(nan=True, scales=True)


class Columns(NamedTuple):
    """Rows of codes with the names behind them."""

    rows: Rows
    names: list[str]
    states: list[tuple[Any, ...]]


def read_columns(
    estimator: Any,
    X: Any,
    sample_weight: Any = None,
    *,
    states: Mapping[str, Sequence[Any]] | None = None,
    names: Sequence[str] | None = None,
    y: Any = None,
    reads: Reads = READS,
    reset: bool = True,
    unknown: str = "error",
) -> Columns:
    """Return the rows of X as codes of states.

    `states` are the states known by column; of other columns they are found in the data, in sorted order or in
    that of a categorical type. `names` name the columns of an array. `unknown` states are an error, or
    "missing".
    """
    known = dict(states or {})
    named = [name for name in (y, sample_weight) if isinstance(name, str)]
    X, words = coded_table(X, known, named, unknown)
    table, found = _coded_frame(X, known, names, unknown)
    fresh = reset or "n_features_in_" not in vars(
        estimator
    )  # a network that was given learned from no columns
    rows = read(estimator, table, y, sample_weight, reads=reads, reset=fresh)
    labels = _labels(rows, names)
    if found is not None:
        own = [found[name] for name in (labels if rows.feature_names is not None else found)]
        return Columns(_as_codes(rows, rows.X, labels, own), labels, own)
    missing_code = reads.nan and _has_codes(X)
    if not rows.in_memory:
        known.update(words)
        seen = total(_distinct, rows) if any(name not in known for name in labels) else None
        own = [known[n] if n in known else _numbers(seen.values[j], n) for j, n in enumerate(labels)]
        return Columns(CodedRows(rows, own, labels, unknown, set(words)), labels, own)
    values = rows.X
    own, codes = [], np.empty(values.shape, dtype=np.int32)
    for j, name in enumerate(labels):
        column = values[:, j]
        if missing_code and column.min(initial=0) == -1:
            column = np.where(column == -1, np.nan, column)
        if name in known:
            own.append(states_of(known[name], name))
        else:
            counted = column if rows._weight is None else column[rows.weight > 0]
            own.append(_numbers(np.unique(counted[~np.isnan(counted)]), name))
            unseen = ~np.isnan(column) & ~np.isin(column, own[-1]) if rows.weighted else None
            column = np.where(unseen, np.nan, column) if unseen is not None else column  # rows of weight zero
        codes[:, j] = number_codes(column, own[-1], name, unknown)
    return Columns(_as_codes(rows, codes, labels, own), labels, own)


class CodedMemory(MemoryRows):
    """Codes in memory, with the names of their columns and states."""

    labels: list[str]
    states: list[tuple[Any, ...]]

    def facts(self) -> dict[str, Any]:
        """Tell the names of the columns beside what rows tell."""
        return {**super().facts(), "columns_": list(self.labels)}

    def take(self, units: Any) -> CodedMemory:
        """Return the rows with these numbers."""
        units = np.asarray(units)
        weight = None if self._weight is None else self._weight[units]
        y = None if self.y is None else self.y[units]
        names = {"feature_names": self.feature_names, "classes": self.classes}
        taken = CodedMemory(self.X[units], y, weight, **names)
        taken.labels, taken.states = self.labels, self.states
        return taken


def _as_codes(rows: Any, codes: Array, labels: list[str], states: list[tuple[Any, ...]]) -> CodedMemory:
    if codes.dtype.kind == "f":
        codes = np.where(np.isnan(codes), -1, codes).astype(np.int32)
    names, classes = rows.feature_names, rows.classes
    coded = CodedMemory(
        np.ascontiguousarray(codes), rows.y, rows._weight, feature_names=names, classes=classes
    )
    coded.labels, coded.states = labels, states
    return coded


def _labels(rows: Rows, names: Sequence[str] | None) -> list[str]:
    if rows.feature_names is not None or names is None:
        return rows.names()
    if len(names) != rows.n_features:
        if set(rows.names()) <= set(names):
            return rows.names()
        raise DataError(
            f"X has {rows.n_features} features without names, and the network has {len(names)} variables: "
            f"{list(names)}. Give a DataFrame whose columns are named."
        )
    return list(names)


def width_of(X: Any) -> int | None:
    """Return the number of columns of a matrix without names, where that is plain to see."""
    if isinstance(X, np.ndarray):
        return X.shape[1] if X.ndim == 2 else None
    return len(X[0]) if isinstance(X, list) and X and isinstance(X[0], list | tuple) else None


def _has_codes(X: Any) -> bool:
    """Whether X is an array of integers, in which -1 stands for a missing cell."""
    return isinstance(X, np.ndarray) and X.dtype.kind == "i"


def _numbers(values: Array, name: str) -> tuple[Any, ...]:
    """Return distinct numbers as states: whole ones as integers."""
    if len(values) == 0:
        raise DataError(
            f"column {name!r} of X has no observed entry, so its states are not known; give states."
        )
    if len(values) > MAX_STATES:
        raise DataError(
            f"column {name!r} of X has {len(values)} different values; at most {MAX_STATES} can be states. "
            "Put numbers into bins first (sklearn.preprocessing.KBinsDiscretizer), or use LinearGaussianNetwork."
        )
    return tuple(int(v) if float(v).is_integer() and abs(v) < 2**53 else float(v) for v in values)


def number_codes(column: Array, states: Sequence[Any], name: str, unknown: str) -> Array:
    """Return the codes of a column of numbers (NaN: -1)."""
    try:
        numbers = np.array([float(state) for state in states])
    except (TypeError, ValueError):
        strange = column[~np.isnan(column)]
        if not len(strange):
            return np.full(len(column), -1, dtype=np.int32)
        raise DataError(
            f"column {name!r} of X holds the number {strange[0]:g}, and its states are {list(states)}."
        ) from None
    order = np.argsort(numbers)
    place = np.minimum(np.searchsorted(numbers[order], column), len(numbers) - 1)
    codes = order[place].astype(np.int32)
    missing = np.isnan(column)
    wrong = ~missing & (numbers[codes] != column)
    if wrong.any() and unknown == "error":
        raise DataError(
            f"column {name!r} of X holds {column[wrong][0]:g}, which is none of its states {list(states)[:20]}. "
            "Mend the value, or declare it in states."
        )
    if wrong.any() and unknown == "warn":
        warn(
            f"column {name!r} of X holds {column[wrong][0]:g}, which was never seen in training; it is taken for "
            "missing. Declare all states where that is wrong."
        )
    codes[missing | wrong] = -1
    return codes


# names of states in frames and arrays of objects


def _coded_frame(
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
    import pandas as pd

    return pd.DataFrame(matrix, columns=list(columns)), found


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


# tables that are not in memory


class Distinct(NamedTuple):
    """The distinct numbers of every column."""

    values: list[Array]

    def merge(self, other: Distinct) -> Distinct:
        """Join the sets."""
        return Distinct(
            [np.union1d(a, b)[: MAX_STATES + 1] for a, b in zip(self.values, other.values, strict=True)]
        )


def _distinct(chunk: Chunk) -> Distinct:
    counted = chunk.X[chunk.weight > 0]
    columns = [column[~np.isnan(column)] for column in counted.T]
    return Distinct([np.unique(column)[: MAX_STATES + 1] for column in columns])


class CodedRows(Rows):
    """Rows of a table or a Dask collection whose chunks are turned into codes as they are read."""

    def __init__(
        self, rows: Rows, states: Sequence[Sequence[Any]], labels: list[str], unknown: str, words: set[str]
    ) -> None:
        self.inner, self.labels, self.unknown = rows, labels, unknown
        self.states = [tuple(own) for own in states]
        # columns of words come as codes already
        self.coded = [
            tuple(range(len(s))) if n in words else s for n, s in zip(labels, self.states, strict=True)
        ]
        for name in (
            "n_rows",
            "n_features",
            "feature_names",
            "classes",
            "weighted",
            "in_memory",
            "known_weight",
        ):
            setattr(self, name, getattr(rows, name))
        self.dtype = np.dtype(np.int32)

    def facts(self) -> dict[str, Any]:
        """Tell the names of the columns beside what rows tell."""
        return {**self.inner.facts(), "columns_": list(self.labels)}

    def _beside(self) -> dict[str, Any]:
        return {"labels": self.labels, "states": self.states}

    def gather(
        self, function: Callable[..., Any], state: tuple[Any, ...], combine: Callable[..., Any]
    ) -> Any:
        """Apply the function to coded chunks."""
        given = (function, self.coded, self.labels, self.unknown, *state)
        return self.inner.gather(on_codes, given, combine)


def on_codes(chunk: Chunk, function: Any, states: Any, labels: Any, unknown: str, *state: Any) -> Any:
    """Call a function of a chunk on the chunk's codes."""
    codes = np.empty(chunk.X.shape, dtype=np.int32)
    for j, name in enumerate(labels):
        codes[:, j] = number_codes(chunk.X[:, j], states[j], name, unknown)
    return function(chunk._replace(X=codes), *state)
