"""Columns of words in tables that are not in memory: turned into codes as their batches are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gnomon.core.dask_rows import is_dask
from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.tables import ArrowSource, is_table, open_source
from gnomon.graphical.factor import states_of

TEXT = ("string", "large_string", "dictionary", "utf8", "string_view")


def coded_table(
    X: Any, known: Mapping[str, Sequence[Any]], others: Sequence[Any], unknown: str
) -> tuple[Any, dict[str, tuple[Any, ...]]]:
    """Return a table with its columns of words as codes, and their states; `others` are no features.

    States that are not known are found in one pass, in sorted order.
    """
    if is_table(X):
        source = open_source(X)
        kinds = {field.name: str(field.type) for field in source.schema}
        names = [name for name, kind in kinds.items() if kind.startswith(TEXT) and name not in others]
        if not names:
            return X, {}
        states = _named_states(names, known, lambda missing: _seen_in_batches(source, missing))
        return CodedSource(source, states, unknown), states
    if is_dask(X) and hasattr(X, "columns"):
        names = [n for n in X.columns if getattr(X.dtypes[n], "kind", "O") not in "iufb" and n not in others]
        if not names:
            return X, {}
        states = _named_states(names, known, lambda missing: _seen_in_partitions(X, missing))
        return X.map_partitions(
            coded_partition, states, unknown, meta=coded_partition(X._meta, states, unknown)
        ), states
    return X, {}


def _named_states(
    names: list[str], known: Mapping[str, Sequence[Any]], find: Any
) -> dict[str, tuple[Any, ...]]:
    missing = [name for name in names if name not in known]
    seen = find(missing) if missing else {}
    for name in missing:
        if not seen[name]:
            raise DataError(
                f"column {name!r} of X has no observed entry, so its states are not known; give states."
            )
    return {name: states_of(known[name] if name in known else sorted(seen[name]), name) for name in names}


def _seen_in_batches(source: Any, names: list[str]) -> dict[str, set[Any]]:
    seen: dict[str, set[Any]] = {name: set() for name in names}
    for batch in source.batches(names):
        for name in names:
            seen[name].update(batch.column(name).unique().to_pylist())
    return {name: own - {None} for name, own in seen.items()}


def _seen_in_partitions(X: Any, names: list[str]) -> dict[str, set[Any]]:
    return {name: set(X[name].dropna().unique().compute().tolist()) for name in names}


def word_codes(words: Sequence[Any], states: Sequence[Any], name: str, unknown: str) -> Array:
    """Return the codes of some words as numbers; what is missing, or unknown where that is allowed, is NaN."""
    place = {str(state): float(code) for code, state in enumerate(states)}
    found = np.empty(len(words))
    for i, word in enumerate(words):
        absent = word is None or (isinstance(word, float) and np.isnan(word))
        if not absent and str(word) not in place and unknown != "missing":
            raise DataError(
                f"column {name!r} of X holds the string {word!r}, which is none of its states {list(place)[:20]}."
                f"{nearest(word, place)} Mend the value, or declare it in states."
            )
        found[i] = np.nan if absent else place.get(str(word), np.nan)
    return found


class CodedSource(ArrowSource):
    """Record batches of another source with the columns of words as codes."""

    def __init__(self, source: Any, states: dict[str, tuple[Any, ...]], unknown: str) -> None:
        import pyarrow as pa

        self.source, self.states, self.unknown = source, states, unknown
        fields = [pa.field(f.name, pa.float64()) if f.name in states else f for f in source.schema]
        self.schema = pa.schema(fields)

    def count(self) -> int:
        """Return the number of rows."""
        return int(self.source.count())

    def batches(self, columns: list[str], size: int = 65536) -> Iterator[Any]:
        """Yield record batches of at most `size` rows."""
        import pyarrow as pa

        for batch in self.source.batches(columns, size):
            arrays = [self._coded(batch.column(name), name) for name in columns]
            yield pa.RecordBatch.from_arrays(arrays, names=columns)

    def _coded(self, column: Any, name: str) -> Any:
        import pyarrow as pa

        if name not in self.states:
            return column
        coded = column if str(column.type).startswith("dictionary") else column.dictionary_encode()
        table = word_codes(coded.dictionary.to_pylist(), self.states[name], name, self.unknown)
        indices = coded.indices.to_numpy(zero_copy_only=False)
        rows = np.where(np.isnan(indices.astype(np.float64)), -1, indices).astype(np.int64)
        return pa.array(np.append(table, np.nan)[rows])


def coded_partition(frame: Any, states: dict[str, tuple[Any, ...]], unknown: str) -> Any:
    """Return a partition of a Dask frame with the columns of words as codes."""
    coded = {}
    for name, own in states.items():
        values = frame[name].astype(object).to_numpy()
        absent = frame[name].isna().to_numpy()
        present = [None if gone else word for word, gone in zip(values, absent, strict=True)]
        different = list(dict.fromkeys(present))
        codes = dict(zip(different, word_codes(different, own, name, unknown), strict=True))
        coded[name] = np.array([codes[word] for word in present], dtype=np.float64)
    return frame.assign(**coded)
