"""Compile the loops of dense networks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.neural.mlp import MLPClassifier


def warm_up(dtypes: Sequence[str]) -> None:
    """Fit a small network."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.5], [0.3, 0.2], [0.8, 0.9]]), [0, 1, 0, 1]
    for dtype in dtypes:
        MLPClassifier((2,), max_iter=1, tol=0.0, random_state=0).fit(X.astype(dtype), y).predict(
            X.astype(dtype)
        )
