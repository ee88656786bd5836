"""Sparse principal components: loadings with many zeros, scores by least squares."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.steps import Learner, Report
from gnomon.core.sums import per_row
from gnomon.core.validate import COUNT, NOT_NEGATIVE, Reads, check_fitted
from gnomon.decomposition._projecting import scores_of


class SparseState(NamedTuple):
    """Codes (unit columns) and sparse components."""

    U: Array  # (n, K)
    V: Array  # (K, p)
    value: float


def soft(x: Array, t: float) -> Array:
    """Shrink towards zero by t."""
    return np.sign(x) * np.maximum(np.abs(x) - t, 0.0)


def lasso_sweeps(G: Array, B: Array, V: Array, alpha: float, sweeps: int) -> Array:
    """Coordinate descent on ½ vᵀGv − bᵀv + α‖v‖₁ for every column of V (K, p) at once."""
    V = V.copy()
    for _ in range(sweeps):
        before = V.copy()
        for k in range(len(V)):
            if G[k, k] > 0:
                V[k] = soft(B[k] - G[k] @ V + G[k, k] * V[k], alpha) / G[k, k]
        if np.abs(V - before).max(initial=0.0) <= 1e-12 * max(np.abs(V).max(initial=0.0), 1e-300):
            break
    return V


class SparsePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Learner):
    r"""Principal components with a lasso penalty on the loadings.

    .. math:: \min_{U, V} \tfrac12 \lVert X - U V \rVert_F^2 + \alpha \lVert V \rVert_1
        \quad\text{subject to}\quad \lVert U_k \rVert \le 1

    Alternates a lasso for the components with a least-squares update of the scores, both monotone. Loadings of exactly
    zero make a component readable; the price is that components are neither orthogonal nor ordered by variance.

    Parameters
    ----------
    n_components : int, optional
        As many as columns when not given.
    alpha : float, default=1
        Weight of the penalty: more zeros.
    ridge_alpha : float, default=0.01
        Ridge of `transform`.
    max_iter : int, default=1000
    tol : float, default=1e-8
        Stop when the objective falls by less than this share of it.
    method : {"lars", "cd"}
        Kept for scikit-learn; the lasso is solved by coordinate descent.
    n_jobs, verbose
        Kept for scikit-learn.
    U_init, V_init : arrays of shape (n, K), (K, p), optional
        Where to start; the SVD when not given.
    random_state
        Kept for scikit-learn.

    Attributes
    ----------
    components_ : array of shape (K, p)
        Rows of unit length (or zero).
    mean_ : array of shape (p,)
    error_ : array
        The objective in every step.
    n_components_, n_iter_ : int

    Examples
    --------
    >>> X = np.array([[1, 1, 0.1], [-1, -1, 0], [2, 2, -0.1], [-2, -2, 0]])
    >>> np.abs(SparsePCA(1, alpha=0.5).fit(X).components_).round(3)
    array([[0.707, 0.707, 0.   ]])
    """

    _stop: ClassVar[str] = "relative"
    _reads = Reads(min_rows=2)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT, None],
        "alpha": [NOT_NEGATIVE],
        "ridge_alpha": [NOT_NEGATIVE],
        "max_iter": [COUNT],
        "tol": [NOT_NEGATIVE],
        "method": [StrOptions({"lars", "cd"})],
        "n_jobs": [None, int],
        "U_init": [None, np.ndarray],
        "V_init": [None, np.ndarray],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        alpha: float = 1,
        ridge_alpha: float = 0.01,
        max_iter: int = 1000,
        tol: float = 1e-8,
        method: str = "lars",
        n_jobs: int | None = None,
        U_init: Any = None,
        V_init: Any = None,
        verbose: Any = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.ridge_alpha = ridge_alpha
        self.max_iter = max_iter
        self.tol = tol
        self.method = method
        self.n_jobs = n_jobs
        self.U_init = U_init
        self.V_init = V_init
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the components from the rows of X."""
        return self._learn(self._read(X), X=X)

    def _prepare(self, rows: Any) -> tuple[Array, Array]:
        X = np.asarray(rows.X, dtype=np.float64)
        mean = X.mean(axis=0)
        Z = X - mean
        if not np.isfinite((Z**2).sum()):
            raise DataError("X has entries so large that their squares overflow; scale its columns.")
        return Z, mean

    def _start(self, work: Any, rng: Any) -> SparseState:
        Z, _ = work
        n, p = Z.shape
        K = p if self.n_components is None else int(self.n_components)
        if self.U_init is not None and self.V_init is not None:
            U, V = np.array(self.U_init, dtype=np.float64), np.array(self.V_init, dtype=np.float64)
            if U.shape != (n, K) or V.shape != (K, p):
                raise DataError(f"U_init and V_init must have shapes ({n}, {K}) and ({K}, {p}).")
        else:
            u, s, vt = linalg.svd(Z, full_matrices=False)
            r = min(K, len(s))
            U, V = np.zeros((n, K)), np.zeros((K, p))
            signs = np.where(vt[np.arange(len(vt)), np.abs(vt).argmax(axis=1)] < 0, -1.0, 1.0)
            U[:, :r], V[:r] = (u * signs)[:, :r], (s[:, None] * vt * signs[:, None])[:r]
        return SparseState(U, V, np.inf)

    def _step(self, work: Any, state: SparseState) -> tuple[SparseState, Report]:
        Z, _ = work
        U = state.U.copy()
        V = lasso_sweeps(U.T @ U, U.T @ Z, state.V, float(self.alpha), 100)
        R = Z - U @ V
        for k in range(len(V)):  # every code in turn, the others held fixed
            size = float(V[k] @ V[k])
            if size > 0:
                R += np.outer(U[:, k], V[k])
                u = R @ V[k] / size
                U[:, k] = u / max(1.0, float(np.linalg.norm(u)))
                R -= np.outer(U[:, k], V[k])
        value = 0.5 * float((R * R).sum()) + float(self.alpha) * float(np.abs(V).sum())
        return SparseState(U, V, value), Report(value)

    def _attributes(self, state: SparseState) -> dict[str, Any]:
        V = state.V
        size = np.linalg.norm(V, axis=1)
        V = V / np.where(size > 0, size, 1.0)[:, None]
        signs = np.where(V[np.arange(len(V)), np.abs(V).argmax(axis=1)] < 0, -1.0, 1.0)
        return {"components_": V * signs[:, None], "n_components_": len(V)}

    def _learned(self, run: Any) -> dict[str, Any]:
        return {**super()._learned(run), "error_": np.array(run.trace.objective)}

    def _keep(self, run: Any, data: Any) -> None:
        self._adopt({**self._learned(run), "mean_": np.asarray(data.X, dtype=np.float64).mean(axis=0)}, data)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def transform(self, X: Any) -> Array:
        """Return the scores by ridge regression on the components."""
        check_fitted(self)
        V = self.components_
        G = V @ V.T + self.ridge_alpha * np.eye(len(V))
        axes = linalg.lstsq(G, V)[0].T
        return per_row(scores_of, self._rows(X), self.mean_, np.ascontiguousarray(axes))

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows that scores stand for."""
        check_fitted(self)
        return np.asarray(X) @ self.components_ + self.mean_
