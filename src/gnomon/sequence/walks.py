"""Transition matrices of random walks: along a corridor, and over a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.validate import graph


def random_walk_matrix(
    n: int,
    *,
    left: float = 1 / 3,
    stay: float = 1 / 3,
    right: float = 1 / 3,
    wall_stay: float = 0.5,
    wall_move: float = 0.5,
) -> Any:
    """Return the transition matrix of a walk along a corridor of `n` positions.

    Interior rows hold (left, stay, right); at the two walls the walker stays or moves inward.

    Examples
    --------
    >>> random_walk_matrix(3).round(3)
    array([[0.5  , 0.5  , 0.   ],
           [0.333, 0.333, 0.333],
           [0.   , 0.5  , 0.5  ]])
    """
    if n < 2:
        raise DataError(f"n must be at least 2 positions; got {n}.")
    for name, row in (
        ("left, stay, right", (left, stay, right)),
        ("wall_stay, wall_move", (wall_stay, wall_move)),
    ):
        if min(row) < 0 or abs(sum(row) - 1) > 1e-8:
            raise DataError(f"{name} must be probabilities that sum to 1; they sum to {sum(row):.10g}.")
    inside = np.arange(1, n - 1)
    M = np.zeros((n, n))
    M[inside, inside - 1], M[inside, inside], M[inside, inside + 1] = left, stay, right
    M[0, :2] = wall_stay, wall_move
    M[-1, -2:] = wall_move, wall_stay
    return M


def graph_walk(adjacency: Any, *, lazy: float = 0.0) -> Any:
    """Return the transition matrix (CSR) of a walk that leaves every node along its edges by their weights.

    Nodes without edges stay where they are; a `lazy` walker first stays with that probability.

    Examples
    --------
    >>> graph_walk([[0, 1, 1], [1, 0, 0], [1, 0, 0]]).toarray()
    array([[0. , 0.5, 0.5],
           [1. , 0. , 0. ],
           [1. , 0. , 0. ]])
    """
    if not 0.0 <= lazy < 1.0:
        raise DataError(f"lazy must lie in [0, 1); got {lazy}.")
    A = graph(adjacency, name="adjacency")
    degree = np.asarray(A.sum(axis=1)).ravel()
    walk = sparse.diags_array(1.0 / np.where(degree > 0, degree, 1.0)) @ A
    stay = sparse.diags_array(np.where(degree > 0, lazy, 1.0))
    return sparse.csr_array((1.0 - lazy) * walk + stay)
