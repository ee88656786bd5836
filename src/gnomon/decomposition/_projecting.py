"""What every model with a mean and orthonormal components does: scores, reconstructions, densities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.core.sums import Chunk, per_row, total
from gnomon.core.validate import Reads, check_fitted, warn

LOG_2PI = float(np.log(2.0 * np.pi))


def scores_of(chunk: Chunk, mean: Array, axes: Array) -> Array:
    """(x − mean) · axes, in the precision of the rows."""
    X = chunk.X
    found = X @ axes - mean @ axes if sparse.issparse(X) else (X - mean) @ axes
    return np.asarray(found, dtype=X.dtype)


def squared_distances(chunk: Chunk, mean: Array, axes: Array) -> tuple[Array, Array]:
    """‖x − mean‖² and the scores, for densities and errors."""
    X = chunk.X
    if sparse.issparse(X):
        X = X.toarray()
    Z = np.asarray(X, dtype=np.float64) - mean
    T = Z @ axes.T
    rest = Z - T @ axes
    return np.einsum("ij,ij->i", rest, rest), T


def log_density(chunk: Chunk, mean: Array, axes: Array, variances: Array, noise: float) -> Array:
    """Gaussian log-density with these variances along the axes and `noise` in all other directions."""
    rest, T = squared_distances(chunk, mean, axes)
    p, k = len(mean), len(axes)
    out = -0.5 * (T * T / variances).sum(axis=1) - 0.5 * (p * LOG_2PI + np.log(variances).sum())
    if p > k:
        out -= 0.5 * (rest / noise + (p - k) * np.log(noise))
    return out


def lost_squares(chunk: Chunk, mean: Array, axes: Array) -> Array:
    """Σ w ‖x − reconstruction‖²."""
    return np.asarray(chunk.weight @ squared_distances(chunk, mean, axes)[0])


class BasePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OneStep):
    """What every PCA does once it has a mean and orthonormal components."""

    whiten: bool
    _reads = Reads(sparse=True, scales=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _scale(self) -> Array:
        """√explained variance: what whitening divides by."""
        variance = self.explained_variance_
        if len(variance) and not variance.min() > 1e-12 * variance.max():
            k = int(np.argmin(variance))
            raise DegenerateError(
                f"whiten=True needs variance in every component, and component {k} has {variance[k]:.3g}; "
                "lower n_components, or drop columns that are constant or repeat others."
            )
        return np.sqrt(variance)

    def transform(self, X: Any) -> Array:
        """Return the scores: coordinates of the rows along the components."""
        check_fitted(self)
        axes = self.components_.T / self._scale() if self.whiten else self.components_.T
        return per_row(scores_of, self._rows(X), self.mean_, np.ascontiguousarray(axes))

    def inverse_transform(self, X: Any) -> Array:
        """Return the points whose scores these are, as float32 where the scores are."""
        check_fitted(self)
        T = np.asarray(X)
        if T.ndim != 2 or T.shape[1] != len(self.components_):
            raise DataError(f"X must have {len(self.components_)} columns of scores; its shape is {T.shape}.")
        axes = self.components_ * self._scale()[:, None] if self.whiten else self.components_
        found = T @ axes + self.mean_
        return found.astype(np.float32) if T.dtype == np.float32 else found

    def get_covariance(self) -> Array:
        """Return the model's covariance: the kept variances, and the mean of the others in all directions."""
        check_fitted(self)
        extra = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        p = len(self.mean_)
        return (self.components_.T * extra) @ self.components_ + self.noise_variance_ * np.eye(p)

    def get_precision(self) -> Array:
        """Return the inverse of `get_covariance`."""
        check_fitted(self)
        variances, noise = self._variances()
        V = self.components_
        return (V.T * (1.0 / variances - 1.0 / noise)) @ V + np.eye(V.shape[1]) / noise

    def _variances(self) -> tuple[Array, float]:
        """Variances along the components, none below the noise, and the noise."""
        noise = float(self.noise_variance_)
        p, k = len(self.mean_), len(self.components_)
        variances = np.maximum(self.explained_variance_, noise)
        if p == k:
            noise = float(variances.min())
        if not noise > 0 or not (variances > 0).all():
            raise DegenerateError(
                "the rows lie in a subspace, so they have no density: a direction has variance 0. Lower "
                "n_components, or drop columns that are constant or repeat others."
            )
        return variances, noise

    def score_samples(self, X: Any) -> Array:
        """Return the Gaussian log-density of every row under `get_covariance` (divisor n − 1)."""
        rows = self._rows(X)
        return per_row(log_density, rows, self.mean_, self.components_, *self._variances())

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-density of the rows."""
        return float(np.mean(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw rows from the Gaussian of `get_covariance`."""
        check_fitted(self)
        rng = generator(getattr(self, "random_state", None) if random_state is None else random_state)
        extra = np.sqrt(np.maximum(self.explained_variance_ - self.noise_variance_, 0.0))
        T = rng.standard_normal((n_samples, len(extra))) * extra
        noise = rng.standard_normal((n_samples, len(self.mean_))) * np.sqrt(self.noise_variance_)
        return T @ self.components_ + self.mean_ + noise

    def reconstruct(self, X: Any, n_components: int | None = None, *, count_mean: bool = False) -> Array:
        """Return the rows rebuilt from the mean and the first components.

        With `count_mean` the mean counts as the first of the building blocks: M pieces are the mean and M − 1
        components.
        """
        axes = self.components_[: self._pieces(n_components, count_mean)]
        T = per_row(scores_of, self._rows(X), self.mean_, np.ascontiguousarray(axes.T))
        return T @ axes + self.mean_

    def _pieces(self, n_components: int | None, count_mean: bool = False) -> int:
        check_fitted(self)
        most = len(self.components_)
        if n_components is None:
            return most
        k = int(n_components) - int(count_mean)
        if not 0 <= k <= most:
            raise DataError(
                f"n_components must lie between {int(count_mean)} and {most + int(count_mean)}; "
                f"got {n_components}."
            )
        return k

    def reconstruction_error(self, X: Any, n_components: int | None = None) -> float:
        """Return Σ‖x − reconstruction‖²; on the training rows it is the sum of the scatter eigenvalues left out."""
        axes = self.components_[: self._pieces(n_components)]
        return float(total(lost_squares, self._rows(X), self.mean_, axes))

    def plot(self, X: Any = None, ax: Any = None) -> Any:
        """Draw the scree, or with rows given their scores and the loadings; return the Axes."""
        from gnomon.plot import embedding, scree

        return scree(self, ax=ax) if X is None else embedding(self, X, ax=ax, kind="loadings")

    # from a spectrum to attributes

    def _from_spectrum(self, found: Any, k: int) -> dict[str, Any]:
        p, W = len(found.mean), found.weight
        divisor = max(W - 1.0, np.finfo(float).tiny) if W > 1 else 1.0
        values = found.values[:k]
        if not found.total > 0:
            warn("X has no variance: all its rows are equal. Every ratio of explained variance is 0.")
        most = min(p, W)
        rest = max(found.total - values.sum(), 0.0) if k < most else 0.0
        whole = found.total if found.total > 0 else 1.0
        return {
            "components_": np.ascontiguousarray(found.vectors[:k]),
            "mean_": found.mean,
            "scatter_eigenvalues_": values,
            "covariance_eigenvalues_": values / W,
            "explained_variance_": values / divisor,
            "explained_variance_ratio_": values / whole,
            "singular_values_": np.sqrt(values),
            "noise_variance_": float(rest / divisor / (most - k)) if rest > 0 else 0.0,
            "n_components_": int(k),
            "n_samples_": int(round(W)),
        }
