"""Transitions of a chain that starts in its own stationary distribution: the M-step, and the gradient
behind it.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from gnomon.core.linalg import Array
from gnomon.sequence.structure import stationary_distribution


def stationary(A: Array) -> Array:
    """Stationary distribution of a chain with one closed class, by a linear solve, or else by elimination."""
    with np.errstate(all="ignore"):
        try:
            w = np.linalg.solve((np.eye(len(A)) - A + 1.0).T, np.ones(len(A)))
        except np.linalg.LinAlgError:
            return stationary_distribution(A).distribution
    if np.isfinite(w).all() and w.min() > -1e-12 and np.abs(w @ A - w).max() < 1e-10:
        return np.maximum(w, 0.0) / np.maximum(w, 0.0).sum()
    return stationary_distribution(A).distribution


def row_softmax(logits: Array, mask: Array) -> Array:
    """Rows exp(logits) / Σ over the allowed entries."""
    raw = np.where(mask, logits, -np.inf)
    raw = np.exp(raw - raw.max(axis=1, keepdims=True))
    return raw / raw.sum(axis=1, keepdims=True)


def softmax_gradient(A: Array, by_A: Array) -> Array:
    """Chain rule from ∂/∂A to ∂/∂logits."""
    return A * (by_A - (A * by_A).sum(axis=1, keepdims=True))


def start_gradient(A: Array, w: Array, heads: Array) -> Array:
    """∂/∂A of Σ heads_i ln w_i(A): dw = w (dA) Z with Z = (I − A + 1w)⁻¹."""
    pull = np.divide(heads, w, out=np.zeros_like(w), where=w > 0)
    return np.outer(w, np.linalg.solve(np.eye(len(A)) - A + w, pull))


def gain(A: Array, counts: Array, heads: Array, w: Array | None = None) -> float:
    """Σ N_ij ln A_ij + Σ heads_i ln w_i(A)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        w = stationary(A) if w is None else w
        return float(
            np.where(counts > 0, counts * np.log(A), 0.0).sum()
            + np.where(heads > 0, heads * np.log(w), 0.0).sum()
        )


def maximize_transitions(old: Array, counts: Array, heads: Array, mask: Array) -> Array:
    """Transitions that raise `gain`: normalized counts, bettered by a few quasi-Newton steps; never
    worse than `old`.
    """
    sums = counts.sum(axis=1, keepdims=True)
    candidate = np.where(sums > 0, counts / np.where(sums > 0, sums, 1.0), old)
    best = candidate if gain(candidate, counts, heads) >= gain(old, counts, heads) else old
    allowed = mask & (best > 0)

    def objective(flat: Array) -> tuple[float, Array]:
        A = row_softmax(flat.reshape(old.shape), allowed)
        w = stationary(A)
        by_A = np.where(allowed, counts / np.where(allowed, A, 1.0), 0.0) + start_gradient(A, w, heads)
        return -gain(A, counts, heads, w), -softmax_gradient(A, by_A).ravel()

    first = np.where(allowed, np.log(np.where(allowed, best, 1.0)), 0.0)
    found = minimize(
        objective, first.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 3, "maxls": 5}
    )
    better = row_softmax(found.x.reshape(old.shape), allowed)
    return max(better, best, key=lambda A: gain(A, counts, heads))
