"""Coordinate descent on sparse columns: on a Gram matrix and on the residual, centered without being filled.

In text a few columns hold most of the entries. Their Gram matrix is small, and solved for together they leave
little to do for sweeps over the many columns with few entries.

A sparse fit Xw is zero on the rows that no chosen column touches. While they are few, Xᵀr = Xᵀy − XᵀXw needs
the touched rows alone; later, only the columns whose correlation may have reached the threshold are looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.threads import shared
from gnomon.loops import coordinate_sparse as loops
from gnomon.solvers.coordinate import ROUNDING, Check, Design, Penalized, anderson, dual_check
from gnomon.solvers.correlations import Correlations
from gnomon.solvers.sparse_gram import SparseGram

PIECES = 8  # of the product with all columns, for the threads
ENOUGH = 2**19  # entries from which threads pay
DENSE = 3  # rows with more than a third of all entries: the product with all columns is cheaper


def by_columns(rows: tuple[Array, ...], v: Array, p: int) -> tuple[Array, ...]:
    """Return the columns (indptr, indices, data) of the sparse rows v[i]·x_i."""
    indptr, indices, data = rows
    ends = np.concatenate([[0], np.cumsum(np.bincount(indices, minlength=p))])
    narrow = np.int32 if len(v) <= np.iinfo(np.int32).max else np.int64
    found, cursor = (np.empty(len(data), dtype=narrow), np.empty(len(data))), ends[:-1].copy()

    def fill(left: int, right: int) -> None:
        loops.csr_columns(indptr, indices, data, v, left, right, cursor, *found)

    in_pieces(fill, ends)
    return ends, *found


def in_pieces(fill: Callable[[int, int], None], ends: Array) -> None:
    """Call fill(left, right) for pieces of the columns that hold about as many entries each, on the threads."""
    pieces = PIECES if ends[-1] >= ENOUGH else 1
    cuts = np.searchsorted(ends, np.linspace(0, ends[-1], pieces + 1)[1:-1])
    edges = [0, *cuts.tolist(), len(ends) - 1]
    shared(lambda piece: fill(*piece), zip(edges[:-1], edges[1:]))


class SparseDesign(Design):
    """Rows √s(x − x̄) of CSR data: columns stay sparse, centering is implicit."""

    def __init__(self, X: Any, y: Array, weight: Array | None, intercept: bool) -> None:
        super().__init__(X, y, weight, intercept)
        self.v = np.ones(len(y)) if weight is None else self.root
        self.rows = (X.indptr.astype(np.int64), X.indices, X.data)
        self.parts = by_columns(self.rows, self.v, self.n_features)
        self.sizes = np.diff(self.parts[0])
        self.raw = self._all_dots(self.y)  # Σ √s x_j y, not centered
        self.q = self.raw - self.mean * float(self.v @ self.y) if intercept else self.raw
        squares = np.empty(self.n_features)
        loops.csc_squares(*self.parts, squares)
        self.curvature = np.maximum(squares - self.mass * self.mean**2, 0.0)
        self.curvature[self.curvature <= 1e-14 * squares] = 0.0  # constant columns

    def correlate(self, r: Array) -> Array:
        """Return the product of every centered column with r."""
        corr = self._all_dots(r)
        return corr - self.mean * float(self.v @ r) if self.intercept else corr

    def _all_dots(self, r: Array) -> Array:
        (indptr, indices, data), out = self.parts, np.empty(self.n_features)

        def fill(left: int, right: int) -> None:
            loops.csc_dot(indptr[left : right + 1], indices, data, r, out[left:right])

        in_pieces(fill, indptr)
        return out

    def correlate_some(self, cols: Array, r: Array) -> Array:
        """Return the product of some centered columns with r."""
        found, ends = np.empty(len(cols)), np.concatenate([[0], np.cumsum(self.sizes[cols])])

        def fill(left: int, right: int) -> None:
            loops.csc_dot_some(cols[left:right], *self.parts, r, found[left:right])

        in_pieces(fill, ends)
        return found - self.mean[cols] * float(self.v @ r) if self.intercept else found

    def entries(self, cols: Array | None = None) -> int:
        """Return how many entries some columns have, or all."""
        return len(self.parts[2]) if cols is None else int(self.sizes[cols].sum())

    def has_columns(self) -> bool:
        """Single columns can be read quickly."""
        return True

    def lengths(self) -> Array:
        """Return the norms of the centered columns."""
        return np.sqrt(self.curvature)

    def residual(self, S: Array, w: Array) -> tuple[Array, Array]:
        """Return the residual of coefficients that are zero outside S, and what of it is not y or intercept."""
        fitted = np.zeros(len(self.y))
        loops.csc_combine(S, *self.parts, w, fitted)
        r = self.y - fitted
        return (r + self.v * float(self.mean[S] @ w[S]) if self.intercept else r), fitted

    def subtract(self, cols: Array, steps: Array, r: Array) -> None:
        """r -= Σ steps[c] x_j over the centered columns j = cols[c], in place."""
        loops.csc_subtract(cols, *self.parts, steps, r)
        if self.intercept:
            r += self.v * float(self.mean[cols] @ steps)

    def by_touched_rows(self, S: Array, w: Array, r: Array, fitted: Array) -> Array | None:
        """Return the product of all columns with the residual if the fit touches few rows, else None."""
        if DENSE * loops.touched_entries(fitted, self.rows[0]) > len(self.parts[2]):
            return None
        corr = self.raw.copy()
        loops.csr_subtract(*self.rows, self.v * fitted, corr)
        if self.intercept:
            corr += self.mean * (self.mass * float(self.mean[S] @ w[S]) - float(self.v @ r))
        return corr


class SparseEngine:
    """Working sets on sparse data, certified by looking only at the features that can matter.

    A small set is solved on its Gram matrix, as that of dense data is. In a large one the columns with many
    entries are, and sweeps on the residual go over the others.
    """

    MEMORY = 5

    def __init__(self, design: SparseDesign, w: Array | None = None) -> None:
        self.design = design
        self.w = np.zeros(design.n_features) if w is None else np.array(w, dtype=float)
        self.S = np.flatnonzero(self.w)
        self.sweeps = 0
        self.gram = SparseGram(design)
        self.r = design.residual(self.S, self.w)[0]
        self.known = Correlations(design, self.r)
        self.at, self.trail = np.inf, []  # the present ℓ1 penalty; earlier ones with their answers

    def snapshot(self) -> tuple[Any, ...]:
        """Return where the engine stands, for a checkpoint."""
        own = self.w, self.S, self.r, self.sweeps, self.at, tuple(self.trail)
        return *own, self.gram.snapshot(), self.known.snapshot()

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        """Go on from a snapshot."""
        w, self.S, r, self.sweeps, self.at, trail, gram, known = snapshot
        self.w, self.r, self.trail = np.array(w), np.array(r), list(trail)
        self.gram.restore(gram)
        self.known.restore(known)

    @property
    def corr(self) -> Array:
        """Correlations of all features with the residual, as far as they are looked at."""
        return self.known.values

    def _look(self, S: Array, index: Array, slopes: Array) -> None:
        """Residual afresh, with the correlations of some features; coefficients are zero outside S."""
        self.S = S[self.w[S] != 0.0]
        self.r, fitted = self.design.residual(self.S, self.w)
        corr = self.design.by_touched_rows(self.S, self.w, self.r, fitted)
        if corr is None:
            self.known.move(self.r, index, slopes)
        else:
            self.known.renew(self.r, corr)

    def check(self, pen: Penalized, enough: float = np.inf) -> Check:
        """Return the certificate at the present point.

        A gap above `enough` may be that of the features in use alone: the whole one is larger still.
        """
        r, S = self.r, self.S
        known = (float(r @ r), float(r @ self.design.y), self.design.yy)
        if pen.t > 0.0 and enough < np.inf:
            check = dual_check(*known, self.w[S], self.corr[S], pen)
            if check.gap > enough:
                return check
        self.known.refresh(self.w, pen.t)
        if pen.t == 0.0:
            return dual_check(*known, self.w, self.corr, pen)
        low, high = loops.idle_extremes(self.corr, self.w)
        steepest = high if pen.positive else max(high, -low)  # stands for all features that are not in use
        return dual_check(*known, np.append(self.w[S], 0.0), np.append(self.corr[S], steepest), pen)

    def advance(self, pen: Penalized, goal: float, reach: float | None = None, rounds: int = 1000) -> Check:
        """Choose the working set by correlation, solve on it, look at all features that can matter."""
        cols = self._chosen(pen, 0.999 * pen.t if reach is None else min(reach, pen.t))
        light = self.gram.enter(cols)
        if pen.t != self.at:
            self.at, self.trail = pen.t, [*self.trail[-1:], (self.at, self.S, self.w[self.S])]
            if len(light):
                self._foresee(pen)
        if len(light):
            self._alternate(light, pen, 0.3 * goal, rounds)
            self._look(np.concatenate([self.gram.index, light]), cols[:0], np.empty(0))
        else:
            slopes = self._solve_gram(pen, 0.3 * goal, rounds)
            self._look(self.gram.index, self.gram.index, slopes)
        return self.check(pen)

    def _chosen(self, pen: Penalized, level: float) -> Array:
        """Return the features in use and those whose slopes reach the level, the steepest if there are many."""
        cols, room = np.empty(len(self.w), dtype=np.intp), max(100, 4 * len(self.S))
        cols = cols[: loops.fill_chosen(self.corr, self.w, level, pen.positive, cols)]
        if len(cols) <= room:
            return cols
        score = self.corr[cols] if pen.positive else np.abs(self.corr[cols])
        score[self.w[cols] != 0.0] = np.inf
        return np.sort(cols[np.argpartition(-score, room)[:room]])

    def _solve_gram(self, pen: Penalized, goal: float, rounds: int) -> Array:
        """Solve for the columns of the Gram matrix; return their slopes."""
        gram, index = self.gram, self.gram.index
        w, g = self.w[index], gram.slopes(self.w[index])
        problem = (gram.G, gram.q, self.design.yy, *pen)
        self.sweeps += gram.solver.solve(problem, w, g, goal, rounds, ROUNDING * self.design.yy)
        self.w[index] = w
        return g

    def _alternate(self, light: Array, pen: Penalized, goal: float, rounds: int) -> None:
        """Solve for the columns of the Gram matrix and sweep over the light ones, in turn.

        Columns with many entries are correlated, those with few are nearly orthogonal to each other: what is
        hard is solved together, and few turns are needed. They are extrapolated when that takes long.
        """
        d, r, limit, asked, history = self.design, self.r.copy(), self.sweeps + rounds, goal, []
        cols, fitted = np.concatenate([self.gram.index, light]), self.gram.product(self.w[self.gram.index])
        n_sweeps = 1 + min(4, d.entries(self.gram.index) // max(1, 2 * d.entries(light)))
        while self.sweeps < limit:
            fitted, moved = self._solve_heavy(r, fitted, pen, 0.1 * goal)
            moved = max(moved, self._sweep(light, r, pen, n_sweeps))
            if moved <= asked:
                gap = self._gap(cols, r, pen)
                if gap <= goal or moved == 0.0:
                    break
                asked = moved * max(goal / gap, 0.01)  # both fall as the square of the distance
            history.append(self.w[cols])
            if len(history) > self.MEMORY:
                r, history = self._extrapolate(cols, history, r, pen), []
                fitted = self.gram.product(self.w[self.gram.index])

    def _solve_heavy(self, r: Array, fitted: Array, pen: Penalized, goal: float) -> tuple[Array, float]:
        """Solve for the columns of the Gram matrix, the others fixed, from fitted = Gw; move the residual.

        Returns the new Gw and the largest δ²‖x_j‖².
        """
        index, d = self.gram.index, self.design
        w, g = self.w[index], d.correlate_some(index, r)
        q = g + fitted
        yy = float(r @ r + w @ (g + q))  # of the target less what the others fit
        self.sweeps += self.gram.solver.solve((self.gram.G, q, yy, *pen), w, g, goal, 100, ROUNDING * d.yy)
        moves = w - self.w[index]
        self.w[index] = w
        d.subtract(index, moves, r)
        return q - g, float((moves**2 * (d.curvature[index] + pen.mu)).max(initial=0.0))

    def _sweep(self, cols: Array, r: Array, pen: Penalized, n_sweeps: int) -> float:
        """Sweep over some columns; return the largest δ²‖x_j‖² of the last sweep."""
        d, shift, largest = self.design, 0.0, 0.0
        for _ in range(n_sweeps):
            shift, largest = loops.csc_sweep(
                cols, *d.parts, d.curvature, d.mean, d.mass, *pen, self.w, r, shift
            )
        if shift:
            r -= shift * d.v
        self.sweeps += n_sweeps
        return largest

    def _gap(self, cols: Array, r: Array, pen: Penalized) -> float:
        """Duality gap of the problem that has these columns only."""
        d = self.design
        known = (float(r @ r), float(r @ d.y), d.yy)
        return dual_check(*known, self.w[cols], d.correlate_some(cols, r), pen).gap

    def _extrapolate(self, cols: Array, history: list[Array], r: Array, pen: Penalized) -> Array:
        """Replace the iterate by Anderson's combination of the last ones if that lowers the objective."""
        points = np.array(history)
        mix = anderson(points)
        return r if mix is None else self._try(cols, mix @ points[1:], r, pen)

    def _foresee(self, pen: Penalized) -> None:
        """Go on along the line through the last two answers, if that lowers the objective."""
        (earlier, S, w), (last, _, _) = self.trail if len(self.trail) == 2 else 2 * [(np.inf, 0, 0)]
        if pen.t < last < earlier < np.inf:
            old = np.zeros(len(self.w))
            old[S] = w
            now = self.w[self.S]
            ahead = now + (last - pen.t) / (earlier - last) * (now - old[self.S])
            self.r = self._try(self.S, np.where(ahead * now > 0.0, ahead, 0.0), self.r, pen)

    def _try(self, cols: Array, trial: Array, r: Array, pen: Penalized) -> Array:
        """Take coefficients that lower the objective; return the residual."""
        old = self.w[cols]
        self.w[cols] = np.maximum(trial, 0.0) if pen.positive else trial
        trial_r = self.design.residual(cols, self.w)[0]
        if self._primal(self.w[cols], trial_r, pen) < self._primal(old, r, pen):
            return trial_r
        self.w[cols] = old
        return r

    def _primal(self, w, r, pen):
        return 0.5 * float(r @ r) + pen.t * float(np.abs(w).sum()) + 0.5 * pen.mu * float(w @ w)
