"""Rows by a hash of their values: an order, and a sample, that only the rows themselves decide.

Shuffled rows give the same sample, and so do rows that arrive in other chunks, from a file or a cluster.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.linalg import Array
from gnomon.loops import seeds as loops

SAMPLE = 50_000  # distinct rows that are kept of data that are not in memory


def hash_rows(X: Array) -> Array:
    """Return a 64-bit key for every row of its float32 rounding."""
    with np.errstate(over="ignore"):
        bits = np.ascontiguousarray(X.astype(np.float32) + np.float32(0)).view(np.uint32)
    keys = np.empty(len(X), dtype=np.uint64)
    loops.mix(bits, keys)
    return keys


def fine_hash(X: Array) -> Array:
    """Return a 64-bit key for every row of its float64 bytes."""
    bits = np.ascontiguousarray(X.astype(np.float64) + 0.0).view(np.uint32)
    keys = np.empty(len(X), dtype=np.uint64)
    loops.mix(bits, keys)
    return keys


class Part(NamedTuple):
    """Some rows, their keys and weights."""

    keys: Array
    points: Array
    weight: Array


class Bottom(NamedTuple):
    """The distinct rows of smallest hash with their weights: a sample that merges.

    Parts pile up until they hold twice the sample; only then are they sorted and cut.
    """

    parts: tuple[Part, ...]
    cutoff: Any = np.uint64(2**64 - 1)  # rows with larger keys are out already

    def merge(self, other: Bottom) -> Bottom:
        """Keep the smallest of both; copies of one row count together."""
        cutoff = min(self.cutoff, other.cutoff)
        fresh = tuple(_up_to(part, cutoff) for part in other.parts)
        both = Bottom(self.parts + fresh, cutoff)
        return both.compact() if sum(len(part.keys) for part in both.parts) >= 2 * SAMPLE else both

    def compact(self) -> Bottom:
        """Sort, count copies together and cut."""
        keys, points, weight = (np.concatenate(field) for field in zip(*self.parts, strict=True))
        order = np.lexsort((fine_hash(points), keys))
        keys, points, weight = keys[order], points[order], weight[order]
        fresh = np.ones(len(keys), dtype=bool)
        fresh[1:] = (keys[1:] != keys[:-1]) | (points[1:] != points[:-1]).any(axis=1)
        first = np.flatnonzero(fresh)
        weight = np.add.reduceat(weight, first) if len(first) else weight
        kept = Part(keys[first[:SAMPLE]], points[first[:SAMPLE]], weight[:SAMPLE])
        return Bottom((kept,), kept.keys[-1] if len(kept.keys) == SAMPLE else self.cutoff)


def _up_to(part: Part, cutoff: Any) -> Part:
    return Part(*(field[part.keys <= cutoff] for field in part))


def bottom_rows(chunk: Any) -> Bottom:
    """Partial statistic of `Bottom`."""
    used = chunk.weight > 0
    X = chunk.X[used]
    return Bottom((Part(hash_rows(X), X, chunk.weight[used]),))
