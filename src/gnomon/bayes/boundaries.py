"""Two normal classes on a line: where each is chosen, and how often that is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr

from gnomon.core.errors import DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.validate import probabilities, vector


def gaussian_rule_1d(
    means: Any, variances: Any, priors: Any = (0.5, 0.5)
) -> tuple[list[tuple[float, float]], float]:
    """Return the intervals where the second of two normal classes is more probable, and the Bayes error.

    The answer may be a half-line, an interval, the outside of one, everything, or nothing.

    Parameters
    ----------
    means, variances, priors : pairs of floats
        Of the two classes.

    Examples
    --------
    >>> gaussian_rule_1d([0, 1], [1, 1])
    ([(0.5, inf)], 0.3085375387...)
    """
    m, v = vector(means, name="means", n=2), vector(variances, name="variances", n=2)
    p = probabilities(priors, name="priors")
    if (v <= 0).any():
        raise DegenerateError(f"variances must be positive; got {v.tolist()}.")
    a = 0.5 * (1 / v[0] - 1 / v[1])
    b = m[1] / v[1] - m[0] / v[0]
    with np.errstate(divide="ignore"):
        c = np.log(p[1]) - np.log(p[0]) + 0.5 * (np.log(v[0] / v[1]) + m[0] ** 2 / v[0] - m[1] ** 2 / v[1])
    regions = _positive(a, b, c)
    return regions, _error(regions, m, np.sqrt(v), p)


def _positive(a: float, b: float, c: float) -> list[tuple[float, float]]:
    """Return where a x² + b x + c > 0."""
    everywhere = [(-np.inf, np.inf)]
    if np.isinf(c):
        return everywhere if c > 0 else []
    if a == 0 and b == 0:
        return everywhere if c > 0 else []
    if a == 0:
        border = float(-c / b)
        return [(border, np.inf)] if b > 0 else [(-np.inf, border)]
    square = b * b - 4 * a * c
    if square <= 0:
        return everywhere if a > 0 else []
    half = -0.5 * (b + np.copysign(np.sqrt(square), b))
    low, high = sorted((half / a, c / half if half else 0.0))
    return [(-np.inf, float(low)), (float(high), np.inf)] if a > 0 else [(float(low), float(high))]


def _error(regions: list[tuple[float, float]], m: Array, s: Array, p: Array) -> float:
    mass = [
        sum(ndtr((high - m[k]) / s[k]) - ndtr((low - m[k]) / s[k]) for low, high in regions) for k in (0, 1)
    ]
    return float(p[0] * mass[0] + p[1] * (1.0 - mass[1]))
