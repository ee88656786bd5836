"""Coordinate descent on sparse columns: sweeps on the residual, centered without being filled.

A sparse fit Xw is zero on the rows that no chosen column touches. Then Xᵀr = Xᵀy − XᵀXw needs the touched rows
alone, and all features are certified at a small part of the cost of a product with all of X.
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
from gnomon.solvers.support import GramSolver

PIECES = 8  # of the product with all columns, for the threads
ENOUGH = 2**19  # entries from which threads pay
DENSE = 3  # rows with more than a third of all entries: the product with all columns is cheaper


def by_columns(rows: tuple[Array, ...], v: Array, p: int) -> tuple[Array, ...]:
    """Return the columns (indptr, indices, data) of the sparse rows v[i]·x_i."""
    indptr, indices, data = rows
    ends = np.concatenate([[0], np.cumsum(np.bincount(indices, minlength=p))])
    found, cursor = (np.empty(len(data), dtype=indices.dtype), np.empty(len(data))), ends[:-1].copy()

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

    A small set is solved on its Gram matrix, as that of dense data is; a large one by sweeps on the residual,
    with Anderson extrapolation of the iterates.
    """

    MEMORY = 5
    FIRST = 10  # sweeps in which easy problems are solved

    def __init__(self, design: SparseDesign, w: Array | None = None) -> None:
        self.design = design
        self.w = np.zeros(design.n_features) if w is None else np.array(w, dtype=float)
        self.S = np.flatnonzero(self.w)
        self.sweeps, self.solver = 0, GramSolver()
        self.gram: SparseGram | None = SparseGram(design)
        self.r = design.residual(self.S, self.w)[0]
        self.known = Correlations(design, self.r)

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
        if self.gram is not None and self.gram.enter(cols):
            self._look(self.gram.index, self.gram.index, self._solve_gram(pen, goal, rounds))
        else:
            self.gram = None
            self._solve(cols, pen, goal, rounds)
            self._look(cols, cols[:0], np.empty(0))
        return self.check(pen)

    def _solve_gram(self, pen: Penalized, goal: float, rounds: int) -> Array:
        """Solve for the columns of the Gram matrix; return their slopes."""
        gram, index = self.gram, self.gram.index
        w, g = self.w[index], gram.slopes(self.w[index])
        problem = (gram.G, gram.q, self.design.yy, *pen)
        self.sweeps += self.solver.solve(problem, w, g, 0.3 * goal, rounds, ROUNDING * self.design.yy)
        self.w[index] = w
        return g

    def _chosen(self, pen: Penalized, level: float) -> Array:
        """Return the features in use and those whose slopes reach the level, the steepest if there are many."""
        cols, room = np.empty(len(self.w), dtype=np.intp), max(100, 4 * len(self.S))
        cols = cols[: loops.fill_chosen(self.corr, self.w, level, pen.positive, cols)]
        if len(cols) <= room:
            return cols
        score = self.corr[cols] if pen.positive else np.abs(self.corr[cols])
        score[self.w[cols] != 0.0] = np.inf
        return np.sort(cols[np.argpartition(-score, room)[:room]])

    def _solve(self, cols: Array, pen: Penalized, goal: float, rounds: int) -> None:
        """Sweep until the gap over the working set is met; extrapolate when that takes long."""
        d, r, shift, goal, limit = self.design, self.r.copy(), 0.0, 0.3 * goal, self.sweeps + rounds
        about = (cols, *d.parts, d.curvature, d.mean, d.mass)
        first = min(rounds, self.FIRST)
        made, shift, gap, moves = loops.csc_descent(*about, d.v, d.y, *pen, self.w, r, shift, goal, first)
        self.sweeps += made
        while gap > goal and moves and self.sweeps < limit:
            history = [self.w[cols]]
            for _ in range(self.MEMORY):
                shift, _ = loops.csc_sweep(*about, *pen, self.w, r, shift)
                history.append(self.w[cols])
            r, shift = self._extrapolate(cols, history, r, shift, pen)
            made, shift, gap, moves = loops.csc_descent(*about, d.v, d.y, *pen, self.w, r, shift, goal, 1)
            self.sweeps += made + self.MEMORY

    def _extrapolate(self, cols, history, r, shift, pen):
        """Replace the iterate by Anderson's combination of the last ones if that lowers the objective."""
        points = np.array(history)
        mix = anderson(points)
        if mix is None:
            return r, shift
        trial = mix @ points[1:]
        if pen.positive:
            np.maximum(trial, 0.0, out=trial)
        old = points[-1]
        self.w[cols] = trial
        trial_r = self.design.residual(cols, self.w)[0]
        true_r = r - shift * self.design.v if shift else r
        if self._primal(trial, trial_r, pen) < self._primal(old, true_r, pen):
            return trial_r, 0.0
        self.w[cols] = old
        return r, shift

    def _primal(self, w, r, pen):
        return 0.5 * float(r @ r) + pen.t * float(np.abs(w).sum()) + 0.5 * pen.mu * float(w @ w)
