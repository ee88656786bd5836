# Written by scripts/stubs from the package's `attach` call; do not edit.
from .distances import metric_names as metric_names
from .distances import pairwise_distances as pairwise_distances

__all__ = ["metric_names", "pairwise_distances"]
