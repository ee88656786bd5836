"""A hidden Markov model of symbols written as a Bayesian network: parents and tables of every variable."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array


class NetworkTables(NamedTuple):
    """Parents of every variable, and p(variable | parents) with the parents' axes first."""

    parents: dict[str, tuple[str, ...]]
    tables: dict[str, Array]

    def joint(self, values: dict[str, int]) -> float:
        """Return the probability of one value for every variable: the product of the tables' entries."""
        p = 1.0
        for name, table in self.tables.items():
            index = (*(values[parent] for parent in self.parents[name]), values[name])
            p *= float(table[index])
        return p


def as_network(chain: Any, T: int) -> NetworkTables:
    """States s1, s2, … in a row, each the parent of its observation x1, x2, …"""
    p = getattr(chain.emission, "p", None)
    if p is None or np.ndim(p) != 3 or p.shape[1] != 1 or chain.end is not None:
        raise DataError(
            "only models of one column of symbols without a stop state become a Bayesian network."
        )
    parents: dict[str, tuple[str, ...]] = {}
    tables: dict[str, Array] = {}
    for t in range(1, T + 1):
        parents[f"s{t}"] = (f"s{t - 1}",) if t > 1 else ()
        tables[f"s{t}"] = chain.trans if t > 1 else chain.start
        parents[f"x{t}"], tables[f"x{t}"] = (f"s{t}",), p[:, 0]
    return NetworkTables(parents, tables)
