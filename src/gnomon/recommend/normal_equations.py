"""Half-steps of alternating least squares over ratings that lie on a cluster: sums of small normal equations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.ratings import RatingMatrix
from gnomon.core.rows import Chunk
from gnomon.core.sums import total
from gnomon.recommend.alternating import NO_BASE

STATISTICS = 2**24  # numbers in the Gram matrices that travel at a time
NO_BIAS = np.zeros(0)


class Line(NamedTuple):
    """A number that depends on the rating: constant + slope · rating."""

    constant: float
    slope: float


ONE, ITSELF = Line(1.0, 0.0), Line(0.0, 1.0)


class NormalEquations(NamedTuple):
    """What some ratings add to the regressions of the users, or items, that they belong to."""

    rows: Array  # (r,) codes, sorted
    gram: Array  # (r, k, k) Σ w v vᵀ, the lower half
    right: Array  # (r, k) Σ t v
    squares: Array  # (r,) Σ t²

    def merge(self, other: NormalEquations) -> NormalEquations:
        """Return the equations of both; rows that are in both are added up."""
        rows = np.union1d(self.rows, other.rows)
        sums = [np.zeros((len(rows), *part.shape[1:])) for part in self[1:]]
        for one in (self, other):
            at = np.searchsorted(rows, one.rows)
            for into, part in zip(sums, one[1:], strict=True):
                into[at] += part
        return NormalEquations(rows, *sums)


def dealt_out(R: RatingMatrix) -> Any:
    """Return the ratings as rows (user, item, rating) on Dask's workers, in as many partitions as they came in.

    Ratings that did not come from Dask give None.
    """
    if not R.n_parts:
        return None
    import dask.array

    from gnomon.core.dask_rows import DaskRows

    table = np.column_stack([R.users, R.items, R.values])
    size = -(-len(table) // R.n_parts)
    from_array: Any = dask.array.from_array
    there = from_array(table, chunks=(size, 3)).persist()
    rows: Any = DaskRows(there)
    rows.kept = there  # workers forget what nobody here holds
    return rows


def normal_equations(
    chunk: Chunk, axis: int, first: int, last: int, V: Array, weight: Line, target: Line, bias: Array
) -> NormalEquations:
    """Return the equations of rows first..last of one side (axis 0: users) from some ratings."""
    from gnomon.loops.factors import add_equations

    codes = chunk.X[:, axis].astype(np.int64)
    here = (codes >= first) & (codes < last)
    others, values = chunk.X[here, 1 - axis].astype(np.int64), chunk.X[here, 2]
    rows, at = np.unique(codes[here], return_inverse=True)
    k = V.shape[1]
    found = NormalEquations(rows, np.zeros((len(rows), k, k)), np.zeros((len(rows), k)), np.zeros(len(rows)))
    w, t = weight.constant + weight.slope * values, target.constant + target.slope * values
    add_equations(at, others, w, t - bias[others] if len(bias) else t, V, *found[1:])
    return found


def solve_by_sums(
    rows: Any,
    axis: int,
    V: Array,
    ridge: Array,
    *,
    weight: Line = ONE,
    target: Line = ITSELF,
    bias: Array = NO_BIAS,
    base: Array = NO_BASE,
) -> tuple[Array, Array]:
    """Return what `solve_side` returns, and its errors, from sums over the partitions of the ratings."""
    k = V.shape[1]
    out, errors = np.zeros((len(ridge), k), dtype=V.dtype), np.zeros(len(ridge))
    size = max(1, STATISTICS // (k * k))
    wide = V.astype(np.float64)
    for first in range(0, len(ridge), size):
        known = total(normal_equations, rows, axis, first, first + size, wide, weight, target, bias)
        gram = known.gram + np.tril(known.gram, -1).transpose(0, 2, 1)
        A = gram + ridge[known.rows, None, None] * np.eye(k) + (base if len(base) else 0.0)
        try:
            np.linalg.cholesky(A)
        except np.linalg.LinAlgError:
            raise DegenerateError(
                f"some {('user', 'item')[axis]} has too few ratings to determine {k} factors; raise regularization "
                "above 0 or lower factors."
            ) from None
        found = np.linalg.solve(A, known.right[:, :, None])[:, :, 0]
        out[known.rows] = found
        fitted = np.einsum("rj,rjl,rl->r", found, gram, found) - 2 * (known.right * found).sum(axis=1)
        errors[known.rows] = np.maximum(known.squares + fitted, 0.0)
    return out, errors
