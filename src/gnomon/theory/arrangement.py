"""Cells of an arrangement of hyperplanes through the origin, in whole numbers: exact, whatever the position.

A labeling of points by half-spaces is a cell: the set of weights w with given signs of w·v_i. Cells are found by
inserting one vector after the other; a cell is cut in two exactly when it meets the new hyperplane, and the cells
that do are those of the arrangement inside that hyperplane, one dimension lower.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np

Vector = tuple[int, ...]
Cells = dict[int, Vector]  # bit i of the key: sign of w·v_i is positive; the value: such a w


def whole_vectors(rows: Any) -> list[Vector]:
    """Return rows of floats times positive numbers that make them whole; no bit is lost."""
    return [_shortest([Fraction(float(value)) for value in row]) for row in np.asarray(rows, dtype=float)]


def _shortest(values: list[Fraction]) -> Vector:
    scale = 1
    for value in values:
        scale = scale * value.denominator // gcd(scale, value.denominator)
    return _reduced(tuple(int(value * scale) for value in values))


def _reduced(vector: Vector) -> Vector:
    common = gcd(*vector)
    return tuple(value // common for value in vector) if common > 1 else vector


def cells(vectors: list[Vector], dim: int) -> Cells:
    """Return all sign patterns of w·v_i over w in dim dimensions that have no zero, each with one w."""
    if any(not any(v) for v in vectors):
        return {}  # a zero vector never has a sign
    if dim == 0:
        return {} if vectors else {0: ()}
    if dim == 1:
        return _line(vectors)
    found: Cells = {}
    for count, v in enumerate(vectors):
        found = _cut(found, vectors[:count], v, dim) if count else _first(v)
    return found or {0: (1,) + (0,) * (dim - 1)}


def _line(vectors: list[Vector]) -> Cells:
    up = sum(1 << i for i, (value,) in enumerate(vectors) if value > 0)
    everything = (1 << len(vectors)) - 1
    return {up: (1,), everything ^ up: (-1,)}


def _first(v: Vector) -> Cells:
    return {1: v, 0: tuple(-value for value in v)}


def _cut(found: Cells, before: list[Vector], v: Vector, dim: int) -> Cells:
    """Insert the vector v behind those in `before`."""
    bit, after = 1 << len(before), {}
    inside = _restricted(before, v, dim)
    for key, w in found.items():
        u = inside.get(key)
        if u is None:
            after[key | bit if _dot(w, v) > 0 else key] = w
        else:
            far = _far_enough(u, v, before)
            after[key | bit] = _reduced(tuple(far * a + b for a, b in zip(u, v)))
            after[key] = _reduced(tuple(far * a - b for a, b in zip(u, v)))
    return after


def _restricted(vectors: list[Vector], v: Vector, dim: int) -> Cells:
    """Return the cells of the vectors inside the hyperplane w·v = 0, with weights of the whole space."""
    p = max(range(dim), key=lambda j: abs(v[j]))
    pivot, sign = abs(v[p]), 1 if v[p] > 0 else -1
    others = [j for j in range(dim) if j != p]
    lower = [_reduced(tuple(row[j] * pivot - sign * row[p] * v[j] for j in others)) for row in vectors]
    return {key: _lifted(u, v, p, sign, pivot, others) for key, u in cells(lower, dim - 1).items()}


def _lifted(u: Vector, v: Vector, p: int, sign: int, pivot: int, others: list[int]) -> Vector:
    w = [0] * (len(u) + 1)
    for value, j in zip(u, others):
        w[j] = value * pivot
    w[p] = -sign * sum(value * v[j] for value, j in zip(u, others))
    return _reduced(tuple(w))


def _far_enough(u: Vector, v: Vector, vectors: list[Vector]) -> int:
    """Return a factor k such that k u ± v has the signs of u on all vectors."""
    return 1 + max(abs(_dot(v, row)) // abs(_dot(u, row)) + 1 for row in vectors)


def _dot(a: Vector, b: Vector) -> int:
    return sum(x * y for x, y in zip(a, b))
