"""Factors as a graph: round variables, square factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gnomon.core.errors import DataError
from gnomon.graphical.factor import Factor


class FactorGraph:
    """Factors as the square nodes of a graph, their variables as the round ones.

    Parameters
    ----------
    factors : list of Factor

    Attributes
    ----------
    factors : list of Factor
    variables : list of str
    states : dict

    Examples
    --------
    >>> graph = FactorGraph([Factor(["A", "B"], [[4, 1], [1, 2]]), Factor(["B", "C"], [[1, 2], [2, 1]])])
    >>> graph.is_tree(), graph.variables
    (True, ['A', 'B', 'C'])
    """

    def __init__(self, factors: Sequence[Factor]) -> None:
        self.factors = list(factors)
        self.states: dict[str, tuple[Any, ...]] = {}
        for factor in self.factors:
            if not isinstance(factor, Factor):
                raise DataError(f"factors must be Factor objects; got {type(factor).__name__}.")
            for name, own in factor.states.items():
                if self.states.setdefault(name, own) != own:
                    raise DataError(f"two factors name the states of {name!r} differently.")
        self.variables = list(self.states)

    def edges(self) -> list[tuple[int, str]]:
        """Return (number of the factor, variable) for every edge."""
        return [(f, name) for f, factor in enumerate(self.factors) for name in factor.variables]

    def is_tree(self) -> bool:
        """Tell whether there is no loop; then message passing is exact."""
        owner = {name: name for name in self.variables}

        def root(node: Any) -> Any:
            while owner[node] != node:
                owner[node] = owner[owner[node]]
                node = owner[node]
            return node

        for f, name in self.edges():
            owner.setdefault(f, f)  # type: ignore[arg-type, call-overload]
            a, b = root(f), root(name)
            if a == b:
                return False
            owner[a] = b
        return True

    def query(self, variables: Any, evidence: Mapping[str, Any] | None = None, **options: Any) -> Factor:
        """Return the exact distribution of some variables by elimination; see `inference_plan`."""
        from gnomon.graphical.inference import inference_plan

        return inference_plan(self, variables, evidence, **options).run()

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw variables as circles and factors as squares; return the Axes."""
        from gnomon.plot import network

        return network(self, ax=ax, **options)

    def __repr__(self) -> str:
        return f"FactorGraph({len(self.variables)} variables, {len(self.factors)} factors)"
