"""Entropy, divergences and codes of discrete distributions: 0·ln 0 = 0, 0·ln(0/0) = 0, x·ln(x/0) = ∞.

Every function works in nats; ``base=2`` gives bits.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, rel_entr

from gnomon.core.errors import DataError
from gnomon.distributions.base import Array


def _unit(base: float | None) -> float:
    return 1.0 if base is None else float(np.log(base))


def _masses(p: ArrayLike, name: str = "p") -> Array:
    p = np.asarray(p, dtype=np.float64)
    if p.size == 0 or not np.all(np.isfinite(p)) or np.any(p < 0):
        raise DataError(f"{name} must hold finite numbers that are at least 0.")
    return p


def _distribution(p: ArrayLike, name: str = "p") -> Array:
    p = _masses(p, name)
    if abs(p.sum() - 1.0) > 1e-8:
        raise DataError(
            f"{name} must sum to 1, but sums to {p.sum():.10g}; for other vectors use relative_entropy."
        )
    return p


def entropy(p: ArrayLike, base: float | None = None) -> float:
    r"""Return the entropy of a discrete distribution (a vector or a joint table).

    .. math:: H(p) = -\sum_i p_i \ln p_i

    >>> round(entropy([8 / 9, 1 / 9], base=2), 6)
    0.503258
    """
    return float(entr(_distribution(p)).sum()) / _unit(base)


def surprise(p: ArrayLike, base: float | None = None) -> Array:
    """Return −ln p, the surprise at an event of probability p.

    >>> surprise([1.0, 0.25], base=2)
    array([0., 2.])
    """
    with np.errstate(divide="ignore"):
        return -np.log(_masses(p)) / _unit(base) + 0.0


def entropy_from_counts(
    counts: ArrayLike, base: float | None = None, *, correction: str | None = None
) -> float:
    """Return the entropy of relative frequencies; ``correction="miller_madow"`` adds (m − 1)/(2n).

    >>> round(entropy_from_counts([3, 1], base=2), 6)
    0.811278
    """
    counts = _masses(counts, "counts")
    if correction not in (None, "miller_madow"):
        raise DataError(f"correction must be None or 'miller_madow', got {correction!r}.")
    if counts.sum() == 0:
        raise DataError("counts must not all be zero.")
    extra = (np.count_nonzero(counts) - 1) / (2.0 * counts.sum()) if correction else 0.0
    return (float(entr(counts / counts.sum()).sum()) + extra) / _unit(base)


def conditional_entropy(P: ArrayLike, given: int | Sequence[int] = 0, base: float | None = None) -> float:
    """Return H(rest | given): the entropy of a joint table less that of the axes `given`.

    >>> weather = [[0.24, 0.01], [0.25, 0.50]]
    >>> round(conditional_entropy(weather, given=0, base=2), 6)
    0.749295
    """
    P = _distribution(P, "P")
    given = (given,) if isinstance(given, int) else tuple(given)
    keep = {axis % P.ndim for axis in given}
    marginal = P.sum(axis=tuple(axis for axis in range(P.ndim) if axis not in keep))
    return float(entr(P).sum() - entr(marginal).sum()) / _unit(base)


def mutual_information(P: ArrayLike, base: float | None = None) -> float:
    r"""Return the information that the first axis of a joint table carries about the others.

    .. math:: I(X; Y) = \sum_{xy} p_{xy} \ln \frac{p_{xy}}{p_x p_y} = H(Y) - H(Y \mid X)

    >>> round(mutual_information([[0.24, 0.01], [0.25, 0.50]], base=2), 6)
    0.250417
    """
    P = _distribution(P, "P")
    table = P.reshape(len(P), -1)
    outer = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
    return max(float(rel_entr(table, outer).sum()), 0.0) / _unit(base)


def cross_entropy(p: ArrayLike, q: ArrayLike, base: float | None = None) -> float:
    """Return −Σ p ln q = H(p) + KL(p‖q): the code length of p's symbols in q's code.

    >>> round(cross_entropy([0.5, 0.5], [0.25, 0.75], base=2), 6)
    1.207519
    """
    p, q = _distribution(p), _distribution(q, "q")
    return float(entr(p).sum() + rel_entr(p, q).sum()) / _unit(base)


def kl_divergence(p: ArrayLike, q: ArrayLike, base: float | None = None) -> float:
    """Return the Kullback–Leibler divergence Σ p ln(p/q) of two distributions.

    >>> round(kl_divergence([0.5, 0.5], [0.25, 0.75]), 6)
    0.143841
    """
    return max(float(rel_entr(_distribution(p), _distribution(q, "q")).sum()), 0.0) / _unit(base)


def relative_entropy(x: ArrayLike, y: ArrayLike, base: float | None = None) -> float:
    """Return Σ x ln(x/y) − Σx + Σy of any two non-negative vectors; it is zero only when they are equal.

    >>> round(relative_entropy([2, 1], [1, 1]), 6)
    0.386294
    """
    x, y = _masses(x, "x"), _masses(y, "y")
    return max(float((rel_entr(x, y) - x + y).sum()), 0.0) / _unit(base)


def log_sum_gap(x: ArrayLike, y: ArrayLike) -> float:
    """Return Σ x ln(x/y) − (Σx) ln(Σx/Σy), which the log-sum inequality says is at least 0.

    >>> round(log_sum_gap([1, 2], [2, 1]), 6)
    0.693147
    """
    x, y = _masses(x, "x"), _masses(y, "y")
    return float(rel_entr(x, y).sum() - rel_entr(x.sum(), y.sum()))


def csiszar_divergence(phi: Callable[[Array], Array], p: ArrayLike, f: ArrayLike) -> float:
    """Return the f-divergence Σ f φ(p/f) for a convex φ with φ(1) = 0.

    Where f is zero a term is p times the slope of φ at infinity, lim φ(t)/t: total variation stays finite there,
    relative entropy does not.

    >>> round(csiszar_divergence(lambda t: t * np.log(t), [0.5, 0.5], [0.25, 0.75]), 6)
    0.143841
    """
    p, f = _masses(p), _masses(f, "f")
    on = f > 0
    inside = float((f[on] * phi(p[on] / f[on])).sum())
    outside = float(p[~on].sum())
    return inside + (outside * _slope_at_infinity(phi) if outside > 0 else 0.0)


def _slope_at_infinity(phi: Callable[[Array], Array]) -> float:
    """Return lim φ(t)/t of a convex φ, infinite where the slope is still growing at the end of the numbers."""
    far, farther = 1e100, 1e200
    with np.errstate(over="ignore"):
        near, last = (float(np.asarray(phi(np.array([t])))[0]) / t for t in (far, farther))
    return last if np.isfinite(last) and abs(last - near) <= 1e-9 * max(1.0, abs(near)) else float("inf")


def jensen_shannon(p: ArrayLike, q: ArrayLike, base: float | None = None) -> float:
    """Return the Jensen–Shannon divergence: the mean divergence of p and q to their midpoint.

    >>> round(jensen_shannon([0.5, 0.5], [0.25, 0.75]), 6)
    0.033822
    """
    p, q = _distribution(p), _distribution(q, "q")
    middle = (p + q) / 2.0
    return max(float(rel_entr(p, middle).sum() + rel_entr(q, middle).sum()) / 2.0, 0.0) / _unit(base)


def huffman_lengths(p: ArrayLike) -> Array:
    """Return the code lengths of a Huffman code, in bits; their mean is within one bit of the entropy.

    >>> huffman_lengths([0.4, 0.3, 0.2, 0.1])
    array([1, 2, 3, 3])
    """
    p = _distribution(p).ravel()
    lengths = np.zeros(len(p), dtype=np.int64)
    heap = [(mass, i, [i]) for i, mass in enumerate(p)]
    heapq.heapify(heap)
    while len(heap) > 1:
        (a, _, left), (b, tie, right) = heapq.heappop(heap), heapq.heappop(heap)
        lengths[left + right] += 1
        heapq.heappush(heap, (a + b, len(p) + tie, left + right))
    return lengths
