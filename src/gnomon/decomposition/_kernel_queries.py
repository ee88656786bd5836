"""What fitted kernel components are asked: coordinates, distances to their span, pre-images."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import check_fitted, matrix
from gnomon.decomposition._kernels import kernel_of

ROWS = 2048  # of new points whose kernel rows are held at once


class KernelQueries(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The answers of fitted kernel components."""

    kernel: Any
    gamma: float | None
    degree: float
    coef0: float
    kernel_params: dict[str, Any] | None

    def _gram(self, A: Any, B: Any = None, origin: Array | None = None) -> Array:
        """k between the rows of A and B, or among those of A, seen from an origin (zero when not given)."""
        if self.kernel == "precomputed":
            return np.asarray(A.toarray() if sparse.issparse(A) else A, dtype=np.float64)
        k = self._kernel(A.shape[1])
        A = A if sparse.issparse(A) else np.asarray(A, dtype=np.float64)
        if origin is not None:
            A, B = A - origin, None if B is None else B - origin
        return np.asarray(k(A) if B is None else k(A, B), dtype=np.float64)

    def _kernel(self, d: int) -> Any:
        return kernel_of(self.kernel, d, self.gamma, self.degree, self.coef0, self.kernel_params)

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def transform(self, X: Any) -> Array:
        """Return the coordinates of the rows along the components."""
        X = self._rows(X).X
        parts = [self._block(X[i : i + ROWS]) for i in range(0, X.shape[0], ROWS)]
        return np.concatenate(parts).astype(X.dtype, copy=False)

    def _block(self, X: Any) -> Array:
        K = self._gram(X, self.X_fit_, getattr(self, "origin_", None))
        return K @ self.dual_coef_ - self.offset_

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and return the coordinates of the rows."""
        self.fit(X)
        size = np.sqrt(self.eigenvalues_) if self.coordinates == "unit" else self.eigenvalues_
        return (self.eigenvectors_ * size).astype(self.X_fit_.dtype, copy=False)

    def residual(self, X: Any, diagonal: Any = None) -> Array:
        r"""Return the squared distance of every point to the principal subspace in feature space.

        :math:`k_c(x, x) - \lVert y(x) \rVert^2`, at least 0. With ``kernel="precomputed"`` the rows of X are k(x, x_i),
        and `diagonal` holds k(x, x).
        """
        X = self._rows(X).X
        if self.kernel == "precomputed":
            if diagonal is None:
                raise DataError("residual with kernel='precomputed' needs `diagonal`, the values k(x, x).")
            own, K = np.asarray(diagonal, dtype=np.float64), self._gram(X)
        else:
            origin = getattr(self, "origin_", None)
            moved = X if origin is None else X - origin
            own, K = np.asarray(self._kernel(X.shape[1]).diag(moved)), self._gram(X, self.X_fit_, origin)
        scores = K @ self.dual_coef_ - self.offset_
        if self.coordinates == "eigenvalue":
            scores = scores / np.where(self.eigenvalues_ > 0, np.sqrt(self.eigenvalues_), np.inf)
        size = np.abs(own) + self.grand_mean_
        if self.center:
            own = own - 2.0 * self._mean_similarity(K) + self.grand_mean_
        left = own - (scores**2).sum(axis=1)
        return np.where(left > 1e-11 * size, left, 0.0)  # below that it is rounding

    def _mean_similarity(self, K: Array) -> Array:
        """The inner product of φ(x) with the mean of the training features."""
        if hasattr(self, "feature_mean_"):
            return K @ linalg.solve_triangular(self.feature_factor_.T, self.feature_mean_)
        return K.mean(axis=1)

    def score_samples(self, X: Any) -> Array:
        """Return minus the residual: small for points unlike the training rows."""
        if self.kernel == "precomputed":
            raise DataError("score_samples needs the rows themselves; use residual(X, diagonal).")
        return -self.residual(X)

    def novelty(self, X: Any, quantile: float = 0.95, *, reference: Any = None) -> Array:
        """Return which points lie farther from the subspace than this quantile of the reference points."""
        known = self.residual(self.X_fit_ if reference is None else reference)
        return self.residual(X) > np.quantile(known, quantile)

    def inverse_transform(self, X: Any) -> Array:
        """Return approximate pre-images of coordinates, by the regression learned with fit_inverse_transform."""
        check_fitted(self)
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse "
                "transform is not available."
            )
        Z = np.asarray(matrix(X), dtype=np.float64)
        kernel = kernel_of(self.kernel, Z.shape[1], self.gamma_, self.degree, self.coef0, self.kernel_params)
        return np.asarray(kernel(Z, self.X_transformed_fit_)) @ self.pre_image_coef_

    def plot(self, X: Any, y: Any = None, ax: Any = None) -> Any:
        """Draw the first two coordinates of the rows; return the Axes."""
        from gnomon.plot import embedding

        return embedding(self, X, y, ax=ax)
