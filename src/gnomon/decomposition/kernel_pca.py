"""Kernel principal components: PCA of features that need not be written down."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import Kernel as SklearnKernel
from sklearn.utils import Tags

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array, fix_signs, symmetric_eigen
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import generator
from gnomon.core.threads import one_blas_thread, shared
from gnomon.core.validate import COUNT, NOT_NEGATIVE, NUMBER, Reads, warn
from gnomon.decomposition._kernel_queries import KernelQueries
from gnomon.decomposition._kernels import KERNELS, chosen_landmarks, kernel_of, rounding
from gnomon.decomposition._krylov import leading_eigen

TINY, SMALL = 100, 600  # rows up to which all eigenvectors are computed: in any case, and with "auto"
STRIP = 512  # rows of a kernel matrix that are multiplied at a time
MOST_STEPS = 200  # of Lanczos before all eigenvectors are computed after all


def _strips(K: Array) -> list[slice]:
    return [slice(i, i + STRIP) for i in range(0, len(K), STRIP)]


def _column_means(K: Array) -> Array:
    """Means of the columns of a large matrix, some rows at a time on the threads."""
    return reduce(np.add, shared(lambda part: K[part].sum(axis=0), _strips(K))) / len(K)


class KernelPCA(KernelQueries, OneStep):
    r"""Kernel principal component analysis (Schölkopf, Smola and Müller 1998).

    .. math:: K_c a_k = \lambda_k a_k, \quad \lVert a_k \rVert = 1, \qquad
        y_k(x) = \sum_i \frac{a_{ki}}{\sqrt{\lambda_k}}\, k_c(x_i, x)

    PCA of φ(x) through the n × n matrix of inner products, centered in feature space unless ``center=False``. With the
    linear kernel it is `PCA`; with a Gaussian one it unrolls rings and curves. The squared distance of a point to the
    subspace, `residual`, is a novelty score. Memory is n²; take `n_landmarks` for many rows.

    Parameters
    ----------
    n_components : int, optional
        Components to keep; all with a positive eigenvalue when not given.
    kernel : str, kernel or callable, default="linear"
        "linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "precomputed", ..., a kernel of `gnomon.kernels`,
        or a function of two rows.
    gamma : float, optional
        exp(−γ‖x − z‖²): γ = 1/c for exp(−‖·‖²/c), 1/(2σ²) for a deviation σ; 1/p when not given.
    degree, coef0
        Of the polynomial and sigmoid kernels.
    kernel_params : dict, optional
        Named arguments of a function.
    alpha : float, default=1.0
        Ridge of the pre-image regression.
    fit_inverse_transform : bool, default=False
        Learn pre-images: a kernel ridge regression from coordinates back to rows.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}
        "auto" is dense for up to 600 rows, block Lanczos ("arpack") beyond; both are exact. Every solver is dense for
        up to 100 rows, and where more than an eighth of all components are wanted.
    tol, max_iter
        Of Lanczos: residual as a share of the eigenvalue (1e-9 for 0), and steps of a block.
    iterated_power : int or "auto"
        Power steps of "randomized".
    remove_zero_eig : bool, default=False
        Drop components of eigenvalue 0 even where n_components asks for them.
    random_state : int, RandomState, Generator or None
        For "arpack" and "randomized".
    copy_X, n_jobs
        Kept for scikit-learn.
    center : bool, default=True
        Whether features are centered.
    coordinates : {"unit", "eigenvalue"}
        Coordinates along unit axes, √λ a, or the other usual scaling, λ a.
    n_landmarks : int, optional
        Work in the span of so many rows, chosen by pivoted Cholesky (Nyström); `residual_trace_` says what is lost.

    Attributes
    ----------
    eigenvalues_ : array of shape (K,)
    eigenvectors_ : array of shape (n, K)
    dual_coef_ : array of shape (m, K)
        Coordinates are k(x, X_fit_)·dual_coef_ − offset_.
    offset_ : array of shape (K,)
    X_fit_ : array of shape (m, p)
        The rows (or landmarks) behind the kernel.
    X_transformed_fit_ : array of shape (n, K)
        Where pre-images were learned.
    residual_trace_ : float
        Trace of the kernel matrix that the landmarks miss; 0 without them.

    Examples
    --------
    >>> model = KernelPCA(kernel="rbf", gamma=1.0, center=False).fit([[0.0], [1.0], [3.0]])
    >>> model.eigenvalues_.round(6), model.residual([[2.0]]).round(6)
    (array([1.368341, 0.999988, 0.631671]), array([0.719]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT, None],
        "kernel": [StrOptions({*KERNELS, "precomputed"}), SklearnKernel, callable],
        "gamma": [Interval(Real, 0, None, closed="left"), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [NUMBER],
        "kernel_params": [dict, None],
        "alpha": [NOT_NEGATIVE],
        "fit_inverse_transform": ["boolean"],
        "eigen_solver": [StrOptions({"auto", "dense", "arpack", "randomized"})],
        "tol": [NOT_NEGATIVE],
        "max_iter": [COUNT, None],
        "iterated_power": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "remove_zero_eig": ["boolean"],
        "random_state": ["random_state"],
        "copy_X": ["boolean"],
        "n_jobs": [None, Integral],
        "center": ["boolean"],
        "coordinates": [StrOptions({"unit", "eigenvalue"})],
        "n_landmarks": [COUNT, None],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: Any = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        center: bool = True,
        coordinates: str = "unit",
        n_landmarks: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.center = center
        self.coordinates = coordinates
        self.n_landmarks = n_landmarks

    _reads = Reads(sparse=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    # fitting

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the components.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, p)
            The rows, or their kernel matrix with ``kernel="precomputed"``.
        y : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        self
            The fitted model.
        """
        return self._learn(self._read(X), X=X)

    def _solve(self, rows: Any) -> dict[str, Any]:
        if self.fit_inverse_transform and self.kernel == "precomputed":
            raise DataError(
                "Cannot fit_inverse_transform with a precomputed kernel; give the rows themselves."
            )
        if rows.n_rows < 2 and self.center:
            raise DataError(
                "KernelPCA needs at least 2 rows of X to find a direction about their mean; n_samples=1."
            )
        X, origin = rows.X, None
        if self.kernel == "linear" and self.center and not sparse.issparse(X):
            origin = np.asarray(X, dtype=np.float64).mean(
                axis=0
            )  # far from zero products have no digits left
        if self.n_landmarks is not None and self.n_landmarks < rows.n_rows:
            found = self._by_landmarks(X, origin)
        else:
            found = self._exact(X, origin)
        if origin is not None:
            found["origin_"] = origin
        if self.fit_inverse_transform:
            found |= self._learn_pre_images(X, found)
        return found

    def _exact(self, X: Any, origin: Array | None) -> dict[str, Any]:
        K = self._gram(X, origin=origin)
        S = self._checked_gram(K)
        means = _column_means(K) if self.center else np.zeros(len(K))
        grand = float(means.mean())
        values, vectors = self._eigen(S, means if S is K else S.mean(axis=0), grand)
        values, vectors = self._kept(values, vectors, self._rounding(K))
        dual = self._dual(vectors, values)
        if self.center:
            offset = means @ dual - grand * dual.sum(axis=0)
            dual = dual - dual.mean(axis=0)
        else:
            offset = np.zeros(dual.shape[1])
        return {
            "eigenvalues_": values,
            "eigenvectors_": vectors,
            "dual_coef_": dual,
            "offset_": offset,
            "X_fit_": X.copy() if self.kernel != "precomputed" else K,
            "column_means_": means,
            "grand_mean_": grand,
            "residual_trace_": 0.0,
            "gamma_": float(self.gamma if self.gamma is not None else 1.0 / X.shape[1]),
        }

    def _checked_gram(self, K: Array) -> Array:
        """K where it is symmetric, its symmetric part where K is so only once it is centered."""
        if self.kernel != "precomputed":
            return K
        if K.shape[0] != K.shape[1]:
            raise DataError(
                f"X must be a square kernel matrix with kernel='precomputed'; its shape is {K.shape}."
            )
        gap, slack = K - K.T, 1e-8 * max(float(np.abs(K).max()), 1e-300)
        if np.abs(gap).max() <= slack:
            return K
        lean = gap.mean(axis=1)  # a gap that is lean[i] - lean[j] vanishes in H K H
        if not self.center or np.abs(gap - lean[:, None] + lean).max() > slack:
            raise DataError("X must be symmetric with kernel='precomputed'; take (X + X.T) / 2.")
        return (K + K.T) / 2.0

    def _eigen(self, K: Array, means: Array, grand: float) -> tuple[Array, Array]:
        n = len(K)
        wanted = n if self.n_components is None else min(n, int(self.n_components))
        solver = self.eigen_solver
        if solver == "auto":
            solver = "dense" if n <= SMALL else "arpack"
        if solver == "dense" or n <= TINY or wanted > n / 8:
            return self._all_eigen(K, means, grand, wanted)
        with one_blas_thread():  # blocks are narrow: threads of BLAS would wait for each other
            if solver == "randomized":
                return self._randomized(self._products(K), n, wanted)
            steps = MOST_STEPS if self.max_iter is None else int(self.max_iter)
            rng = generator(self.random_state)
            found = leading_eigen(self._products(K), n, wanted, rng, tol=self.tol, max_steps=steps)
        values, vectors, converged = found
        if not converged and self.max_iter is None:  # eigenvalues lie close together: rotations are surer
            return self._all_eigen(K, means, grand, wanted)
        if not converged:
            warn(
                f"eigenvectors have not converged in max_iter={self.max_iter} steps; raise it, or take "
                "eigen_solver='dense'.",
                ConvergenceWarning,
            )
        return values, vectors

    def _products(self, K: Array) -> Callable[[Array], Array]:
        """Products of the centered matrix with narrow ones, some rows at a time on the threads."""
        parts = _strips(K)

        def times(V: Array) -> Array:
            Vt = V.T - V.mean(axis=0)[:, None] if self.center else V.T
            found = shared(lambda part: Vt[:, part] @ K[part], parts)  # quicker than K V: K is symmetric
            out = reduce(np.add, found)
            return (out - out.mean(axis=1)[:, None] if self.center else out).T

        return times

    def _all_eigen(self, K: Array, means: Array, grand: float, wanted: int) -> tuple[Array, Array]:
        C = K - means - means[:, None] + grand if self.center else K
        return symmetric_eigen((C + C.T) / 2.0, wanted)

    def _randomized(self, times: Any, n: int, wanted: int) -> tuple[Array, Array]:
        Q = generator(self.random_state).standard_normal((n, min(n, wanted + 10)))
        for _ in range(4 if self.iterated_power == "auto" else int(self.iterated_power)):
            Q = linalg.qr(times(Q), mode="economic")[0]
        Q = linalg.qr(times(Q), mode="economic")[0]
        values, small = linalg.eigh(Q.T @ times(Q))
        return values[::-1][:wanted], (Q @ small[:, ::-1])[:, :wanted]

    def _rounding(self, K: Array) -> float:
        """Eigenvalues below it may be rounding; the largest entry of most kernels lies on the diagonal."""
        known = self.kernel != "precomputed" and self._kernel(1).is_psd
        return rounding(K.diagonal() if known else K)

    def _kept(self, values: Array, vectors: Array, slack: float) -> tuple[Array, Array]:
        n = len(vectors)
        top = float(values[0]) if len(values) else 0.0
        least = float(values.min(initial=0.0))
        if least < -max(1e-8 * top, slack, 1e-300) and self.kernel != "sigmoid":
            raise DegenerateError(
                f"There are significant negative eigenvalues, {least:.3g} beside {top:.3g}: the kernel of X is not "
                "positive semi-definite. Choose another kernel, add to the diagonal, or lower n_components."
            )
        floor = n * np.finfo(np.float64).eps * max(top, 0.0), 1e-12 * max(top, 1e-300)
        positive = values > max(*floor, slack if self.center else 0.0)
        if not positive.any():
            raise DegenerateError(
                "the rows of X are all one point in feature space, up to rounding; there is no component. Scale the "
                "columns of X, or choose another gamma."
            )
        lost = int((~positive).sum())
        if self.remove_zero_eig or self.n_components is None:
            values, vectors = values[positive], vectors[:, positive]
        elif lost:
            warn(
                f"only {len(values) - lost} eigenvalues are positive, fewer than n_components={self.n_components}; the "
                "other coordinates are 0."
            )
            values = np.where(positive, values, 0.0)
        return values, fix_signs(vectors)

    def _dual(self, vectors: Array, values: Array) -> Array:
        root = np.where(values > 0, np.sqrt(np.maximum(values, 1e-300)), np.inf)
        return vectors / root if self.coordinates == "unit" else np.where(values > 0, vectors, 0.0)

    def _by_landmarks(self, X: Any, origin: Array | None) -> dict[str, Any]:
        """Pivoted incomplete Cholesky without the whole matrix, then PCA of the features it leaves."""
        if self.kernel == "precomputed":
            raise DataError("n_landmarks needs the rows themselves, not kernel='precomputed'.")
        X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        moved = X if origin is None else X - origin
        R, pivots, left = chosen_landmarks(self._kernel(X.shape[1]), moved, int(self.n_landmarks))  # type: ignore[arg-type]
        F = R.T  # features of the rows
        mean = F.mean(axis=0) if self.center else np.zeros(F.shape[1])
        C = F - mean
        values, V = linalg.eigh(C.T @ C)
        K = len(values) if self.n_components is None else min(int(self.n_components), len(values))
        values, V = values[::-1][:K], V[:, ::-1][:, :K]
        good = values > 1e-12 * values[0]
        values, V = values[good], V[:, good]
        vectors = (C @ V) / np.sqrt(values)
        signs = np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))] < 0, -1.0, 1.0)
        V, vectors = V * signs, vectors * signs
        size = np.ones(len(values)) if self.coordinates == "unit" else np.sqrt(values)
        dual = linalg.solve_triangular(
            F[pivots].T, V * size
        )  # features of x are solve(F_mᵀ, k(landmarks, x))
        return {
            "eigenvalues_": values,
            "eigenvectors_": vectors,
            "dual_coef_": dual,
            "offset_": mean @ (V * size),
            "X_fit_": X[pivots],
            "landmarks_": np.array(pivots),
            "feature_factor_": F[pivots],
            "feature_mean_": mean,
            "column_means_": np.zeros(len(pivots)),
            "grand_mean_": float(mean @ mean),
            "residual_trace_": left,
            "gamma_": float(self.gamma if self.gamma is not None else 1.0 / X.shape[1]),
        }

    def _learn_pre_images(self, X: Any, found: dict[str, Any]) -> dict[str, Any]:
        dense = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        K = self._gram(X, found["X_fit_"], found.get("origin_"))
        Z = K @ found["dual_coef_"] - found["offset_"]
        kernel = kernel_of(
            self.kernel, Z.shape[1], found["gamma_"], self.degree, self.coef0, self.kernel_params
        )
        K = np.asarray(kernel(Z))
        K[np.diag_indices(len(K))] += self.alpha
        solved = linalg.solve(K, dense, assume_a="pos" if self.alpha > 0 else "sym")
        return {"X_transformed_fit_": Z, "pre_image_coef_": solved}
