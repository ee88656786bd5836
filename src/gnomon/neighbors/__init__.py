"""Neighbors: distances between rows, and what the nearest ones say."""

from gnomon._lazy import attach

_WHERE = {
    "classifiers": ["KNeighborsClassifier", "RadiusNeighborsClassifier"],
    "distances": ["cosine_similarity", "edit_distance", "edit_script", "metric_names", "pairwise_distances"],
    "memory": ["EpsilonBallClassifier"],
    "nearest": ["NearestNeighbors", "kneighbors_graph", "radius_neighbors_graph"],
    "outliers": ["LocalOutlierFactor"],
    "regressors": ["KNeighborsRegressor", "RadiusNeighborsRegressor"],
    "rules_of_thumb": ["bayes_error_bounds", "suggest_k"],
    "smoothing": ["KernelRegressor"],
    "soft": ["SoftNeighborsClassifier"],
}

__getattr__, __dir__, __all__ = attach(
    __name__, {name: file for file, names in _WHERE.items() for name in names}
)
