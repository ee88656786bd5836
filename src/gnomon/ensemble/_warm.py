"""Compile the loops of ensembles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.ensemble.adaboost import AdaBoostClassifier
from gnomon.ensemble.forest import RandomForestClassifier
from gnomon.ensemble.hist_boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor


def warm_up(dtypes: Sequence[str]) -> None:
    """Fit the ensembles with loops of their own on a few numbers."""
    X = np.arange(60.0)[:, None] % 17
    y = np.arange(60) % 3
    for model in (RandomForestClassifier(2), HistGradientBoostingClassifier(max_iter=1)):
        model.fit(X, y).predict(X)
    HistGradientBoostingClassifier(max_iter=1).fit(X, y > 0).predict(X)
    HistGradientBoostingRegressor(max_iter=1).fit(X, y).predict(X)
    AdaBoostClassifier(n_estimators=2).fit(X, y > 0)
