"""Machines that pairs alone do not solve: the hard margin, a budget of slack, counted slack, the dense program."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from scipy import linalg, optimize

from gnomon.core.errors import DataError, DegenerateError, InfeasibleError
from gnomon.core.linalg import Array
from gnomon.solvers.hulls import nearest_points
from gnomon.solvers.kernel_rows import KernelRows
from gnomon.solvers.pairs import PairProblem, Pairs, optimum

COUNTED_ROWS = 60
PROGRAM_ROWS = 3000


class NotSeparableError(DegenerateError):
    """The classes meet in the space of the kernel; `certificate` holds the weights of a common point."""

    certificate: Array | None = None


def hard_margin(source: KernelRows, rows: Array, sign: Array) -> Array:
    """Return the multipliers β = yα of the widest margin without slack, from the nearest points of the hulls."""
    middle = np.full(len(rows), 1.0 / len(rows))
    spread = (
        source.diagonal[rows] - 2.0 * _scores(source, rows, middle) + middle @ _scores(source, rows, middle)
    )
    radius = float(np.sqrt(max(spread.max(), 0.0)))
    if radius == 0.0:
        raise not_separable(None)
    found = nearest_points(
        lambda some: source.block(rows[some], rows[some]) / radius**2,
        lambda signed: _scores(source, rows, signed) / radius**2,
        sign,
        goal=1e-11,
    )
    if found.distance <= 1e-10 or found.gap >= found.distance:
        raise not_separable(found.weights)
    return sign * found.weights * (2.0 / (found.distance * radius) ** 2)


def _scores(source: KernelRows, rows: Array, coef: Array) -> Array:
    full = np.zeros(source.n)
    full[rows] = coef
    return source.scores(full, rows)


def not_separable(certificate: Array | None) -> NotSeparableError:
    """Return the error for classes that no surface of this kernel separates."""
    error = NotSeparableError(
        "the hard margin (C=inf) does not exist: the hulls of the two classes meet in the space of the kernel, so "
        "nothing separates them. Give a finite C, or a kernel that can tell the rows apart."
    )
    error.certificate = certificate
    return error


def settled(problem: PairProblem, beta: Array) -> Pairs:
    """Return multipliers found elsewhere, finished exactly."""
    R = problem.residuals(beta)
    beta, R = problem._polish(beta, R)
    return Pairs(beta, R, 1, problem._violation(beta, R), True)


# -- a budget of slack -----------------------------------------------------------------------------------------


def least_slack(source: KernelRows, rows: Array, sign: Array, weight: Array) -> float:
    """Return the smallest total slack of any surface of the kernel, by linear programming."""
    n = len(rows)
    K = source.block(rows, rows)
    size = float(np.abs(K).max()) or 1.0
    A = np.column_stack([-sign[:, None] * K / size, -sign, -np.eye(n)])
    bounds = [(None, None)] * (n + 1) + [(0, None)] * n
    found = optimize.linprog(np.r_[np.zeros(n + 1), weight], A, -np.ones(n), bounds=bounds, method="highs")
    return float(found.fun)


def slack_budget(make: Any, sign: Array, weight: Array, budget: float, least: Any) -> tuple[Pairs, float]:
    """Return the machine whose total slack is the budget, and the price C of slack at which it is.

    `make(C)` gives the problem of a price; the slack falls continuously as the price rises.
    """
    total = 2.0 * min(float(weight[sign > 0].sum()), float(weight[sign < 0].sum()))
    if budget >= total * (1.0 - 1e-12):
        return make(1.0).start()._replace(violation=0.0, done=True), 0.0
    smallest = least()
    if budget < smallest - 1e-9 * max(1.0, smallest):
        raise InfeasibleError(
            f"slack_budget={budget:g} is too small: the least total slack of any surface of this kernel is "
            f"{smallest:.6g}. Raise the budget to at least that."
        )
    solved: dict[float, Pairs] = {}

    def excess(log_price: float) -> float:
        price = float(np.exp(log_price))
        problem = make(price)
        now = problem.start()
        while not now.done:
            now = problem.advance(now, 10**9)
        solved[log_price] = now
        b = optimum(now.beta, now.R, problem.low, problem.high, 0.0)["intercept"]
        slack = np.maximum(0.0, 1.0 - sign * (sign - now.R + b))
        return float(weight @ slack) - budget

    low = high = 0.0
    while excess(low) < 0 and low > -60:
        low -= 2.0
    while excess(high) > 1e-10 * max(1.0, budget) and high < 40:
        high += 2.0
    if high >= 40 or excess(high) > 0:
        return solved[high], float(np.exp(high))
    root = optimize.brentq(excess, low, high, xtol=1e-13, rtol=1e-14, maxiter=200) if low < high else low
    if root not in solved:
        excess(root)
    return solved[root], float(np.exp(root))


# -- counted slack ---------------------------------------------------------------------------------------------


def counted_slack(source: KernelRows, rows: Array, sign: Array) -> Array:
    """Return the multipliers of the machine that gives up the fewest rows, and of those the widest margin.

    Exact, by branch and bound: where the rows kept cannot be separated, the dual of a linear program names a few that
    cannot be kept together, and one of them has to go.
    """
    n = len(rows)
    if n > COUNTED_ROWS:
        raise DataError(
            f"slack='l0' counts margin errors exactly, which is not a convex problem: it is solved for at most "
            f"{COUNTED_ROWS} rows; got {n}. Use slack='l1'."
        )
    K = source.block(rows, rows)
    values, vectors = np.linalg.eigh(K)
    keep = values > 1e-12 * max(values.max(), 1e-300)
    Z = sign[:, None] * np.column_stack([vectors[:, keep] * np.sqrt(values[keep]), np.ones(n)])
    level: deque[frozenset[int]] = deque([frozenset()])
    while level:
        following: dict[frozenset[int], None] = {}
        found = []
        for dropped in level:
            kept = np.array([i for i in range(n) if i not in dropped])
            if len(np.unique(sign[kept])) < 2:
                found.append((0.0, np.zeros(n)))
                continue
            core = _infeasible_core(Z[kept])
            if core is None:
                beta = np.zeros(n)
                try:
                    beta[kept] = hard_margin(source, rows[kept], sign[kept])
                except NotSeparableError:
                    core = np.arange(len(kept))
                else:
                    found.append((float(beta @ K @ beta), beta))
                    continue
            for row in kept[core]:
                following[dropped | {int(row)}] = None
        if found:
            return min(found, key=lambda pair: pair[0])[1]
        level = deque(following)
    raise AssertionError("dropping a whole class always separates the rest")


def _infeasible_core(Z: Array) -> Array | None:
    """Return rows of Z that cannot all be positive together, or None where they can."""
    n, d = Z.shape
    scale = np.abs(Z).max(axis=0)
    A = np.column_stack([-Z / np.where(scale > 0, scale, 1.0), -np.eye(n)])
    bounds = [(None, None)] * d + [(0, None)] * n
    found = optimize.linprog(np.r_[np.zeros(d), np.ones(n)], A, -np.ones(n), bounds=bounds, method="highs")
    if found.fun <= 1e-7:
        return None
    return np.flatnonzero(np.abs(found.ineqlin.marginals) > 1e-9)


# -- the dense program -----------------------------------------------------------------------------------------


def dense_program(K: Array, target: Array, low: Array, high: Array, max_iter: int = 200) -> Array:
    """Minimize ½βᵀKβ − tᵀβ over Σβ = 0 and the bounds by a primal–dual interior point method (Mehrotra, 1992).

    It shares nothing with the pair steps, so that each checks the other.
    """
    n = len(K)
    if n > PROGRAM_ROWS:
        raise DataError(f"solver='qp' keeps a dense matrix and is for at most {PROGRAM_ROWS} rows; got {n}.")
    sign = np.where(low < 0, -1.0, 1.0)
    top = np.maximum(np.abs(low), np.abs(high))  # x = sign·β lies in [0, top]
    bounded = np.isfinite(top)
    Q = sign[:, None] * K * sign
    c, a = -(sign * target), sign
    x = np.where(bounded, 0.5 * np.where(bounded, top, 1.0), 1.0)
    z, u, nu = np.ones(n), np.where(bounded, 1.0, 0.0), 0.0
    for _ in range(max_iter):
        room = np.where(bounded, top - x, 1.0)
        r_dual = Q @ x + c - z + u + nu * a
        r_sum = float(a @ x)
        mu = float(x @ z + room @ u) / (n + int(bounded.sum()))
        if mu <= 1e-15 * max(1.0, abs(float(c @ x))) and np.abs(r_dual).max() <= 1e-11:
            break
        D = z / x + np.where(bounded, u / room, 0.0)
        H = Q + np.diag(D + 1e-14 * max(1.0, np.trace(Q) / n))
        try:
            factor = linalg.cho_factor(H, check_finite=False)
        except linalg.LinAlgError:
            break
        Ha = linalg.cho_solve(factor, a, check_finite=False)

        def move(goal_z: Array, goal_u: Array) -> tuple[Array, Array, Array, float]:
            right = -r_dual + goal_z / x - z - np.where(bounded, goal_u / room - u, 0.0)  # noqa: B023
            first = linalg.cho_solve(factor, right, check_finite=False)  # noqa: B023
            dnu = (float(a @ first) + r_sum) / float(a @ Ha)  # noqa: B023
            dx = first - dnu * Ha  # noqa: B023
            dz = goal_z / x - z - z / x * dx  # noqa: B023
            du = np.where(bounded, goal_u / room - u + u / room * dx, 0.0)  # noqa: B023
            return dx, dz, du, dnu

        dx, dz, du, _ = move(np.zeros(n), np.zeros(n))
        share = _reach(x, dx, z, dz, room, u, du, bounded)
        ahead = float((x + share * dx) @ (z + share * dz) + (room - share * dx) @ (u + share * du))
        center = mu * (ahead / ((n + int(bounded.sum())) * mu)) ** 3
        dx, dz, du, dnu = move(center - dx * dz, center + dx * du)
        share = 0.995 * _reach(x, dx, z, dz, room, u, du, bounded)
        x, z, u, nu = x + share * dx, z + share * dz, u + share * du, nu + share * dnu
    unit = (
        float(x.max(initial=0.0)) or 1.0
    )  # of a variable and its multiplier the smaller one is zero in the limit
    x = np.clip(x, 0.0, top)
    x[(x / unit < z) & (x < 1e-3 * unit)] = 0.0
    full = bounded & ((top - x) / unit < u) & (top - x < 1e-3 * unit)
    x[full] = top[full]
    return sign * x


def _reach(
    x: Array, dx: Array, z: Array, dz: Array, room: Array, u: Array, du: Array, bounded: Array
) -> float:
    """Return the longest step, at most 1, that keeps all positive."""
    share = 1.0
    for value, change, where in ((x, dx, None), (z, dz, None), (room, -dx, bounded), (u, du, bounded)):
        falls = change < 0 if where is None else (change < 0) & where
        if falls.any():
            share = min(share, float(np.min(-value[falls] / change[falls])))
    return share
