"""Markov chains of any order: learned from sequences of symbols, scored, sampled and analyzed."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError, DegenerateError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.randomness import generator
from gnomon.core.settings import check_parameters, count_of
from gnomon.core.trace import Trace
from gnomon.core.validate import probabilities
from gnomon.loops import chains as loops
from gnomon.sequence.chain_analysis import ChainAnalysis
from gnomon.sequence.structure import (
    stationary_distribution,
    transition_matrix,
)
from gnomon.sequence.symbols import (
    Symbols,
    as_names,
    encode_symbols,
    head_codes,
    lay_out,
    sequence_weights,
    tuple_codes,
)


class Counts(NamedTuple):
    """What a chain has seen."""

    states: Array
    heads: Array  # (K**order,) first symbols of sequences
    pairs: Array  # (K**order, K) transitions
    symbols: Array  # (K,)


def tuple_matrix(M: Any, order: int) -> Any:
    """Return the chain of order one over tuples of states that a chain of a higher order is."""
    if order == 1:
        return M
    size, K = M.shape
    row = np.repeat(np.arange(size), K)
    column = (row * K + np.tile(np.arange(K), size)) % size
    return sparse.csr_array((M.ravel(), (row, column)), shape=(size, size))


class MarkovChain(ChainAnalysis, OneStep):
    r"""A Markov chain over symbols.

    .. math:: p(s_1,\dots,s_T) = p(s_1)\prod_t p(s_t \mid s_{t-1}), \qquad
              \hat M_{ij} = \frac{\#(i\to j) + c}{\#(i\text{ as a source}) + Kc}

    Use it for sequences whose next symbol depends on the last one (or the last `order`). The final symbol of
    a sequence is no source, and sequences are never joined. Where the state itself is hidden, use a hidden
    Markov model.

    Parameters
    ----------
    order : int
        How many symbols the next one depends on.
    smoothing : float
        Dirichlet pseudo-count c of every transition.
    start : {"empirical", "stationary", "uniform"} or array
        Distribution of the first symbol (of the first `order` symbols).
    states : sequence, optional
        The symbols, in the order wanted; by default those seen, sorted.
    unseen : {"uniform", "self", "error"}
        Row of a state that was never a source.

    Attributes
    ----------
    states_, startprob_, transmat_, counts_ : arrays
        ``transmat_`` is (K, K), or (K**order, K); ``counts_`` are the transition counts behind it.
    unseen_ : array of int
        Rows never seen as a source.
    n_parameters_ : int
        Free numbers in the model.

    Examples
    --------
    >>> chain = MarkovChain().fit(list("rrnrnnrrr"))
    >>> chain.states_, chain.transmat_.round(4)
    (array(['n', 'r'], dtype='<U1'), array([[0.3333, 0.6667],
           [0.4   , 0.6   ]]))
    >>> chain.predict_next(["r"]).round(2)
    array([0.4, 0.6])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "order": [Interval(Integral, 1, None, closed="left")],
        "smoothing": [Interval(Real, 0, None, closed="left")],
        "start": [StrOptions({"empirical", "stationary", "uniform"}), "array-like"],
        "states": [None, "array-like"],
        "unseen": [StrOptions({"uniform", "self", "error"})],
    }

    def __init__(
        self,
        order: int = 1,
        *,
        smoothing: float = 0.0,
        start: Any = "empirical",
        states: Any = None,
        unseen: str = "uniform",
    ) -> None:
        self.order = order
        self.smoothing = smoothing
        self.start = start
        self.states = states
        self.unseen = unseen

    def _check_loaded(self) -> None:
        if "transmat_" not in vars(self):
            return
        K, (size, width) = len(self.states_), self.transmat_.shape
        if width != K or K ** self._order() != size or np.shape(self.startprob_) != (size,):
            raise ModelFileError("its transition matrix does not fit its states. Get a new copy.")

    @classmethod
    def from_matrix(cls, M: Any, start: Any = None, states: Any = None) -> Self:
        """Return the chain with transition matrix `M`; `start` is uniform unless given.

        >>> MarkovChain.from_matrix([[0.5, 0.5], [0.2, 0.8]]).stationary().distribution.round(4)
        array([0.2857, 0.7143])
        """
        M = transition_matrix(M)
        K = M.shape[0]
        start = np.full(K, 1.0 / K) if start is None else probabilities(start, name="start")
        model = cls(start=start, states=states)
        model.states_, model.startprob_, model.transmat_ = as_names(states, K), start, M
        model.counts_, model.unseen_ = np.zeros((K, K)), np.empty(0, dtype=int)
        model.start_counts_, model.symbol_counts_ = np.zeros(K), np.zeros(K)
        model.n_parameters_ = K * (K - 1)
        model.frequencies_ = np.full(K, np.nan)
        return model

    def fit(self, sequences: Any, y: Any = None, lengths: Any = None, sample_weight: Any = None) -> Self:
        """Count the transitions of the sequences.

        Parameters
        ----------
        sequences : sequence of symbols, list of such sequences, or array with one sequence a row
            With `lengths`, one long array of all symbols.
        y : ignored
        lengths : sequence of int, optional
            Length of every sequence in a long array.
        sample_weight : array, optional
            How many times each sequence counts.
        """
        return self._learn(self._read_symbols(sequences, lengths, sample_weight), X=sequences, y=y)

    def iterate(
        self, sequences: Any, y: Any = None, lengths: Any = None, sample_weight: Any = None
    ) -> Iterator[Self]:
        """Yield the fitted chain; counting is one step."""
        yield from self._iterate(self._read_symbols(sequences, lengths, sample_weight))

    def partial_fit(
        self, sequences: Any, y: Any = None, lengths: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add the counts of more sequences; new symbols become new states."""
        data = self._read_symbols(sequences, lengths, sample_weight)
        known = self._counts() if hasattr(self, "states_") else None
        facts = {"trace_": Trace(), "n_iter_": 1, "converged_": True}
        self._adopt({**facts, **self._estimate(self._count(data, known))}, data)
        return self

    def _read_symbols(self, sequences: Any, lengths: Any, sample_weight: Any) -> Symbols:
        check_parameters(self)
        data = lay_out(sequences, lengths)
        data.weight = sequence_weights(sample_weight, len(data))
        return data

    def _solve(self, data: Symbols) -> dict[str, Any]:
        return self._estimate(self._count(data))

    def _counts(self) -> Counts:
        return Counts(self.states_, self.start_counts_, self.counts_, self.symbol_counts_)

    def _count(self, data: Symbols, known: Counts | None = None) -> Counts:
        """Return the counts of the data, on top of those already known."""
        found = self._room(data.values, known)
        K = len(found.states)
        codes = encode_symbols(data.values, found.states)
        row_weight = np.repeat(data.weight, data.lengths())
        t, past = tuple_codes(codes, data.offsets, self.order, K)
        pairs = np.bincount(past * K + codes[t], row_weight[t], found.pairs.size)
        which, head = head_codes(codes, data.offsets, self.order, K)
        heads = np.bincount(head, data.weight[which], found.heads.size)
        return Counts(
            found.states,
            found.heads + heads,
            found.pairs + pairs.reshape(found.pairs.shape),
            found.symbols + np.bincount(codes, row_weight, K),
        )

    def _room(self, values: Array, known: Counts | None) -> Counts:
        """Return the counts known so far, with zeros for symbols not seen before."""
        if self.states is not None:
            states = as_names(self.states, len(self.states))
        else:
            states = np.unique(values if known is None else np.concatenate([known.states, values]))
        K, r = len(states), self.order
        fresh = [np.zeros((K,) * r), np.zeros((K,) * (r + 1)), np.zeros(K)]
        if known is not None:
            place, old = encode_symbols(known.states, states), len(known.states)
            for table, counted in zip(fresh, (known.heads, known.pairs, known.symbols), strict=True):
                table[np.ix_(*[place] * table.ndim)] = counted.reshape((old,) * table.ndim)
        return Counts(states, fresh[0].ravel(), fresh[1].reshape(-1, K), fresh[2])

    def _estimate(self, found: Counts) -> dict[str, Any]:
        """Return the learned attributes from the counts."""
        K = len(found.states)
        counts = found.pairs + self.smoothing
        sources = counts.sum(axis=1, keepdims=True)
        unseen = np.flatnonzero(sources[:, 0] == 0)
        if len(unseen) and self.unseen == "error":
            raise DegenerateError(
                f"state {self._name(found.states, unseen[0])} is never followed by another; "
                "set unseen or smoothing."
            )
        with np.errstate(invalid="ignore"):
            M = counts / sources
        M[unseen] = 1.0 / K if self.unseen == "uniform" else np.eye(K)[unseen % K]
        start = self._start_distribution(found.heads, M)
        free = len(start) - 1 if isinstance(self.start, str) and self.start == "empirical" else 0
        return {
            "states_": found.states,
            "start_counts_": found.heads,
            "counts_": found.pairs,
            "symbol_counts_": found.symbols,
            "frequencies_": found.symbols / found.symbols.sum(),
            "transmat_": M,
            "startprob_": start,
            "unseen_": unseen,
            "n_parameters_": len(found.pairs) * (K - 1) + free,
        }

    def _name(self, states: Array, row: int) -> Any:
        K, names = len(states), states.tolist()
        digits = [names[row // K**power % K] for power in range(self.order - 1, -1, -1)]
        return repr(digits[0] if self.order == 1 else tuple(digits))

    def _start_distribution(self, heads: Array, M: Array) -> Array:
        size = len(heads)
        if not isinstance(self.start, str):
            start = probabilities(self.start, name="start")
            if len(start) != size:
                raise DataError(f"start must hold {size} probabilities; got {len(start)}.")
            return start
        if self.start == "stationary":
            return stationary_distribution(tuple_matrix(M, self.order)).distribution
        total = heads.sum()
        if self.start == "uniform" or total == 0:
            return np.full(size, 1.0 / size)
        return (heads + self.smoothing) / (total + self.smoothing * size)

    # what it answers

    def score_samples(self, sequences: Any, lengths: Any = None, *, unknown: str = "error") -> Array:
        """Return ln p of every sequence; an impossible transition gives −inf."""
        check_is_fitted(self, "transmat_")
        data = lay_out(sequences, lengths)
        K, order = len(self.states_), self._order()
        codes = encode_symbols(data.values, self.states_, unknown=unknown)
        t, past = tuple_codes(codes, data.offsets, order, K)
        which, head = head_codes(codes, data.offsets, order, K)
        owner = np.repeat(np.arange(len(data.offsets) - 1), data.lengths())
        dense = self.transmat_.toarray() if sparse.issparse(self.transmat_) else self.transmat_
        with np.errstate(divide="ignore"):
            scores = np.zeros(len(data.offsets) - 1)
            np.add.at(scores, which, np.log(self.startprob_[head]))
            np.add.at(scores, owner[t], np.log(dense[past, codes[t]]))
        return scores

    def score(self, sequences: Any, y: Any = None, lengths: Any = None, *, unknown: str = "error") -> float:
        """Return the log-likelihood of all sequences together."""
        return float(self.score_samples(sequences, lengths, unknown=unknown).sum())

    def score_iid(self, sequences: Any, lengths: Any = None) -> float:
        """Return the log-likelihood under independence (symbol frequencies of the fit): what the order
        is worth.
        """
        check_is_fitted(self, "transmat_")
        codes = encode_symbols(lay_out(sequences, lengths).values, self.states_)
        with np.errstate(divide="ignore"):
            return float(np.log(self.frequencies_)[codes].sum())

    def predict_next(self, history: Any, horizon: int = 1) -> Array:
        """Return the distribution of the symbol `horizon` steps after the history, in the order of
        `states_`.
        """
        check_is_fitted(self, "transmat_")
        order, K = self._order(), len(self.states_)
        codes = encode_symbols(lay_out(history).values, self.states_)
        if len(codes) < order:
            raise DataError(f"history must hold at least order={order} symbols; got {len(codes)}.")
        now = np.zeros(self.transmat_.shape[0])
        now[int(codes[-order:] @ K ** np.arange(order - 1, -1, -1))] = 1.0
        step = tuple_matrix(self.transmat_, self._order())
        for _ in range(count_of(horizon, "horizon", 1) - 1):
            now = step.T @ now
        return self.transmat_.T @ now

    def sample(self, n: int = 1, length: int = 100, random_state: Any = None) -> Array:
        """Draw `n` sequences of `length` symbols each, one a row."""
        check_is_fitted(self, "transmat_")
        rng = generator(random_state)
        dense = self.transmat_.toarray() if sparse.issparse(self.transmat_) else self.transmat_
        start, rows = np.cumsum(self.startprob_), np.cumsum(dense, axis=1)
        drawn = np.empty((n, length), dtype=np.int64)
        for sequence in drawn:
            loops.walk(start, rows, rng.random(length), sequence)
        return self.states_[drawn]

    def aic(self, sequences: Any, lengths: Any = None) -> float:
        """Return Akaike's criterion −2 ln L + 2k."""
        return -2.0 * self.score(sequences, lengths=lengths) + 2.0 * self.n_parameters_

    def bic(self, sequences: Any, lengths: Any = None) -> float:
        """Return the Bayesian criterion −2 ln L + k ln(number of symbols)."""
        n = len(lay_out(sequences, lengths).values)
        return -2.0 * self.score(sequences, lengths=lengths) + self.n_parameters_ * np.log(n)

    def make_absorbing(self, states: Any) -> Self:
        """Return the chain that never leaves `states`: their rows become 1 on the diagonal and 0
        elsewhere.
        """
        M = self._first_order()
        M = M.toarray() if sparse.issparse(M) else M.copy()
        rows = encode_symbols(np.atleast_1d(np.asarray(states)), self.states_)
        M[rows] = np.eye(len(M))[rows]
        return type(self).from_matrix(M, self.startprob_, self.states_)

    def plot(self, ax: Any = None, *, kind: str = "graph", steps: int = 30) -> Any:
        """Draw the transition graph, the matrix ("heat_map"), or how the distribution evolves ("convergence")."""
        from gnomon.plot.sequence import markov_chain

        return markov_chain(self, ax=ax, kind=kind, steps=steps)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags
