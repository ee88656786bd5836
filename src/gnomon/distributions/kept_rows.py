"""Statistics of families that no finite sum describes: the rows themselves with their weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gnomon.distributions.base import Array, as_rows, as_weights


class KeptRows(NamedTuple):
    """The rows and their weights; merging puts them one after the other, so memory grows with the rows."""

    values: Array  # (n, d)
    weights: Array  # (n, K)

    def merge(self, other: KeptRows) -> KeptRows:
        return KeptRows(
            np.concatenate([self.values, other.values]), np.concatenate([self.weights, other.weights])
        )

    def each(self, function: Callable[[Array, Array], float]) -> Array:
        """Apply function(values, weights) to the observed entries of every component and column: (K, d)."""
        out = np.empty((self.weights.shape[1], self.values.shape[1]))
        for j, column in enumerate(self.values.T):
            seen = ~np.isnan(column)
            for k, weight in enumerate(self.weights.T):
                use = seen & (weight > 0)
                out[k, j] = function(column[use], weight[use]) if use.any() else np.nan
        return out


def keep(X: ArrayLike, weights: ArrayLike | None, d: int | None) -> KeptRows:
    """Return the statistics of rows X with weights (n, K)."""
    X = as_rows(X, d)
    return KeptRows(X, as_weights(weights, len(X)))
