"""Concentration: how far a mean strays from its expectation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import rel_entr
from scipy.stats import binom

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.threads import in_order
from gnomon.theory.bounds import Bound, LogFailure, _one_of, solve

KINDS = ("hoeffding", "bernstein", "empirical bernstein", "mcdiarmid", "chernoff", "kl", "binomial")
TRIALS_PER_STREAM = 256  # trials that share a random stream, whatever the number of threads


def concentration_bound(
    n: Any = None,
    epsilon: Any = None,
    delta: Any = None,
    *,
    kind: str = "hoeffding",
    sided: int = 2,
    width: Any = 1.0,
    variance: float | None = None,
    mean: float | None = None,
) -> Bound:
    r"""Relate n, epsilon and delta for the mean of n independent numbers; leave out the one that is wanted.

    Probabilities of failure, times two when both sides count:

    .. math::
        \text{hoeffding:}\quad & e^{-2n^2\varepsilon^2/\sum_i w_i^2}
        \qquad \text{bernstein:}\quad e^{-n\varepsilon^2/2(\sigma^2 + w\varepsilon/3)} \\
        \text{mcdiarmid:}\quad & e^{-2\varepsilon^2/\sum_i w_i^2} \qquad
        \text{kl:}\quad e^{-n\,\mathrm{KL}(p - \varepsilon\,\|\,p)} \qquad
        \text{chernoff:}\quad e^{-np\varepsilon^2/2}

    "mcdiarmid" bounds any function of the rows that changes by at most :math:`w_i` with row i. "chernoff" is about a
    relative deviation: :math:`P(Z < (1-\varepsilon)np)`, one side. "binomial" adds the exact tails up. "empirical
    bernstein" takes the sample's own variance (Maurer and Pontil, Empirical Bernstein bounds, 2009).

    Parameters
    ----------
    n, epsilon, delta : numbers or arrays
        Terms, deviation, probability of failure. Exactly one is left out.
    kind : {"hoeffding", "bernstein", "empirical bernstein", "mcdiarmid", "chernoff", "kl", "binomial"}
    sided : {1, 2}
        One side, or both.
    width : float or array of shape (n,)
        Length :math:`b_i - a_i` of the interval each term lies in; for "mcdiarmid" how much each row can change
        the function. With an array, n is its length.
    variance : float
        Of one term, for the two of Bernstein.
    mean : float
        The probability p, for "chernoff", "kl" and "binomial".

    Examples
    --------
    >>> round(concentration_bound(n=100, epsilon=0.1).value, 6)
    0.270671
    >>> concentration_bound(epsilon=0.01, delta=0.05).value
    18445
    >>> round(concentration_bound(n=200, epsilon=0.5, kind="chernoff", mean=0.1).value, 6)
    0.082085
    """
    _one_of("kind", kind, KINDS)
    if sided not in (1, 2):
        raise DataError(f"sided must be 1 or 2; got {sided!r}.")
    widths = np.asarray(width, dtype=float)
    if not (widths > 0).all():
        raise DataError(
            f"width must be positive: an interval needs an upper end above its lower; got {width}."
        )
    if widths.ndim:
        if n is None:
            raise DataError("with one width for each term the number of terms is fixed; give n = len(width).")
        if np.any(np.asarray(n) != len(widths)):
            raise DataError(f"width has {len(widths)} entries, and n is {n}; they must agree.")
    _needs(kind, variance, mean)
    if kind == "binomial" and n is None:
        raise DataError("exact tails do not fall evenly with n; ask 'hoeffding' or 'kl' for n.")
    log_failure = _log_failure(kind, widths, variance, mean)
    if kind == "chernoff":
        if epsilon is not None and not (np.asarray(epsilon, dtype=float) < 1).all():
            raise DataError(f"epsilon is relative here and must lie between 0 and 1; got {epsilon}.")
        sided = 1
    text = f"{kind}, {'one side' if sided == 1 else 'both sides'}; the terms are independent"
    both = np.log(sided) if kind != "binomial" else 0.0
    if kind == "binomial":
        log_failure = _binomial(float(mean), sided)  # type: ignore[arg-type]
    return solve(n, epsilon, delta, lambda: lambda n, e: both + log_failure(n, e), (), text)


def _needs(kind: str, variance: float | None, mean: float | None) -> None:
    if "bernstein" in kind and (variance is None or variance < 0):
        raise DataError(f"kind {kind!r} needs the variance of one term, not negative; got {variance}.")
    if kind in ("chernoff", "kl", "binomial") and (mean is None or not 0 < mean < 1):
        raise DataError(f"kind {kind!r} needs the mean p, between 0 and 1; got {mean}.")


def _log_failure(kind: str, widths: Array, variance: float | None, mean: float | None) -> LogFailure:
    def squares(n: float) -> float:
        return float((widths**2).sum()) if widths.ndim else n * float(widths) ** 2

    largest = float(widths.max())
    if kind == "hoeffding":
        return lambda n, e: -2.0 * (n * e) ** 2 / squares(n)
    if kind == "mcdiarmid":
        return lambda n, e: -2.0 * e * e / squares(n)
    if kind == "bernstein":
        return lambda n, e: -n * e * e / (2.0 * (variance + largest * e / 3.0))  # type: ignore[operator]
    if kind == "empirical bernstein":
        return lambda n, e: _empirical(n, e, float(variance), largest)  # type: ignore[arg-type]
    if kind == "chernoff":
        return lambda n, e: -n * mean * min(e, 1.0) ** 2 / 2.0  # type: ignore[operator]
    return lambda n, e: -n * _slower(float(mean), e)  # type: ignore[arg-type]


def _empirical(n: float, e: float, variance: float, width: float) -> float:
    """The deviation √(2VL/n) + 7wL/3(n−1) with L = ln(2/δ), solved for ln δ."""
    if n < 2:
        return np.inf
    a, b = np.sqrt(2.0 * variance / n), 7.0 * width / (3.0 * (n - 1))
    root = (-a + np.sqrt(a * a + 4.0 * b * e)) / (2.0 * b)
    return float(np.log(2.0) - root * root)


def _slower(p: float, e: float) -> float:
    """The smaller exponent of the two sides; a side that cannot be reached does not count."""

    def divergence(q: float) -> float:
        return float(rel_entr(q, p) + rel_entr(1 - q, 1 - p)) if 0 <= q <= 1 else np.inf

    return min(divergence(p + e), divergence(p - e))


def _binomial(p: float, sided: int) -> LogFailure:
    """P(Z ≥ n(p+ε)), and P(Z ≤ n(p−ε)) too when both sides count; an inequality of floats is given a hair."""

    def log_tails(n: float, e: float) -> float:
        hair = 1e-9
        up = binom.sf(np.ceil(n * (p + e) - hair) - 1, n, p)
        down = binom.cdf(np.floor(n * (p - e) + hair), n, p) if sided == 2 else 0.0
        with np.errstate(divide="ignore"):
            return float(np.log(up + down))

    return log_tails


class Deviations(NamedTuple):
    """How often the mean of n draws strayed by epsilon or more, beside what is promised."""

    frequency: float
    bound: float
    means: Array  # one for each trial


def simulate_deviation(
    draw: Any, n: int, epsilon: float, *, n_trials: int = 2000, width: float = 1.0, random_state: Any = None
) -> Deviations:
    """Draw samples again and again and count how often their mean strays, beside Hoeffding's bound.

    Parameters
    ----------
    draw : callable or frozen SciPy distribution
        ``draw(rng, size)`` returns an array of that shape; its first million draws tell the expectation where a
        distribution with a `mean` does not.
    n : int
        Terms of a mean.
    epsilon : float
        The deviation that counts.
    n_trials : int, default=2000
        How many means.
    width : float, default=1
        Length of the interval the terms lie in.
    random_state : int, RandomState, Generator or None

    Examples
    --------
    >>> from scipy.stats import bernoulli
    >>> found = simulate_deviation(bernoulli(0.3), 100, 0.1, random_state=0)
    >>> found.frequency < found.bound
    True
    """
    if n < 1 or n_trials < 1:
        raise DataError(f"n and n_trials must be at least 1; got {n} and {n_trials}.")
    rvs = getattr(draw, "rvs", None)
    take = draw if rvs is None else lambda rng, size: rvs(size=size, random_state=rng)
    seed = draw_seed(generator(random_state))
    expected = (
        float(draw.mean()) if hasattr(draw, "mean") else float(np.mean(take(stream(seed, 2**40), 10**6)))
    )

    def some(first: int) -> Array:
        count = min(TRIALS_PER_STREAM, n_trials - first)
        return np.asarray(take(stream(seed, first), (count, n)), dtype=float).mean(axis=1)

    means = np.concatenate(list(in_order(some, range(0, n_trials, TRIALS_PER_STREAM), "trials")))
    strayed = float(np.mean(np.abs(means - expected) >= epsilon - 1e-12))
    bound = concentration_bound(n=n, epsilon=epsilon, width=width).value
    return Deviations(strayed, bound, means)
