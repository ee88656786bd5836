"""Sequential minimal optimization: kernel machines solved two multipliers at a time, then finished exactly.

    minimize ½ βᵀKβ − tᵀβ + ε‖β‖₁,   Σβ = 0 (or fixed),   low ≤ β ≤ high

Classification has t = y and bounds [0, C] or [−C, 0], so β = yα; regression has t = y and |β| ≤ C. Pairs are chosen
to second order (Fan, Chen & Lin, 2005). When no pair gains more than the tolerance, the multipliers strictly
between their bounds are solved for together, and pairs go on from there: what is left of the violation then is
rounding. Rows whose multipliers rest at a bound are set aside (shrinking) and looked at again before the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from gnomon.core.linalg import Array
from gnomon.loops import smo
from gnomon.solvers.kernel_rows import KernelRows, RowCache

EXACT_WORK = 2 * 10**9  # cubes of free multipliers: how much solving for them together may cost
NO_LIMIT = 2**62


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
        size = float(np.abs(self.diagonal).max(initial=0.0)) or 1.0
        self.floor = size * (1e-6 if source.dtype == np.float32 else 1e-12)
        self.cache: RowCache | None = None
        self.active: Array = np.arange(len(rows))

    def start(self, beta: Array | None = None) -> Pairs:
        """Return where to begin: nowhere, or from given multipliers."""
        if beta is None:
            return Pairs(np.zeros(len(self.rows)), self.target.astype(np.float64), 0, np.inf, False)
        return Pairs(beta, self.residuals(beta), 0, np.inf, False)

    def residuals(self, beta: Array) -> Array:
        """Return t − Kβ, summed anew in double precision."""
        full = np.zeros(self.source.n)
        full[self.rows] = beta
        f = self.source.scores(full, self.rows)
        return self.target - f - (0.0 if self.ridge is None else self.ridge * beta)

    def advance(self, now: Pairs, steps: int) -> Pairs:
        """Make up to so many steps; the last ones of a problem make it exact."""
        if now.done:
            return now
        beta, R = now.beta.copy(), now.R.copy()
        left = min(steps, self.max_steps - now.steps)
        made, ended = self._run(beta, R, left)
        total = now.steps + made
        if not ended:
            return Pairs(beta, R, total, self._violation(beta, R), total >= self.max_steps)
        if len(self.active) < len(self.rows) or self.source.dtype == np.float32:
            R = self.residuals(beta)
            whole = len(self.active) == len(self.rows)
            if self._violation(beta, R) > self.tol and not (whole and made == 0):
                self._activate(np.arange(len(self.rows)))
                return Pairs(beta, R, total, self._violation(beta, R), False)
        beta, R = self._polish(beta, R)
        return Pairs(beta, R, total, self._violation(beta, R), True)

    def _violation(self, beta: Array, R: Array) -> float:
        top, bottom, _ = smo.slopes(self.low, self.high, self.epsilon, beta, R)
        return max(0.0, float(top - bottom)) if np.isfinite(top) and np.isfinite(bottom) else 0.0

    def _activate(self, active: Array) -> None:
        self.active = active
        self.cache = RowCache(
            self.source, self.rows[active], None if self.ridge is None else self.ridge[active]
        )

    def _run(self, beta: Array, R: Array, limit: int, tol: float | None = None) -> tuple[int, bool]:
        """Make pair steps on the active rows; write beta and R of those. Returns steps made, and whether it ended."""
        tol, made, clock = self.tol if tol is None else tol, 0, 1
        if self.cache is None:
            self._activate(self.active)
        while made < limit:
            rows, cache = self.active, self.cache
            assert cache is not None
            whole = len(rows) == len(beta)
            b, r = (beta, R) if whole else (beta[rows], R[rows])
            low, high, diagonal = self.low[rows], self.high[rows], self.diagonal[rows]
            patience = min(limit, made + max(1000, len(rows)))
            code = smo.LIMIT
            while made < patience:
                code, i, j, count, clock, top, bottom = smo.pair_steps(
                    cache.rows, cache.slot, cache.stamp, clock, diagonal, low, high, self.epsilon,
                    self.floor, tol, patience - made, b, r,
                )  # fmt: skip
                made += count
                if code != smo.NEED:
                    break
                cache.bring(self._soon(i, j, low, high, b, r, cache.slot), clock)
            if not whole:
                beta[rows], R[rows] = b, r
            if code == smo.DONE:
                return made, True
            if self.shrinking:
                self._shrink(b, r, low, high, top, bottom)
        return made, False

    def _soon(self, i: int, j: int, low: Array, high: Array, b: Array, r: Array, slot: Array) -> Array:
        """Return the row that is needed and those likely to be: the largest violators without a row."""
        first = i if slot[i] < 0 else j
        up = np.where((b < high) & (slot < 0), r, -np.inf)
        down = np.where((b > low) & (slot < 0), r, np.inf)
        half = min(self.source.batch // 2, len(b) - 1)
        likely = np.concatenate([np.argpartition(-up, half)[:half], np.argpartition(down, half)[:half]])
        likely = likely[
            (slot[likely] < 0) & (likely != first) & ((b[likely] < high[likely]) | (b[likely] > low[likely]))
        ]
        return np.concatenate([[first], np.unique(likely)])

    def _shrink(self, b: Array, r: Array, low: Array, high: Array, top: float, bottom: float) -> None:
        """Set aside rows at a bound whose slope says they stay there, when they are many."""
        rise = np.where(b >= 0, r - self.epsilon, r + self.epsilon)
        fall = np.where(b <= 0, r + self.epsilon, r - self.epsilon)
        stays = ((b >= high) & (fall > top)) | ((b <= low) & (rise < bottom))
        if self.epsilon:
            stays |= (b == 0) & (rise < bottom) & (fall > top)
        if stays.sum() > 0.3 * len(b) and len(b) - stays.sum() > 2:
            self._activate(self.active[~stays])

    # the exact end

    def _polish(self, beta: Array, R: Array) -> tuple[Array, Array]:
        """Solve for the free multipliers together, and let pairs mend what that moves, until rounding is left."""
        unit = max(1e-300, float(np.abs(self.target).max(initial=0.0)) + self.epsilon)
        best = (self._violation(beta, R), beta, R)
        goal, work = 1e-12 * unit, 0
        for _ in range(2 if self.source.dtype == np.float32 else 12):
            free = self._free(best[1])
            work += len(free) ** 3
            if best[0] <= goal or work > EXACT_WORK:
                break
            beta, R = best[1].copy(), best[2].copy()
            if len(free):
                beta = self._solve_free(beta, R, free)
                R = self.residuals(beta)
            if self.source.dtype != np.float32:
                self._activate(np.arange(len(self.rows)))
                before = self._violation(beta, R)
                self._run(
                    beta,
                    R,
                    min(self.max_steps, 10 * len(beta) + 1000),
                    max(goal, 1e-3 * min(best[0], before)),
                )
                R = self.residuals(beta)
            found = self._violation(beta, R)
            if not found < best[0]:
                break
            best = (found, beta, R)
        return best[1], best[2]

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
        left, work = np.arange(len(free)), 0
        while len(left) and work <= EXACT_WORK:
            work += len(left) ** 3
            step = equal_slopes(K[np.ix_(left, left)], slope[left])
            edge = np.where(step > 0, up[left], down[left])
            share = np.divide(edge - b[left], step, out=np.full(len(left), np.inf), where=step != 0)
            first = int(np.argmin(share))
            part = min(1.0, float(share[first]))
            b[left] += part * step
            slope -= K[:, left] @ (part * step)
            if part == 1.0:
                break
            b[left[first]] = edge[first]
            left = np.delete(left, first)
        beta[free] = np.clip(b, down, up)
        return beta


def equal_slopes(K: Array, slope: Array) -> Array:
    """Return the step with Σ step = 0 after which slope − K·step is the same everywhere; of many, a short one."""
    n = len(K)
    size = float(np.trace(K)) / n or 1.0
    system = np.zeros((n + 1, n + 1))
    system[:n, :n], system[:n, n], system[n, :n] = K / size, 1.0, 1.0
    right = np.append(slope / size, 0.0)
    if n <= 200:
        return linalg.lstsq(system, right, cond=1e-13, lapack_driver="gelsd")[0][:n]
    try:
        with np.errstate(all="ignore"):
            found = linalg.solve(system, right, assume_a="sym", check_finite=False)
        if np.isfinite(found).all() and np.abs(system @ found - right).max() <= 1e-6 * max(
            1e-300, np.abs(right).max()
        ):
            return found[:n]
    except (linalg.LinAlgError, ValueError):
        pass
    return linalg.lstsq(system, right, cond=1e-12, lapack_driver="gelsd")[0][:n]


def optimum(beta: Array, R: Array, low: Array, high: Array, epsilon: float) -> dict[str, Any]:
    """Return the intercept, its interval and the violation, from R = t − f without intercept."""
    rise = np.where(beta >= 0, R - epsilon, R + epsilon)[beta < high]
    fall = np.where(beta <= 0, R + epsilon, R - epsilon)[beta > low]
    bottom, top = float(rise.max(initial=-np.inf)), float(fall.min(initial=np.inf))
    inside = (beta > low) & (beta < high) & ((beta != 0) | (epsilon == 0))
    if inside.any():
        middle = float((R - epsilon * np.sign(beta) if epsilon else R)[inside].mean())
        return {"intercept": middle, "interval": (middle, middle), "violation": max(0.0, bottom - top)}
    if np.isinf(bottom) and np.isinf(top):
        bottom = top = 0.0
    low_, high_ = (bottom if np.isfinite(bottom) else top), (top if np.isfinite(top) else bottom)
    return {
        "intercept": 0.5 * (low_ + high_),
        "interval": (min(bottom, top), max(bottom, top)),
        "violation": max(0.0, bottom - top) if np.isfinite(bottom) and np.isfinite(top) else 0.0,
    }
