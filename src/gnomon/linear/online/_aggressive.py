"""Passes of passive–aggressive steps, which two kinds of learners make."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array
from gnomon.linear.online import _epochs
from gnomon.linear.online._epochs import Pass
from gnomon.loops import aggressive as loops

RATES = ("pa1", "pa2")  # names of the steps among learning rates


def squared_lengths(X: Any, fit_intercept: bool) -> Array:
    """Return ‖x‖² of every row, and one more for the intercept."""
    squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
    return np.asarray(squares, dtype=float).ravel() + float(fit_intercept)


def one_pass(
    rows: Any, weights: Array, order: Array, numbers: tuple[Any, ...], state: Pass, taus: Array
) -> tuple[Pass, float]:
    """Return the state after a pass for every output, and the loss; `taus` (k, n) takes the lengths of the steps.

    `numbers` are the kind of step, its bound C, ε, and whether there are an intercept and an average.
    """
    loop = loops.aggressive_csr if sparse.issparse(rows.loops) else loops.aggressive_dense
    coef, average, total, steps = state.coef.copy(), state.average.copy(), 0.0, state.steps
    intercept, average_intercept = state.intercept.copy(), state.average_intercept.copy()
    for k, y in enumerate(rows.targets):
        intercept[k], average_intercept[k], steps, loss = loop(
            *_epochs.dense_or_parts(rows.loops),
            y,
            weights[k],
            rows.norms,
            order,
            *numbers,
            coef[k],
            intercept[k],
            average[k],
            average_intercept[k],
            state.steps,
            taus[k],
        )
        total += loss
    return state._replace(
        coef=coef,
        intercept=intercept,
        average=average,
        average_intercept=average_intercept,
        steps=steps,
        epoch=state.epoch + 1,
    ), total


def mean_weights(state: Pass) -> tuple[Array, Array]:
    """Return the averages of the weights after every step, from the sums of steps·change."""
    if state.steps == 0:
        return state.coef, state.intercept
    return state.coef - state.average / state.steps, state.intercept - state.average_intercept / state.steps
