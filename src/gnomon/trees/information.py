"""Information of tables and label vectors, in bits: what a question tells about the answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.validate import weights
from gnomon.distributions.information import conditional_entropy, entropy, entropy_from_counts

Array = np.ndarray


def contingency(x: Any, y: Any, sample_weight: Any = None) -> Array:
    """Return the table of weights of every pair of values; rows are the sorted values of x.

    Examples
    --------
    >>> contingency(["a", "a", "b"], [0, 1, 1])
    array([[1., 1.],
           [0., 1.]])
    """
    rows, i = np.unique(np.asarray(x), return_inverse=True)
    columns, j = np.unique(np.asarray(y), return_inverse=True)
    if len(i) != len(j):
        raise DataError(f"x has {len(i)} entries and y has {len(j)}; they must agree.")
    w = weights(1.0 if sample_weight is None else sample_weight, len(i))
    table = np.zeros((len(rows), len(columns)))
    np.add.at(table, (i, j), w)
    return table


def _table(P: Any, y: Any) -> Array:
    table = np.asarray(P, dtype=np.float64) if y is None else contingency(P, y)
    if table.ndim != 2 or (table < 0).any() or not np.isfinite(table).all() or table.sum() <= 0:
        raise DataError("P must be a table of finite numbers that are not negative and not all zero.")
    return table / table.sum()


def information_gain(P: Any, y: Any = None, *, base: float = 2.0) -> float:
    r"""Return what the rows of a table (or the labels x) tell about its columns (y).

    .. math:: IG = H(Y) - H(Y \mid X) = I(X; Y)

    Examples
    --------
    >>> round(information_gain([[0.24, 0.01], [0.25, 0.50]]), 6)
    0.250417
    """
    table = _table(P, y)
    return max(entropy(table.sum(axis=0), base) - conditional_entropy(table, 0, base), 0.0)


def gain_ratio(P: Any, y: Any = None) -> float:
    """Return the information gain divided by the entropy of the rows, which do the splitting; 0 if that is 0.

    Examples
    --------
    >>> round(gain_ratio([[0.24, 0.01], [0.25, 0.50]]), 6)
    0.308669
    """
    table = _table(P, y)
    split = entropy(table.sum(axis=1), 2.0)
    return information_gain(table) / split if split > 0 else 0.0


def specific_conditional_entropy(P: Any, row: int, *, base: float = 2.0) -> float:
    """Return H(columns | row); NaN for a row without weight.

    Examples
    --------
    >>> round(specific_conditional_entropy([[0.24, 0.01], [0.25, 0.50]], 0), 6)
    0.242292
    """
    line = _table(P, None)[row]
    return entropy_from_counts(line, base) if line.sum() > 0 else float("nan")
