"""Two classes by a Gaussian at the mode of the posterior (Rasmussen & Williams 2006, chapter 3)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.special import expit, log_expit, ndtr

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array, cholesky
from gnomon.gp.exact import inverse, parts_of, weighted_gradient

STOP = 1e-10  # gain of Newton's method that counts as none
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
NODE_WEIGHTS = NODE_WEIGHTS / np.sqrt(2.0 * np.pi)
# the trapezoidal rule under the logistic density converges geometrically
LOGISTIC = np.arange(-40.0, 40.5, 0.5)
LOGISTIC_WEIGHTS = 0.5 * expit(LOGISTIC) * expit(-LOGISTIC)


class Laplace(NamedTuple):
    """The approximate posterior of two classes, for one kernel."""

    kernel: Any
    X: Any
    labels: Array  # (n,) 0 or 1
    mode: Array  # f̂
    slope: Array  # t − π at the mode: the mean is k_x · slope
    root: Array  # √W
    factor: Array  # of B = I + √W K √W
    evidence: float
    jitter: float = 0.0


def find_mode(K: Array, t: Array, start: Array, max_iter: int) -> tuple[Array, Array, Array, Array, float]:
    """Return f̂, K⁻¹f̂, √W, the factor of B and the log evidence, by Newton's method with halved steps."""
    sign = 2.0 * t - 1.0

    def psi(a: Array, f: Array) -> float:
        return float(-0.5 * a @ f + log_expit(sign * f).sum())

    f, a = start, np.zeros_like(start)
    value = -np.inf if start.any() else psi(a, f)
    for _ in range(max_iter):
        pi = expit(f)
        W = pi * (1.0 - pi)
        root = np.sqrt(W)
        L = _factor(K, root)
        b = W * f + (t - pi)
        new = b - root * linalg.cho_solve((L, True), root * (K @ b))
        step, gained = 1.0, False
        for _ in range(30):
            trial = new if step == 1.0 else a + step * (new - a)
            moved = K @ trial
            found = psi(trial, moved)
            if found >= value or value == -np.inf:
                gained = True
                break
            step *= 0.5
        if not gained:
            break
        gain, a, f, value = found - value, trial, moved, found
        if gain <= STOP * max(1.0, abs(value)):
            break
    pi = expit(f)
    root = np.sqrt(pi * (1.0 - pi))
    L = _factor(K, root)
    return f, a, root, L, value - float(np.log(np.diagonal(L)).sum())


def _factor(K: Array, root: Array) -> Array:
    B = K * root
    B *= root[:, None]
    B[np.diag_indices_from(B)] += 1.0
    return cholesky(B, jitter=1e-12, what="I + √W K √W")[0]


def approximate(kernel: Any, X: Any, t: Array, start: Array, max_iter: int) -> tuple[Laplace, Array]:
    """Return the approximate posterior and the kernel matrix."""
    K = np.array(kernel(X), dtype=np.float64)
    if not np.isfinite(K).all():
        raise DegenerateError(f"the kernel matrix of X under {kernel} is not finite; scale the columns.")
    f, _, root, L, evidence = find_mode(K, t, start, max_iter)
    return Laplace(kernel, X, t, f, t - expit(f), root, L, evidence), K


def evidence_gradient(fit: Laplace, K: Array) -> Array:
    """Return the gradient of the approximate log evidence by θ: one weighted sum over the derivatives of K."""
    R = inverse(fit.factor)
    R *= fit.root
    R *= fit.root[:, None]
    C = linalg.solve_triangular(fit.factor, fit.root[:, None] * K, lower=True)
    pi = expit(fit.mode)
    third = pi * (1.0 - pi) * (2.0 * pi - 1.0)
    s = -0.5 * (np.diagonal(K) - np.einsum("ij,ij->j", C, C)) * -third
    g = fit.slope
    u = s - R @ (K @ s)
    a = g  # K⁻¹f̂ = t − π at the mode
    W = 0.5 * np.outer(a, a) - 0.5 * R + 0.5 * (np.outer(u, g) + np.outer(g, u))
    return weighted_gradient(fit.kernel, fit.X, W)


def latent(fit: Laplace, X: Any) -> tuple[Array, Array]:
    """Return mean and variance of the latent function."""
    means, variances = [], []
    for part in parts_of(X):
        k = fit.kernel(part, fit.X)
        half = linalg.solve_triangular(fit.factor, fit.root[:, None] * k.T, lower=True)
        means.append(k @ fit.slope)
        variances.append(fit.kernel.diag(part) - np.einsum("ij,ij->j", half, half))
    return np.concatenate(means), np.maximum(np.concatenate(variances), 0.0)


def probability(mean: Array, variance: Array, method: str = "quadrature") -> Array:
    """Return P(y = 1): the sigmoid averaged over the latent normal."""
    if method == "map":
        return expit(mean)
    if method == "probit":
        return expit(mean / np.sqrt(1.0 + np.pi * variance / 8.0))
    if method != "quadrature":
        raise DataError(f"method={method!r} is not one of 'quadrature', 'probit', 'map'.")
    return averaged_sigmoid(mean, np.sqrt(variance))


def averaged_sigmoid(mean: Array, deviation: Array) -> Array:
    """Return E σ(f) for f ~ N(mean, deviation²).

    Hermite's rule where the normal is narrow. A wide one sees a step, which polynomials do not follow: there σ is the
    distribution function of a logistic L, and E σ(f) = E Φ((mean − L)/deviation) is smooth in L.
    """
    found = expit(mean[:, None] + deviation[:, None] * NODES) @ NODE_WEIGHTS
    wide = deviation > 1.0
    if wide.any():
        steps = (mean[wide, None] - LOGISTIC) / deviation[wide, None]
        found[wide] = ndtr(steps) @ LOGISTIC_WEIGHTS
    return found
