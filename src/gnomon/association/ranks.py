"""Frequent items, from the rarest to the most frequent: what every search of sets reads."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np

from gnomon.association.baskets import Baskets, Table
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array


class Ranked:
    """The frequent items of baskets, rarest first, and both ways to look at them; a small table's as bits, too.

    Parameters
    ----------
    columns : array
        Rank -> column.
    sizes : array
        How many baskets hold each rank.
    n, least, n_items : int
        Baskets; the count that is frequent; items, frequent or not.
    turn : function
        Makes the `table`, where somebody asks for it.
    bits : array, optional
        A row for every rank, with a bit for every basket.
    """

    def __init__(
        self,
        columns: Array,
        sizes: Array,
        n: int,
        least: int,
        n_items: int,
        turn: Callable[[], tuple[Array, ...]],
        bits: Array | None = None,
    ) -> None:
        self.columns, self.sizes, self.bits = columns, sizes, bits
        self.n, self.least, self.n_items = n, least, n_items
        self._turn = turn
        self.basket_starts = np.zeros(len(sizes) + 1, dtype=np.int64)
        np.cumsum(sizes, out=self.basket_starts[1:])

    @property
    def n_entries(self) -> int:
        """How many frequent items the baskets hold in all."""
        return int(self.basket_starts[-1])

    @cached_property
    def table(self) -> tuple[Array, ...]:
        """Baskets of ranks, the baskets of every rank, and where in the former it stands, for the loops."""
        return self._turn()

    @property
    def outline(self) -> tuple[Array, ...]:
        """The table without its entries, for loops that have the bits of every rank."""
        none = np.zeros(0, dtype=np.int32)
        return np.zeros(1, dtype=np.int64), none, self.basket_starts, none, np.zeros(0, dtype=np.int64)

    @property
    def starts(self) -> Array:
        """Where the baskets begin in `items`."""
        return self.table[0]

    @property
    def items(self) -> Array:
        """Ranks, ascending in every basket."""
        return self.table[1]

    @property
    def baskets(self) -> Array:
        """The baskets of every rank, one after another."""
        return self.table[3]

    def all_bits(self) -> Array:
        """Return the row of bits of every rank."""
        from gnomon.loops.setsearch import whole_rows

        return whole_rows(self.table, 0) if self.bits is None else self.bits


def least_count(n: int, min_support: Any, min_count: Any) -> int:
    """Return the smallest count that is frequent: ⌈N t⌉, decided so that 7 of 100 is 0.07."""
    if min_count is not None:
        if not isinstance(min_count, Integral) or isinstance(min_count, bool) or min_count < 1:
            raise DataError(f"min_count must be a positive integer; got {min_count!r}.")
        return int(min_count)
    if not isinstance(min_support, Real) or isinstance(min_support, bool) or not 0 < min_support <= 1:
        raise DataError(f"min_support must lie in (0, 1]; got {min_support!r}. Use min_count for counts.")
    return max(1, math.ceil(n * float(min_support) - 1e-9))


def ranked(baskets: Baskets | Table, least: int) -> Ranked:
    """Return the frequent items from rarest to most frequent, ties by column."""
    if isinstance(baskets, Table):
        return _ranked_table(baskets, least)
    counts = np.bincount(baskets.items, minlength=len(baskets.names))
    frequent = np.flatnonzero(counts >= least)
    columns = frequent[np.argsort(counts[frequent], kind="stable")]

    def turn() -> tuple[Array, ...]:
        return _turned(baskets, columns)

    return Ranked(columns, counts[columns], baskets.n, least, len(baskets.names), turn)


def _turned(baskets: Baskets, columns: Array) -> tuple[Array, ...]:
    from gnomon.loops.setorder import turned

    rank = np.full(len(baskets.names), -1, dtype=np.int32)
    rank[columns] = np.arange(len(columns))
    return tuple(turned(baskets.starts, baskets.items, len(columns), rank))


def _ranked_table(table: Table, least: int) -> Ranked:
    from gnomon.loops.setsearch import WHOLE

    order = np.argsort(table.counts, kind="stable")
    columns = table.columns[order]

    def turn() -> tuple[Array, ...]:
        return _turned(table.to_baskets(), columns)

    bits = _bit_rows(table.cells[:, order]) if least * WHOLE >= table.n else None
    return Ranked(columns, table.counts[order], table.n, least, len(table.names), turn, bits)


def _bit_rows(cells: Array) -> Array:
    """Return the columns of a boolean table as rows of bits, 64 to a word."""
    packed = np.packbits(cells.T, axis=1, bitorder="little")
    padded = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8").astype(np.uint64, copy=False)
