"""Clusters from eigenvectors by rotation: which basis of their space is nearest to one vector for each cluster."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from gnomon.core.linalg import Array


def cluster_qr(E: Array) -> Array:
    """Label rows by the pivots of a QR factorization of the embedding."""
    k = E.shape[1]
    _, _, pivots = linalg.qr(E.T, pivoting=True)
    U, _, Vt = linalg.svd(E[pivots[:k]].T)
    return np.abs(E @ (U @ Vt)).argmax(axis=1)


def discretize(E: Array, rng: np.random.Generator, max_iter: int = 30) -> Array:
    """Rotate the embedding to the nearest indicator matrix (Yu and Shi)."""
    E = E / np.maximum(np.sqrt((E**2).sum(axis=1, keepdims=True)), 1e-300)
    k = E.shape[1]
    R = np.zeros((k, k))
    R[:, 0] = E[rng.integers(len(E))]
    seen = np.zeros(len(E))
    for j in range(1, k):
        seen += np.abs(E @ R[:, j - 1])
        R[:, j] = E[int(np.argmin(seen))]
    last = 0.0
    for _ in range(max_iter):
        labels = (E @ R).argmax(axis=1)
        U, S, Vt = linalg.svd(np.eye(k)[labels].T @ E)
        if abs(S.sum() - last) < 1e-12:
            break
        last, R = S.sum(), Vt.T @ U.T
    return labels
