# Written by scripts/stubs from the package's `attach` call; do not edit.
from .kmeans import KMeans as KMeans
from .seeding import farthest_first as farthest_first
from .seeding import kmeans_plusplus as kmeans_plusplus

__all__ = ["KMeans", "farthest_first", "kmeans_plusplus"]
