"""From a table to a matrix and back: the encoder learns on the rows it is fitted to, and on no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.utils import get_tags

from gnomon.core.errors import DataError
from gnomon.report.columns import CATEGORY, DATE, NUMBER, Column

RARE = "(rare)"  # all values of a category but the most frequent ones
ABSENT = "(missing)"


class TableEncoder(BaseEstimator):  # type: ignore[misc]
    """Numbers standardized, missing ones filled with the median and marked, categories as columns of 0 and 1.

    The most frequent value of a category is the reference: it has no column, and a value that was never seen
    is taken for it.

    Parameters
    ----------
    numbers, dates, categories : sequences of str
        The columns to use.
    scale : bool
        Whether numbers are standardized; counts are not.
    fill : bool
        Whether missing numbers are filled; a model that integrates them out gets NaN.
    max_values : int
        How many values of a category have a column; the rest share one.
    """

    def __init__(
        self,
        numbers: Any = (),
        dates: Any = (),
        categories: Any = (),
        *,
        scale: bool = True,
        fill: bool = True,
        max_values: int = 20,
    ) -> None:
        self.numbers, self.dates, self.categories = numbers, dates, categories
        self.scale, self.fill, self.max_values = scale, fill, max_values

    @classmethod
    def of(cls, columns: list[Column], **options: Any) -> Self:
        """Return an encoder for the columns that are not left out."""
        named = {kind: [c.name for c in columns if c.kind == kind] for kind in (NUMBER, DATE, CATEGORY)}
        return cls(named[NUMBER], named[DATE], named[CATEGORY], **options)

    def fit(self, frame: Any, y: Any = None) -> Self:
        """Learn medians, means, scales and values from these rows."""
        X = self._numbers(frame)
        holes = np.isnan(X)
        self.median_ = _column_medians(X)
        self.marked_ = np.flatnonzero(holes.any(axis=0)) if self.fill else np.empty(0, dtype=int)
        filled = np.where(holes, self.median_, X)
        spread = filled.std(axis=0)
        self.center_ = filled.mean(axis=0) if self.scale else np.zeros(X.shape[1])
        self.spread_ = np.where(spread > 0, spread, 1.0) if self.scale else np.ones(X.shape[1])
        self.values_ = {name: self._values(frame[name]) for name in self.categories}
        return self

    def transform(self, frame: Any) -> Any:
        """Return the matrix of a table that has the same columns."""
        X = self._numbers(frame)
        holes = np.isnan(X)
        filled = np.where(holes, self.median_, X) if self.fill else X
        parts = [(filled - self.center_) / self.spread_, holes[:, self.marked_].astype(float)]
        parts += [_indicators(_words(self._column(frame, name)), v) for name, v in self.values_.items()]
        return np.ascontiguousarray(np.hstack(parts))

    def names(self) -> list[str]:
        """Return the names of the columns of the matrix."""
        numbers = [*self.numbers, *self.dates]
        marks = [f"{numbers[j]} is missing" for j in self.marked_]
        return numbers + marks + [f"{name} = {v}" for name, vs in self.values_.items() for v in vs[1:]]

    def columns(self) -> list[str]:
        """Return the names of the columns that are read."""
        return [*self.numbers, *self.dates, *self.categories]

    def unseen(self, frame: Any) -> dict[str, int]:
        """Return how many cells of each category hold a value that was not there when the encoder learned."""
        closed = {name: values for name, values in self.values_.items() if RARE not in values}
        counts = {name: int((~_words(frame[name]).is_in(values)).sum()) for name, values in closed.items()}
        return {name: count for name, count in counts.items() if count}

    def _column(self, frame: Any, name: str) -> Any:
        if name not in frame.columns:
            raise DataError(f"the table has no column {name!r}, which the model needs. Add it.")
        return frame[name]

    def _numbers(self, frame: Any) -> Any:
        columns = [_as_numbers(self._column(frame, name)) for name in self.numbers]
        columns += [_as_days(self._column(frame, name)) for name in self.dates]
        return np.column_stack(columns) if columns else np.empty((len(frame), 0))

    def _values(self, column: Any) -> list[str]:
        """Return the values that get columns, the most frequent (the reference) first."""
        counts = _words(column).alias("value").value_counts(name="count")
        ranked = counts.sort(["count", "value"], descending=[True, False])["value"].to_list()
        return ranked if len(ranked) <= self.max_values else [*ranked[: self.max_values - 1], RARE]


def _column_medians(X: Any) -> Any:
    return np.array([np.median(x[~np.isnan(x)]) if not np.isnan(x).all() else 0.0 for x in X.T])


def _as_numbers(column: Any) -> Any:
    import polars as pl

    numbers = column.cast(pl.Float64, strict=False)
    if numbers.null_count() > column.null_count():
        row = int((numbers.is_null() & column.is_not_null()).arg_true()[0])
        raise DataError(
            f"column {column.name!r}, row {row + 1}: {column[row]!r} is no number. Mend it or leave it empty."
        )
    return numbers.to_numpy()


def _as_days(column: Any) -> Any:
    import polars as pl

    if not column.dtype.is_temporal():
        raise DataError(f"column {column.name!r} must hold dates, such as 2024-03-31; it is {column.dtype}.")
    if column.dtype == pl.Date:
        return _as_numbers(column.to_physical())
    if column.dtype == pl.Datetime:
        return _as_numbers(column.dt.epoch("us")) / 86_400e6
    return _as_numbers(column.to_physical())


def _words(column: Any) -> Any:
    import polars as pl

    return column.cast(pl.String).fill_null(ABSENT)


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
        self.encoder_ = clone(self.encoder).fit(frame)
        self.n_rows_, self.target_center_, self.target_scale_ = len(frame), 0.0, 1.0
        if y is not None and is_regressor(self.model) and not get_tags(self.model).target_tags.positive_only:
            self.target_center_ = float(np.mean(y))
            self.target_scale_ = float(np.std(y)) or 1.0
            y = (y - self.target_center_) / self.target_scale_
        X = self.encoder_.transform(frame)
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
        """Return two arrays between which the target lies with probability `level`."""
        low, high = self.model_.predict_interval(self.matrix(frame), level=level)
        return self._back(low), self._back(high)

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
