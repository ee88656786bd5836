"""Rankings and labels from imagined walks: games, links, a few labeled points."""

from gnomon._lazy import attach

_WHERE = {
    "games": ["MarkovRanker", "compare_rankings"],
    "links": ["pagerank"],
    "walk_classifier": ["RandomWalkClassifier"],
}

__getattr__, __dir__, __all__ = attach(
    __name__, {name: file for file, names in _WHERE.items() for name in names}
)
