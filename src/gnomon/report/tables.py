"""Tables from files: CSV, TSV, Parquet and Arrow, read whole or refused with the line, the column and the cure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from gnomon.core.errors import DataError
from gnomon.report.columns import QuestionError
from gnomon.report.forms import find_form, merged_as_floats, without_unknown

TEXT = {".csv": "", ".tsv": "\t", ".tab": "\t", ".txt": ""}  # ending -> separator; none: look at the header
BINARY = (".parquet", ".arrow", ".feather", ".ipc")
MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?"]
MAX_CELL = 2**20  # characters; more is not a table but an accident
MAX_LINE = 2**24


class Shape(NamedTuple):
    """What a look through a text file found."""

    names: list[str]
    rows: int
    blank: int
    lone_returns: bool = False  # lines end in a carriage return alone, as on old Macintoshes


def read_table(
    path: str | Path,
    *,
    missing: list[str] | None = None,
    words: list[str] | None = None,
    needed: list[str] | None = None,
    max_cell: int = MAX_CELL,
    max_line: int = MAX_LINE,
) -> Any:
    r"""Read a table from a CSV, TSV, Parquet or Arrow file.

    Text must be UTF-8 with one header line. Numbers, dates and truth values are recognized by column; empty
    cells, ``NA``, ``NaN``, ``null``, ``None`` and ``?`` are missing. A file is read whole or refused: a row that
    is too short or too long, two columns of one name, a column that is numbers except for a few words, a cell
    of a million characters each raise `DataError`.

    Parameters
    ----------
    path : str or Path
        The file; its ending says what it is.
    missing : list of str, optional
        More words that mean that a value is missing.
    words : list of str, optional
        Columns of a text file that are words even where they look like numbers: the categories of a model, for one.
    needed : list of str, optional
        Columns of a text file that must be in order; another one that mixes numbers and words is taken for words.
    max_cell, max_line : int
        The longest cell and the longest line that are accepted, in characters.

    Returns
    -------
    polars.DataFrame

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trees.csv"
    >>> _ = path.write_text("height,kind\n2.5,oak\nNA,elm\n")
    >>> read_table(path).to_dict(as_series=False)
    {'height': [2.5, None], 'kind': ['oak', 'elm']}
    """
    path = Path(path)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise DataError(f"{path} {what}. Give the path of a CSV, TSV, Parquet or Arrow file.")
    ending = path.suffix.lower()
    if ending in TEXT:
        cells = _read_text(path, TEXT[ending], max_cell, max_line, [*MISSING, *(missing or [])])
        frame = typed_words(cells, [*MISSING, *(missing or [])], words, needed)
    elif ending in BINARY:
        frame = _read_binary(path, ending)
    else:
        raise DataError(
            f"{path.name} has the ending {ending or '(none)'!r}. Tables end in {', '.join([*TEXT, *BINARY])}."
        )
    if frame.height == 0:
        raise DataError(f"{path.name} has a header and no rows.")
    return frame


def _read_binary(path: Path, ending: str) -> Any:
    import polars as pl

    reader = pl.read_parquet if ending == ".parquet" else pl.read_ipc
    try:
        frame = reader(path)
    except Exception as error:
        raise DataError(
            f"{path.name} is no {ending[1:]} file, or a damaged one ({error}). Write it again."
        ) from None
    frame = frame.with_columns(pl.selectors.float().fill_nan(None))
    for column in frame.select(pl.selectors.float()):
        _refuse_infinite(column, column)
    return frame


def _read_text(path: Path, separator: str, max_cell: int, max_line: int, missing: list[str]) -> Any:
    """Return the cells of a text file as words."""
    import polars as pl

    separator = separator_of(path, separator, max_line)
    shape = look_through(path, separator, max_cell, max_line)
    if not shape.rows:
        return pl.DataFrame(schema=dict.fromkeys(shape.names, pl.String))
    try:
        content = _line_feeds(path) if shape.lone_returns else path
        words = pl.read_csv(content, separator=separator, new_columns=shape.names, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path.name} cannot be read ({error}). Look for a quote inside a cell.") from None
    if words.height != shape.rows + shape.blank:
        raise DataError(f"{path.name} has a quote in the wrong place. Double the quotes inside a cell.")
    if shape.blank and len(shape.names) > 1:
        blank = pl.all().is_null() | pl.all().str.strip_chars().is_in(missing)
        words = words.filter(~pl.all_horizontal(blank))
    return words


def typed_words(
    words: Any, missing: list[str], kept: list[str] | None = None, needed: list[str] | None = None
) -> Any:
    """Return a table of words with its numbers, truth values and dates read, column by column; some are kept."""
    import polars as pl

    words = words.with_columns(pl.all().str.strip_chars().replace(missing, [None] * len(missing)))

    def read(column: Any) -> Any:
        if column.name in (kept or ()):
            return column
        try:
            return _typed(column)
        except DataError:
            if needed is None or column.name in needed:
                raise
            return column

    return pl.DataFrame([read(column) for column in words])


def separator_of(path: Path, separator: str = "", max_line: int = MAX_LINE) -> str:
    """Return the separator that the header uses most; a comma when it uses none."""
    if separator:
        return separator
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        header = file.readline(max_line)  # ends at any of \n, \r\n and \r
    return max([",", ";", "\t", "|"], key=header.count)


def look_through(path: Path, separator: str, max_cell: int = MAX_CELL, max_line: int = MAX_LINE) -> Shape:
    """Check every line of a text file without keeping any of them."""
    before = csv.field_size_limit(max_cell)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(open_lines(stream, path.name, max_line), delimiter=separator, strict=True)
            shape = _check_rows(reader, path.name)
            ends = stream.newlines if isinstance(stream.newlines, tuple) else (stream.newlines,)
            return shape._replace(lone_returns="\r" in ends)
    except UnicodeDecodeError:
        raise _encoding_trouble(path, max_line) from None
    except csv.Error as error:
        raise _quoting_trouble(path.name, reader.line_num, str(error), max_cell) from None
    finally:
        csv.field_size_limit(before)


def _line_feeds(path: Path) -> bytes:
    """Return a text whose lines end in line feeds."""
    return path.read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def open_lines(stream: IO[str], name: str, limit: int = MAX_LINE) -> Iterator[str]:
    """Yield the lines of a file, none of them longer than the limit, and never hold more than one."""
    number = 0
    while line := stream.readline(limit + 1):
        number += 1
        if len(line) > limit:
            raise DataError(
                f"line {number} of {name} is longer than {limit:,} characters. Look for a missing line end."
            )
        if "\0" in line:
            raise DataError(f"line {number} of {name} holds a zero byte: it is no text. Save it as UTF-8.")
        yield line


def _check_rows(reader: Any, name: str) -> Shape:
    header = [cell.strip() for cell in next(reader, [])]
    names = [cell or f"column {place}" for place, cell in enumerate(header, start=1)]
    _check_names(names, any(header), name)
    rows = blank = 0
    for row in reader:
        rows += 1
        if not row and len(names) > 1:
            blank += 1
        elif len(row) != len(names) and row:
            raise DataError(
                f"line {reader.line_num} of {name} has {len(row)} cells and the header has {len(names)}. "
                "Add or remove separators there; put a cell that contains one in quotes."
            )
    return Shape(names, rows - blank, blank)


def _check_names(names: list[str], named: bool, name: str) -> None:
    if not named:
        raise DataError(f"{name} is empty: its first line must name the columns.")
    for position, column in enumerate(names):
        if column in names[:position]:
            raise DataError(
                f"{name} has two columns named {column!r} (columns {names.index(column) + 1} and {position + 1})."
                " Rename one."
            )


def _quoting_trouble(name: str, line: int, reason: str, max_cell: int) -> DataError:
    if "larger than field limit" in reason:
        return DataError(
            f"a cell that ends near line {line} of {name} is longer than {max_cell:,} characters. "
            "Look for a quote that is never closed, or leave that column out."
        )
    return DataError(
        f"line {line} of {name} has a quote in the wrong place ({reason}). Double the quotes inside a cell."
    )


def _encoding_trouble(path: Path, max_line: int) -> DataError:
    """Find the first line that is not UTF-8."""
    cure = f"Convert it: iconv -f latin1 -t utf-8 {path.name} > new.csv"
    with path.open("rb") as file:
        if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            return DataError(f"{path.name} is UTF-16. {cure.replace('latin1', 'utf-16')}")
        file.seek(0)
        for number, line in enumerate(iter(lambda: file.readline(max_line), b""), start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                byte = f"0x{line[error.start]:02x}"
                return DataError(f"line {number} of {path.name} is not UTF-8 (byte {byte}). {cure}")
    return DataError(f"{path.name} is not UTF-8. {cure}")


def _typed(column: Any) -> Any:
    """Return a column of words as whole numbers, numbers, truth values or dates where all its cells are."""
    import polars as pl

    given = column.len() - column.null_count()
    if given == 0:
        return column
    numbers = column.cast(pl.Float64, strict=False)
    if numbers.null_count() > column.null_count() and 2 * (column.len() - numbers.null_count()) > given:
        column = without_unknown(column)
        given = column.len() - column.null_count()
    read = given - (numbers.null_count() - column.null_count())
    if read == given:
        _refuse_infinite(column, numbers)
        if merged_as_floats(column) or _codes(column):
            return column
        whole = column.cast(pl.Int64, strict=False)
        return whole if whole.null_count() == column.null_count() else numbers
    if 2 * read > given and find_form(column) is None:
        raise _mixed(column, numbers)
    lower = column.str.to_lowercase()
    if lower.is_in(["true", "false"]).sum() == given:
        return (lower == "true").alias(column.name)
    return _dates(column)


def _codes(column: Any) -> bool:
    """Tell whether digits are names, such as postal codes: of one length, four or more, some with zeros in front."""
    given = column.drop_nulls()
    digits = given.str.contains(r"^\d{4,}$").all() and given.str.starts_with("0").any()
    return bool(digits) and given.str.len_chars().n_unique() == 1


def _dates(column: Any) -> Any:
    import polars as pl

    for kind in (pl.Date, pl.Datetime):
        for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"):
            if (kind == pl.Date) != ("%H" not in form):
                continue
            days = column.str.strptime(kind, form, strict=False)
            if days.null_count() == column.null_count():
                return days
    return column


def _first(mask: Any) -> int:
    return int(mask.arg_true()[0])


def _refuse_infinite(column: Any, numbers: Any) -> None:
    if numbers.is_infinite().any():
        row = _first(numbers.is_infinite().fill_null(False))
        raise DataError(
            f"column {column.name!r}, row {row + 1}: {column[row]!r} is not a finite number. "
            "Leave the cell empty to mark it as missing."
        )


def _mixed(column: Any, numbers: Any) -> DataError:
    odd = numbers.is_null() & column.is_not_null()
    row, count = _first(odd), int(odd.sum())
    words = column.filter(odd).unique(maintain_order=True).to_list()
    more = f", and {count - 1} more row{'s have' * (count > 2) or ' has'} something that is no number" * (
        count > 1
    )
    cure = f"take them for missing: --missing {','.join(words)!r}" if _short(words) else "mend them"
    return DataError(
        f"column {column.name!r} mixes numbers and words: row {row + 1} has {words[0][:40]!r}{more}. Leave the column "
        f"out: --exclude {column.name!r}; or {cure}."
    )


def _short(words: list[str]) -> bool:
    """Tell whether words can be listed in a command."""
    return len(words) <= 10 and not any("," in word or len(word) > 40 for word in words)


def write_table(frame: Any, path: str | Path) -> None:
    """Write a table as CSV, TSV or Parquet, by the ending of its name; whole or not at all."""
    from gnomon.core.saving import write_atomically

    ending = Path(path).suffix.lower()
    if ending == ".parquet":
        file = io.BytesIO()
        frame.write_parquet(file)
        write_atomically(path, file.getvalue())
    elif ending in TEXT:
        write_atomically(path, as_csv(frame, TEXT[ending] or ",").encode())
    else:
        raise QuestionError(f"{path} must end in .csv, .tsv or .parquet.")


def as_csv(frame: Any, separator: str = ",") -> str:
    """Return a table as CSV text."""
    text = io.StringIO()
    frame.write_csv(text, separator=separator)
    return text.getvalue()
