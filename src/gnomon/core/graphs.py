"""Graphs with numbers at their parts as data of a fit: what message passing learns from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from gnomon.core.data import Data, digest_of


class FactorData(Data):
    """Tables over named variables: each unit is a pair of its variables and its table."""

    def __init__(
        self, scopes: Sequence[tuple[str, ...]], tables: Sequence[Any], facts: dict[str, Any]
    ) -> None:
        self.scopes = [tuple(scope) for scope in scopes]
        self.tables = [np.asarray(table, dtype=np.float64) for table in tables]
        self.known = dict(facts)

    def facts(self) -> dict[str, Any]:
        """Return what a model keeps: the variables and their states."""
        return dict(self.known)

    def digest(self) -> str:
        """Return a name for scopes, tables and states."""
        return digest_of(self.scopes, self.tables, self.known)

    def __len__(self) -> int:
        return len(self.scopes)

    def take(self, units: Any) -> Self:
        """Return some of the tables."""
        chosen = [int(unit) for unit in np.asarray(units)]
        return type(self)([self.scopes[i] for i in chosen], [self.tables[i] for i in chosen], self.known)
