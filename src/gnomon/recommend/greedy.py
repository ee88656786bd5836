"""Greedy factorization: one rank-one component at a time."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed
from gnomon.core.ratings import RatingMatrix
from gnomon.core.steps import Report
from gnomon.core.validate import COUNT, NOT_NEGATIVE
from gnomon.recommend.alternating import Sides, inner, penalty, predictions, sides_of, solve_side, with_values
from gnomon.recommend.factored import Factored


class Work(NamedTuple):
    """Ratings to learn from, and those held back."""

    sides: Sides
    held: Sides | None


class Grown(NamedTuple):
    """Components so far."""

    U: Array
    V: Array
    objectives: Array  # of every component, on the residual it was fitted to
    residuals: Array  # sum of squares left after it
    validation: Array  # mean squared error on what was held back
    best: int  # components to keep
    seed: int


class GreedyFactorization(Factored):
    r"""Factorization that adds one rank-one component after the other to what is left.

    .. math:: \min_{u, v} \sum_D \tfrac12 (r_{ai} - u_a v_i)^2 + \tfrac\lambda2 (\lVert u \rVert^2 + \lVert v
    \rVert^2)

    by alternating over scalars, which needs no linear algebra, and the rank is chosen on the way. The
    training error never
    rises; the joint optimum of `MatrixFactorization` with as many factors is at least as good.

    Parameters
    ----------
    max_factors : int
        Components at most.
    regularization : float
        λ.
    refit : {"none", "full"}
        "full": after each component all are fitted again together, by a sweep of alternating least squares.
    stopping : {"validation", "gain"}
        Stop when the error on held-back ratings has not improved `patience` times, or when a component lowers
        the sum of
        squares by less than a share 1e-3. "gain" holds nothing back.
    patience : int
        As above.
    validation_fraction : float
        Share of ratings held back by "validation".
    inner_iterations : int
        Alternations for a component.
    random_state : int, RandomState, Generator or None
        Which ratings are held back.

    Attributes
    ----------
    user_factors_, item_factors_ : arrays
        The components that were kept.
    component_objectives_, residuals_ : arrays
        Of every component tried: its objective, and the sum of squared residuals after it.
    validation_curve_ : array
        Mean squared error on the held-back ratings after every component.
    users_, items_ : arrays
        Ids, sorted.

    Examples
    --------
    >>> Y = [[5, 3, 4], [4, 2, 5], [1, 5, 2]]
    >>> model = GreedyFactorization(2, stopping="gain", regularization=0.5).fit(Y)
    >>> model.residuals_.round(3)
    array([14.81 ,  1.695])
    """

    _stop: ClassVar[str] = "self"
    _unit: ClassVar[str] = "component"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_factors": [COUNT],
        "regularization": [NOT_NEGATIVE],
        "refit": [StrOptions({"none", "full"})],
        "stopping": [StrOptions({"validation", "gain"})],
        "patience": [COUNT],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "inner_iterations": [COUNT],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        max_factors: int = 20,
        *,
        regularization: float = 0.1,
        refit: str = "none",
        stopping: str = "validation",
        patience: int = 2,
        validation_fraction: float = 0.1,
        inner_iterations: int = 50,
        random_state: Any = None,
    ) -> None:
        self.max_factors = max_factors
        self.regularization = regularization
        self.refit = refit
        self.stopping = stopping
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.inner_iterations = inner_iterations
        self.random_state = random_state

    def _limit(self) -> int:
        return int(self.max_factors)

    def _prepare(self, R: RatingMatrix) -> Any:
        return R

    def _parts(self, R: RatingMatrix, seed: int) -> Work:
        if self.stopping != "validation" or R.n_ratings < 10:
            return Work(sides_of(R), None)
        train, held = R.split(float(self.validation_fraction), random_state=seed)
        if not train.n_ratings or not held.n_ratings:
            return Work(sides_of(R), None)
        return Work(sides_of(train), sides_of(held))

    def _start(self, R: RatingMatrix, rng: np.random.Generator) -> Grown:
        none = np.zeros(0)
        return Grown(np.zeros((R.n_users, 0)), np.zeros((R.n_items, 0)), none, none, none, 0, draw_seed(rng))

    def _step(self, R: RatingMatrix, state: Grown) -> tuple[Grown, Report]:
        work = self._parts(R, state.seed)
        sides, lam = work.sides, float(self.regularization)
        rest = sides.values - predictions(sides.rows, sides.columns, state.U, state.V)
        u, v, objective = self._component(with_values(sides, rest), lam)
        U, V = np.hstack([state.U, u]), np.hstack([state.V, v])
        if self.refit == "full":
            ridge = max(lam, 1e-12)
            U = solve_side(sides.users, V, np.full(len(U), ridge))
            V = solve_side(sides.items, U, np.full(len(V), ridge))
        rest = sides.values - predictions(sides.rows, sides.columns, U, V)
        square = inner(rest, rest)
        validation = state.validation
        best, count = U.shape[1], U.shape[1]
        before = float(state.residuals[-1]) if len(state.residuals) else inner(sides.values, sides.values)
        done = before - square <= 1e-3 * max(before, 1e-300)
        if done and square > before - 1e-12 * max(before, 1.0):
            best = state.U.shape[1] or count
        if work.held is not None:
            miss = work.held.values - predictions(work.held.rows, work.held.columns, U, V)
            validation = np.append(validation, float(np.mean(miss**2)))
            best = int(np.argmin(validation)) + 1
            done = count - best >= int(self.patience)
        fresh = Grown(
            U,
            V,
            np.append(state.objectives, objective),
            np.append(state.residuals, square),
            validation,
            best,
            state.seed,
        )
        info = {"validation_mse": float(validation[-1])} if len(validation) else {}
        return fresh, Report(square, done=bool(done), info=info)

    def _component(self, sides: Sides, lam: float) -> tuple[Array, Array, float]:
        """Return the rank-one fit: u (n, 1), v (m, 1) and its objective; from several starts."""
        ridge = max(lam, 1e-12)
        users, items = np.full(len(sides.users.counts), ridge), np.full(len(sides.items.counts), ridge)
        found = None
        for v in self._first(sides):
            objective = np.inf
            for _ in range(int(self.inner_iterations)):
                u = solve_side(sides.users, v, users)
                v = solve_side(sides.items, u, items)
                rest = sides.values - predictions(sides.rows, sides.columns, u, v)
                value = 0.5 * inner(rest, rest) + penalty(u, users) + penalty(v, items)
                if objective - value <= 1e-14 * abs(value):
                    objective = value
                    break
                objective = value
            if found is None or objective < found[2]:
                found = u, v, objective
        return found

    def _first(self, sides: Sides) -> list[Array]:
        """Return starts for v: all ones, and the items' profile with the user who has most to say."""
        m = len(sides.items.counts)
        ones = np.ones((m, 1))
        runs = sides.users.runs
        sums = np.add.reduceat(np.append(runs.values**2, 0.0), np.minimum(runs.starts[:-1], len(runs.values)))
        sums = np.where(np.diff(runs.starts) > 0, sums, 0.0)
        loudest = int(np.argmax(sums))
        profile = np.full((m, 1), 1e-3)
        low, high = runs.starts[loudest : loudest + 2]
        profile[runs.others[low:high], 0] = runs.values[low:high]
        return [ones, profile]

    def _attributes(self, state: Grown) -> dict[str, Any]:
        best = state.best or state.U.shape[1]
        return {
            "user_factors_": np.ascontiguousarray(state.U[:, :best]),
            "item_factors_": np.ascontiguousarray(state.V[:, :best]),
            "component_objectives_": state.objectives,
            "residuals_": state.residuals,
            "validation_curve_": state.validation,
        }
