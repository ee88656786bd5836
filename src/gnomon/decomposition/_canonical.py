"""Canonical directions of two blocks of columns from their scatter, or from the rows themselves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from gnomon.core.errors import DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.sums import Chunk
from gnomon.core.validate import warn
from gnomon.decomposition._scatter import Scatter, scatter_sums
from gnomon.decomposition.singular import thin_svd

TIED = 1e-9  # correlations that differ by less are taken as equal


def joint_scatter(chunk: Chunk) -> Scatter:
    """Moments of both blocks side by side."""
    Y = chunk.y if chunk.y.ndim == 2 else chunk.y[:, None]
    return scatter_sums(chunk._replace(X=np.hstack([np.asarray(chunk.X, dtype=np.float64), Y])))


class Whitening(NamedTuple):
    """A map to coordinates of unit scatter, and the rank they span."""

    map: Array  # (p, r): XW has orthonormal columns
    rank: int


def whitening(S: Array, reg: float, name: str) -> Whitening:
    """Whiten a block through the eigenvectors of its scaled scatter; directions without data are left out."""
    size = np.sqrt(S.diagonal())
    alive = size > 0.0
    if not alive.any():
        raise DegenerateError(f"every column of {name} is constant; nothing can correlate with it.")
    scale = np.where(alive, size, 1.0)
    values, vectors = linalg.eigh(S / scale[:, None] / scale)
    good = values > 1e-13 * len(S) * values[-1]
    if reg > 0:
        inner = S + reg * np.eye(len(S))
        L = linalg.cholesky(inner, lower=True)
        return Whitening(linalg.solve_triangular(L, np.eye(len(S)), lower=True).T, int(good.sum()))
    if not good.all():
        lost = len(S) - int(good.sum())
        warn(
            f"{name} has rank {int(good.sum())}: {lost} of its columns are constant or depend on the others."
        )
    return Whitening(vectors[:, good] / np.sqrt(values[good]) / scale[:, None], int(good.sum()))


class Canonical(NamedTuple):
    """Directions U, V of unit scatter, their correlations, and the ranks."""

    U: Array  # (p, K)
    V: Array  # (q, K)
    correlations: Array  # (r,) all of them
    ranks: tuple[int, int]


def canonical_directions(Sx: Array, Sy: Array, Sxy: Array, reg: float) -> Canonical:
    """Solve max uᵀS_xy v, uᵀS_x u = vᵀS_y v = 1 by whitening both blocks and one small SVD."""
    A, B = whitening(Sx, reg, "X"), whitening(Sy, reg, "Y")
    left, D, right = linalg.svd(A.map.T @ Sxy @ B.map, full_matrices=False)
    return Canonical(A.map @ left, B.map @ right.T, np.clip(D, 0.0, 1.0), (A.rank, B.rank))


def from_rows(X: Array, Y: Array, weight: Array, Sx: Array, Sy: Array) -> Canonical:
    """The same from the (centered, weighted) rows themselves: for blocks whose cross-products have lost digits."""
    root = np.sqrt(weight)[:, None]
    found = []
    for block, name in ((X * root, "X"), (Y * root, "Y")):
        size = np.linalg.norm(block, axis=0)
        scale = np.where(size > 0.0, size, np.inf)  # constant columns take no part
        Q, s, Vt = thin_svd(block / scale)  # the shortest weights, where they are not unique
        rank = int((s > 1e-13 * max(block.shape) * max(float(s[0]), 1e-300)).sum())
        if rank < block.shape[1]:
            warn(f"{name} has rank {rank}: some of its columns are constant or depend on the others.")
        found.append((Q[:, :rank], Vt[:rank].T / s[:rank] / scale[:, None], rank))
    (Qx, Mx, rx), (Qy, My, ry) = found
    left, D, right = linalg.svd(Qx.T @ Qy, full_matrices=False)
    return Canonical(Mx @ left, My @ right.T, np.clip(D, 0.0, 1.0), (rx, ry))


def score_scales(S: Array, U: Array, rank: int) -> tuple[Array, Array]:
    """scikit-learn's weights and score lengths: t = g/‖pinv(X_k) g‖ with earlier variates projected out."""
    weights, lengths = np.zeros_like(U), np.ones(U.shape[1])
    for k in range(U.shape[1]):
        done = S @ U[:, :k]
        left = S - done @ done.T
        values, vectors = linalg.eigh((left + left.T) / 2.0)
        keep = slice(len(values) - max(rank - k, 1), None)
        b = vectors[:, keep].T @ (S @ U[:, k])
        a = vectors[:, keep] @ (b / np.maximum(values[keep], 1e-300))
        lengths[k] = 1.0 / np.linalg.norm(a)
        weights[:, k] = a * lengths[k]
    return weights, lengths


def without_ties(found: Canonical, Sx: Array, Sy: Array) -> Canonical:
    """The same pairs, with those of equal correlation turned so that the first explains most of both blocks, and so on.

    A turn of equal pairs is as good as any other; this one does not depend on rounding.
    """
    sizes = [np.sqrt(np.where(S.diagonal() > 0, S.diagonal(), np.inf)) for S in (Sx, Sy)]
    loadings = np.vstack([Sx @ found.U / sizes[0][:, None], Sy @ found.V / sizes[1][:, None]])
    U, V, D, first = found.U.copy(), found.V.copy(), found.correlations, 0
    for last in range(1, len(D) + 1):
        if last < len(D) and D[first] - D[last] <= TIED:
            continue
        if last - first > 1:
            turn = linalg.svd(loadings[:, first:last], full_matrices=False)[2].T
            U[:, first:last], V[:, first:last] = U[:, first:last] @ turn, V[:, first:last] @ turn
        first = last
    return found._replace(U=U, V=V)
