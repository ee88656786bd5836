"""What a forest holds while it grows: its limits, the data of its trees, their categories and their seeds."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import stream
from gnomon.ensemble.sampling import SamplingPool
from gnomon.trees import categories as cats
from gnomon.trees.base import CONSTRAINTS
from gnomon.trees.growing import Prepared
from gnomon.trees.nodes import Tree
from gnomon.trees.problems import Growth, Problem
from gnomon.trees.sparse_columns import SparseColumns

Array = np.ndarray

FOREST_CONSTRAINTS: dict[str, Any] = {
    **{name: rule for name, rule in CONSTRAINTS.items() if name != "splitter"},
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "bootstrap": ["boolean"],
    "oob_score": ["boolean", callable],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
    "warm_start": ["boolean"],
    "max_samples": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0.0, None, closed="neither"),
        None,
    ],
    "feature_subset": [StrOptions({"split", "tree"})],
}


class ForestState(NamedTuple):
    """The trees grown so far; tree i comes from stream i of the seed."""

    trees: tuple[Tree, ...]
    seed: int
    oob_sum: Array | None  # (n, width): summed predictions for rows that a tree did not see
    oob_count: Array | None  # (n,)


class TrainingData(NamedTuple):
    """What the trees of one fit grow from."""

    X: Array
    prepared: Prepared | SparseColumns
    problem: Problem
    growth: Growth
    pool: SamplingPool | None  # None without a bootstrap
    draws: int


def tree_seeds(seed: int, n_trees: int) -> list[int]:
    """Return the `random_state` of every tree of a forest; that of a tree does not depend on how many follow."""
    return stream(seed, -1).integers(2**31 - 1, size=n_trees).tolist()


class Coding:
    """Holds the categories of X while a forest is fitted; what is only needed then is dropped after."""

    def __init__(self, model: Any, X: Any) -> None:
        self.model, self.X = model, X

    def __enter__(self) -> Any:
        found = cats.learn_categories(self.X, self.model.categorical_features)
        codes = cats.encode(self.X, found)
        self.model._categories, self.model._data, self.model._ahead = found, None, []
        return codes

    def __exit__(self, *error: Any) -> None:
        for name in self.model._passing:
            self.model.__dict__.pop(name, None)
