"""The direct engine of dense networks: how a stack lies in one vector, and calls of the compiled loops."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array
from gnomon.core.threads import in_order, one_blas_thread
from gnomon.loops import codes_of_dense as codes
from gnomon.neural.functions import CODES

LOSSES = {
    "squared_error": codes.SQUARED,
    "absolute_error": codes.ABSOLUTE,
    "huber": codes.HUBER,
    "log_loss_binary": codes.LOG_BINARY,
    "log_loss_multiclass": codes.LOG_CLASSES,
    "hinge_binary": codes.HINGE,
    "hinge_multiclass": codes.HINGE_CLASSES,
    "perceptron": codes.PERCEPTRON,
    "sigmoid_squared": codes.SIGMOID_SQUARED,
    "poisson": codes.POISSON,
}
SOLVERS = {"sgd": codes.SGD, "adam": codes.ADAM, "adagrad": codes.ADAGRAD}
BLOCK_ROWS = 1024  # of a full-batch sum: a fixed size, so that threads change no bit
BLOCK_BYTES = 2**25  # of rows gathered for a pass


class Stack(NamedTuple):
    """The layers of a dense network in words: sizes from input to output, and what is between them."""

    sizes: tuple[int, ...]  # input, hidden ..., output
    activations: tuple[str, ...]  # of the hidden layers
    dropout: tuple[float, ...] = ()  # of the hidden layers
    pieces: int = 2  # of maxout units
    loss: str = "squared_error"
    loss_parameter: float = 1.0
    dropout_scaling: str = "train"

    def shapes(self) -> list[tuple[int, int]]:
        """Return the shape of every weight matrix."""
        many = [self.pieces if name == "maxout" else 1 for name in self.activations] + [1]
        return [(a, b * p) for a, b, p in zip(self.sizes, self.sizes[1:], many)]

    @lru_cache(maxsize=32)  # noqa: B019 - a stack is a few words
    def plan(self) -> Any:
        """Return what the loops need to know."""
        from gnomon.loops.dense import Plan

        n_in, out = np.array(self.sizes[:-1]), np.array(self.sizes[1:])
        columns = np.array([shape[1] for shape in self.shapes()])
        ends = np.cumsum((n_in + 1) * columns)
        w_at = np.concatenate([[0], ends[:-1]])
        hidden = len(self.activations)
        dropout = np.zeros(hidden + 1)
        dropout[: len(self.dropout)] = self.dropout
        return Plan(
            n_in,
            out,
            columns // out,
            np.array([CODES[name] for name in self.activations] + [codes.IDENTITY]),
            dropout,
            w_at,
            w_at + n_in * columns,
            np.concatenate([[0], np.cumsum(columns)[:-1]]),
            np.concatenate([[0], np.cumsum(out)[:-1]]),
            LOSSES[self.loss],
            float(self.loss_parameter),
            self.dropout_scaling == "test",
        )

    def size(self) -> int:
        """Return the number of weights and biases."""
        return sum((a + 1) * b for a, b in self.shapes())


def flat(coefs: Sequence[Array], intercepts: Sequence[Array], dtype: Any = None) -> Array:
    """Return all weights and biases in one vector."""
    parts = [np.ravel(part) for pair in zip(coefs, intercepts) for part in pair]
    return np.concatenate(parts).astype(dtype or np.asarray(coefs[0]).dtype)


def unflat(stack: Stack, params: Array) -> tuple[list[Array], list[Array]]:
    """Return the weight matrices and the bias vectors, each a copy."""
    coefs, intercepts, at = [], [], 0
    for rows, columns in stack.shapes():
        coefs.append(params[at : at + rows * columns].reshape(rows, columns).copy())
        at += rows * columns
        intercepts.append(params[at : at + columns].copy())
        at += columns
    return coefs, intercepts


class Buffers(NamedTuple):
    """Room for the values of a batch."""

    Z: Array
    H: Array
    D: Array
    E: Array


def buffers(stack: Stack, m: int, dtype: Any) -> Buffers:
    """Return room for batches of `m` rows."""
    z, h = m * sum(columns for _, columns in stack.shapes()), m * sum(stack.sizes[1:])
    H = np.empty(h, dtype)
    D = np.empty(h, dtype) if any(stack.dropout) else H
    return Buffers(np.empty(z, dtype), H, D, np.empty(z, dtype))


def dense_rows(X: Any, rows: Any, dtype: Any) -> Array:
    """Return some rows of X (all: None) as a C-ordered dense block."""
    block = X if rows is None else X[rows]
    if sparse.issparse(block):
        block = block.toarray()
    return np.ascontiguousarray(block, dtype=dtype)


def layer_values(stack: Stack, params: Array, X: Any) -> tuple[list[Array], list[Array]]:
    """Return for every layer the sums before the activation, and for hidden ones the values after it."""
    from gnomon.loops import dense

    X = dense_rows(X, None, params.dtype)
    room, m = buffers(stack, len(X), params.dtype), len(X)
    with one_blas_thread():
        dense.forward(X, stack.plan(), params, *room[:3], False, 0, 0)
    before, after, z, h = [], [], 0, 0
    for (_, columns), width in zip(stack.shapes(), stack.sizes[1:]):
        before.append(room.Z[m * z : m * (z + columns)].reshape(m, columns))
        after.append(room.D[m * h : m * (h + width)].reshape(m, width))
        z, h = z + columns, h + width
    return before, after[:-1]


def scores(stack: Stack, params: Array, X: Any) -> Array:
    """Return the outputs before any link."""
    return layer_values(stack, params, X)[0][-1].copy()


def objective(
    stack: Stack, params: Array, X: Any, T: Array, weight: Array, alpha: float, weight_decay: float
) -> tuple[float, Array]:
    """Return mean loss plus penalty over all rows, and its gradient."""
    from gnomon.loops import dense

    look = dense.Rule(-1, 0.0, False, 0.9, 0.999, 1e-8, False, 0.0, 0.0, 0.0)
    stack, n, once = stack._replace(dropout=()), X.shape[0], np.zeros(1)
    plan = stack.plan()

    def part(begin: int) -> tuple[float, Array]:
        rows = slice(begin, min(begin + BLOCK_ROWS, n))
        block = dense_rows(X, rows, params.dtype)
        room, grads = buffers(stack, len(block), params.dtype), np.empty_like(params)
        mass = float(weight[rows].sum())
        loss, _ = dense.train_rows(
            block, T[rows], weight[rows], len(block), plan, look, params, grads, params, params, *room, once, 0, 0,
            np.zeros(len(plan.n_in)),
        )  # fmt: skip
        return loss, mass * grads if mass > 0.0 else np.zeros_like(params)

    total, grads, mass = 0.0, np.zeros_like(params), float(weight.sum())
    for loss, gradient in in_order(part, range(0, n, BLOCK_ROWS)):
        total += loss
        grads += gradient
    grads /= mass
    return total / mass + _penalize(plan, params, grads, alpha / mass + weight_decay), grads


def _penalize(plan: Any, params: Array, grads: Array, strength: float) -> float:
    """Add the slope of ½ strength ‖W‖² to the gradient; return its value."""
    squares = 0.0
    for begin, end in zip(plan.w_at, plan.b_at):
        grads[begin:end] += strength * params[begin:end]
        squares += float(params[begin:end] @ params[begin:end])
    return 0.5 * strength * squares


class Pass(NamedTuple):
    """What a pass over the rows found."""

    loss: float  # mean, with the penalty
    steepest: float  # largest entry of a gradient
    norms: Array  # mean norm of the gradient, layer by layer


def mean_pass(passes: Sequence[Pass], masses: Sequence[float]) -> Pass:
    """Return what passes over parts of the rows found together."""
    if len(passes) == 1:
        return passes[0]
    share = np.array(masses) / sum(masses)
    loss = float(share @ [one.loss for one in passes])
    steepest = float(np.max([one.steepest for one in passes]))  # a NaN stays one
    return Pass(loss, steepest, share @ np.array([one.norms for one in passes]))


class Memory(NamedTuple):
    """The weights and what the update rule remembers of earlier steps."""

    params: Array
    first: Array
    second: Array
    step: int


def train_pass(
    stack: Stack, rule: Any, memory: Memory, X: Any, T: Array, weight: Array, order: Any, batch: int,
    rates: Array, seed: int,
) -> tuple[Memory, Pass]:  # fmt: skip
    """Return the memory after one pass over the rows in the order given (None: as they are)."""
    from gnomon.loops import dense

    plan, n, dtype = stack.plan(), X.shape[0] if order is None else len(order), memory.params.dtype
    params, first, second = memory.params.copy(), memory.first.copy(), memory.second.copy()
    room, grads = buffers(stack, min(batch, n), dtype), np.empty_like(params)
    norms, total, steepest, done = np.zeros(len(plan.n_in)), 0.0, 0.0, 0
    size = max(1, BLOCK_BYTES // max(1, batch * X.shape[1] * dtype.itemsize)) * batch
    with one_blas_thread():
        for number, begin in enumerate(range(0, n, size)):
            rows = slice(begin, begin + size) if order is None else order[begin : begin + size]
            block = dense_rows(X, rows, dtype)
            steps = -(-len(block) // batch)
            loss, top = dense.train_rows(
                block, T[rows], weight[rows], batch, plan, rule, params, grads, first, second, *room,
                rates[done : done + steps], memory.step + done, seed + number, norms,
            )  # fmt: skip
            total, steepest, done = total + loss, max(steepest, top) if top == top else top, done + steps
            if not np.isfinite(total):
                break
    mass = float(weight.sum() if order is None else weight[order].sum())
    found = Pass(total / mass, steepest, norms / max(1, done))
    return Memory(params, first, second, memory.step + done), found
