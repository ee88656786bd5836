"""Engines of the lasso and the elastic net: which features are looked at, and how the rest is certified."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.threads import in_order, one_blas_thread
from gnomon.linear._support import GramSolver
from gnomon.solvers.coordinate import ROUNDING, Check, Design, FullGramEngine, GramEngine, Penalized

ROOM = 100  # features that may always enter the working set together
PIECE = 2**20  # entries of X in a piece of the product with all columns


class WideDesign(Design):
    """A design whose product with all columns is cut into pieces for the pool."""

    def _times(self, u: Array) -> Array:
        n, p = self.X.shape
        width = max(1, PIECE // max(1, n))
        if p <= width:
            return super()._times(u)
        pieces = (self.X[:, left : left + width] for left in range(0, p, width))
        return np.concatenate(list(in_order(lambda piece: np.asarray(piece.T @ u, dtype=np.float64), pieces)))


class WorkingSetEngine(GramEngine):
    """Working sets on dense, wide data, each solved by sweeps and steps with a kept inverse."""

    def __init__(self, design: Any, w: Array | None = None) -> None:
        super().__init__(design, w)
        self.solver = GramSolver()

    def _look(self) -> None:
        """Residual and correlations of all features, afresh."""
        m = len(self.index)
        self.r = self.design.y - self.w[self.index] @ self.Z[:m]
        self.corr = self.design.correlate(self.r)

    def advance(self, pen: Penalized, goal: float, reach: float | None = None, rounds: int = 1000) -> Check:
        """Widen the working set, solve on it, look at all features; `reach`: correlation that invites."""
        with one_blas_thread():  # products are small: more threads wait for each other
            return self._advance(pen, goal, reach, rounds)

    def _advance(self, pen, goal, reach, rounds):
        if pen.t == 0.0:
            return super().advance(pen, goal, reach, rounds)
        invited = self._invited(pen, pen.t if reach is None else min(reach, pen.t))
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
