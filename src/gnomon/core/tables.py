"""Tables on disk: Parquet files and Arrow record batches, read a few batches at a time."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.rows import CHUNK_BYTES, CHUNK_ROWS, Chunk, Encoding, Rows
from gnomon.core.threads import in_order

Item = TypeVar("Item")
NUMBERS = (
    "int",
    "uint",
    "float",
    "double",
    "halffloat",
    "bool",
    "decimal",
)  # Arrow's names of types begin so


class Roles(NamedTuple):
    """Which columns of a table play which part."""

    features: list[str]
    target: str | list[str] | None
    weight: str | None
    sequence: str | None

    def columns(self) -> list[str]:
        """Return every column that has to be read."""
        target = self.target if isinstance(self.target, list) else [self.target]
        named = [*self.features, *target, self.weight, self.sequence]
        return list(dict.fromkeys(name for name in named if name is not None))


def is_table(X: Any) -> bool:
    """Tell whether X names a table on disk, is an Arrow object, or is a source of record batches."""
    named = isinstance(X, str | os.PathLike | ParquetSource | ArrowSource)
    return named or type(X).__module__.partition(".")[0] == "pyarrow"


class TableRows(Rows):
    """Rows of a table that need not fit in memory.

    `source` is the path of a Parquet file or of a folder of them, a `pyarrow.dataset.Dataset`, a
    `pyarrow.Table`, or a `RecordBatchReader`, which is read into memory because learners read many times.
    The target, the weights and the sequences are columns of the table, given by name.
    """

    def __init__(
        self,
        source: Any,
        *,
        target: Any = None,
        weight: str | None = None,
        sequence: str | None = None,
        features: Iterable[str] | None = None,
        nan: bool = False,
        dtype: Any = None,
    ) -> None:
        self.source = open_source(source)
        self.roles = assign_roles(self.source.schema, target, weight, sequence, features)
        self.n_rows = self.source.count()
        self.n_features = len(self.roles.features)
        self.feature_names = np.array(self.roles.features, dtype=object)
        self.dtype = (
            np.dtype(dtype) if dtype is not None else common_dtype(self.source.schema, self.roles.features)
        )
        self.weighted = weight is not None
        self.encoding = Encoding(self.roles.features, self.dtype, nan, None)
        if self.n_rows == 0:
            raise DataError(f"the table {source!r} has no rows.")
        if weight is not None and not any(
            (read_column(batch, weight) != 0).any() for batch in self.source.batches([weight])
        ):
            raise DataError("sample_weight is zero for every row; at least one row must count.")

    def learn_classes(self) -> None:
        """Find the classes of the target in one pass over its column."""
        labels = []
        for batch in self.source.batches([self.roles.target]):
            if batch.column(self.roles.target).null_count:
                raise DataError(f"column {self.roles.target!r} holds missing labels; drop those rows.")
            labels.append(np.unique(read_column(batch, self.roles.target)))
        self.classes = np.unique(np.concatenate(labels))
        self.encoding = self.encoding._replace(classes=self.classes)

    def chunks(self) -> Iterator[Chunk]:
        """Read the table from its beginning."""
        size = max(CHUNK_ROWS, CHUNK_BYTES // max(1, self.dtype.itemsize * self.n_features))
        batches = self.source.batches(self.roles.columns(), size)
        if self.roles.sequence is not None:
            batches = whole_sequences(batches, self.roles.sequence)
        start = 0
        for batch in batches:
            yield self._chunk(batch, start)
            start += batch.num_rows

    def _chunk(self, batch: Any, start: int) -> Chunk:
        roles, m = self.roles, batch.num_rows
        X = np.empty((m, self.n_features), dtype=self.dtype)
        for position, name in enumerate(roles.features):
            X[:, position] = read_column(batch, name)
        if isinstance(roles.target, list):
            y: Array | None = np.column_stack(
                [self.encoding.target(read_column(batch, name)) for name in roles.target]
            )
        else:
            y = None if roles.target is None else self.encoding.target(read_column(batch, roles.target))
        weight = None if roles.weight is None else read_column(batch, roles.weight)
        lengths = None if roles.sequence is None else run_lengths(read_column(batch, roles.sequence))
        return Chunk(self.encoding.matrix(X, start), y, self.encoding.weights(weight, m), start, lengths)

    def gather(
        self, function: Callable[..., Any], state: tuple[Any, ...], combine: Callable[..., Any]
    ) -> Any:
        """Read ahead on a thread of its own while the pool works on what has arrived."""
        return combine(in_order(lambda chunk: function(chunk, *state), read_ahead(self.chunks())))


class ParquetSource:
    """Parquet files, read page by page so that memory stays at a few batches."""

    def __init__(self, files: list[str]) -> None:
        import pyarrow.parquet as parquet

        self.files = files
        self.schema = parquet.read_schema(files[0])
        for file in files[1:]:
            self.schema = common_schema(self.schema, parquet.read_schema(file), file, files[0])

    def count(self) -> int:
        """Return the number of rows, from the files' footers."""
        import pyarrow.parquet as parquet

        return sum(parquet.read_metadata(file).num_rows for file in self.files)

    def batches(self, columns: list[str], size: int = 65536) -> Iterator[Any]:
        """Yield record batches of at most `size` rows."""
        import pyarrow.parquet as parquet

        for file in self.files:
            with parquet.ParquetFile(file, pre_buffer=False, buffer_size=2**16) as opened:
                yield from opened.iter_batches(batch_size=size, columns=columns, use_threads=False)


def common_schema(schema: Any, other: Any, file: str, first: str) -> Any:
    """Return the columns of two files of one table; numbers of different types meet in float64."""
    import pyarrow as pa

    if other.names != schema.names:
        raise DataError(f"{file} has other columns than {first}; the files of a table must agree.")
    for place, (mine, theirs) in enumerate(zip(schema, other, strict=True)):
        kinds = [str(field.type) for field in (mine, theirs)]
        if kinds[0] == kinds[1]:
            continue
        if not all(kind.startswith(NUMBERS) for kind in kinds):
            raise DataError(f"column {mine.name!r} holds {kinds[0]} in {first} and {kinds[1]} in {file}.")
        schema = schema.set(place, pa.field(mine.name, pa.float64()))
    return schema


class ArrowSource:
    """A dataset or a table of pyarrow."""

    def __init__(self, data: Any) -> None:
        self.data, self.schema = data, data.schema

    def count(self) -> int:
        """Return the number of rows."""
        return int(self.data.count_rows() if hasattr(self.data, "count_rows") else self.data.num_rows)

    def batches(self, columns: list[str], size: int = 65536) -> Iterator[Any]:
        """Yield record batches of at most `size` rows."""
        if hasattr(self.data, "scanner"):
            scanner = self.data.scanner(
                columns=columns, batch_size=size, batch_readahead=1, fragment_readahead=1
            )
            yield from scanner.to_batches()
        else:
            yield from self.data.select(columns).to_batches(max_chunksize=size)


def open_source(source: Any) -> Any:
    """Return a source of record batches for whatever names a table."""
    if isinstance(source, ParquetSource | ArrowSource):
        return source
    if not isinstance(source, str | os.PathLike):
        if hasattr(source, "read_all"):  # a stream is read once, learners read many times
            source = source.read_all()
        return ArrowSource(source)
    path = Path(source)
    files = sorted(str(file) for file in path.rglob("*.parquet")) if path.is_dir() else [str(path)]
    if not path.exists() or not files:
        raise DataError(f"X names the table {str(path)!r}, and there is no Parquet file. Check the path.")
    try:
        return ParquetSource(files)
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{str(path)!r} is not a readable Parquet file: {error}") from error


def assign_roles(
    schema: Any, target: Any, weight: Any, sequence: Any, features: Iterable[str] | None
) -> Roles:
    """Check the named columns; whatever has no other part is a feature."""
    target = list(target) if isinstance(target, list | tuple) else target
    named = [*(target if isinstance(target, list) else [target]), weight, sequence]
    special = [name for name in named if name is not None]
    chosen = None if features is None else [str(name) for name in features]
    for name in [*special, *(chosen or [])]:
        if not isinstance(name, str):
            raise DataError(
                f"with a table as X, y and sample_weight are names of its columns; got {type(name).__name__}."
            )
        if name not in schema.names:
            raise DataError(f"the table has no column {name!r}.{nearest(name, schema.names)}")
    if chosen is None:
        chosen = [name for name in schema.names if name not in special]
    if not chosen:
        raise DataError("the table has no feature columns left.")
    return Roles(chosen, target, weight, sequence)


def common_dtype(schema: Any, names: list[str]) -> np.dtype[Any]:
    """Return float32 when every feature is at most that wide, else float64; refuse what is no number."""
    narrow = True
    for name in names:
        kind = str(schema.field(name).type)
        if not kind.startswith(NUMBERS):
            raise DataError(f"column {name!r} holds {kind}, and features must be numbers. Encode or drop it.")
        narrow = narrow and kind in ("float", "halffloat")
    return np.dtype(np.float32 if narrow else np.float64)


def read_column(batch: Any, name: Any) -> Array:
    """Return a column as an array; nulls become NaN."""
    column = batch.column(name)
    if str(column.type).startswith("decimal"):
        column = column.cast("float64")
    return np.asarray(column.to_numpy(zero_copy_only=False))


def run_lengths(labels: Array) -> Array:
    """Return the lengths of the runs of equal labels.

    >>> run_lengths(np.array([5, 5, 2, 2, 2]))
    array([2, 3])
    """
    borders = np.flatnonzero(labels[1:] != labels[:-1]) + 1
    return np.diff(np.concatenate([[0], borders, [len(labels)]]))


def whole_sequences(batches: Iterable[Any], name: str) -> Iterator[Any]:
    """Regroup batches so that none cuts a run of equal values in column `name`."""
    import pyarrow as pa

    rest: list[Any] = []
    for batch in batches:
        labels = read_column(batch, name)
        last = batch.num_rows - int(run_lengths(labels)[-1])
        if last == 0 and rest and read_column(rest[0], name)[0] == labels[0]:
            rest.append(batch)
            continue
        if rest and read_column(rest[0], name)[0] != labels[0]:
            yield pa.concat_batches(rest)
            rest = []
        if last > 0:
            yield pa.concat_batches([*rest, batch.slice(0, last)])
            rest = []
        rest.append(batch.slice(last))
    if rest:
        yield pa.concat_batches(rest)


def read_ahead(items: Iterator[Item], depth: int = 2) -> Iterator[Item]:
    """Yield the items while a thread fetches the next few; its errors come out here."""
    inbox: queue.Queue[Any] = queue.Queue(maxsize=depth)
    done, stop = object(), threading.Event()

    def offer(message: Any) -> None:
        while not stop.is_set():
            try:
                return inbox.put(message, timeout=0.1)
            except queue.Full:
                continue

    def fetch() -> None:
        try:
            for item in items:
                if stop.is_set():
                    return
                offer((item, None))
            offer((done, None))
        except BaseException as error:  # handed to the reader
            offer((done, error))

    reader = threading.Thread(target=fetch, name="gnomon-read-ahead", daemon=True)
    reader.start()
    try:
        while True:
            item, error = inbox.get()
            if error is not None:
                raise error
            if item is done:
                return
            yield item
    finally:
        stop.set()
