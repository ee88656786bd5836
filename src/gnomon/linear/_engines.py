"""Engines of the lasso and the elastic net: which features are looked at, and how the rest is certified."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.threads import in_order, one_blas_thread
from gnomon.linear._support import GramSolver
from gnomon.linear.moments import is_by_columns
from gnomon.loops import coordinate as loops
from gnomon.solvers.coordinate import ROUNDING, Check, Design, FullGramEngine, GramEngine, Penalized

ROOM = 100  # features that may always enter the working set together
PIECE = 2**19  # entries of X in a piece of the product with all columns
ANCHORS = 40  # residuals at which correlations were computed that are kept


class WideDesign(Design):
    """A design whose product with all columns is cut into pieces for the pool."""

    def _times(self, u: Array) -> Array:
        n, p = self.X.shape
        width = max(1, PIECE // max(1, n))
        if p <= width:
            return super()._times(u)
        pieces = (self.X[:, left : left + width] for left in range(0, p, width))
        return np.concatenate(list(in_order(lambda piece: np.asarray(piece.T @ u, dtype=np.float64), pieces)))

    def correlate_some(self, cols: Array, r: Array) -> Array:
        """Return the product of some centered columns with r; X is in column order."""
        u = r if self.root is None else self.root * r
        found, step = np.empty(len(cols)), max(64, PIECE // max(1, len(u)))
        parts = [slice(left, left + step) for left in range(0, len(cols), step)]
        for _ in in_order(lambda part: loops.column_dots(self.X, cols[part], u, found[part]), parts):
            pass
        return found - self.mean[cols] * float(u.sum()) if self.intercept else found

    def has_columns(self) -> bool:
        """Tell whether single columns can be read quickly."""
        return is_by_columns(self.X) and self.X.dtype == np.float64

    def lengths(self) -> Array:
        """Return what no norm of a centered column exceeds."""
        squares = np.empty(self.n_features)
        loops.column_squares(self.X, np.ones(len(self.y)) if self.root is None else self.root**2, squares)
        return np.sqrt(squares)


class WorkingSetEngine(GramEngine):
    """Working sets on dense, wide data, each solved by sweeps and steps with a kept inverse.

    The correlation of a feature with the residual cannot have changed by more than its length times the
    distance of the residual from where it was when the correlation was computed. Features that this bound
    keeps below the threshold are not looked at.
    """

    anchors: tuple[Array, ...] = ()  # residuals at which correlations were computed; the last is the present
    lengths: Array | None = None

    def __init__(self, design: Any, w: Array | None = None) -> None:
        self.solver = GramSolver()
        super().__init__(design, w)

    def _look(self) -> None:
        """Residual afresh, and correlations of the working set; of all features at the first time, and where
        columns are scattered.
        """
        Z = self.Z[: len(self.index)]
        self.r = self.design.y - self.w[self.index] @ Z
        if self.corr is None or not self.design.has_columns():
            return self._look_at_all()
        self.anchors = (*self.anchors, self.r)
        self.corr[self.index] = Z @ self.r
        self.stamp[self.index] = len(self.anchors) - 1

    def _look_at_all(self) -> None:
        self.corr, self.anchors = self.design.correlate(self.r), (self.r,)
        self.stamp = np.zeros(len(self.corr), dtype=np.intp)

    def _refresh(self, level: float) -> None:
        """Look at the features whose correlations may have reached the level."""
        now = len(self.anchors) - 1
        if not now:
            return
        if now > ANCHORS:
            return self._look_at_all()
        self.lengths = self.design.lengths() if self.lengths is None else self.lengths
        away = np.array([np.linalg.norm(self.r - anchor) for anchor in self.anchors]) * (1.0 + 1e-9)
        cols = np.empty(len(self.corr), dtype=np.intp)
        cols = cols[: loops.fill_stale(self.corr, self.lengths, away, self.stamp, self.w, level, cols)]
        if 2 * len(cols) > len(self.corr):
            return self._look_at_all()
        self.corr[cols] = self.design.correlate_some(cols, self.r)
        self.stamp[cols] = now

    def check(self, pen: Penalized) -> Check:
        """Return the certificate at the present point."""
        self._refresh(pen.t)
        return super().check(pen)

    def advance(self, pen: Penalized, goal: float, reach: float | None = None, rounds: int = 1000) -> Check:
        """Widen the working set, solve on it, look at all features; `reach`: correlation that invites."""
        with one_blas_thread():  # products are small: more threads wait for each other
            return self._advance(pen, goal, reach, rounds)

    def _advance(self, pen, goal, reach, rounds):
        level = 0.0 if pen.t == 0.0 else pen.t if reach is None else min(reach, pen.t)
        self._refresh(level)
        if pen.t == 0.0:
            return super().advance(pen, goal, reach, rounds)
        invited = self._invited(pen, level)
        self._enter(invited)
        index = self.index
        w, g = self.w[index], self.corr[index].copy()
        problem = (self.G, self.q, self.design.yy, *pen)  # contiguous: of G only [:m, :m] counts
        asked = self._accuracy(goal, bool(len(invited)))
        self.sweeps += self.solver.solve(problem, w, g, asked, rounds, ROUNDING * self.design.yy)
        self.w[index] = w
        self._look()
        return self.check(pen)

    def _invited(self, pen: Penalized, level: float) -> Array:
        """Return the features outside the set whose slopes reach the level, the steepest if there are many."""
        slope = self.corr - pen.mu * self.w
        score = slope if pen.positive else np.abs(slope)
        invited = np.flatnonzero((score >= level) & (self.position < 0))
        room = max(ROOM, 2 * np.count_nonzero(self.w))
        if len(invited) > room:
            invited = invited[np.argpartition(-score[invited], room)[:room]]
        return invited


class MomentEngine(FullGramEngine):
    """All features at once from their Gram matrix, solved in the same way."""

    def __init__(self, G: Array, q: Array, yy: float, w: Array | None = None) -> None:
        super().__init__(G, q, yy, w)
        self.solver = GramSolver()

    def advance(self, pen: Penalized, goal: float, reach: float | None = None, rounds: int = 1000) -> Check:
        """Solve by sweeps and exact steps; called again, ask for ten times the accuracy."""
        if pen.t == 0.0:
            return super().advance(pen, goal, reach, rounds)
        self.asked = 0.5 * goal if self.asked is None else 0.1 * self.asked
        problem = (self.G, self.q, self.yy, *pen)
        self.sweeps += self.solver.solve(problem, self.w, self.corr, self.asked, rounds, ROUNDING * self.yy)
        self.corr = self.q - self.G @ self.w
        return self.check(pen)
