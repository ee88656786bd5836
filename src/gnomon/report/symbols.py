"""Tables of symbols: sequences of words, such as letters, actions or states, for models that count them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from gnomon.core.errors import DataError

ABSENT = "(missing)"


class SymbolEncoder(BaseEstimator):  # type: ignore[misc]
    """Words as whole numbers, the most frequent first; a word that was never seen is taken for the most frequent.

    Parameters
    ----------
    names_of_columns : sequence of str
        The columns that hold symbols.
    """

    spread_ = np.ones(1)  # symbols have no units

    def __init__(self, names_of_columns: Any = ()) -> None:
        self.names_of_columns = names_of_columns

    def fit(self, frame: Any, y: Any = None) -> Self:
        """Learn the symbols of these rows."""
        self.values_ = {name: self._ranked(frame, name) for name in self.names_of_columns}
        return self

    def _ranked(self, frame: Any, name: str) -> list[str]:
        counts = _words(frame, name).alias("value").value_counts(name="count")
        return counts.sort(["count", "value"], descending=[True, False])["value"].to_list()

    def transform(self, frame: Any) -> Any:
        """Return the codes of a table, (n, columns)."""
        columns = []
        for name, values in self.values_.items():
            place = {value: code for code, value in enumerate(values)}
            columns.append([place.get(word, 0) for word in _words(frame, name).to_list()])
        return np.array(columns, dtype=np.int64).T

    def fit_transform(self, frame: Any, y: Any = None) -> Any:
        """Learn from a table and return its codes."""
        return self.fit(frame, y).transform(frame)

    def columns(self) -> list[str]:
        """Return the names of the columns that are read."""
        return list(self.names_of_columns)

    def names(self) -> list[str]:
        """Return what the models see."""
        return self.columns()

    def unseen(self, frame: Any) -> dict[str, int]:
        """Return how many cells of each column hold a symbol that was not there when the encoder learned."""
        counts = {name: int((~_words(frame, name).is_in(v)).sum()) for name, v in self.values_.items()}
        return {name: count for name, count in counts.items() if count}


def _words(frame: Any, name: str) -> Any:
    import polars as pl

    if name not in frame.columns:
        raise DataError(f"the table has no column {name!r}, which the model needs. Add it.")
    return frame[name].cast(pl.String).fill_null(ABSENT)
