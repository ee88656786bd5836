# Written by scripts/stubs from the package's `attach` call; do not edit.
from .forest import ExtraTreesClassifier as ExtraTreesClassifier
from .forest import ExtraTreesRegressor as ExtraTreesRegressor
from .forest import RandomForestClassifier as RandomForestClassifier
from .forest import RandomForestRegressor as RandomForestRegressor

__all__ = ["ExtraTreesClassifier", "ExtraTreesRegressor", "RandomForestClassifier", "RandomForestRegressor"]
