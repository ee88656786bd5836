"""Bayesian personalized ranking: what was clicked before what was not."""

from __future__ import annotations

import time
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, DivergenceError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed
from gnomon.core.ratings import ById, RatingMatrix
from gnomon.core.steps import Report
from gnomon.core.threads import shared
from gnomon.core.validate import COUNT, NOT_NEGATIVE, POSITIVE
from gnomon.recommend.implicit import ImplicitFactors
from gnomon.recommend.passes import grid_size

FEWEST = 64  # users and items in a block


class Work(NamedTuple):
    """Interactions by user, and how they are cut into blocks."""

    runs: ById
    rows: Array  # the user of each
    n_items: int
    user_edges: Array  # where blocks of users begin; as many groups of items are drawn anew for every pass


class Ranked(NamedTuple):
    """Vectors, and the biases of items."""

    U: Array
    V: Array
    biases: Array
    seed: int
    sweeps: int


def one_pass(work: Work, seed: int, sweep: int, *settings: Any) -> tuple[int, int]:
    """Take as many draws as there are interactions; return how many were in order already, and how many left out.

    The items are parted into groups anew, and the two items of a draw are of one group. A block is the interactions of
    some users with a group; blocks that share no users and no group are worked on together, in any order.
    """
    from gnomon.loops.draws import shuffle
    from gnomon.loops.ranking import bpr_steps, deal_users

    runs, size, n = work.runs, len(work.user_edges) - 1, len(work.rows)
    others = np.arange(work.n_items)
    cuts = np.arange(size + 1) * work.n_items // size
    edges = np.zeros((size, size + 1), dtype=np.int64)
    if size == 1:
        users, liked, edges[0, 1] = work.rows, runs.others, n
    else:
        shuffle(others, (seed + 0x9E3779B9 * (sweep + 1)) % 2**63)
        group = np.empty(work.n_items, dtype=np.int32)
        group[others] = np.repeat(np.arange(size), np.diff(cuts))
        users, liked = np.empty_like(work.rows), np.empty_like(runs.others)

        def deal(row: int) -> None:
            low, high = work.user_edges[row : row + 2]
            deal_users(low, high, group, runs.starts, runs.others, edges[row], users, liked)

        shared(deal, range(size))

    def block(place: tuple[int, int]) -> tuple[int, int]:
        row, g = place
        low, high = edges[row, g : g + 2]
        mine, rest = slice(low, high), others[cuts[g] : cuts[g + 1]]
        first = sweep * n + low
        return bpr_steps(seed, first, users[mine], liked[mine], rest, runs.starts, runs.others, *settings)

    found = [
        one
        for shift in range(size)
        for one in shared(block, [(row, (row + shift) % size) for row in range(size)])
    ]
    right, skipped = np.sum(found, axis=0).tolist()
    return right, skipped


class BayesianPersonalizedRanking(ImplicitFactors):
    r"""Factorization that ranks what a user has above what the user has not (Rendle et al., 2009).

    Stochastic ascent of :math:`\sum \ln \sigma(x_{ai} - x_{aj})` over draws of a user a, an item i that a has
    and another j,
    with :math:`x_{ai} = u_a \cdot v_i + b_i`. Good for the order of a list; the scores mean nothing else. Names and
    meaning are those of implicit. Where there are many interactions, i and j are of one of several groups of items,
    which are drawn anew for every pass: threads then work on vectors of their own, and the result does not depend on
    how many there are.

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
        Threads; 0 is as many as there are. The result does not depend on it.
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
    >>> model.recommend(3, N=1)[0].tolist()
    [3]
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
        runs = R.by_user()
        size = max(1, min(grid_size(R.n_ratings), R.n_users // FEWEST, R.n_items // FEWEST))
        edges = np.searchsorted(runs.starts, np.arange(size + 1) * R.n_ratings // size)
        edges[-1] = R.n_users
        return Work(runs, R.users, R.n_items, edges)

    def _start(self, work: Work, rng: np.random.Generator) -> Ranked:
        k, kind = int(self.factors), np.dtype(self.dtype)
        n, m = len(work.runs.starts) - 1, work.n_items
        seed = draw_seed(rng)
        U, V = ((rng.random((size, k)) - 0.5) / k for size in (n, m))
        return Ranked(U.astype(kind), V.astype(kind), np.zeros(m), seed, 0)

    def _step(self, work: Work, state: Ranked) -> tuple[Ranked, Report]:
        begin = time.perf_counter()
        U, V, biases = state.U.copy(), state.V.copy(), state.biases.copy()
        draws = len(work.rows)
        settings = float(self.learning_rate), float(self.regularization), bool(self.verify_negative_samples)
        right, skipped = one_pass(work, state.seed, state.sweeps, *settings, U, V, biases)
        if not np.isfinite(U.sum(dtype=np.float64) + V.sum(dtype=np.float64) + biases.sum()):
            raise DivergenceError(
                f"the vectors left the finite numbers in pass {state.sweeps + 1}; lower learning_rate "
                f"(now {self.learning_rate:g})."
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
