"""Toy sets of the linear classifiers: gates, perceptron exercises, circles."""

from __future__ import annotations

from typing import Any

_AND3 = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
_PAIRS = [[0, 0], [0, 1], [1, 0], [1, 1]]
_PROBLEMS: dict[str, tuple[Any, Any]] = {
    "not": ([[1, 0], [1, 1]], [1, 0]),
    "and": (_PAIRS, [0, 0, 0, 1]),
    "or": (_PAIRS, [0, 1, 1, 1]),
    "xor": ([[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, 0, 0]),
    "and3": (_AND3, [0, 0, 0, 0, 0, 0, 0, 1]),
    "three points": ([[-1, 1], [0, -1], [1.5, 1]], [1, -1, 1]),
    "three points, one far": ([[-1, 1], [0, -1], [10, 1]], [1, -1, 1]),
    "five points": ([[-3, 2], [-1, 1], [-1, -1], [2, 2], [1, -1]], [1, 1, -1, -1, -1]),
    "circle": ([[-1, 1], [1, -1], [1, 1], [2, 2]], [1, 1, -1, -1]),
}
TOYS: dict[str, dict[str, Any]] = {
    name: {"data": [list(map(float, row)) for row in rows], "target": y}
    for name, (rows, y) in _PROBLEMS.items()
}
