"""Neighbors: distances between rows, and what the nearest ones say."""

from gnomon._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__, {"metric_names": "distances", "pairwise_distances": "distances"}
)
