"""Ensembles: many models that answer together, by vote, by average, or in sequence."""

from gnomon._lazy import attach

_FILES = {
    "forest": [
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "RandomForestClassifier",
        "RandomForestRegressor",
    ],
    "hist_boosting": ["HistGradientBoostingClassifier", "HistGradientBoostingRegressor"],
}

__getattr__, __dir__, __all__ = attach(__name__, {name: file for file in _FILES for name in _FILES[file]})
