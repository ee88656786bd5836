"""How far non-negative factors are from a stationary point: min(w, ∇) = 0 for every entry."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array, dots_of
from gnomon.core.rows import sparse_blocks
from gnomon.core.sums import Chunk, total
from gnomon.decomposition import _nonnegative as nn


class Gradients(NamedTuple):
    """Worst violation and largest size of ∇_W over the rows, and ∇_H summed over them."""

    worst: float
    size: float
    H: Array
    H_size: Array

    def merge(self, other: Gradients) -> Gradients:
        """Return the record of both sets of rows."""
        return Gradients(
            max(self.worst, other.worst),
            max(self.size, other.size),
            self.H + other.H,
            self.H_size + other.H_size,
        )


def kkt_residual(rows: Any, W: Array, H: Array, o: nn.Options) -> float:
    """Return the largest |min(W, ∇W)| and |min(H, ∇H)|, relative to the parts of the gradients."""
    found, penalty = total(gradients, rows, H, W, o), o.penalty
    below = np.abs(np.minimum(H, found.H + penalty.h1 + penalty.h2 * H))
    size = max(float(found.H_size.max(initial=0.0)), nn.TINY)
    return max(found.worst / max(found.size, nn.TINY), float(below.max(initial=0.0)) / size)


def gradients(chunk: Chunk, H: Array, W: Array, o: nn.Options) -> Gradients:
    """∇ of the loss in H, and how far W is from its optimality conditions, block by block."""
    X, penalty, worst, size = chunk.X, o.penalty, 0.0, 0.0
    up, down = np.zeros_like(H), np.zeros_like(H)
    entries = sparse.issparse(X) and o.beta in (1.0, 2.0)
    for part, block in sparse_blocks(X) if entries else nn.dense_blocks(X):
        V = W[chunk.start + part.start : chunk.start + part.start + block.shape[0]]
        dV = nn.weighted(V, chunk.weight[part])
        if o.beta == 2.0 and not o.holes:
            plus, minus = V @ (H @ H.T), block @ H.T
            up += (dV.T @ V) @ H
            down += (block.T @ dV).T
        elif entries:
            row = np.repeat(np.arange(len(V)), np.diff(block.indptr))
            modeled = np.maximum(dots_of(V, H.T, row, block.indices), nn.TINY)
            shares = sparse.csr_array((block.data / modeled, block.indices, block.indptr), shape=block.shape)
            plus, minus = np.broadcast_to(H.sum(axis=1), V.shape), shares @ H.T
            up += dV.sum(axis=0)[:, None]
            down += (shares.T @ dV).T
        else:
            a, b = nn.shares(block, V, H, o.beta)
            plus, minus = b @ H.T, a @ H.T
            up += dV.T @ b
            down += dV.T @ a
        slope = plus - minus + penalty.w1 + penalty.w2 * V
        size = max(size, float(np.abs(minus).max(initial=0.0)))
        worst = max(worst, float(np.abs(np.minimum(V, slope)).max(initial=0.0)))
    return Gradients(worst, size, up - down, np.abs(down))
