# Written by scripts/stubs from the package's `attach` call; do not edit.
from .classifiers import KNeighborsClassifier as KNeighborsClassifier
from .classifiers import RadiusNeighborsClassifier as RadiusNeighborsClassifier
from .distances import cosine_similarity as cosine_similarity
from .distances import edit_distance as edit_distance
from .distances import edit_script as edit_script
from .distances import metric_names as metric_names
from .distances import pairwise_distances as pairwise_distances
from .memory import EpsilonBallClassifier as EpsilonBallClassifier
from .nearest import NearestNeighbors as NearestNeighbors
from .nearest import kneighbors_graph as kneighbors_graph
from .nearest import radius_neighbors_graph as radius_neighbors_graph
from .outliers import LocalOutlierFactor as LocalOutlierFactor
from .regressors import KNeighborsRegressor as KNeighborsRegressor
from .regressors import RadiusNeighborsRegressor as RadiusNeighborsRegressor
from .rules_of_thumb import bayes_error_bounds as bayes_error_bounds
from .rules_of_thumb import suggest_k as suggest_k
from .smoothing import KernelRegressor as KernelRegressor
from .soft import SoftNeighborsClassifier as SoftNeighborsClassifier

__all__ = ["EpsilonBallClassifier", "KNeighborsClassifier", "KNeighborsRegressor", "KernelRegressor", "LocalOutlierFactor", "NearestNeighbors", "RadiusNeighborsClassifier", "RadiusNeighborsRegressor", "SoftNeighborsClassifier", "bayes_error_bounds", "cosine_similarity", "edit_distance", "edit_script", "kneighbors_graph", "metric_names", "pairwise_distances", "radius_neighbors_graph", "suggest_k"]
