"""The Gaussian family: fit, density, conditioning, transforms, missing entries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from gnomon.core.errors import DataError, DegenerateError, nearest
from gnomon.core.linalg import cholesky, inverse_factor, log_determinant
from gnomon.core.threads import one_blas_thread
from gnomon.distributions import forms
from gnomon.distributions.base import (
    Array,
    Expectation,
    Family,
    as_rows,
    as_weights,
    responsibilities,
)
from gnomon.distributions.covariances import estimated
from gnomon.distributions.geometry import LOG_2PI, Geometry
from gnomon.distributions.incomplete import completed_moments, incomplete_log_density
from gnomon.distributions.moments import (
    DiagonalMoments,
    FullMoments,
    TiedMoments,
    diagonal_moments,
    full_moments,
    tie,
)

AXES = {"full": 3, "fixed": 3, "tied": 2, "diag": 2, "spherical": 1, "tied_spherical": 0, "identity": 0}
DIAGONAL = ("diag", "spherical", "tied_spherical", "identity")


@dataclass(frozen=True, eq=False, repr=False)
class Gaussian(Geometry):
    r"""Normal distributions of one or many columns.

    .. math:: \ln p(x) = -\tfrac12 (x-\mu)^T \Sigma^{-1} (x-\mu) - \tfrac12 \ln|\Sigma| - \tfrac d2 \ln 2\pi

    Maximum likelihood divides by n, never by n − 1. Missing entries are integrated out: a row counts with the
    marginal of what was observed, and `statistics` completes it by its conditional mean and covariance
    under the current stack.

    Parameters
    ----------
    means : array-like of shape (K, d), optional
        Means; a vector is one distribution of d columns.
    covariances : array-like, optional
        Shape by type: full and fixed (K, d, d), tied (d, d), diag (K, d), spherical (K,), tied_spherical a
        number.
    covariance_type : str, default "full"
        "full", "tied" (one matrix for all), "diag", "spherical" (one variance each, tr Σ̂ / d),
        "tied_spherical",
        "identity" (Σ = I, only means are learned), "fixed" (the given covariances are kept).
    reg_covar : float, default 0.0
        Added to the diagonal of every estimate.

    Examples
    --------
    >>> model = Gaussian().fit([[0, 0], [2, 0], [0, 2], [2, 2], [1, 6]])
    >>> model.means, model.covariances.round(6)
    (array([[1., 2.]]), array([[[0.8, 0. ],
            [0. , 4.8]]]))
    >>> Gaussian([1, -1], [[2, 0.8], [0.8, 1]]).condition([0], [2.0]).covariances.round(6)
    array([[[0.68]]])
    """

    means: Any = None
    covariances: Any = None
    covariance_type: str = "full"
    reg_covar: float = 0.0
    _parameters = ("means", "covariances")

    def __post_init__(self) -> None:
        if self.covariance_type not in AXES:
            hint = nearest(self.covariance_type, AXES)
            raise DataError(
                f"covariance_type must be one of {', '.join(AXES)}; got {self.covariance_type!r}.{hint}"
            )
        super().__post_init__()

    def _promoted(self, given: dict[str, Any]) -> dict[str, Array]:
        kind, out = self.covariance_type, {}
        if "means" in given:
            out["means"] = np.array(given["means"], dtype=np.float64, ndmin=2)
        if kind == "identity":
            object.__setattr__(self, "covariances", None)
        elif "covariances" in given:
            out["covariances"] = np.array(given["covariances"], dtype=np.float64, ndmin=AXES[kind])
        if len(out) == 2:
            K, d = out["means"].shape
            shape = {3: (K, d, d), 2: (d, d) if kind == "tied" else (K, d), 1: (K,), 0: ()}[AXES[kind]]
            try:
                if out["covariances"].shape != shape:
                    out["covariances"] = np.array(np.broadcast_to(out["covariances"], shape))
            except ValueError:
                raise DataError(
                    f"covariances of type {kind!r} must have shape {shape} for means of shape {(K, d)}; "
                    f"got {out['covariances'].shape}."
                ) from None
        return out

    def _check_parameters(self) -> None:
        for name, value in self.parameters.items():
            if value is not None and not np.all(np.isfinite(value)):
                raise DataError(
                    f"Gaussian: {name} are not finite; look for entries of X that are huge, "
                    "and scale the columns."
                )
        C = self.covariances
        if C is not None and self.covariance_type in ("full", "tied", "fixed"):
            mirrored = np.swapaxes(C, -1, -2)
            if not (C == mirrored).all() and not np.allclose(
                C, mirrored, rtol=1e-8, atol=1e-12 * np.abs(C).max(initial=0.0)
            ):
                raise DataError("Gaussian: covariances must be symmetric.")
        elif C is not None and np.any(C < 0):
            raise DataError(f"Gaussian: variances must be at least 0; the smallest is {C.min()}.")

    # -- parameters in other forms -----------------------------------------------------------------------

    @property
    def _is_diagonal(self) -> bool:
        return self.covariance_type in DIAGONAL

    def variance(self) -> Array:
        K, d = self._leading.shape
        C = self.covariances
        kind = self.covariance_type
        if kind in ("full", "fixed"):
            return np.array(np.diagonal(C, axis1=1, axis2=2))
        if kind == "tied":
            return np.tile(np.diagonal(C), (K, 1))
        if kind == "spherical":
            return np.repeat(C[:, None], d, axis=1)
        return np.ones((K, d)) * (1.0 if C is None else C)

    def covariance_matrices(self) -> Array:
        """Return the covariances as full matrices, shape (K, d, d)."""
        K, d = self._leading.shape
        if self._is_diagonal:
            return self.variance()[:, :, None] * np.eye(d)
        return np.broadcast_to(self.covariances, (K, d, d))

    @cached_property
    def factors(self) -> Array:
        """Lower Cholesky factors L of Σ = L Lᵀ, (K, d, d); for diagonal types the deviations (K, d)."""
        if self._is_diagonal:
            variance = self.variance()
            if np.any(variance <= 0):
                k, j = np.argwhere(variance <= 0)[0]
                raise DegenerateError(f"variance of column {j} is zero in component {k}; {self._cure()}")
            return np.sqrt(variance)
        matrices = self.covariances[None] if self.covariance_type == "tied" else self.covariances
        found = np.array(
            [cholesky(C, what=f"covariance of component {k}")[0] for k, C in enumerate(matrices)]
        )
        found.flags.writeable = False
        return np.broadcast_to(found, (self.n_components, *found.shape[1:])) if len(found) == 1 else found

    def _cure(self) -> str:
        return (
            f"raise reg_covar (now {self.reg_covar:g}; GaussianNB calls it var_smoothing, hidden Markov models "
            "min_covar), choose a simpler covariance_type, or drop the column."
        )

    @cached_property
    def whiteners(self) -> Array:
        """L⁻¹, so that z = L⁻¹(x − μ) has unit covariance; for diagonal types the inverse deviations."""
        if self._is_diagonal:
            return 1.0 / self.factors
        if self.covariance_type == "tied":
            return np.broadcast_to(inverse_factor(self.factors[0]), self.factors.shape)
        with one_blas_thread():  # these are small
            return np.stack([inverse_factor(L) for L in self.factors])

    @cached_property
    def log_determinants(self) -> Array:
        """ln|Σ_k|, shape (K,)."""
        return 2.0 * np.log(self.factors).sum(axis=1) if self._is_diagonal else log_determinant(self.factors)

    def precisions(self) -> Array:
        """Return Σ⁻¹: (K, d, d), or its diagonals (K, d) for diagonal types."""
        W = self.whiteners
        return W**2 if self._is_diagonal else np.swapaxes(W, 1, 2) @ W

    @property
    def rank(self) -> Array:
        """Numerical rank of every covariance, shape (K,)."""
        return np.linalg.matrix_rank(self.covariance_matrices(), hermitian=True)

    @cached_property
    def _form(self) -> forms.QuadraticForm | None:
        return forms.quadratic_form(self.means, self.precisions(), self.variance(), self.log_determinants)

    @cached_property
    def _whitening(self) -> forms.Whitening | None:
        """How wide full stacks are whitened at once; None where digits would be lost or little is gained."""
        if self._is_diagonal or self.n_features < forms.WIDE or self._form is None:
            return None
        return forms.whitening(self.means, self.whiteners, self._form.shift)

    def select(self, components: Any) -> Self:
        index = np.atleast_1d(np.arange(self.n_components)[components])
        own = self.covariance_type in ("full", "fixed", "diag", "spherical")
        return self.replace(
            means=self.means[index], covariances=self.covariances[index] if own else self.covariances
        )

    def keeping(self, old: Self, components: Array) -> Self:
        if not components.any():
            return self
        covariances = self.covariances
        if self.covariance_type in ("full", "fixed", "diag", "spherical"):
            mask = components.reshape(-1, *[1] * (covariances.ndim - 1))
            covariances = np.where(mask, old.covariances, covariances)
        return self.replace(
            means=np.where(components[:, None], old.means, self.means), covariances=covariances
        )

    def parameter_count(self) -> int:
        K, d = self.means.shape
        half = d * (d + 1) // 2
        extra = {"full": K * half, "tied": half, "diag": K * d, "spherical": K, "tied_spherical": 1}
        return K * d + extra.get(self.covariance_type, 0)

    # -- density -----------------------------------------------------------------------------------------

    def mahalanobis(self, X: ArrayLike) -> Array:
        """Return (x − μ)ᵀ Σ⁻¹ (x − μ), the squared Mahalanobis distances, shape (n, K)."""
        X = as_rows(X, self.n_features)
        out = np.empty((len(X), self.n_components))
        for k, (mean, W) in enumerate(zip(self.means, self.whiteners, strict=True)):
            z = (X - mean) * W if W.ndim == 1 else (X - mean) @ W.T
            out[:, k] = np.einsum("ij,ij->i", z, z)
        return out

    def log_density(self, X: ArrayLike) -> Array:
        X = as_rows(X, self.n_features)
        out = np.empty((len(X), self.n_components))
        for rows in forms.blocks(len(X)):
            out[rows] = self._block_log_density(X[rows])
        return out

    def _block_log_density(self, X: Array) -> Array:
        missing = np.isnan(X)
        if missing.any():
            return incomplete_log_density(self, X, missing)
        if self._form is not None and self._whitening is None:
            return (self._form.eta @ self._form.features(X)).T
        squares = self.mahalanobis(X) if self._whitening is None else self._whitening.squares(X)
        return -0.5 * (squares + self.log_determinants + self.n_features * LOG_2PI)

    def _stack(self) -> Array:
        return np.array(self.covariance_matrices(), order="C")  # a copy: loops are compiled for no others

    # -- learning ----------------------------------------------------------------------------------------

    def statistics(
        self, X: ArrayLike, weights: ArrayLike | None = None
    ) -> DiagonalMoments | FullMoments | TiedMoments:
        X = as_rows(X, self.n_features if self.fitted else None)
        weights = as_weights(weights, len(X))
        center = self.means if self.fitted and len(self.means) == weights.shape[1] else None
        if self._is_diagonal:
            return diagonal_moments(X, weights, center)
        missing = np.isnan(X)
        if missing.any():
            moments = completed_moments(self, X, missing, weights)
        else:
            moments = full_moments(X, weights, center)
        return tie(moments) if self.covariance_type == "tied" else moments

    def estimate(self, statistics: Any, prior: Any = None) -> Self:
        return self.replace(**estimated(self, statistics, prior))

    def fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None, prior: Any = None) -> Self:
        if np.size(X) == 0:
            raise DataError("Gaussian.fit needs at least one row.")
        return self.estimate(self.statistics(as_rows(X, None), sample_weight), prior)

    def expect(
        self, X: Array, log_weights: Array, weight: Array, *, labels: Array | None = None, hard: bool = False
    ) -> Expectation:
        X = np.asarray(X)
        if len(X) == 0 or np.isnan(X).any() or self._form is None:
            return super().expect(X, log_weights, weight, labels=labels, hard=hard)
        form, total = self._form, 0.0
        if labels is None and not hard:
            total, sums = form.softened(X, log_weights, weight)
            return self._expectation(total, sums)
        sums = np.zeros_like(form.eta)
        for rows in forms.blocks(len(X)):
            features = form.features(X[rows])
            joint = np.ascontiguousarray((form.eta @ features).T)
            joint += log_weights
            total += responsibilities(joint, weight[rows], None if labels is None else labels[rows], hard)
            sums += joint.T @ features.T
        return self._expectation(total, sums)

    def _expectation(self, total: float, sums: Array) -> Expectation:
        moments: Any = self._form.moments(sums)  # type: ignore[union-attr]
        tied = self.covariance_type == "tied"
        return Expectation(total, sums[:, -1].copy(), tie(moments) if tied else moments)

    def log_likelihood_gradient(
        self, X: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Return ∂ ln L/∂μ, (K, d), and ∂ ln L/∂Σ = ½(Σ⁻¹SΣ⁻¹ − nΣ⁻¹), (K, d, d)."""
        X = as_rows(X, self.n_features)
        w = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        P = np.stack([np.diag(p) for p in self.precisions()]) if self._is_diagonal else self.precisions()
        by_mean, by_covariance = [], []
        for mean, precision in zip(self.means, P, strict=True):
            Z = (X - mean) @ precision
            by_mean.append(w @ Z)
            by_covariance.append(0.5 * ((Z * w[:, None]).T @ Z - w.sum() * precision))
        return np.stack(by_mean), np.stack(by_covariance)

    def posterior(self, statistics: Any, prior: Any) -> Any:
        """Return the conjugate belief after the data.

        A Gaussian prior is about the mean when the covariance is fixed or the identity; a
        normal–inverse-gamma or normal–inverse-Wishart prior is about both.
        """
        if not isinstance(prior, Gaussian):
            return prior.posterior(statistics)
        known, spread = self._known_matrices(), prior.covariance_matrices()
        means, matrices = [], []
        for n, average in zip(statistics.weight[:, 0], statistics.mean, strict=True):
            gain = spread[0] @ linalg.inv(spread[0] + known / n) if n > 0 else np.zeros_like(known)
            means.append(prior.means[0] + gain @ (average - prior.means[0]))
            matrices.append(gain @ known / n if n > 0 else spread[0])
        matrices = [(C + C.T) / 2.0 for C in matrices]
        return Gaussian(np.stack(means), np.stack(matrices))

    def _known_matrices(self) -> Array:
        if self.covariance_type == "identity":
            return np.eye(self.n_features) if self.fitted else np.eye(1)
        if self.covariance_type != "fixed":
            raise DataError("a Gaussian prior on the mean needs covariance_type 'fixed' or 'identity'.")
        return self.covariances[0]

    def predictive(self, prior: Any) -> Family:
        """Return the distribution of the next row under a belief (see `posterior`)."""
        if not isinstance(prior, Gaussian):
            return prior.predictive()
        return Gaussian(prior.means, prior.covariance_matrices() + self._known_matrices())

    def _at_mean(self, belief: Any) -> Self:
        if isinstance(belief, Gaussian):
            return self.replace(means=belief.means)
        means, covariances = belief.mean()
        return Gaussian(means, covariances)  # type: ignore[return-value]

    def _at_mode(self, belief: Any) -> Self:
        if isinstance(belief, Gaussian):
            return self.replace(means=belief.means)
        means, covariances = belief.mode()
        return Gaussian(means, covariances)  # type: ignore[return-value]

    # -- drawing -----------------------------------------------------------------------------------------

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        noise = rng.standard_normal((len(labels), self.n_features))
        if self._is_diagonal:
            return self.means[labels] + noise * np.sqrt(self.variance())[labels]
        out = np.empty_like(noise)
        for k in np.unique(labels):
            out[labels == k] = self.means[k] + noise[labels == k] @ self.factors[k].T
        return out
