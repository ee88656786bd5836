"""Coordinate descent on sparse columns: sweeps on the residual, centered without being filled."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array
from gnomon.loops import coordinate as loops
from gnomon.solvers.coordinate import Check, Design, Penalized, anderson, dual_check


class SparseDesign(Design):
    """The same for CSR data: columns stay sparse, centering is implicit."""

    def __init__(self, X: Any, y: Array, weight: Array | None, intercept: bool) -> None:
        csc = sparse.csc_array(X, dtype=np.float64)
        if weight is not None:
            csc = sparse.csc_array(
                (csc.data * np.sqrt(weight)[csc.indices], csc.indices, csc.indptr), csc.shape
            )
        self.csc = csc
        self.parts = (csc.indptr.astype(np.int64), csc.indices, csc.data)
        self.v = np.ones(csc.shape[0]) if weight is None else np.sqrt(weight)
        super().__init__(X, y, weight, intercept)
        squares = np.empty(csc.shape[1])
        loops.csc_squares(*self.parts, np.ones(csc.shape[0]), squares)
        self.curvature = np.maximum(squares - self.mass * self.mean**2, 0.0)
        self.curvature[self.curvature <= 1e-14 * squares] = 0.0  # constant columns

    def correlate(self, r: Array) -> Array:
        """Return the product of every centered column with r."""
        corr = np.empty(self.n_features)
        loops.csc_dot(*self.parts, r, corr)
        return corr - self.mean * float(self.v @ r) if self.intercept else corr


class SparseEngine:
    """Working sets on sparse data: sweeps on the residual, with Anderson extrapolation of the iterates."""

    MEMORY = 5

    def __init__(self, design: SparseDesign, w: Array | None = None) -> None:
        self.design = design
        self.w = np.zeros(design.n_features) if w is None else np.array(w, dtype=float)
        self.sweeps, self.size = 0, 100
        self._look()

    def _residual(self, S: Array) -> Array:
        """Residual of the present coefficients, which are zero outside S."""
        d, w = self.design, self.w
        fitted = np.zeros(len(d.y))
        loops.csc_combine(S, *d.parts, w, fitted)
        return d.y - fitted + d.v * float(d.mean[S] @ w[S]) if d.intercept else d.y - fitted

    def _look(self) -> None:
        self.r = self._residual(np.flatnonzero(self.w))
        self.corr = self.design.correlate(self.r)

    def check(self, pen: Penalized) -> Check:
        """Return the certificate at the present point."""
        r = self.r
        return dual_check(float(r @ r), float(r @ self.design.y), self.design.yy, self.w, self.corr, pen)

    def advance(self, pen: Penalized, goal: float, reach: float | None = None, rounds: int = 1000) -> Check:
        """Choose the working set by correlation, solve on it, look at all features."""
        slope = self.corr - pen.mu * self.w
        score = slope if pen.positive else np.abs(slope)
        level = 0.999 * pen.t if reach is None else min(reach, pen.t)
        chosen = (score >= level) | (self.w != 0.0)
        cols = np.flatnonzero(chosen)
        room = max(100, 4 * np.count_nonzero(self.w))
        if len(cols) > room:
            score = np.where(self.w != 0.0, np.inf, score)
            cols = np.sort(cols[np.argpartition(-score[cols], room)[:room]])
        self._solve(cols, pen, goal, rounds)
        self._look()
        return self.check(pen)

    def _solve(self, cols, pen, goal, rounds):
        """Sweep until a bound on the gap over the working set is met."""
        d, t = self.design, np.full(self.design.n_features, pen.t)
        r, shift, history = self.r.copy(), 0.0, [self.w[cols].copy()]
        for turn in range(max(1, rounds)):
            shift, largest = loops.csc_sweeps(
                cols, *d.parts, d.curvature, d.mean, d.mass, t, pen.mu, pen.positive, self.w, r, shift, 1
            )
            self.sweeps += 1
            history.append(self.w[cols].copy())
            if len(history) == self.MEMORY + 1:
                r, shift = self._extrapolate(cols, history, r, shift, pen)
                history = [self.w[cols].copy()]
            if largest == 0.0 or (
                turn % 5 == 4 and self._inner_gap(cols, r - shift * d.v, pen) <= 0.3 * goal
            ):
                break

    def _inner_gap(self, cols, r, pen):
        d = self.design
        corr = d.csc[:, cols].T @ r if len(cols) < 200 else self._some(cols, r)
        corr = corr - d.mean[cols] * float(d.v @ r) if d.intercept else corr
        return dual_check(float(r @ r), float(r @ d.y), d.yy, self.w[cols], corr, pen).gap

    def _some(self, cols, r):
        out = np.empty(len(cols))
        loops.csc_some(cols, *self.design.parts, r, out)
        return out

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
        trial_r = self._residual(cols)
        true_r = r - shift * self.design.v if shift else r
        if self._primal(trial, trial_r, pen) < self._primal(old, true_r, pen):
            return trial_r, 0.0
        self.w[cols] = old
        return r, shift

    def _primal(self, w, r, pen):
        return 0.5 * float(r @ r) + pen.t * float(np.abs(w).sum()) + 0.5 * pen.mu * float(w @ w)
