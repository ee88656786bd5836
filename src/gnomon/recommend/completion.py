"""Convex completion: the matrix itself, with a small sum of singular values."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import svds

from gnomon.core.linalg import Array
from gnomon.core.ratings import RatingMatrix
from gnomon.core.steps import Report
from gnomon.core.validate import COUNT, NOT_NEGATIVE, POSITIVE
from gnomon.recommend.alternating import Sides, inner, predictions, sides_of, solve_side
from gnomon.recommend.factored import Factored

DENSE_CELLS = 4_000_000  # tables up to this size are worked on whole


class Completed(NamedTuple):
    """The matrix as factors, and where the acceleration stands."""

    U: Array  # (n, r), columns orthogonal, scaled by the roots of the singular values
    V: Array
    singular: Array
    before: Array  # the matrix one step earlier; empty for large ones
    momentum: float
    objective: float
    gap: float
    excess: float  # σ_max(residual)/λ − 1
    path: tuple[dict[str, float], ...] = ()  # what was met on the way here


class NuclearNormCompletion(Factored):
    r"""Complete a matrix by its nuclear norm.

    .. math:: \min_X \sum_D \tfrac12 (Y_{ai} - X_{ai})^2 + \lambda \lVert X \rVert_*

    The problem is convex, so its optimum is *the* optimum, and a dual point proves how near it is. As
    :math:`\tfrac12 (\lVert U \rVert^2 + \lVert V \rVert^2) \ge \lVert U V^T \rVert_*`, it is also the global
    optimum of
    `MatrixFactorization` with the same λ and enough factors. Small tables: accelerated proximal steps, which
    shrink the
    singular values of the filled matrix (soft-impute, Mazumder, Hastie and Tibshirani, 2010). Large ones:
    alternating least
    squares with factors that grow until the certificate holds.

    Parameters
    ----------
    regularization : float
        λ.
    max_rank : int, optional
        Singular values at most; with a limit the optimum may be out of reach, and the certificate says so.
    max_iter : int
        Steps at most.
    tol : float
        Stop when the duality gap is below this share of the objective.
    path : sequence of numbers, optional
        Values of λ to go through first, from the largest, each from where the one before ended.

    Attributes
    ----------
    user_factors_, item_factors_ : arrays
        X is their product.
    singular_values_ : array
    rank_ : int
    objective_ : float
    duality_gap_ : float
        The objective is at most this far above its minimum.
    certificate_ : float
        σ_max(residual on D)/λ − 1; at most 0 at the optimum, up to rounding.
    path_ : list of dict
        Rank and objective at every λ of the path.

    Examples
    --------
    >>> model = NuclearNormCompletion(0.5, tol=1e-12, max_iter=5000).fit([[1, np.nan], [2, 3]])
    >>> model.predict_matrix().round(6), model.rank_, round(model.objective_, 6)
    (array([[0.690792, 0.978436],
           [1.80937 , 2.562786]]), 1, 1.840557)
    """

    _stop: ClassVar[str] = "self"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "regularization": [POSITIVE],
        "max_rank": [COUNT, None],
        "max_iter": [COUNT],
        "tol": [NOT_NEGATIVE],
        "path": ["array-like", None],
    }

    def __init__(
        self,
        regularization: float = 1.0,
        *,
        max_rank: int | None = None,
        max_iter: int = 500,
        tol: float = 1e-6,
        path: Any = None,
    ) -> None:
        self.regularization = regularization
        self.max_rank = max_rank
        self.max_iter = max_iter
        self.tol = tol
        self.path = path

    def _prepare(self, R: RatingMatrix) -> Sides:
        return sides_of(R)

    def _start(self, sides: Sides, rng: np.random.Generator) -> Completed:
        n, m = len(sides.users.counts), len(sides.items.counts)
        state = self._empty(sides, n, m)
        first = (
            []
            if self.path is None
            else sorted(np.asarray(self.path, dtype=np.float64).tolist(), reverse=True)
        )
        for lam in first:
            for _ in range(int(self.max_iter)):
                state = self._improved(sides, state, float(lam))
                if state.gap <= float(self.tol) * max(abs(state.objective), 1e-300):
                    break
            note = {"regularization": float(lam), "rank": len(state.singular), "objective": state.objective}
            state = state._replace(momentum=1.0, objective=np.inf, path=(*state.path, note))
        return state

    def _empty(self, sides: Sides, n: int, m: int) -> Completed:
        before = np.zeros((n, m)) if n * m <= DENSE_CELLS else np.zeros((0, 0))
        none = np.zeros((n, 0)), np.zeros((m, 0)), np.zeros(0)
        return Completed(*none, before, 1.0, np.inf, np.inf, np.inf)

    def _step(self, sides: Sides, state: Completed) -> tuple[Completed, Report]:
        lam = float(self.regularization)
        fresh = self._improved(sides, state, lam)
        done = fresh.gap <= float(self.tol) * max(abs(fresh.objective), 1e-300)
        return fresh, Report(
            fresh.objective, certificate=fresh.gap, done=bool(done), info={"rank": float(len(fresh.singular))}
        )

    def _improved(self, sides: Sides, state: Completed, lam: float) -> Completed:
        if state.before.size:
            return self._proximal(sides, state, lam)
        return self._alternated(sides, state, lam)

    # small tables

    def _proximal(self, sides: Sides, state: Completed, lam: float) -> Completed:
        X = state.U @ state.V.T
        new = (1 + np.sqrt(1 + 4 * state.momentum**2)) / 2
        Z = X + (state.momentum - 1) / new * (X - state.before)
        fresh = self._shrunk(sides, Z, lam)
        if fresh.objective > state.objective:  # the momentum has gone too far: a plain step cannot rise
            fresh, new = self._shrunk(sides, X, lam), 1.0
        return fresh._replace(before=X, momentum=new, path=state.path)

    def _shrunk(self, sides: Sides, Z: Array, lam: float) -> Completed:
        Z = Z.copy()
        Z[sides.rows, sides.columns] = sides.values
        U, s, Vt = linalg.svd(Z, full_matrices=False, check_finite=False)
        s = np.maximum(s - lam, 0.0)
        rank = int((s > 0).sum())
        rank = rank if self.max_rank is None else min(rank, int(self.max_rank))
        roots = np.sqrt(s[:rank])
        return self._judged(
            sides, Completed(U[:, :rank] * roots, Vt[:rank].T * roots, s[:rank], Z, 1.0, 0.0, 0.0, 0.0), lam
        )

    def _judged(self, sides: Sides, state: Completed, lam: float) -> Completed:
        """Return the state with its objective and how far it can be from the minimum."""
        n, m = len(state.U), len(state.V)
        rest = sides.values - predictions(sides.rows, sides.columns, state.U, state.V)
        starts = sides.users.runs.starts
        table = sparse.csr_array((rest, sides.columns, starts), shape=(n, m))
        if n * m <= DENSE_CELLS or min(n, m) < 3:
            top = float(linalg.norm(table.toarray(), 2))
        else:
            top = float(svds(table, k=1, return_singular_vectors=False, v0=np.ones(min(n, m)))[0])
        objective = 0.5 * inner(rest, rest) + lam * float(state.singular.sum())
        scale = min(1.0, lam / top) if top > 0 else 1.0
        dual = scale * inner(rest, sides.values) - 0.5 * scale**2 * inner(rest, rest)
        return state._replace(objective=objective, gap=objective - dual, excess=top / lam - 1.0)

    # large tables

    def _alternated(self, sides: Sides, state: Completed, lam: float) -> Completed:
        """A sweep of alternating least squares, and one more direction where the residual asks for it."""
        n, m = len(sides.users.counts), len(sides.items.counts)
        U, V = state.U, state.V
        limit = min(n, m) if self.max_rank is None else int(self.max_rank)
        if U.shape[1] < limit and (state.excess > 0 or not U.shape[1]):
            rest = sides.values - predictions(sides.rows, sides.columns, U, V)
            table = sparse.csr_array((rest, sides.columns, sides.users.runs.starts), shape=(n, m))
            more = max(1, min(5, limit - U.shape[1], min(n, m) - 1))
            u, s, vt = svds(table, k=more, v0=np.ones(min(n, m)))
            useful = s > lam
            size = np.sqrt(np.maximum(s[useful] - lam, 0.0))
            U, V = np.hstack([U, u[:, useful] * size]), np.hstack([V, vt[useful].T * size])
        ridge_u, ridge_v = np.full(n, lam), np.full(m, lam)
        for _ in range(3):
            U = solve_side(sides.users, np.ascontiguousarray(V), ridge_u)
            V = solve_side(sides.items, U, ridge_v)
        qu, ru = np.linalg.qr(U)
        qv, rv = np.linalg.qr(V)
        a, s, bt = linalg.svd(ru @ rv.T)
        keep = s > 1e-12 * max(1.0, float(s[0]) if len(s) else 1.0)
        roots = np.sqrt(s[keep])
        fresh = state._replace(
            U=qu @ a[:, keep] * roots, V=qv @ bt[keep].T * roots, singular=s[keep], momentum=1.0
        )
        judged = self._judged(sides, fresh, lam)
        return judged if judged.objective <= state.objective or not np.isfinite(state.objective) else state

    def _attributes(self, state: Completed) -> dict[str, Any]:
        return {
            "user_factors_": np.ascontiguousarray(state.U),
            "item_factors_": np.ascontiguousarray(state.V),
            "singular_values_": state.singular,
            "rank_": len(state.singular),
            "objective_": float(state.objective),
            "duality_gap_": float(state.gap),
            "certificate_": float(state.excess),
            "path_": list(state.path),
        }
