"""Sweeps of the factorization that are not alternating least squares: stochastic gradients and coordinates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.threads import shared
from gnomon.recommend.alternating import predictions


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


def sgd_sweep(
    work: Any, state: Factors, rate: float, lam: float, scaling: str, batch: str, biases: bool
) -> tuple[Factors, float]:
    """Return the factors after one pass of stochastic gradient steps, and the squared errors met on the way."""
    from gnomon.loops.draws import shuffle
    from gnomon.loops.factors import sgd_epoch, svdpp_epoch

    sides = work.sides
    lam_u = np.full(len(state.U), lam) if scaling == "rating" else lam / np.maximum(sides.users.counts, 1)
    lam_v = np.full(len(state.V), lam) if scaling == "rating" else lam / np.maximum(sides.items.counts, 1)
    U, V, bu, bi = (part.copy() for part in (state.U, state.V, state.user_bias, state.item_bias))
    by_user = bool(len(state.H))
    order = np.arange(len(U) if by_user else len(sides.values))
    if batch == "shuffled":
        shuffle(order, (state.seed + state.sweeps) % 2**63)
    mean = sides.mean if biases else 0.0
    if by_user:
        H = state.H.copy()
        runs = sides.users.runs
        squares = svdpp_epoch(
            order, runs.starts, runs.others, runs.values, mean, rate, lam_u, lam_v, bu, bi, U, V, H
        )
        return state._replace(U=U, V=V, user_bias=bu, item_bias=bi, H=H), float(squares)
    squares = sgd_epoch(
        order,
        sides.rows,
        sides.columns,
        sides.values,
        mean,
        rate,
        lam_u,
        lam_v,
        biases,
        bu,
        bi,
        U,
        V,
    )
    return state._replace(U=U, V=V, user_bias=bu, item_bias=bi), float(squares)


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
