"""Matrix factorization: a short vector for every user and every item."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.ids import shown
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.randomness import draw_seed
from gnomon.core.ratings import RatingMatrix
from gnomon.core.steps import Report
from gnomon.core.validate import COUNT, NOT_NEGATIVE, POSITIVE, warn
from gnomon.recommend.alternating import (
    Sides,
    inner,
    penalty,
    predictions,
    ridge_of,
    sides_of,
    solve_side,
)
from gnomon.recommend.factored import finite_factors
from gnomon.recommend.normal_equations import Line, dealt_out, solve_by_sums
from gnomon.recommend.passes import Factors, Grid, coordinate_sweep, grid_of, history_of, sgd_sweep
from gnomon.recommend.restarts import SeveralStarts

__all__ = ["MatrixFactorization"]


class Work(NamedTuple):
    """What a fit works on."""

    sides: Sides
    ridge_users: Array
    ridge_items: Array
    memory: dict[str, Any]  # what earlier starts have left
    grid: Grid | None  # blocks for "sgd"
    rows: Any  # the ratings on a cluster, for "als"


class MatrixFactorization(SeveralStarts):
    r"""Low-rank factorization of ratings.

    .. math:: J(U, V) = \sum_{(a,i) \in D} \tfrac12 (Y_{ai} - u_a \cdot v_i)^2
              + \tfrac\lambda2 \Big(\sum_a \lVert u_a \rVert^2 + \sum_i \lVert v_i \rVert^2\Big)

    Alternating least squares minimizes over all users at once, each a small ridge regression, then over all
    items: J
    never rises, and every half-step is exact. It is the MAP estimate of probabilistic matrix factorization
    (Salakhutdinov and Mnih, 2008), u, v ~ N(0, τ⁻¹ I), Y ~ N(u·v, σ²), for λ = τσ². J has saddles: zero and
    equal starts
    stay degenerate, several starts help, and `NuclearNormCompletion` tells how far the best may be. For
    clicks and
    counts use `AlternatingLeastSquares`.

    Parameters
    ----------
    factors : int
        Length k of the vectors.
    regularization : float
        λ. With 0, every user and item needs at least k ratings.
    solver : {"als", "sgd", "cd"}
        Alternating least squares; stochastic gradient steps over the ratings in a seeded order; coordinate
        descent, one factor after the other on the residuals (CCD++, Yu et al., 2012).
    regularization_scaling : {"auto", "row", "rating"}
        Penalize a vector once, or once for every rating it has. "auto" is "row", for "sgd" "rating". Solvers have
        the same objective when they agree on this.
    biases : bool
        Whether to add μ + b_a + b_i, μ the mean of all ratings and the biases penalized like the vectors.
    nonnegative : bool
        Whether factors must not be negative ("cd" only).
    implicit : bool
        Whether having rated an item at all says something of the user (SVD++, Koren, 2008; "sgd" with biases only):
        u_a + |D_a|^(-1/2) Σ h_j over the items j that a has rated.
    iterations : int
        Sweeps at most.
    tol : float
        Stop when a sweep changes J by less, relative to J.
    init : "normal", or pair of arrays, or array
        N(0, 1)/√k for items ("sgd": 0.1 N(0, 1) for both); (user_factors, item_factors); item factors alone.
    n_init : int
        Starts.
    combine : {"best", "average"}
        Keep the start of lowest J, or the mean of all predictions.
    learning_rate : float
        η of "sgd".
    lr_schedule : {"constant", "inverse"}
        Or η / (1 + t) in the t-th sweep (from 0).
    batch : {"shuffled", "sequential"}
        Order in which "sgd" meets the ratings: anew every sweep (many ratings block by block, on several threads),
        or always by user and item.
    rating_options : sequence of numbers, optional
        What ``predict(..., round=True)`` rounds to; by default the ratings that occur.
    noise_variance, prior_precision : float, optional
        σ² and τ; given together they set λ = τσ².
    random_state : int, RandomState, Generator or None
        Where the randomness comes from. The order of the ratings does not matter to it.
    dtype : float64 or float32
        Of the factors.

    Attributes
    ----------
    user_factors_, item_factors_ : arrays of shape (n, k) and (m, k)
        Also found as ``user_factors`` and ``item_factors``.
    user_bias_, item_bias_ : arrays
    history_factors_ : array
        h of SVD++; zeros else.
    objective_ : float
        J. The trace of "sgd" has the squared errors that were met on the way instead of those at the end of a sweep.
    half_steps_ : array of shape (n_iter_, 2)
        J after the users' and after the items' half of every sweep ("als"; else J twice).
    runs_ : array
        J of every start.
    n_parameters_ : int
        nk + mk − k², the degrees of freedom of a rank-k matrix, and the biases.
    users_, items_ : arrays
        Ids, sorted.
    ratings_ : CSR array
        What was learned from.

    Examples
    --------
    >>> Y = [[5, np.nan, 7], [1, 2, np.nan]]
    >>> model = MatrixFactorization(
    ...     1, regularization=1.0, init=[[2.0], [7.0], [8.0]], iterations=500, tol=1e-12
    ... )
    >>> model.fit(Y).predict_matrix().round(3)
    array([[4.364, 2.712, 6.199],
           [1.251, 0.778, 1.777]])
    """

    _stop: ClassVar[str] = "self"
    _unit: ClassVar[str] = "sweep"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "factors": [COUNT],
        "regularization": [NOT_NEGATIVE],
        "solver": [StrOptions({"als", "sgd", "cd"})],
        "regularization_scaling": [StrOptions({"auto", "row", "rating"})],
        "biases": ["boolean"],
        "nonnegative": ["boolean"],
        "implicit": ["boolean"],
        "iterations": [COUNT],
        "tol": [NOT_NEGATIVE],
        "init": [StrOptions({"normal"}), "array-like", tuple],
        "n_init": [COUNT],
        "combine": [StrOptions({"best", "average"})],
        "learning_rate": [POSITIVE],
        "lr_schedule": [StrOptions({"constant", "inverse"})],
        "batch": [StrOptions({"shuffled", "sequential"})],
        "rating_options": ["array-like", None],
        "noise_variance": [POSITIVE, None],
        "prior_precision": [POSITIVE, None],
        "random_state": ["random_state"],
        "dtype": [type, np.dtype, StrOptions({"float64", "float32"})],
    }

    def __init__(
        self,
        factors: int = 10,
        *,
        regularization: float = 0.1,
        solver: str = "als",
        regularization_scaling: str = "auto",
        biases: bool = False,
        nonnegative: bool = False,
        implicit: bool = False,
        iterations: int = 50,
        tol: float = 1e-4,
        init: Any = "normal",
        n_init: int = 1,
        combine: str = "best",
        learning_rate: float = 0.005,
        lr_schedule: str = "constant",
        batch: str = "shuffled",
        rating_options: Any = None,
        noise_variance: float | None = None,
        prior_precision: float | None = None,
        random_state: Any = None,
        dtype: Any = np.float64,
    ) -> None:
        self.factors = factors
        self.regularization = regularization
        self.solver = solver
        self.regularization_scaling = regularization_scaling
        self.biases = biases
        self.nonnegative = nonnegative
        self.implicit = implicit
        self.iterations = iterations
        self.tol = tol
        self.init = init
        self.n_init = n_init
        self.combine = combine
        self.learning_rate = learning_rate
        self.lr_schedule = lr_schedule
        self.batch = batch
        self.rating_options = rating_options
        self.noise_variance = noise_variance
        self.prior_precision = prior_precision
        self.random_state = random_state
        self.dtype = dtype

    # the settings

    def _read_ratings(self, X: Any, y: Any = None) -> RatingMatrix:
        R = super()._read_ratings(X, y).take(slice(None))  # ours to keep notes on
        if self.nonnegative and self.solver != "cd":
            raise DataError(f"nonnegative=True needs solver='cd'; solver is {self.solver!r}.")
        if self.implicit and not (self.solver == "sgd" and self.biases):
            raise DataError("implicit=True (SVD++) needs solver='sgd' and biases=True.")
        if (self.noise_variance is None) != (self.prior_precision is None):
            raise DataError("noise_variance and prior_precision set regularization together; give both.")
        if np.dtype(self.dtype) not in (np.float64, np.float32):
            raise DataError(f"dtype must be float64 or float32; got {self.dtype!r}.")
        return R

    def _lambda(self) -> float:
        if self.noise_variance is not None and self.prior_precision is not None:
            return float(self.noise_variance) * float(self.prior_precision)
        return float(self.regularization)

    def _scaling(self) -> str:
        auto = "rating" if self.solver == "sgd" else "row"
        return auto if self.regularization_scaling == "auto" else self.regularization_scaling

    def _limit(self) -> int:
        return int(self.iterations)

    # the hooks

    def _prepare(self, R: RatingMatrix) -> Work:
        sides, lam = sides_of(R), self._lambda()
        ridge = [ridge_of(side, lam, self._scaling()) for side in (sides.users, sides.items)]
        if lam == 0 and self.solver == "als":
            self._check_counts(R, sides)
        blocks = self.solver == "sgd" and self.batch == "shuffled" and not self.implicit
        rows = dealt_out(R) if self.solver == "als" else None
        return Work(sides, *ridge, {}, grid_of(sides) if blocks else None, rows)

    def _check_counts(self, R: RatingMatrix, sides: Sides) -> None:
        for what, side, names in (
            ("user", sides.users, R.user_names),
            ("item", sides.items, R.item_names),
        ):
            few = np.flatnonzero((side.counts > 0) & (side.counts < self.factors))
            if len(few):
                raise DegenerateError(
                    f"{what} {shown(names[few[0]])} has {int(side.counts[few[0]])} ratings, fewer than factors="
                    f"{self.factors}; raise regularization above 0 or lower factors."
                )

    def _start(self, work: Work, rng: np.random.Generator) -> Factors:
        n, m, k = len(work.sides.users.counts), len(work.sides.items.counts), int(self.factors)
        seed = draw_seed(rng)
        U, V = self._first_factors(n, m, k, rng)
        if self.nonnegative:
            U, V = np.abs(U), np.abs(V)
        if self.solver == "cd" and isinstance(self.init, str):
            U = np.zeros((n, k))
        H = np.zeros((m, k)) if self.implicit else np.zeros((0, k))
        kind = np.dtype(self.dtype)
        return Factors(
            np.ascontiguousarray(U, dtype=kind),
            np.ascontiguousarray(V, dtype=kind),
            np.zeros(n),
            np.zeros(m),
            H,
            np.zeros((0, 2)),
            seed,
            0,
            np.inf,
            np.array(work.memory.get("runs", [])),
            work.memory.get("earlier", (np.zeros((n, 0)), np.zeros((m, 0)), np.zeros(n), np.zeros(m))),
        )

    def _first_factors(self, n: int, m: int, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
        if isinstance(self.init, str):
            if self.solver == "sgd":
                return 0.1 * rng.normal(size=(n, k)), 0.1 * rng.normal(size=(m, k))
            return np.zeros((n, k)), rng.normal(size=(m, k)) / np.sqrt(k)
        pair = self.init if isinstance(self.init, tuple) else (np.zeros((n, k)), self.init)
        U, V = finite_factors(pair, np.float64)
        if U.shape != (n, k) or V.shape != (m, k):
            raise DataError(
                f"init must hold item factors of shape ({m}, {k}), or a pair with user factors ({n}, {k}) first."
            )
        return U, V

    def _step(self, work: Work, state: Factors) -> tuple[Factors, Report]:
        first: float | None = None
        met: float | None
        if self.solver == "als":
            fresh, first, met = self._als(work, state)
        else:
            fresh, met = self._pass(work, state)
        J, squares = self._objective(work, fresh, met)
        change = abs(state.objective - J)
        fresh = fresh._replace(
            half_steps=np.vstack([state.half_steps, [J if first is None else first, J]]),
            sweeps=state.sweeps + 1,
            objective=J,
        )
        done = bool(change <= self.tol * max(abs(J), 1e-300))
        rmse = float(np.sqrt(squares / len(work.sides.values)))
        return fresh, Report(J, done=done, change=change, info={"rmse": rmse})

    def _pass(self, work: Work, state: Factors) -> tuple[Factors, float | None]:
        if self.solver == "cd":
            return coordinate_sweep(work, state, self.nonnegative, self.biases), None
        rate = float(self.learning_rate)
        rate = rate / (1 + state.sweeps) if self.lr_schedule == "inverse" else rate
        return sgd_sweep(work, state, rate, self._lambda(), self._scaling(), self.batch, self.biases)

    def _als(self, work: Work, state: Factors) -> tuple[Factors, float, float]:
        """Users, then items; return J after the users, and the squared errors after the items."""
        U, bias, met = self._half(work, 0, state.V, state.item_bias)
        middle = state._replace(U=U, user_bias=bias)
        first = self._objective(work, middle, met)[0]
        V, bias, met = self._half(work, 1, U, bias)
        return middle._replace(V=V, item_bias=bias), first, met

    def _half(self, work: Work, axis: int, other: Array, known: Array) -> tuple[Array, Array, float]:
        """Return vectors, biases and squared errors; with biases a vector has one entry more, which meets a one."""
        sides = work.sides
        side = (sides.users, sides.items)[axis]
        ridge = (work.ridge_users, work.ridge_items)[axis]
        if self.biases:
            other = np.hstack([other, np.ones((len(other), 1), dtype=other.dtype)])
        if work.rows is not None:
            mean = sides.mean if self.biases else 0.0
            found, errors = solve_by_sums(work.rows, axis, other, ridge, target=Line(-mean, 1.0), bias=known)
        else:
            rest = side.runs.values - sides.mean - known[side.runs.others] if self.biases else None
            errors = np.empty(len(ridge))
            found = solve_side(side, other, ridge, targets=rest, what=("user", "item")[axis], errors=errors)
        if not self.biases:
            return found, np.zeros(len(ridge)), float(errors.sum())
        return np.ascontiguousarray(found[:, :-1]), found[:, -1].astype(np.float64), float(errors.sum())

    def _objective(self, work: Work, state: Factors, met: float | None = None) -> tuple[float, float]:
        """Return J and the sum of squared residuals, where they are not known yet; of "sgd" those met on the way."""
        squares = self._squares(work, state) if met is None else met
        J = penalty(state.U, work.ridge_users) + penalty(state.V, work.ridge_items)
        if self.biases:
            J += 0.5 * inner(work.ridge_users, state.user_bias**2)
            J += 0.5 * inner(work.ridge_items, state.item_bias**2)
        if self.implicit:
            J += penalty(state.H, work.ridge_items)
        return J + 0.5 * squares, squares

    def _squares(self, work: Work, state: Factors) -> float:
        sides = work.sides
        U = state.U + history_of(work, state.H) if self.implicit else state.U
        rest = sides.values - predictions(sides.rows, sides.columns, U, state.V)
        if self.biases:
            rest -= sides.mean + state.user_bias[sides.rows] + state.item_bias[sides.columns]
        return inner(rest, rest)

    def _finish(self, work: Work, state: Factors) -> Factors:
        if self.solver == "sgd":
            state = state._replace(objective=self._objective(work, state)[0])
        if self.implicit:
            state = state._replace(U=state.U + history_of(work, state.H))
        return self._with_starts(work, state)

    def _attributes(self, state: Factors) -> dict[str, Any]:
        n, m, k = len(state.U), len(state.V), state.U.shape[1]
        return {
            "user_factors_": state.U,
            "item_factors_": state.V,
            "user_bias_": state.user_bias,
            "item_bias_": state.item_bias,
            "history_factors_": state.H,
            "objective_": float(state.objective),
            "half_steps_": state.half_steps,
            "runs_": np.append(state.runs, state.half_steps[-1, 1] if len(state.half_steps) else np.inf),
            "n_parameters_": n * k + m * k - k * k + (n + m if self.biases else 0),
        }

    def _warn_not_converged(self, run: Any) -> None:
        if self.solver != "sgd" and self.tol:
            warn(
                f"MatrixFactorization did not converge in iterations={self.iterations} sweeps to tol={self.tol:g}; "
                "raise iterations or tol.",
                ConvergenceWarning,
            )
