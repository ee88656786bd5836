"""Coordinate descent for least squares with ℓ1 and ridge penalties, on working sets, to a duality gap.

    P(w) = ½‖y − Xw‖² + t‖w‖₁ + (mu/2)‖w‖²

in the units of a sum over rows (t = nαρ, mu = nα(1−ρ)). Features enter a working set when their correlation
with the residual says so; on the set the problem is solved in Gram form by sweeps and, once the signs have
settled, exactly by a Cholesky step. The certificate is the gap to the dual value at the residual scaled to be
feasible.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from gnomon.core.linalg import Array
from gnomon.core.threads import in_order
from gnomon.loops import coordinate as loops

PIECE = 2**19  # entries of X in a piece of the product with all columns
ROUNDING = 1e-28  # share of ‖y‖² that is the square of a move too small to matter


class Penalized(NamedTuple):
    """Strengths of the penalties, on the scale of the sum over rows."""

    t: float
    mu: float
    positive: bool = False


class Check(NamedTuple):
    """Where a point stands: objective, duality gap, and the scale that makes the residual dual feasible."""

    primal: float
    gap: float
    scale: float


def dual_check(rr: float, yr: float, yy: float, w: Array, corr: Array, pen: Penalized) -> Check:
    """Gap from ‖r‖², yᵀr, ‖y‖² and Xᵀr; the ridge part is taken as extra rows √mu·I of the design.

    A gap below zero is no certificate but an error of that size.
    """
    slope = corr - pen.mu * w if pen.mu else corr
    top = float(slope.max(initial=0.0)) if pen.positive else float(np.abs(slope).max(initial=0.0))
    ww = pen.mu * float(w @ w)
    primal = 0.5 * rr + pen.t * float(np.abs(w).sum()) + 0.5 * ww
    if pen.t == 0.0:  # no ℓ1 part: the gradient bounds the distance to the optimum
        square = (
            float(slope @ slope)
            if not pen.positive
            else float(np.sum(np.where(w > 0, slope, np.maximum(slope, 0)) ** 2))
        )
        return Check(primal, 0.5 * square / pen.mu if pen.mu else top * (1.0 + float(np.abs(w).sum())), 1.0)
    limit = 1.0 if top <= pen.t or top == 0.0 else pen.t / top
    best = yr / (rr + ww) if rr + ww > 0.0 else 0.0  # the best multiple of the residual, if it were feasible
    scale = min(max(best, 0.0), limit)
    dual = scale * yr - 0.5 * scale**2 * (rr + ww)
    return Check(primal, abs(primal - dual), scale)


# -- the inner problem ---------------------------------------------------------------------------------------


def solve_gram(G, t, pen: Penalized, w, g, enough: Any, max_rounds: int, floor: float = 0.0) -> int:
    """Solve on one Gram matrix, in place, until `enough(w, g)`; returns the sweeps made.

    Steps to the optimum of the present signs alternate with sweeps, which change the signs. While such a step
    gets no further than the first change of sign, sweeps with Anderson extrapolation are the better use of
    time. Sweeps whose largest δ²‖x_j‖² is at most `floor` move nothing but rounding: they end it, too. With a
    ridge penalty alone there are no signs to find, and the first step is the answer.
    """
    sweeps, patience = 0, 1
    for turn in range(max_rounds):
        if turn or not (np.any(w) or is_ridge(t, pen)):
            for _ in range(patience):
                made, largest = extrapolated_sweeps(G, t, pen, w, g, 2 if patience == 1 else 5)
                sweeps += made
                if enough(w, g) or largest <= floor:
                    return sweeps
        whole = newton_on_signs(G, t, pen, w, g)
        if enough(w, g):
            break
        patience = 1 if whole else min(2 * patience, 32)
    return sweeps


def is_ridge(t: Array, pen: Penalized) -> bool:
    """Every coefficient is free, and one linear system gives them all."""
    return pen.mu > 0.0 and not pen.positive and not t.any()


def extrapolated_sweeps(G, t, pen: Penalized, w, g, memory: int = 5) -> tuple[int, float]:
    """A few sweeps, then Anderson's combination of the iterates if that lowers the objective.

    Returns the sweeps and the largest δ²‖x_j‖² of the last.

    The slopes g = q − Gw are affine in w, so they are combined along with the iterates.
    """
    if memory < 3:
        return memory, loops.gram_sweeps(G, t, pen.mu, pen.positive, w, g, memory)
    points, slopes = [w.copy()], [g.copy()]
    for done in range(memory):
        largest = loops.gram_sweeps(G, t, pen.mu, pen.positive, w, g, 1)
        if largest == 0.0:
            return done + 1, largest
        points.append(w.copy())
        slopes.append(g.copy())
    mix = anderson(np.array(points))
    if mix is None:
        return memory, largest
    trial, slope = mix @ points[1:], mix @ slopes[1:]
    delta = trial - w  # the objective is quadratic plus the penalties: its change needs no product with G
    change = -0.5 * delta @ (g + slope) + 0.5 * pen.mu * (trial @ trial - w @ w)
    change += float(t @ (np.abs(trial) - np.abs(w)))
    if change < 0.0 and not (pen.positive and trial.min() < 0.0):
        w[:], g[:] = trial, slope
    return memory, largest


def anderson(points: Array) -> Array | None:
    """Return the weights of the best affine combination of the last iterates (rows), or None."""
    steps = np.diff(points, axis=0)
    gram = steps @ steps.T
    gram[np.diag_indices_from(gram)] += 1e-10 * np.trace(gram) + 1e-300
    try:
        z = np.linalg.solve(gram, np.ones(len(gram)))
    except np.linalg.LinAlgError:
        return None
    return z / z.sum() if np.isfinite(z).all() and z.sum() != 0.0 else None


def newton_on_signs(G, t, pen: Penalized, w, g) -> bool:
    """Move to the optimum for the present support and signs, as far as the objective falls; True if all the
    way.
    """
    S = np.arange(len(w)) if is_ridge(t, pen) else np.flatnonzero(w)
    if not len(S):
        return True
    H = np.take(G[S], S, axis=1)
    diagonal = np.diagonal(H)
    H[np.diag_indices_from(H)] += pen.mu + 1e-12 * diagonal
    slope = g[S] - pen.mu * w[S] - t[S] * np.sign(w[S])
    factor, failed = linalg.lapack.dpotrf(H.T, lower=0, clean=0, overwrite_a=1)
    if failed:
        return False
    step = linalg.lapack.dpotrs(factor, slope, lower=0)[0]

    def product(delta):
        whole = np.zeros(len(w))
        whole[S] = delta
        return G @ whole

    return take_step(w, g, S, step, t[S], pen.mu, product, pen.positive)


def take_step(w, g, S, step, t, mu: float, product, positive: bool = False) -> bool:
    """Move w on S and the slopes g by a step, as far as the objective falls; True if all the way.

    Coordinates that would change sign stop at zero: all, or else the first alone. t holds the thresholds of
    S; product(delta) is G[:, S] delta. A coordinate without a threshold may change its sign unless all are to be
    positive.
    """
    old = w[S]

    def change_of(delta):
        drop = product(delta)
        change = 0.5 * delta @ drop[S] + 0.5 * mu * delta @ delta - delta @ (g[S] - mu * old)
        return change + float(t @ (np.abs(old + delta) - np.abs(old))), drop

    crosses = (old * (old + step) < 0.0) & ((t > 0.0) | positive)
    new = np.where(crosses, 0.0, old + step)
    change, drop = change_of(new - old)
    whole = change <= 0.0
    if not whole and crosses.any():
        ratio = np.where(crosses, old / np.where(crosses, -step, 1.0), np.inf)
        first = np.argmin(ratio)
        new = old + ratio[first] * step
        new[first] = 0.0
        change, drop = change_of(new - old)
    if not change <= 0.0:
        return False
    w[S] = new
    g -= drop
    return bool(whole)


def gap_below(q, yy, pen, goal):
    """Return the test whether the gap of a problem in Gram form is at most `goal`."""

    def enough(w, g):
        yr = yy - float(w @ q)
        rr = max(yr - float(w @ g), 0.0)
        return dual_check(rr, yr, yy, w, g, pen).gap <= goal

    return enough


# -- designs -------------------------------------------------------------------------------------------------


class Design:
    """Rows √s(x − x̄) of dense data and their target √s(y − ȳ); X itself is neither copied nor centered."""

    def __init__(self, X: Any, y: Array, weight: Array | None, intercept: bool) -> None:
        self.X = X
        n = X.shape[0]
        self.mass = float(n if weight is None else weight.sum())
        self.root = None if weight is None else np.sqrt(weight)
        share = np.ones(n) if weight is None else weight
        self.mean = self._times(share) / self.mass if intercept else np.zeros(X.shape[1])
        self.y_mean = float(share @ y) / self.mass if intercept else 0.0
        self.y = (y - self.y_mean) * (1.0 if self.root is None else self.root)
        self.intercept = intercept
        self.yy = float(self.y @ self.y)

    @property
    def n_features(self) -> int:
        """Columns."""
        return int(self.X.shape[1])

    def _times(self, u: Array) -> Array:
        """Xᵀu, a wide matrix in pieces on the threads."""
        n, p = self.X.shape
        width = max(1, PIECE // max(1, n))
        if p <= width or sparse.issparse(self.X):
            return np.asarray(self.X.T @ u, dtype=np.float64)
        pieces = (self.X[:, left : left + width] for left in range(0, p, width))
        return np.concatenate(list(in_order(lambda piece: np.asarray(piece.T @ u, dtype=np.float64), pieces)))

    def correlate(self, r: Array) -> Array:
        """Return the product of every centered column with r."""
        u = r if self.root is None else self.root * r
        corr = self._times(u)
        return corr - self.mean * float(u.sum()) if self.intercept else corr

    def columns(self, index: Array) -> Array:
        """Return some columns, centered and weighted, one below the other (k, n)."""
        block = np.ascontiguousarray(self.X[:, index].T, dtype=np.float64)
        block -= self.mean[index, None]
        return block if self.root is None else block * self.root

    def correlate_some(self, cols: Array, r: Array) -> Array:
        """Return the product of some centered columns with r; X is in column order."""
        u = r if self.root is None else self.root * r
        found, step = np.empty(len(cols)), max(64, PIECE // max(1, len(u)))
        parts = [slice(left, left + step) for left in range(0, len(cols), step)]
        for _ in in_order(lambda part: loops.column_dots(self.X, cols[part], u, found[part]), parts):
            pass
        return found - self.mean[cols] * float(u.sum()) if self.intercept else found

    def entries(self, cols: Array | None = None) -> int:
        """Return how many entries some columns have, or all."""
        return len(self.y) * (self.n_features if cols is None else len(cols))

    def has_columns(self) -> bool:
        """Tell whether single columns can be read quickly."""
        return bool(self.X.strides[0] < self.X.strides[1] and self.X.dtype == np.float64)

    def lengths(self) -> Array:
        """Return what no norm of a centered column exceeds."""
        squares = np.empty(self.n_features)
        loops.column_squares(self.X, np.ones(len(self.y)) if self.root is None else self.root**2, squares)
        return np.sqrt(squares)
