"""Sweeps of the factorization that are not alternating least squares: stochastic gradients and coordinates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array
from gnomon.core.threads import shared
from gnomon.recommend.alternating import predictions

GRID_RATINGS = 2**16  # fewer are one block


class Factors(NamedTuple):
    """Vectors and biases, and what led to them."""

    U: Array
    V: Array
    user_bias: Array
    item_bias: Array
    H: Array  # of SVD++
    half_steps: Array
    seed: int
    sweeps: int
    objective: float
    runs: Array  # J of the starts before this one
    earlier: tuple[Array, Array, Array, Array]  # their vectors side by side, and the sums of their biases


class Grid(NamedTuple):
    """Ratings in blocks of users by items, block after block; blocks in different rows and columns share nothing."""

    size: int  # blocks a side
    edges: Array  # where the blocks begin
    rows: Array
    columns: Array
    values: Array


def grid_size(n: int) -> int:
    """Return into how many blocks a side to cut so many ratings; few are one block."""
    return 1 if n < GRID_RATINGS else int(np.clip(np.sqrt(n / GRID_RATINGS) * 4, 4, 32))


def grid_of(sides: Any) -> Grid | None:
    """Return the ratings in blocks of about as many ratings each; None where there are few. The data alone decide."""
    n = len(sides.values)
    size = grid_size(n)
    if size == 1:
        return None
    along = [
        np.minimum(size - 1, (np.cumsum(side.counts) - side.counts) * size // n).astype(np.int64)
        for side in (sides.users, sides.items)
    ]
    block = along[0][sides.rows] * size + along[1][sides.columns]
    order = np.argsort(block, kind="stable")
    edges = np.searchsorted(block[order], np.arange(size * size + 1))
    return Grid(size, edges, sides.rows[order], sides.columns[order], sides.values[order])


def sgd_sweep(
    work: Any, state: Factors, rate: float, lam: float, scaling: str, batch: str, biases: bool
) -> tuple[Factors, float]:
    """Return the factors after one pass of stochastic gradient steps, and the squared errors met on the way.

    A shuffled pass over many ratings goes stratum by stratum (Gemulla et al., 2011): the blocks of a stratum have no
    user and no item in common, so threads may take them in any order and the result is the same.
    """
    from gnomon.loops.draws import shuffle
    from gnomon.loops.factors import sgd_epoch, svdpp_epoch

    sides = work.sides
    lam_u = np.full(len(state.U), lam) if scaling == "rating" else lam / np.maximum(sides.users.counts, 1)
    lam_v = np.full(len(state.V), lam) if scaling == "rating" else lam / np.maximum(sides.items.counts, 1)
    U, V, bu, bi = (part.copy() for part in (state.U, state.V, state.user_bias, state.item_bias))
    mean = sides.mean if biases else 0.0
    by_user = bool(len(state.H))
    if work.grid is not None and not by_user:
        squares = _strata(work.grid, state, mean, rate, lam_u, lam_v, biases, bu, bi, U, V)
        return state._replace(U=U, V=V, user_bias=bu, item_bias=bi), squares
    order = np.arange(len(U) if by_user else len(sides.values))
    if batch == "shuffled":
        shuffle(order, (state.seed + state.sweeps) % 2**63)
    if by_user:
        H = state.H.copy()
        runs = sides.users.runs
        squares = svdpp_epoch(
            order, runs.starts, runs.others, runs.values, mean, rate, lam_u, lam_v, bu, bi, U, V, H
        )
        return state._replace(U=U, V=V, user_bias=bu, item_bias=bi, H=H), float(squares)
    ratings = (sides.rows, sides.columns, sides.values)
    squares = sgd_epoch(order, *ratings, mean, rate, lam_u, lam_v, biases, bu, bi, U, V)
    return state._replace(U=U, V=V, user_bias=bu, item_bias=bi), float(squares)


def _strata(grid: Grid, state: Factors, *settings: Any) -> float:
    """Take the blocks of one diagonal after another, the diagonals and the ratings of a block in random order."""
    from gnomon.loops.draws import shuffle
    from gnomon.loops.factors import sgd_epoch

    size = grid.size
    key = state.seed + state.sweeps * (size * size + 1)
    diagonals = np.arange(size)
    shuffle(diagonals, key % 2**63)

    def block(number: int) -> float:
        order = np.arange(grid.edges[number], grid.edges[number + 1])
        shuffle(order, (key + 1 + number) % 2**63)
        return float(sgd_epoch(order, grid.rows, grid.columns, grid.values, *settings))

    squares = 0.0
    for shift in diagonals.tolist():
        squares += sum(shared(block, [row * size + (row + shift) % size for row in range(size)]))
    return squares


def coordinate_sweep(work: Any, state: Factors, nonnegative: bool, biases: bool) -> Factors:
    """Return the factors after one sweep over the ranks: each is fitted to what the others leave."""
    from gnomon.loops.factors import coordinate_rows

    sides = work.sides
    U, V = state.U.astype(np.float64), state.V.astype(np.float64)
    bu, bi = state.user_bias[:, None].copy(), state.item_bias[:, None].copy()
    rest = sides.values - predictions(sides.rows, sides.columns, U, V)
    by_user = np.arange(len(rest))

    def fit(
        side: Any, places: Array, ours: Array, other: Array, column: int, ridge: Array, positive: bool
    ) -> None:
        runs = side.runs

        def piece(edges: tuple[int, int]) -> None:
            coordinate_rows(
                *edges, runs.starts, runs.others, places, rest, other, ours, column, ridge, positive
            )

        shared(piece, side.pieces)

    if biases:
        rest -= sides.mean + bu[sides.rows, 0] + bi[sides.columns, 0]
        rest += bu[sides.rows, 0]
        fit(sides.users, by_user, bu, np.ones(len(bi)), 0, work.ridge_users, False)
        rest += bi[sides.columns, 0] - bu[sides.rows, 0]
        fit(sides.items, sides.places, bi, np.ones(len(bu)), 0, work.ridge_items, False)
        rest -= bi[sides.columns, 0]
    for k in range(U.shape[1]):
        rest += U[sides.rows, k] * V[sides.columns, k]
        for _ in range(2):  # inner rounds of CCD++
            fit(sides.users, by_user, U, np.ascontiguousarray(V[:, k]), k, work.ridge_users, nonnegative)
            fit(sides.items, sides.places, V, np.ascontiguousarray(U[:, k]), k, work.ridge_items, nonnegative)
        rest -= U[sides.rows, k] * V[sides.columns, k]
    kind = state.U.dtype
    return state._replace(U=U.astype(kind), V=V.astype(kind), user_bias=bu[:, 0], item_bias=bi[:, 0])


def history_of(work: Any, H: Array) -> Array:
    """Return |D_a|^(-1/2) Σ h_j of every user."""
    sides = work.sides
    runs = sides.users.runs
    ones = sparse.csr_array(
        (np.ones(len(runs.others)), runs.others, runs.starts), shape=(len(sides.users.counts), len(H))
    )
    return (ones @ H) / np.sqrt(np.maximum(sides.users.counts, 1))[:, None]
