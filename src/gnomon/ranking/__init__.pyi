# Written by scripts/stubs from the package's `attach` call; do not edit.
from .games import MarkovRanker as MarkovRanker
from .games import compare_rankings as compare_rankings
from .links import pagerank as pagerank
from .walk_classifier import RandomWalkClassifier as RandomWalkClassifier

__all__ = ["MarkovRanker", "RandomWalkClassifier", "compare_rankings", "pagerank"]
