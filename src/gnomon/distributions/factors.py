"""Gaussians of low rank plus noise: probabilistic PCA and factor analysis as a family of distributions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from gnomon.core.errors import DataError, DegenerateError, nearest
from gnomon.core.linalg import symmetric_eigen
from gnomon.distributions.base import Array, Family, as_rows
from gnomon.distributions.geometry import LOG_2PI
from gnomon.distributions.moments import FullMoments
from gnomon.distributions.normal import Gaussian

NOISES = ("spherical", "diag")
NO_VARIANCE = 1e-28  # share of the mean variance below which a column is a constant, rounded


def principal_factors(S: Array, k: int, noise: float | None, floor: float) -> tuple[Array, float]:
    """Maximum likelihood of probabilistic PCA from a covariance: loadings (p, k) and noise variance."""
    p = len(S)
    values, vectors = symmetric_eigen(S)
    if noise is None:
        rest = values[k:] if k < p else values[-1:]
        noise = max(float(rest.mean()), floor)
    return vectors[:, :k] * np.sqrt(np.maximum(values[:k] - noise, 0.0)), noise


def best_loadings(S: Array, k: int, psi: Array) -> tuple[Array, Array]:
    """The likeliest loadings given the noise variances, and the eigenvalues of the scaled covariance."""
    root = np.sqrt(psi)
    p = len(S)
    if k == 0:
        return np.zeros((p, 0)), np.zeros(0)
    scaled = S / root[:, None] / root
    values, vectors = symmetric_eigen(scaled, k)
    return root[:, None] * vectors * np.sqrt(np.maximum(values - 1.0, 0.0)), values


def factor_step(S: Array, k: int, psi: Array, floor: Array) -> tuple[Array, Array, float]:
    """One conditional maximization: best loadings for ψ, then ψ for them; and the mean log-likelihood before."""
    A, values = best_loadings(S, k, psi)
    kept = values[values > 1.0]
    log_likelihood = -0.5 * (
        len(S) * LOG_2PI + np.log(psi).sum() + (S.diagonal() / psi).sum() + (np.log(kept) - kept + 1.0).sum()
    )
    return A, np.maximum(S.diagonal() - (A * A).sum(axis=1), floor), float(log_likelihood)


def fitted_factors(
    S: Array, k: int, psi: Array | None, floor: Array, *, steps: int = 500, tol: float = 1e-9
) -> tuple[Array, Array]:
    """Factor analysis of a covariance, from ψ or from a usual start; each step raises the likelihood."""
    psi = np.maximum(0.5 * S.diagonal() if psi is None else psi, floor)
    last = -np.inf
    for _ in range(steps):
        A, fresh, now = factor_step(S, k, psi, floor)
        if now - last <= tol * max(1.0, abs(now)):
            break
        psi, last = fresh, now
    return best_loadings(S, k, psi)[0], psi


def noise_floor(S: Array, relative: float, k: int = 0) -> Array:
    """The least noise variance of every column; columns without variance get a share of the others'.

    Units may differ by fourteen powers of ten between columns; what is smaller still is rounding of a constant.
    """
    variance = S.diagonal()
    size = float(variance.mean())
    if not size > 0:
        raise DegenerateError("no column of X has any variance; a factor model needs some.")
    return np.where(variance > NO_VARIANCE * size, np.maximum(relative, 1e-12) * variance, 1e-12 * size)


@dataclass(frozen=True, eq=False, repr=False)
class LowRankGaussian(Family):
    r"""Normal distributions whose covariance is of low rank plus noise.

    .. math:: x = \mu + W z + \varepsilon, \quad z \sim N(0, I_q), \quad \varepsilon \sim N(0, \Psi)
        \quad\Rightarrow\quad x \sim N(\mu,\; W W^T + \Psi)

    With Ψ = σ²I it is probabilistic PCA (Tipping and Bishop 1999), with Ψ diagonal factor analysis. As a
    family it serves wherever a Gaussian does: a mixture of it is a mixture of local projections, a class
    conditional of it a discriminant for wide rows with p·q numbers a class instead of p²/2. Missing entries
    are integrated out.

    Parameters
    ----------
    means : array-like of shape (K, d), optional
    loadings : array-like of shape (K, d, q), optional
        W.
    noises : array-like of shape (K, d), optional
        Diagonals of Ψ.
    rank : int, default=1
        q, the number of factors that `fit` looks for.
    noise : {"spherical", "diag"}, default="spherical"
        Ψ = σ²I, or one variance a column.
    min_noise : float, default=1e-6
        Noise variances are at least this share of a column's variance.

    Examples
    --------
    >>> X = np.array([[1, 2, 0], [2, 1, 1], [3, 4, 1], [4, 3, 2], [5, 6, 0], [6, 5, 2.0]])
    >>> model = LowRankGaussian(rank=1).fit(X)
    >>> model.noises[0].round(6), round(float(model.log_likelihood(X)[0]), 6)
    (array([0.559534, 0.559534, 0.559534]), -27.105576)
    """

    means: Any = None
    loadings: Any = None
    noises: Any = None
    rank: int = 1
    noise: str = "spherical"
    min_noise: float = 1e-6
    _parameters = ("means", "loadings", "noises")

    def __post_init__(self) -> None:
        if self.noise not in NOISES:
            raise DataError(
                f"noise must be one of {', '.join(NOISES)}; got {self.noise!r}.{nearest(self.noise, NOISES)}"
            )
        if not isinstance(self.rank, int | np.integer) or self.rank < 1:
            raise DataError(f"rank must be an integer of at least 1; got {self.rank!r}.")
        super().__post_init__()

    def _promoted(self, given: dict[str, Any]) -> dict[str, Array]:
        if len(given) < 3:
            raise DataError("LowRankGaussian needs means, loadings and noises together, or none of them.")
        means = np.array(given["means"], dtype=np.float64, ndmin=2)
        K, d = means.shape
        loadings = np.array(given["loadings"], dtype=np.float64, ndmin=3)
        noises = np.array(given["noises"], dtype=np.float64, ndmin=2)
        if loadings.shape[:2] not in ((K, d), (1, d)):
            raise DataError(f"loadings must have shape ({K}, {d}, q); got {loadings.shape}.")
        q = loadings.shape[2]
        return {
            "means": means,
            "loadings": np.array(np.broadcast_to(loadings, (K, d, q))),
            "noises": np.array(np.broadcast_to(noises, (K, d))),
        }

    def _check_parameters(self) -> None:
        for name, value in self.parameters.items():
            self._require(np.isfinite(value), name, "finite")
        self._require(self.noises > 0, "noises", "positive")

    def parameter_count(self) -> int:
        K, d, q = self.loadings.shape
        each = d + d * q - q * (q - 1) // 2 + (1 if self.noise == "spherical" else d)
        return K * each

    # -- other forms -------------------------------------------------------------------------------------

    def covariance_matrices(self) -> Array:
        """Return W Wᵀ + Ψ, shape (K, d, d)."""
        d = self.n_features
        return self.loadings @ np.swapaxes(self.loadings, 1, 2) + self.noises[:, :, None] * np.eye(d)

    @cached_property
    def gaussian(self) -> Gaussian:
        """The same distributions with full covariance matrices."""
        return Gaussian(self.means, self.covariance_matrices())

    def mean(self) -> Array:
        return self.means

    def mode(self) -> Array:
        return self.means

    def variance(self) -> Array:
        return (self.loadings**2).sum(axis=2) + self.noises

    def entropy(self, base: float | None = None) -> Array:
        return self.gaussian.entropy(base)

    def to_scipy(self) -> Any:
        return self.gaussian.to_scipy()

    def kl(self, other: Any) -> Array:
        return self.gaussian.kl(other.gaussian if isinstance(other, LowRankGaussian) else other)

    # -- density -----------------------------------------------------------------------------------------

    def log_density(self, X: ArrayLike) -> Array:
        X = as_rows(X, self.n_features)
        if np.isnan(X).any():
            return self.gaussian.log_density(X)
        out = np.empty((len(X), self.n_components))
        for k, (mean, W, psi) in enumerate(zip(self.means, self.loadings, self.noises, strict=True)):
            L = linalg.cholesky(np.eye(W.shape[1]) + W.T @ (W / psi[:, None]), lower=True)
            Z = X - mean
            half = linalg.solve_triangular(L, (Z @ (W / psi[:, None])).T, lower=True)
            square = (Z * Z) @ (1.0 / psi) - (half * half).sum(axis=0)
            logs = np.log(psi).sum() + 2.0 * np.log(L.diagonal()).sum() + len(psi) * LOG_2PI
            out[:, k] = -0.5 * (square + logs)
        return out

    # -- learning ----------------------------------------------------------------------------------------

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> FullMoments:
        X = as_rows(X, self.n_features if self.fitted else None)
        if np.isnan(X).any() and not self.fitted:
            raise DataError(
                "X has missing entries: the first estimate needs complete rows, or give a fitted stack; "
                "gnomon.decomposition.ProbabilisticPCA starts from incomplete rows."
            )
        base = self.gaussian if self.fitted else Gaussian()
        return base.statistics(X, weights)

    def estimate(self, statistics: FullMoments, prior: Any = None) -> Self:
        if prior is not None:
            raise DataError("LowRankGaussian has no conjugate prior; use prior=None.")
        K, d = statistics.mean.shape
        if not self.rank < max(d, 2):
            raise DataError(f"rank must be below the number of columns, {d}; got {self.rank}.")
        q = min(self.rank, d)
        means = np.array(statistics.mean)
        loadings, noises = np.zeros((K, d, q)), np.zeros((K, d))
        for k, (mass, scatter) in enumerate(zip(statistics.weight[:, 0], statistics.scatter, strict=True)):
            if mass > 0:
                loadings[k], noises[k] = self._estimate_one(scatter / mass, k, q)
            elif self.fitted:
                means[k], loadings[k], noises[k] = self.means[k], self.loadings[k], self.noises[k]
            else:
                raise DegenerateError(f"no weight to estimate component {k} from.")
        return self.replace(means=means, loadings=loadings, noises=noises)

    def _estimate_one(self, S: Array, k: int, q: int) -> tuple[Array, Array]:
        floor = noise_floor(S, self.min_noise)
        if self.noise == "spherical":
            W, noise = principal_factors(S, q, None, float(self.min_noise * S.diagonal().mean()))
            return W, np.full(len(S), noise)
        same = self.fitted and len(self.noises) > k and self.loadings.shape[2] == q
        return fitted_factors(S, q, self.noises[k] if same else None, floor)

    # -- drawing -----------------------------------------------------------------------------------------

    def _draw(self, labels: Array, rng: np.random.Generator) -> Array:
        noise = rng.standard_normal((len(labels), self.n_features)) * np.sqrt(self.noises[labels])
        z = rng.standard_normal((len(labels), self.loadings.shape[2]))
        return self.means[labels] + np.einsum("idq,iq->id", self.loadings[labels], z) + noise
