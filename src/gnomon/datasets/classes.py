"""Generator of two-class problems in the plane that no straight line solves."""

from __future__ import annotations

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.randomness import generator


def make_pattern(
    kind: str = "xor",
    n_samples: int = 200,
    *,
    noise: float = 0.1,
    n_labeled: int | None = None,
    random_state=None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a pattern of two classes in the plane.

    Parameters
    ----------
    kind : {"xor", "quadrants", "rings", "spirals", "moons", "clouds"}
        "xor": four clumps, opposite ones alike. "quadrants": the square, class 1 in two opposite quarters.
        "rings": a disk inside a ring. "spirals": two arms. "moons": two half circles.
        "clouds": each class is ten small Gaussians around centers of its own; `clouds_posterior` of this module is the
        true probability of class 1.
    n_samples : int
        Number of points; the classes are equally likely.
    noise : float
        Standard deviation of the blur laid over the points.
    n_labeled : int, optional
        Keep so many labels of either class; the others are -1, unknown.
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
    X = X + noise * rng.normal(size=X.shape)
    if n_labeled is not None:
        ranks = np.empty(n_samples, dtype=int)
        for label in (0, 1):
            mine = np.flatnonzero(y == label)
            ranks[mine] = np.argsort(rng.random(len(mine)))
        y = np.where(ranks < n_labeled, y, -1)
    return X, y


CLOUD_CENTERS = np.random.default_rng(1).normal(size=(2, 10, 2)) + [[[1.0, 0.0]], [[0.0, 1.0]]]


def clouds_posterior(X, noise: float = 0.1) -> np.ndarray:
    """Return the true probability of class 1 of the pattern "clouds": its half is the best boundary there is.

    >>> X, y = make_pattern("clouds", 2000, noise=0.3, random_state=0)
    >>> bool(np.mean((clouds_posterior(X, 0.3) > 0.5) == y) > 0.9)
    True
    """
    X = np.asarray(X, dtype=float)
    squares = ((X[:, None, None] - CLOUD_CENTERS) ** 2).sum(axis=-1) / (2 * noise**2)
    logs = -squares.min(axis=2) + np.log(np.exp(squares.min(axis=2, keepdims=True) - squares).sum(axis=2))
    return 1.0 / (1.0 + np.exp(np.clip(logs[:, 0] - logs[:, 1], -700, 700)))


def _clouds(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    return CLOUD_CENTERS[y, rng.integers(0, 10, len(y))]


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


_PATTERNS = {
    "xor": _xor,
    "quadrants": _quadrants,
    "rings": _rings,
    "spirals": _spirals,
    "moons": _moons,
    "clouds": _clouds,
}
