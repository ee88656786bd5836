"""Compile the loops of dense networks."""

from __future__ import annotations

import numpy as np

from gnomon.neural.mlp import MLPClassifier


def warm_up() -> None:
    """Fit a small network in both precisions."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.5], [0.3, 0.2], [0.8, 0.9]]), [0, 1, 0, 1]
    for dtype in (np.float64, np.float32):
        MLPClassifier((2,), max_iter=1, tol=0.0, random_state=0).fit(X.astype(dtype), y).predict(
            X.astype(dtype)
        )
