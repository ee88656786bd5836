"""Truncated SVD: low-rank coordinates without centering, for sparse counts and latent semantic indexing."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.sums import Chunk, per_row, total
from gnomon.core.validate import COUNT, NOT_NEGATIVE, Reads, check_fitted
from gnomon.decomposition import _spectra, singular
from gnomon.decomposition._scatter import check_scatter, scatter_sums


def products(chunk: Chunk, axes: Array) -> Array:
    """x · axes."""
    return np.asarray(chunk.X @ axes, dtype=chunk.X.dtype)


def column_moments(chunk: Chunk, shift: Array) -> tuple[float, Array, Array]:
    """Weight, Σ w (x − shift) and Σ w (x − shift)² of every column."""
    X, w = chunk.X, chunk.weight
    if sparse.issparse(X):
        X = X.astype(np.float64)
        first = X.T @ w
        second = X.multiply(X).T @ w - 2.0 * shift * first + w.sum() * shift**2
        return float(w.sum()), first - w.sum() * shift, np.asarray(second)
    Z = X - shift
    return float(w.sum()), w @ Z, w @ (Z * Z)


class TruncatedSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OneStep):
    r"""Truncated singular value decomposition, X ≈ U_K S_K V_Kᵀ; on word counts: latent semantic indexing.

    .. math:: \min_{\operatorname{rank} B \le K} \lVert X - B \rVert_F^2 = \sum_{i > K} s_i^2

    Rows are not centered, so sparse matrices stay sparse and zero keeps its meaning. Coordinates are U S = X V.

    Parameters
    ----------
    n_components : int, default=2
    algorithm : {"randomized", "arpack"}
        "randomized" takes the exact route where the matrix is small enough for it to be as quick.
    n_iter, n_oversamples : int
        Power steps and extra directions of the randomized method.
    power_iteration_normalizer : str
        Kept for scikit-learn; steps are always orthonormalized.
    random_state : int, RandomState, Generator or None
    tol : float, default=0.0
        Of "arpack".

    Attributes
    ----------
    components_ : array of shape (K, p)
        Right singular vectors; the entry of largest size in each row is positive.
    singular_values_ : array of shape (K,)
    explained_variance_, explained_variance_ratio_ : arrays of shape (K,)
        Variance (divisor n) of the coordinates, and its share of that of the columns.

    Examples
    --------
    >>> model = TruncatedSVD(1).fit([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> model.singular_values_.round(4), model.transform([[1.0, 2.0]]).round(2)
    (array([9.5255]), array([[2.19]]))
    """

    _reads = Reads(sparse=True, scales=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT],
        "algorithm": [StrOptions({"arpack", "randomized"})],
        "n_iter": [Interval(Integral, 0, None, closed="left")],
        "n_oversamples": [Interval(Integral, 1, None, closed="left")],
        "power_iteration_normalizer": [StrOptions({"auto", "OR", "QR", "LU", "none"})],
        "random_state": ["random_state"],
        "tol": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        algorithm: str = "randomized",
        n_iter: int = 5,
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        tol: float = 0.0,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _solve(self, rows: Any) -> dict[str, Any]:
        n, p, K = rows.n_rows, rows.n_features, int(self.n_components)
        if K > p:
            raise DataError(f"n_components({K}) must be <= n_features({p}).")
        if self.algorithm == "arpack" and not K < min(n, p):
            raise DataError(
                f"n_components must be strictly below min(n_samples, n_features)={min(n, p)} with "
                f"algorithm='arpack'; got {K}."
            )
        s, Vt = self._vectors(rows, min(K, min(n, p)))
        if len(s) < K:
            s, Vt = np.r_[s, np.zeros(K - len(s))], np.vstack([Vt, np.zeros((K - len(s), p))])
        if not np.isfinite(s).all():
            raise DataError("X has entries so large that their squares overflow; scale its columns.")
        mass, first, second = total(column_moments, rows, _first_row(rows))
        variance = np.maximum(second / mass - (first / mass) ** 2, 0.0).sum()
        own, mean, square = total(score_moments, rows, Vt.T)
        explained = np.maximum(square / own - (mean / own) ** 2, 0.0)
        return {
            "components_": Vt,
            "singular_values_": s,
            "explained_variance_": explained,
            "explained_variance_ratio_": explained / variance if variance > 0 else np.zeros(K),
        }

    def _vectors(self, rows: Any, K: int) -> tuple[Array, Array]:
        n, p = rows.n_rows, rows.n_features
        if not rows.in_memory or (self.algorithm == "randomized" and p <= 1000 and n >= p):
            sums = total(scatter_sums, rows).about_origin()
            check_scatter(sums, rows)
            found = _spectra.of_scatter(sums, K)
            if not rows.in_memory or found.values[-1] > 1e-12 * found.values[0]:
                return np.sqrt(found.values), found.vectors
        X: Any = (
            _spectra.Centered(rows, np.zeros(p)) if rows.weighted else rows.X.astype(np.float64, copy=False)
        )
        if self.algorithm == "arpack":
            parts = singular.lanczos(X, K, self.random_state, tol=self.tol)
        elif min(n, p) <= 200 and not rows.weighted:
            U, s, Vt = singular.thin_svd(X.toarray() if sparse.issparse(X) else X)
            parts = U[:, :K], s[:K], Vt[:K]
        else:
            parts = singular.randomized(
                X, K, self.random_state, oversamples=self.n_oversamples, power=self.n_iter
            )
        _, s, Vt = singular.signed(*parts)
        return s, np.ascontiguousarray(Vt)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def transform(self, X: Any) -> Array:
        """Return the coordinates X V of the rows."""
        rows = self._rows(X)
        return per_row(products, rows, np.ascontiguousarray(self.components_.T))

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and return the coordinates of the rows."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows that coordinates stand for."""
        check_fitted(self)
        return np.asarray(X) @ self.components_


def score_moments(chunk: Chunk, axes: Array) -> tuple[float, Array, Array]:
    """Weight, sum and squares of the coordinates."""
    T = np.asarray(chunk.X @ axes, dtype=np.float64)
    return float(chunk.weight.sum()), chunk.weight @ T, chunk.weight @ (T * T)


def _first_row(rows: Any) -> Array:
    """A value near every column."""
    if rows.in_memory and not rows.sparse:
        return np.asarray(rows.X[0], dtype=np.float64)
    return np.zeros(rows.n_features)
