"""What a network says of the rows of a table: their probability, their missing cells, one variable of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from gnomon.core.linalg import Array
from gnomon.core.sums import per_row
from gnomon.graphical import learning
from gnomon.graphical.answers import tree_of
from gnomon.graphical.columns import read_columns
from gnomon.graphical.evidence import ImpossibleEvidenceError
from gnomon.graphical.net import Net


class RowAnswers(OneToOneFeatureMixin, TransformerMixin):  # type: ignore[misc]
    """Questions about rows; mixed into `BayesianNetwork`."""

    columns_: list[str]

    def _network(self) -> Net:
        raise NotImplementedError

    def _columns(self, X: Any, unknown: str = "error") -> tuple[Any, Array]:
        """Return coded rows and the column of every variable (-1: none)."""
        net = self._network()
        fitted = "columns_" in self.__dict__
        names = self.columns_ if fitted else list(net.variables)
        if (
            fitted and unknown == "error"
        ):  # numbers that the data never showed are not known, names must be right
            unknown = "warn"
        found = read_columns(self, X, states=net.named_states, names=names, reset=False, unknown=unknown)
        for name in found.names:
            net.number(name)
        place = {name: j for j, name in enumerate(found.names)}
        return found.rows, np.array([place.get(name, -1) for name in net.variables], dtype=np.int64)

    def _rows_said(self, X: Any, what: str, target: int = 0) -> Any:
        net = self._network()
        rows, place = self._columns(X)
        tree = tree_of(net)
        state = (place, net.tables, net.parents, net.cards, None, tree._arrays, tree._base, what, target)
        return per_row(learning.answer_chunk, rows, *state)

    def score_samples(self, X: Any) -> Array:
        """Return ln P(observed cells) of every row; missing cells and hidden variables are summed out."""
        return self._rows_said(X, "score")

    def log_probability(self, X: Any) -> Array:
        """Return ln P of every row, as `score_samples`."""
        return self.score_samples(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of ln P over the rows."""
        return float(self.score_samples(X).mean())

    def predict(self, X: Any) -> Array:
        """Return X with its missing cells filled in by the most probable joint completion of each row."""
        codes, logs = self._rows_said(X, "complete")
        net = self._network()
        fitted = "columns_" in self.__dict__
        names = (
            self.columns_
            if fitted
            else ([str(c) for c in X.columns] if hasattr(X, "columns") else net.variables)
        )
        if (codes < 0).any():
            row = int(np.argmax((codes < 0).any(axis=1)))
            raise ImpossibleEvidenceError(
                f"row {row} of X is impossible under the network, so its missing cells have no most probable states. "
                "Learn with a prior that leaves no zeros (prior='bdeu')."
            )
        columns = [np.asarray(net.states[v], dtype=object)[codes[:, v]] for v in net.numbers(names)]
        filled = np.column_stack(columns)
        numeric = all(
            isinstance(s, int | float) and not isinstance(s, bool)
            for v in net.numbers(names)
            for s in net.states[v]
        )
        return filled.astype(np.float64) if numeric else filled

    def transform(self, X: Any) -> Array:
        """Fill in missing cells, as `predict`: the network as an imputer."""
        return self.predict(X)

    def predict_marginal(self, X: Any, variable: str) -> Array:
        """Return P(variable | the observed cells of each row), one column for every state.

        The variable's own cell, if it is observed, counts: leave its column missing to predict it.
        """
        return self._rows_said(X, "proba", self._network().number(variable))
