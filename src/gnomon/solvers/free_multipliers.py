"""Multipliers between their bounds, solved for together: the slopes of each group are made one.

A step that would leave a bound ends there, and the others go on. What is solved is exact up to rounding, which pairs
are not.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack

from gnomon.core.linalg import Array

EXACT_WORK = 2 * 10**9  # cubes of free multipliers: how much solving for them together may cost
EPS = float(np.finfo(np.float64).eps)


def at_one_slope(K: Array, b: Array, slope: Array, down: Array, up: Array, groups: Array) -> Array:
    """Return multipliers with one slope in each group; those that meet a bound on the way stay there.

    `groups` has one column a group, with ones at its members; the sum of each stays.
    """
    b, slope, left, work = b.copy(), slope.copy(), np.arange(len(b)), 0
    while len(left) and work <= EXACT_WORK:
        work += len(left) ** 3
        part = K if len(left) == len(b) else K[np.ix_(left, left)]
        step = equal_slopes(part, slope[left], groups[left])
        flat = level_way(part, slope[left], step, groups[left])
        step = step if flat is None else flat
        first, share = first_at_bound(b[left], step, down[left], up[left])
        b[left] += (share if flat is not None else min(1.0, share)) * step
        if flat is None and share >= 1.0:
            break
        slope -= K[:, left] @ (share * step)
        b[left[first]] = (up if step[first] > 0 else down)[left[first]]
        left = to_next_bounds(K, b, slope, down, up, groups, np.delete(left, first))
    return np.clip(b, down, up)


def level_way(K: Array, slope: Array, step: Array, groups: Array) -> Array | None:
    """Return a way on which the objective rises as steeply at every place; None where `step` leaves no slopes.

    Where rows depend on each other, as under a linear kernel with more free rows than columns, no step may give all
    one slope. What differs then bends nothing: it leads to a bound.
    """
    rest, before = without_means(slope - K @ step, groups), without_means(slope, groups)
    if not np.abs(rest).max() > 1e-6 * np.abs(before).max():
        return None
    # once more: what is little beside large slopes is rounded
    rest = without_means(rest / np.abs(rest).max(), groups)
    bend = float(rest @ K @ rest)
    return rest if bend <= 1e-9 * float(np.trace(K)) / len(K) * float(rest @ rest) else None


def without_means(values: Array, groups: Array) -> Array:
    """Return values whose sum is zero in every group."""
    return values - groups @ ((groups.T @ values) / np.maximum(groups.sum(axis=0), 1.0))


def first_at_bound(b: Array, step: Array, down: Array, up: Array) -> tuple[int, float]:
    """Return which multiplier meets its bound first, and at what share of the step."""
    edge = np.where(step > 0, up, down)
    share = np.divide(edge - b, step, out=np.full(len(b), np.inf), where=step != 0)
    first = int(np.argmin(share))
    return first, float(share[first])


def to_next_bounds(
    K: Array, b: Array, slope: Array, down: Array, up: Array, groups: Array, left: Array
) -> Array:
    """Go from bound to bound while the way leads there; writes b and slope, returns who is left between bounds.

    One inverse serves all the way: what a multiplier that stays behind has in it is taken out. The last step is
    left to a system of its own, whose answer is exact.
    """
    inverse = bordered_inverse(K[np.ix_(left, left)], groups[left]) if len(left) > 1 else None
    if inverse is None:
        return left
    inside = np.ones(len(left), dtype=bool)
    part, place = np.asarray(K[np.ix_(left, left)]), b[left]
    rest = slope[left]
    while inside.sum() > 1:
        step = inverse @ np.where(inside, rest, 0.0)
        members = groups[left] * inside[:, None]
        step -= members @ ((members.T @ step) / np.maximum(members.sum(axis=0), 1.0))  # rounding is no way
        first, share = first_at_bound(place, step, down[left], up[left])
        if not 0.0 <= share < 1.0 or not inverse[first, first] > EPS * inverse.max():
            break
        place += share * step
        place[first] = (up if step[first] > 0 else down)[left[first]]
        rest -= part @ (share * step)
        inside[first] = False
        own = inverse[first].copy()
        inverse = blas.dger(-1.0 / own[first], own, own, a=inverse, overwrite_a=1)
        inverse[first] = inverse[:, first] = 0.0
    slope -= K[:, left] @ (place - b[left])
    b[left] = place
    return left[inside]


def equal_slopes(K: Array, slope: Array, groups: Array) -> Array:
    """Return the step that keeps the sum of each group, after which slope − K·step is the same everywhere in it.

    Of many such steps, a short one.
    """
    n, groups = len(K), groups[:, groups.any(axis=0)]
    m = n + groups.shape[1]
    size = float(np.trace(K)) / n or 1.0
    system, right = np.zeros((m, m)), np.zeros(m)
    system[:n, :n], system[:n, n:], system[n:, :n] = K / size, groups, groups.T
    right[:n] = slope / size
    factor, pivots, found, info = lapack.dsysv(system, right, lwork=64 * m)
    found = found.reshape(m)
    if info == 0:
        share, _ = lapack.dsycon(factor, pivots, np.abs(system).sum(axis=0).max())
        close = np.abs(system @ found - right).max() <= 1e-6 * max(1e-300, np.abs(right).max())  # no NaN is
        if close and share >= EPS:  # else rows repeat: of many answers the short one
            return found[:n]
    return linalg.lstsq(system, right, cond=1e-13 if n <= 200 else 1e-12, lapack_driver="gelsd")[0][:n]


def bordered_inverse(K: Array, groups: Array) -> Array | None:
    """Return the matrix that takes slopes to the step of `equal_slopes`; None where rows repeat."""
    groups = groups[:, groups.any(axis=0)]
    n, m = len(K), len(K) + groups.shape[1]
    size = float(np.trace(K)) / n or 1.0
    system = np.zeros((m, m), order="F")
    system[:n, :n], system[:n, n:], system[n:, :n] = K / size, groups, groups.T
    norm = np.abs(system).sum(axis=0).max()
    factor, pivots, info = lapack.dsytrf(system, lwork=64 * m)
    if info != 0 or not lapack.dsycon(factor, pivots, norm)[0] >= 1e3 * EPS:
        return None
    inverse, info = lapack.dsytri(factor, pivots)
    if info != 0:
        return None
    inverse = np.triu(inverse)[:n, :n]
    return np.asfortranarray((inverse + np.triu(inverse, 1).T) / size)
