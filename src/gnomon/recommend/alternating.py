"""Half-steps of alternating least squares: every row of one side is the ridge regression on the other side."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.ratings import ById, RatingMatrix
from gnomon.core.threads import shared
from gnomon.recommend.base import pieces_of

NO_BASE = np.zeros((0, 0))


class Side(NamedTuple):
    """The ratings of users, or of items, in runs, and how they are cut into pieces of work."""

    runs: ById
    counts: Array
    pieces: list[tuple[int, int]]


class Sides(NamedTuple):
    """Both ways to look at the ratings."""

    users: Side
    items: Side
    rows: Array  # the user of every rating, by user and then by item
    columns: Array  # and its item
    values: Array
    mean: float
    places: Array  # where each rating by item lies among those by user


def sides_of(R: RatingMatrix) -> Sides:
    """Return the ratings by user and by item."""
    users, items = R.by_user(), R.by_item()
    return Sides(
        side_of(users),
        side_of(items),
        R.users,
        R.items,
        R.values,
        R.global_mean(),
        np.argsort(R.items, kind="stable"),
    )


def side_of(runs: ById) -> Side:
    """Return one side."""
    return Side(runs, np.diff(runs.starts).astype(np.float64), pieces_of(runs))


def solve_side(
    side: Side,
    V: Array,
    ridge: Array,
    *,
    weights: Array | None = None,
    targets: Array | None = None,
    base: Array = NO_BASE,
    what: str = "row",
    penalized: bool = False,
    errors: Array | None = None,
) -> Array:
    """Return the vectors of all rows: (base + λ_r I + Σ w v vᵀ) u = Σ t v; rows without ratings are zero.

    `penalized` says that `base` holds a penalty. `errors`, where given, is filled with Σ (t − u·v)² of every row.
    """
    from gnomon.loops.factors import solve_rows, squared_errors

    out = np.empty((len(side.counts), V.shape[1]), dtype=V.dtype)
    w = np.ones(len(side.runs.others)) if weights is None else weights
    t = side.runs.values if targets is None else targets

    def piece(edges: tuple[int, int]) -> int:
        bad = int(solve_rows(*edges, side.runs.starts, side.runs.others, w, t, V, base, ridge, out))
        if errors is not None and bad < 0:
            squared_errors(*edges, side.runs.starts, side.runs.others, t, V, out, errors)
        return bad

    failed = [row for row in shared(piece, side.pieces) if row >= 0]
    if failed:
        row = min(failed)
        if penalized or ridge[row] > 0:  # what is added to the diagonal rules out all but an overflow
            raise DataError(
                f"the ratings, up to {np.abs(t).max():.3g}, are too large for {V.dtype}: the vector of {what} {row} is "
                "not finite. Scale the ratings."
            )
        raise DegenerateError(
            f"{what} {row} has {int(side.counts[row])} ratings, too few to determine {V.shape[1]} factors; "
            "raise regularization above 0 or lower factors."
        )
    return out


def predictions(rows: Array, columns: Array, U: Array, V: Array) -> Array:
    """Return u · v of every pair."""
    from gnomon.loops.factors import dots

    out = np.empty(len(rows))
    size = 2**16

    def piece(begin: int) -> None:
        part = slice(begin, begin + size)
        dots(rows[part], columns[part], U, V, out[part])

    shared(piece, range(0, len(rows), size))
    return out


def penalty(factors: Array, ridge: Array) -> float:
    """Return ½ Σ λ_r ‖row‖²; rows without ratings are not counted twice, they are zero."""
    squares = np.einsum("rk,rk->r", factors, factors, dtype=np.float64)
    return 0.5 * inner(ridge, squares)


def inner(a: Array, b: Array) -> float:
    """Return Σ a b, the same bits however many threads BLAS has."""
    return float((a * b).sum())


def ridge_of(side: Side, regularization: float, scaling: str) -> Array:
    """Return λ of every row: once a row, or once a rating."""
    return regularization * (side.counts if scaling == "rating" else np.ones_like(side.counts))


def as_ratings(ratings: Any, items: Array) -> tuple[Array, Array]:
    """Return codes and values of one user's ratings: a dict, or pairs of item and rating."""
    from gnomon.core.ids import codes_of

    try:
        listed = [(item, float(value)) for item, value in getattr(ratings, "items", lambda: ratings)()]
    except (TypeError, ValueError):
        raise DataError(
            "ratings of a new user must be a dict item -> rating, or pairs of item and rating, which is a number."
        ) from None
    codes = codes_of([item for item, _ in listed], items) if listed else np.zeros(0, dtype=np.int64)
    values = np.array([value for _, value in listed])
    if not np.isfinite(values).all():
        raise DataError("ratings of a new user must be finite numbers.")
    return codes[codes >= 0], values[codes >= 0]


def with_values(sides: Sides, values: Array) -> Sides:
    """Return the same ratings with other values."""

    def side(one: Side, data: Array) -> Side:
        return one._replace(runs=one.runs._replace(values=np.ascontiguousarray(data)))

    return sides._replace(
        users=side(sides.users, values), items=side(sides.items, values[sides.places]), values=values
    )
