"""Passes in batches of rows, with momentum or AdaGrad: the textbook steps on the mean gradient of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DivergenceError
from gnomon.core.validate import warn
from gnomon.losses.penalties import soft_threshold


def batched_pass(model: Any, work: Any, state: Any) -> tuple[Any, float]:
    """Return the state after one pass in batches, and the loss met on the way."""
    n = work.n_rows
    size = n if model.batch_size == "full" else int(model.batch_size)
    if size > n:
        warn(f"batch_size={size} is more than the {n} rows; all rows are taken.")
        size = n
    order = model._order(work, state) if size < n or work.parts is not None else np.arange(n)
    schedule, steps, total = model._schedule(), state.steps, 0.0
    theta = np.column_stack([state.coef, state.intercept])
    memory = (state.facts or {}).get("memory", np.zeros_like(theta))
    for begin in range(0, len(order), size):
        batch = order[begin : begin + size]
        eta = schedule(int(steps)) * state.rate
        ahead = theta + model.momentum * memory if model.nesterov and model.momentum else theta
        gradient, loss = batch_gradient(model, work, batch, ahead)
        theta, memory = _move(model, theta, memory, gradient, eta)
        total += loss
        steps += 1.0
    if not np.isfinite(theta).all() or np.abs(theta).max() > 1e100:
        raise DivergenceError(_limit(model, work))
    facts = {**(state.facts or {}), "memory": memory}
    return state._replace(
        coef=theta[:, :-1].copy(),
        intercept=theta[:, -1].copy(),
        steps=steps,
        facts=facts,
        epoch=state.epoch + 1,
    ), total


def batch_gradient(model, work, batch, theta):
    """Mean gradient of loss and penalty over a batch (k, d+1), and the summed loss."""
    X, (alpha, ratio), loss = work.X[batch], model._strength(), model._loss()
    Z = X @ theta[:, :-1].T + theta[:, -1]
    weight = work.weights[:, batch]
    targets = work.targets[:, batch]
    slope = weight * loss.gradient(targets, Z.T)
    gradient = np.column_stack([(X.T @ slope.T).T, slope.sum(axis=1) * model.fit_intercept])
    gradient /= max(float(work.rows.weight[batch].sum()), 1e-300)
    gradient[:, :-1] += alpha * (1.0 - ratio) * theta[:, :-1]
    return gradient, float(np.sum(weight * loss.value(targets, Z.T)))


def _move(model, theta, memory, gradient, eta):
    alpha, ratio = model._strength()
    if model.optimizer == "adagrad":
        memory = memory + gradient**2
        root = np.sqrt(memory)
        theta = theta - eta * np.divide(gradient, root, out=np.zeros_like(root), where=root > 0)
    else:
        memory = model.momentum * memory - eta * gradient
        theta = theta + memory
    if ratio > 0.0 and alpha > 0.0:
        theta = theta.copy()
        theta[:, :-1] = soft_threshold(theta[:, :-1], eta * alpha * ratio)
    return theta, memory


def _limit(model, work):
    X = work.X
    text = "the weights run away; lower eta0 or scale the columns."
    if X.shape[1] > 500 or model.loss != "squared_error":
        return text
    Z = np.column_stack([X.toarray() if hasattr(X, "toarray") else X, np.ones(work.n_rows)])
    with np.errstate(all="ignore"):
        top = float(np.linalg.eigvalsh(Z.T @ Z / len(Z))[-1]) + model._strength()[0]
    return f"{text} For the squared loss a constant rate is stable below 2/L = {2.0 / top:.3g}."
