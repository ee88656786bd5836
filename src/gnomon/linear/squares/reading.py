"""Reading coefficients: how one changes when other features enter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.core.validate import matrix
from gnomon.linear.squares.least_squares import LinearRegression


class CoefficientTable(NamedTuple):
    """Coefficients of every feature in every model; NaN where a model leaves the feature out."""

    names: list[str]
    subsets: list[tuple[int, ...]]
    coef: Array  # (models, features)
    lower: Array
    upper: Array
    sign_changes: list[str]  # features whose coefficient is positive in one model and negative in another

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row for each model and feature."""
        pd = import_pandas()
        keep = np.argwhere(~np.isnan(self.coef))
        rows = [
            {
                "model": " + ".join(self.names[k] for k in self.subsets[m]),
                "feature": self.names[j],
                "coef": self.coef[m, j],
                "lower": self.lower[m, j],
                "upper": self.upper[m, j],
            }
            for m, j in keep
        ]
        return pd.DataFrame(rows)


def coefficient_table(
    X: Any, y: Any, subsets: Sequence[Sequence[int]], *, level: float = 0.95
) -> CoefficientTable:
    """Fit least squares on several subsets of the features and return each coefficient with its interval.

    A coefficient says how y goes with a feature *while the other features of the model are held fixed*. It
    may change its sign when a correlated feature enters or leaves: an omitted variable.

    Parameters
    ----------
    X, y : matrix and vector
    subsets : sequence of sequences of int
        Columns of each model.
    level : float
        Of the intervals.

    Examples
    --------
    >>> X = np.array([[0.0, 0.1], [1.0, 0.9], [2.0, 2.2], [3.0, 2.9]])
    >>> coefficient_table(X, 3 * X[:, 1] - X[:, 0], [(0,), (0, 1)]).sign_changes
    ['x0']
    """
    names = [str(c) for c in getattr(X, "columns", [])]
    X = matrix(X)
    names = names or [f"x{j}" for j in range(X.shape[1])]
    if not len(subsets):
        raise DataError("subsets is empty; name the columns of at least one model.")
    coef, lower, upper = (np.full((len(subsets), X.shape[1]), np.nan) for _ in range(3))
    for m, columns in enumerate(subsets):
        chosen = list(columns)
        found = LinearRegression().fit(X[:, chosen], y).summary(level)
        coef[m, chosen], lower[m, chosen], upper[m, chosen] = (
            found.estimate[1:],
            found.lower[1:],
            found.upper[1:],
        )
    with np.errstate(invalid="ignore"):
        flips = (coef > 0).any(axis=0) & (coef < 0).any(axis=0)
    changed = [name for name, flip in zip(names, flips, strict=True) if flip]
    return CoefficientTable(names, [tuple(s) for s in subsets], coef, lower, upper, changed)
