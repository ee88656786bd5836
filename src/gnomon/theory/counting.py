"""Counting labelings: sums of binomials, their polynomial bound, and growth functions."""

from __future__ import annotations

from math import comb, inf, log
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp

from gnomon.core.errors import DataError, nearest

MOST_EXACT = 4000  # terms summed as whole numbers; beyond, in logarithms


def sauer_bound(d: int, m: int, *, form: str = "phi", log: bool = False) -> Any:
    r"""Return how many labelings of m points a class of VC dimension d can have at most.

    .. math:: \Pi(m) \le \Phi_d(m) = \sum_{i=0}^{d}\binom mi \le (em/d)^d \quad (m \ge d \ge 1)

    :math:`\Phi` obeys :math:`\Phi_d(m) = \Phi_d(m-1) + \Phi_{d-1}(m-1)` with :math:`\Phi_d(0) = \Phi_0(m) = 1`
    (Sauer, On the density of families of sets, 1972).

    Parameters
    ----------
    d, m : int
        VC dimension and number of points, not negative.
    form : {"phi", "poly"}
        The sum of binomials, a whole number without limit, or the power.
    log : bool, default=False
        Return the natural logarithm; needed where the power is too large for a float.

    Examples
    --------
    >>> [sauer_bound(2, m) for m in range(1, 8)]
    [2, 4, 7, 11, 16, 22, 29]
    >>> round(sauer_bound(2, 7, form="poly"), 3)
    90.516
    """
    d, m = _whole("d", d), _whole("m", m)
    if form == "phi":
        return log_growth(d, m, "phi") if log else sum(comb(m, i) for i in range(min(d, m) + 1))
    if form != "poly":
        raise DataError(f"form must be 'phi' or 'poly'; got {form!r}.{nearest(form, ('phi', 'poly'))}")
    if not m >= d >= 1:
        raise DataError(f"the power bounds Φ for m ≥ d ≥ 1; got d={d} and m={m}. Take form='phi'.")
    value = log_growth(d, m, "sauer")
    if log:
        return value
    if value > 709:
        raise DataError("the power is too large for a float; ask for log=True.")
    return float(np.exp(value))


def log_growth(d: float, m: float, growth: Any) -> float:
    """Return ln Π(m) of a class of VC dimension d, by the form named or by a function of m."""
    if callable(growth):
        return float(log(growth(int(m))))
    if m < d:
        return m * log(2.0)  # every labeling
    if d == 0:
        return 0.0
    if growth == "sauer":
        return d * (log(m / d) + 1.0)
    d, m = int(np.ceil(d)), int(m)
    if m <= MOST_EXACT:
        return log(sum(comb(m, i) for i in range(d + 1)))
    i = np.arange(d + 1)
    return float(logsumexp(gammaln(m + 1) - gammaln(i + 1) - gammaln(m - i + 1)))


def _whole(name: str, value: Any) -> int:
    if value == inf or value < 0 or value != int(value):
        raise DataError(f"{name} must be a whole number of at least 0; got {value}.")
    return int(value)
