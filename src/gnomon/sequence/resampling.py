"""Resampling: as many indices as there are weights, each as often as its weight says."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.loops.particles import pick_sorted

SCHEMES = ("systematic", "stratified", "multinomial", "residual")


def effective_sample_size(weights: Any) -> float:
    """Return 1 / Σ w² of normalized weights: N for equal ones, 1 when a single one is left.

    >>> round(effective_sample_size([0.1, 0.2, 0.3, 0.4]), 4)
    3.3333
    """
    w = np.asarray(weights, dtype=np.float64)
    return float(w.sum() ** 2 / (w @ w))


def resample(weights: Any, scheme: str = "systematic", random_state: Any = None, *, u: Any = None) -> Array:
    """Draw as many indices as there are weights, each on average as often as its weight says.

    Parameters
    ----------
    weights : (N,) array
        Not negative; they need not sum to one.
    scheme : {"systematic", "stratified", "multinomial", "residual"}
        One offset for all strata (least noise), one uniform a stratum, independent draws, or whole parts
        first.
    random_state : int, Generator or None
    u : float or array, optional
        The uniform numbers themselves.

    Examples
    --------
    >>> resample([0.1, 0.2, 0.3, 0.4], u=0.5)
    array([1, 2, 3, 3])
    """
    w = np.asarray(weights, dtype=np.float64)
    if w.ndim != 1 or not (w >= 0).all() or not w.sum() > 0:
        raise DataError("weights must be a vector of numbers that are not negative and not all zero.")
    if scheme not in SCHEMES:
        raise DataError(f"scheme must be one of {SCHEMES}; got {scheme!r}.{nearest(scheme, SCHEMES)}")
    return drawn_indices(w / w.sum(), scheme, generator(random_state), u)


def drawn_indices(w: Array, scheme: str, rng: np.random.Generator, u: Any = None) -> Array:
    """Return the indices that a scheme draws by weights that sum to one."""
    n = len(w)
    if scheme == "residual":
        return _by_whole_parts(w, rng, u)
    if scheme == "multinomial":
        points = np.sort(rng.random(n) if u is None else np.asarray(u, dtype=np.float64))
    else:
        offset = (rng.random() if scheme == "systematic" else rng.random(n)) if u is None else u
        points = (np.arange(n) + offset) / n
    chosen = np.empty(n, dtype=np.int64)
    pick_sorted(w, points, chosen)
    return chosen


def _by_whole_parts(w: Array, rng: np.random.Generator, u: Any) -> Array:
    """Whole parts of n·w for certain, the rest by independent draws."""
    n = len(w)
    sure = np.floor(n * w).astype(np.int64)
    chosen = np.repeat(np.arange(n), sure)
    left = n - len(chosen)
    if left == 0:
        return chosen
    rest = n * w - sure
    more = np.empty(left, dtype=np.int64)
    points = np.sort(rng.random(left) if u is None else np.asarray(u, dtype=np.float64)[:left])
    pick_sorted(rest / rest.sum(), points, more)
    return np.sort(np.concatenate([chosen, more]))
