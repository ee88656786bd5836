"""Dual coordinate descent with shrinking for hinge machines whose intercept is penalized (or absent).

Suited to wide and sparse rows. Steps are a little longer than the best of one multiplier alone, which in the
long run is the better (successive over-relaxation; Mangasarian and Musicant, IEEE Transactions on Neural
Networks 10, 1999). The certificate is the duality gap, computed over all rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.linalg import Array, aligned
from gnomon.core.randomness import draw_seed
from gnomon.core.threads import one_blas_thread
from gnomon.loops import draws
from gnomon.loops import dual as loops
from gnomon.loops.products import csr_norms
from gnomon.solvers.terms import add, dot, parts

PASSES = 4  # over the rows, between two looks at the gap
RELAX = 1.15  # length of a step, in those that are best for one multiplier
ROUND = 4  # passes, of which one is over all rows
LONG = 1e300  # step per unit of slope where nothing bends: to the bound


class DualState(NamedTuple):
    """Weights (intercept's last), multipliers, scores of the rows, and both values."""

    theta: Array
    alpha: Array
    scores: Array
    epoch: int = 0
    primal: float = np.inf
    dual: float = -np.inf
    gain: float = np.inf  # share by which the last pass raised the dual
    left: float = np.inf  # passes to the end at the pace of the last ones; 0: there


class DualMachine(NamedTuple):
    """½‖θ‖² + Σ cost·hinge(y x·θ), or the square of the hinge; `constant` is the intercept's column.

    Multipliers lie between 0 and `top`; their squares cost ½ `extra`, which is 1/(2 cost) for the squared
    hinge.
    """

    y: Array
    cost: Array
    top: Array
    extra: Array
    inverse: Array  # step per unit of slope
    constant: float
    squared: bool
    norms: Array  # squared lengths of the rows

    def table(self, scores: Array, alpha: Array) -> Array:
        """Return what belongs to the rows as a pass reads it."""
        table = aligned((len(alpha), loops.WIDTH))
        for k, column in enumerate((self.y, self.top, self.extra, self.inverse, scores, alpha)):
            table[:, k] = column
        return table


def dual_machine(
    norms: Array, y: Array, cost: Array, constant: float, *, squared: bool = False
) -> DualMachine:
    """Return the problem with the lengths of its steps, from the squared lengths of the rows."""
    top = np.where(cost > 0.0, np.inf, 0.0) if squared else cost
    extra = np.divide(0.5, cost, out=np.zeros(len(y)), where=(cost > 0.0) & squared)
    bend = norms + constant**2 + extra
    inverse = np.divide(RELAX, bend, out=np.full(len(y), LONG), where=bend > 0.0)
    return DualMachine(y, cost, top, extra, inverse, constant, squared, norms)


def squared_norms(X: Any) -> Array:
    """Return the squared lengths of rows."""
    if not sparse.issparse(X):
        return np.einsum("ij,ij->i", X, X, dtype=float)
    found = np.empty(X.shape[0])
    csr_norms(parts(X)[0], X.data, found)
    return found


def dual_start(rows: Any, machine: DualMachine) -> DualState:
    """Begin at zero."""
    width = rows.n_features + (machine.constant != 0.0)
    return DualState(np.zeros(width), np.zeros(rows.n_rows), np.zeros(rows.n_rows))


def dual_step(
    rows: Any,
    machine: DualMachine,
    state: DualState,
    rng: np.random.Generator,
    passes: int = PASSES,
    enough: float = 0.0,
    patience: float = np.inf,
) -> DualState:
    """Passes in random order, the first one over all rows, then the gap.

    They end when one has raised the dual by less than the share `enough`, or when, at their pace, it would take
    more passes than there is patience for. Passes hold no more than how far the weights have moved, over sparse
    rows in float32, which is half as wide: no digit of the multipliers is lost. The weights that belong to these
    are added up anew behind the passes.
    """
    dtype = np.float32 if is_light(rows, machine.norms) else np.float64
    move = np.zeros(rows.n_features + 1, dtype=dtype)  # one for added zeros
    shift = np.zeros(1)
    table, value = machine.table(state.scores, state.alpha), max(state.dual, 0.0)
    gains, left, active = [], np.inf, np.arange(rows.n_rows)
    while len(gains) < passes and left > 0.0 and (len(gains) < PASSES or left <= patience):
        if len(gains) % ROUND == 0:
            active = np.arange(rows.n_rows)
        elif len(gains) % ROUND == 1:
            active = active[: loops.shrink(table, active)]
        order = active.copy()  # `active` stays in order, which is quick to go through
        draws.shuffle(order, draw_seed(rng))
        gain = _epoch(rows, order, table, machine.constant, move, shift)
        gains.append((1.0 - 0.5 * RELAX) * gain)
        value += gains[-1]
        left = passes_left(gains, enough * value)
    alpha = table[:, loops.ALPHA].copy()
    with one_blas_thread():  # vectors are short: more threads wait for each other
        epoch, share = state.epoch + len(gains), gains[-1] / max(value, 1e-300)
        return _valued(rows, machine, _weights(rows.X, machine, alpha), alpha, epoch, share, left)


def passes_left(gains: list[float], goal: float) -> float:
    """Return how many passes, at the pace of the last two, gain more than the goal each."""
    if gains[-1] <= goal:
        return 0.0
    if len(gains) < 3 or goal <= 0.0 or gains[-1] >= gains[-3]:
        return np.inf
    return float(2.0 * np.log(gains[-1] / goal) / np.log(gains[-3] / gains[-1]))


def is_light(rows: Any, norms: Array) -> bool:
    """Tell whether the rows are sparse and fit float32 well."""
    return rows.sparse and float(norms.max(initial=0.0)) < 1e30


def _weights(X, m, alpha):
    """Σ α y x, with the intercept's last."""
    theta = np.zeros(X.shape[1] + (m.constant != 0.0))
    add(X, alpha * m.y, theta[: X.shape[1]])
    if m.constant:
        theta[-1] = m.constant * float(alpha @ m.y)
    return theta


def _epoch(rows, order, table, constant, move, shift):
    if not rows.sparse:
        return loops.dual_epoch_dense(rows.X, order, table, constant, move, shift)
    return loops.dual_epoch_sparse(*_packed(rows, move.dtype), order, table, constant, move, shift)


def _packed(rows, dtype):
    """Where each row begins, its columns in pairs and its values of this width: they are kept with `rows`."""
    kept = vars(rows).setdefault("packed", {})
    if dtype not in kept:
        starts = np.zeros(rows.n_rows + 1, dtype=np.int64)
        np.cumsum(-(-np.diff(rows.X.indptr) // 4), out=starts[1:])
        pairs = aligned(starts[-1] * (2 + dtype.itemsize // 2), np.uint64)  # a four: two pairs, four values
        loops.pack(*parts(rows.X), starts, pairs, pairs.view(dtype), rows.n_features)
        kept[dtype] = starts, pairs, pairs.view(dtype)
    return kept[dtype]


def _valued(rows, m, theta, alpha, epoch, gain, left):
    scores = dot(rows.X, theta[:-1]) + m.constant * theta[-1] if m.constant else dot(rows.X, theta)
    slack = np.maximum(1.0 - m.y * scores, 0.0)
    half = 0.5 * float(theta @ theta)
    primal = half + float(m.cost @ (slack * slack if m.squared else slack))
    dual = float(alpha.sum()) - half - 0.5 * float(m.extra @ (alpha * alpha))
    return DualState(theta, alpha, scores, epoch, primal, dual, gain, left)
