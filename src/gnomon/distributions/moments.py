"""Centered first and second moments that merge without loss: the statistics of Gaussian families.

Never Σx² − (Σx)²/n about the origin: every block is centered near its mean, and blocks merge by the rule for
combining means and scatters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gnomon.distributions.base import Array


def _merged(a: Any, b: Any, spread: Callable[[Array, Array], Array]) -> Any:
    """Means weigh by mass; scatters add, plus the spread between the two means."""
    weight = a.weight + b.weight
    share = np.divide(b.weight, weight, out=np.zeros_like(weight), where=weight > 0)
    gap = b.mean - a.mean
    return type(a)(weight, a.mean + share * gap, a.scatter + b.scatter + spread(gap, a.weight * share))


class DiagonalMoments(NamedTuple):
    """Weight, mean and centered squares of every component and column."""

    weight: Array  # (K, d)
    mean: Array  # (K, d)
    scatter: Array  # (K, d)

    def merge(self, other: DiagonalMoments) -> DiagonalMoments:
        return _merged(self, other, lambda gap, mass: mass * gap * gap)


class FullMoments(NamedTuple):
    """Weight, mean and scatter matrix of every component."""

    weight: Array  # (K, 1)
    mean: Array  # (K, d)
    scatter: Array  # (K, d, d)

    def merge(self, other: FullMoments) -> FullMoments:
        return _merged(self, other, lambda gap, mass: mass[:, :, None] * gap[:, :, None] * gap[:, None, :])


class TiedMoments(NamedTuple):
    """Weight and mean of every component, and one scatter matrix within all of them."""

    weight: Array  # (K, 1)
    mean: Array  # (K, d)
    scatter: Array  # (d, d)

    def merge(self, other: TiedMoments) -> TiedMoments:
        return _merged(self, other, lambda gap, mass: (mass * gap).T @ gap)


def recentered(weight: Array, first: Array, second: Array, shift: Array) -> FullMoments:
    """Moments from the sums Σr, Σrz, Σrzzᵀ of z = x − shift; shift is (d,) or (K, d)."""
    step = np.divide(first, weight, out=np.zeros_like(first), where=weight > 0)
    scatter = second - step[:, :, None] * first[:, None, :]
    return FullMoments(weight, shift + step, (scatter + scatter.transpose(0, 2, 1)) / 2.0)


def diagonal_moments(X: Array, weights: Array, center: Array | None) -> DiagonalMoments:
    """Column moments over the observed entries, about the given centers (K, d) or in two passes."""
    present = ~np.isnan(X)
    whole = bool(present.all())
    filled = X if whole else np.where(present, X, 0.0)
    mask = None if whole else present.astype(np.float64)
    mass = weights.sum(axis=0)[:, None] + np.zeros(X.shape[1]) if mask is None else weights.T @ mask
    if center is None:
        center = np.divide(weights.T @ filled, mass, out=np.zeros_like(mass), where=mass > 0)
    first, second = np.empty_like(mass), np.empty_like(mass)
    for k, w in enumerate(weights.T):
        z = filled - center[k]
        if mask is not None:
            z *= mask
        first[k] = w @ z
        second[k] = w @ (z * z)
    step = np.divide(first, mass, out=np.zeros_like(mass), where=mass > 0)
    return DiagonalMoments(mass, center + step, np.maximum(second - step * first, 0.0))


def full_moments(X: Array, weights: Array, center: Array | None) -> FullMoments:
    """Means and scatter matrices of complete rows, about the given centers (K, d) or in two passes."""
    K, d = weights.shape[1], X.shape[1]
    mass, first, second = weights.sum(axis=0)[:, None], np.empty((K, d)), np.empty((K, d, d))
    if center is None:
        center = np.divide(weights.T @ X, mass, out=np.zeros((K, d)), where=mass > 0)
    for k, w in enumerate(weights.T):
        use = np.flatnonzero(w)
        z = (X if len(use) == len(X) else X[use]) - center[k]
        weighted = z * w[use, None]
        first[k] = weighted.sum(axis=0)
        second[k] = weighted.T @ z
    return recentered(mass, first, second, center)


def tie(moments: FullMoments) -> TiedMoments:
    """Add the scatters of all components."""
    return TiedMoments(moments.weight, moments.mean, moments.scatter.sum(axis=0))


def patterns(missing: Array) -> tuple[Array, Array]:
    """Group rows that miss the same entries: an order of the rows and where every group starts."""
    keys = np.ascontiguousarray(np.packbits(missing, axis=1))
    flat = keys.view(f"V{keys.shape[1]}").ravel()
    _, group = np.unique(flat, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) > 0, True])
    return order.astype(np.int64), starts.astype(np.int64)
