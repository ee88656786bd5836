"""Features: numbers out of dates and texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError

PARTS = ("month", "weekday", "hour")
WORDS = 100  # most frequent words of a text column that get a column
PRIOR_ROWS = 10.0  # the mean of all rows counts as so many rows in the mean of a value
PARTS_OF_MEANS = 5
TOKEN = r"[^\W\d_]{2,}"


def as_days(column: Any) -> Any:
    """Return dates as days since 1970, times of the day as shares of it; NaN where they are missing."""
    import polars as pl

    if not column.dtype.is_temporal():
        raise DataError(f"column {column.name!r} must hold dates, such as 2024-03-31; it is {column.dtype}.")
    if column.dtype == pl.Datetime:
        return column.dt.epoch("us").cast(pl.Float64).to_numpy() / 86_400e6
    if column.dtype == pl.Time:
        return column.to_physical().cast(pl.Float64).to_numpy() / 86_400e9
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


def answers_of(y: Any, classes: Any = None) -> Any:
    """Return what the mean is taken of: numbers, or for classes a column of 0 and 1 for every class but the first."""
    if classes is None:
        return np.asarray(y, dtype=float)[:, None]
    return (np.asarray(y)[:, None] == np.asarray(classes)[1:]).astype(float)


class Means:
    """The mean answer for each value of a category, drawn towards the mean of all rows where rows are few.

    A value of n rows gets (sum + m · mean of all) / (n + m), with m = `PRIOR_ROWS`.
    """

    def __init__(self, table: dict[str, list[float]], usual: list[float]) -> None:
        self.table, self.usual = table, usual

    @classmethod
    def learned(cls, words: Any, answers: Any) -> Means:
        """Return the means of the answers (n, k) by the words of the same rows."""
        values, places = np.unique(np.asarray(words.to_list(), dtype=str), return_inverse=True)
        count = np.bincount(places, minlength=len(values))[:, None]
        sums = np.column_stack([np.bincount(places, column, minlength=len(values)) for column in answers.T])
        usual = answers.mean(axis=0)
        means = (sums + PRIOR_ROWS * usual) / (count + PRIOR_ROWS)
        return cls(dict(zip(map(str, values), means.tolist())), usual.tolist())

    def matrix(self, words: Any) -> Any:
        """Return the means for the words of some rows; the mean of all for a word that was never seen."""
        return np.array([self.table.get(word, self.usual) for word in words.to_list()])


def means_of_others(words: Any, answers: Any) -> Any:
    """Return for every row the means as they are learned without its fifth of the rows: no row tells its own answer."""
    part = np.random.default_rng(0).permutation(len(answers)) % PARTS_OF_MEANS
    found = np.empty_like(answers)
    for k in range(PARTS_OF_MEANS):
        mine = part == k
        if mine.any():
            others = np.flatnonzero(~mine)
            found[mine] = Means.learned(words[others], answers[others]).matrix(words[np.flatnonzero(mine)])
    return found
