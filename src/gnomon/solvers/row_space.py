"""L-BFGS in the row space, for smooth linear models with a ridge on every weight and far fewer rows than columns.

The optimum is w = Xᵀa, so are all points on the way, and so are their gradients: a vector is known by its n
coordinates. Its length and its scores need the Gram matrix XXᵀ alone, made once; an iteration then costs n² where a
pass over the rows costs nd, and trying a length of a step costs n. A step is many iterations and one pass, which
tells the weights and the certificate.

Where the intercept is free the rows are centered, which changes the intercept alone. It is the second last
coordinate, as the weight of a constant as long as a row is in the mean. The last coordinate stretches the weights of a
warm start, which need not lie in the row space.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import daxpy

from gnomon.core.linalg import Array
from gnomon.core.threads import in_order, one_blas_thread, shared
from gnomon.loops import losses as loss_loops
from gnomon.solvers import newton, terms

WIDE = 2  # columns for every row from which the Gram matrix pays
MOST = 3000  # rows up to which it pays for a single score; with K scores twice as many at least
TILE = 512  # rows of a tile of the Gram matrix, at most
COLUMNS = 4096  # of X that are worked on at a time
MANY = 2**20  # products from which several threads share them
PAIRS = 20  # of moves and changes of the gradient that are kept
ITERATIONS = 100  # of a step, at most
WORTH = 2e-7  # share of the objective that is still worth an iteration
LOOK_BACK = (
    5  # iterations whose gain, too, must be below it: what the curvature seen promises may be too little
)
FLAT = 0.2  # share of the first slope along a line at which the search ends
DOUBT = 0.1  # share of the tolerance that rounding may hide
FALL = 0.9  # of the largest slope, where less is left to gain
TRIALS = 3  # of lengths that are better but not yet flat
ARMIJO = 1e-4


class Space(NamedTuple):
    """What the rows say of vectors in their space."""

    gram: Array  # (n, n), of centered rows where the intercept is free
    share: Array  # (n,) weight of every row in the center; zero where rows are not centered
    center: Array  # (d,)
    length: float  # squared, of the constant that the free intercept weighs; 0: there is none


class Origin(NamedTuple):
    """Where a warm start began: weights with their scores and squared lengths; zeros for a fresh start."""

    weights: Array  # (D, k)
    scores: Array  # (n, k)
    squares: Array  # (k,)


class Pair(NamedTuple):
    """A move, the change of the gradient along it, and their product."""

    move: Array
    change: Array
    bend: float


class RowSpaceState(NamedTuple):
    """A point with its value and gradient, what it is in the row space, and what is known of the curvature.

    A vector of the row space is an array (2, n + 2, k): its coordinates, and their product with the Gram matrix.
    """

    theta: Array
    value: float
    gradient: Array
    point: Array
    slopes: Array
    origin: Origin
    pairs: tuple[Pair, ...] = ()
    values: tuple[float, ...] = ()  # before the last iterations
    goal: float = np.inf  # what may be left to gain
    stuck: bool = False  # rounding leaves nothing to gain here
    factor: None = None

    def enough(self) -> float:
        """Return what may be left to gain at this point."""
        return min(self.goal, WORTH * abs(self.value))


def is_worthwhile(rows: Any, objective: newton.Objective) -> bool:
    """Tell whether rows are dense and so few, for their width, that their Gram matrix pays."""
    weights = objective.ridge[: rows.n_features]
    most = MOST * min(2, max(1, objective.model.n_outputs))
    few = rows.n_rows * WIDE <= rows.n_features and rows.n_rows <= most
    return (
        few
        and bool(rows.in_memory)
        and not rows.sparse
        and float(weights.min()) > 0.0
        and objective.weight > 0.0
    )


def space_of(rows: Any, objective: newton.Objective) -> Space:
    """Return the Gram matrix of the rows, and what centers them."""
    K, n = gram(rows.X), rows.n_rows
    if not objective.model.intercept:
        return Space(K, np.zeros(n), np.zeros(rows.n_features), 0.0)
    if objective.ridge[-1] > 0.0:  # a weight like the others, of a column of ones
        K += 1.0
        return Space(K, np.zeros(n), np.zeros(rows.n_features), 0.0)
    share = rows.weight / objective.weight
    mean = K @ share
    level = mean - mean @ share
    for part in _cuts(n, TILE):
        K[part] -= mean[part, None] + level
    length = float(np.trace(K)) / n
    return Space(K, share, _slopes_of(rows.X, share[:, None])[:, 0], length if length > 0.0 else 1.0)


def gram(X: Array) -> Array:
    """Return XXᵀ in float64, tile by tile: the number of threads changes no bit."""
    n = len(X)
    K, cuts = np.empty((n, n)), _cuts(n, min(TILE, -(-n // 2)))
    parts = (
        [slice(None)] if X.dtype == np.float64 else _cuts(X.shape[1], COLUMNS)
    )  # few columns are converted at once

    def fill(tile: tuple[slice, slice]) -> None:
        one, other = tile
        block = np.zeros((one.stop - one.start, other.stop - other.start))
        for part in parts:
            A = np.asarray(X[one, part], dtype=np.float64)
            block += A @ (A if one is other else np.asarray(X[other, part], dtype=np.float64)).T
        K[one, other] = block
        K[other, one] = block.T

    for _ in in_order(fill, [(one, other) for i, one in enumerate(cuts) for other in cuts[: i + 1]]):
        pass
    return K


def _cuts(n: int, step: int) -> list[slice]:
    return [slice(begin, min(begin + step, n)) for begin in range(0, n, step)]


def _slopes_of(X: Array, U: Array) -> Array:
    """Return Xᵀ U, some columns of X at a time."""
    out, turned = np.empty((X.shape[1], U.shape[1])), np.ascontiguousarray(U.T)

    def fill(part: slice) -> None:
        out[part] = (turned @ np.asarray(X[:, part], dtype=np.float64)).T

    for _ in in_order(fill, _cuts(X.shape[1], COLUMNS)):
        pass
    return out


def _scores_of(X: Array, theta: Array) -> Array:
    """Return the scores of weights and, where there is one more of them than columns, of an intercept."""
    d = X.shape[1]
    out = np.zeros((len(X), theta.shape[1])) + theta[d:].sum(axis=0)

    def part_of(part: slice) -> Array:
        return np.asarray(X[:, part], dtype=np.float64) @ theta[part]

    for found in in_order(part_of, _cuts(d, COLUMNS)):
        out += found
    return out


def start(rows: Any, space: Space, objective: newton.Objective, theta: Array) -> RowSpaceState:
    """Return the state at theta; its gradient is not looked at."""
    table = theta[:, None] if theta.ndim == 1 else theta
    n, k = rows.n_rows, table.shape[1]
    weights, last = _parted(table, rows.n_features, space)
    scores = np.zeros((n, k))
    if np.any(weights):
        scores = _scores_of(rows.X, weights)
        scores -= space.share @ scores
    origin = Origin(weights, scores, np.einsum("ij,ij->j", weights, weights))
    inner = np.zeros((n + 2, k))
    if space.length > 0.0:
        inner[n] = (last + space.center @ weights) / space.length
    inner[n + 1] = 1.0 if np.any(weights) else 0.0
    point = _vector(space, origin, inner)
    value, slope = _loss(rows, objective.model, point[1, :n] + point[1, n])
    slopes = _gradient(space, origin, objective, point, slope)
    unknown = np.full_like(theta, np.inf)
    return RowSpaceState(theta, value + _penalty(objective, point), unknown, point, slopes, origin)


def _parted(table, width, space):
    """Return the weights that the ridge holds, and the free intercepts."""
    if space.length > 0.0:
        return table[:width], table[width]
    return table, 0.0


def _vector(space, origin, inner):
    """Return coordinates with their product with the Gram matrix."""
    n = len(space.gram)
    out = np.empty((2, *inner.shape))
    out[0] = inner
    _multiply(space.gram, inner[:n], out[1, :n])
    out[1, :n] += origin.scores * inner[n + 1]
    out[1, n] = space.length * inner[n]
    out[1, n + 1] = np.einsum("ij,ij->j", origin.scores, inner[:n]) + origin.squares * inner[n + 1]
    return out


def _multiply(K, A, out):
    """out = K A of a symmetric K, shared among threads where it is much work."""
    turned = np.ascontiguousarray(A.T)

    def fill(part: slice) -> None:
        if len(turned) == 1:
            np.matmul(K[part], turned[0], out=out[part, 0])
        else:
            out[part] = (turned @ K[:, part]).T  # faster than columns side by side

    shared(fill, _cuts(len(K), TILE), alone=K.size * len(turned) < MANY)


def _dot(u, v):
    return float(np.dot(u[0].ravel(), v[1].ravel()))


def _loss(rows, model, Z):
    """Return Σ weight·loss and the slope by every score."""
    if not model.n_outputs:
        value, slope, _ = terms.slopes(model, terms.targets(rows, model.positive), Z[:, 0], rows.weight)
        return value, slope[:, None]
    P = np.array(Z, order="C")
    loss_loops.softmax_shift(np.zeros(P.shape[1]), P)
    own = P[np.arange(len(P)), rows.y]
    np.exp(P, out=P)
    return loss_loops.softmax_slopes(rows.y, rows.weight, own, P, np.zeros(P.shape[1])), P


def _penalty(objective, point):
    """½ ridge |w|²."""
    held = np.delete(point, point.shape[1] - 2, axis=1)
    return 0.5 * float(objective.ridge[0]) * _dot(held, held)


def _gradient(space, origin, objective, point, slope):
    n, ridge = len(slope), float(objective.ridge[0])
    inner = np.empty(point.shape[1:])
    inner[:n] = slope + ridge * point[0, :n]
    inner[n] = slope.sum(axis=0) if space.length > 0.0 else 0.0
    inner[n + 1] = ridge * point[0, n + 1]
    return _vector(space, origin, inner)


def _seen(rows, space, objective, state, doubtful):
    """Return the state with its weights and their slopes, and its value, which takes a pass over the rows.

    Where what the Gram matrix rounds is `doubtful`, value and slopes are those of the scores that the weights have, for
    two passes more.
    """
    n, d, inner, shape = rows.n_rows, rows.n_features, state.point[0], state.theta.shape
    value, slope = _loss(rows, objective.model, state.point[1, :n] + state.point[1, n])
    k = slope.shape[1]
    coordinates = inner[:n] - np.outer(space.share, inner[:n].sum(axis=0))
    found = _slopes_of(rows.X, np.column_stack([coordinates, slope]))
    theta = np.empty((len(objective.ridge), k))
    theta[:d] = found[:, :k] + inner[n + 1] * state.origin.weights[:d]
    if space.length > 0.0:
        theta[d] = state.point[1, n] - space.center @ theta[:d]
    elif len(theta) > d:
        theta[d] = inner[:n].sum(axis=0) + inner[n + 1] * state.origin.weights[d]
    slopes = found[:, k:]
    if doubtful:
        value, slope = _loss(rows, objective.model, _scores_of(rows.X, theta))
        slopes = _slopes_of(rows.X, slope)
    pull = objective.ridge[:, None] * theta
    gradient = pull.copy()
    gradient[:d] += slopes
    gradient[d:] += slope.sum(axis=0)
    seen = state._replace(theta=theta.reshape(shape), gradient=gradient.reshape(shape))
    return seen, value + 0.5 * float(np.vdot(pull, theta))


def _rounding(rows, space, objective, state):
    """By how much the largest slope may differ from that of the weights, as products of a Gram matrix round."""
    lengths = np.sqrt(np.diagonal(space.gram).clip(0.0))
    inner = np.abs(state.point[0, : len(lengths)]).max(axis=1)
    eps = np.finfo(np.float64).eps * (np.sqrt(rows.n_features) + np.sqrt(rows.n_rows))
    scores = eps * lengths.max(initial=0.0) * float(lengths @ inner)
    return objective.model.loss.lipschitz * scores * float(rows.weight @ lengths) / objective.weight


def two_loops(slopes: Array, pairs: tuple[Pair, ...]) -> Array:
    """Return the L-BFGS approximation of H⁻¹g in the row space."""
    q, factors = slopes.copy(), []
    flat = q.reshape(-1)
    for s, y, bend in reversed(pairs):
        factors.append(_dot(s, q) / bend)
        daxpy(y.reshape(-1), flat, a=-factors[-1])  # in place
    if pairs:
        _, y, bend = pairs[-1]
        q *= bend / _dot(y, y)
    for (s, y, bend), factor in zip(pairs, reversed(factors)):
        daxpy(s.reshape(-1), flat, a=factor - _dot(y, q) / bend)
    return q


def step(
    rows: Any, space: Space, objective: newton.Objective, state: RowSpaceState, *, tol: float
) -> RowSpaceState:
    """Iterate until hardly anything is left to gain and the slopes are small, or many times.

    A state is stuck, too, when the slopes do not fall although there is less to gain: it has then the value that its
    weights have, for another method to go on from.
    """
    count, left, before, value = 0, np.inf, np.inf, state.value
    while count < ITERATIONS and not state.stuck:
        with one_blas_thread():  # vectors are short: more threads wait for each other
            state, left, count = _iterate(rows, space, objective, state, count)
        doubt = _rounding(rows, space, objective, state)
        state, value = _seen(rows, space, objective, state, doubt > DOUBT * tol)
        steep = newton.violation(objective, state.gradient)
        if left <= state.enough():
            if steep <= tol:
                break
            state = state._replace(
                goal=0.25 * left * (tol / steep) ** 2, stuck=state.stuck or steep > FALL * before
            )
            before = steep
    return state._replace(value=value) if state.stuck else state


def _iterate(rows, space, objective, state, count):
    """Return the state after some iterations, what is left to gain there, and the count of iterations."""
    n = rows.n_rows
    scores = state.point[1, :n] + state.point[1, n]
    while True:
        direction = -two_loops(state.slopes, state.pairs)
        left = _left(objective, state, direction)
        if left <= state.enough() or count >= ITERATIONS:
            return state, left, count
        found = _along(rows, objective, state, scores, direction)
        if found is None:
            return state._replace(stuck=not state.pairs, pairs=()), left, count
        length, value, scores, slope = found
        move = length * direction
        point = state.point + move
        slopes = _gradient(space, state.origin, objective, point, slope)
        change = slopes - state.slopes
        pairs, bend = state.pairs, _dot(move, change)
        if bend > 1e-10 * np.sqrt(max(0.0, _dot(move, move) * _dot(change, change))):
            pairs = (*pairs, Pair(move, change, bend))[-PAIRS:]
        values = (*state.values, state.value)[-LOOK_BACK:]
        state = state._replace(value=value, point=point, slopes=slopes, pairs=pairs, values=values)
        count += 1


def _left(objective, state, direction):
    """Return what seems left to gain: ½ gᵀH⁻¹g, or the gain of the last iterations where it is more.

    Before the first move there is no H, and the ridge bounds the curvature.
    """
    promised = -0.5 * _dot(direction, state.slopes)
    if not state.pairs:
        promised /= min(1.0, float(objective.ridge[0]))
    return max(promised, state.values[0] - state.value) if state.values else promised


def _along(rows, objective, state, scores, direction):
    """Search along a line, where a trial needs no product; return the length with value, scores and slopes there."""
    n, ridge, first = rows.n_rows, float(objective.ridge[0]), _dot(direction, state.slopes)
    turn = direction[1, :n] + direction[1, n]
    held = np.delete(direction, n, axis=1)
    pull = ridge * _dot(np.delete(state.point, n, axis=1), held)
    bend = ridge * _dot(held, held)
    penalty = _penalty(objective, state.point)
    length, best = 1.0, None
    if not state.pairs:  # the loss curves at most so much
        most = objective.model.loss.lipschitz * float(np.einsum("i,ij,ij->", rows.weight, turn, turn)) + bend
        length = -first / most if most > 0.0 else 1.0
    for trial in range(30):
        there = scores + length * turn
        value, slope = _loss(rows, objective.model, there)
        value += penalty + length * (pull + 0.5 * length * bend)
        rise = float(np.vdot(slope, turn)) + pull + length * bend
        fits = value <= state.value + ARMIJO * length * first + 1e-15 * abs(state.value)
        if fits and (best is None or value < best[1]):
            best = length, value, there, slope
        if best is not None and (not fits or abs(rise) <= -FLAT * first or trial >= TRIALS):
            return best
        root = length * first / (first - rise) if rise > first else np.inf  # of the slope, were it a line
        length = min(root, 4.0 * length) if fits else min(max(root, 0.1 * length), 0.5 * length)
    return best
