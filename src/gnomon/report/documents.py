"""Tables of documents: which column is the text, its words as counts, and what the topics are."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from gnomon.core.errors import DataError
from gnomon.report.columns import OUT, TEXT, Column, words_in
from gnomon.report.features import TOKEN

MOST_WORDS = 1000
COMMON = 0.5  # a word in more than this share of the documents tells nothing about their topics
LEAST_WORDS = 10  # in all documents together


class WordCounts(BaseEstimator):  # type: ignore[misc]
    """How often each of the frequent words is in every document.

    Parameters
    ----------
    column : str
        The text.
    max_words : int
        How many words are counted.
    """

    def __init__(self, column: str = "text", max_words: int = MOST_WORDS) -> None:
        self.column, self.max_words = column, max_words

    def fit(self, frame: Any, y: Any = None) -> Self:
        """Learn which words are frequent in these documents, and not in nearly all of them."""
        from sklearn.feature_extraction.text import CountVectorizer

        counter = CountVectorizer(
            token_pattern=TOKEN, max_features=self.max_words, min_df=2, max_df=COMMON, stop_words="english"
        )
        try:
            counter.fit(_texts(frame, self.column))
        except ValueError:
            raise DataError(f"the documents of {self.column!r} share too few words.") from None
        self.words_ = [str(word) for word in counter.get_feature_names_out()]
        return self

    def transform(self, frame: Any) -> Any:
        """Return the counts of a table of documents."""
        from sklearn.feature_extraction.text import CountVectorizer

        counter = CountVectorizer(token_pattern=TOKEN, vocabulary=self.words_)
        return counter.transform(_texts(frame, self.column)).astype(float)

    def fit_transform(self, frame: Any, y: Any = None) -> Any:
        """Learn from a table and return what the models see of it."""
        return self.fit(frame, y).transform(frame)

    def columns(self) -> list[str]:
        """Return the names of the columns that are read."""
        return [self.column]

    def names(self) -> list[str]:
        """Return the words."""
        return self.words_

    def unseen(self, frame: Any) -> dict[str, int]:
        """Return nothing: words that were not there are not counted."""
        return {}


def _texts(frame: Any, column: str) -> list[str]:
    if column not in frame.columns:
        raise DataError(f"the table has no column {column!r}, which the model needs. Add it.")
    return [text or "" for text in frame[column].cast(str).to_list()]


def pose_documents(frame: Any, columns: list[Column]) -> tuple[Any, list[Column], str, list[str]]:
    """Return the documents, the columns with what is done to them, the column of the text, and sentences."""
    import polars as pl

    words = {
        column.name: words_in(frame[column.name].drop_nulls())
        for column in columns
        if frame[column.name].dtype == pl.String and frame[column.name].null_count() < len(frame)
    }
    if not words or max(words.values()) < 3:
        raise DataError("no column holds texts: topics are of documents with several words each.")
    name = max(words, key=lambda word: words[word])
    held = frame.select(name).drop_nulls()
    said = [f"The documents are the texts of {name}, {words[name]:.0f} words each on average."]
    if len(held) < len(frame):
        said.append(f"{len(frame) - len(held)} rows without {name} were left out.")
    told = [
        c._replace(
            kind=TEXT,
            done=f"its {MOST_WORDS} most frequent words that are not in half of the documents, counted",
        )
        if c.name == name
        else c._replace(kind=OUT, done="topics are of one column of texts")
        for c in columns
    ]
    return held, told, name, said


def topics(model: Any, most: int = 10) -> list[list[str]]:
    """Return the words of largest weight of every topic of a fitted model, and its share of the words."""
    from gnomon.topics import top_words

    inner = model.model_
    table = top_words(inner.topic_word_, model.encoder_.words_, most)
    weight = np.asarray(inner.components_).sum(axis=1)
    share = weight / weight.sum()
    order = np.argsort(-share, kind="stable")
    return [[f"topic {k}", f"{share[k]:.0%}", ", ".join(table[f"topic {k}"])] for k in order]
