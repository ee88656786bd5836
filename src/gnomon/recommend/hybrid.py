"""Hybrid factorization: vectors that are linear in features, so that newcomers have them too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.ids import pair_columns
from gnomon.core.linalg import Array, solve_spd
from gnomon.core.parameters import StrOptions
from gnomon.core.ratings import RatingMatrix
from gnomon.core.steps import Report
from gnomon.core.threads import one_blas_thread
from gnomon.core.validate import COUNT, NOT_NEGATIVE
from gnomon.recommend.alternating import Sides, inner, predictions, sides_of, solve_side, with_values
from gnomon.recommend.baselines import fit_biases
from gnomon.recommend.content import Described, feature_row, features_by_id, features_of_frame
from gnomon.recommend.factored import Factored

MOST_UNKNOWNS = 2000  # of normal equations; more go to conjugate gradients


class Work(NamedTuple):
    """Ratings and features; None stands for indicators alone."""

    sides: Sides
    targets: Sides
    users: Any  # CSR (n, p)
    items: Any  # CSR (m, q)
    only_indicators: tuple[bool, bool]
    bias: tuple[Array, Array]


class Maps(NamedTuple):
    """The two linear maps."""

    A: Array  # (k, p)
    B: Array  # (k, q)
    objective: float


class HybridFactorization(Factored):
    r"""Factorization whose vectors are linear in features of users and items.

    .. math:: X_{ai} = (A \psi_a) \cdot (B \phi_i), \qquad
              \min_{A, B} \sum_D \tfrac12 (Y_{ai} - X_{ai})^2 + \tfrac\lambda2 (\lVert A \rVert^2 + \lVert B
              \rVert^2)

    For a fixed A this is least squares in B and the other way round. With indicators as the only features it
    is ordinary
    factorization; with features and indicators (`one_hot`) both are learned: what the features say, and what is
    particular. New users and items are predicted from their features without a new fit.

    Parameters
    ----------
    factors : int
        Length k of the vectors.
    regularization : float
        λ.
    iterations : int
        Sweeps at most.
    tol : float
        Stop when a sweep changes the objective by less, relative to it.
    one_hot : bool
        Whether every user and item also has an indicator of its own. A side without features has nothing else.
    biases : bool
        Whether to add μ + b_a + b_i, fitted first as in `MeanRecommender`.
    solver : {"auto", "als", "cg"}
        Normal equations, or conjugate gradients; "auto" takes the former up to 2000 unknowns.
    init : array of shape (k, p), optional
        A to start from.
    random_state : int, RandomState, Generator or None
        Where the randomness comes from.

    Attributes
    ----------
    coef_user_, coef_item_ : arrays of shape (k, p) and (k, q)
        A and B; the indicators' columns come last.
    user_factors_, item_factors_ : arrays
        Aψ and Bφ of all users and items.
    objective_ : float
    users_, items_ : arrays
        Ids, sorted.

    Examples
    --------
    >>> films = {"alien": [1.0, 0.0], "jaws": [1.0, 0.2], "up": [0.0, 1.0], "coco": [0.1, 1.0]}
    >>> pairs = [("ann", "alien"), ("ann", "up"), ("bob", "jaws"), ("bob", "up"), ("ann", "jaws")]
    >>> model = HybridFactorization(2, regularization=0.1, one_hot=False, iterations=500, random_state=0)
    >>> model = model.fit(pairs, [5, 1, 1, 5, 5], item_features=films)
    >>> model.predict([("ann", "coco"), ("bob", "coco")], item_features=films).round(1)
    array([1.5, 4.9])
    """

    _stop: ClassVar[str] = "self"
    _unit: ClassVar[str] = "sweep"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "factors": [COUNT],
        "regularization": [NOT_NEGATIVE],
        "iterations": [COUNT],
        "tol": [NOT_NEGATIVE],
        "one_hot": ["boolean"],
        "biases": ["boolean"],
        "solver": [StrOptions({"auto", "als", "cg"})],
        "init": ["array-like", None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        factors: int = 10,
        *,
        regularization: float = 0.1,
        iterations: int = 50,
        tol: float = 1e-4,
        one_hot: bool = True,
        biases: bool = False,
        solver: str = "auto",
        init: Any = None,
        random_state: Any = None,
    ) -> None:
        self.factors = factors
        self.regularization = regularization
        self.iterations = iterations
        self.tol = tol
        self.one_hot = one_hot
        self.biases = biases
        self.solver = solver
        self.init = init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, user_features: Any = None, item_features: Any = None) -> Self:
        """Learn from ratings and features.

        Parameters
        ----------
        X, y
            Ratings, as every recommender takes them.
        user_features, item_features : frame or dict by id, or table whose rows are numbered by integer ids,
        optional
            Must cover the users and items of the ratings.

        Returns
        -------
        self
            The fitted recommender.
        """
        return self._learn(self._described(X, y, user_features, item_features), X=X, y=y)

    def iterate(
        self, X: Any, y: Any = None, user_features: Any = None, item_features: Any = None
    ) -> Iterator[Self]:
        """Yield a fitted copy of the model at the start and after every sweep."""
        yield from self._iterate(self._described(X, y, user_features, item_features))

    def _described(self, X: Any, y: Any, user_features: Any, item_features: Any) -> Described:
        R = self._read_ratings(X, y)
        users = (
            None if user_features is None else features_by_id(user_features, R.user_names, "user_features")
        )
        items = (
            None if item_features is None else features_by_id(item_features, R.item_names, "item_features")
        )
        return Described(R, items, users)

    def _limit(self) -> int:
        return int(self.iterations)

    def _prepare(self, data: Described) -> Work:
        R: RatingMatrix = data.ratings
        sides = targets = sides_of(R)
        bias = np.zeros(R.n_users), np.zeros(R.n_items)
        if self.biases:
            bias = fit_biases(R, float(self.regularization))
            targets = with_values(
                sides, sides.values - sides.mean - bias[0][sides.rows] - bias[1][sides.columns]
            )
        users, items = self._table(data.user_features, R.n_users), self._table(data.item_features, R.n_items)
        only = data.user_features is None, data.item_features is None
        return Work(sides, targets, users, items, only, bias)

    def _table(self, features: Array | None, n: int) -> sparse.csr_array:
        if features is None:
            return sparse.csr_array(sparse.eye_array(n))
        table = sparse.csr_array(features)
        return sparse.csr_array(sparse.hstack([table, sparse.eye_array(n)])) if self.one_hot else table

    def _start(self, work: Work, rng: np.random.Generator) -> Maps:
        k, p, q = int(self.factors), work.users.shape[1], work.items.shape[1]
        if self.init is not None:
            A = np.array(self.init, dtype=np.float64)
            if A.shape != (k, p):
                raise DataError(f"init must have the shape of A, ({k}, {p}); its shape is {A.shape}.")
        else:
            A = rng.normal(size=(k, p)) / np.sqrt(k)
        return Maps(A, np.zeros((k, q)), np.inf)

    def _step(self, work: Work, state: Maps) -> tuple[Maps, Report]:
        lam = float(self.regularization)
        B = self._half(work, state.A, state.B, "items", lam)
        A = self._half(work, B, state.A, "users", lam)
        rest = work.targets.values - self._fitted(work, A, B)
        J = 0.5 * inner(rest, rest) + 0.5 * lam * float((A**2).sum() + (B**2).sum())
        change = abs(state.objective - J)
        done = bool(change <= float(self.tol) * max(abs(J), 1e-300))
        return Maps(A, B, J), Report(J, done=done, change=change)

    def _fitted(self, work: Work, A: Array, B: Array) -> Array:
        return predictions(work.sides.rows, work.sides.columns, work.users @ A.T, work.items @ B.T)

    def _half(self, work: Work, other: Array, mine: Array, which: str, lam: float) -> Array:
        """Return the map of one side, the other's held fixed."""
        if which == "items":
            side, P, F, only = work.targets.items, work.users @ other.T, work.items, work.only_indicators[1]
        else:
            side, P, F, only = work.targets.users, work.items @ other.T, work.users, work.only_indicators[0]
        P = np.ascontiguousarray(P)
        if only:
            return solve_side(side, P, np.full(F.shape[0], lam)).T
        if self.solver == "als" or (self.solver == "auto" and mine.size <= MOST_UNKNOWNS):
            return self._normal_equations(side, P, F, lam)
        return self._gradients(side, P, F, mine, lam)

    def _normal_equations(self, side: Any, P: Array, F: Any, lam: float) -> Array:
        """Solve for vec(B): the design of a rating is p ⊗ φ, so the matrix is Σ_i G_i ⊗ φ_i φ_iᵀ."""
        k, q = P.shape[1], F.shape[1]
        rows = np.repeat(np.arange(F.shape[0]), np.diff(side.runs.starts))
        dense = F.toarray()
        pairs = (P[:, :, None] * P[:, None, :]).reshape(len(P), k * k)
        grams = sparse.csr_array(
            (np.ones(len(rows)), side.runs.others, side.runs.starts), shape=(F.shape[0], len(P))
        )
        G = (grams @ pairs).reshape(-1, k, k)
        outer = np.einsum("ikl,ip,iq->kplq", G, dense, dense, optimize=True).reshape(k * q, k * q)
        right = np.zeros((F.shape[0], k))
        np.add.at(right, rows, side.runs.values[:, None] * P[side.runs.others])
        b = np.einsum("ik,ip->kp", right, dense).ravel()
        matrix = outer + lam * np.eye(k * q)
        if lam == 0:
            return np.linalg.lstsq(matrix, b, rcond=None)[0].reshape(k, q)
        return solve_spd(matrix, b, what="the normal equations of the features").reshape(k, q)

    def _gradients(self, side: Any, P: Array, F: Any, start: Array, lam: float) -> Array:
        """The same by conjugate gradients from where the map is; nothing larger than the data is made."""
        rows = np.repeat(np.arange(F.shape[0]), np.diff(side.runs.starts))
        FT = sparse.csr_array(F.T)
        others, starts = side.runs.others, side.runs.starts

        def back(errors: Array) -> Array:
            table = sparse.csr_array((errors, others, starts), shape=(F.shape[0], len(P)))
            return (FT @ (table @ P)).T

        def product(B: Array) -> Array:
            return back(predictions(rows, others, np.ascontiguousarray(F @ B.T), P)) + lam * B

        x = start.copy()
        r = back(side.runs.values) - product(x)
        p, old = r.copy(), float((r**2).sum())
        goal = 1e-20 * max(float((back(side.runs.values) ** 2).sum()), 1e-300)
        for _ in range(10 * x.size):
            if old <= goal:
                break
            Ap = product(p)
            alpha = old / float((p * Ap).sum())
            x, r = x + alpha * p, r - alpha * Ap
            new = float((r**2).sum())
            p, old = r + new / old * p, new
        return x

    @one_blas_thread()
    def _keep(self, run: Any, data: Any) -> None:
        work = self._prepare(data)
        maps: Maps = run.state
        learned = self._learned(run)
        learned["user_factors_"] = np.ascontiguousarray(work.users @ maps.A.T)
        learned["item_factors_"] = np.ascontiguousarray(work.items @ maps.B.T)
        learned["user_bias_"], learned["item_bias_"] = work.bias
        learned["n_user_features_"] = 0 if data.user_features is None else data.user_features.shape[1]
        learned["n_item_features_"] = 0 if data.item_features is None else data.item_features.shape[1]
        self._adopt(learned, data)

    def _attributes(self, state: Maps) -> dict[str, Any]:
        return {"coef_user_": state.A, "coef_item_": state.B, "objective_": float(state.objective)}

    def _check_arrays(self) -> None:
        super()._check_arrays()
        k = self.user_factors_.shape[1]
        if len(self.coef_user_) != k or len(self.coef_item_) != k:
            raise ModelFileError("its maps do not fit its factors; save the model again.")

    def _offsets(self, users: Array, items: Array) -> Any:
        if not self.biases:
            return 0.0
        return self.global_mean_ + self.user_bias_[users] + self.item_bias_[items]

    def predict(
        self, X: Any, *, round: bool = False, user_features: Any = None, item_features: Any = None
    ) -> Array:
        """Return the rating expected of every (user, item) pair.

        Parameters
        ----------
        X : (user, item) pairs
            Whom and what to ask about.
        round : bool
            Whether to go to the nearest rating that exists.
        user_features, item_features : dict or frame by id, optional
            Of users and items that were not in the fit.

        Returns
        -------
        array
            One number per pair; ids without ratings and without features get a mean.
        """
        found = super().predict(X, round=False)
        users, items = pair_columns(X)
        known = self._with_ratings(self._known(X))
        u, has_u = self._vectors(known.users, users, self.users_, user_features, "user")
        v, has_v = self._vectors(known.items, items, self.items_, item_features, "item")
        new = has_u & has_v & ((known.users < 0) | (known.items < 0))
        raw = np.einsum("ek,ek->e", u, v)
        if self.biases:
            raw = raw + self.global_mean_
            raw = raw + np.where(known.users >= 0, self.user_bias_[known.users], 0.0)
            raw = raw + np.where(known.items >= 0, self.item_bias_[known.items], 0.0)
        found = np.where(new, raw, found)
        if round:
            from gnomon.recommend.lists import round_ratings

            found = round_ratings(found, self._options())
        return found

    @one_blas_thread()
    def _vectors(
        self, codes: Array, ids: Any, names: Array, features: Any, which: str
    ) -> tuple[Array, Array]:
        """Return the vector of every id and whether it has one: learned, or from its features."""
        table = self.user_factors_ if which == "user" else self.item_factors_
        coef = self.coef_user_ if which == "user" else self.coef_item_
        width = self.n_user_features_ if which == "user" else self.n_item_features_
        vectors = table[codes] * (codes >= 0)[:, None]
        has = codes >= 0
        if features is None or not width:
            return vectors, has
        if hasattr(features, "index") and hasattr(features, "columns"):
            features = features_of_frame(features, f"{which}_features")
        if not isinstance(features, dict):
            raise DataError(f"{which}_features of new {which}s must be a dict or a frame by id.")
        for row, name in enumerate(list(ids)):
            if not has[row] and name in features:
                values = feature_row(features[name], f"{which}_features of {name!r}")
                if len(values) != width:
                    raise DataError(f"{which} {name!r} has {values.size} features; the fit had {width}.")
                vectors[row], has[row] = coef[:, :width] @ values, True
        return vectors, has
