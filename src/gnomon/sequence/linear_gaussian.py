"""Filtering, smoothing and the EM sums of linear Gaussian state-space models: pure functions over arrays.

s_t = C s_{t−1} + c_t + ε, ε ~ N(0, Q);  x_t = D s_t + e_t + ν, ν ~ N(0, V). Every matrix carries a leading
time axis of length 1 (constant) or T; entry t leads into, or is seen at, row t.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from gnomon.core.errors import DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.rows import Chunk
from gnomon.loops import kalman as loops

STEADY = 1e-13  # relative change of the covariance below which the gain is taken as constant


class LinearGaussian(NamedTuple):
    """The model's arrays; `before` says that (m0, P0) describe the state one step before the first row."""

    C: Array
    c: Array
    Q: Array
    D: Array
    e: Array
    V: Array
    m0: Array
    P0: Array
    before: bool
    gaps: Array | None = None  # time since the row before, where it varies


class Filtered(NamedTuple):
    """Moments of every row given the rows up to it, and what led to them."""

    means: Array  # (T, d)
    covariances: Array  # (T, d, d)
    predicted_means: Array
    predicted_covariances: Array
    loglik_terms: Array  # (T,)
    gains: Array  # (T, d, p)
    steady: Array  # (T,) whether the covariance had settled

    @property
    def loglik(self) -> float:
        """ln p of all rows."""
        return float(self.loglik_terms.sum())


class Smoothed(NamedTuple):
    """Moments of every row given all rows."""

    means: Array
    covariances: Array
    lag_one_covariances: Array  # (T, d, d): Cov(s_t, s_{t−1}); row 0 is zero unless the prior lies before
    initial_mean: Array  # of the state that the prior describes
    initial_covariance: Array
    loglik: float


def filter_rows(model: LinearGaussian, X: Array, form: str = "joseph", steady: bool = True) -> Filtered:
    """Kalman filter of one sequence."""
    T, p, d = len(X), X.shape[1], len(model.m0)
    out = Filtered(
        np.empty((T, d)),
        np.empty((T, d, d)),
        np.empty((T, d)),
        np.empty((T, d, d)),
        np.empty(T),
        np.empty((T, d, p)),
        np.zeros(T, dtype=np.bool_),
    )
    if form != "joseph":
        return _filter_slowly(model, X, out, form)
    moments = (out.predicted_means, out.predicted_covariances, out.means, out.covariances)
    parts = (model.C, model.c, model.Q, model.D, model.e, model.V, model.m0, model.P0)
    tol = STEADY if steady else -1.0
    row = loops.filter_rows(tol, model.before, *parts, X, *moments, out.gains, out.loglik_terms, out.steady)
    if row >= 0:
        singular(row)
    return out


def singular(row: int) -> None:
    """Say where the filter cannot go on."""
    raise DegenerateError(
        f"the covariance of the innovation is singular at row {row}; add observation noise."
    )


def at(M: Array, t: int) -> Array:
    """Return the entry of time t."""
    return M[t] if len(M) > 1 else M[0]


def root(P: Array) -> Array:
    """A matrix R with R R' = P, for any positive semidefinite P."""
    values, vectors = np.linalg.eigh(P)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _filter_slowly(model: LinearGaussian, X: Array, out: Filtered, form: str) -> Filtered:
    """The information and square-root forms, step by step."""
    mean, P = model.m0, model.P0
    R = root(P)
    for t, x in enumerate(X):
        if t > 0 or model.before:
            C, Q = at(model.C, t), at(model.Q, t)
            mean = C @ mean + at(model.c, t)
            R = _lower(np.hstack([C @ R, root(Q)])) if form == "square_root" else R
            P = R @ R.T if form == "square_root" else C @ P @ C.T + Q
        out.predicted_means[t], out.predicted_covariances[t] = mean, P
        seen = ~np.isnan(x)
        D, V = at(model.D, t)[seen], at(model.V, t)[np.ix_(seen, seen)]
        residual = x[seen] - at(model.e, t)[seen] - D @ mean
        try:
            L = linalg.cholesky(D @ P @ D.T + V, lower=True) if seen.any() else np.zeros((0, 0))
        except linalg.LinAlgError:
            singular(t)
        white = linalg.solve_triangular(L, residual, lower=True) if seen.any() else residual
        out.loglik_terms[t] = (
            -0.5 * (white @ white + seen.sum() * np.log(2 * np.pi)) - np.log(np.diag(L)).sum()
        )
        gain = linalg.cho_solve((L, True), D @ P).T if seen.any() else np.zeros((len(mean), 0))
        out.gains[t] = 0.0
        out.gains[t][:, seen] = gain
        mean = mean + gain @ residual
        if form == "square_root":
            R = _update_root(R, D, V)
            P = R @ R.T
        elif seen.any():
            P = linalg.inv(linalg.inv(P) + D.T @ linalg.solve(V, D, assume_a="pos"))
            P = (P + P.T) / 2.0
        out.means[t], out.covariances[t] = mean, P
    return out


def _lower(M: Array) -> Array:
    """Lower triangular R with R R' = M M'."""
    return np.linalg.qr(M.T, mode="r").T


def _update_root(R: Array, D: Array, V: Array) -> Array:
    """Root of the updated covariance out of the block [[V, D R], [0, R]]."""
    q, d = D.shape
    block = np.block([[root(V), D @ R], [np.zeros((d, q)), R]])
    return _lower(block)[q:, q:]


def smooth_rows(model: LinearGaussian, found: Filtered) -> Smoothed:
    """Rauch–Tung–Striebel smoother."""
    T, d = found.means.shape
    means, covariances, lag = np.empty((T, d)), np.empty((T, d, d)), np.zeros((T, d, d))
    moments = (found.predicted_means, found.predicted_covariances, found.means, found.covariances)
    loops.smooth_rows(STEADY, model.C, *moments, found.steady, means, covariances, lag)
    if not model.before:
        return Smoothed(means, covariances, lag, means[0], covariances[0], found.loglik)
    P1 = found.predicted_covariances[0]
    G = np.linalg.lstsq(P1, at(model.C, 0) @ model.P0, rcond=None)[0].T
    lag[0] = covariances[0] @ G.T
    mean = model.m0 + G @ (means[0] - found.predicted_means[0])
    covariance = model.P0 + G @ (covariances[0] - P1) @ G.T
    return Smoothed(means, covariances, lag, mean, covariance, found.loglik)


class StateSums(NamedTuple):
    """What the M-step needs of some sequences; each adds up."""

    loglik: Any
    sequences: Any
    moves: Any  # number of transitions
    rows: Any  # number of rows with an observation
    past: Array  # Σ E[s s'] before transitions (over gaps, where they vary)
    cross: Array  # Σ E[(s − c) s_before']
    present: Array  # Σ E[(s − c)(s − c)'] after transitions
    states: Array  # Σ E[s s'] at observed rows
    both: Array  # Σ E[(x − e) s']
    seen: Array  # Σ E[(x − e)(x − e)']
    first: Array  # Σ E[s] of the initial states
    spread: Array  # Σ E[s s'] of the initial states


def state_sums(model: LinearGaussian, X: Array) -> StateSums:
    """E-step of one sequence."""
    smooth = smooth_rows(model, filter_rows(model, X))
    m, P = smooth.means, smooth.covariances
    before_m, before_P, after = m[:-1], P[:-1], slice(1, None)
    if model.before:
        before_m = np.vstack([smooth.initial_mean, before_m])
        before_P = np.concatenate([smooth.initial_covariance[None], before_P])
        after = slice(None)
    n = len(before_m)
    w = np.ones(n) if model.gaps is None else 1.0 / model.gaps[after]
    moved = m[after] - (model.c[after] if len(model.c) > 1 else model.c)
    past = np.tensordot(w, before_P, 1) + (w[:, None] * before_m).T @ before_m
    cross = np.tensordot(w, smooth.lag_one_covariances[after], 1) + (w[:, None] * moved).T @ before_m
    present = np.tensordot(w, P[after], 1) + (w[:, None] * moved).T @ moved
    observed = _observed_sums(model, X, m, P)
    first, start = smooth.initial_mean, smooth.initial_covariance
    return StateSums(
        smooth.loglik,
        1,
        n,
        observed[0],
        past,
        cross,
        present,
        *observed[1:],
        first,
        start + np.outer(first, first),
    )


def chunk_sums(chunk: Chunk, model: LinearGaussian) -> Any:
    """E-step over the sequences of a chunk."""
    ends = np.cumsum(chunk.lengths)
    parts = [
        state_sums(model, np.asarray(chunk.X[begin:end], dtype=np.float64))
        for begin, end in zip(ends - chunk.lengths, ends, strict=True)
    ]
    added = parts[0]
    for part in parts[1:]:
        added = type(added)(*(a + b for a, b in zip(added, part, strict=True)))
    return added


def _observed_sums(model: LinearGaussian, X: Array, m: Array, P: Array) -> tuple[Any, ...]:
    """Count and sums of E[ss'], E[(x−e)s'], E[(x−e)(x−e)'] over observed rows; partly missing ones are
    completed.
    """
    missing = np.isnan(X)
    whole = ~missing.any(axis=1)
    z = X - model.e
    states = P[whole].sum(axis=0) + m[whole].T @ m[whole]
    both, seen = z[whole].T @ m[whole], z[whole].T @ z[whole]
    partly = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))
    for t in partly:
        ss, xs, xx = _completed(at(model.D, t), at(model.V, t), z[t], ~missing[t], m[t], P[t])
        states, both, seen = states + ss, both + xs, seen + xx
    return int(whole.sum()) + len(partly), states, both, seen


def _completed(D: Array, V: Array, z: Array, o: Array, m: Array, P: Array) -> tuple[Array, Array, Array]:
    """Moments of (s, x) at a row of which only the components `o` were seen: x = B s + b + noise W."""
    K = linalg.solve(V[np.ix_(o, o)], V[np.ix_(o, ~o)], assume_a="pos").T
    B, b, W = np.zeros_like(D), np.zeros(len(z)), np.zeros_like(V)
    b[o] = z[o]
    B[~o], b[~o] = D[~o] - K @ D[o], K @ z[o]
    W[np.ix_(~o, ~o)] = V[np.ix_(~o, ~o)] - K @ V[np.ix_(o, ~o)]
    ss = P + np.outer(m, m)
    xs = B @ ss + np.outer(b, m)
    xx = B @ ss @ B.T + np.outer(B @ m, b) + np.outer(b, B @ m) + np.outer(b, b) + W
    return ss, xs, xx


def structured(M: Array, kind: str) -> Array:
    """Project a covariance onto full, diagonal or isotropic ones."""
    M = (M + M.T) / 2.0
    if kind == "diag":
        return np.diag(np.diag(M))
    return np.eye(len(M)) * np.trace(M) / len(M) if kind == "isotropic" else M


def maximize(model: LinearGaussian, sums: StateSums, names: set[str], kind: str) -> LinearGaussian:
    """M-step over the arrays named in `names`."""
    C, Q, D, V = model.C[0], model.Q[0], model.D[0], model.V[0]
    if "transition_matrices" in names and sums.moves:
        C = linalg.solve(sums.past, sums.cross.T, assume_a="sym").T
    if "transition_covariance" in names and sums.moves:
        Q = (sums.present - C @ sums.cross.T - sums.cross @ C.T + C @ sums.past @ C.T) / sums.moves
        Q = structured(Q, kind)
    if "observation_matrices" in names and sums.rows:
        D = linalg.solve(sums.states, sums.both.T, assume_a="sym").T
    if "observation_covariance" in names and sums.rows:
        V = (sums.seen - D @ sums.both.T - sums.both @ D.T + D @ sums.states @ D.T) / sums.rows
        V = structured(V, kind)
    m0, P0 = model.m0, model.P0
    if "initial_state_mean" in names:
        m0 = sums.first / sums.sequences
    if "initial_state_covariance" in names:
        mean = sums.first / sums.sequences
        gap = m0 - mean
        P0 = structured(sums.spread / sums.sequences - np.outer(mean, mean) + np.outer(gap, gap), "full")
    changed = {"C": C, "D": D, "V": V}
    if model.gaps is None or "transition_covariance" in names:
        changed["Q"] = Q
    arrays = {name: M[None] for name, M in changed.items() if len(getattr(model, name)) == 1 or name == "Q"}
    if model.gaps is not None and "Q" in arrays:
        arrays["Q"] = model.gaps[:, None, None] * arrays["Q"]
    return model._replace(m0=m0, P0=P0, **arrays)
