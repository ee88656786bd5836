"""What classifier and regressor of dense layers do alike after a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.validate import check_fitted
from gnomon.neural import dense_plan


def axes_of(y: Any) -> int:
    """Return the number of axes of a target, sparse or not."""
    return y.ndim if sparse.issparse(y) else np.asarray(y).ndim


def slopes(model, X, y, sample_weight):
    """Return the penalized objective on rows, and its slopes."""
    check_fitted(model)
    work = model._prepare(model._read(X, y, sample_weight, reset=False))
    params = model._params().astype(work.T.dtype)
    value, gradient = dense_plan.objective(
        work.stack, params, work.X, work.T, work.weight, *model._strength()
    )
    return (value, *dense_plan.unflat(work.stack, gradient))


def dropout_moments(model, X, n_samples, random_state):
    """Mean and standard deviation of the scores of networks with units left out."""
    from gnomon.loops import dense

    stack, params, rows = model._fitted_stack(), model._params(), model._rows(X)
    if not any(stack.dropout):
        raise ValueError("dropout=0: no unit is ever left out. Set dropout to sample networks.")
    if n_samples < 1:
        raise ValueError(f"n_samples must be at least 1; got {n_samples}.")
    plan, block = stack.plan(), dense_plan.dense_rows(rows.X, None, params.dtype)
    room, drawn = dense_plan.buffers(stack, len(block), params.dtype), []
    for sample in range(n_samples):
        dense.forward(block, plan, params, *room[:3], True, int(random_state) * 1_000_003 + sample, 0)
        drawn.append(room.Z[len(block) * plan.z_at[-1] :].reshape(len(block), -1).astype(float))
    return np.mean(drawn, axis=0), np.std(drawn, axis=0)


def in_batches(model: Any) -> bool:
    """Tell whether a network can learn from a part of the rows."""
    if model.solver != "lbfgs":
        return True
    raise AttributeError(
        "partial_fit is only available for stochastic optimizers; solver='lbfgs' needs all rows at once."
    )
