"""What the solution of a maximum-margin problem says of its rows: multipliers, slacks, conditions of optimality."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array
from gnomon.solvers import terms
from gnomon.solvers.dual import DualState
from gnomon.solvers.maximum_margin import Iterate, Margin


def describe(margin: Margin, X: Any, solved: Iterate) -> tuple[dict[str, Any], float]:
    """Return multipliers, slacks, types of rows and more of a two-class machine, and its intercept."""
    theta, alpha = solved.theta, solved.alpha
    w, b = (theta[:-1], float(theta[-1])) if margin.intercept else (theta, 0.0)
    base = terms.dot(X, w) if solved.scores is None else solved.scores - b
    if alpha is None:
        alpha = 2.0 * margin.cost * np.maximum(0.0, 1.0 - margin.y * (base + b))
    near = 1e-5 * np.where(np.isfinite(margin.cost), margin.cost, max(float(alpha.max(initial=0.0)), 1e-300))
    at_zero, at_top = alpha <= near, np.isfinite(margin.cost) & (alpha >= margin.cost - near)
    if margin.loss == "squared_hinge":
        at_top = np.zeros_like(at_zero)
    alpha = np.where(at_zero, 0.0, np.where(at_top, margin.cost, alpha))
    interval = (b, b)
    if margin.intercept and margin.intercept_ridge == 0.0 and margin.loss == "hinge":
        b, interval = free_intercept(margin.y, base, at_zero, at_top, b)
    slack = np.maximum(0.0, 1.0 - margin.y * (base + b))
    length = float(np.linalg.norm(w))
    types = np.where(at_zero, "outside", np.where(at_top, "margin_error", "on_margin"))
    return {
        "dual_coef_full_": alpha,
        "support_": np.flatnonzero(~at_zero),
        "slack_": slack,
        "margin_": 1.0 / length if length > 0 else np.inf,
        "point_types_": types,
        "support_fraction_": float(np.mean(~at_zero)),
        "intercept_interval_": interval,
        "kkt_violation_": kkt(margin, X, solved, b, alpha, base),
    }, b


def free_intercept(y: Array, base: Array, at_zero: Array, at_top: Array, b: float):
    """Return b from the free vectors, or the middle of the interval that the bound ones leave."""
    free = ~at_zero & ~at_top
    if free.any():
        b = float(np.mean(y[free] - base[free]))
        return b, (b, b)
    up = ((y > 0) & at_zero) | ((y < 0) & at_top)
    edge = y - base
    low = float(edge[up].max()) if up.any() else -np.inf
    high = float(edge[~up].min()) if (~up).any() else np.inf
    if not (np.isfinite(low) and np.isfinite(high)):
        return b, (low, high)
    return 0.5 * (low + high), (low, high)


def kkt(margin: Margin, X: Any, solved: Iterate, b: float, alpha: Array, base: Array) -> float:
    """Return the largest violation of stationarity, of Σαy = 0 and of complementary slackness."""
    pull = np.abs(stationarity(margin, X, solved, alpha)).max(initial=0.0)
    balance = abs(float(alpha @ margin.y)) if margin.intercept and margin.intercept_ridge == 0.0 else 0.0
    m = margin.y * (base + b)
    live = np.where(margin.cost > 0, margin.cost, 1.0)
    extra = alpha / (2.0 * live) if margin.loss == "squared_hinge" else 0.0
    slack = np.where(alpha <= 0, np.maximum(0, 1 - m), 0.0)
    inside = (alpha > 0) & ((alpha < margin.cost) | (margin.loss == "squared_hinge"))
    slack = np.where(inside, np.abs(1.0 - m - extra), slack)
    top = np.where((alpha >= margin.cost) & (margin.loss == "hinge"), np.maximum(0, m - 1.0), 0.0)
    return float(max(pull, balance, slack.max(initial=0.0), top.max(initial=0.0)))


def stationarity(margin: Margin, X: Any, solved: Iterate, alpha: Array) -> Array:
    """Return Σ α y x − w; where w is that sum with the solver's own α, only what differs is added."""
    if isinstance(solved.inner, DualState):
        off, alpha = np.zeros(X.shape[1]), alpha - solved.alpha
    else:
        off = -(solved.theta[:-1] if margin.intercept else solved.theta)
    terms.add(X, alpha * margin.y, off)
    return off
