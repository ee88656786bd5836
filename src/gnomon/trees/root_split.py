"""The best split of all rows: that of a tree with one question."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.trees.splits import CLASS_CRITERIA
from gnomon.trees.tree import DecisionTreeClassifier, DecisionTreeRegressor

Array = np.ndarray


class Split(NamedTuple):
    """The best question about a node."""

    feature: int
    threshold: float
    gain: float
    left: Array  # mask of the rows that go left
    missing_left: bool


def best_split(X: Any, y: Any, criterion: str = "gini", sample_weight: Any = None) -> Split:
    """Return the split of a node that gains most; ties go to the lowest feature, then threshold.

    Examples
    --------
    >>> best_split(np.arange(1.0, 9.0)[:, None], [0, 0, 1, 0, 1, 1, 0, 1])[:2]
    (0, 2.5)
    """
    kind = DecisionTreeClassifier if criterion in CLASS_CRITERIA else DecisionTreeRegressor
    model = kind(criterion=criterion, max_depth=1).fit(X, y, sample_weight)
    tree = model.tree_
    if tree.node_count == 1:
        raise DataError("no split is possible: y is constant, or every feature is.")
    left = model.apply(X) == tree.children_left[0]
    gain = float(tree.gain[0] / tree.weighted_n_node_samples[0])
    return Split(int(tree.feature[0]), float(tree.threshold[0]), gain, left, bool(tree.missing_go_to_left[0]))
