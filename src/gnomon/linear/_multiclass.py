"""Multi-class hinge machines as quadratic programs."""

from __future__ import annotations

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.solvers.interior import quadratic_program

LARGEST = 3000  # variables of the dense program


def multiclass_program(
    X: Array, y: Array, cost: Array, *, K: int, kind: str, intercept: bool, price: float, margin: float = 1.0
) -> tuple[Array, float, float]:
    """Solve ½Σ‖W_k‖² + Σ_i cost_i·loss_i; returns the rows (W_k, b_k), the objective and the gap.

    Weston–Watkins has a slack for every wrong class, Crammer–Singer one a row. Intercepts without a price are
    determined up to a constant: their sum is zero.
    """
    n = len(X)
    Z = np.column_stack([X, np.ones(n)]) if intercept else X
    D, pairs = Z.shape[1], [(i, j) for i in range(n) for j in range(K) if j != y[i]]
    n_slack = len(pairs) if kind == "weston_watkins" else n
    if K * D + n_slack > LARGEST:
        raise DataError(
            f"multi_class={kind!r} is solved as a dense program of at most {LARGEST} variables; this one has "
            f"{K * D + n_slack}. Use multi_class='ovr', or a sample."
        )
    G, owner = np.zeros((len(pairs), K * D)), np.array([i for i, _ in pairs])
    for row, (i, j) in enumerate(pairs):
        G[row, y[i] * D : (y[i] + 1) * D] += Z[i]
        G[row, j * D : (j + 1) * D] -= Z[i]
    slack = np.eye(len(pairs)) if kind == "weston_watkins" else np.eye(n)[owner]
    one = np.ones(D)
    if intercept:
        one[-1] = price
    ridge = np.tile(one, K)
    Q = np.diag(np.concatenate([ridge, np.zeros(n_slack)]))
    c = np.concatenate([np.zeros(K * D), cost[owner] if kind == "weston_watkins" else cost])
    constraints = np.block([[G, slack], [np.zeros((n_slack, K * D)), np.eye(n_slack)]])
    h = np.concatenate([np.full(len(pairs), margin), np.zeros(n_slack)])
    found = quadratic_program(Q, c, constraints, h)
    table = found.x[: K * D].reshape(K, D).copy()
    if intercept and price == 0.0:
        table[:, -1] -= table[:, -1].mean()
    return table, float(0.5 * found.x @ Q @ found.x + c @ found.x), found.gap
