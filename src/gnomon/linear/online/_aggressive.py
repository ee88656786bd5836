"""Passes of passive–aggressive steps, which two kinds of learners make."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from gnomon.core.linalg import Array
from gnomon.linear.online import _epochs
from gnomon.linear.online._epochs import Pass, PassWork
from gnomon.loops import aggressive as loops

RATES = ("pa1", "pa2")  # names of the steps among learning rates


def one_pass(
    work: PassWork, order: Array, numbers: tuple[Any, ...], state: Pass, taus: Array
) -> tuple[Pass, float]:
    """Return the state after a pass for every output, and the loss; `taus` (k, n) takes the lengths of the steps.

    `numbers` are the kind of step, its bound C, ε, and whether there are an intercept and an average.
    """
    loop = loops.aggressive_csr if sparse.issparse(work.X) else loops.aggressive_dense
    coef, average, total, steps = state.coef.copy(), state.average.copy(), 0.0, state.steps
    intercept, average_intercept = state.intercept.copy(), state.average_intercept.copy()
    for k, y in enumerate(work.targets):
        intercept[k], average_intercept[k], steps, loss = loop(
            *_epochs.dense_or_parts(work.X),
            y,
            work.weights[k],
            work.norms,
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
