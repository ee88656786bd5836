"""Ensembles: many models that answer together, by vote, by average, or in sequence."""

from gnomon._lazy import attach

_FILES = {
    "adaboost": ["AdaBoostClassifier"],
    "bagging": ["BaggingClassifier", "BaggingRegressor"],
    "forest": ["ExtraTreesClassifier", "RandomForestClassifier"],
    "forest_regressors": ["ExtraTreesRegressor", "RandomForestRegressor"],
    "gradient_boosting": ["GradientBoostingClassifier", "GradientBoostingRegressor"],
    "hist_boosting": ["HistGradientBoostingClassifier", "HistGradientBoostingRegressor"],
    "cascade": ["CascadeClassifier"],
    "detector": ["ObjectDetector"],
    "rectangles": ["HaarFeatures", "integral_image"],
    "stagewise": ["StagewiseAdditiveModel"],
    "theory": ["average_variance", "ensemble_correlation", "ensemble_experiment", "hypothesis_space_demo"],
    "voting": ["VotingClassifier", "VotingRegressor"],
}

__getattr__, __dir__, __all__ = attach(__name__, {name: file for file in _FILES for name in _FILES[file]})
