"""What a forest holds while it grows: its limits, the data of its trees, their categories and their seeds."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import stream
from gnomon.ensemble.sampling import SamplingPool
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
    sample: Any = None  # what bags are drawn from; it follows from the rows, so no checkpoint holds it


@dataclass
class ForestWork:
    """The workspace: what the trees of one fit grow from, and trees that wait for their turn."""

    rows: Any
    X: Array
    target: Array  # of the rows that count: class codes, or numbers
    prepared: Prepared | SparseColumns
    problem: Problem
    growth: Growth
    pool: SamplingPool | None  # None without a bootstrap
    draws: int
    ahead: list[Any] = field(default_factory=list)

    def sample(self) -> tuple[Any, ...] | None:
        """Return what the rows that a tree was grown on can be drawn from again."""
        if self.pool is None:
            return None
        order = np.flatnonzero(self.rows.weight > 0)[self.pool.order]
        return order, self.pool.ends, self.pool.size, self.pool.whole, self.draws


def tree_seeds(seed: int, n_trees: int) -> list[int]:
    """Return the `random_state` of every tree of a forest; that of a tree does not depend on how many follow."""
    return stream(seed, -1).integers(2**31 - 1, size=n_trees).tolist()
