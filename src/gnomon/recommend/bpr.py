"""Bayesian personalized ranking: what was clicked before what was not."""

from __future__ import annotations

import time
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed
from gnomon.core.ratings import ById, RatingMatrix
from gnomon.core.steps import Report
from gnomon.core.validate import COUNT, NOT_NEGATIVE, POSITIVE
from gnomon.recommend.implicit import ImplicitFactors


class Work(NamedTuple):
    """Interactions by user, and the user of each."""

    runs: ById
    rows: Array
    n_items: int


class Ranked(NamedTuple):
    """Vectors, and the biases of items."""

    U: Array
    V: Array
    biases: Array
    seed: int
    sweeps: int


class BayesianPersonalizedRanking(ImplicitFactors):
    r"""Factorization that ranks what a user has above what the user has not (Rendle et al., 2009).

    Stochastic ascent of :math:`\sum \ln \sigma(x_{ai} - x_{aj})` over draws of a user a, an item i that a has
    and another j,
    with :math:`x_{ai} = u_a \cdot v_i + b_i`. Good for the order of a list; the scores mean nothing else.
    Names and
    meaning are those of implicit; draws follow each other in one order, so the result does not depend on
    threads.

    Parameters
    ----------
    factors : int
        Length of the vectors.
    learning_rate : float
        η.
    regularization : float
        λ.
    dtype : float32 or float64
        Of the vectors.
    iterations : int
        Passes of as many draws as there are interactions.
    num_threads : int
        Kept for implicit; the draws follow each other.
    verify_negative_samples : bool
        Whether draws whose other item the user has too are left out.
    random_state : int, RandomState, Generator or None
        Where the randomness comes from.

    Attributes
    ----------
    user_factors_, item_factors_ : arrays of shape (n, factors + 1) and (m, factors + 1)
        The last column is 1 for users and the bias for items, as in implicit.
    trace_ : Trace
        Share of the draws of each pass that were not in order yet; ``trace_["correct"]`` is the share that was.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> clicks = csr_array([[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 0]])
    >>> model = BayesianPersonalizedRanking(4, learning_rate=0.1, iterations=300, random_state=0).fit(clicks)
    >>> model.recommend(3, N=1)[0]
    array([3])
    """

    _stop: ClassVar[str] = "self"
    _unit: ClassVar[str] = "epoch"
    _monotone: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "factors": [COUNT],
        "learning_rate": [POSITIVE],
        "regularization": [NOT_NEGATIVE],
        "dtype": [type, np.dtype, StrOptions({"float64", "float32"})],
        "iterations": [COUNT],
        "num_threads": [Interval(Integral, 0, None, closed="left")],
        "verify_negative_samples": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        factors: int = 100,
        learning_rate: float = 0.01,
        regularization: float = 0.01,
        dtype: Any = np.float32,
        iterations: int = 100,
        num_threads: int = 0,
        verify_negative_samples: bool = True,
        random_state: Any = None,
    ) -> None:
        self.factors = factors
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.dtype = dtype
        self.iterations = iterations
        self.num_threads = num_threads
        self.verify_negative_samples = verify_negative_samples
        self.random_state = random_state

    def _limit(self) -> int:
        return int(self.iterations)

    def _prepare(self, R: RatingMatrix) -> Work:
        if np.dtype(self.dtype) not in (np.float32, np.float64):
            raise DataError(f"dtype must be float32 or float64; got {self.dtype!r}.")
        return Work(R.by_user(), R.users, R.n_items)

    def _start(self, work: Work, rng: np.random.Generator) -> Ranked:
        k, kind = int(self.factors), np.dtype(self.dtype)
        n, m = len(work.runs.starts) - 1, work.n_items
        seed = draw_seed(rng)
        U, V = ((rng.random((size, k)) - 0.5) / k for size in (n, m))
        return Ranked(U.astype(kind), V.astype(kind), np.zeros(m), seed, 0)

    def _step(self, work: Work, state: Ranked) -> tuple[Ranked, Report]:
        from gnomon.loops.factors import bpr_epoch

        begin = time.perf_counter()
        U, V, biases = state.U.copy(), state.V.copy(), state.biases.copy()
        draws = len(work.rows)
        right, skipped = bpr_epoch(
            state.seed,
            state.sweeps * draws,
            draws,
            work.runs.starts,
            work.rows,
            work.runs.others,
            float(self.learning_rate),
            float(self.regularization),
            bool(self.verify_negative_samples),
            U,
            V,
            biases,
        )
        made = max(1, draws - skipped)
        fresh = Ranked(U, V, biases, state.seed, state.sweeps + 1)
        info = {"correct": right / made, "skipped": skipped / draws}
        self._tell(state.sweeps, begin, *info.values())
        return fresh, Report(1.0 - right / made, done=fresh.sweeps >= self._limit(), info=info)

    def _attributes(self, state: Ranked) -> dict[str, Any]:
        ones = np.ones((len(state.U), 1), dtype=state.U.dtype)
        return {
            "user_factors_": np.hstack([state.U, ones]),
            "item_factors_": np.hstack([state.V, state.biases[:, None].astype(state.V.dtype)]),
        }
