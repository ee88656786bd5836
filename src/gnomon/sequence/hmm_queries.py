"""What hidden Markov models answer: filtering, smoothing, likelihood, prediction, decoding, sampling."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, ZeroEvidenceError
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.core.rows import Chunk, MemoryRows
from gnomon.core.settings import count_of
from gnomon.core.sums import per_row, total
from gnomon.core.validate import check_fitted
from gnomon.loops import chains as loops
from gnomon.sequence import paths
from gnomon.sequence.network import NetworkTables, as_network
from gnomon.sequence.recursions import (
    Expected,
    HiddenChain,
    Posterior,
    expect,
    forward,
    joint_log_probability,
    log,
    log_densities,
    offsets_of,
    smooth,
    viterbi,
)


class ScoredRows:
    """Log-likelihood of all sequences and posteriors of all rows; as an array, ln p of every row given those
    before.

    Unpacks like hmmlearn's pair: ``log_likelihood, posteriors = model.score_samples(X)``.
    """

    def __init__(self, log_likelihood: float, posteriors: Array, rows: Array) -> None:
        self.log_likelihood, self.posteriors, self.rows = log_likelihood, posteriors, rows

    def __iter__(self) -> Any:
        return iter((self.log_likelihood, self.posteriors))

    def __getitem__(self, index: Any) -> Any:
        return (self.log_likelihood, self.posteriors)[index] if isinstance(index, int) else self.rows[index]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.rows, dtype=dtype, copy=copy)


class Tables(NamedTuple):
    """Logs of the forward and backward tables, (T, K) each, and ln p of the sequence."""

    log_alpha: Array
    log_beta: Array
    log_likelihood: float


class NextObservation(NamedTuple):
    """Distribution of a coming observation: the emissions, weighted by where the chain will be."""

    weights: Array  # (K,)
    emission: Any

    def mean(self) -> Array:
        """Return the mean of every column."""
        return self.weights @ self.emission.mean()

    def variance(self) -> Array:
        """Return the variance of every column: within the states and between them."""
        means = self.emission.mean()
        return self.weights @ (self.emission.variance() + (means - self.mean()) ** 2)

    def log_density(self, X: Any) -> Array:
        """Return ln p of every row."""
        joint = self.emission.log_density(X) + log(self.weights)
        top = joint.max(axis=1)
        return top + np.log(np.exp(joint - top[:, None]).sum(axis=1))

    def density(self, X: Any) -> Array:
        """Return p of every row."""
        return np.exp(self.log_density(X))


def _filtered(chunk: Chunk, chain: HiddenChain) -> tuple[Array, Array]:
    alpha, steps, _ = forward(chain, log_densities(chunk, chain.emission), offsets_of(chunk))
    return alpha, steps


def _smoothed(chunk: Chunk, chain: HiddenChain) -> Posterior:
    return smooth(chain, lambda: log_densities(chunk, chain.emission), offsets_of(chunk))


def _posteriors(chunk: Chunk, chain: HiddenChain) -> Array:
    return _smoothed(chunk, chain).states


def _log_likelihoods(chunk: Chunk, chain: HiddenChain) -> Array:
    return forward(chain, log_densities(chunk, chain.emission), offsets_of(chunk))[2]


def _log_likelihood(chunk: Chunk, chain: HiddenChain) -> Any:
    return _log_likelihoods(chunk, chain).sum()


def _best(chunk: Chunk, chain: HiddenChain, lean: bool) -> tuple[Array, Array]:
    score, path = viterbi(chain, log_densities(chunk, chain.emission), offsets_of(chunk), lean=lean)
    return score, path


class HMMQueries:
    """The queries; mixed into the models, which provide `_chain`, `_read_sequences` and the parameters."""

    def _ask(
        self, X: Any, y: Any = None, lengths: Any = None, transmat: Any = None
    ) -> tuple[Any, HiddenChain]:
        """Return the rows and the model; parameters set by hand do as well as a fit."""
        if not hasattr(self, "n_features_in_"):
            if not hasattr(self, "transmat_"):
                check_fitted(self)
            self.n_features_in_ = int(self._emission().n_features)
        series = getattr(self, "n_features_in_", 1) == 1
        X, runs, empty = self._sequence_lengths(X, y, lengths, series=series)
        rows, chain = self._rows(X, lengths=runs), self._chain()
        rows.n_empty = empty
        if transmat is not None:
            chain = chain._replace(trans=_varying(transmat, rows, len(chain.start)))
        return rows, chain

    # the five questions

    def filter(self, X: Any, lengths: Any = None, *, transmat: Any = None) -> Array:
        """Return p(state | observations up to now), (n, K).

        `transmat` of shape (n - 1, K, K) replaces the transitions of one sequence, step by step; so in the
        other queries.
        """
        return per_row(_filtered, *self._ask(X, None, lengths, transmat))[0]

    def predict_proba(self, X: Any, lengths: Any = None, *, transmat: Any = None) -> Array:
        """Return p(state | the whole sequence), (n, K): smoothing."""
        return per_row(_posteriors, *self._ask(X, None, lengths, transmat))

    def score(self, X: Any, y: Any = None, lengths: Any = None, *, transmat: Any = None) -> float:
        """Return ln p of all sequences together; −inf where one of them is impossible."""
        rows, chain = self._ask(X, y, lengths, transmat)
        try:
            value = float(total(_log_likelihood, rows, chain))
        except ZeroEvidenceError:
            return -np.inf
        return value + rows.n_empty * float(log(np.asarray(self.empty_prob_))) if rows.n_empty else value

    def predict_next(self, X: Any, horizon: int = 1) -> NextObservation:
        """Return the distribution of the observation `horizon` steps after the end of X."""
        filtered, chain = self.filter(X)[-1], self._chain()
        ahead = filtered @ np.linalg.matrix_power(chain.trans, count_of(horizon, "horizon", 1))
        if not ahead.sum() > 0:
            raise DataError("the chain stops with certainty before the horizon.")
        return NextObservation(ahead / ahead.sum(), chain.emission)

    def decode(
        self,
        X: Any,
        lengths: Any = None,
        algorithm: str | None = None,
        *,
        memory: str = "normal",
        transmat: Any = None,
    ) -> tuple[float, Array]:
        """Return the joint log-probability and the states of the best path (Viterbi).

        ``algorithm="map"`` takes the most probable state of every row instead, and the sum of their
        posteriors: not a path, it may even be impossible. ``memory="low"`` keeps no back-pointers and finds
        them again by the argmax rule.
        """
        algorithm = self.algorithm if algorithm is None else algorithm
        if algorithm not in ("viterbi", "map") or memory not in ("normal", "low"):
            raise DataError(
                f"algorithm must be 'viterbi' or 'map' and memory 'normal' or 'low'; got {algorithm!r}, "
                f"{memory!r}."
            )
        if algorithm == "map":
            posteriors = self.predict_proba(X, lengths, transmat=transmat)
            return float(posteriors.max(axis=1).sum()), posteriors.argmax(axis=1)
        rows, chain = self._ask(X, None, lengths, transmat)
        score, path = per_row(_best, rows, chain, memory == "low")
        return float(score.sum()), path

    def predict(self, X: Any, lengths: Any = None) -> Array:
        """Return the state of every row, by `algorithm`."""
        return self.decode(X, lengths)[1]

    # tools

    def score_samples(self, X: Any, lengths: Any = None) -> ScoredRows:
        """Return the log-likelihood and the posteriors, as hmmlearn does; see `ScoredRows`."""
        rows, chain = self._ask(X, None, lengths)
        steps = per_row(_filtered, rows, chain)[1]
        return ScoredRows(
            float(total(_log_likelihood, rows, chain)), per_row(_posteriors, rows, chain), steps
        )

    def outlier_scores(self, X: Any, lengths: Any = None) -> Array:
        """Return −ln p per observation of every sequence: large for sequences unlike those of the model."""
        rows, chain = self._ask(X, None, lengths)
        return -per_row(_log_likelihoods, rows, chain) / rows.lengths

    def forward_backward(self, X: Any, *, convention: str = "standard") -> Tables:
        """Return the log tables α and β of one sequence.

        α_t(k) = p(x_1..t, s_t = k) holds past and present, β_t(k) = p(x_t+1..T, stop | s_t = k) the future.
        In the ``"shifted"`` convention the emission of time t belongs to β: α'_t(k) = p(x_1..t−1, s_t = k),
        β'_t(k) = p(x_t..T, stop | s_t = k).
        """
        table, chain = self._one_table(X)
        return Tables(*paths.log_tables(chain, table, convention))

    def pair_posteriors(self, X: Any) -> Array:
        """Return p(s_t = i, s_t+1 = j | the whole sequence), (T − 1, K, K)."""
        table, chain = self._one_table(X)
        alpha, beta, log_p = paths.log_tables(chain, table, "standard")
        return np.exp(alpha[:-1, :, None] + log(chain.trans) + (table + beta)[1:, None, :] - log_p)

    def expected_counts(self, X: Any, lengths: Any = None) -> Expected:
        """Return ln p and the expected starts, transitions, stops and emission statistics of the
        sequences.
        """
        rows, chain = self._ask(X, None, lengths)
        return total(expect, rows, chain)

    def joint_log_probability(self, X: Any, states: Any, lengths: Any = None) -> float:
        """Return ln p(observations, states)."""
        rows, chain = self._ask(X, None, lengths)
        path = np.asarray(states, dtype=np.int64)
        if path.shape != (rows.n_rows,) or path.min() < 0 or path.max() >= len(chain.start):
            raise DataError(f"states must be {rows.n_rows} numbers from 0 to {len(chain.start) - 1}.")
        offsets = np.concatenate([[0], np.cumsum(rows.lengths)])
        return float(joint_log_probability(chain, chain.emission.log_density(rows.X), path, offsets).sum())

    def enumerate_paths(self, X: Any, max_paths: int = 10**6) -> tuple[Array, Array]:
        """Return all K**T paths of one sequence and their joint log-probabilities: the slow and obvious
        way.
        """
        table, chain = self._one_table(X)
        return paths.all_paths(chain, table, max_paths)

    def top_paths(self, X: Any, n: int = 5) -> tuple[Array, Array]:
        """Return the joint log-probabilities and the `n` best paths of one sequence, best first."""
        table, chain = self._one_table(X)
        return paths.best_several(chain, table, n)

    def sample_posterior(self, X: Any, n: int = 1, random_state: Any = None) -> Array:
        """Draw `n` state paths of one sequence given its observations, (n, T)."""
        table, chain = self._one_table(X)
        alpha, _, _ = forward(chain, table, np.array([0, len(table)]))
        drawn = np.empty((n, len(table)), dtype=np.int64)
        uniforms = generator(random_state).random((n, len(table)))
        loops.sample_backward(chain.trans[None], chain.stops(), alpha, uniforms, drawn)
        return drawn

    def _one_table(self, X: Any) -> tuple[Array, HiddenChain]:
        rows, chain = self._ask(X)
        if not isinstance(rows, MemoryRows):
            raise DataError("this query takes one sequence in memory.")
        return np.array(chain.emission.log_density(rows.X)), chain

    # drawing

    def sample(
        self, n_samples: int = 1, random_state: Any = None, currstate: int | None = None
    ) -> tuple[Array, Array]:
        """Draw one sequence of `n_samples` observations and its states; `currstate` continues after that
        state.

        With ``end=True`` the sequence may stop sooner.
        """
        chain = self._chain()
        rng = generator(self.random_state if random_state is None else random_state)
        start = chain.start / chain.start.sum() if currstate is None else chain.trans[currstate]
        states = paths.draw_states(chain, start, n_samples, rng)
        return chain.emission.sample(states, rng), states

    def sample_sequences(
        self, n: int, length: int | None = None, random_state: Any = None
    ) -> tuple[Array, Array, Array]:
        """Draw `n` sequences of `length` (or until they stop); return X, lengths and states."""
        chain = self._chain()
        if length is None and chain.end is None:
            raise DataError("this model never stops: give the length of the sequences.")
        rng = generator(random_state)
        alive = rng.random(n) < chain.start.sum()
        limit = 10**6 if length is None else length
        drawn = [
            paths.draw_states(chain, chain.start / chain.start.sum(), limit, rng)
            for _ in range(int(alive.sum()))
        ]
        lengths = np.zeros(n, dtype=np.int64)
        lengths[alive] = list(map(len, drawn))
        states = np.concatenate(drawn) if drawn else np.empty(0, dtype=np.int64)
        return chain.emission.sample(states, rng), lengths, states

    # numbers

    def get_stationary_distribution(self) -> Array:
        """Return the stationary distribution of the hidden chain."""
        from gnomon.sequence.structure import stationary_distribution

        return stationary_distribution(self._chain().trans).distribution

    def aic(self, X: Any, lengths: Any = None, *, scale: str = "full") -> float:
        """Return −2 ln L + 2k; ``scale="half"`` gives half of it."""
        return self._criterion(X, lengths, 2.0, scale)

    def bic(self, X: Any, lengths: Any = None, *, scale: str = "full") -> float:
        """Return −2 ln L + k ln(number of observations); ``scale="half"`` gives half of it."""
        return self._criterion(X, lengths, None, scale)

    def _criterion(self, X: Any, lengths: Any, price: float | None, scale: str) -> float:
        if scale not in ("full", "half"):
            raise DataError(f"scale must be 'full' or 'half'; got {scale!r}.")
        rows, chain = self._ask(X, None, lengths)
        price = np.log(rows.n_rows) if price is None else price
        value = -2.0 * self.score(X, lengths=lengths) + price * self._count_free(chain)
        return float(value if scale == "full" else 0.5 * value)

    def to_bayesian_network(self, T: int) -> NetworkTables:
        """Return `T` steps of the model as a Bayesian network: parents and tables of s1, x1, s2, …"""
        return as_network(self._chain(), T)

    def plot(self, X: Any = None, ax: Any = None) -> Any:
        """Draw the hidden states and their transitions or, with data, the emissions over their histogram."""
        from gnomon.plot.sequence import hmm_graph

        return hmm_graph(self, X, ax=ax)


def _varying(transmat: Any, rows: Any, K: int) -> Array:
    """Check transitions that change with time; entry t leads into row t, entry 0 is never used."""
    A = np.asarray(transmat, dtype=np.float64)
    if A.shape == (K, K):
        return A
    if len(rows.lengths) != 1 or A.shape != (rows.n_rows - 1, K, K):
        raise DataError(f"transmat must be ({rows.n_rows - 1}, {K}, {K}) for one sequence; got {A.shape}.")
    return np.concatenate([A[:1], A])
