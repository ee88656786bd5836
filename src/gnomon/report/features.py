"""Features: numbers out of dates and texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError

PARTS = ("month", "weekday", "hour")
WORDS = 100  # most frequent words of a text column that get a column
TOKEN = r"[^\W\d_]{2,}"


def as_days(column: Any) -> Any:
    """Return dates as days since 1970, hours as fractions of a day; NaN where they are missing."""
    import polars as pl

    if not column.dtype.is_temporal():
        raise DataError(f"column {column.name!r} must hold dates, such as 2024-03-31; it is {column.dtype}.")
    if column.dtype == pl.Datetime:
        return column.dt.epoch("us").cast(pl.Float64).to_numpy() / 86_400e6
    return column.to_physical().cast(pl.Float64).to_numpy()


def date_parts(column: Any) -> Any:
    """Return month (1 to 12), weekday (1 to 7) and hour of every date; NaN where they are missing or not there."""
    import polars as pl

    none = np.full(len(column), np.nan)
    dated = column.dtype in (pl.Date, pl.Datetime)
    month = column.dt.month().cast(pl.Float64).to_numpy() if dated else none
    weekday = column.dt.weekday().cast(pl.Float64).to_numpy() if dated else none
    timed = column.dtype in (pl.Datetime, pl.Time)
    hour = column.dt.hour().cast(pl.Float64).to_numpy() if timed else none
    return np.column_stack([month, weekday, hour])


class Bag:
    """The words of a text column that get a column each, learned from training rows; weights are those of tf-idf."""

    def __init__(self, words: list[str], weights: Any) -> None:
        self.words, self.weights = words, weights

    @classmethod
    def learned(cls, texts: Any, most: int = WORDS) -> Bag:
        """Return the most frequent words of texts, weighted by how rare they are."""
        from sklearn.feature_extraction.text import CountVectorizer

        counter = CountVectorizer(token_pattern=TOKEN, max_features=most, min_df=2)
        try:
            counts = counter.fit_transform(_texts(texts))
        except ValueError:  # no word occurs twice
            return cls([], np.empty(0))
        rows = np.asarray((counts > 0).sum(axis=0)).ravel()
        weights = np.log((1 + counts.shape[0]) / (1 + rows)) + 1
        return cls([str(word) for word in counter.get_feature_names_out()], weights)

    def matrix(self, texts: Any) -> Any:
        """Return the weighted words of every text: (1 + log count) times the weight, scaled to length one."""
        from sklearn.feature_extraction.text import CountVectorizer

        if not self.words:
            return np.empty((len(texts), 0))
        counts = (
            CountVectorizer(token_pattern=TOKEN, vocabulary=self.words).transform(_texts(texts)).toarray()
        )
        with np.errstate(divide="ignore"):
            W = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0.0) * self.weights
        length = np.linalg.norm(W, axis=1, keepdims=True)
        return W / np.where(length > 0, length, 1.0)


def _texts(column: Any) -> list[str]:
    return [text or "" for text in column.cast(str).to_list()]
