"""Implicit feedback: alternating least squares over everything, seen and unseen."""

from __future__ import annotations

import time
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError
from gnomon.core.ids import codes_of
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import draw_seed
from gnomon.core.ratings import ById, RatingMatrix
from gnomon.core.steps import Report
from gnomon.core.threads import one_blas_thread, shared
from gnomon.core.validate import COUNT, NOT_NEGATIVE, POSITIVE
from gnomon.recommend.alternating import Side, as_ratings, predictions, side_of, solve_side
from gnomon.recommend.factored import finite_factors
from gnomon.recommend.implicit import ImplicitFactors
from gnomon.recommend.newcomers import as_rows, merged
from gnomon.recommend.normal_equations import Line, dealt_out, solve_by_sums


class Work(NamedTuple):
    """Interactions both ways, with their confidences."""

    users: Side
    items: Side
    rows: Array
    confidence: Array  # by user
    spread: Any  # the interactions on a cluster


class Factors(NamedTuple):
    """Vectors of users and items."""

    U: Array
    V: Array
    sweeps: int


class AlternatingLeastSquares(ImplicitFactors):
    r"""Factorization of clicks and counts (Hu, Koren and Volinsky, 2008).

    .. math:: \sum_{a, i} c_{ai} (p_{ai} - u_a \cdot v_i)^2 + \lambda \Big(\sum_a \lVert u_a \rVert^2 + \sum_i
    \lVert v_i \rVert^2\Big)

    with preference p = 1 for what is stored and 0 for the rest, confidence c from the counts, and 1 for the rest. A
    row costs no more than its stored entries, because :math:`V^T V` is shared. Names and meaning are those of
    implicit. Interactions on Dask (a frame of user, item and count) are solved exactly, by sums over its partitions.

    Parameters
    ----------
    factors : int
        Length of the vectors.
    regularization : float
        λ.
    alpha : float
        Of the confidence.
    dtype : float32 or float64
        Of the factors.
    use_native : bool
        Kept for implicit.
    use_cg : bool
        Whether to take a few steps of conjugate gradients from the vectors as they are (Takács et al., 2011)
        instead of solving exactly.
    iterations : int
        Sweeps.
    calculate_training_loss : bool
        Whether ``trace_`` has the objective of every sweep; it costs about as much as a conjugate-gradient step.
    num_threads : int
        Threads; 0 is as many as there are. The result does not depend on it.
    random_state : int, RandomState, Generator or None
        Where the randomness comes from.
    cg_steps : int
        Steps of conjugate gradients.
    confidence : {"scaled", "one_plus"}
        c = alpha · count as in implicit, or 1 + alpha · count as in the paper.
    init : pair of arrays, optional
        User and item factors to start from.

    Attributes
    ----------
    user_factors_, item_factors_ : arrays
        Also found as ``user_factors`` and ``item_factors``.
    users_, items_ : arrays
        Ids, sorted; for a sparse matrix these are row and column numbers (int32, as in implicit).
    ratings_ : CSR array
        The interactions.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> clicks = csr_array([[1.0, 0, 2, 0], [0, 3, 0, 1], [1, 0, 1, 0]])
    >>> model = AlternatingLeastSquares(2, random_state=0, use_cg=False).fit(clicks)
    >>> model.recommend(0, N=1)[0].tolist(), model.similar_items(0, 2)[0].tolist()
    ([1], [0, 2])
    """

    _stop: ClassVar[str] = "self"
    _unit: ClassVar[str] = "sweep"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "factors": [COUNT],
        "regularization": [NOT_NEGATIVE],
        "alpha": [POSITIVE],
        "dtype": [type, np.dtype, StrOptions({"float64", "float32"})],
        "use_native": ["boolean"],
        "use_cg": ["boolean"],
        "iterations": [COUNT],
        "calculate_training_loss": ["boolean"],
        "num_threads": [Interval(Integral, 0, None, closed="left")],
        "random_state": ["random_state"],
        "cg_steps": [COUNT],
        "confidence": [StrOptions({"scaled", "one_plus"})],
        "init": [tuple, list, None],
    }

    def __init__(
        self,
        factors: int = 100,
        regularization: float = 0.01,
        alpha: float = 1.0,
        dtype: Any = np.float32,
        use_native: bool = True,
        use_cg: bool = True,
        iterations: int = 15,
        calculate_training_loss: bool = False,
        num_threads: int = 0,
        random_state: Any = None,
        *,
        cg_steps: int = 3,
        confidence: str = "scaled",
        init: Any = None,
    ) -> None:
        self.factors = factors
        self.regularization = regularization
        self.alpha = alpha
        self.dtype = dtype
        self.use_native = use_native
        self.use_cg = use_cg
        self.iterations = iterations
        self.calculate_training_loss = calculate_training_loss
        self.num_threads = num_threads
        self.random_state = random_state
        self.cg_steps = cg_steps
        self.confidence = confidence
        self.init = init

    def _limit(self) -> int:
        return int(self.iterations)

    def _confidence(self, counts: Array) -> Array:
        scaled = float(self.alpha) * counts
        with np.errstate(over="ignore"):
            found = (scaled if self.confidence == "scaled" else 1.0 + scaled).astype(np.dtype(self.dtype))
        if not np.isfinite(found).all():
            raise DataError(
                f"confidences up to {scaled.max():.3g} are too large for {found.dtype}. Lower alpha (now "
                f"{self.alpha:g}), scale the counts, or use dtype=float64."
            )
        return found

    def _prepare(self, R: RatingMatrix) -> Work:
        if np.dtype(self.dtype) not in (np.float32, np.float64):
            raise DataError(f"dtype must be float32 or float64; got {self.dtype!r}.")
        users, items = (
            side_of(runs._replace(values=self._confidence(runs.values)))
            for runs in (R.by_user(), R.by_item())
        )
        if R.n_parts and self.use_cg:
            raise DataError(
                "interactions on Dask need use_cg=False: conjugate gradients are not sums over them."
            )
        return Work(users, items, R.users, users.runs.values, dealt_out(R))

    def _start(self, work: Work, rng: np.random.Generator) -> Factors:
        n, m = len(work.users.counts), len(work.items.counts)
        k, kind = int(self.factors), np.dtype(self.dtype)
        if self.init is not None:
            U, V = finite_factors(self.init, kind)
            if U.shape != (n, k) or V.shape != (m, k):
                raise DataError(f"init must hold arrays of shapes ({n}, {k}) and ({m}, {k}).")
            return Factors(U, V, 0)
        own = np.random.default_rng(draw_seed(rng))
        return Factors((own.random((n, k)) * 0.01).astype(kind), (own.random((m, k)) * 0.01).astype(kind), 0)

    def _step(self, work: Work, state: Factors) -> tuple[Factors, Report]:
        begin = time.perf_counter()
        U = self._half(work, 0, state.U, state.V)
        V = self._half(work, 1, state.V, U)
        if not np.isfinite(U.sum(dtype=np.float64) + V.sum(dtype=np.float64)):
            raise DataError(
                f"the factors are not finite after sweep {state.sweeps + 1}: confidences up to "
                f"{work.confidence.max():.3g} are too large for {U.dtype}. Lower alpha, scale the counts, or use "
                "dtype=float64."
            )
        fresh = Factors(U, V, state.sweeps + 1)
        loss = self._loss(work, fresh) if self.calculate_training_loss else None
        self._tell(state.sweeps, begin, loss)
        return fresh, Report(loss, done=fresh.sweeps >= self._limit())

    def _half(self, work: Work, axis: int, mine: Array, other: Array) -> Array:
        """Return the vectors of one side, the other's held fixed."""
        from gnomon.loops.factors import cg_rows

        side = (work.users, work.items)[axis]
        confidence, gram = side.runs.values, other.T @ other
        if not self.use_cg:
            return self._solved(side, other, gram.astype(np.float64), work.spread, axis)
        ridge = np.asarray(self.regularization, dtype=gram.dtype)
        base = np.ascontiguousarray(gram + ridge * np.eye(len(gram), dtype=gram.dtype))
        out = mine.copy()
        runs, weights = side.runs, confidence - np.asarray(1, dtype=confidence.dtype)

        def piece(edges: tuple[int, int]) -> None:
            cg_rows(
                *edges, runs.starts, runs.others, weights, confidence, other, base, int(self.cg_steps), out
            )

        shared(piece, side.pieces)
        return out

    def _solved(self, side: Side, V: Array, gram: Array, spread: Any = None, axis: int = 0) -> Array:
        """Return the exact vectors of a side; `gram` is VᵀV."""
        base = gram + float(self.regularization) * np.eye(len(gram))
        zero, confidence = np.zeros(len(side.counts)), side.runs.values
        if spread is None:
            facts = {"what": ("user", "item")[axis], "penalized": float(self.regularization) > 0}
            return solve_side(side, V, zero, weights=confidence - 1, targets=confidence, base=base, **facts)
        alpha = float(self.alpha)
        lines = (Line(-1.0, alpha), Line(0.0, alpha))
        if self.confidence == "one_plus":
            lines = (Line(0.0, alpha), Line(1.0, alpha))
        return solve_by_sums(spread, axis, V, zero, weight=lines[0], target=lines[1], base=base)[0]

    def _loss(self, work: Work, state: Factors) -> float:
        """Return Σ c(p − u·v)² over everything plus the penalty, from the stored entries and two Gram matrices."""
        U, V = state.U.astype(np.float64), state.V.astype(np.float64)
        everything = float(((U.T @ U) * (V.T @ V)).sum())
        score = predictions(work.rows, work.users.runs.others, state.U, state.V)
        c = work.confidence.astype(np.float64)
        stored = float((c * (1 - score) ** 2 - score**2).sum())
        return everything + stored + float(self.regularization) * float((U**2).sum() + (V**2).sum())

    def _attributes(self, state: Factors) -> dict[str, Any]:
        return {"user_factors_": state.U, "item_factors_": state.V}

    def recalculate_user(self, userid: Any, user_items: Any) -> Array:
        """Return the vectors of users with these interactions, the items held fixed; no new fit is needed.

        Parameters
        ----------
        userid : ignored
            Kept for implicit.
        user_items : sparse matrix of shape (users, n_items)
            Interactions, a row per user.

        Returns
        -------
        array of shape (users, factors)
        """
        check_is_fitted(self)
        return self._folded(user_items, self.item_factors_, "user")

    def recalculate_item(self, itemid: Any, item_users: Any) -> Array:
        """Return the vectors of items with these interactions, the users held fixed; no new fit is needed.

        Parameters
        ----------
        itemid : ignored
            Kept for implicit.
        item_users : sparse matrix of shape (items, n_users)
            Interactions, a row per item.

        Returns
        -------
        array of shape (items, factors)
        """
        check_is_fitted(self)
        return self._folded(item_users, self.user_factors_, "item")

    @one_blas_thread()
    def _folded(self, table: Any, V: Array, what: str) -> Array:
        """Solve exactly for the rows of a table of interactions, the vectors of its columns held fixed."""
        rows = as_rows(table, len(V), what)
        confidence = self._confidence(rows.data)
        runs = ById(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), confidence)
        return self._solved(side_of(runs), V, V.T.astype(np.float64) @ V, axis=int(what == "item"))

    def partial_fit_users(self, userids: Any, user_items: Any) -> Self:
        """Learn the vectors of some users from their interactions, the items held fixed; users may be new.

        Parameters
        ----------
        userids : list or array of ids
            Whose; those the model knows are replaced.
        user_items : sparse matrix with a row for each of them
            Their interactions, all of them.

        Returns
        -------
        self
            The model, with these users in it.
        """
        check_is_fitted(self)
        rows = as_rows(user_items, len(self.items_), "user")
        vectors = self._folded(rows, self.item_factors_, "user")
        names, factors, table = merged(
            userids, self.users_, rows, vectors, self.user_factors_, sparse.csr_array(self.ratings_)
        )
        self._know(names, self.items_, factors, self.item_factors_, table)
        return self

    def partial_fit_items(self, itemids: Any, item_users: Any) -> Self:
        """Learn the vectors of some items from their interactions, the users held fixed; items may be new.

        Parameters
        ----------
        itemids : list or array of ids
            Which; those the model knows are replaced.
        item_users : sparse matrix with a row for each of them
            Their interactions, all of them; a column is a user, in the order of ``users_``.

        Returns
        -------
        self
            The model, with these items in it.
        """
        check_is_fitted(self)
        rows = as_rows(item_users, len(self.users_), "item")
        vectors = self._folded(rows, self.user_factors_, "item")
        names, factors, table = merged(
            itemids, self.items_, rows, vectors, self.item_factors_, sparse.csr_array(self.ratings_.T)
        )
        self._know(self.users_, names, self.user_factors_, factors, sparse.csr_array(table.T))
        return self

    def _know(self, users: Array, items: Array, U: Array, V: Array, table: sparse.csr_array) -> None:
        """Keep ids, vectors and interactions that belong together, and the means of the interactions."""
        table.sort_indices()
        rows = np.repeat(np.arange(len(users)), np.diff(table.indptr))
        R = RatingMatrix._from_codes(
            rows, table.indices, table.data, table.shape, {"user_names": users, "item_names": items}
        )
        for name, value in R.facts().items():
            setattr(self, name, value)
        self.user_factors_, self.item_factors_ = U, V

    def fold_in(self, ratings: Any) -> Array:
        """Return the vector of a new user from a dict item -> count, or pairs; unknown items are left out."""
        codes, values = as_ratings(ratings, self.items_)
        row = sparse.csr_array((values, codes, [0, len(values)]), shape=(1, len(self.items_)))
        return self.recalculate_user(None, row)[0]

    @one_blas_thread()
    def explain(
        self, userid: Any, user_items: Any, itemid: Any, user_weights: Any = None, N: int = 10
    ) -> tuple[Any, ...]:
        """Return the score of an item for a user, the items of the user that add most to it, and the user's matrix.

        Parameters
        ----------
        userid : id
            The user; `user_items` is a matrix with its row (or a single row), None for the interactions of the fit.
        user_items : sparse matrix or None
            Interactions.
        itemid : id
            The item to explain.
        user_weights : array, optional
            The third result of an earlier call for the same user, to save work.
        N : int
            How many reasons.

        Returns
        -------
        total, contributions, user_weights
            The score; a list of (item, what it adds), largest first; the inverse of the user's matrix.
        """
        check_is_fitted(self)
        code, item = int(codes_of([userid], self.users_)[0]), int(codes_of([itemid], self.items_)[0])
        if item < 0 or (code < 0 and user_items is None):
            raise DataError(f"user {userid!r} or item {itemid!r} is not known.")
        rows = self.ratings_ if user_items is None else as_rows(user_items, len(self.items_), "user")
        if code < 0 and rows.shape[0] != 1:
            raise DataError(f"user {userid!r} is not known; give the row of this user alone as user_items.")
        row = rows[[code if rows.shape[0] > 1 else 0]]
        liked, c = row.indices, self._confidence(row.data).astype(np.float64)
        V = self.item_factors_.astype(np.float64)
        if user_weights is None:
            A = V.T @ V + float(self.regularization) * np.eye(V.shape[1]) + (V[liked].T * (c - 1)) @ V[liked]
            user_weights = np.linalg.inv(A)
        parts = c * (V[liked] @ (user_weights @ V[item]))
        order = np.argsort(-parts, kind="stable")[:N]
        reasons = [(self.items_[liked[j]], float(parts[j])) for j in order]
        return float(parts.sum()), reasons, user_weights
