"""Rules of thumb: how many neighbors to ask, and what the error of the nearest one tells."""

from __future__ import annotations

import math

from gnomon.core.errors import DataError


def suggest_k(n: int) -> int:
    """Return the largest odd number of neighbors not above √n: a start for a search, no more.

    Votes of k nearest rows are consistent when k → ∞ and k/n → 0. Small k repeats noise and mislabeled rows, large
    k blurs the boundary; `KNeighborsClassifier.loo_error_curve` shows both on the data at hand.

    Parameters
    ----------
    n : int
        Rows.

    Examples
    --------
    >>> suggest_k(100), suggest_k(3)
    (9, 1)
    """
    if n < 1:
        raise DataError(f"n={n} must be at least 1.")
    root = math.isqrt(int(n))
    return root if root % 2 else root - 1


def bayes_error_bounds(error: float, n_classes: int = 2) -> tuple[float, float]:
    r"""Return between which bounds the smallest possible error lies when that of the nearest neighbor is known.

    With many rows the error R of 1-NN and the Bayes error R* satisfy (Cover & Hart 1967)

    .. math:: R^* \le R \le R^*\left(2 - \frac{K}{K-1} R^*\right),

    so its regret is at most R* itself. Solved for R*, a measured R brackets what any classifier can reach.

    Parameters
    ----------
    error : float
        Error of 1-NN on fresh rows, or leave-one-out.
    n_classes : int, default=2
        K.

    Returns
    -------
    lower, upper : float
        Of the Bayes error. Errors above 1 − 1/K are no better than guessing; the bounds are then cut there.

    Examples
    --------
    >>> lower, upper = bayes_error_bounds(0.18)
    >>> round(lower, 6), upper
    (0.1, 0.18)
    """
    if not 0 <= error <= 1:
        raise DataError(f"error={error} must be between 0 and 1.")
    if n_classes < 2:
        raise DataError(f"n_classes={n_classes} must be at least 2.")
    most = 1.0 - 1.0 / n_classes
    upper = min(float(error), most)
    lower = most * (1.0 - math.sqrt(max(0.0, 1.0 - upper / most)))
    return lower, upper
