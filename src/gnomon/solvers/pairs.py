"""Sequential minimal optimization: kernel machines solved two multipliers at a time, then finished exactly.

    minimize ½ βᵀKβ − tᵀβ + ε‖β‖₁,   Σβ = 0 (or fixed),   low ≤ β ≤ high

Classification has t = y and bounds [0, C] or [−C, 0], so β = yα; regression has t = y and |β| ≤ C. The rows that
violate the conditions of optimality most are a working set (Joachims, 1999), half of it kept from one set to the next;
within it pairs are chosen to second order (Fan, Chen & Lin, 2005). When no pair gains more than the tolerance, the
multipliers strictly between their bounds are solved for together, and pairs go on from there: what is left of the
violation then is rounding. Rows whose multipliers rest at a bound are set aside (shrinking) and looked at again
before the end.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.threads import shared
from gnomon.loops import smo
from gnomon.loops.free_multipliers import finish
from gnomon.solvers.free_multipliers import EXACT_WORK, at_one_slope
from gnomon.solvers.kernel_rows import WORKING_SET, KernelRows, RowCache

NO_LIMIT = 10**7  # steps where none are given: more would not end
HANDFUL = 200  # free multipliers that are solved for sooner than pairs go on
FEW = 96  # free multipliers: so many a plain loop solves for as fast as LAPACK
GOAL = 0.5  # of the tolerance: where pairs stop, so that rounding of the rows leaves no violation above it
HAIR = 1e-13  # of the room of a multiplier: nearer to a bound it is at it, and rounding alone keeps it off
SHARE = 0.1  # of the violation of a working set: what is left when the next one is chosen


class Pairs(NamedTuple):
    """Where a problem stands."""

    beta: Array
    R: Array  # t − Kβ
    steps: int
    violation: float
    done: bool


class PairProblem:
    """One problem over some rows of a kernel matrix."""

    def __init__(
        self,
        source: KernelRows,
        rows: Array,
        target: Array,
        low: Array,
        high: Array,
        *,
        epsilon: float = 0.0,
        ridge: Array | None = None,
        tol: float = 1e-3,
        shrinking: bool = True,
        max_steps: int = NO_LIMIT,
    ) -> None:
        self.source, self.rows, self.target = source, rows, target
        self.low, self.high, self.epsilon, self.ridge = low, high, float(epsilon), ridge
        self.tol, self.shrinking, self.max_steps = tol, shrinking, max_steps
        self.diagonal = source.diagonal[rows] + (0.0 if ridge is None else ridge)
        self.size = float(np.abs(self.diagonal).max(initial=0.0))
        self.floor = (self.size or 1.0) * (1e-6 if source.dtype == np.float32 else 1e-12)
        self.cache: RowCache | None = None
        self.active: Array = np.arange(len(rows))

    def start(self, beta: Array | None = None) -> Pairs:
        """Return where to begin: nowhere, or from given multipliers."""
        if beta is None:
            return Pairs(np.zeros(len(self.rows)), self.target.astype(np.float64), 0, np.inf, False)
        return Pairs(beta, self.residuals(beta), 0, np.inf, False)

    def residuals(self, beta: Array) -> Array:
        """Return t − Kβ, summed anew in double precision."""
        return self.target - self._product(beta)

    def _product(self, beta: Array) -> Array:
        """Return Kβ in double precision."""
        cache = self.cache
        if cache is not None and cache.whole and cache.rows.dtype == np.float64:
            if len(beta) == self.source.n and self.ridge is None:
                return cache.rows @ beta
            used, f = np.flatnonzero(beta), np.zeros(len(beta))
            smo.subtract_rows(cache.rows, cache.places(used), -beta[used], 0, len(f), f)
            return f
        full = np.zeros(self.source.n)
        full[self.rows] = beta
        f = self.source.scores(full, self.rows)
        return f if self.ridge is None else f + self.ridge * beta

    def advance(self, now: Pairs, steps: int) -> Pairs:
        """Make up to so many steps; the last ones of a problem make it exact. Depends on `now` alone."""
        if now.done:
            return now
        beta, R = now.beta.copy(), now.R.copy()
        left = min(steps, self.max_steps - now.steps)
        self.cache = None if self.cache is None or not self.cache.whole else self.cache
        self._activate_all()
        made, ended = self._run(beta, R, left, GOAL * self.tol)
        total = now.steps + made
        slow = len(beta) <= WORKING_SET and total >= 10 * len(beta) + 1000
        if not ended and slow and len(self._free(beta)) <= HANDFUL:  # pairs are slow far from the bounds
            better = self._polish(beta, self.residuals(beta))
            if self._rounding(better[0]) <= GOAL * self.tol:
                beta, R = better
                ended = self._violation(beta, R) <= GOAL * self.tol
        if not ended:
            done = total >= self.max_steps or self._violation(beta, R) <= self._rounding(beta)
            R = self.residuals(beta) if done else R
            return self._leave(Pairs(beta, R, total, self._violation(beta, R), done))
        if len(self.active) < len(self.rows) or self.source.dtype == np.float32:
            R = self.residuals(beta)
            whole = len(self.active) == len(self.rows)
            if self._violation(beta, R) > self.tol and not (whole and made == 0):
                return Pairs(beta, R, total, self._violation(beta, R), False)
        beta, R = self._at_rest(*self._polish(beta, R))
        return self._leave(Pairs(beta, R, total, self._violation(beta, R), True))

    def _rounding(self, beta: Array) -> float:
        """Return how far off R may be for its rounding alone: no violation below is seen."""
        return 1e-15 * self.size * float(np.abs(beta).sum())

    def _leave(self, now: Pairs) -> Pairs:
        """Give the memory of the rows back where the problem is solved."""
        if now.done:
            self.cache = None
        return now

    def _violation(self, beta: Array, R: Array) -> float:
        if not math.isfinite(R.sum()):  # nothing is known of what NaN violates
            return math.inf
        top, bottom, _ = smo.slopes(self.low, self.high, self.epsilon, beta, R)
        return max(0.0, top - bottom) if math.isfinite(top) and math.isfinite(bottom) else 0.0

    def _activate_all(self) -> None:
        """Look at all rows again; what was computed for some of their columns is of no use."""
        self.active = np.arange(len(self.rows))
        if self.cache is None or len(self.cache.columns) < len(self.rows):
            self.cache = RowCache(self.source, self.rows, self.ridge)

    def _run(self, beta: Array, R: Array, limit: int, tol: float) -> tuple[int, bool]:
        """Make pair steps on the active rows; write beta and R of those. Returns steps made, and whether it ended."""
        if len(self.active) <= WORKING_SET and self.cache is not None and self.cache.whole:
            code, made = smo.pair_steps(
                *self._whole(self.cache), self.low, self.high, self.epsilon, self.floor, tol, limit, beta, R
            )
            return made, code == smo.DONE
        made, ended, held = 0, False, np.zeros(0, dtype=np.int64)
        while made < limit and not ended:
            rows = self.active
            part = ActiveRows(
                beta[rows], R[rows], self.low[rows], self.high[rows], self.diagonal[rows], self.epsilon
            )
            patience = min(limit, made + max(2000, len(rows) // 2))
            while made < patience and not ended:
                count, held, ended = self._block_steps(part, held, patience - made, tol)
                made += count
            beta[rows], R[rows] = part.beta, part.R
            if self.shrinking and not ended:
                held = self._shrink(part, held)
        return made, ended

    def _whole(self, cache: RowCache) -> tuple[Any, ...]:
        """Return all rows as loops take them: whence each is copied, to where, and which are there."""
        return cache.source.full, cache.columns, cache.columns, cache.rows, cache.known, self.diagonal

    def _block_steps(self, part: ActiveRows, held: Array, limit: int, tol: float) -> tuple[int, Array, bool]:
        """Solve a working set among itself and tell all rows. Returns steps, the set, and whether it ended."""
        rise, fall = part.slopes()
        top, bottom = float(rise.max(initial=-np.inf)), float(fall.min(initial=np.inf))
        if not top - bottom > tol:
            return 0, held, True
        held = held[-(WORKING_SET // 2) :]
        rise[held], fall[held] = -np.inf, np.inf
        half = (WORKING_SET - len(held)) // 2
        up, down = largest(rise, half), largest(-fall, half)
        fresh = np.unique(np.concatenate([up[rise[up] > bottom], down[fall[down] < top]]))
        chosen = np.concatenate([held, fresh])
        cache = self.cache
        assert cache is not None
        places = cache.places(chosen)
        K = np.empty((len(chosen), len(chosen)), dtype=cache.rows.dtype)
        known = np.zeros(len(chosen), dtype=np.uint8)
        b, r = part.beta[chosen], part.R[chosen]
        low, high = part.low[chosen], part.high[chosen]
        high_slope, low_slope, _ = smo.slopes(low, high, self.epsilon, b, r)
        goal = max(0.5 * tol, SHARE * (high_slope - low_slope))
        _, made = smo.pair_steps(
            cache.rows, places, chosen, K, known, part.diagonal[chosen],
            low, high, self.epsilon, self.floor, goal, limit, b, r,
        )  # fmt: skip
        change = b - part.beta[chosen]
        moved = np.flatnonzero(change)
        part.beta[chosen] = b
        spread(cache.rows, places[moved], change[moved], part.R)
        return made, chosen, made == 0

    def _shrink(self, part: ActiveRows, held: Array) -> Array:
        """Set rows aside that stay at their bound, when they are many; returns the held rows by their new numbers."""
        cache = self.cache
        assert cache is not None
        if cache.whole:
            return held  # all rows are there: fewer columns would be another copy
        keep = np.flatnonzero(~part.stays())
        if len(keep) > 0.7 * len(part.R) or len(keep) < WORKING_SET:
            return held
        self.active, self.cache = self.active[keep], cache.narrowed(keep)
        at = np.searchsorted(keep, held)
        return at[(at < len(keep)) & (keep[np.minimum(at, len(keep) - 1)] == held)]

    # the exact end

    def _polish(self, beta: Array, R: Array) -> tuple[Array, Array]:
        """Solve for the free multipliers together, and let pairs mend what that moves, until rounding is left."""
        unit = self._unit()
        single = self.source.dtype == np.float32
        goal, work = max((1e-7 if single else 1e-12) * unit, self._rounding(beta)), 0
        if self.cache is not None and self.cache.whole and not single and len(beta) <= WORKING_SET:
            beta, R = beta.copy(), R.copy()
            _, done = finish(
                *self._whole(self.cache), self.low, self.high, self.epsilon, self.floor, goal, FEW, self.target, beta, R
            )  # fmt: skip
            if done:
                return beta, R
        best = (self._violation(beta, R), beta, R)
        for _ in range(4 if single else 12):
            free = self._free(best[1])
            work += len(free) ** 3
            if best[0] <= goal or work > EXACT_WORK:
                break
            beta, R = best[1].copy(), best[2].copy()
            if len(free):
                beta = self._solve_free(beta, R, free)
                R = R - self._product(beta - best[1])
            left = max(goal, (1e-2 if single else 1e-3) * min(best[0], self._violation(beta, R)))
            beta, R = self._mend(beta, R, left)
            found = self._violation(beta, R)
            if not found < best[0]:
                break
            best = (found, beta, R)
        return best[1], best[2]

    def _at_rest(self, beta: Array, R: Array) -> tuple[Array, Array]:
        """Put multipliers that are within rounding of a bound, or of the bend at zero, on it.

        The last free ones stay as they are: the intercept is read from them.
        """
        hair = HAIR * np.minimum(self.high - self.low, float(np.abs(beta).max(initial=0.0)))
        rested = beta.copy()
        for place in (self.low, self.high, np.zeros(len(beta))) if self.epsilon else (self.low, self.high):
            np.copyto(rested, place, where=np.abs(rested - place) <= hair)
        if (rested == beta).all() or not len(self._free(rested)):
            return beta, R
        moved = R - self._product(rested - beta)
        fine = max(self._violation(beta, R), 1e-12 * self._unit(), self._rounding(beta))
        return (rested, moved) if self._violation(rested, moved) <= fine else (beta, R)

    def _unit(self) -> float:
        """Return the scale of the targets."""
        return max(1e-300, float(np.abs(self.target).max(initial=0.0)) + self.epsilon)

    def _mend(self, beta: Array, R: Array, tol: float) -> tuple[Array, Array]:
        """Return multipliers after some more pairs, and their residuals in double precision."""
        before, residuals = beta.copy(), R.copy()
        self._activate_all()
        self._run(beta, R, min(self.max_steps, 10 * len(beta) + 1000), tol)
        return beta, residuals - self._product(beta - before)

    def _free(self, beta: Array) -> Array:
        inside = (beta > self.low) & (beta < self.high)
        return np.flatnonzero(inside & (beta != 0.0) if self.epsilon else inside)

    def _solve_free(self, beta: Array, R: Array, free: Array) -> Array:
        """Return multipliers with one slope on the face of the free ones; those that meet a bound stay there."""
        K = self.source.block(self.rows[free], self.rows[free]).astype(np.float64)
        if self.ridge is not None:
            K[np.diag_indices(len(free))] += self.ridge[free]
        b, sign = beta[free], np.sign(beta[free]) if self.epsilon else 0.0
        slope = R[free] - self.epsilon * sign
        up = np.where(sign < 0, 0.0, self.high[free]) if self.epsilon else self.high[free]
        down = np.where(sign > 0, 0.0, self.low[free]) if self.epsilon else self.low[free]
        beta[free] = at_one_slope(K, b, slope, down, up, np.ones((len(free), 1)))
        return beta


class ActiveRows(NamedTuple):
    """What is known of the rows that pairs are chosen from."""

    beta: Array
    R: Array
    low: Array
    high: Array
    diagonal: Array
    epsilon: float

    def slopes(self) -> tuple[Array, Array]:
        """Return what each row gains upward (−∞ at its upper bound) and what it loses downward (∞ at the lower)."""
        rise, fall = self._both()
        rise[self.beta >= self.high], fall[self.beta <= self.low] = -np.inf, np.inf
        return rise, fall

    def _both(self) -> tuple[Array, Array]:
        if not self.epsilon:
            return self.R.copy(), self.R.copy()
        bend = np.where(self.beta >= 0, -self.epsilon, self.epsilon)
        return self.R + bend, self.R + np.where(self.beta <= 0, self.epsilon, -self.epsilon)

    def stays(self) -> Array:
        """Tell which rows rest at a bound, or at the bend at zero, and would move only away from it."""
        rise, fall = self._both()
        top = rise[self.beta < self.high].max(initial=-np.inf)
        bottom = fall[self.beta > self.low].min(initial=np.inf)
        rests = ((self.beta >= self.high) & (fall > top)) | ((self.beta <= self.low) & (rise < bottom))
        if self.epsilon:
            rests |= (self.beta == 0) & (rise < bottom) & (fall > top)
        return rests


def spread(K: Array, places: Array, change: Array, R: Array) -> None:
    """Subtract the rows of the multipliers that moved from R, on the library's threads."""
    step = max(2048, len(R) // 8)

    def part(first: int) -> None:
        smo.subtract_rows(K, places, change, first, min(len(R), first + step), R)

    shared(part, range(0, len(R), step))


def largest(values: Array, count: int) -> Array:
    """Return where the largest values are; among equals the first ones, whatever the processor."""
    if count >= len(values):
        return np.arange(len(values))
    edge = np.partition(values, len(values) - count)[len(values) - count]
    above = np.flatnonzero(values > edge)
    return np.concatenate([above, np.flatnonzero(values == edge)[: count - len(above)]])


def optimum(beta: Array, R: Array, low: Array, high: Array, epsilon: float) -> dict[str, Any]:
    """Return the intercept, its interval and the violation, from R = t − f without intercept."""
    bottom, top, _ = smo.slopes(low, high, float(epsilon), beta, R)
    inside = (beta > low) & (beta < high)
    if epsilon:
        inside &= beta != 0
    free = (R - epsilon * np.sign(beta) if epsilon else R)[inside]
    if len(free):
        middle = float(free.sum() / len(free))
        return {"intercept": middle, "interval": (middle, middle), "violation": max(0.0, bottom - top)}
    if math.isinf(bottom) and math.isinf(top):
        bottom = top = 0.0
    low_, high_ = (bottom if math.isfinite(bottom) else top), (top if math.isfinite(top) else bottom)
    return {
        "intercept": 0.5 * (low_ + high_),
        "interval": (min(bottom, top), max(bottom, top)),
        "violation": max(0.0, bottom - top) if math.isfinite(bottom) and math.isfinite(top) else 0.0,
    }
