"""The solvers of logistic regression behind one face: each begins at given parameters, and each takes steps.

A solver is made once for a fit and holds what its steps share: the rows in pieces that suit it, the Gram matrix of
the rows. What changes from step to step is the state that it returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DivergenceError
from gnomon.core.linalg import Array
from gnomon.solvers import descent, lbfgs, nested, newton, row_space, sparse_newton

LONG_ROWS = 2**23  # bytes of rows of many columns that are one piece of work: their slopes cost to merge
WORTH = 2e-7  # share of the objective that is still worth a step of L-BFGS
RUNAWAY = 1e8  # growth of the objective by a step of gradient descent that is taken for divergence


class Newton:
    """Newton's method with a factorized Hessian."""

    curved = True  # whether the Hessian is made

    def __init__(self, rows: Any, objective: newton.Objective, tol: float) -> None:
        self.rows, self.objective, self.tol = rows, objective, tol

    def begin(self, theta: Array, *, fresh: bool) -> Any:
        """Return the state at theta, or, where it says nothing yet, at the optimum of a sample of many rows."""
        if fresh:
            theta = newton.sampled_start(self.rows, self.objective, theta, self.move)
        return newton.newton_start(self.rows, self.objective, theta, curved=self.curved)

    def move(self, rows: Any, objective: newton.Objective, state: Any) -> Any:
        """Return the state after one iteration on these rows."""
        return newton.newton_step(rows, objective, state)

    def step(self, state: Any) -> Any:
        """Return a better state; one that is good enough for `tol` is bettered while that is cheap."""
        state = self.move(self.rows, self.objective, state)
        while self.violation(state) <= self.tol and self._pays(state):
            state = self.move(self.rows, self.objective, state)
            if state.factor is not None:
                break  # a pass more with the same factor squares the distance
        return state

    def violation(self, state: Any) -> float:
        """Return the largest slope of the mean objective."""
        return newton.violation(self.objective, state.gradient)

    def _pays(self, state: Any) -> bool:
        if isinstance(state, lbfgs.LbfgsState):
            return state.decrement() > WORTH * abs(state.value)
        return state.factor is not None and self.rows.n_rows * self.rows.n_features >= newton.LARGE


class NewtonCG(Newton):
    """Newton's method, its systems solved by conjugate gradients."""

    curved = False

    def move(self, rows: Any, objective: newton.Objective, state: Any) -> Any:
        return newton.newton_cg_step(rows, objective, state, tol=self.tol)


class WideLBFGS(Newton):
    """L-BFGS for many parameters, which turns to Newton's method where it is slow."""

    def __init__(self, rows: Any, objective: newton.Objective, tol: float) -> None:
        super().__init__(rows.in_chunks_of(LONG_ROWS, least=8), objective, tol)

    def begin(self, theta: Array, *, fresh: bool) -> Any:
        return lbfgs.start(self.rows, self.objective, theta)

    def move(self, rows: Any, objective: newton.Objective, state: Any) -> Any:
        return lbfgs.step(rows, objective, state, tol=self.tol)


class NestedLBFGS(WideLBFGS):
    """The same for many rows, begun on growing samples."""

    def __init__(self, rows: Any, objective: newton.Objective, tol: float) -> None:
        Newton.__init__(self, rows, objective, tol)

    def begin(self, theta: Array, *, fresh: bool) -> Any:
        return nested.start(self.rows, self.objective, theta, fresh=fresh)


class RowSpaceLBFGS(WideLBFGS):
    """L-BFGS in the space of rows that are far fewer than the columns."""

    def __init__(self, rows: Any, objective: newton.Objective, tol: float) -> None:
        super().__init__(rows, objective, tol)
        self.space = row_space.space_of(rows, objective)

    def begin(self, theta: Array, *, fresh: bool) -> Any:
        return row_space.start(self.rows, self.space, self.objective, theta)

    def step(self, state: Any) -> Any:
        if isinstance(state, row_space.RowSpaceState) and not state.stuck:
            return row_space.step(self.rows, self.space, self.objective, state, tol=self.tol)
        return super().step(state)


class ProximalNewton(Newton):
    """Newton's method on working sets of columns, for a penalty with corners."""

    def __init__(self, rows: Any, objective: newton.Objective, tol: float, l1: float) -> None:
        super().__init__(rows, objective, tol)
        self.l1 = l1

    def begin(self, theta: Array, *, fresh: bool) -> Any:
        return sparse_newton.start(self.rows, self.objective, theta, self.l1)

    def step(self, state: Any) -> Any:
        return sparse_newton.step(self.rows, self.objective, state, self.l1, tol=self.tol)

    def violation(self, state: Any) -> float:
        """Return the largest distance of a slope from what the penalty allows."""
        return float(state.violation)


class PlainLBFGS(Newton):
    """L-BFGS as a textbook has it, a line search a step."""

    def begin(self, theta: Array, *, fresh: bool) -> Any:
        return descent.at(self._function, theta)

    def step(self, state: Any) -> Any:
        if self.violation(state) <= self.tol:
            return state  # a warm start: a first step, without memory, is rough
        return descent.lbfgs_step(self._function, state, descent.Options())

    def _function(self, theta: Array) -> Any:
        return newton.evaluate(self.rows, self.objective, theta)


class GradientDescent(PlainLBFGS):
    """Steps along the slope of the objective over `scale`."""

    def __init__(self, rows: Any, objective: newton.Objective, tol: float, rate: Any, scale: float) -> None:
        super().__init__(rows, objective, tol)
        self.rate, self.scale = rate if callable(rate) else descent.Constant(rate), scale

    def step(self, state: Any) -> Any:
        eta = self.rate(state.k) / self.scale
        new = descent.gradient_step(self._function, state, descent.Options(rate=lambda k: eta))
        if not np.isfinite(new.value) or new.value > RUNAWAY * max(1.0, state.value):
            raise DivergenceError("gradient descent runs away; lower learning_rate, or scale the columns.")
        return new
