"""Generator of two-class problems in the plane that no straight line solves."""

from __future__ import annotations

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.randomness import generator


def make_pattern(
    kind: str = "xor", n_samples: int = 200, *, noise: float = 0.1, random_state=None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a pattern of two classes in the plane.

    Parameters
    ----------
    kind : {"xor", "quadrants", "rings", "spirals", "moons"}
        "xor": four clumps, opposite ones alike. "quadrants": the square, class 1 in two opposite quarters.
        "rings": a disk inside a ring. "spirals": two arms. "moons": two half circles.
    n_samples : int
        Number of points; the classes are equally likely.
    noise : float
        Standard deviation of the blur laid over the points.
    random_state : None, int, RandomState or Generator
        Where the randomness comes from.

    Returns
    -------
    X : ndarray (n_samples, 2)
    y : ndarray (n_samples,)
        Classes 0 and 1.

    Examples
    --------
    >>> X, y = make_pattern("rings", 400, noise=0.0, random_state=0)
    >>> radius = np.hypot(*X.T)
    >>> bool(radius[y == 0].max() < 1 < radius[y == 1].min())
    True
    """
    if kind not in _PATTERNS:
        raise DataError(f"kind must be one of {tuple(_PATTERNS)}, not {kind!r}.{nearest(kind, _PATTERNS)}")
    rng = generator(random_state)
    y = rng.integers(2, size=n_samples)
    X = _PATTERNS[kind](rng, y)
    return X + noise * rng.normal(size=X.shape), y


def _xor(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    side = rng.choice([-1.0, 1.0], size=len(y))
    return np.column_stack([side, np.where(y == 1, -side, side)])


def _quadrants(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    return _xor(rng, y) * rng.uniform(size=(len(y), 2))


def _circle(radius: np.ndarray, angle: np.ndarray) -> np.ndarray:
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _rings(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    inside = 0.8 * np.sqrt(rng.uniform(size=len(y)))
    around = rng.uniform(1.2, 2.0, size=len(y))
    return _circle(np.where(y == 1, around, inside), rng.uniform(0, 2 * np.pi, size=len(y)))


def _spirals(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    turn = np.sqrt(rng.uniform(0.02, 1, size=len(y)))
    return _circle(3 * turn, 3 * np.pi * turn + np.pi * y)


def _moons(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    points = _circle(np.ones(len(y)), rng.uniform(0, np.pi, size=len(y)))
    return np.where(y[:, None] == 1, np.array([1.0, 0.5]) - points, points)


_PATTERNS = {"xor": _xor, "quadrants": _quadrants, "rings": _rings, "spirals": _spirals, "moons": _moons}
