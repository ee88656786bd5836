"""Compile the loops of kernel learners."""

from collections.abc import Sequence

import numpy as np

from gnomon.kernels.passive_aggressive import (
    KernelPassiveAggressiveClassifier,
    KernelPassiveAggressiveRegressor,
)
from gnomon.kernels.perceptron import KernelPerceptron


def warm_up(dtypes: Sequence[str]) -> None:
    """Fit every learner with loops of its own to a few numbers."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [1.0, 1.5]]), np.array([0, 1, 0, 1])
    KernelPerceptron("rbf").fit(X, y)
    KernelPassiveAggressiveClassifier().fit(X, y)
    KernelPassiveAggressiveRegressor().fit(X, y.astype(float))
