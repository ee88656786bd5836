"""Serving what was found: predictions for files larger than memory, and one answer taken apart."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_regressor

from gnomon.core.errors import DataError
from gnomon.report.columns import QuestionError
from gnomon.report.encoder import TableModel
from gnomon.report.single import predictions
from gnomon.report.tables import (
    BINARY,
    MAX_CELL,
    MISSING,
    TEXT,
    look_through,
    open_lines,
    read_table,
    separator_of,
    typed_words,
)

CHUNK = 50_000  # rows at a time
DRAWS, BACKGROUND = 60, 100  # orders of the columns, and rows that stand for the usual


def predict_file(
    model: Any, path: Path, out: Path, *, chunk: int = CHUNK, **options: Any
) -> tuple[int, list[str]]:
    """Write the rows of a file with predictions, a part at a time, whole or not at all; return rows and remarks.

    To CSV the cells are written as they were read; to Parquet as the numbers, dates and words that they are.
    """
    ending = out.suffix.lower()
    if ending not in (*TEXT, ".parquet"):
        raise QuestionError(f"{out} must end in .csv, .tsv or .parquet for a file of any size.")
    partial = out.with_name(f".{out.name}.part")
    writer: Any = TextWriter(partial, TEXT[ending] or ",") if ending in TEXT else ParquetWriter(partial)
    writer.types = {} if ending in TEXT else _types(read_chunks(path, chunk, *reading(model)))
    rows, remarks = 0, dict[str, int]()
    try:
        for words, frame in read_chunks(path, chunk, *reading(model)):
            try:
                told, said = predictions(model, frame, **options)
            except DataError as error:
                raise DataError(f"rows {rows + 1} to {rows + len(frame)}: {error}") from None
            new = [name for name in told.columns if name not in frame.columns]
            writer.write(words, frame, told.select(new))
            rows += len(frame)
            remarks |= dict.fromkeys(said, 1)
        if not rows:
            raise DataError(f"{path.name} has a header and no rows.")
        writer.close()
        os.replace(partial, out)
    finally:
        writer.close()
        partial.unlink(missing_ok=True)
    return rows, list(remarks)


class TextWriter:
    """Writes parts of a table as lines of text, the cells as they were read."""

    def __init__(self, path: Path, mark: str) -> None:
        self.stream = path.open("w", encoding="utf-8", newline="")
        self.mark, self.first, self.types = mark, True, dict[str, Any]()

    def write(self, words: Any, frame: Any, new: Any) -> None:
        """Write rows, and before the first ones the header."""
        words.with_columns(new).write_csv(self.stream, separator=self.mark, include_header=self.first)
        self.first = False

    def close(self) -> None:
        """Close the file."""
        self.stream.close()


class ParquetWriter:
    """Writes parts of a table as groups of rows of one Parquet file; `types` are those of the whole columns."""

    def __init__(self, path: Path) -> None:
        self.path, self.file, self.types = path, None, dict[str, Any]()

    def write(self, words: Any, frame: Any, new: Any) -> None:
        """Write rows; a column that is words in some part is words in all."""
        import polars as pl
        from pyarrow import parquet

        columns = [
            _as_words(words[name], frame[name]) if kind == pl.String else frame[name].cast(kind)
            for name, kind in self.types.items()
        ]
        part = pl.DataFrame(columns).with_columns(new).to_arrow()
        self.file = self.file or parquet.ParquetWriter(self.path, part.schema)
        self.file.write_table(part)

    def close(self) -> None:
        """Write the end of the file, once."""
        if self.file is not None:
            self.file.close()
        self.file = None


def _as_words(words: Any, read: Any) -> Any:
    """Return the cells of a column as they were written, none where they mean missing."""
    import polars as pl

    return pl.select(pl.when(read.is_not_null()).then(words.cast(pl.String))).to_series().alias(read.name)


def _types(parts: Iterator[tuple[Any, Any]]) -> dict[str, Any]:
    """Return the type of every column over all parts: what is numbers here and words there is words."""
    import polars as pl

    found: dict[str, Any] = {}
    empty: dict[str, Any] = {}
    for _, frame in parts:
        for column in frame:
            kind, before = column.dtype, found.get(column.name)
            if column.null_count() == len(column):
                found.setdefault(column.name, None)
                empty[column.name] = kind
            elif before is None or before == kind:
                found[column.name] = kind
            elif before.is_numeric() and kind.is_numeric():
                found[column.name] = pl.Float64
            else:
                found[column.name] = pl.String
    return {name: empty[name] if kind is None else kind for name, kind in found.items()}


def can_stream(model: Any, path: Path, out: Path | None) -> bool:
    """Tell whether predictions can be made a part at a time: rows are answered one by one."""
    whole = getattr(model, "sequence", None) is not None
    known = path.suffix.lower() in (*TEXT, *BINARY) and path.is_file()
    return known and not whole and out is not None and out.suffix.lower() in (*TEXT, ".parquet")


def reading(model: Any) -> tuple[list[str], list[str], list[str] | None]:
    """Return how a table is read for a model: words that mean missing, columns that are words to it, those it needs."""
    encoder = getattr(model, "encoder_", None)
    needed = None if encoder is None else [*encoder.columns(), *([model.sequence] if model.sequence else [])]
    words = [*(getattr(encoder, "categories", None) or ()), *(getattr(encoder, "texts", None) or ())]
    return list(getattr(encoder, "missing", None) or ()), words, needed


def read_for(model: Any, path: Path) -> Any:
    """Return a table as the model learned to read it."""
    missing, words, needed = reading(model)
    return read_table(path, missing=missing, words=words, needed=needed)


def read_chunks(
    path: Path, chunk: int, missing: list[str], kept: list[str], needed: list[str] | None = None
) -> Iterator[tuple[Any, Any]]:
    """Yield parts of a table: its cells as they are, and the same with numbers and dates read."""
    import polars as pl

    if path.suffix.lower() in BINARY:
        scan = pl.scan_parquet(path) if path.suffix.lower() == ".parquet" else pl.scan_ipc(path)
        start = 0
        while len(part := scan.slice(start, chunk).collect()):
            yield part, part.with_columns(pl.selectors.float().fill_nan(None))
            start += len(part)
        return
    mark = separator_of(path, TEXT[path.suffix.lower()])
    names = look_through(path, mark).names

    def both(rows: list[list[str]]) -> tuple[Any, Any]:
        words = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
        return words, typed_words(words, [*MISSING, *missing], kept, needed)

    csv.field_size_limit(MAX_CELL)
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(open_lines(stream, path.name), delimiter=mark, strict=True)
        next(reader)
        rows: list[list[str]] = []
        for row in reader:
            if row or len(names) == 1:
                rows.append(row or [""])
            if len(rows) == chunk:
                yield both(rows)
                rows = []
        if rows:
            yield both(rows)


class Part(NamedTuple):
    """What one column adds to one answer."""

    column: str
    value: str
    moves: float


class RowExplained(NamedTuple):
    """One answer taken apart: the usual answer plus what every column adds is the answer."""

    answer: str
    label: str  # what the numbers are
    value: float
    usual: float
    parts: list[Part]  # the largest first


def explain_row(model: Any, frame: Any, row: int, *, random_state: int = 0) -> RowExplained:
    """Return what every column adds to the answer for one row, against other rows of the table (Shapley values).

    Columns are set to their value in the row one after the other, in random orders, starting from a random other row;
    what the answer moves by at a column's turn, on average, is its part.
    """
    if not isinstance(model, TableModel):
        raise QuestionError("one row can be explained for models of gnomon compare and gnomon fit.")
    if not 1 <= row <= len(frame):
        raise QuestionError(f"--row {row}: the table has {len(frame)} rows, and the first is 1.")
    if len(frame) < 2:
        raise DataError("the table has one row; give more, so that there is something to compare it with.")
    names, here = model.encoder_.columns(), row - 1
    rng = np.random.default_rng(random_state)
    others = rng.permutation(np.delete(np.arange(len(frame)), here))[:BACKGROUND]
    orders = np.array([rng.permutation(len(names)) for _ in range(DRAWS)])
    starts = others[np.arange(DRAWS) % len(others)]
    taken = np.zeros((DRAWS, len(names) + 1, len(names)), dtype=bool)  # which columns have the row's value
    for step in range(len(names)):
        taken[:, step + 1] = taken[:, step]
        taken[np.arange(DRAWS), step + 1, orders[:, step]] = True
    sources = np.where(taken, here, starts[:, None, None]).reshape(-1, len(names))
    mixed = frame[np.zeros(len(sources), dtype=int)].with_columns(
        [frame[name][sources[:, j]] for j, name in enumerate(names)]
    )
    answer, label, ask = _asked(model, frame[[here]])
    said = ask(mixed).reshape(DRAWS, len(names) + 1)
    moves = np.zeros(len(names))
    np.add.at(moves, orders, np.diff(said, axis=1) / DRAWS)
    value, usual = float(said[:, -1].mean()), float(said[:, 0].mean())
    parts = [Part(name, str(frame[name][here]), float(move)) for name, move in zip(names, moves)]
    return RowExplained(answer, label, value, usual, sorted(parts, key=lambda part: -abs(part.moves)))


def _asked(model: TableModel, one: Any) -> tuple[str, str, Any]:
    """Return the answer for a row, the name of the number that is explained, and what gives it."""
    said = np.asarray(model.predict(one))[0]
    if is_regressor(model.model_):
        return (
            f"{float(said):.6g}",
            f"predicted {model.target}",
            lambda rows: np.asarray(model.predict(rows), dtype=float),
        )
    if not hasattr(model.model_, "predict_proba"):
        raise QuestionError(f"{type(model.model_).__name__} has no probabilities that could be explained.")
    classes = getattr(model.model_, "classes_", None)
    place = int(said) if classes is None else int(np.flatnonzero(np.asarray(classes) == said)[0])
    return str(said), f"P({said})", lambda rows: np.asarray(model.predict_proba(rows))[:, place]
