"""Compile the loops of clustering."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.cluster.cuts import balanced_min_cut, min_cut
from gnomon.cluster.hierarchy import AgglomerativeClustering
from gnomon.cluster.kmeans import KMeans
from gnomon.cluster.kmedoids import KMedoids
from gnomon.cluster.minibatch import MiniBatchKMeans
from gnomon.cluster.representatives import KMedians
from gnomon.cluster.soft import SoftKMeans


def warm_up(dtypes: Sequence[str]) -> None:
    """Fit every model with loops of its own to a few numbers."""
    X = np.array([[0.0, 1.0], [1.0, 0.5], [0.5, 0.2], [7.0, 8.0], [8.0, 7.5], [7.5, 7.1]])
    holes = X.copy()
    holes[0, 0] = np.nan
    for dtype in dtypes:
        rows = X.astype(dtype)
        KMeans(2, missing="ignore", random_state=0).fit(holes.astype(dtype))
        KMeans(2, algorithm="optimal_1d").fit(rows[:, :1])
        for kind in (KMeans, MiniBatchKMeans, KMedians, KMedoids, SoftKMeans):
            kind(2, random_state=0).fit(rows).predict(rows)
        for wide in (1, 2):
            KMeans(2, random_state=0).fit(np.tile(rows, (700, wide)))  # not few, nor narrow
        for linkage in ("single", "ward", "average", "centroid"):
            AgglomerativeClustering(2, linkage=linkage).fit(rows)
    graph = np.ones((4, 4)) - np.eye(4)
    min_cut(graph)
    min_cut(graph, 0, 1)
    balanced_min_cut(graph)
