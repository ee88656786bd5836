"""Gaussian processes: distributions over functions, conditioned on what was seen."""

from gnomon._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {"GaussianProcessClassifier": "classification", "GaussianProcessRegressor": "regression"},
)
