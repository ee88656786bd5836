"""A discrete network as arrays: names, states, parents and tables, checked once; what all engines read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.graphical import dags
from gnomon.graphical.factor import Factor, state_code, states_of

SUM_TOL = 1e-8  # how far from one a row of a table may sum


class Net:
    """Variables, their states, the parents of each and its table: axes are the parents, then the child."""

    def __init__(
        self,
        variables: Sequence[str],
        states: Sequence[Sequence[Any]],
        parents: Sequence[Sequence[int]],
        tables: Sequence[Array],
    ) -> None:
        self.variables = tuple(variables)
        self.states = tuple(tuple(own) for own in states)
        self.parents = tuple(tuple(own) for own in parents)
        self.tables = tuple(tables)

    @cached_property
    def index(self) -> dict[str, int]:
        """The number of every variable."""
        return {name: v for v, name in enumerate(self.variables)}

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """The number of states of every variable."""
        return tuple(len(own) for own in self.states)

    @cached_property
    def order(self) -> list[int]:
        """The variables, parents first."""
        return dags.topological_order(self.parents, self.variables)

    @cached_property
    def named_states(self) -> dict[str, tuple[Any, ...]]:
        """States by name of the variable."""
        return dict(zip(self.variables, self.states, strict=True))

    @cached_property
    def codes(self) -> tuple[dict[Any, int], ...]:
        """The code of every state of every variable."""
        return tuple({state: code for code, state in enumerate(own)} for own in self.states)

    @cached_property
    def trees(self) -> dict[Any, Any]:
        """Junction trees that were built, by order."""
        return {}

    def __len__(self) -> int:
        return len(self.variables)

    def family(self, v: int) -> tuple[int, ...]:
        """Return the axes of a variable's table."""
        return (*self.parents[v], v)

    def number(self, name: Any, what: str = "the network") -> int:
        """Return the number of a variable; an unknown name is an error."""
        if name in self.index:
            return self.index[name]
        raise DataError(f"{what} has no variable {name!r}.{nearest(name, self.variables)}")

    def numbers(self, names: Any) -> list[int]:
        """Return the numbers of one variable or several."""
        return [self.number(name) for name in listed(names)]

    def code(self, v: int, state: Any) -> int:
        """Return the code of a state of a variable."""
        try:
            return self.codes[v][state]
        except (KeyError, TypeError):
            return state_code(self.states[v], state, self.variables[v])

    def evidence(self, evidence: Mapping[str, Any] | None) -> dict[int, int]:
        """Return evidence as codes; a missing value (None or NaN) is no evidence."""
        found = {}
        for name, state in by_name(evidence, "evidence").items():
            v = self.number(name)
            if state is not None and not (isinstance(state, float) and math.isnan(state)):
                found[v] = self.code(v, state)
        return found

    def likelihoods(self, soft: Mapping[str, Any] | None) -> dict[int, Array]:
        """Return soft evidence as one likelihood for every state."""
        found = {}
        for name, values in by_name(soft, "soft_evidence").items():
            v = self.number(name)
            if isinstance(values, Mapping):
                vector = np.zeros(self.cards[v])
                for state, value in values.items():
                    vector[self.code(v, state)] = value
            else:
                vector = np.asarray(values, dtype=np.float64)
            if vector.shape != (self.cards[v],) or not np.isfinite(vector).all() or (vector < 0).any():
                raise DataError(
                    f"soft_evidence of {name!r} needs a likelihood, at least 0, for each of its {self.cards[v]} "
                    f"states {list(self.states[v])}; got {values!r}."
                )
            found[v] = vector
        return found

    def factor(self, v: int) -> Factor:
        """Return the table of a variable as a factor."""
        names = tuple(self.variables[u] for u in self.family(v))
        return Factor._made(names, self.tables[v], {name: self.named_states[name] for name in names})

    def factors(self, nodes: Iterable[int] | None = None) -> list[Factor]:
        """Return the tables of some variables, or of all, as factors."""
        return [self.factor(v) for v in (range(len(self)) if nodes is None else nodes)]

    def replace(self, tables: Sequence[Array]) -> Net:
        """Return the same network with other tables; what is known of the graph is kept."""
        other = Net(self.variables, self.states, self.parents, tables)
        for name in ("index", "cards", "order", "named_states", "codes"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    def parameter_count(self) -> int:
        """Return Σ (states − 1) ∏ states of the parents."""
        return sum(
            (self.cards[v] - 1) * math.prod(self.cards[p] for p in self.parents[v]) for v in range(len(self))
        )

    def edges(self) -> list[tuple[str, str]]:
        """Return the edges by name, in order of the children."""
        return [(self.variables[p], self.variables[v]) for v in range(len(self)) for p in self.parents[v]]


def listed(names: Any) -> list[Any]:
    """Return one name or several as a list."""
    return [names] if isinstance(names, str) else list(names)


def by_name(given: Any, what: str) -> Mapping[str, Any]:
    """Return what was given by name of the variable; anything but a dict is an error."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise DataError(f"{what} must be a dict such as {{'rain': 'yes'}}; got {type(given).__name__}.")
    return given


def build(
    edges: Iterable[tuple[str, str]],
    nodes: Iterable[str],
    states: Mapping[str, Sequence[Any]] | None,
    tables: Mapping[str, Any] | None,
) -> Net:
    """Return a network from names, with every rule checked."""
    variables, parents = graph_of(edges, nodes, states, tables)
    dags.topological_order(parents, variables)
    given, found = dict(tables or {}), dict(states or {})
    own, arrays = [], []
    for v, name in enumerate(variables):
        if name not in given:
            raise DataError(
                f"variable {name!r} has no table; give one with tables={{...}} or set_table, or fit."
            )
        array = _table_array(given[name], [variables[p] for p in parents[v]], name)
        own.append(states_of(found.get(name, range(array.shape[-1])), name))
        arrays.append(array)
    for v in range(len(variables)):
        check_table(arrays[v], variables, own, parents[v], v)
        arrays[v] = normalized(arrays[v])
    return Net(variables, own, parents, arrays)


def normalized(table: Array) -> Array:
    """Return the rows of a table scaled to sum to one; rows that do but for the last bits are left alone."""
    sums = table.sum(axis=-1, keepdims=True)
    return np.where(np.abs(sums - 1) > 1e-14, table / np.where(sums > 0, sums, 1.0), table)


def _table_array(table: Any, parents: list[str], name: str) -> Array:
    """Return a table as an array with the declared axes; a factor brings its own order."""
    if isinstance(table, Factor):
        if set(table.variables) != {*parents, name}:
            raise DataError(
                f"the table of {name!r} must be over {[*parents, name]}; got {list(table.variables)}."
            )
        return np.ascontiguousarray(table.permute([*parents, name]).values)
    try:
        array = np.array(table, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"the table of {name!r} is no array of numbers: {error}") from None
    if array.ndim != len(parents) + 1:
        raise DataError(
            f"the table of {name!r} must have {len(parents) + 1} axes ({', '.join([*parents, name])}); "
            f"its shape is {array.shape}."
        )
    return array


def graph_of(
    edges: Iterable[Any], nodes: Iterable[str], states: Any, tables: Any
) -> tuple[list[str], list[tuple[int, ...]]]:
    """Return the variables in order of mention and the parents of each."""
    pairs = []
    for edge in edges:
        pair = tuple(edge)
        if len(pair) != 2 or isinstance(edge, str):
            raise DataError(f"edges must be pairs (parent, child); got {edge!r}.")
        pairs.append(pair)
    mentioned = [*nodes, *(states or {}), *(name for pair in pairs for name in pair), *(tables or {})]
    variables = list(dict.fromkeys(mentioned))
    for name in variables:
        if not isinstance(name, str):
            raise DataError(f"names of variables must be strings; got {name!r} in edges or nodes.")
    index = {name: v for v, name in enumerate(variables)}
    parents: list[list[int]] = [[] for _ in variables]
    for a, b in pairs:
        if index[a] in parents[index[b]]:
            raise DataError(f"the edge {a!r} → {b!r} is given twice.")
        if a == b:
            raise DataError(f"the graph has a cycle: {a} → {a}. Remove the edge.")
        parents[index[b]].append(index[a])
    return variables, [tuple(own) for own in parents]


def check_table(
    table: Array, variables: Sequence[str], states: Sequence[Sequence[Any]], parents: Sequence[int], v: int
) -> None:
    """Raise when a table has a wrong shape, bad entries, or rows that do not sum to one."""
    name, shape = variables[v], tuple(len(states[u]) for u in (*parents, v))
    if table.shape != shape:
        axes = ", ".join(f"{variables[u]}[{len(states[u])}]" for u in (*parents, v))
        raise DataError(f"the table of {name!r} must have shape {shape} for {axes}; got {table.shape}.")
    if not np.isfinite(table).all() or (table < 0).any():
        raise DataError(
            f"the table of {name!r} must hold probabilities; it has entries below 0 or not finite."
        )
    sums = table.sum(axis=-1)
    worst = np.unravel_index(int(np.abs(sums - 1).argmax()), sums.shape) if sums.ndim else ()
    if abs(sums[worst] - 1) > SUM_TOL:
        where = ", ".join(f"{variables[p]}={states[p][code]}" for p, code in zip(parents, worst, strict=True))
        raise DataError(
            f"the table of {name!r} sums to {sums[worst]:.10g}{f' for {where}' if where else ''}; every row must "
            "sum to 1. Mend it, or divide by the sums."
        )
