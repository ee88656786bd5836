"""The model that boosting starts from, and its predictions as scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from gnomon.core.errors import DataError

Array = np.ndarray
EDGE = float(np.finfo(np.float64).eps)  # no probability is nearer to 0 or 1


def fit_initial(init: Any, data: Any) -> Any:
    """Fit the model on the training rows; classes are codes."""
    model, y = clone(init), data.y
    if hasattr(model, "predict_proba") and np.array_equal(y, np.round(y)):
        y = np.where(y > 0, y, 0).astype(np.int64)  # the exponential loss has -1 for the first class
    if not data.weighted:
        return model.fit(data.X, y)
    if isinstance(model, Pipeline) or not has_fit_parameter(model, "sample_weight"):
        raise DataError(
            f"The initial estimator {type(model).__name__} does not support sample weights; fit without weights "
            "or start from another model."
        )
    return model.fit(data.X, y, sample_weight=data.weight)


def initial_scores(model: Any, X: Any, loss: str, n_raw: int) -> Array:
    """Return the predictions of the fitted model on the scale of the scores, (n, n_raw)."""
    if loss not in ("log_loss", "exponential"):
        return np.asarray(model.predict(X), dtype=np.float64).reshape(-1, 1)
    shares = np.zeros((X.shape[0], max(2, n_raw)))
    shares[:, np.asarray(model.classes_, dtype=np.int64)] = model.predict_proba(X)
    logs = np.log(np.clip(shares, EDGE, 1 - EDGE))
    if n_raw > 1:
        return logs - logs.mean(axis=1, keepdims=True)
    odds = logs[:, 1:] - np.log1p(-np.clip(shares[:, 1:], EDGE, 1 - EDGE))
    return odds if loss == "log_loss" else odds / 2
