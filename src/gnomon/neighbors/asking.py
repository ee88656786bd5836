"""Whom a classifier or a regression asks: the k nearest rows, or all within a radius."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.validate import COUNT
from gnomon.neighbors.nearest import NearestQuestions, RadiusQuestions
from gnomon.neighbors.searching import METRIC_RULES
from gnomon.neighbors.voting import Ballot, of_nearest, of_radius, shares

WEIGHTS = [StrOptions({"uniform", "distance"}), callable, None]


class KNearest(NearestQuestions):
    """The k nearest, where a row counts as often as it weighs."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **METRIC_RULES,
        "n_neighbors": [COUNT],
        "weights": WEIGHTS,
    }

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def _ballot(self, X: Any) -> Ballot:
        """Return who votes: the first k when every row is counted as often as it weighs."""
        if self.row_weight_ is None:
            values, rows = self._nearest(X, None)
            return of_nearest(values, rows, None, self.weights)
        k = self._check_votes(None, X is None)
        values, rows, weight = self._repeated(X, k)
        return of_nearest(values, rows, shares(weight, k), self.weights)

    def _check_votes(self, k: int | None, own: bool) -> int:
        """Return how many rows vote, checked: at most all of them, each counted as often as it weighs."""
        weight = self.row_weight_
        return self._check_k(k, own, None if weight is None else int(max(len(weight), weight.sum())))

    def _repeated(self, X: Any, k: int) -> tuple[Array, Array, Array]:
        """Search so far that the weights of the found rows reach k, or to the end; return these weights too.

        Without X the queries are the training rows, and one copy of each is left out of its own neighbors.
        """
        own, most = X is None, self.index_.n_rows
        query = self.index_.rows if own else self._query(X)
        size = min(k + own, most)
        while True:
            with self._threads():
                values, rows = self.index_.nearest(query, size, prepared=own)
            weight = self.row_weight_[rows]
            if own:
                itself = rows == np.arange(len(rows))[:, None]
                weight = np.where(itself, np.maximum(weight - 1.0, 0.0), weight)
            if size == most or not (weight.sum(axis=1) < k * (1.0 - 1e-12)).any():
                return values, rows, weight
            size = min(most, 2 * size)


class WithinRadius(RadiusQuestions):
    """All rows within a radius, each counted as often as it weighs."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **METRIC_RULES,
        "radius": [Interval(Real, 0, None, closed="both")],
        "weights": WEIGHTS,
    }

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def _ballot(self, X: Any) -> Ballot:
        return of_radius(self._within(X, None), self.row_weight_, self.weights)
