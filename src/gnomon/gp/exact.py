"""The exact process: one Cholesky factor gives the evidence, its gradient, the posterior and every row left out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from gnomon.core.errors import DegenerateError
from gnomon.core.linalg import Array, cholesky

LOG_2PI = float(np.log(2.0 * np.pi))
JITTER = (
    1e-10  # of the mean diagonal: where the factorization fails, so much is added, then ten times more, ...
)
QUERIES = 1024  # rows predicted at once
BLOCK = 256  # rows of a large matrix that are changed together


class Exact(NamedTuple):
    """The process after the data, for one kernel."""

    kernel: Any
    X: Any
    y: Array  # (n, t), as the process sees it
    noise: Array  # (n,) variance of every row, beside what the kernel says
    factor: Array  # L of K + noise
    dual: Array  # (K + noise)⁻¹ y
    jitter: float
    evidence: float


def posterior(kernel: Any, X: Any, y: Array, noise: Array) -> Exact:
    """Factor K + noise and solve for the weights of the rows."""
    A = np.array(kernel(X), dtype=np.float64)
    A[np.diag_indices_from(A)] += noise
    try:
        L, jitter = cholesky(A, jitter=JITTER, what="covariance of the rows")
    except DegenerateError as error:
        raise DegenerateError(
            f"{error} The kernel, {kernel}, is not returning a positive definite matrix. Try gradually increasing the "
            f"'alpha' parameter of your GaussianProcessRegressor estimator, or add a WhiteKernel.{_duplicates(X)}"
        ) from None
    return solved(kernel, X, y, noise, L, jitter)


def solved(kernel: Any, X: Any, y: Array, noise: Array, L: Array, jitter: float) -> Exact:
    """Return the process whose covariance has the factor L."""
    dual = linalg.cho_solve((L.T, False), y, check_finite=False)
    fits = -0.5 * float(np.einsum("ij,ij->", y, dual))
    volume = float(np.log(np.diagonal(L)).sum()) + 0.5 * len(L) * LOG_2PI
    return Exact(kernel, X, y, noise, L, dual, jitter, fits - y.shape[1] * volume)


def _duplicates(X: Any) -> str:
    """Say which rows are the same, where some are."""
    try:
        _, first, place = np.unique(np.asarray(X), axis=0, return_index=True, return_inverse=True)
    except (TypeError, ValueError):
        return ""
    again = np.flatnonzero(first[place.ravel()] != np.arange(len(place)))
    if not len(again):
        return ""
    return f" X has duplicate rows {first[place.ravel()[again[0]]]} and {again[0]}."


def contradiction(X: Any, y: Array, noise: Array) -> None:
    """Refuse equal rows with different targets where nothing can explain the difference."""
    if (noise > 0).any() or not isinstance(X, np.ndarray) or X.ndim != 2:
        return
    _, first, place = np.unique(X, axis=0, return_index=True, return_inverse=True)
    source = first[place.ravel()]
    wrong = np.flatnonzero((y != y[source]).any(axis=1))
    if len(wrong):
        raise DegenerateError(
            f"alpha=0 leaves no noise, and X has duplicate rows {source[wrong[0]]} and {wrong[0]} with different y. "
            "Raise alpha, or add a WhiteKernel."
        )


def inverse(L: Array) -> Array:
    """Return (L Lᵀ)⁻¹ as a full symmetric matrix."""
    found, info = lapack.dpotri(L.T, lower=0)
    if info:
        raise DegenerateError("the covariance of the rows is singular; raise alpha.")
    found = found.T
    for start in range(0, len(found), BLOCK):  # mirror the lower half in place, block by block
        stop = min(start + BLOCK, len(found))
        found[start:stop, stop:] = found[stop:, start:stop].T
        corner = np.tril(found[start:stop, start:stop])
        found[start:stop, start:stop] = corner + np.tril(corner, -1).T
    return found


def evidence_gradient(fit: Exact) -> Array:
    """Return ∂ ln p(y)/∂θ = ½ tr((aaᵀ − A⁻¹) ∂A/∂θ), without a matrix for each θ where the kernel is ours."""
    W, half = inverse(fit.factor), 0.5 * fit.dual
    for start in range(0, len(W), BLOCK):  # some rows at a time, while they are near
        rows = W[start : start + BLOCK]
        rows *= -0.5 * fit.y.shape[1]
        rows += half[start : start + BLOCK] @ fit.dual.T
    return weighted_gradient(fit.kernel, fit.X, W)


def weighted_gradient(kernel: Any, X: Any, W: Array) -> Array:
    """Return Σ W ∂K/∂θ of our kernels and of scikit-learn's."""
    if hasattr(kernel, "weighted_gradient"):
        return np.asarray(kernel.weighted_gradient(X, W))
    slopes = kernel(X, eval_gradient=True)[1]
    return np.einsum("ij,ijk->k", W, slopes)


def appended(fit: Exact, X: Any, y: Array, noise: Array) -> Exact:
    """Return the process after more rows; the old factor stays as it is."""
    across = linalg.solve_triangular(fit.factor, fit.kernel(fit.X, X), lower=True)
    corner = np.array(fit.kernel(X), dtype=np.float64) - across.T @ across
    corner[np.diag_indices_from(corner)] += noise + fit.jitter
    try:
        below, jitter = cholesky(corner, jitter=JITTER, what="covariance of the new rows given the old")
    except DegenerateError as error:
        raise DegenerateError(
            f"{error} The new rows repeat old ones; raise alpha, or add a WhiteKernel."
        ) from None
    n, m = len(fit.factor), len(below)
    L = np.zeros((n + m, n + m))
    L[:n, :n], L[n:, :n], L[n:, n:] = fit.factor, across.T, below
    rows = np.concatenate([fit.X, X])
    targets, variances = np.vstack([fit.y, y]), np.concatenate([fit.noise, noise])
    return solved(fit.kernel, rows, targets, variances, L, max(fit.jitter, jitter))


def left_out(fit: Exact) -> tuple[Array, Array]:
    """Return mean (n, t) and variance (n,) of every target given the others: μ = y − a/A⁻¹ᵢᵢ, σ² = 1/A⁻¹ᵢᵢ."""
    half, _ = lapack.dtrtri(fit.factor, lower=1)
    diagonal = np.einsum("ij,ij->j", half, half)
    return fit.y - fit.dual / diagonal[:, None], 1.0 / diagonal


def mean_at(fit: Exact, X: Any) -> Array:
    """Return the posterior mean, (q, t)."""
    return np.vstack([fit.kernel(part, fit.X) @ fit.dual for part in parts_of(X)])


def variance_at(fit: Exact, X: Any) -> Array:
    """Return the posterior variance, (q,); with the noise of a WhiteKernel, as in scikit-learn."""
    found = []
    for part in parts_of(X):
        half = linalg.solve_triangular(fit.factor, fit.kernel(part, fit.X).T, lower=True, check_finite=False)
        found.append(fit.kernel.diag(part) - np.einsum("ij,ij->j", half, half))
    return np.maximum(np.concatenate(found), 0.0)


def covariance_at(fit: Exact, X: Any) -> Array:
    """Return the joint posterior covariance, (q, q)."""
    half = linalg.solve_triangular(fit.factor, fit.kernel(X, fit.X).T, lower=True, check_finite=False)
    covariance = fit.kernel(X) - half.T @ half
    return 0.5 * (covariance + covariance.T)


def parts_of(X: Any) -> list[Any]:
    """Return the rows in pieces."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    return [X[a : a + QUERIES] for a in range(0, n, QUERIES)]


def noise_of(kernel: Any, X: Any) -> Array:
    """Return how much of k(x, x) is noise: what a second look at the same place would not share."""
    found = []
    for part in parts_of(X):
        for few in (part[a : a + 64] for a in range(0, len(part), 64)):
            copy = few.copy() if hasattr(few, "copy") else list(few)
            found.append(kernel.diag(few) - np.diagonal(kernel(few, copy)))
    return np.maximum(np.concatenate(found), 0.0)


def root(C: Array) -> tuple[Array, float]:
    """Return R with R Rᵀ = C and what had to be added: a Cholesky factor, or eigenvectors where C is singular."""
    try:
        return cholesky(C, jitter=1e-12, what="covariance")
    except DegenerateError:
        values, vectors = linalg.eigh(C)
        return vectors * np.sqrt(np.maximum(values, 0.0)), 0.0
