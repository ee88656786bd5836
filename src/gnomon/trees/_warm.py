"""Compile the loops of trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.trees.stump import DecisionStump
from gnomon.trees.tree import DecisionTreeClassifier, DecisionTreeRegressor


def warm_up(dtypes: Sequence[str]) -> None:
    """Fit every kind of tree on a few numbers."""
    X = np.arange(12.0)[:, None] % 5
    y = np.arange(12) % 3
    for model in (DecisionTreeClassifier(), DecisionTreeClassifier(max_bins=16), DecisionStump()):
        model.fit(X, y).predict(X)
    DecisionStump().fit(X, y > 0)
    for criterion in ("squared_error", "absolute_error"):
        DecisionTreeRegressor(criterion=criterion).fit(X, y).predict(X)
