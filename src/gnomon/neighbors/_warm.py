"""Compile the loops of neighbors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.neighbors.nearest import NearestNeighbors


def warm_up(dtypes: Sequence[str]) -> None:
    """Ask every kind of index about a few numbers."""
    X = np.random.default_rng(0).normal(size=(64, 3))
    for dtype in dtypes:
        rows = X.astype(dtype)
        for algorithm, metric in (
            ("brute", "euclidean"),
            ("kd_tree", "euclidean"),
            ("ball_tree", "euclidean"),
            ("brute", "nan_euclidean"),
        ):
            model = NearestNeighbors(n_neighbors=2, algorithm=algorithm, metric=metric).fit(rows)
            model.kneighbors(rows)
            model.radius_neighbors(rows, 0.5)
    NearestNeighbors(n_neighbors=1, metric="precomputed").fit(np.zeros((2, 2))).kneighbors(np.zeros((1, 2)))
    words = NearestNeighbors(n_neighbors=1, metric="edit").fit(["a", "bc"])
    words.kneighbors(["b"])
    words.radius_neighbors(["b"], 1.0)
