"""What ends boosting early: the loss, or any score of scikit-learn, of rows that are held out or of all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring

Array = np.ndarray
Judge: TypeAlias = Callable[
    [Array, Any, Array, Array], float
]  # scores of rows, X, y, weights -> lower is better


def by_loss(objective: Any) -> Judge:
    """Judge by the loss that is minimized."""
    return lambda raw, X, y, weight: float(objective.loss(y, raw, weight))


def by_score(model: Any, scoring: Any, classes: Array | None, *, weighted: bool) -> Judge:
    """Judge by minus a score, which is asked of a model that gives the scores it is told to."""
    shown = clone(model)
    if classes is not None:
        shown.classes_ = classes
    scorer = check_scoring(shown, scoring)

    def judge(raw: Array, X: Any, y: Array, weight: Array) -> float:
        shown.n_features_in_ = X.shape[1]
        shown._raw_predict = lambda _: np.ascontiguousarray(raw.T)
        labels = y if classes is None else classes[y.astype(np.int64)]
        options = {"sample_weight": weight} if weighted else {}
        return -float(scorer(shown, X, labels, **options))

    return judge
