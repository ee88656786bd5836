"""What probabilistic PCA and factor analysis share: x = μ + W z + ε, learned by EM with or without holes."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array, fix_signs
from gnomon.core.randomness import generator
from gnomon.core.steps import Learner
from gnomon.core.sums import Chunk, per_row, total
from gnomon.core.validate import Reads, check_fitted
from gnomon.decomposition._scatter import Scatter, sum_scatter
from gnomon.distributions.geometry import LOG_2PI
from gnomon.distributions.moments import patterns
from gnomon.loops.latent import latent_moments, latent_rows


class LatentState(NamedTuple):
    """Mean, loadings, noise variances, and the objective they were found with."""

    mean: Array  # (p,)
    W: Array  # (p, K)
    psi: Array  # (p,)
    log_likelihood: float
    gradient: float  # norm of ∂L/∂W
    weight: float  # of the training rows
    saturated: float = float("nan")  # log-likelihood of an unrestricted Gaussian, where rows are complete


class Work(NamedTuple):
    """The rows and what is known of them before the first step."""

    rows: Any
    sums: Scatter | None  # None where entries are missing
    weight: float
    means: Array  # (p,) of the observed entries
    variances: Array  # (p,)

    @property
    def covariance(self) -> Array:
        """The maximum-likelihood covariance of complete rows."""
        return self.sums.scatter / self.sums.weight  # type: ignore[union-attr]


class Completion(NamedTuple):
    """What is believed about missing entries; observed ones have no variance."""

    mean: Array  # (n, p)
    covariance: Array  # (n, p, p)


class ColumnSums(NamedTuple):
    """Observed weight, shifted sum and squares of every column, and the number of rows with holes."""

    holes: float
    weight: float
    counts: Array
    first: Array
    second: Array


def column_sums(chunk: Chunk, shift: Array) -> ColumnSums:
    """Sums of the observed entries about a shift."""
    X = np.asarray(chunk.X, dtype=np.float64)
    present = ~np.isnan(X)
    Z = np.where(present, X - shift, 0.0)
    w = chunk.weight
    holes = float((~present.all(axis=1)).sum())
    return ColumnSums(holes, float(w.sum()), w @ present, w @ Z, w @ (Z * Z))


class LatentSums(NamedTuple):
    """What an M-step needs: for every column the moments of z̃ = (z, 1) over the rows that have it."""

    log_likelihood: float
    A: Array  # (p, K + 1, K + 1)
    b: Array  # (p, K + 1)
    squares: Array  # (p,)
    counts: Array  # (p,)


def latent_sums(chunk: Chunk, mean: Array, W: Array, psi: Array) -> LatentSums:
    """One E-step over a chunk with holes."""
    X = np.ascontiguousarray(chunk.X)
    p, K = W.shape
    A, b = np.zeros((p, K + 1, K + 1)), np.zeros((p, K + 1))
    squares, counts = np.zeros(p), np.zeros(p)
    value = latent_moments(X, *patterns(np.isnan(X)), chunk.weight, mean, W, psi, A, b, squares, counts)
    lower = np.tril(A)
    full = lower + np.swapaxes(np.tril(A, -1), 1, 2)
    return LatentSums(float(value), full, b, squares, counts)


def posterior_rows(
    chunk: Chunk, mean: Array, W: Array, psi: Array, covariances: bool
) -> tuple[Array, Array, Array]:
    """Posterior means, covariances (where asked) and log-densities of the rows."""
    X = np.ascontiguousarray(chunk.X)
    n, K = len(X), W.shape[1]
    means, density = np.zeros((n, K)), np.zeros(n)
    spread = np.zeros((n, K, K) if covariances else (0, K, K))
    latent_rows(X, *patterns(np.isnan(X)), mean, W, psi, means, spread, density)
    density[np.isnan(density)] = -np.inf  # squares that overflow cancel each other: nothing is that far away
    return means, spread if covariances else np.zeros((n, 0)), density


def canonical(W: Array, psi: Array) -> Array:
    """The rotation of W that makes Wᵀ Ψ⁻¹ W diagonal, largest first, with fixed signs: nothing else changes."""
    _, _, Vt = linalg.svd(W / np.sqrt(psi)[:, None], full_matrices=False)
    return np.ascontiguousarray(fix_signs(W @ Vt.T))


def log_likelihood(work: Work, state: LatentState) -> float:
    """The log-likelihood of the rows under a state."""
    if work.sums is not None:
        return float(em_on_covariance(work.covariance, work.weight, state.W, state.psi, 0.0, None)[2])
    return float(total(latent_sums, work.rows, state.mean, state.W, state.psi).log_likelihood)


def em_on_covariance(S: Array, n: float, W: Array, psi: Array, tau: float, isotropic: Any) -> Any:
    """One EM step from the covariance alone; returns new W, new ψ, log-likelihood and gradient before it.

    `isotropic` is None (ψ kept), True (one noise variance) or False (one a column).
    """
    p, K = W.shape
    scaled = W / psi[:, None]
    L = linalg.cholesky(np.eye(K) + W.T @ scaled, lower=True)
    G = linalg.cho_solve((L, True), np.eye(K))
    B = G @ scaled.T  # (K, p)
    SB = S @ B.T  # (p, K)
    inner = G + B @ SB
    trace = (S.diagonal() / psi).sum() - np.einsum("pk,pk->", SB, scaled)
    logs = np.log(psi).sum() + 2.0 * np.log(L.diagonal()).sum()
    value = -0.5 * n * (p * LOG_2PI + logs + trace)
    gradient = n * (SB - W @ inner) / psi[:, None] - tau * W
    if tau == 0.0:
        fresh = linalg.solve(inner, SB.T, assume_a="pos").T
    else:
        fresh = np.stack(
            [linalg.solve(inner + tau * psi[j] / n * np.eye(K), SB[j], assume_a="pos") for j in range(p)]
        )
    left = S.diagonal() - 2.0 * (fresh * SB).sum(axis=1) + ((fresh @ inner) * fresh).sum(axis=1)
    if isotropic is None:
        left = psi
    elif isotropic:
        left = np.full(p, left.mean())
    return fresh, left, float(value), float(np.linalg.norm(gradient))


def em_on_rows(
    found: LatentSums, mean: Array, W: Array, psi: Array, tau: float, isotropic: Any
) -> tuple[Array, Array, Array, float]:
    """The M-step with holes: a regression of every column on (z, 1), then the noise."""
    p, K = W.shape
    fresh, step, left = np.empty_like(W), np.empty(p), np.empty(p)
    ridge = np.diag([*np.ones(K), 0.0])
    gradient = 0.0
    for j in range(p):
        A, b = found.A[j], found.b[j]
        slope = (b[:K] - A[:K, :K] @ W[j]) / psi[j] - tau * W[j]
        gradient += float(slope @ slope)
        v = linalg.solve(A + tau * psi[j] * ridge, b, assume_a="sym")
        fresh[j], step[j] = v[:K], v[K]
        left[j] = found.squares[j] - 2.0 * v @ b + v @ A @ v
    if isotropic is None:
        left = psi
    elif isotropic:
        left = np.full(p, left.sum() / found.counts.sum())
    else:
        left = left / found.counts
    return mean + step, fresh, left, float(np.sqrt(gradient))


class LatentLinear(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Learner):
    """A model x = μ + W z + ε: posteriors, densities, imputation and draws, once W and Ψ are there."""

    _sense: ClassVar[str] = "max"
    _reads = Reads(nan=True, scales=True, min_rows=2)

    def _check_loaded(self) -> None:
        """Compiled loops trust the number of columns."""
        found = vars(self)
        if "components_" not in found:
            return
        shape, p = np.shape(found["components_"]), found.get("n_features_in_")
        if len(shape) != 2 or shape[1] != p or np.shape(found.get("mean_")) != (p,):
            raise ModelFileError(f"components_ of shape {shape} do not fit its mean_ and its columns.")

    # reading

    def _prepare(self, rows: Any) -> Work:
        shift = self._shift(rows)
        sums = total(column_sums, rows, shift)
        if not np.isfinite(sums.second).all():
            raise DataError("X has entries so large that their squares overflow; scale its columns.")
        if not sums.holes:
            moments = sum_scatter(rows)
            variances = moments.scatter.diagonal() / moments.weight
            return Work(rows, moments, moments.weight, moments.mean, variances)
        empty = np.flatnonzero(sums.counts <= 0)
        if len(empty):
            raise DataError(
                f"column {rows.names()[empty[0]]!r} of X has no observed entry; drop it before fitting."
            )
        step = sums.first / sums.counts
        variances = np.maximum(sums.second / sums.counts - step**2, 0.0)
        return Work(rows, None, sums.weight, shift + step, variances)

    def _shift(self, rows: Any) -> Array:
        """A value near every column, so that sums of squares keep their digits."""
        if rows.in_memory:
            X = np.asarray(rows.X[:1024], dtype=np.float64)
            seen = ~np.isnan(X)
            return np.where(seen, X, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
        sums = total(column_sums, rows, np.zeros(rows.n_features))
        return sums.first / np.maximum(sums.counts, 1e-300)

    # the model

    def _parts(self) -> tuple[Array, Array, Array]:
        check_fitted(self)
        p = len(self.mean_)
        psi = np.full(p, self.noise_variance_, dtype=np.float64)
        L = self._mixing()
        W = self.components_.T if L is None else self.components_.T @ L
        mean = np.asarray(self.mean_, dtype=np.float64)  # loops are compiled for these types alone
        return mean, np.ascontiguousarray(W, dtype=np.float64), psi

    def _mixing(self) -> Array | None:
        """The factor L of correlated (oblique) coordinates f = L z; None where they are independent."""
        return None

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def posterior(self, X: Any) -> tuple[Array, Array]:
        """Return mean (n, K) and covariance (n, K, K) of the latent coordinates of every row."""
        means, covariances, _ = per_row(posterior_rows, self._rows(X), *self._parts(), True)
        L = self._mixing()
        return (means, covariances) if L is None else (means @ L.T, L @ covariances @ L.T)

    def transform(self, X: Any) -> Array:
        """Return the posterior means of the latent coordinates; missing entries are integrated out."""
        means = per_row(posterior_rows, self._rows(X), *self._parts(), False)[0]
        L = self._mixing()
        return means if L is None else means @ L.T

    def inverse_transform(self, X: Any) -> Array:
        """Return μ + W z for latent coordinates z in rows."""
        check_fitted(self)
        Z = np.asarray(X, dtype=np.float64)
        if Z.ndim != 2 or Z.shape[1] != len(self.components_):
            raise DataError(f"X must have {len(self.components_)} columns; its shape is {Z.shape}.")
        return Z @ self.components_ + self.mean_

    def impute_distribution(self, X: Any) -> Completion:
        """Return what is believed about missing entries: mean (n, p) and covariance (n, p, p)."""
        rows = self._rows(X)
        _, W, psi = self._parts()
        means, covariances, _ = per_row(posterior_rows, rows, *self._parts(), True)
        table = np.concatenate([np.asarray(chunk.X, dtype=np.float64) for chunk in rows.chunks()])
        missing = np.isnan(table)
        filled = np.where(missing, means @ W.T + self.mean_, table)
        spread = np.einsum("pa,nab,qb->npq", W, covariances, W) + np.diag(psi)
        return Completion(filled, spread * (missing[:, :, None] & missing[:, None, :]))

    def impute(self, X: Any) -> Array:
        """Return X with every missing entry replaced by its conditional mean; observed ones are kept."""
        rows = self._rows(X)
        return per_row(filled_rows, rows, *self._parts())

    def score_samples(self, X: Any) -> Array:
        """Return the log-density of the observed part of every row; 0 for a row without any."""
        return per_row(posterior_rows, self._rows(X), *self._parts(), False)[2]

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-density of the rows."""
        return float(np.mean(self.score_samples(X)))

    def get_covariance(self) -> Array:
        """Return C = W Wᵀ + Ψ."""
        _, W, psi = self._parts()
        return W @ W.T + np.diag(psi)

    def get_precision(self) -> Array:
        """Return C⁻¹, through a K × K system."""
        _, W, psi = self._parts()
        scaled = W / psi[:, None]
        inner = np.eye(W.shape[1]) + W.T @ scaled
        return np.diag(1.0 / psi) - scaled @ linalg.solve(inner, scaled.T, assume_a="pos")

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw rows from the model."""
        mean, W, psi = self._parts()
        rng = generator(getattr(self, "random_state", None) if random_state is None else random_state)
        z = rng.standard_normal((n_samples, W.shape[1]))
        return mean + z @ W.T + rng.standard_normal((n_samples, len(mean))) * np.sqrt(psi)

    def _log_likelihood(self, X: Any) -> tuple[float, float]:
        if X is None:
            check_fitted(self)
            return self.log_likelihood_, self.weight_
        values = self.score_samples(X)
        return float(values.sum()), float(len(values))

    def aic(self, X: Any = None) -> float:
        """Return −2 log-likelihood + 2·parameters, on the training rows where none are given."""
        value, _ = self._log_likelihood(X)
        return float(-2.0 * value + 2.0 * self.n_parameters_)

    def bic(self, X: Any = None) -> float:
        """Return −2 log-likelihood + ln(n)·parameters, on the training rows where none are given."""
        value, n = self._log_likelihood(X)
        return float(-2.0 * value + np.log(n) * self.n_parameters_)

    def family(self) -> Any:
        """Return the fitted model as a distribution, `gnomon.distributions.LowRankGaussian`."""
        from gnomon.distributions.factors import LowRankGaussian

        mean, W, psi = self._parts()
        kind = "spherical" if np.ndim(self.noise_variance_) == 0 else "diag"
        return LowRankGaussian(mean, W, psi, rank=W.shape[1], noise=kind)

    def plot(self, X: Any, ax: Any = None) -> Any:
        """Draw the latent map of the rows with ellipses of uncertainty; return the Axes."""
        from gnomon.plot import embedding

        return embedding(self, X, ax=ax, kind="belief")


def filled_rows(chunk: Chunk, mean: Array, W: Array, psi: Array) -> Array:
    """The rows with holes filled by their conditional means."""
    means, _, _ = posterior_rows(chunk, mean, W, psi, False)
    X = np.asarray(chunk.X, dtype=np.float64)
    return np.where(np.isnan(X), means @ W.T + mean, X)
