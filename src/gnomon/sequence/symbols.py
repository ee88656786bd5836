"""Sequences of symbols: laying them end to end, coding them, counting their transitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.data import Data, digest_of
from gnomon.core.errors import DataError
from gnomon.core.ids import codes_of
from gnomon.core.items import listed
from gnomon.core.linalg import Array
from gnomon.core.validate import run_lengths_of


class Symbols(Data):
    """Sequences laid end to end, each with a weight; sequence n is ``values[offsets[n]:offsets[n + 1]]``."""

    def __init__(self, values: Array, offsets: Array, weight: Array | None = None) -> None:
        self.values, self.offsets = values, offsets
        self.weight = np.ones(len(offsets) - 1) if weight is None else weight

    def lengths(self) -> Array:
        return np.diff(self.offsets)

    def digest(self) -> str:
        """Return a name for symbols, lengths and weights."""
        return digest_of(self.values, self.offsets, self.weight)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, units: Any) -> Symbols:
        """Return some of the sequences."""
        chosen = np.atleast_1d(units)
        parts = [self.values[self.offsets[i] : self.offsets[i + 1]] for i in chosen]
        return Symbols(np.concatenate(parts), _offsets(list(map(len, parts))), self.weight[chosen])


def lay_out(sequences: Any, lengths: Any = None) -> Symbols:
    """Read one sequence, a list of sequences, a matrix of one sequence a row, or symbols with `lengths`.

    >>> lay_out([["a", "b"], ["c"]]).offsets
    array([0, 2, 3])
    """
    if lengths is not None:
        values = np.asarray(sequences).ravel()
        return Symbols(values, _offsets(run_lengths_of(lengths, len(values))))
    if isinstance(sequences, str):
        sequences = list(sequences)
    if hasattr(sequences, "to_numpy"):
        sequences = sequences.to_numpy()
    parts = listed(sequences, "of symbols, or of sequences of symbols", name="sequences")
    if not parts:
        raise DataError("there are no sequences: give at least one symbol.")
    if any(part is None for part in parts):
        raise DataError("a symbol or a sequence is None; drop it, or give the gap a name of its own.")
    if not all(isinstance(part, list | tuple | np.ndarray) for part in parts):
        values = np.asarray(sequences)
        return Symbols(values, np.array([0, len(values)]))
    if not any(len(part) for part in parts):
        raise DataError("all sequences are empty: give at least one symbol.")
    return Symbols(
        np.concatenate([np.asarray(part) for part in parts if len(part)]), _offsets(list(map(len, parts)))
    )


def _offsets(lengths: Any) -> Array:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def encode_symbols(values: Array, states: Array, *, unknown: str = "error") -> Array:
    """Return the position of every symbol in the sorted `states`; unknown ones are an error, or -1."""
    if unknown not in ("error", "ignore"):
        raise DataError(f"unknown must be 'error' or 'ignore'; got {unknown!r}.")
    codes = codes_of(values, states)
    strange = codes < 0
    if unknown == "error" and strange.any():
        where = int(np.flatnonzero(strange)[0])
        raise DataError(
            f"symbol {values[[where]].tolist()[0]!r} at position {where} is not among the {len(states)} states; "
            "pass unknown='ignore' to skip such transitions."
        )
    return codes


def tuple_codes(codes: Array, offsets: Array, order: int, K: int) -> tuple[Array, Array]:
    """Return (position t, code of the `order` symbols before t) of every transition inside a sequence;
    -1 drops it.
    """
    n = len(codes)
    since = np.arange(n) - np.repeat(offsets[:-1], np.diff(offsets))
    t = np.flatnonzero(since >= order)
    known = codes[t] >= 0
    past = np.zeros(len(t), dtype=np.int64)
    for back in range(order, 0, -1):
        known &= codes[t - back] >= 0
        past = past * K + codes[t - back]
    return t[known], past[known]


def head_codes(codes: Array, offsets: Array, order: int, K: int) -> tuple[Array, Array]:
    """Return (sequence, code of its first `order` symbols) of every sequence that has them all."""
    long = np.flatnonzero(np.diff(offsets) >= order)
    head = np.zeros(len(long), dtype=np.int64)
    known = np.ones(len(long), dtype=bool)
    for step in range(order):
        symbol = codes[offsets[long] + step]
        known &= symbol >= 0
        head = head * K + symbol
    return long[known], head[known]


def sequence_weights(sample_weight: Any, count: int) -> Array:
    """Return one weight per sequence."""
    if sample_weight is None:
        return np.ones(count)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (count,) or not np.isfinite(weight).all() or (weight < 0).any():
        raise DataError(
            f"sample_weight must hold {count} numbers that are not negative, one for each sequence."
        )
    return weight


def as_names(states: Sequence[Any] | None, K: int) -> Array:
    """Return the names of K states: the given ones, or 0, 1, …"""
    names = np.arange(K) if states is None else np.asarray(states)
    if len(names) != K or len(np.unique(names)) != K:
        raise DataError(f"states must be {K} different names; got {names.tolist()}.")
    return names
