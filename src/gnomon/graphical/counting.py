"""Counts of families of variables, and tables from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.rows import Chunk
from gnomon.core.sums import total
from gnomon.graphical.offsets import starts
from gnomon.loops import families as loops


class Families(NamedTuple):
    """Scopes of tables as the counting loop reads them."""

    start: Array  # of the axes
    axis: Array  # columns: parents, then the child
    stride: Array
    table_start: Array


def families_of(scopes: Sequence[Sequence[int]], cards: Sequence[int]) -> Families:
    """Return the arrays of some scopes."""
    strides = []
    for scope in scopes:
        sizes = [cards[v] for v in scope]
        strides += [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    tables = [math.prod(cards[v] for v in scope) for scope in scopes]
    return Families(
        starts([len(scope) for scope in scopes]),
        np.array([v for scope in scopes for v in scope], dtype=np.int64),
        np.array(strides, dtype=np.int64),
        starts(tables),
    )


class Counts(NamedTuple):
    """Counts of all families, one behind the other, and the number of cells that were missing."""

    counts: Array
    missing: float
    weight: float


def count_chunk(chunk: Chunk, families: Families) -> Counts:
    """Partial counts; a row adds to the families of which it has no cell missing."""
    counts = np.zeros(int(families.table_start[-1]))
    missing = loops.count(np.ascontiguousarray(chunk.X), chunk.weight, families, counts)
    return Counts(counts, float(missing), float(chunk.weight.sum()))


def family_tables(
    rows: Any, scopes: Sequence[Sequence[int]], cards: Sequence[int]
) -> tuple[list[Array], float, float]:
    """Return the counts of every scope as tables, the number of missing cells, and the weight of all rows."""
    found = total(count_chunk, rows, families_of(scopes, cards))
    return split(found.counts, scopes, cards), float(found.missing), float(found.weight)


def split(flat: Array, scopes: Sequence[Sequence[int]], cards: Sequence[int]) -> list[Array]:
    """Cut one vector into tables."""
    shapes = [tuple(cards[v] for v in scope) for scope in scopes]
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True)]


def prior_counts(
    prior: str, shapes: Mapping[str, tuple[int, ...]], size: float, pseudo_counts: Any
) -> dict[str, Array]:
    """Return the Dirichlet parameters of every table under a named prior; zeros for maximum likelihood."""
    if prior == "dirichlet" and pseudo_counts is None:
        raise DataError(
            "prior='dirichlet' needs pseudo_counts: a number, or a dict with a table for every variable."
        )
    found = {}
    for name, shape in shapes.items():
        if prior == "mle":
            found[name] = np.zeros(shape)
        elif prior == "k2":
            found[name] = np.ones(shape)
        elif prior == "bdeu":
            found[name] = np.full(shape, size / math.prod(shape))
        else:
            given = pseudo_counts.get(name, 0.0) if isinstance(pseudo_counts, Mapping) else pseudo_counts
            found[name] = _pseudo_table(given, name, shape)
    return found


def _pseudo_table(given: Any, name: str, shape: tuple[int, ...]) -> Array:
    try:
        table = np.broadcast_to(np.asarray(given, dtype=np.float64), shape).copy()
    except (TypeError, ValueError):
        raise DataError(f"pseudo_counts of {name!r} must have shape {shape}.") from None
    if not np.isfinite(table).all() or (table < 0).any():
        raise DataError(f"pseudo_counts of {name!r} must be finite and at least 0.")
    return table


def estimate(counts: Array, alpha: Array) -> tuple[Array, Array]:
    """Return (N + α)/Σ with uniform rows where there is nothing to divide, and which rows those are."""
    mass = counts + alpha
    sums = mass.sum(axis=-1, keepdims=True)
    empty = sums[..., 0] <= 0
    table = np.divide(mass, sums, out=np.full(mass.shape, 1.0 / mass.shape[-1]), where=sums > 0)
    return table, empty


def mode(counts: Array, alpha: Array, name: str) -> tuple[Array, Array]:
    """Return the largest posterior density, (N + α − 1)/Σ; where that is negative there is none."""
    mass = counts + alpha - 1.0
    if (mass < -1e-12).any():
        raise DataError(
            f"the posterior of {name!r} has no mode: some count plus pseudo-count is below 1. Use point='mean'."
        )
    return estimate(np.maximum(mass, 0.0), np.zeros_like(alpha))


def tie(tables: list[Array], names: Sequence[str], groups: Sequence[Sequence[str]]) -> list[Array]:
    """Return the counts with those of every group added up; their tables are then one."""
    index = {name: v for v, name in enumerate(names)}
    tied = list(tables)
    for group in groups:
        members = []
        for name in group:
            if name not in index:
                raise DataError(f"tied names {name!r}, which is no variable of the network.")
            members.append(index[name])
        shapes = {tables[v].shape for v in members}
        if len(shapes) > 1:
            raise DataError(
                f"tied variables {list(group)} need tables of one shape; they have {sorted(shapes)}."
            )
        together = np.sum([tables[v] for v in members], axis=0)
        for v in members:
            tied[v] = together
    return tied
