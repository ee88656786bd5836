"""Maximum-margin machines as dense quadratic programs: two classes, hard margins, bounded slack, many classes."""

from __future__ import annotations

import numpy as np

from gnomon.core.errors import DataError, InfeasibleError
from gnomon.core.linalg import Array
from gnomon.solvers.interior import quadratic_program
from gnomon.solvers.separation import least_slack

LARGEST = 3000  # variables of the dense program


def hinge_program(A: Array, ridge: Array, cost: Array, loss: str = "hinge", budget: float | None = None):
    """Solve ½ Σ ridge θ² + Σ cost·slack by a dense program; infinite costs forbid slack, a budget bounds its
    sum.
    """
    n, D = A.shape
    soft = np.isfinite(cost) if budget is None else np.ones(n, dtype=bool)
    k = int(soft.sum())
    squared = loss == "squared_hinge" and budget is None
    Q = np.diag(np.concatenate([ridge, 2.0 * cost[soft] if squared else np.zeros(k)]))
    c = np.concatenate([np.zeros(D), np.zeros(k) if squared or budget is not None else cost[soft]])
    slack = np.eye(n)[:, soft]
    G = np.block([[A, slack], [np.zeros((k, D)), np.eye(k)]])
    h = np.concatenate([np.ones(n), np.zeros(k)])
    if budget is not None:
        G = np.vstack([G, np.concatenate([np.zeros(D), -np.ones(k)])])
        h = np.append(h, -budget)
    found = quadratic_program(Q, c, G, h)
    theta = found.x[:D]
    return theta, found.multipliers[:n], float(0.5 * found.x @ Q @ found.x + c @ found.x), found.gap


def within_budget(A: Array, ridge: Array, budget: float):
    """Minimize ½‖w‖² with total slack at most the budget."""
    least = least_slack(A)
    if budget < least * (1.0 - 1e-9) - 1e-12:
        raise InfeasibleError(
            f"slack_budget={budget:g} is below the smallest possible total slack, {least:g}."
        )
    return hinge_program(A, ridge, np.zeros(len(A)), "hinge", budget)


def hard_margin(X: Array, s: Array, *, origin: bool = False) -> tuple[Array, float]:
    """Return the plane of largest margin for labels s = ±1 that are known to be separable."""
    A = s[:, None] * (X if origin else np.column_stack([X, np.ones(len(X))]))
    ridge = np.ones(A.shape[1])
    if not origin:
        ridge[-1] = 0.0
    theta = hinge_program(A, ridge, np.full(len(s), np.inf))[0]
    return (theta, 0.0) if origin else (theta[:-1], float(theta[-1]))


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
    if intercept and price == 0.0:  # ½ (Σ b_k)² is zero at one of the optima, which it makes the only one
        last = np.arange(D - 1, K * D, D)
        Q[np.ix_(last, last)] = 1.0
    c = np.concatenate([np.zeros(K * D), cost[owner] if kind == "weston_watkins" else cost])
    constraints = np.block([[G, slack], [np.zeros((n_slack, K * D)), np.eye(n_slack)]])
    h = np.concatenate([np.full(len(pairs), margin), np.zeros(n_slack)])
    found = quadratic_program(Q, c, constraints, h)
    table = found.x[: K * D].reshape(K, D).copy()
    if intercept and price == 0.0:
        table[:, -1] -= table[:, -1].mean()
    return table, float(0.5 * found.x @ Q @ found.x + c @ found.x), found.gap
