"""Engines of the lasso and the elastic net: which features are looked at, and how the rest is certified."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.threads import one_blas_thread
from gnomon.solvers.coordinate import ROUNDING, Check, Design, Penalized, dual_check
from gnomon.solvers.correlations import Correlations
from gnomon.solvers.gram_inverse import GramSolver, Turn

ROOM = 100  # features that may always enter the working set together


class WorkingSetEngine:
    """Working sets on dense, wide data, each solved by sweeps and steps with a kept inverse.

    The Gram matrix of all features that ever entered is kept.
    """

    def __init__(self, design: Design, w: Array | None = None) -> None:
        p = design.n_features
        self.design, self.w = design, np.zeros(p) if w is None else np.array(w, dtype=float)
        self.position = np.full(p, -1)
        self.index = np.empty(0, dtype=np.intp)
        self.entered: list[Array] = []  # the lots in which they came
        self.Z, self.G, self.q = np.empty((0, len(design.y))), np.empty((0, 0)), np.empty(0)
        self.sweeps, self.asked, self.solver = 0, None, GramSolver()
        with one_blas_thread():
            self._enter(np.flatnonzero(self.w))
        self.r = self._residual()
        self.known = Correlations(design, self.r)

    # the working set

    def _enter(self, new: Array) -> None:
        """Add features to the working set and to the Gram matrix."""
        new = new[self.position[new] < 0]
        if not len(new):
            return
        self.entered.append(new)
        m, k = len(self.index), len(new)
        if m + k > len(self.Z):
            self._grow(max(m + k, 2 * m, 64))
        self.Z[m : m + k] = self.design.columns(new)
        cross = self.Z[: m + k] @ self.Z[m : m + k].T
        self.G[: m + k, m : m + k] = cross
        self.G[m : m + k, :m] = cross[:m].T
        self.index = np.concatenate([self.index, new])
        self.q = np.concatenate([self.q, self.Z[m : m + k] @ self.design.y])
        self.position[new] = np.arange(m, m + k)

    def _grow(self, size: int) -> None:
        m = len(self.index)
        Z, G = np.empty((size, len(self.design.y))), np.empty((size, size))
        Z[:m], G[:m, :m] = self.Z[:m], self.G[:m, :m]
        self.Z, self.G = Z, G

    def _invited(self, pen: Penalized, level: float) -> Array:
        """Return the features outside the set whose slopes reach the level, the steepest if there are many."""
        slope = self.corr - pen.mu * self.w
        score = slope if pen.positive else np.abs(slope)
        invited = np.flatnonzero((score >= level) & (self.position < 0))
        room = max(ROOM, 2 * np.count_nonzero(self.w))
        if len(invited) > room:
            invited = invited[np.argpartition(-score[invited], room)[:room]]
        return invited

    # all features

    def _residual(self) -> Array:
        return self.design.y - self.w[self.index] @ self.Z[: len(self.index)]

    def _look(self) -> None:
        """Residual afresh, and correlations of the working set."""
        self.r = self._residual()
        self.known.move(self.r, self.index, self.Z[: len(self.index)] @ self.r)

    @property
    def corr(self) -> Array:
        """Correlations of all features with the residual, as far as they are looked at."""
        return self.known.values

    # solving

    def check(self, pen: Penalized, enough: float = np.inf) -> Check:
        """Return the certificate at the present point."""
        self.known.refresh(self.w, pen.t)
        r = self.r
        return dual_check(float(r @ r), float(r @ self.design.y), self.design.yy, self.w, self.corr, pen)

    def advance(self, pen: Penalized, goal: float, reach: float | None = None, rounds: int = 1000) -> Check:
        """Widen the working set, solve on it, look at all features; `reach`: correlation that invites."""
        with one_blas_thread():  # products are small: more threads wait for each other
            return self._advance(pen, goal, reach, rounds)

    def _advance(self, pen, goal, reach, rounds):
        level = 0.0 if pen.t == 0.0 else pen.t if reach is None else min(reach, pen.t)
        self.known.refresh(self.w, level)
        invited = self._invited(pen, level)
        self._enter(invited)
        w, g = self.w[self.index], self.corr[self.index].copy()
        problem = (self.G, self.q, self.design.yy, *pen)
        asked = self._accuracy(goal, bool(len(invited)))
        self.sweeps += self.solver.solve(problem, w, g, asked, rounds, ROUNDING * self.design.yy)
        self.w[self.index] = w
        self._look()
        return self.check(pen)

    def _accuracy(self, goal: float, widened: bool) -> float:
        """Half the goal; less when the last solution on the same set did not do."""
        self.asked = 0.5 * goal if widened or self.asked is None else min(0.1 * self.asked, 0.5 * goal)
        return self.asked

    def restart(self) -> None:
        """Forget the accuracy asked for the last penalty."""
        self.asked = None

    def snapshot(self) -> tuple[Any, ...]:
        """Return where the engine stands, for a checkpoint: neither columns nor products of them."""
        own = self.w, tuple(self.entered), self.r, self.sweeps, self.asked
        return *own, self.solver.snapshot(), self.known.snapshot()

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        """Go on from a snapshot: features enter in the same lots, so the products have the same bits."""
        w, entered, self.r, self.sweeps, self.asked, solver, known = snapshot
        self.w = np.array(w)
        with one_blas_thread():  # as they first came
            for new in entered:
                self._enter(new)
        self.solver.restore(solver)
        self.known.restore(known)


class MomentEngine:
    """All features at once from their Gram matrix alone: many more rows than columns, or data elsewhere."""

    def __init__(self, G: Array, q: Array, yy: float, w: Array | None = None) -> None:
        self.G, self.q, self.yy = np.ascontiguousarray(G), q, float(yy)
        self.w = np.zeros(len(q)) if w is None else np.array(w, dtype=float)
        self.sweeps, self.asked, self.solver = 0, None, GramSolver()
        self.turn: Turn | None = None  # of a solution under way
        self.corr = q - self.G @ self.w

    def check(self, pen: Penalized, enough: float = np.inf) -> Check:
        """Return the certificate at the present point."""
        yr = self.yy - float(self.w @ self.q)
        rr = max(yr - float(self.w @ self.corr), 0.0)
        return dual_check(rr, yr, self.yy, self.w, self.corr, pen)

    def advance(self, pen: Penalized, goal: float, reach: float | None = None, rounds: int = 1000) -> Check:
        """Solve by sweeps and exact steps; called again, ask for ten times the accuracy."""
        self._ask(goal)
        problem = (self.G, self.q, self.yy, *pen)
        self.sweeps += self.solver.solve(problem, self.w, self.corr, self.asked, rounds, ROUNDING * self.yy)
        return self._look(pen)

    def steps(self, pen: Penalized, goal: float, most: int) -> tuple[list[tuple[float, float]], Check]:
        """Make up to `most` sweeps and exact steps of `advance`; return objective and gap after each, and the check.

        What the sweeps tell of themselves is taken from slopes that they keep; at the end these are made afresh.
        """
        if pen.t == 0.0:
            check = self.advance(pen, goal)
            return [(check.primal, check.gap)], check
        if self.turn is None:
            self._ask(goal)
            self.turn = self.solver.begin(self.w)
        problem, told = (self.G, self.q, self.yy, *pen), []
        while self.turn is not None and len(told) < most:
            given = (self.w, self.corr, self.asked, ROUNDING * self.yy, self.turn, most - len(told))
            made, self.turn = self.solver.step(problem, *given)
            self.sweeps += made
            told += map(tuple, self.solver.told[: max(made, 1)].tolist())
        check = self._look(pen) if self.turn is None else self.check(pen)
        return [*told[:-1], (check.primal, check.gap)] if self.turn is None else told, check

    def _ask(self, goal: float) -> None:
        self.asked = 0.5 * goal if self.asked is None else 0.1 * self.asked

    def _look(self, pen: Penalized) -> Check:
        """Make the slopes afresh and return the certificate."""
        self.corr = self.q - self.G @ self.w
        return self.check(pen)

    def restart(self) -> None:
        """Forget the accuracy asked for the last penalty."""
        self.asked = None

    def snapshot(self) -> tuple[Any, ...]:
        """Return where the engine stands, for a checkpoint."""
        turn = None if self.turn is None else tuple(self.turn)
        return self.w, self.corr, self.sweeps, self.asked, turn, self.solver.snapshot()

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        """Go on from a snapshot."""
        w, corr, self.sweeps, self.asked, turn, solver = snapshot
        self.w, self.corr = np.array(w), np.array(corr)
        self.turn = None if turn is None else Turn(*turn)
        self.solver.restore(solver)
