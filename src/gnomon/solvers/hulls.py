"""The nearest points of two convex hulls, whole or reduced: weights in two simplexes, each at most `cap`.

    minimize ‖Σ_i s_i a_i x_i‖²,   Σ_{s=+1} a_i = Σ_{s=-1} a_i = 1,   0 ≤ a_i ≤ cap

Points are known by their inner products alone, so kernels serve as well. A working set of rows that stick out
is solved to the end: weight goes from the worst row to the best, then the face of the rows with weight is
minimized exactly. The certificate is the distance less the width of the gap along the direction found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gnomon.core.linalg import Array

ENTER = 32  # rows of each class that join the working set at a time
DUST = 1e-13  # a weight this near to a bound is one that rounding left there


class NearestPoints(NamedTuple):
    """Weights of the rows, the distance of the two points, and how much nearer the hulls may be."""

    weights: Array
    distance: float
    gap: float


def nearest_points(
    gram: Callable[[Array], Array],
    scores: Callable[[Array], Array],
    sign: Array,
    *,
    cap: float = 1.0,
    goal: float = 1e-10,
    max_rounds: int = 1000,
) -> NearestPoints:
    """Return the nearest points of the hulls of the rows of sign +1 and −1.

    Parameters
    ----------
    gram : function
        From row numbers to the matrix of their inner products.
    scores : function
        From signed weights c (n,) to the inner products of Σ c_i x_i with every row.
    sign : array of ±1
    cap : float
        Largest weight of a row; times the rows of a class at least 1.
    goal : float
        Of the gap.
    """
    a = _first_weights(sign, cap)
    rows = np.flatnonzero(a)
    best = NearestPoints(a, np.inf, np.inf)
    for _ in range(max_rounds):
        a = np.zeros(len(sign))
        a[rows] = solve_set(gram(rows), sign[rows], cap, best.weights[rows])
        f = scores(sign * a)
        found = _certified(a, f, sign, cap)
        newcomers = np.setdiff1d(_sticking_out(f, sign), rows)
        stalled = not found.gap < best.gap
        best = best if stalled and np.isfinite(best.gap) else found
        if best.gap <= goal or best.distance <= goal or not len(newcomers):
            break
        rows = np.union1d(rows, newcomers)
    return best


def _first_weights(sign, cap):
    """Full weights for the first rows of each class."""
    a = np.zeros(len(sign))
    for side in (1.0, -1.0):
        mine = np.flatnonzero(sign == side)
        full = min(int(1.0 / cap), len(mine))
        a[mine[:full]] = cap
        if full < len(mine):
            a[mine[full]] = max(1.0 - full * cap, 0.0)
    return a


def _sticking_out(f, sign):
    """The rows of each class that lie furthest toward the other."""
    found = []
    for side in (1.0, -1.0):
        mine = np.flatnonzero(sign == side)
        count = min(ENTER, len(mine))
        found.append(mine[np.argpartition(side * f[mine], count - 1)[:count]])
    return np.concatenate(found)


def _certified(a, f, sign, cap):
    """Distance and gap from the scores of all rows along u − v."""
    distance = float(np.sqrt(max(float((sign * a) @ f), 0.0)))
    if distance == 0.0:
        return NearestPoints(a, 0.0, 0.0)
    low = _least_mean(f[sign > 0], cap) + _least_mean(-f[sign < 0], cap)
    return NearestPoints(a, distance, max(distance - max(low / distance, 0.0), 0.0))


def _least_mean(values, cap):
    """Smallest mean of some values under weights of at most cap: the smallest get all they may."""
    full = min(int(1.0 / cap), len(values))
    count = min(full + 1, len(values))
    least = np.sort(np.partition(values, count - 1)[:count])
    rest = max(1.0 - full * cap, 0.0)
    return float(cap * least[:full].sum() + (rest * least[full] if full < count else 0.0))


# -- on a working set ----------------------------------------------------------------------------------------


def solve_set(K: Array, sign: Array, cap: float, a: Array, max_rounds: int = 1000) -> Array:
    """Minimize over a few rows, from weights `a`, until no pair of rows of a class would gain by a trade."""
    a, best = a.copy(), np.inf
    scale = float(np.abs(np.diagonal(K)).max(initial=0.0))
    for _ in range(max_rounds):
        f = K @ (sign * a)
        slope, value = sign * f, float((sign * a) @ f)
        trades = [_best_trade(slope, a, sign == side, cap) for side in (1.0, -1.0)]
        gain = max(trade[0] for trade in trades)
        if gain <= 1e-15 * scale or not value < best:
            break
        best = value
        for violation, giver, taker in trades:
            _trade(K, a, cap, violation, giver, taker)
        _minimize_faces(K, sign, cap, a)
    return a


def _best_trade(slope, a, mine, cap):
    """How much steeper the worst row with weight is than the best row with room, and which they are."""
    giver = int(np.argmax(np.where(mine & (a > 0.0), slope, -np.inf)))
    taker = int(np.argmin(np.where(mine & (a < cap), slope, np.inf)))
    room = mine[giver] and mine[taker] and a[giver] > 0.0 and a[taker] < cap
    return (slope[giver] - slope[taker] if room else 0.0), giver, taker


def _trade(K, a, cap, violation, giver, taker):
    bend = K[giver, giver] + K[taker, taker] - 2.0 * K[giver, taker]
    if violation <= 0.0 or bend <= 0.0:
        return
    step = min(violation / bend, a[giver], cap - a[taker])
    a[giver] = 0.0 if step == a[giver] else a[giver] - step
    a[taker] = cap if step == cap - a[taker] else a[taker] + step


def _minimize_faces(K, sign, cap, a):
    """Go to the least point of the rows strictly between the bounds; a row that hits one leaves the face."""
    for _ in range(len(a)):
        free = np.flatnonzero((a > 0.0) & (a < cap))
        if len(free) < 2:
            break
        step = _face_step(K, sign, a, free)
        limit = np.where(step < 0.0, -a[free], cap - a[free])
        share = np.divide(limit, step, out=np.full(len(free), np.inf), where=step != 0.0)
        first = int(share.argmin())
        a[free] += min(1.0, share[first]) * step
        if share[first] >= 1.0:
            break
        a[free[first]] = 0.0 if step[first] < 0.0 else cap
    _tidy(sign, cap, a)


def _tidy(sign, cap, a):
    """Take off what rounding left: weights at a bound are exactly there, and each class sums to one.

    A speck of weight that stays behind would be the next giver, move nothing, and end the search.
    """
    a[a <= DUST] = 0.0
    a[a >= cap - DUST] = cap
    for side in (1.0, -1.0):
        mine = sign == side
        inner = np.flatnonzero(mine & (a > 0.0) & (a < cap))
        if len(inner):
            largest = inner[a[inner].argmax()]
            a[largest] = min(a[largest] + (1.0 - a[mine].sum()), cap)


def _face_step(K, sign, a, free):
    """Newton step within the sums of both classes; of many, the shortest."""
    s = sign[free]
    H = s[:, None] * K[np.ix_(free, free)] * s
    sums = np.array([s > 0, s < 0], dtype=float)
    weight = max(float(np.abs(np.diagonal(H)).max()), 1e-300)
    A = np.block([[H / weight, sums.T], [sums, np.zeros((2, 2))]])
    slope = s * (K[free] @ (sign * a))
    return np.linalg.lstsq(A, np.append(-slope / weight, np.zeros(2)), rcond=1e-13)[0][: len(free)]
