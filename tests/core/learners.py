"""A learner so small that everything about it can be worked out by hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import OneToOneFeatureMixin, RegressorMixin, TransformerMixin

from gnomon.core.closed_form import Additive
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import per_row, total
from gnomon.core.validate import Reads


class MeanState(NamedTuple):
    """Where the mean is thought to be."""

    mean: np.ndarray


class MeanSums(NamedTuple):
    """Σw and Σw(x − m)."""

    weight: float
    deviation: np.ndarray


def deviations(chunk, mean):
    return MeanSums(chunk.weight.sum(), chunk.weight @ (chunk.X - mean))


def centered(chunk, mean):
    return chunk.X - mean


class SlowMean(OneToOneFeatureMixin, TransformerMixin, Learner):
    """Walks half of the way to the mean in every step; the objective is the squared distance left."""

    _reads = Reads(scales=True)

    def __init__(self, max_iter=100, tol=1e-8, *, n_init=1, warm_start=False, random_state=None, n_jobs=None):
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _start(self, rows, rng):
        return MeanState(
            rng.normal(size=rows.n_features) if self.random_state is not None else np.zeros(rows.n_features)
        )

    def _step(self, rows, state):
        sums = total(deviations, rows, state.mean)
        move = sums.deviation / sums.weight
        return MeanState(state.mean + move / 2), float(move @ move)

    def _attributes(self, state):
        return {"mean_": state.mean}

    def _state(self):
        return MeanState(self.mean_)

    def transform(self, X):
        return per_row(centered, self._rows(X), self.mean_)


class CertifiedMean(SlowMean):
    """The same, stopped by a certificate."""

    _stop = "certificate"

    def _step(self, rows, state):
        state, objective = super()._step(rows, state)
        return state, Report(objective, certificate=float(np.sqrt(objective)))


class Sums(NamedTuple):
    """Σw and Σwy."""

    weight: float
    wy: float

    @property
    def n_features(self):
        return 1


def target_sums(chunk):
    return Sums(chunk.weight.sum(), chunk.weight @ chunk.y)


class MeanTarget(RegressorMixin, Additive):
    """Predicts the mean of the target."""

    _reads = Reads(y="number", scales=True)

    def _statistics(self, rows):
        return total(target_sums, rows)

    def _estimate(self, statistics):
        return {"mean_": statistics.wy / statistics.weight}

    def predict(self, X):
        return np.full(self._rows(X).n_rows, self.mean_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags
