"""Gaussian log-densities as linear forms in products of coordinates: one matrix product per block of rows.

ln N(x; μ, Σ) is linear in φ(z) = (z_a z_b, z_a, 1), z = x − s. The E-step of a whole stack is then η·φ and
its statistics are r·φᵀ. The form loses digits when the terms are much larger than their sum, so
`quadratic_form` refuses stacks where that happens; they take the route of triangular solves.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gnomon.core.errors import DegenerateError
from gnomon.distributions.base import Array
from gnomon.distributions.moments import DiagonalMoments, FullMoments, recentered
from gnomon.loops import densities as loops

BLOCK = 256  # rows whose features stay in the cache
SMALL_BLOCK = 128  # the same where only squares are features
TALL_BLOCK = 1024  # the same where few columns are the rule: sequences
WIDE = 48  # columns from which whitening costs less than the products of all pairs
FEW_PRODUCTS = 2**16  # that are made at once, and kept
LARGEST_TERM = 1e7  # terms of this size leave an error of about 1e-10 in a log-density


def _lower_half(d: int) -> tuple[Array, Array]:
    return _narrow_half(d) if d < WIDE else np.tril_indices(d)


@lru_cache(maxsize=8)
def _narrow_half(d: int) -> tuple[Array, Array]:
    return np.tril_indices(d)


def blocks(n: int, size: int = BLOCK) -> Iterator[slice]:
    """Consecutive slices of at most `size` rows."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


class QuadraticForm(NamedTuple):
    """η with one row per component, the shift s, and whether all pairs or only squares are features."""

    eta: Array  # (K, F)
    shift: Array  # (d,)
    pairs: bool

    def features(self, X: Array, memory: Array | None = None) -> Array:
        """φ of the rows, one column per row: (F, m), in the given memory."""
        width, m = self.eta.shape[1], len(X)
        out = np.empty((width, m)) if memory is None else memory[: width * m].reshape(width, m)
        (loops.pair_features if self.pairs else loops.square_features)(X, self.shift, out)
        return out

    def tabulate(self, X: Array, table: Array) -> None:
        """Fill the table with ln p_k(x_i), (m, K)."""
        if not self.pairs:
            loops.square_table(X, np.ascontiguousarray(self.eta.T), self.shift, table)
            return
        for rows in blocks(len(X), TALL_BLOCK):
            np.dot(self.features(X[rows]).T, self.eta.T, out=table[rows])

    def weighted(self, X: Array, weights: Array) -> Array:
        """Σ_i w_ik φ(x_i) for weights (m, K): (K, F)."""
        if not self.pairs:
            sums = np.zeros(self.eta.shape[::-1])
            loops.square_table_sums(X, weights, self.shift, sums)
            return np.ascontiguousarray(sums.T)
        sums = np.zeros_like(self.eta)
        for rows in blocks(len(X), TALL_BLOCK):
            sums += weights[rows].T @ self.features(X[rows]).T
        return sums

    def softened(self, X: Array, log_weights: Array, weight: Array) -> tuple[float, Array]:
        """Weighted log-likelihood of the rows, and Σ_i r_ik φ(x_i) over them: (K, F)."""
        eta = self.eta.copy()
        eta[:, -1] += log_weights
        bad, sums = np.zeros(1, dtype=np.intp), np.zeros_like(eta)
        route = self._softened_pairs if self.pairs else self._softened_squares
        total = route(X, eta, weight, bad, sums)
        if bad[0] > 0:
            raise DegenerateError(
                "a row is impossible under every component; look for entries that are huge."
            )
        return total, sums

    def _softened_squares(self, X: Array, eta: Array, weight: Array, bad: Array, sums: Array) -> float:
        return loops.square_expectation(X, weight, eta, self.shift, SMALL_BLOCK, bad, sums)

    def _softened_pairs(self, X: Array, eta: Array, weight: Array, bad: Array, sums: Array) -> float:
        K, width = eta.shape
        finite = np.where(np.isfinite(eta), eta, 0.0)
        dead = ~np.isfinite(eta[:, -1])
        size = min(BLOCK, len(X))
        memory, table = np.empty(width * size), np.empty(K * size)
        top, mass, bits = np.empty(size), np.empty(size), np.empty(size, dtype=np.int64)
        total = 0.0
        for rows in blocks(len(X)):
            features = self.features(X[rows], memory)
            m = features.shape[1]
            joint = table[: K * m].reshape(K, m)
            np.dot(finite, features, out=joint)
            joint[dead] = -np.inf
            powers = bits[:m].view(np.float64)
            total += loops.soften_columns(joint, weight[rows], top[:m], mass[:m], bits[:m], powers, bad)
            sums += joint @ features.T
        return total

    def moments(self, sums: Array) -> FullMoments | DiagonalMoments:
        """Statistics of the stack from Σ_i r_ik φ(z_i), shape (K, F)."""
        d = len(self.shift)
        weight, first, second = sums[:, -1:], sums[:, -1 - d : -1], sums[:, : -1 - d]
        if self.pairs:
            full = np.zeros((len(sums), d, d))
            rows, columns = _lower_half(d)
            full[:, rows, columns] = second
            full[:, columns, rows] = second
            return recentered(weight, first, full, self.shift)
        step = np.divide(first, weight, out=np.zeros_like(first), where=weight > 0)
        scatter = np.maximum(second - step * first, 0.0)
        return DiagonalMoments(np.repeat(weight, d, axis=1), self.shift + step, scatter)


class Whitening(NamedTuple):
    """L_k⁻¹(x − μ_k) of a whole stack, a band of its entries at a time: L⁻¹ is triangular, so that the first
    entries need only the first columns of x.
    """

    shift: Array  # (d,)
    bands: list[tuple[Array, Array]]  # the rows of L⁻¹ of all k side by side, and L⁻¹(μ − s) of them

    def squares(self, X: Array) -> Array:
        """Squared Mahalanobis distances of the rows, (m, K)."""
        Z = X - self.shift
        out = np.zeros((len(X), self.bands[0][1].shape[0]))
        for matrix, offset in self.bands:
            loops.add_squares(Z[:, : len(matrix)] @ matrix, offset, out)
        return out


def whitening(means: Array, whiteners: Array, shift: Array) -> Whitening:
    """The whitening of a stack of full covariances with L⁻¹ (K, d, d)."""
    d = means.shape[1]
    offsets = np.einsum("kab,kb->ka", whiteners, means - shift)
    bands = []
    for band in blocks(d, max(16, d // 4)):
        matrix = whiteners[:, band, : band.stop].reshape(-1, band.stop).T
        bands.append((np.ascontiguousarray(matrix), np.ascontiguousarray(offsets[:, band])))
    return Whitening(shift, bands)


def _too_large(means: Array, spread: Array, shift: Array, terms: Array) -> bool:
    """Whether |z|ᵀ|P||z| gets too large for typical rows of any component under any other."""
    reach = np.abs(means - shift) + 3.0 * spread  # (K, d)
    if terms.ndim == 2:
        largest = (reach**2 @ np.abs(terms).T).max()
    elif terms.size * len(terms) <= FEW_PRODUCTS:
        largest = ((reach @ np.abs(terms)) * reach).sum(axis=-1).max()
    else:
        largest = max(np.einsum("ja,ab,jb->j", reach, np.abs(P), reach).max() for P in terms)
    return not largest < LARGEST_TERM


def quadratic_form(
    means: Array, precisions: Array, variances: Array, log_determinants: Array
) -> QuadraticForm | None:
    """The form of a stack with precisions (K, d, d) or diagonals (K, d); None where digits would be lost."""
    shift = means.mean(axis=0)
    if _too_large(means, np.sqrt(variances), shift, precisions):
        return None
    K, d = means.shape
    m = means - shift
    if precisions.ndim == 2:
        linear, second = precisions * m, -0.5 * precisions
    else:
        linear = np.einsum("kab,kb->ka", precisions, m)
        rows, columns = _lower_half(d)
        second = np.where(rows == columns, -0.5, -1.0) * precisions[:, rows, columns]
    constant = -0.5 * ((linear * m).sum(axis=1) + d * np.log(2.0 * np.pi) + log_determinants)
    return QuadraticForm(np.hstack([second, linear, constant[:, None]]), shift, precisions.ndim == 3)
