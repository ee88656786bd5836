"""Toy sets of the linear classifiers: gates, perceptron exercises, circles."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from gnomon.core.errors import nearest

_AND3 = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
_PAIRS = [[0, 0], [0, 1], [1, 0], [1, 1]]
_TOYS = {
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


def load_toy(name: str) -> Bunch:
    """Return a toy problem of the perceptron and its relatives.

    Parameters
    ----------
    name : {"not", "and", "or", "xor", "and3", "three points", "three points, one far", "five points",
    "circle"}
        Gates (the rows of "not" begin with a constant 1), the exercises of the perceptron, and one that a
        circle separates, but no line through the origin.

    Returns
    -------
    Bunch
        With ``data`` and ``target``.

    Examples
    --------
    >>> load_toy("xor").target
    array([1, 1, 0, 0])
    """
    if name not in _TOYS:
        raise ValueError(f"name must be one of {sorted(_TOYS)}; got {name!r}.{nearest(name, _TOYS)}")
    data, target = _TOYS[name]
    return Bunch(data=np.array(data, dtype=float), target=np.array(target), DESCR=f"Toy problem {name!r}.")
