"""Classical scaling: points from distances by one eigenproblem."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import TransformerMixin
from sklearn.utils import Tags

from gnomon.core.closed_form import OneStep
from gnomon.core.decoding import check_shapes
from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array, fix_signs
from gnomon.core.parameters import StrOptions
from gnomon.core.validate import COUNT, Reads, check_fitted

CORRECTIONS = ("additive", "sqrt")


def distances(X: Array, metric: Any, params: dict[str, Any] | None) -> Array:
    """The matrix of distances between rows, or X itself where it is one."""
    if isinstance(metric, str) and metric == "precomputed":
        return checked_distances(X)
    return squareform(pdist(np.asarray(X, dtype=np.float64), metric, **(params or {})))


def checked_distances(D: Array) -> Array:
    """A square symmetric matrix without negative entries, zero on its diagonal."""
    D = np.asarray(D, dtype=np.float64)
    if D.shape[0] != D.shape[1]:
        raise DataError(
            "X must hold distances with metric='precomputed': the array must be 2-dimensional and "
            f"square; its shape is {D.shape}."
        )
    size = float(D.max(initial=0.0))
    if D.min(initial=0.0) < 0:
        raise DataError(f"X must hold distances, and one is negative: {D.min():.3g}.")
    if np.abs(D - D.T).max(initial=0.0) > 1e-8 * max(size, 1e-300):
        raise DataError("Array must be symmetric: take (X + X.T) / 2 of the distances X.")
    if np.abs(D.diagonal()).max(initial=0.0) > 1e-8 * size:
        raise DataError("X must have zeros on its diagonal: every row is at distance 0 from itself.")
    return (D + D.T) / 2.0


def double_centered(D: Array) -> tuple[Array, Array]:
    """B = −½ H D² H and the column means of D²."""
    squares = D**2
    means = squares.mean(axis=0)
    return -0.5 * (squares - means - means[:, None] + means.mean()), means


def additive_constant(D: Array) -> float:
    """The smallest constant that makes distances plus it Euclidean (Cailliez 1983)."""
    n = len(D)
    B, _ = double_centered(D)
    A = D - D.mean(axis=0) - D.mean(axis=1)[:, None] + D.mean()
    block = np.block([[np.zeros((n, n)), 2.0 * B], [-np.eye(n), 2.0 * A]])
    return float(max(np.real(linalg.eigvals(block)).max(), 0.0))


class ClassicalMDS(TransformerMixin, OneStep):
    r"""Classical multidimensional scaling (Torgerson 1952).

    .. math:: B = -\tfrac12 H D^{(2)} H = V \Lambda V^T, \qquad \text{coordinates } \sqrt{\lambda_k}\, v_k

    Of Euclidean distances it gives the points back, which are the scores of `PCA` up to sign. Distances that are not
    Euclidean leave negative eigenvalues: their share is `negative_mass_`, and `correction` can remove it.

    Parameters
    ----------
    n_components : int, default=2
    metric : str or callable, default="euclidean"
        Distance between rows, a name of SciPy's; "precomputed" takes X as the matrix of distances.
    metric_params : dict, optional
        Arguments of the metric.
    correction : {"additive", "sqrt"}, optional
        Add the smallest constant to the distances that makes them Euclidean, or take their roots.

    Attributes
    ----------
    embedding_ : array of shape (n, K)
    eigenvalues_ : array of shape (K,)
        Of B, largest first.
    all_eigenvalues_ : array of shape (n,)
        All of them, the negative ones too.
    negative_mass_ : float
        Σ|λ < 0| / Σ|λ|.
    goodness_ : float
        Share of the positive eigenvalues that is kept.
    stress_ : float
        ½ Σ (distance − embedded distance)² over pairs.
    dissimilarity_matrix_ : array of shape (n, n)

    Examples
    --------
    >>> corners = np.array([[0, 0], [4, 0], [4, 3], [0, 3.0]])
    >>> model = ClassicalMDS().fit(corners)
    >>> model.eigenvalues_.round(10), round(model.stress_, 10)
    (array([16.,  9.]), 0.0)
    """

    _reads = Reads()
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT],
        "metric": [str, callable],
        "metric_params": [dict, None],
        "correction": [StrOptions(set(CORRECTIONS)), None],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        correction: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params
        self.correction = correction

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def _solve(self, rows: Any) -> tuple[dict[str, Any], float]:
        D = distances(rows.X, self.metric, self.metric_params)
        if not np.isfinite((D**2).sum()):
            raise DataError("X has entries so large that squared distances overflow; scale its columns.")
        if self.n_components > len(D):
            raise DataError(
                f"n_components={self.n_components} exceeds the number of rows, {len(D)}; lower it."
            )
        constant = 0.0
        if self.correction == "additive":
            constant = additive_constant(D)
            D = np.where(np.eye(len(D), dtype=bool), 0.0, D + constant)
        elif self.correction == "sqrt":
            D = np.sqrt(D)
        B, means = double_centered(D)
        values, vectors = linalg.eigh(B)
        values, vectors = values[::-1], vectors[:, ::-1]
        K = int(self.n_components)
        top = np.maximum(values[:K], 0.0)
        axes = fix_signs(vectors[:, :K])
        Z = axes * np.sqrt(top)
        rounding = len(D) * np.finfo(np.float64).eps * max(float(np.abs(values).max(initial=0.0)), 1e-300)
        values = np.where(np.abs(values) <= rounding, 0.0, values)
        stress = 0.5 * float(((squareform(pdist(Z)) - D) ** 2).sum()) / 2.0 if len(D) > 1 else 0.0
        positive = float(np.maximum(values, 0.0).sum())
        size = float(np.abs(values).sum())
        return {
            "embedding_": Z,
            "eigenvalues_": values[:K],
            "all_eigenvalues_": values,
            "negative_mass_": float(np.abs(np.minimum(values, 0.0)).sum() / size) if size > 0 else 0.0,
            "goodness_": float(top.sum() / positive) if positive > 0 else 0.0,
            "stress_": stress,
            "dissimilarity_matrix_": D,
            "column_means_": means,
            "additive_constant_": constant,
            "X_fit_": np.array(rows.X),
        }, stress

    def fit(self, X: Any, y: Any = None) -> Any:
        """Compute the embedding of the rows of X, or of a matrix of distances."""
        return self._learn(self._read(X), X=X)

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and return the embedding."""
        return self.fit(X).embedding_

    def transform(self, X: Any) -> Array:
        """Place new points by their distances to the training rows (Gower 1968).

        Parameters
        ----------
        X : array
            New rows; with ``metric="precomputed"`` their distances to the training rows.
        """
        X = self._rows(X).X
        if self.metric == "precomputed":
            D = np.asarray(X, dtype=np.float64)
        else:
            D = cdist(np.asarray(X, dtype=np.float64), self.X_fit_, self.metric, **(self.metric_params or {}))
        if not np.isfinite(D).all() or D.max(initial=0.0) > 1e150:
            raise DataError("X has rows so far away that squared distances overflow. Scale the columns.")
        if self.correction == "additive":
            D = np.where(D > 0, D + self.additive_constant_, 0.0)
        elif self.correction == "sqrt":
            D = np.sqrt(D)
        values = self.eigenvalues_[: self.embedding_.shape[1]]
        scale = np.where(values > 0, values, np.inf)
        return 0.5 * (self.column_means_ - D**2) @ (self.embedding_ / scale)

    def _check_loaded(self) -> None:
        if "embedding_" in vars(self):
            n, k = self.embedding_.shape
            check_shapes(self, {"column_means_": (n,), "eigenvalues_": self.eigenvalues_.shape[:1]})
            if len(self.eigenvalues_) < k or (self.metric != "precomputed" and self.X_fit_.shape[:1] != (n,)):
                raise ModelFileError("its coordinates do not fit its rows. Get a new copy.")

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the coordinates."""
        check_fitted(self)
        return np.array([f"classicalmds{k}" for k in range(self.embedding_.shape[1])], dtype=object)
