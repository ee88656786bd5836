"""Particle filters: beliefs about a hidden state as weighted samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np

from gnomon.core.errors import DataError, ZeroEvidenceError, nearest
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.core.threads import one_blas_thread
from gnomon.core.validate import matrix
from gnomon.loops import particles as loops
from gnomon.sequence.linear_gaussian import root

SCHEMES = ("systematic", "stratified", "multinomial", "residual")


class ParticleResult(NamedTuple):
    """What a particle filter finds at every row."""

    means: Array  # (T, d)
    covariances: Array  # (T, d, d)
    loglik_terms: Array  # (T,) ln of the mean weight: an unbiased likelihood estimate, in logs
    ess: Array  # (T,) effective sample size before resampling
    resampled: Array  # (T,) whether the particles were drawn anew after this row
    particles: Array  # (N, d) of the last row
    weights: Array  # (N,) of the last row
    history: Array | None  # (T, N, d) when kept
    ancestors: Array | None  # (T, N) index of each particle's parent in the row before, when kept

    @property
    def loglik(self) -> float:
        """Estimate of ln p of all rows."""
        return float(self.loglik_terms.sum())

    def sample_paths(self, n: int, random_state: Any = None) -> Array:
        """Draw `n` whole state paths from the ancestry of the last particles, (n, T, d)."""
        if self.history is None or self.ancestors is None:
            raise DataError("run filter with keep=True to follow the particles back.")
        rng = generator(random_state)
        T = len(self.history)
        index = np.empty(T, dtype=np.int64)
        paths = np.empty((n, T, self.history.shape[2]))
        for row, last in enumerate(rng.choice(len(self.weights), n, p=self.weights)):
            loops.trace_back(self.ancestors, last, index)
            paths[row] = self.history[np.arange(T), index]
        return paths


def effective_sample_size(weights: Any) -> float:
    """Return 1 / Σ w² of normalized weights: N for equal ones, 1 when a single one is left.

    >>> round(effective_sample_size([0.1, 0.2, 0.3, 0.4]), 4)
    3.3333
    """
    w = np.asarray(weights, dtype=np.float64)
    return float(w.sum() ** 2 / (w @ w))


def resample(weights: Any, scheme: str = "systematic", random_state: Any = None, *, u: Any = None) -> Array:
    """Draw as many indices as there are weights, each on average as often as its weight says.

    Parameters
    ----------
    weights : (N,) array
        Not negative; they need not sum to one.
    scheme : {"systematic", "stratified", "multinomial", "residual"}
        One offset for all strata (least noise), one uniform a stratum, independent draws, or whole parts
        first.
    random_state : int, Generator or None
    u : float or array, optional
        The uniform numbers themselves.

    Examples
    --------
    >>> resample([0.1, 0.2, 0.3, 0.4], u=0.5)
    array([1, 2, 3, 3])
    """
    w = np.asarray(weights, dtype=np.float64)
    if w.ndim != 1 or not (w >= 0).all() or not w.sum() > 0:
        raise DataError("weights must be a vector of numbers that are not negative and not all zero.")
    if scheme not in SCHEMES:
        raise DataError(f"scheme must be one of {SCHEMES}; got {scheme!r}.{nearest(scheme, SCHEMES)}")
    return _resample(w / w.sum(), scheme, generator(random_state), u)


def _resample(w: Array, scheme: str, rng: np.random.Generator, u: Any = None) -> Array:
    n = len(w)
    if scheme == "residual":
        return _residual(w, rng, u)
    if scheme == "multinomial":
        points = np.sort(rng.random(n) if u is None else np.asarray(u, dtype=np.float64))
    else:
        offset = (rng.random() if scheme == "systematic" else rng.random(n)) if u is None else u
        points = (np.arange(n) + offset) / n
    chosen = np.empty(n, dtype=np.int64)
    loops.pick_sorted(w, points, chosen)
    return chosen


def _residual(w: Array, rng: np.random.Generator, u: Any) -> Array:
    """Whole parts of n·w for certain, the rest by independent draws."""
    n = len(w)
    sure = np.floor(n * w).astype(np.int64)
    chosen = np.repeat(np.arange(n), sure)
    left = n - len(chosen)
    if left == 0:
        return chosen
    rest = n * w - sure
    more = np.empty(left, dtype=np.int64)
    points = np.sort(rng.random(left) if u is None else np.asarray(u, dtype=np.float64)[:left])
    loops.pick_sorted(rest / rest.sum(), points, more)
    return np.sort(np.concatenate([chosen, more]))


def as_particles(s: Any, n: int) -> Array:
    """Return states as (n, d) numbers."""
    return np.ascontiguousarray(s, dtype=np.float64).reshape(n, -1)


def normalized(logs: Array, w: Array, t: int) -> tuple[float, float]:
    """Fill w with weights proportional to exp(logs); return ln of the sum of those and the effective size."""
    top = logs.max()
    if not np.isfinite(top):
        raise ZeroEvidenceError(f"no particle can explain row {t}; use more particles or wider noise.")
    np.exp(np.subtract(logs, top, out=w), out=w)
    total, square = loops.normalize(w)
    return float(top + np.log(total)), 1.0 / square


class ParticleFilter:
    r"""Bootstrap particle filter for any state-space model.

    N particles are moved by the transition, weighted by :math:`p(x_t \mid s_t)` in logs, and drawn anew when
    the effective sample size :math:`1/\sum w^2` falls below a share of N. Unbiased for the likelihood; good
    where dynamics or noise are far from linear and Gaussian. For linear Gaussian models `KalmanFilter` is
    exact and faster.

    Parameters
    ----------
    transition_sample : function (particles (N, d), t, rng) -> particles
        Draws the next state of every particle.
    observation_logpdf : function (x, particles, t) -> (N,) array
        ln p(x | state) of every particle.
    initial_sample : function (N, rng) -> (N, d) array
        Draws states for the first row (or for the time before it, with ``initial_at="before"``).
    n_particles : int
    resampling : {"systematic", "stratified", "multinomial", "residual"}
    ess_threshold : float
        Resample below this share of N; 1 resamples at every row.
    initial_at : {"first", "before"}
    random_state : int, Generator or None

    Examples
    --------
    >>> def move(s, t, rng):
    ...     return s + rng.normal(0, 0.5**0.5, s.shape)
    >>> def see(x, s, t):
    ...     return -0.5 * (x - s[:, 0]) ** 2 - 0.5 * np.log(2 * np.pi)
    >>> found = ParticleFilter(
    ...     move,
    ...     see,
    ...     lambda n, rng: rng.normal(0, 1, (n, 1)),
    ...     n_particles=100_000,
    ...     initial_at="before",
    ...     random_state=0,
    ... ).filter([1.0, 2.0, 1.5])
    >>> bool(abs(found.means[-1, 0] - 1.4176) < 0.02)
    True
    """

    def __init__(
        self,
        transition_sample: Callable[..., Array],
        observation_logpdf: Callable[..., Array],
        initial_sample: Callable[..., Array],
        *,
        n_particles: int = 1000,
        resampling: str = "systematic",
        ess_threshold: float = 0.5,
        initial_at: str = "first",
        random_state: Any = None,
    ) -> None:
        if n_particles < 1 or not 0.0 <= ess_threshold <= 1.0 or initial_at not in ("first", "before"):
            raise DataError(
                "n_particles must be at least 1, ess_threshold in [0, 1], initial_at 'first' or 'before'."
            )
        if resampling not in SCHEMES:
            raise DataError(
                f"resampling must be one of {SCHEMES}; got {resampling!r}.{nearest(resampling, SCHEMES)}"
            )
        self.transition_sample = transition_sample
        self.observation_logpdf = observation_logpdf
        self.initial_sample = initial_sample
        self.n_particles = n_particles
        self.resampling = resampling
        self.ess_threshold = ess_threshold
        self.initial_at = initial_at
        self.random_state = random_state

    @classmethod
    def from_kalman(cls, kalman: Any, **options: Any) -> Self:
        """Return the particle filter of a linear Gaussian model, to check the one against the other."""
        model = kalman._model(None)  # one matrix of each kind, for all times
        start, noise = root(model.P0), root(model.Q[0])
        W = np.linalg.inv(np.linalg.cholesky(model.V[0]))
        seen, constant = W @ model.D[0], np.log(np.diag(W)).sum() - 0.5 * len(W) * np.log(2 * np.pi)

        def initial(n: int, rng: np.random.Generator) -> Array:
            return model.m0 + rng.standard_normal((n, len(model.m0))) @ start.T

        def move(s: Array, t: int, rng: np.random.Generator) -> Array:
            shock, out = rng.standard_normal(s.shape), np.empty_like(s)
            loops.map_linearly(s, model.C[0], model.c[0], shock, noise, out)
            return out

        def see(x: Array, s: Array, t: int) -> Array:
            out = np.empty(len(s))
            loops.gaussian_logs(s, W @ (x - model.e[0]), seen, constant, out)
            return out

        options.setdefault("initial_at", kalman.initial_at)
        return cls(move, see, initial, **options)

    def filter(self, X: Any, *, keep: bool = False) -> ParticleResult:
        """Run through the rows; `keep` stores all particles and their ancestry, for smoothing.

        Parameters
        ----------
        X : (T, p) array
            Measurements; a row of NaN is only predicted.
        """
        X = np.asarray(matrix(np.reshape(X, (-1, 1)) if np.ndim(X) == 1 else X, nan=True), dtype=np.float64)
        with one_blas_thread():
            return self._filter(X, keep)

    def _filter(self, X: Array, keep: bool) -> ParticleResult:
        rng, N, T = generator(self.random_state), self.n_particles, len(X)
        s = as_particles(self.initial_sample(N, rng), N)
        logs, level, w = np.zeros(N), np.log(N), np.full(N, 1.0 / N)  # level: ln Σ exp(logs)
        means, covariances = np.empty((T, s.shape[1])), np.empty((T, s.shape[1], s.shape[1]))
        terms, ess, drawn = np.zeros(T), np.full(T, float(N)), np.zeros(T, dtype=bool)
        history = np.empty((T, *s.shape)) if keep else None
        ancestors = np.tile(np.arange(N), (T, 1)) if keep else None
        parents = None
        for t, x in enumerate(X):
            if t > 0 or self.initial_at == "before":
                s = as_particles(self.transition_sample(s, t, rng), N)
            if not np.isnan(x).all():
                logs += self.observation_logpdf(x, s, t)
                before, (level, ess[t]) = level, normalized(logs, w, t)
                terms[t] = level - before
            loops.weighted_moments(s, w, means[t], covariances[t])
            if keep:
                history[t], parents = s, self._note(ancestors, parents, t)
            if ess[t] < self.ess_threshold * N and t < T - 1:
                parents = _resample(w, self.resampling, rng)
                s, drawn[t] = s[parents], True
                logs[:], level, w[:] = 0.0, np.log(N), 1.0 / N
        return ParticleResult(means, covariances, terms, ess, drawn, s, w, history, ancestors)

    @staticmethod
    def _note(ancestors: Array, parents: Array | None, t: int) -> None:
        """Write down which particle of the row before each one came from."""
        if parents is not None:
            ancestors[t] = parents
