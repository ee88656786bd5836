"""Classes that a plane separates: without penalty the likelihood has no largest value."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.sums import total_weight
from gnomon.solvers.separation import quasi_separable


def runs_away(rows: Any, theta: Array, loss: float) -> bool:
    """Tell whether a fit without penalty looks as if it had no end."""
    return bool(loss < 1e-6 * total_weight(rows) or np.abs(theta).max(initial=0.0) > 1e3)


def separates(rows: Any, theta: Array, intercept: bool, *, quick: bool = False) -> bool:
    """Tell whether the classes can be separated; `quick` only asks whether theta itself does it."""
    if theta.ndim == 2 or not rows.in_memory:
        return theta.ndim == 2
    w, b = (theta[:-1], theta[-1]) if intercept else (theta, 0.0)
    margins = np.where(rows.y == 1, 1.0, -1.0) * (rows.X @ w + b)
    if margins[rows.weight > 0].min() > 0.0:
        return True
    if (quick and np.abs(margins).max() < 7.0) or rows.n_rows * rows.n_features > 10**7 or rows.sparse:
        return False
    return quasi_separable(rows.X, np.where(rows.y == 1, 1.0, -1.0), origin=not intercept)
