"""Is a gradient the gradient of its function? Finite differences say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array


def check_gradient(function: Callable[[Array], tuple[Any, ...]], x: Any, *, eps: float = 1e-6) -> float:
    """Return the largest difference between the gradient and central finite differences, relative to the gradient.

    Entries are compared with the largest entry of the gradient, so that a small function is judged like a large one.
    Infinite at a kink, where the differences to both sides disagree. The point may be a matrix.

    >>> bool(check_gradient(lambda w: (np.sum(w**3), 3 * w**2), np.array([1.0, -2.0])) < 1e-8)
    True
    >>> check_gradient(lambda w: (np.abs(w).sum(), np.sign(w)), [0.0, 1.0])
    inf
    """
    x = np.asarray(x, dtype=float)
    here, gradient = function(x)[:2]
    gradient = np.asarray(gradient, dtype=float)
    if np.ndim(here):
        raise DataError(f"the function must return a number first; it returned shape {np.shape(here)}.")
    if gradient.shape != x.shape:
        raise DataError(f"the gradient has shape {gradient.shape}, and the point {x.shape}; they must agree.")
    numeric, bend = np.empty_like(gradient), 0.0
    for j in range(x.size):
        h = eps * max(1.0, abs(x.flat[j]))
        up, down = x.copy(), x.copy()
        up.flat[j] += h
        down.flat[j] -= h
        above, below = float(function(up)[0]) - float(here), float(function(down)[0]) - float(here)
        numeric.flat[j] = (above - below) / (2.0 * h)
        bend = max(bend, abs(above + below) / h)
    scale = max(float(np.abs(gradient).max(initial=0.0)), float(np.abs(numeric).max(initial=0.0)))
    if bend > 1e-2 * scale and _has_kink(function, x, float(here), eps):
        return float("inf")
    return float(np.abs(numeric - gradient).max(initial=0.0)) / scale if scale > 0 else 0.0


def _has_kink(function: Callable[[Array], tuple[Any, ...]], x: Array, here: float, eps: float) -> bool:
    """Tell whether slopes to both sides disagree as much for a small step as for one sixteen times as large."""
    for j in range(x.size):
        bends = []
        for h in (eps * max(1.0, abs(x.flat[j])), 16.0 * eps * max(1.0, abs(x.flat[j]))):
            up, down = x.copy(), x.copy()
            up.flat[j] += h
            down.flat[j] -= h
            bends.append(abs(float(function(up)[0]) + float(function(down)[0]) - 2.0 * here) / h)
        noise = 64.0 * np.finfo(float).eps * abs(here) / (eps * max(1.0, abs(x.flat[j])))
        if bends[0] > noise and bends[0] > 0.5 * bends[1]:
            return True
    return False
