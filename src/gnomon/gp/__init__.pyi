# Written by scripts/stubs from the package's `attach` call; do not edit.
from .classification import GaussianProcessClassifier as GaussianProcessClassifier
from .regression import GaussianProcessRegressor as GaussianProcessRegressor

__all__ = ["GaussianProcessClassifier", "GaussianProcessRegressor"]
