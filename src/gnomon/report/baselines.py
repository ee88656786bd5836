"""Baselines: what can be said without looking at any column. A model has to beat them."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class MajorityClass(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Always predicts the most frequent class, with the frequencies as probabilities.

    .. math:: p(y = k \mid x) = n_k / n

    >>> MajorityClass().fit([[0], [1], [2]], ["no", "yes", "no"]).predict([[5]])
    array(['no'], dtype='<U3')
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Count the classes."""
        self.classes_, counts = np.unique(y, return_counts=True)
        self.class_prior_ = counts / counts.sum()
        return self

    def predict(self, X: Any) -> Any:
        """Return the most frequent class for every row."""
        return np.repeat(self.classes_[[self.class_prior_.argmax()]], len(X))

    def predict_proba(self, X: Any) -> Any:
        """Return the frequencies of the classes for every row."""
        return np.tile(self.class_prior_, (len(X), 1))


class MeanValue(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Always predicts the mean.

    .. math:: \hat y = \bar y

    >>> MeanValue().fit([[0], [1]], [2.0, 4.0]).predict([[5]])
    array([3.])
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Take the mean."""
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        """Return the mean for every row."""
        return np.full(len(X), self.mean_)


class Baseline(NamedTuple):
    """A baseline: a name that says what it does, and the model."""

    name: str
    family: str
    model: str
    settings: dict[str, Any]

    def make(self) -> Any:
        """Return the model, unfitted."""
        from importlib import import_module

        return getattr(import_module(f"gnomon.{self.family}"), self.model)(**self.settings)


# By what the table holds (`Problem.menu`).
BASELINES = {
    "classification": Baseline("always the most frequent class", "report.baselines", "MajorityClass", {}),
    "regression": Baseline("always the mean", "report.baselines", "MeanValue", {}),
    "recommend": Baseline("always the mean", "recommend", "MeanRecommender", {"level": "global"}),
    "topics": Baseline(
        "one topic for all", "topics", "LatentDirichletAllocation", {"n_components": 1, "random_state": 0}
    ),
    "density": Baseline("one normal per column", "mixture", "GaussianMixture", {"covariance_type": "diag"}),
    "density of counts": Baseline("one Poisson per column", "mixture", "PoissonMixture", {"n_components": 1}),
    "sequence": Baseline("no memory: one normal", "sequence", "GaussianHMM", {"n_components": 1}),
    "sequence of symbols": Baseline(
        "no memory: the frequencies",
        "sequence",
        "CategoricalHMM",
        {"n_components": 1, "emissionprob_prior": 1.1},
    ),
    "sequence of counts": Baseline("no memory: one Poisson", "sequence", "PoissonHMM", {"n_components": 1}),
}
