"""A learner that is as simple as can be: it holds the core to the contract, and the contract to its word."""

from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval

from gnomon.core.steps import Learner
from gnomon.core.sums import per_row, total
from gnomon.core.validate import Reads


class Center(NamedTuple):
    center: np.ndarray


class Sums(NamedTuple):
    weight: float
    first: np.ndarray
    second: np.ndarray


def sums(chunk, origin):
    residual = chunk.y - origin
    return Sums(chunk.weight.sum(), chunk.weight @ residual, chunk.weight @ residual**2)


def spread(chunk, center):
    return np.full(len(chunk.X), center, dtype=np.float64)


class SlowMean(RegressorMixin, Learner):
    """Goes half the way to the mean of y in every step."""

    _reads = Reads(y="number", scales=True)
    _parameter_constraints = {
        "speed": [Interval(Real, 0, 1, closed="right")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, speed=0.5, *, max_iter=100, tol=1e-12):
        self.speed = speed
        self.max_iter = max_iter
        self.tol = tol

    def _start(self, rows, rng):
        return Center(np.zeros(()))

    def _step(self, rows, state):
        found = total(sums, rows, state.center)
        center = state.center + self.speed * found.first / found.weight
        return Center(center), found.second / found.weight

    def _attributes(self, state):
        return {"center_": state.center}

    def predict(self, X):
        return per_row(spread, self._rows(X), self.center_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags
