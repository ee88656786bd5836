"""Features whose inner products are nearly a kernel: pivots, Nyström landmarks, random waves."""

from __future__ import annotations

from math import sqrt
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg, sparse

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.promises import Promises
from gnomon.core.randomness import generator
from gnomon.core.validate import Reads
from gnomon.kernels.maps import NamedColumns
from gnomon.kernels.tiles import wide
from gnomon.kernels.using import KERNEL, TakesKernel, gamma_of

SEED = ["random_state", np.random.Generator]


def pivoted_cholesky(kernel: Any, X: Any, rank: int, tol: float) -> tuple[Array, Array]:
    """Return R (rank, n) with RᵀR ≈ k(X) and the pivots: greedily the row of largest residual, lowest of equals.

    Gram–Schmidt in the space of features; it ends when the residual trace is at most tol times the trace.
    """
    residual = np.array(kernel.diag(X), dtype=np.float64)
    total = float(residual.sum())
    rank = min(rank, len(residual))
    R, pivots = np.zeros((rank, len(residual))), []
    for k in range(rank):
        at = int(np.argmax(residual))
        if residual.sum() <= tol * total or not residual[at] > 1e-14 * max(total, 1e-300):
            break
        row = np.asarray(kernel(X[at : at + 1], X))[0]
        R[k] = (row - R[:k, at] @ R[:k]) / np.sqrt(residual[at])
        pivots.append(at)
        residual = np.maximum(residual - R[k] ** 2, 0.0)
        residual[pivots] = 0.0
    return R[: len(pivots)], np.array(pivots, dtype=np.int64)


class PivotedMap(TakesKernel, NamedColumns):
    r"""Coordinates in an orthonormal basis of a few rows' images, chosen greedily (Gram–Schmidt, pivoted Cholesky).

    Inner products of the features are :math:`k(x, P)k(P, P)^{-1}k(P, z)` for the pivots P: exact on them, and exact
    everywhere once their images span all. Deterministic, unlike `Nystroem`.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
    rank : int, optional
        Features at most; as many as rows by default.
    tol : float, default=1e-10
        Stop when this share of the trace is left.
    gamma, degree, coef0, kernel_params
        Of the kernel.

    Attributes
    ----------
    pivots_ : array
        Numbers of the chosen rows.
    residual_ : float
        Share of the trace of the Gram matrix that is left.

    Examples
    --------
    >>> model = PivotedMap("linear").fit([[3.0, 4.0], [1.0, 0.0], [0.0, 1.0]])
    >>> model.pivots_, model.transform([[3.0, 4.0]]).round(4)
    (array([0, 1]), array([[5., 0.]]))
    """

    _reads: ClassVar[Reads] = Reads(sparse=True)
    _promises: ClassVar[Promises] = Promises(order="no: of equally good pivots the first row is taken")
    _parameter_constraints: ClassVar[dict[str, Any]] = KERNEL | {
        "rank": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        rank: int | None = None,
        tol: float = 1e-10,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
    ) -> None:
        self.kernel = kernel
        self.rank = rank
        self.tol = tol
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the pivots; `y` is ignored."""
        rows = self._read(X)
        if self._precomputed:
            raise DataError("PivotedMap needs rows and a kernel of them; kernel='precomputed' has none.")
        kernel = self._kernel_for(rows.n_features)
        R, pivots = pivoted_cholesky(
            kernel, rows.X, rows.n_rows if self.rank is None else int(self.rank), self.tol
        )
        if not len(pivots):
            raise DataError("the kernel is zero on every row, so there is nothing to map to.")
        total = float(np.sum(kernel.diag(rows.X)))
        left = max(0.0, 1.0 - float(np.vdot(R, R)) / total)
        found = {
            "pivots_": pivots,
            "pivot_rows_": rows.X[pivots],
            "triangle_": R[:, pivots],
            "residual_": left,
        }
        self._adopt(found, rows)
        return self

    def transform(self, X: Any) -> Array:
        """Return the coordinates."""
        asked = self._asked(X)
        K = np.asarray(self._kernel_for(self.n_features_in_)(asked, self.pivot_rows_))
        return linalg.solve_triangular(self.triangle_, K.T, trans="T", lower=False).T

    def _width(self) -> int:
        return len(self.pivots_)

    def _check_loaded(self) -> None:
        if "triangle_" in vars(self):
            m = len(self.pivots_)
            if self.triangle_.shape != (m, m) or self.pivot_rows_.shape != (m, self.n_features_in_):
                raise ModelFileError("pivots, rows and triangle do not fit together.")


class Nystroem(TakesKernel, NamedColumns):
    r"""Features from a random part of the rows: :math:`\phi(x) = k(x, P)\,k(P, P)^{-1/2}`.

    A linear model on them is near the kernel machine at a cost linear in the rows. Adapts to the data, so it usually
    needs fewer features than `RBFSampler`.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
    gamma, coef0, degree, kernel_params
        Of the kernel.
    n_components : int, default=100
        Rows to draw.
    random_state, n_jobs

    Attributes
    ----------
    components_, component_indices_, normalization_
        As in scikit-learn.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> features = Nystroem(gamma=1.0, n_components=3, random_state=0).fit_transform(X)
    >>> (features @ features.T).round(4)[0]
    array([1.    , 0.3679, 0.0183])
    """

    _reads: ClassVar[Reads] = Reads(sparse=True)
    _promises: ClassVar[Promises] = Promises(order="statistical: rows are drawn by their number")
    _parameter_constraints: ClassVar[dict[str, Any]] = KERNEL | {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": SEED,
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw rows and find the root of their Gram matrix; `y` is ignored."""
        named = isinstance(self.kernel, str) and not self._precomputed
        idle = [name for name in ("gamma", "coef0", "degree") if getattr(self, name) is not None]
        if idle and not named:
            raise ValueError(
                f"Don't pass gamma, coef0 or degree to Nystroem with a kernel that is no name: {idle[0]} would change "
                "nothing. Say it to the kernel, or in kernel_params."
            )
        rows = self._read(X)
        count = min(int(self.n_components), rows.n_rows)
        chosen = np.sort(generator(self.random_state).permutation(rows.n_rows)[:count])
        parts = rows.X[np.ix_(chosen, chosen)] if self._precomputed else rows.X[chosen]
        K = wide(parts) if self._precomputed else np.asarray(self._kernel_for(rows.n_features)(parts))
        values, vectors = linalg.eigh(K)
        values = np.maximum(values, 1e-12 * max(float(values[-1]), 1e-300))
        root = (vectors / np.sqrt(values)) @ vectors.T
        self._adopt({"components_": parts, "component_indices_": chosen, "normalization_": root}, rows)
        return self

    def transform(self, X: Any) -> Array:
        """Return the features."""
        asked = self._asked(X)
        if self._precomputed:
            return wide(asked)[:, self.component_indices_] @ self.normalization_.T
        return (
            np.asarray(self._kernel_for(self.n_features_in_)(asked, self.components_)) @ self.normalization_.T
        )

    def _width(self) -> int:
        return int(self.normalization_.shape[0])

    def _check_loaded(self) -> None:
        if "normalization_" in vars(self):
            m = self.components_.shape[0]
            if self.normalization_.shape != (m, m) or len(self.component_indices_) != m:
                raise ModelFileError("components and normalization do not fit together.")
            if self._precomputed and (
                min(self.component_indices_) < 0 or max(self.component_indices_) >= self.n_features_in_
            ):
                raise ModelFileError("a component's number is not that of a column.")


class RBFSampler(NamedColumns):
    r"""Random Fourier features of the RBF kernel: :math:`\sqrt{2/D}\cos(w\cdot x + b)`, w normal, b uniform.

    Inner products are the kernel on average, with an error of about :math:`1/\sqrt D` (Rahimi & Recht, 2007). They need
    no rows of the fit, so they suit streams.

    Parameters
    ----------
    gamma : "scale" or float, default=1.0
    n_components : int, default=100
    random_state

    Attributes
    ----------
    random_weights_, random_offset_
        As in scikit-learn.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0]])
    >>> features = RBFSampler(gamma=1.0, n_components=20_000, random_state=0).fit_transform(X)
    >>> bool(abs(features[0] @ features[1] - np.exp(-1.0)) < 0.02)
    True
    """

    _reads: ClassVar[Reads] = Reads(sparse=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "gamma": [StrOptions({"scale"}), Interval(Real, 0.0, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": SEED,
    }

    def __init__(self, *, gamma: Any = 1.0, n_components: int = 100, random_state: Any = None) -> None:
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw frequencies and phases; `y` is ignored."""
        rows, rng = self._read(X), generator(self.random_state)
        gamma = gamma_of(self.gamma, rows.X, np.ones(rows.n_rows))
        w = sqrt(2.0 * gamma) * rng.normal(size=(rows.n_features, int(self.n_components)))
        b = rng.uniform(0.0, 2.0 * np.pi, size=int(self.n_components))
        self._adopt({"random_weights_": w, "random_offset_": b}, rows)
        return self

    def transform(self, X: Any) -> Array:
        """Return the features."""
        X = self._rows(X).X
        product = X @ self.random_weights_
        product = product.toarray() if sparse.issparse(product) else product
        return np.cos(product + self.random_offset_) * sqrt(2.0 / len(self.random_offset_))

    def _width(self) -> int:
        return len(self.random_offset_)

    def _check_loaded(self) -> None:
        if "random_weights_" in vars(self) and self.random_weights_.shape != (
            self.n_features_in_,
            self._width(),
        ):
            raise ModelFileError("weights and offsets do not fit together.")
