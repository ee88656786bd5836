"""The sparse process: m inducing points stand in for n rows (Titsias 2009, Burt et al. 2020).

The evidence is bounded from below by

    ln N(y | 0, Q + Λ) − ½ Σ (k_ii − q_ii)/λ_i,   Q = K_fu K_uu⁻¹ K_uf,

which touches the rows only through sums over chunks: once for its value, once more for its gradient.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array, cholesky
from gnomon.core.sums import Chunk, per_row, total
from gnomon.gp.slopes import cross_gradient, diagonal_gradient, noise_gradient, noise_level, signal_diagonal

LOG_2PI = float(np.log(2.0 * np.pi))
JITTER = 1e-9  # of the mean of K_uu's diagonal
KNOWN = 1e-8  # of the largest prior variance: a point of which less is left adds nothing but rounding
SAMPLE = 20_000  # rows among which the inducing points are chosen


class Plan(NamedTuple):
    """How rows become targets: shift and scale of y, and the noise beside the kernel's."""

    shift: Array  # (t,)
    scale: Array  # (t,)
    noise: Any  # a number, or one for each row

    def targets(self, chunk: Chunk) -> Array:
        """Return the targets of a chunk, (m, t)."""
        y = np.asarray(chunk.y, dtype=np.float64)
        return ((y if y.ndim == 2 else y[:, None]) - self.shift) / self.scale

    def variances(self, chunk: Chunk, kernel: Any) -> Array:
        """Return the noise variance of every row of a chunk."""
        own = self.noise[chunk.start : chunk.start + len(chunk.X)] if np.ndim(self.noise) else self.noise
        return np.zeros(len(chunk.X)) + own + noise_level(kernel)


class Sums(NamedTuple):
    """What the bound needs of the rows; a = L⁻¹k_u of a row, L Lᵀ = K_uu."""

    products: Array  # Σ a aᵀ/λ, (m, m)
    targets: Array  # Σ a y/λ, (m, t)
    squares: float  # Σ y²/λ
    logs: float  # Σ ln λ
    diagonal: float  # Σ k_ii/λ
    n: int


class Sparse(NamedTuple):
    """The process after the data, seen through its inducing points."""

    kernel: Any
    points: Array
    factor: Array  # of K_uu
    inner: Array  # of I + L⁻¹ΦL⁻ᵀ
    weights: Array  # (K_uu + Φ)⁻¹ b: the mean is k_u · weights
    evidence: float  # the bound
    jitter: float


def row_sums(chunk: Chunk, kernel: Any, Z: Array, L: Array, plan: Plan) -> Sums:
    """The sums over a chunk of rows."""
    variance = plan.variances(chunk, kernel)
    a, y = _solve(L, kernel(Z, chunk.X)), plan.targets(chunk)
    scaled = a / variance
    return Sums(
        scaled @ a.T,
        scaled @ y,
        float((y**2 / variance[:, None]).sum()),
        float(np.log(variance).sum()),
        float((signal_diagonal(kernel, chunk.X) / variance).sum()),
        len(y),
    )


class Slopes(NamedTuple):
    """What the rows add to the gradient of the bound."""

    kernel: Array  # (p,)
    noise: float


def row_slopes(chunk: Chunk, kernel: Any, Z: Array, L: Array, plan: Plan, S: Array, w: Array) -> Slopes:
    """How the bound changes with k(z, x), k(x, x) and λ of a chunk of rows."""
    t = w.shape[1]
    variance = plan.variances(chunk, kernel)
    a, y = _solve(L, kernel(Z, chunk.X)), plan.targets(chunk)
    Sa = S @ a
    W = _solve(L, 2.0 * Sa + w @ y.T, transposed=True) / variance
    diagonal = signal_diagonal(kernel, chunk.X)
    by_noise = (
        -np.einsum("ij,ij->j", a, Sa)
        - np.einsum("jt,jt->j", a.T @ w, y)
        + 0.5 * (y**2).sum(axis=1)
        + 0.5 * t * diagonal
    ) / variance**2 - 0.5 * t / variance
    by_kernel = cross_gradient(kernel, Z, chunk.X, W)
    by_kernel = by_kernel + diagonal_gradient(kernel, chunk.X, np.full(len(y), -0.5 * t) / variance)
    return Slopes(by_kernel, float(by_noise.sum()))


def _solve(L: Array, B: Array, *, transposed: bool = False) -> Array:
    """Return L⁻¹B, or L⁻ᵀB."""
    return linalg.solve_triangular(L, B, lower=True, trans=int(transposed), check_finite=False)


def own_factor(kernel: Any, Z: Array) -> tuple[Array, float]:
    """Return the factor of K_uu without noise, and what was added to its diagonal."""
    K = kernel(Z, Z.copy())
    K = 0.5 * (K + K.T)
    added = JITTER * float(np.diagonal(K).mean())
    K[np.diag_indices_from(K)] += added
    L, more = cholesky(K, jitter=10 * JITTER, what="covariance of the inducing points")
    return L, added + more


def bound(rows: Any, kernel: Any, Z: Array, plan: Plan, *, gradient: bool) -> tuple[float, Array, Sparse]:
    """Return the bound, its gradient by θ, and the process."""
    if not noise_level(kernel) + float(np.min(plan.noise)) > 0:
        raise DataError("inducing points need noise: raise alpha, or add a WhiteKernel.")
    L, jitter = own_factor(kernel, Z)
    sums = total(row_sums, rows, kernel, Z, L, plan)
    t, products = sums.targets.shape[1], 0.5 * (sums.products + sums.products.T)
    B = products + np.eye(len(L))  # of eigenvalues from 1 on, however alike the inducing points are
    LB, _ = cholesky(B, jitter=1e-12, what="precision of the inducing points")
    c = _solve(LB, sums.targets)
    w = _solve(LB, c, transposed=True)
    volume = sums.n * LOG_2PI + 2.0 * float(np.log(np.diagonal(LB)).sum()) + sums.logs
    left = sums.diagonal - float(np.trace(products))
    value = -0.5 * (t * volume + sums.squares - float((c**2).sum())) - 0.5 * t * left
    fit = Sparse(kernel, Z, L, LB, _solve(L, w, transposed=True), value, jitter)
    if not gradient:
        return value, np.zeros(0), fit
    half = _solve(LB, np.eye(len(L)))
    S = 0.5 * t * (np.eye(len(L)) - half.T @ half) - 0.5 * (w @ w.T)
    own = _solve(L, _solve(L, S - 0.5 * t * products, transposed=True).T, transposed=True)
    slopes = total(row_slopes, rows, kernel, Z, L, plan, S, w)
    by_theta = slopes.kernel + cross_gradient(kernel, Z, Z, own) + slopes.noise * noise_gradient(kernel)
    by_theta += diagonal_gradient(kernel, Z, np.full(len(Z), JITTER * np.trace(own) / len(Z)))
    return value, by_theta, fit


def choose(rows: Any, kernel: Any, m: int) -> Array:
    """Return m rows of a sample, each the one that the ones before leave least certain."""
    sample = per_row(every_nth, rows, max(1, len(rows) // SAMPLE))
    sample = np.unique(np.asarray(sample, dtype=np.float64), axis=0)
    m = min(m, len(sample))
    rest = signal_diagonal(kernel, sample).astype(np.float64)
    top = float(rest.max())
    basis, chosen = np.zeros((m, len(sample))), []
    for i in range(m):
        place = int(rest.argmax())
        if rest[place] <= KNOWN * top:
            break
        column = kernel(sample[place : place + 1], sample)[0] - basis[:i, place] @ basis[:i]
        basis[i] = column / np.sqrt(rest[place])
        rest = np.maximum(rest - basis[i] ** 2, 0.0)
        rest[place] = 0.0
        chosen.append(place)
    return sample[chosen] if chosen else sample[:1]


def every_nth(chunk: Chunk, step: int) -> Array:
    """Every so-many-th row of the whole."""
    return np.asarray(chunk.X[-chunk.start % step :: step])


def mean_at(fit: Sparse, X: Any) -> Array:
    """Return the posterior mean, (q, t)."""
    return fit.kernel(X, fit.points) @ fit.weights


def halves(fit: Sparse, X: Any) -> tuple[Array, Array]:
    """Return what the inducing points explain of the prior, and what the data leave of that."""
    a = linalg.solve_triangular(fit.factor, fit.kernel(X, fit.points).T, lower=True)
    return a, linalg.solve_triangular(fit.inner, a, lower=True)


def variance_at(fit: Sparse, X: Any) -> Array:
    """Return the posterior variance, (q,); with the noise of a WhiteKernel."""
    a, b = halves(fit, X)
    left = fit.kernel.diag(X) - np.einsum("ij,ij->j", a, a) + np.einsum("ij,ij->j", b, b)
    return np.maximum(left, 0.0)


def covariance_at(fit: Sparse, X: Any) -> Array:
    """Return the joint posterior covariance, (q, q)."""
    a, b = halves(fit, X)
    covariance = fit.kernel(X) - a.T @ a + b.T @ b
    return 0.5 * (covariance + covariance.T)
