"""Columns of named states as codes: from arrays, pandas, polars, Parquet and Dask; -1 is a missing cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.ids import codes_of
from gnomon.core.linalg import Array
from gnomon.core.rows import Chunk, MemoryRows, Rows
from gnomon.core.sums import total
from gnomon.core.validate import Reads, read, warn
from gnomon.graphical.factor import states_of
from gnomon.graphical.frames import MAX_STATES, coded_frame
from gnomon.graphical.text_tables import coded_table

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
    table, found = coded_frame(X, known, names, unknown)
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
        new = {name for name in labels if name not in known}
        seen = total(_distinct, rows) if new else None
        own = [_numbers(seen.values[j], n) if n in new else known[n] for j, n in enumerate(labels)]
        return Columns(CodedRows(rows, own, labels, unknown, set(words), new), labels, own)
    codes, own = _coded_numbers(rows, labels, known, missing_code, unknown)
    return Columns(_as_codes(rows, codes, labels, own), labels, own)


def _coded_numbers(
    rows: Any, labels: list[str], known: Mapping[str, Any], missing_code: bool, unknown: str
) -> tuple[Array, list[tuple[Any, ...]]]:
    """Return the codes of columns of numbers, and the states of each."""
    own: list[tuple[Any, ...]] = []
    codes = np.empty(rows.X.shape, dtype=np.int32)
    for j, name in enumerate(labels):
        column = rows.X[:, j]
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
    return codes, own


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
    codes = codes_of(column, numbers).astype(np.int32)
    wrong = ~np.isnan(column) & (codes < 0)
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
    return codes


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
        self,
        rows: Rows,
        states: Sequence[Sequence[Any]],
        labels: list[str],
        unknown: str,
        words: set[str],
        found: set[str],
    ) -> None:
        self.inner, self.labels = rows, labels
        self.unknown = [(unknown, name in found) for name in labels]
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


def on_codes(chunk: Chunk, function: Any, states: Any, labels: Any, unknown: Any, *state: Any) -> Any:
    """Call a function of a chunk on the chunk's codes."""
    codes = np.empty(chunk.X.shape, dtype=np.int32)
    idle = chunk.weight <= 0
    for j, (name, (policy, found)) in enumerate(zip(labels, unknown, strict=True)):
        column = chunk.X[:, j]
        if found and idle.any():  # numbers of such rows alone are no states
            column = np.where(idle & ~np.isin(column, states[j]), np.nan, column)
        codes[:, j] = number_codes(column, states[j], name, policy)
    return function(chunk._replace(X=codes), *state)
