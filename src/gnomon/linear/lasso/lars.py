"""Least-angle regression: the exact, piecewise linear path of the lasso."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import lapack
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.errors import nearest
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.pieces import ENDLESS
from gnomon.core.progress import told
from gnomon.core.randomness import generator
from gnomon.core.steps import Report, Unseeded
from gnomon.core.validate import COUNT, NOT_NEGATIVE, Reads, matrix, vector, warn
from gnomon.linear._rules import SEED
from gnomon.linear.squares.least_squares import KeepsPrecision, LinearPrediction, check_magnitude

CLEAR = 1e-4  # share of a column's square from which its distance from others needs no orthogonal factors
TIE = 1e-10  # events closer than this, relative to the first penalty, happen together


class LarsPath(NamedTuple):
    """Knots of a piecewise linear path, from the first feature to the end."""

    alphas: Array  # (K,) decreasing
    active: list[int]  # features at the end, in the order in which they came
    coefs: Array  # (d, K)

    def coef_at(self, alpha: float) -> Array:
        """Return the exact coefficients at any penalty, by linear interpolation between the knots."""
        falling = self.alphas[::-1]
        return np.array([np.interp(alpha, falling, row[::-1]) for row in self.coefs])


class _Walk:
    """Where the path stands; the only mutable thing of this file."""

    def __init__(self, X: Array, y: Array, *, positive: bool) -> None:
        self.X, self.n, self.positive = X, len(X), positive
        self.w = np.zeros(X.shape[1])
        self.residual = y.copy()
        self.correlation = X.T @ y / self.n
        self.active: list[int] = []
        self.skipped: set[int] = set()
        self.just_left: int | None = None
        self.alpha = max(float(self._outward().max(initial=0.0)), 0.0)
        self.first = self.alpha

    def place(self) -> tuple[Any, ...]:
        """Return where the walk stands, as numbers."""
        left = -1 if self.just_left is None else self.just_left
        return self.correlation, tuple(self.active), tuple(sorted(self.skipped)), left, float(self.alpha)

    def go_on(self, w: Array, place: tuple[Any, ...]) -> None:
        """Stand where a walk was broken off."""
        self.w, (self.correlation, active, skipped, left, self.alpha) = w.copy(), place
        self.active, self.skipped, self.just_left = list(active), set(skipped), None if left < 0 else left

    def is_over(self, alpha_min: float) -> bool:
        """Tell whether the penalty has fallen as far as it shall."""
        return bool(self.alpha <= max(alpha_min, 1e-12 * self.first))

    def _outward(self) -> Array:
        return self.correlation if self.positive else np.abs(self.correlation)

    def enter(self) -> None:
        """Take in every feature whose correlation has reached the penalty."""
        reached = self._outward() >= self.alpha - TIE * self.first
        for j in np.flatnonzero(reached):
            if j in self.active or j in self.skipped or j == self.just_left:
                continue
            if self._independent(int(j)):
                self.active.append(int(j))
            else:
                self.skipped.add(int(j))
                warn(f"column {j} depends on columns already in the path and is skipped.", ConvergenceWarning)

    def _independent(self, j: int) -> bool:
        x = self.X[:, j]
        if not self.active:
            return bool(x @ x > 0)
        XA = self.X[:, self.active]
        shared = XA.T @ x
        _, weights, failed = lapack.dposv(XA.T @ XA, shared)
        if not failed and float(x @ x - shared @ weights) > CLEAR * float(x @ x):
            return True  # rounding takes far less from it
        rest = x - XA @ linalg.lstsq(XA, x, lapack_driver="gelsy")[0]
        return bool(rest @ rest > 1e-20 * self.n * max(float(x @ x), 1e-300))

    def direction(self) -> tuple[Array, Array]:
        """Change of the active coefficients, and of all correlations, per unit by which the penalty falls."""
        XA = self.X[:, self.active]
        signs = np.sign(self.correlation[self.active])
        step = _solve_definite(XA.T @ XA / self.n, signs)
        return step, self.X.T @ (XA @ step) / self.n

    def reach(self, step: Array, slope: Array, *, drop: bool) -> tuple[float, int | None]:
        """How far the penalty may fall until a feature joins, or (lasso) a coefficient reaches zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            up = (self.alpha - self.correlation) / (1.0 - slope)
            down = (self.alpha + self.correlation) / (1.0 + slope)
            zero = -self.w[self.active] / step
        joins = up if self.positive else np.minimum(_ahead(up), _ahead(down))
        joins = _ahead(joins)
        joins[self.active] = np.inf
        joins[list(self.skipped)] = np.inf
        if self.just_left is not None:  # it is at the border, and leaves it
            joins[self.just_left] = _ahead(
                np.array([up[self.just_left], down[self.just_left]]), 1e-9 * self.first
            ).min()
        best = min(float(joins.min(initial=np.inf)), self.alpha)
        if drop:
            leaves = _ahead(zero, 1e-14 * self.first)
            k = int(leaves.argmin())
            if leaves[k] < best:
                return float(leaves[k]), self.active[k]
        return best, None

    def move(self, length: float, step: Array, slope: Array, leaving: int | None) -> None:
        """Walk to the next knot."""
        self.w[self.active] += length * step
        self.correlation = self.correlation - length * slope
        self.alpha -= length
        self.just_left = leaving
        if leaving is not None:
            self.w[leaving] = 0.0
            self.active.remove(leaving)


def _solve_definite(A: Array, b: Array) -> Array:
    """Return A⁻¹b; LAPACK is asked at once, for the checks around it take longer than a few columns."""
    _, found, failed = lapack.dposv(A, b)
    return linalg.solve(A, b, assume_a="pos") if failed else found


def _ahead(steps: Array, least: float = 0.0) -> Array:
    return np.where(steps > least, steps, np.inf)


def lars_path(
    X: Any,
    y: Any,
    Xy: Any = None,
    *,
    Gram: Any = None,
    max_iter: int = 500,
    alpha_min: float = 0.0,
    method: str = "lar",
    copy_X: bool = True,
    eps: float = 0.0,
    copy_Gram: bool = True,
    verbose: int = 0,
    return_path: bool = True,
    return_n_iter: bool = False,
    positive: bool = False,
) -> Any:
    r"""Return the exact path of least-angle regression, or of the lasso, as the penalty falls.

    .. math:: w(\alpha) = \arg\min_w \tfrac{1}{2n}\lVert y - Xw\rVert^2 + \alpha\lVert w\rVert_1

    Between knots every coefficient is linear in α; at a knot a feature joins (its correlation with the
    residual has reached α) or, for the lasso, leaves (its coefficient has reached zero). X and y are taken
    as they are: center them for a model with intercept, or use `LassoLars`.

    Parameters
    ----------
    X, y : matrix and vector
    max_iter : int
        How many knots at most.
    alpha_min : float
        Where to stop.
    method : {"lar", "lasso"}
        With ``"lar"`` features never leave; the formula above is the path of ``"lasso"``.
    return_path : bool
        If False, return only the last knot: its penalty, the active features, the coefficients.
    return_n_iter : bool
        Return the number of steps as well, last.
    positive : bool
        Keep the coefficients of the lasso at least zero.
    Xy, Gram, copy_X, copy_Gram, eps, verbose
        Accepted for compatibility: products are formed from X, which is never written to.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]])
    >>> y = np.array([1.0, 2.0, 3.0, 5.0])
    >>> path = lars_path(X - X.mean(axis=0), y - y.mean(), method="lasso")
    >>> path.alphas.round(4), path.coefs.round(4)
    (array([1.625 , 0.0625, 0.    ]), array([[ 0.   ,  1.25 ,  1.375],
           [ 0.   ,  0.   , -0.125]]))
    """
    if method not in ("lasso", "lar"):
        raise ValueError(
            f"method must be 'lasso' or 'lar'; got {method!r}.{nearest(method, ['lasso', 'lar'])}"
        )
    if X is None:
        told = "and Gram cannot both be unspecified" if Gram is None else "cannot be None if Gram is not None"
        raise ValueError(f"X {told}: the path is worked out from the rows.")
    if positive and method == "lar":
        raise ValueError("Positive constraint not supported for 'lar' coding method. Use method='lasso'.")
    X = matrix(X).astype(np.float64)
    path = _walk(X, vector(y, n=len(X)), method == "lasso", alpha_min, max_iter, positive)
    n_iter = len(path.alphas) - 1
    if not return_path:
        path = LarsPath(path.alphas[-1], path.active, path.coefs[:, -1])
    return (*path, n_iter) if return_n_iter else path


def _walk(X: Array, y: Array, drop: bool, alpha_min: float, max_iter: int, positive: bool) -> LarsPath:
    walk = _Walk(X, y, positive=positive)
    alphas, coefs = [walk.alpha], [walk.w.copy()]
    for _ in told(_knots(walk, drop, alpha_min, max_iter), "knots of the path", None):
        alphas.append(max(walk.alpha, 0.0))
        coefs.append(walk.w.copy())
    return LarsPath(np.array(alphas), list(walk.active), np.array(coefs).T)


def _knots(walk: _Walk, drop: bool, alpha_min: float, max_iter: int) -> Iterator[float]:
    """Walk from knot to knot; yield the penalty of each."""
    for _ in range(max_iter):
        if walk.is_over(alpha_min):
            return
        walk.enter()
        if not walk.active:
            return
        step, slope = walk.direction()
        length, leaving = walk.reach(step, slope, drop=drop)
        last = walk.alpha - length < alpha_min
        if last:
            length, leaving = walk.alpha - alpha_min, None
        walk.move(length, step, slope, leaving)
        if last:
            walk.alpha = alpha_min  # what was subtracted may round to a little more, and one knot become two
        yield walk.alpha


class PathSoFar(NamedTuple):
    """The knots of the path of one target, and where its walk stands."""

    alphas: tuple[float, ...]
    coefs: tuple[Array, ...]
    place: tuple[Any, ...]
    ended: bool


class LarsState(NamedTuple):
    """The paths of all targets, and the means that were taken off."""

    mean_x: Array
    mean_y: Any
    paths: tuple[PathSoFar, ...]


class LarsWork(NamedTuple):
    """The workspace: one walk for every target."""

    mean_x: Array
    mean_y: Any
    walks: list[_Walk]


class LassoLars(LinearPrediction, KeepsPrecision, RegressorMixin, Unseeded):
    r"""Lasso by least-angle steps: exact, and with its whole path.

    .. math:: \min_{w,b} \tfrac{1}{2W}\sum_i s_i (y_i - x_i^\top w - b)^2 + \alpha\lVert w\rVert_1

    Good when few features are active and their order of entrance matters; for large data `Lasso` is faster.

    Parameters
    ----------
    alpha : float, default=1.0
    fit_intercept : bool, default=True
    max_iter : int, default=500
        Knots at most.
    fit_path : bool, default=True
        Keep the whole path in `coef_path_`.
    positive : bool, default=False
    jitter : float, optional
        Add numbers drawn from [0, jitter) to y, which parts features that tie.
    random_state : int, RandomState or Generator, optional
        Of the jitter.
    verbose, precompute, eps, copy_X
        Accepted for compatibility: products are formed from X, which is never written to.

    Attributes
    ----------
    coef_, intercept_
    alphas_ : array of shape (K,)
        Knots of the path down to `alpha`.
    active_ : list of int
    coef_path_ : array of shape (d, K)
        For several targets `alphas_`, `active_` and `coef_path_` are lists, one entry a target.

    Examples
    --------
    >>> X, y = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]], [1.0, 2.0, 3.0, 5.0]
    >>> LassoLars(alpha=0.5).fit(X, y).coef_.round(6)
    array([0.9, 0. ])
    """

    _reads = Reads(y="numbers")
    _unit: ClassVar[str] = "knot"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [NOT_NEGATIVE],
        "fit_intercept": ["boolean"],
        "verbose": ["verbose"],
        "precompute": ["boolean", StrOptions({"auto"}), np.ndarray, None],
        "max_iter": [COUNT],
        "eps": [NOT_NEGATIVE],
        "copy_X": ["boolean"],
        "fit_path": ["boolean"],
        "positive": ["boolean"],
        "jitter": [NOT_NEGATIVE, None],
        "random_state": SEED,
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        verbose: int = 0,
        precompute: Any = "auto",
        max_iter: int = 500,
        eps: float = 0.0,
        copy_X: bool = True,
        fit_path: bool = True,
        positive: bool = False,
        jitter: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.precompute = precompute
        self.max_iter = max_iter
        self.eps = eps
        self.copy_X = copy_X
        self.fit_path = fit_path
        self.positive = positive
        self.jitter = jitter
        self.random_state = random_state

    def _limit(self) -> int:
        return ENDLESS

    def _announced(self, rows: Any) -> int | None:
        return None

    def _prepare(self, rows: Any) -> LarsWork:
        check_magnitude(rows)
        share = rows.weight / rows.weight.sum()
        y = rows.y
        if self.jitter:
            y = y + generator(self.random_state).uniform(0.0, self.jitter, size=y.shape)
        mean_x = (share @ rows.X) * self.fit_intercept
        mean_y = (share @ y) * self.fit_intercept
        root = np.sqrt(share * rows.n_rows)
        Z = ((rows.X - mean_x) * root[:, None]).astype(np.float64)
        targets = np.atleast_2d((y - mean_y).T * root)
        return LarsWork(mean_x, mean_y, [_Walk(Z, target, positive=self.positive) for target in targets])

    def _first_state(self, work: LarsWork, seed: int, index: int) -> LarsState:
        paths = (PathSoFar((w.alpha,), (w.w.copy(),), w.place(), False) for w in work.walks)
        return LarsState(work.mean_x, work.mean_y, tuple(paths))

    def _restore(self, work: LarsWork, snapshot: LarsState) -> LarsState:
        for walk, path in zip(work.walks, snapshot.paths, strict=True):
            walk.go_on(path.coefs[-1], path.place)
        return snapshot

    def _step(self, work: LarsWork, state: LarsState) -> tuple[LarsState, Report]:
        """Walk to the next knot, target after target."""
        k = next(k for k, path in enumerate(state.paths) if not path.ended)
        walk, (alphas, coefs, _, _), alpha = work.walks[k], state.paths[k], float(self.alpha)
        moved = list(_knots(walk, True, alpha, 1))
        if moved:
            alphas, coefs = (*alphas, max(walk.alpha, 0.0)), (*coefs, walk.w.copy())
        ended = not moved or walk.is_over(alpha) or len(alphas) > self.max_iter
        paths = list(state.paths)
        paths[k] = PathSoFar(alphas, coefs, walk.place(), ended)
        info = {"alpha": alphas[-1], "active": float(len(walk.active))}
        return state._replace(paths=tuple(paths)), Report(None, done=ended and k + 1 == len(paths), info=info)

    def _attributes(self, state: LarsState) -> dict[str, Any]:
        paths = [LarsPath(np.array(p.alphas), list(p.place[1]), np.array(p.coefs).T) for p in state.paths]
        if np.ndim(state.mean_y) == 0:
            coef, found = paths[0].coefs[:, -1], paths[0]._asdict()
        else:
            coef = np.array([path.coefs[:, -1] for path in paths])
            found = {name: [getattr(path, name) for path in paths] for name in LarsPath._fields}
        facts = {"coef_": coef, "intercept_": state.mean_y - coef @ state.mean_x, "alphas_": found["alphas"]}
        return facts | ({"active_": found["active"], "coef_path_": found["coefs"]} if self.fit_path else {})
