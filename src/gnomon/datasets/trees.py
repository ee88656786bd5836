"""Data of the chapters on trees and ensembles."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from gnomon.core.frames import import_pandas
from gnomon.core.randomness import generator

_COLUMNS = [
    "Alternate", "Bar", "Friday", "Hungry", "Patrons", "Price", "Raining", "Reservation", "Type", "Estimate",
]  # fmt: skip
_RESTAURANT = """
Y N N Y Some $$$ N Y French 0-10 Y
Y N N Y Full $ N N Thai 30-60 N
N Y N N Some $ N N Burger 0-10 Y
Y N Y Y Full $ Y N Thai 10-30 Y
Y N Y N Full $$$ N Y French >60 N
N Y N Y Some $$ Y Y Italian 0-10 Y
N Y N N None $ Y N Burger 0-10 N
N N N Y Some $$ Y Y Thai 0-10 Y
N Y Y N Full $ Y N Burger >60 N
Y Y Y Y Full $$$ N Y Italian 10-30 N
N N N N None $ N N Thai 0-10 N
Y Y Y Y Full $ N N Burger 30-60 Y
"""


def load_restaurant() -> Bunch:
    """Return the twelve restaurant visits: ten categorical answers, and whether the guest would wait.

    Examples
    --------
    >>> visits = load_restaurant()
    >>> visits.data.shape, "".join(visits.target)
    ((12, 10), 'YNYYNYNYNNNY')
    """
    pd = import_pandas()
    rows = [line.split() for line in _RESTAURANT.strip().splitlines()]
    data = pd.DataFrame([row[:10] for row in rows], columns=_COLUMNS).astype("category")
    target = np.array([row[10] for row in rows])
    return Bunch(data=data, target=target, feature_names=_COLUMNS, target_names=np.array(["N", "Y"]))


def make_face_patches(n: int, *, window: int = 24, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Return n patches (n, window, window) in [0, 1], half face-like (y = 1), half background (y = 0).

    A face is a bright oval with a dark band of two eyes, a bright nose and a dark mouth, moved, lit and
    blurred at random; a background is a gradient, stripes, blobs or noise.

    Examples
    --------
    >>> X, y = make_face_patches(10, window=12, random_state=0)
    >>> X.shape, y
    ((10, 12, 12), array([1, 0, 1, 0, 1, 0, 1, 0, 1, 0]))
    """
    rng = generator(random_state)
    y = (np.arange(n) % 2 == 0).astype(int)
    patches = [_face(window, rng) if label else _background(window, rng) for label in y]
    return np.clip(np.stack(patches), 0.0, 1.0), y


def _grid(window: int) -> tuple[np.ndarray, np.ndarray]:
    line = (np.arange(window) + 0.5) / window
    v, u = np.meshgrid(line, line, indexing="ij")
    return u, v


def _blob(u: np.ndarray, v: np.ndarray, x: float, y: float, a: float, b: float) -> np.ndarray:
    return np.exp(-(((u - x) / a) ** 2) - ((v - y) / b) ** 2)


def _face(window: int, rng: np.random.Generator) -> np.ndarray:
    u, v = _grid(window)
    u, v = u + rng.normal(0, 0.02), v + rng.normal(0, 0.02)
    image = 0.3 + 0.45 * _blob(u, v, 0.5, 0.5, 0.5, 0.6)
    for x in (0.3, 0.7):
        image -= rng.uniform(0.3, 0.45) * _blob(u, v, x, 0.38, 0.13, 0.08)
    image += rng.uniform(0.05, 0.15) * _blob(u, v, 0.5, 0.5, 0.07, 0.18)
    image -= rng.uniform(0.2, 0.35) * _blob(u, v, 0.5, 0.78, 0.2, 0.06)
    image += rng.normal(0, 0.1) * (u - 0.5)
    return image + rng.normal(0, 0.04, image.shape)


def _background(window: int, rng: np.random.Generator) -> np.ndarray:
    u, v = _grid(window)
    image = rng.uniform(0.2, 0.8) + rng.normal(0, 0.4) * (u - 0.5) + rng.normal(0, 0.4) * (v - 0.5)
    kind = rng.integers(0, 3)
    if kind == 0:
        image = image + 0.3 * np.sin(rng.uniform(4, 25) * (u * rng.normal() + v * rng.normal()))
    elif kind == 1:
        for _ in range(3):
            spot = _blob(u, v, rng.random(), rng.random(), rng.uniform(0.08, 0.3), rng.uniform(0.08, 0.3))
            image = image + rng.normal(0, 0.35) * spot
    return image + rng.normal(0, rng.uniform(0.02, 0.2), image.shape)
