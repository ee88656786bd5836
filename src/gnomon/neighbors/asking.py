"""Whom a classifier or a regression asks: the k nearest rows, or all within a radius."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

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
        values, rows, part = self._repeated(X, self._check_k(None, X is None))
        return of_nearest(values, rows, part, self.weights)

    def _repeated(self, X: Any, k: int) -> tuple[Array, Array, Array]:
        """Search so far that the weights of the found rows reach k, or to the end."""
        size, most = k, self.index_.n_rows - (X is None)
        while True:
            values, rows = self._nearest(X, size)
            reached = self.row_weight_[rows].sum(axis=1)
            if size == most or not (reached < k * (1.0 - 1e-12)).any():
                return values, rows, shares(self.row_weight_[rows], k)
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
