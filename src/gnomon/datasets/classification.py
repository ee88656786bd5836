"""Toy sets of the linear classifiers: gates, perceptron exercises, circles, far points."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from gnomon.core.errors import nearest
from gnomon.core.randomness import generator

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


def make_far_points(
    n_samples: int = 40, *, n_far: int = 5, distance: float = 12.0, random_state=None
) -> tuple[np.ndarray, np.ndarray]:
    """Return two separable classes in the plane, with some points far on the right side of the second.

    Least squares is dragged toward them; logistic regression and machines with a margin are not.

    >>> X, y = make_far_points(random_state=0)
    >>> X.shape, int(y.sum())
    ((45, 2), 25)
    """
    rng = generator(random_state)
    half = n_samples // 2
    left = rng.normal([-2.0, 0.0], 0.6, size=(half, 2))
    right = rng.normal([2.0, 0.0], 0.6, size=(n_samples - half, 2))
    far = rng.normal([distance, -distance / 2], 0.6, size=(n_far, 2))
    return np.vstack([left, right, far]), np.repeat([0, 1], [half, n_samples - half + n_far])
