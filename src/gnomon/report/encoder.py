"""From a table to a matrix and back: the encoder learns on the rows it is fitted to, and on no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.utils import get_tags

from gnomon.core.errors import DataError
from gnomon.report.columns import CATEGORY, DATE, MOST_VALUES, NUMBER, TEXT, Column
from gnomon.report.features import PARTS, Bag, Means, answers_of, as_days, date_parts, means_of_others
from gnomon.report.forms import read_form, without_unknown
from gnomon.selection.held_out import rank_of

RARE = "(rare)"  # all values of a category but the most frequent ones
ABSENT = "(missing)"


class TableEncoder(BaseEstimator):  # type: ignore[misc]
    """Numbers standardized, missing ones filled with the median and marked, categories as columns of 0 and 1.

    The most frequent value of a category is the reference: it has no column, and a value that was never seen
    is taken for it. Dates become days and the parts that differ, texts their most frequent words.

    Parameters
    ----------
    numbers, dates, categories, texts : sequences of str
        The columns to use.
    scale : bool
        Whether numbers are standardized; counts are not.
    fill : bool
        Whether missing numbers are filled; a model that integrates them out gets NaN.
    max_values : int
        How many values of a category have a column; the rest share one, one more says how frequent a value is, and
        where there is a target, one tells the mean answer for the value (for classes one for every class but the
        first).
    forms : dict, optional
        How numbers and dates of some columns are written.
    missing : sequence of str
        Words that mean missing, besides the usual ones.
    """

    def __init__(
        self,
        numbers: Any = (),
        dates: Any = (),
        categories: Any = (),
        *,
        texts: Any = (),
        scale: bool = True,
        fill: bool = True,
        max_values: int = MOST_VALUES,
        forms: Any = None,
        missing: Any = (),
    ) -> None:
        self.numbers, self.dates, self.categories, self.texts = numbers, dates, categories, texts
        self.scale, self.fill, self.max_values = scale, fill, max_values
        self.forms, self.missing = forms, missing

    @classmethod
    def of(cls, columns: list[Column], **options: Any) -> Self:
        """Return an encoder for the columns that are not left out."""
        named = {k: [c.name for c in columns if c.kind == k] for k in (NUMBER, DATE, CATEGORY, TEXT)}
        return cls(named[NUMBER], named[DATE], named[CATEGORY], texts=named[TEXT], **options)

    def fit(self, frame: Any, y: Any = None) -> Self:
        """Learn medians, means, scales, values and words from these rows."""
        self.parts_ = [_varying(date_parts(self._column(frame, name))) for name in self.dates]
        X = self._numbers(frame)
        holes = np.isnan(X)
        self.median_ = _column_medians(X)
        self.marked_ = (
            np.flatnonzero(holes.any(axis=0)[: self._plain()]) if self.fill else np.empty(0, dtype=int)
        )
        filled = np.where(holes, self.median_, X)
        spread = filled.std(axis=0)
        self.center_ = filled.mean(axis=0) if self.scale else np.zeros(X.shape[1])
        self.spread_ = np.where(spread > 0, spread, 1.0) if self.scale else np.ones(X.shape[1])
        self.values_ = {name: self._values(frame[name]) for name in self.categories}
        self.frequent_ = {
            name: self._frequencies(frame[name]) for name in self.categories if RARE in self.values_[name]
        }
        bags = {name: Bag.learned(self._column(frame, name)) for name in self.texts}
        self.words_ = {name: bag.words for name, bag in bags.items()}
        self.weights_ = {name: bag.weights for name, bag in bags.items()}
        self.means_, self.usual_ = self._learn_means(frame, y)
        return self

    def fit_transform(self, frame: Any, y: Any = None) -> Any:
        """Learn from rows and return their matrix: means of the answers come from other rows than a row itself."""
        self.fit(frame, y)
        answers = None if y is None else answers_of(y, self._classes(y))
        return self._matrix(
            frame, lambda name, words: means_of_others(words, answers) if name in self.means_ else None
        )

    def _classes(self, y: Any) -> Any:
        return None if np.asarray(y).dtype.kind == "f" else np.unique(y)

    def _learn_means(self, frame: Any, y: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the mean answer for each value of a category with many values, and that of all rows."""
        if y is None:
            return {}, {}
        answers = answers_of(y, self._classes(y))
        learned = {name: Means.learned(_words(self._column(frame, name)), answers) for name in self.frequent_}
        return {n: m.table for n, m in learned.items()}, {n: m.usual for n, m in learned.items()}

    def transform(self, frame: Any) -> Any:
        """Return the matrix of a table that has the same columns."""
        return self._matrix(frame, self._means)

    def _means(self, name: str, words: Any) -> Any:
        known = getattr(self, "means_", {})
        return Means(known[name], self.usual_[name]).matrix(words) if name in known else None

    def _matrix(self, frame: Any, means: Callable[[str, Any], Any]) -> Any:
        X = self._numbers(frame)
        holes = np.isnan(X)
        filled = np.where(holes, self.median_, X) if self.fill else X
        parts = [(filled - self.center_) / self.spread_, holes[:, self.marked_].astype(float)]
        for name, values in self.values_.items():
            words = _words(self._column(frame, name))
            parts.append(_indicators(words, values))
            if name in self.frequent_:
                parts.append(_frequency(words, self.frequent_[name]))
                told = means(name, words)
                parts += [] if told is None else [told]
        parts += [
            Bag(w, self.weights_[name]).matrix(self._column(frame, name)) for name, w in self.words_.items()
        ]
        return np.ascontiguousarray(np.hstack(parts))

    def names(self) -> list[str]:
        """Return the names of the columns of the matrix."""
        numbers = [*self.numbers, *self.dates]
        marks = [f"{numbers[j]} is missing" for j in self.marked_]
        parts = [f"{PARTS[j]} of {name}" for name, kept in zip(self.dates, self.parts_) for j in kept]
        names = numbers + parts + marks
        for name, values in self.values_.items():
            names += [f"{name} = {value}" for value in values[1:]]
            names += [f"how frequent {name} is"] if name in self.frequent_ else []
            answers = len(getattr(self, "usual_", {}).get(name, ()))
            names += [
                f"mean answer for {name}" + (f", {j + 1}" if answers > 1 else "") for j in range(answers)
            ]
        return names + [f"{name} has {word}" for name, words in self.words_.items() for word in words]

    def columns(self) -> list[str]:
        """Return the names of the columns that are read."""
        return [*self.numbers, *self.dates, *self.categories, *self.texts]

    def unseen(self, frame: Any) -> dict[str, int]:
        """Return how many cells of each category hold a value that was not there when the encoder learned."""
        closed = {name: values for name, values in self.values_.items() if RARE not in values}
        counts = {name: int((~_words(frame[name]).is_in(values)).sum()) for name, values in closed.items()}
        return {name: count for name, count in counts.items() if count}

    def _plain(self) -> int:
        return len(self.numbers) + len(self.dates)

    def _column(self, frame: Any, name: str) -> Any:
        """Return a column, read in the form in which the model learned it."""
        if name not in frame.columns:
            raise DataError(f"the table has no column {name!r}, which the model needs. Add it.")
        column, form = frame[name], (self.forms or {}).get(name)
        return read_form(column, form) if form is not None and _is_words(column) else column

    def _numbers(self, frame: Any) -> Any:
        columns = [_as_numbers(self._column(frame, name)) for name in self.numbers]
        dates = [self._column(frame, name) for name in self.dates]
        columns += [as_days(column) for column in dates]
        columns += [part for column, kept in zip(dates, self.parts_) for part in date_parts(column).T[kept]]
        return np.column_stack(columns) if columns else np.empty((len(frame), 0))

    def _values(self, column: Any) -> list[str]:
        """Return the values that get columns, the most frequent (the reference) first."""
        counts = _words(column).alias("value").value_counts(name="count")
        ranked = counts.sort(["count", "value"], descending=[True, False])["value"].to_list()
        return ranked if len(ranked) <= self.max_values else [*ranked[: self.max_values - 1], RARE]

    def _frequencies(self, column: Any) -> dict[str, float]:
        """Return the share of the rows that have each value."""
        counts = _words(column).alias("value").value_counts(name="count")
        return dict(zip(counts["value"].to_list(), (counts["count"] / len(column)).to_list()))


def _is_words(column: Any) -> bool:
    import polars as pl

    return bool(column.dtype == pl.String)


def _varying(parts: Any) -> list[int]:
    """Return which parts of a date are not the same in every row."""
    return [j for j, part in enumerate(parts.T) if len(np.unique(part[~np.isnan(part)])) > 1]


def _column_medians(X: Any) -> Any:
    return np.array([np.median(x[~np.isnan(x)]) if not np.isnan(x).all() else 0.0 for x in X.T])


def _as_numbers(column: Any) -> Any:
    import polars as pl

    if _is_words(column):
        column = without_unknown(column)
    numbers = column.cast(pl.Float64, strict=False)
    if numbers.null_count() > column.null_count():
        row = int((numbers.is_null() & column.is_not_null()).arg_true()[0])
        raise DataError(
            f"column {column.name!r}, row {row + 1}: {column[row]!r} is no number. Mend it or leave it empty."
        )
    return numbers.to_numpy()


def _words(column: Any) -> Any:
    import polars as pl

    return column.cast(pl.String).fill_null(ABSENT)


def _frequency(words: Any, known: dict[str, float]) -> Any:
    return np.array([[known.get(word, 0.0)] for word in words.to_list()])


def _indicators(words: Any, values: list[str]) -> Any:
    known = [words == value for value in values[1:] if value != RARE]
    rest = [~words.is_in(values[:-1])] if RARE in values else []
    columns = [mask.to_numpy() for mask in [*known, *rest]]
    return np.column_stack(columns).astype(float) if columns else np.empty((len(words), 0))


class TableModel(BaseEstimator):  # type: ignore[misc]
    """A model together with the encoder that prepares its table; fits, predicts and is saved as one.

    Parameters
    ----------
    model : estimator
        What learns.
    encoder : TableEncoder
        What it is shown.
    target : str, optional
        The column that is predicted. Numbers are standardized before the model sees them and turned back
        afterwards, so that penalties mean the same for every table.
    sequence : str, optional
        The column that says to which sequence a row belongs; a table without it is one sequence.
    """

    def __init__(
        self, model: Any = None, encoder: Any = None, *, target: Any = None, sequence: Any = None
    ) -> None:
        self.model, self.encoder, self.target, self.sequence = model, encoder, target, sequence

    def fit(self, frame: Any, y: Any = None, stop: Callable[[Any], Any] | None = None) -> Self:
        """Learn from the rows of a table, and from the target where there is one.

        `stop` is told of the model before it learns, to give it a time budget.
        """
        self.encoder_ = clone(self.encoder)
        self.n_rows_, self.target_center_, self.target_scale_ = len(frame), 0.0, 1.0
        if y is not None and is_regressor(self.model) and not get_tags(self.model).target_tags.positive_only:
            self.target_center_ = float(np.mean(y))
            self.target_scale_ = float(np.std(y)) or 1.0
            y = (y - self.target_center_) / self.target_scale_
        X = self.encoder_.fit_transform(frame, y)
        given = {} if y is None else {"y": y}
        model = clone(self.model)
        if stop is not None:
            stop(model)
        self.model_ = model.fit(X, **given, **self._lengths(frame))
        if stop is not None and hasattr(model, "set_callbacks"):
            model.set_callbacks()
        return self

    def _lengths(self, frame: Any) -> dict[str, Any]:
        if self.sequence is None or self.sequence not in frame.columns:
            return {}
        return {"lengths": frame[self.sequence].rle().struct.field("len").to_numpy().astype(int)}

    def matrix(self, frame: Any) -> Any:
        """Return what the model sees of a table."""
        return self.encoder_.transform(frame)

    def predict(self, frame: Any) -> Any:
        """Return the prediction for every row."""
        if hasattr(self.model_, "topic_word_"):  # the topic of most of a document's words
            return np.asarray(self.model_.transform(self.matrix(frame))).argmax(axis=1)
        if not hasattr(self.model_, "predict"):
            raise DataError(f"{type(self.model_).__name__} says nothing about new rows: it has no predict.")
        answer = self.model_.predict(self.matrix(frame), **self._lengths(frame))
        return self._back(answer) if is_regressor(self.model_) else answer

    def predict_proba(self, frame: Any) -> Any:
        """Return the probability of every class or group, row by row."""
        return self.model_.predict_proba(self.matrix(frame), **self._lengths(frame))

    def decision_function(self, frame: Any) -> Any:
        """Return the scores of the classes, row by row."""
        return self.model_.decision_function(self.matrix(frame))

    def predict_interval(self, frame: Any, level: float = 0.9) -> Any:
        """Return two arrays between which the target lies with probability `level`.

        A model that was compared goes by how far it was off on rows that it had not seen (conformal intervals), another
        one by its own.
        """
        if not hasattr(self, "residuals_"):
            low, high = self.model_.predict_interval(self.matrix(frame), level=level)
            return self._back(low), self._back(high)
        said, rank = self.predict(frame), rank_of(len(self.residuals_), level)
        q = self.residuals_[rank - 1] if rank <= len(self.residuals_) else np.inf
        return said - q, said + q

    def log_density(self, frame: Any) -> float:
        """Return the mean log density of the rows, in the units of the table."""
        X, lengths = self.matrix(frame), self._lengths(frame)
        inside = float(self.model_.score(X, **lengths))
        if self.sequence is not None:  # a model of sequences tells the sum over all rows
            inside /= len(X)
        return inside - float(np.log(self.encoder_.spread_).sum())

    def _back(self, answer: Any) -> Any:
        return np.asarray(answer) * self.target_scale_ + self.target_center_

    @property
    def classes_(self) -> Any:
        """The classes, where the target has them."""
        return self.model_.classes_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")
