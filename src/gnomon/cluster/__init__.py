"""Clustering: groups, and the representatives, trees and cuts behind them."""

from gnomon._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "KMeans": "kmeans",
        "farthest_first": "seeding",
        "kmeans_plusplus": "seeding",
    },
)
