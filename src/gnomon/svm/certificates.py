"""Certificates: what the multipliers of a machine prove of it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.validate import warn
from gnomon.solvers.pairs import Pairs, optimum

AT_BOUND = 1e-8  # of C: how near a bound a multiplier is at it


class Machine(NamedTuple):
    """One trained machine: its rows, multipliers, intercept and proofs."""

    rows: Array
    sign: Array
    beta: Array
    cost: Array
    intercept: float
    interval: tuple[float, float]
    slack: Array
    certificate: dict[str, float]


def certify(
    rows: Array,
    sign: Array,
    cost: Array,
    ridge: Array | None,
    now: Pairs,
    *,
    counted: bool = False,
    budget: float | None = None,
) -> Machine:
    """Return a machine with its intercept, slacks, primal and dual value from the residuals y − f of its rows."""
    beta = now.beta
    low, high = np.where(sign > 0, 0.0, -cost), np.where(sign > 0, cost, 0.0)
    squared, unbounded = ridge is not None, bool(np.isinf(cost).all())
    if counted:
        kept = np.abs(beta) > 0
        ends = optimum(beta[kept], now.R[kept], low[kept], high[kept], 0.0) if kept.any() else _nothing(sign)
    elif not beta.any() and budget is not None:
        ends = _nothing(sign)
    else:
        ends = optimum(beta, now.R, low, high, 0.0)
    b = ends["intercept"]
    f = sign - now.R - (ridge * beta if squared else 0.0)  # without intercept
    slack = np.maximum(0.0, 1.0 - sign * (f + b))
    square = float(beta @ f)
    alpha = np.abs(beta)
    dual = float(alpha.sum() - 0.5 * square)
    if squared:
        dual -= 0.5 * float(ridge @ beta**2)  # type: ignore[operator]
        primal = 0.5 * square + float((0.5 / ridge) @ slack**2)  # type: ignore[operator]
    elif unbounded or counted:
        primal = 0.5 * square
    else:
        primal = 0.5 * square + float(cost @ slack)
    if unbounded and not squared and not counted:
        slack = np.zeros_like(slack)
    if budget is not None:
        primal = dual = 0.5 * square
        dual = min(dual, primal)
    if counted:
        dual = primal
    _look_for_curvature(square, primal, dual, alpha)
    certificate = {
        "primal_": primal,
        "dual_": dual,
        "gap_": max(0.0, primal - dual) if primal - dual > -1e-9 * max(1.0, abs(primal)) else primal - dual,
        "kkt_violation_": float(now.violation if counted else ends["violation"]),
        "margin_": 1.0 / math.sqrt(square) if square > 0 else np.inf,
    }
    return Machine(rows, sign, beta, cost, b, ends["interval"], slack, certificate)


def _nothing(sign: Array) -> dict[str, Any]:
    """The machine without weights: it says the larger class."""
    balance = float(np.sign(sign.sum()))
    return {"intercept": balance, "interval": (balance, balance), "violation": 0.0}


def _look_for_curvature(square: float, primal: float, dual: float, alpha: Array) -> None:
    size = max(1.0, abs(primal), float(alpha.sum()))
    if square < -1e-9 * size or dual > primal + 1e-6 * size:
        warn(
            "the kernel is not positive semi-definite on these rows, so the dual has more than one bottom and gap_ "
            "proves nothing. Repair the matrix with gnomon.kernels.nearest_psd, or choose another kernel.",
            UserWarning,
        )


def point_types(alpha: Array, cost: Array) -> Array:
    """Return "outside", "on_margin" or "margin_error" for every row, by its multiplier.

    >>> point_types(np.array([0.0, 0.5, 1.0]), np.ones(3)).tolist()
    ['outside', 'on_margin', 'margin_error']
    """
    near = AT_BOUND * np.where(np.isfinite(cost), cost, alpha.max(initial=0.0))
    kinds = np.full(len(alpha), "on_margin", dtype="<U12")
    kinds[alpha <= near] = "outside"
    kinds[np.isfinite(cost) & (alpha >= cost - near) & (alpha > near)] = "margin_error"
    return kinds
