"""Particle filters: beliefs about a hidden state as weighted samples."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils import Tags

from gnomon.core.errors import DataError, ZeroEvidenceError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.promises import Promises
from gnomon.core.randomness import draw_seed, generator, stream
from gnomon.core.steps import Learner, Report
from gnomon.core.threads import one_blas_thread
from gnomon.core.validate import COUNT, Reads
from gnomon.loops import particles as loops
from gnomon.sequence.linear_gaussian import root
from gnomon.sequence.resampling import SCHEMES, drawn_indices


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


class Belief(NamedTuple):
    """Weighted particles after a row, and what the row told."""

    particles: Array  # (N, d)
    logs: Array  # (N,) ln of the weights, up to a constant
    level: float  # ln of the sum of exp(logs)
    weights: Array  # (N,)
    mean: Array
    covariance: Array
    term: float = 0.0  # ln p of the row given those before
    ess: float = 0.0

    def resampled(self, parents: Array) -> Belief:
        """Return the particles drawn anew, with equal weights."""
        n = len(self.weights)
        return self._replace(
            particles=self.particles.take(parents, axis=0),
            logs=np.zeros(n),
            level=float(np.log(n)),
            weights=np.full(n, 1.0 / n),
        )


class Track(NamedTuple):
    """The rows gone through so far. Like the generator, the lists go on from row to row: T rows cost T appends."""

    belief: Belief
    means: list[Array]
    covariances: list[Array]
    loglik: float
    rng: np.random.Generator


class LinearMove(NamedTuple):
    """A linear Gaussian transition: C s + c and noise with root L."""

    C: Array
    c: Array
    L: Array

    def __call__(self, s: Array, t: int, rng: np.random.Generator) -> Array:
        shock, out = rng.standard_normal(s.shape), np.empty_like(s)
        loops.map_linearly(s, self.C, self.c, shock, self.L, out)
        return out


class GaussianView(NamedTuple):
    """Log-density of a linear Gaussian measurement, whitened by W."""

    W: Array
    e: Array
    WD: Array
    constant: float

    def __call__(self, x: Array, s: Array, t: int) -> Array:
        out = np.empty(len(s))
        loops.gaussian_logs(s, self.W @ (x - self.e), self.WD, self.constant, out)
        return out


class GaussianStart(NamedTuple):
    """Draws from the Gaussian with mean m and root L."""

    m: Array
    L: Array

    def __call__(self, n: int, rng: np.random.Generator) -> Array:
        return self.m + rng.standard_normal((n, len(self.m))) @ self.L.T


class ParticleFilter(Learner):
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

    Attributes
    ----------
    means_, covariances_ : arrays of shape (T, d) and (T, d, d)
        After `fit`: moments of the belief at every row.
    particles_, weights_ : arrays of shape (N, d) and (N,)
        The belief at the last row.
    loglik_ : float
        Estimate of ln p of all rows.

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

    _reads: ClassVar[Reads] = Reads(nan=True)
    _stop: ClassVar[str] = "self"
    _unit: ClassVar[str] = "row"
    _promises: ClassVar[Promises] = Promises(order="no: the rows are moments of time")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "transition_sample": [callable],
        "observation_logpdf": [callable],
        "initial_sample": [callable],
        "n_particles": [COUNT],
        "resampling": [StrOptions(set(SCHEMES))],
        "ess_threshold": [Interval(Real, 0, 1, closed="both")],
        "initial_at": [StrOptions({"first", "before"})],
        "random_state": ["random_state"],
    }

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
        W = np.linalg.inv(np.linalg.cholesky(model.V[0]))
        constant = np.log(np.diag(W)).sum() - 0.5 * len(W) * np.log(2 * np.pi)
        options.setdefault("initial_at", kalman.initial_at)
        return cls(
            LinearMove(model.C[0], model.c[0], root(model.Q[0])),
            GaussianView(W, model.e[0], W @ model.D[0], float(constant)),
            GaussianStart(model.m0, root(model.P0)),
            **options,
        )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Run through the rows, one a step, and keep the belief; its moments are the learned attributes.

        Parameters
        ----------
        X : (T, p) array
            Measurements; a row of NaN is only predicted.
        """
        return self._learn(self._read_rows(X), X=X)

    def iterate(self, X: Any, y: Any = None) -> Iterator[Self]:
        """Yield the filter after every row."""
        yield from self._iterate(self._read_rows(X))

    def filter(self, X: Any, *, keep: bool = False) -> ParticleResult:
        """Run through the rows; `keep` stores all particles and their ancestry, for smoothing.

        Parameters
        ----------
        X : (T, p) array
            Measurements; a row of NaN is only predicted.
        """
        rows = self._read_rows(X).X
        T, N = len(rows), self.n_particles
        rng = generator(stream(draw_seed(generator(self.random_state)), 0))  # as in a fit
        belief, beliefs, drawn = self._first(rng), [], np.zeros(T, dtype=bool)
        history = np.empty((T, *belief.particles.shape)) if keep else None
        ancestors = np.tile(np.arange(N), (T, 1)) if keep else None
        with one_blas_thread():
            for t, x in enumerate(rows):
                parents = self._parents(belief, t, rng)
                if parents is not None:
                    belief, drawn[t - 1] = belief.resampled(parents), True
                belief = self._advance(belief, x, t, rng)
                beliefs.append(belief[4:])
                if history is not None and ancestors is not None:
                    history[t], ancestors[t] = belief.particles, ancestors[t] if parents is None else parents
        means, covariances, terms, ess = (np.array(column) for column in zip(*beliefs, strict=True))
        last = belief.particles, belief.weights
        return ParticleResult(means, covariances, terms, ess, drawn, *last, history, ancestors)

    def _read_rows(self, X: Any) -> Any:
        return self._read(np.reshape(X, (-1, 1)) if np.ndim(X) == 1 else X)

    def _limit(self) -> int:
        return sys.maxsize

    def _announced(self, data: Any) -> int:
        return len(data)

    def _start(self, rows: Any, rng: np.random.Generator) -> Track:
        rng = generator(rng)  # whose normal numbers take a third less time than those of a stream
        return Track(self._first(rng), [], [], 0.0, rng)

    def _step(self, rows: Any, state: Track) -> tuple[Track, Report]:
        t, rng = len(state.means), state.rng
        with one_blas_thread():
            parents = self._parents(state.belief, t, rng)
            before = state.belief if parents is None else state.belief.resampled(parents)
            now = self._advance(before, rows.X[t], t, rng)
        loglik = state.loglik + now.term
        state.means.append(now.mean)
        state.covariances.append(now.covariance)
        return state._replace(belief=now, loglik=loglik), Report(
            None, done=t + 1 == len(rows), info={"log_likelihood": loglik, "effective_sample_size": now.ess}
        )

    def _attributes(self, state: Track) -> dict[str, Any]:
        d = state.belief.particles.shape[1]
        return {
            "means_": np.array(state.means).reshape(-1, d),
            "covariances_": np.array(state.covariances).reshape(-1, d, d),
            "particles_": state.belief.particles,
            "weights_": state.belief.weights,
            "loglik_": state.loglik,
        }

    def _first(self, rng: np.random.Generator) -> Belief:
        """Return the belief before the first row."""
        N = self.n_particles
        s = as_particles(self.initial_sample(N, rng), N)
        d = s.shape[1]
        equal = np.full(N, 1.0 / N)
        return Belief(s, np.zeros(N), float(np.log(N)), equal, np.zeros(d), np.zeros((d, d)), 0.0, float(N))

    def _parents(self, belief: Belief, t: int, rng: np.random.Generator) -> Array | None:
        """Return which particles go on where too few carry the weight; None: all do."""
        if t == 0 or belief.ess >= self.ess_threshold * self.n_particles:
            return None
        return drawn_indices(belief.weights, self.resampling, rng)

    def _advance(self, belief: Belief, x: Array, t: int, rng: np.random.Generator) -> Belief:
        """Move the particles and weigh them by a row."""
        s, N = belief.particles, self.n_particles
        if t > 0 or self.initial_at == "before":
            s = as_particles(self.transition_sample(s, t, rng), N)
        logs, level, w, term, ess = belief.logs, belief.level, belief.weights, 0.0, float(N)
        if not np.isnan(x).all():
            logs, w = logs + self.observation_logpdf(x, s, t), np.empty(N)
            level, ess = normalized(logs, w, t)
            term = level - belief.level
        mean, covariance = np.empty(s.shape[1]), np.empty((s.shape[1], s.shape[1]))
        loops.weighted_moments(s, w, mean, covariance)
        return Belief(s, logs, level, w, mean, covariance, term, ess)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # the functions of the model say how wide a row is
        return tags
