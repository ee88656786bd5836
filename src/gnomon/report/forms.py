"""Forms: how numbers, dates and truth values are written in a column of words, and reading them back.

The form of a column is found once, on the table that a model learns from, and kept with the model: a new table is
read the same way.
"""

from __future__ import annotations

from typing import Any

from gnomon.core.errors import DataError

POINT, COMMA, TRUTH = "1,234.5", "1.234,5", "truth"
UNKNOWN = (
    "", "unknown", "unk", "missing", "n.a.", "n.a", "na", "n/a", "nan", "none", "nil", "null", "-", "--", "---", ".",
    "?", "#n/a", "#na", "#nv", "#value!", "#div/0!", "not available", "not known", "k.a.", "tbd",
)  # fmt: skip
TRUE = ("true", "yes", "y", "t", "on", "ja", "oui", "si", "sí", "sim")
FALSE = ("false", "no", "n", "f", "off", "nein", "non", "no", "no", "não")
MARKS = r"[$€£¥₹%\s\u00a0\u202f'’]|\b(?:USD|EUR|GBP|CHF|JPY|INR|SEK|NOK|DKK|PLN|CZK)\b|\b(?:Fr|kr|zł)\b\.?"
NUMERIC = {
    POINT: r"^[+-]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][+-]?\d+)?$",
    COMMA: r"^[+-]?(?:[1-9]\d{0,2}(?:\.\d{3})+|\d+)?(?:,\d*)?$",
}
SPACED = r"\d[\s\u00a0\u202f'’](?:\d{1,2}(?:\D|$)|\d{4})"  # digits that are apart, and not by thousands
DAYS = (
    "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d %b %Y", "%d %B %Y",
    "%d-%b-%Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%d-%b-%y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y",
)  # fmt: skip
HOURS = (
    "", " %H:%M:%S", " %H:%M", "T%H:%M:%S", "T%H:%M", "T%H:%M:%SZ", " %H:%M:%S%.f", "T%H:%M:%S%.f",
    "T%H:%M:%S%z", " %H:%M:%S%z", "T%H:%M:%S%.f%z", " %H:%M:%S%.f%z",
)  # fmt: skip
TIMES = ("%H:%M:%S", "%H:%M", "%H:%M:%S%.f")  # of a day
SAMPLE = 200


def find_form(column: Any) -> str | None:
    """Return how the values of a column of words are written, or None when they are words.

    >>> import polars as pl
    >>> find_form(pl.Series("price", ["$1,200.00", "$15", "unknown"]))
    '1,234.5'
    >>> find_form(pl.Series("share", ["12,5 %", "3,25 %"]))
    '1.234,5'
    >>> find_form(pl.Series("day", ["31/12/2020", "1/2/2021"]))
    '%d/%m/%Y'
    """
    given = without_unknown(column).drop_nulls()
    if given.is_empty():
        return None
    lower = given.str.to_lowercase()
    for true, false in zip(TRUE, FALSE):
        if lower.is_in([true, false]).all():
            return TRUTH
    if given.str.contains(r"\d").all():
        if given.str.contains(SPACED).any():
            return _find_date(given)
        bare = _bare(given)
        if merged_as_floats(bare):
            return None
        if bare.str.contains(r"^[\d.,+eE-]+$").all() and not given.str.contains(r"^\s*0\d+\s*$").any():
            for form in (POINT, COMMA):
                if bare.str.contains(NUMERIC[form]).all():
                    return form
        return _find_date(given)
    return None


def merged_as_floats(words: Any) -> bool:
    """Tell whether words are whole numbers so long that different ones would become the same float: they are names.

    >>> import polars as pl
    >>> (
    ...     merged_as_floats(pl.Series(["9007199254740992", "9007199254740993"])),
    ...     merged_as_floats(pl.Series(["1", "2"])),
    ... )
    (True, False)
    """
    import polars as pl

    given = words.drop_nulls()
    if not (given.str.len_chars() > 15).any() or not given.str.contains(r"^[+-]?\d+$").all():
        return False
    return bool(given.n_unique() > given.cast(pl.Float64).n_unique())


def _bare(words: Any) -> Any:
    """Return words without currencies, percent signs, spaces and marks of thousands that are no comma or point."""
    return words.str.replace_all(MARKS, "")


def _find_date(given: Any) -> str | None:
    head = given.head(SAMPLE)
    for day in DAYS:
        for hour in HOURS:
            if not _dates(head, day + hour).null_count() and not _dates(given, day + hour).null_count():
                return day + hour
    return next((form for form in TIMES if not _dates(given, form).null_count()), None)


def _dates(words: Any, form: str) -> Any:
    import polars as pl

    if form in TIMES:
        kind: Any = pl.Time
    elif "%z" in form:
        kind = pl.Datetime(time_zone="UTC")
    else:
        kind = pl.Datetime if "%H" in form else pl.Date
    read = words.str.strip_chars().str.strptime(kind, form, strict=False)
    return read.dt.replace_time_zone(None) if "%z" in form else read


def without_unknown(column: Any) -> Any:
    """Return a column of words with those for "not known" taken away."""
    import polars as pl

    mask = column.str.strip_chars().str.to_lowercase().is_in(UNKNOWN)
    return pl.select(pl.when(~mask).then(column)).to_series().alias(column.name)


def read_form(column: Any, form: str) -> Any:
    """Return a column of words as numbers, dates or truth values.

    >>> import polars as pl
    >>> read_form(pl.Series("x", ["1.234,5 €", "-2,5", "unknown"]), COMMA).to_list()
    [1234.5, -2.5, None]
    """
    import polars as pl

    words = without_unknown(column)
    if form == TRUTH:
        lower = words.str.strip_chars().str.to_lowercase()
        found = pl.select(
            pl.when(lower.is_in(TRUE)).then(True).when(lower.is_in(FALSE)).then(False)
        ).to_series()
    elif form in NUMERIC:
        bare = _bare(words)
        bare = (
            bare.str.replace_all(",", "")
            if form == POINT
            else bare.str.replace_all(r"\.", "").str.replace(",", ".")
        )
        found = bare.cast(pl.Float64, strict=False)
    else:
        found = _dates(words, form)
    found = found.alias(column.name)
    if found.null_count() > words.null_count():
        row = int((found.is_null() & words.is_not_null()).arg_true()[0])
        raise DataError(
            f"column {column.name!r}, row {row + 1}: {column[row]!r} is no {_what(form)}, as the others are. Mend it, "
            "leave it empty, or say that it means missing: --missing."
        )
    return found


def check_plain(column: Any, form: str) -> None:
    """Refuse numbers whose point may have been one of thousands: the model learned from decimal commas."""
    if form == COMMA and column.dtype.is_float() and bool((column.drop_nulls() % 1 != 0).any()):
        raise DataError(
            f"column {column.name!r} was learned with decimal commas, and this table has numbers with a point, such "
            f"as {column.drop_nulls()[0]}. Write them with decimal commas too."
        )


def _what(form: str) -> str:
    return {TRUTH: "yes or no", POINT: "number", COMMA: "number with a decimal comma"}.get(form, "date")


def in_words(column: Any, form: str) -> str:
    """Say how the values of a column are written."""
    if form == TRUTH:
        return "yes or no, as 1 and 0"
    if form not in NUMERIC:
        if form in TIMES:
            return "times of the day"
        said = form.replace("%.f", "").replace("%z", " with its zone, in UTC")
        for code, word in {
            "%Y": "year",
            "%y": "year",
            "%m": "month",
            "%d": "day",
            "%b": "month",
            "%B": "month",
        }.items():
            said = said.replace(code, word)
        said = said.replace("%H:%M:%S", "time").replace("%H:%M", "time")
        return f"dates written {said}" + (
            " (month/day/year would fit too)" if _other_order(column, form) else ""
        )
    words = without_unknown(column).drop_nulls()
    parts = []
    if words.str.contains("%").any():
        parts.append("percent")
    if words.str.contains(r"[$€£¥₹]|[A-Za-z]{2}").any():
        parts.append("a currency")
    bare = _bare(words)
    if form == COMMA and bare.str.contains(",").any():
        parts.append("decimal commas")
    if bare.str.contains(r"\d[.,]\d{3}[.,]?" if form == COMMA else r"\d,\d{3}").any() and (
        form == POINT or bare.str.contains(r"\.").any()
    ):
        parts.append("marks of thousands")
    return "numbers written with " + " and ".join(parts) if parts else "numbers written as words"


def _other_order(column: Any, form: str) -> bool:
    if "%d/%m" not in form:
        return False
    words = without_unknown(column).drop_nulls()
    return not _dates(words, form.replace("%d/%m", "%m/%d")).null_count()


def understand(frame: Any, target: str | None = None) -> tuple[Any, dict[str, str], dict[str, str]]:
    """Return a table whose columns of words are read, the form of each such column, and the forms in words.

    A target is read only where it holds numbers: classes keep their words.
    """
    import polars as pl

    forms: dict[str, str] = {}
    said: dict[str, str] = {}
    read = []
    for column in frame:
        form = find_form(column) if column.dtype == pl.String else None
        if form is not None and (column.name != target or form in NUMERIC):
            forms[column.name], said[column.name] = form, in_words(column, form)
            read.append(read_form(column, form))
    return frame.with_columns(read), forms, said
