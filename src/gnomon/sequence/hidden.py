"""What all hidden Markov models share: reading sequences, Baum–Welch and its relatives."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gnomon.core.dask_rows import is_dask
from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array
from gnomon.core.parameters import Interval, StrOptions
from gnomon.core.rows import Rows
from gnomon.core.settings import check_parameters
from gnomon.core.steps import Learner, Report, Run
from gnomon.core.sums import total
from gnomon.core.tables import is_table
from gnomon.core.threads import one_blas_thread
from gnomon.core.validate import Reads, probabilities, read, warn
from gnomon.sequence import starts
from gnomon.sequence.direct import climb, form_of
from gnomon.sequence.hmm_queries import HMMQueries
from gnomon.sequence.monitor import Monitor, Monitored, own_monitor
from gnomon.sequence.recursions import HiddenChain, expect, expect_hard, expect_known, score_known
from gnomon.sequence.stationary_start import maximize_transitions, stationary

log = logging.getLogger(__name__)

SHARED: dict[str, Any] = {
    "n_components": [Interval(Integral, 1, None, closed="left")],
    "startprob_prior": [Interval(Real, 0, None, closed="left"), "array-like"],
    "transmat_prior": [Interval(Real, 0, None, closed="left"), "array-like"],
    "algorithm": [StrOptions({"viterbi", "map"})],
    "random_state": ["random_state", np.random.Generator],
    "n_iter": [Interval(Integral, 0, None, closed="left")],
    "tol": [Real],
    "verbose": ["verbose"],
    "params": [str],
    "init_params": [str],
    "implementation": [StrOptions({"log", "scaling"})],
    "start": [StrOptions({"free", "stationary", "fixed"})],
    "end": ["boolean"],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "method": [StrOptions({"em", "hard", "direct"})],
    "transmat_mask": [None, "array-like"],
}


def left_right_mask(K: int, band: int = 1) -> Array:
    """Return which transitions a left-to-right model allows: from i to i, …, i + band.

    >>> left_right_mask(3).astype(int)
    array([[1, 1, 0],
           [0, 1, 1],
           [0, 0, 1]])
    """
    if K < 1 or band < 0:
        raise DataError(f"K must be at least 1 and band at least 0; got K={K}, band={band}.")
    ahead = np.arange(K) - np.arange(K)[:, None]
    return (ahead >= 0) & (ahead <= band)


def normalized_rows(counts: Array, old: Array) -> Array:
    """Rows divided by their sums; rows without mass keep what they were."""
    sums = counts.sum(axis=-1, keepdims=True)
    return np.where(sums > 0, counts / np.where(sums > 0, sums, 1.0), old)


def joined(X: Any) -> tuple[Any, list[int] | None]:
    """Return sequences given one by one as rows below each other, with their lengths; anything else as it is.

    Tables are sequences, and so are lists of numbers whose lengths differ; lists of one length are rows of a table.
    """
    if not isinstance(X, list | tuple) or not all(hasattr(one, "__len__") for one in X):
        return X, None
    sizes = [len(one) for one in X]
    if X and all(_is_rows(one) for one in X):
        found = [np.asarray(one) for one in X]
    elif len(set(sizes)) > 1 and not any(isinstance(one, str) or _is_rows(one) for one in X):
        found = [np.reshape(one, (-1, 1)) for one in X]
    else:
        return X, None
    widths = {one.shape[1] for one in found}
    if len(widths) > 1:
        raise DataError(f"the sequences of X must have the same columns; they have {sorted(widths)}.")
    return np.concatenate(found), sizes


def _is_rows(one: Any) -> bool:
    return getattr(one, "ndim", 0) == 2 or (isinstance(one, list) and len(one) > 0 and np.ndim(one[0]) == 1)


class HiddenMarkov(Monitored, HMMQueries, Learner):  # type: ignore[misc]
    """What all hidden Markov models share; subclasses know their emissions."""

    _reads: ClassVar[Reads] = Reads(nan=True, scales=True)
    _sense: ClassVar[str] = "max"
    _letters: ClassVar[str] = "e"  # of the emission's parameters, in params and init_params

    # emissions: what subclasses write

    def _emission(self) -> Any:
        """Return the family behind the attributes."""
        raise NotImplementedError

    def _start_emission(self, X: Array, rng: np.random.Generator) -> Any:
        """Return a family to begin with; X is a sample of the rows."""
        raise NotImplementedError

    def _maximize_emission(self, emission: Any, statistics: Any) -> Any:
        """Return the family after the M-step."""
        return emission.estimate(statistics)

    def _emission_log_prior(self, emission: Any) -> float:
        """Return the log-density of the prior, up to a constant."""
        return 0.0

    def _emission_attributes(self, emission: Any) -> dict[str, Any]:
        """Return the attributes that `_emission` reads."""
        raise NotImplementedError

    # learning

    def fit(self, X: Any, y: Any = None, lengths: Any = None, *, states: Any = None) -> Self:
        """Learn by Baum–Welch (or as `method` says).

        Parameters
        ----------
        X : (n, d) or (n,) array, DataFrame, Parquet file, Dask collection, or list of (length, d) arrays
            Observations of all sequences, one below the other, or sequence by sequence; NaN marks what was not
            observed.
        y : ignored
            Present for scikit-learn; sequence lengths given in its place, as hmmlearn has it, are understood.
        lengths : sequence of int, or column name
            Length of every sequence; for tables the column whose value changes from one sequence to the next.
        states : (n,) array or column name, optional
            Known hidden states, -1 where unknown: all known is supervised counting, some known clamps them.
        """
        rows = self._read_sequences(X, y, lengths, states)
        return self._learn(rows, X=X, y=y)

    def iterate(self, X: Any, y: Any = None, lengths: Any = None, *, states: Any = None) -> Iterator[Self]:
        """Yield a fitted copy of the model at the start and after every step."""
        yield from self._iterate(self._read_sequences(X, y, lengths, states))

    def _read_sequences(self, X: Any, y: Any, lengths: Any, states: Any) -> Rows:
        check_parameters(self)
        reads = self._reads if states is None else self._reads._replace(y="number")
        X, lengths, empty = self._sequence_lengths(X, y, lengths, series=True)
        rows = read(self, X, states, reads=reads, lengths=lengths)
        rows.n_empty = empty
        if states is not None and rows.in_memory:
            wrong = (rows.y != np.rint(rows.y)) | (rows.y < -1) | (rows.y >= self.n_components)
            if wrong.any():
                raise DataError(
                    f"states must be -1 (unknown) or 0 to {self.n_components - 1}; got {rows.y[wrong][0]:g}."
                )
        return rows

    def _sequence_lengths(self, X: Any, y: Any, lengths: Any, *, series: bool) -> tuple[Any, Any, int]:
        """Return X, the lengths of its sequences (one long one by default), and how many empty ones
        were dropped; a `series` of numbers is one column.
        """
        if is_table(X) or is_dask(X):
            return X, lengths, 0
        if lengths is None:
            X, lengths = joined(X)
        elif joined(X)[1] is not None:
            raise DataError("X is a list of sequences, which have their own lengths; leave out `lengths`.")
        if series and (getattr(X, "ndim", 2) == 1 or (isinstance(X, list) and X and np.ndim(X[0]) == 0)):
            if y is not None and np.ndim(y) == 1 and len(y) == len(X):
                raise DataError(
                    "X has one dimension and y a label a row; reshape X to one column, X[:, None]."
                )
            X = np.reshape(X, (-1, 1))
        if hasattr(X, "columns") and len(X.columns) == 0:
            raise DataError("X has 0 features: the table has no columns.")
        X = self._mark_missing(X)
        n = X.shape[0] if hasattr(X, "shape") and len(X.shape) else len(X) if hasattr(X, "__len__") else 0
        if (
            lengths is None
            and y is not None
            and np.ndim(y) == 1
            and len(y) != n
            and np.asarray(y).dtype.kind in "iu"
        ):
            lengths = y
        if lengths is None:
            return X, [n] if n else None, 0
        lengths = np.atleast_1d(np.asarray(lengths))
        if lengths.dtype.kind in "iu" and self.end:
            return X, lengths[lengths > 0], int((lengths == 0).sum())
        return X, lengths, 0

    def _mark_missing(self, X: Any) -> Any:
        return X

    def _start(self, rows: Rows, rng: np.random.Generator) -> HiddenChain:
        K, mask = self.n_components, self._mask()
        sample = starts.sample_rows(rows)
        fresh = self._is_fresh("s", "startprob_")
        start = starts.random_start(K, rng) if fresh else self._given("startprob_", (K,))
        if self._is_fresh("t", "transmat_"):
            trans = starts.random_transitions(mask, rng)
            end = np.where(mask.any(axis=1), 0.1, 1.0) if self.end else None
            trans = trans * 0.9 if self.end else trans
        else:
            trans = self._given("transmat_", (K, K))
            end = self._given("endprob_", (K,)) if self.end else None
        if self.start == "stationary":
            start = stationary(trans)
        chain = HiddenChain(start, trans, end, self._start_emission(sample, rng))
        return self._perturbed(chain, sample, rng)

    def _is_fresh(self, letter: str, name: str) -> bool:
        """Tell whether a parameter is to be initialized: where `init_params` says so, or nobody has set it."""
        known = hasattr(self, name)
        if letter in self.init_params and known and not hasattr(self, "trace_"):  # set by hand, not by a fit
            log.warning(
                "%s.%s is set, and will be overwritten, for init_params=%r holds %r.",
                type(self).__name__,
                name.strip("_") + "_",
                self.init_params,
                letter,
            )
        return letter in self.init_params or not known

    def _given(self, name: str, shape: tuple[int, ...]) -> Array:
        value = getattr(self, name, None)
        if value is None:
            raise DataError(f"init_params={self.init_params!r} leaves {name} to you: set it before fit.")
        value = np.array(value, dtype=np.float64)
        if value.shape != shape:
            raise DataError(f"{name} must have shape {shape}; got {value.shape}.")
        return value

    def _perturbed(self, chain: HiddenChain, X: Array, rng: np.random.Generator) -> HiddenChain:
        """States that are all alike stay alike under EM: make them differ."""
        K = self.n_components
        if (
            K == 1
            or np.ptp(chain.trans, axis=0).any()
            or np.ptp(chain.emission.log_density(X[:100]), axis=1).any()
        ):
            return chain
        warn("all states start alike and EM could never tell them apart; their emissions were perturbed.")
        weights = rng.dirichlet(np.full(K, 5.0), len(X))
        return chain._replace(emission=chain.emission.estimate(chain.emission.statistics(X, weights)))

    def _mask(self) -> Array:
        K = self.n_components
        mask = (
            np.ones((K, K), dtype=bool)
            if self.transmat_mask is None
            else np.asarray(self.transmat_mask, dtype=bool)
        )
        if mask.shape != (K, K) or not (mask.any(axis=1) | bool(self.end)).all():
            raise DataError(
                f"transmat_mask must be ({K}, {K}) with at least one allowed transition in every row."
            )
        return mask

    def _step(self, rows: Rows, state: HiddenChain) -> tuple[HiddenChain, Any]:
        if rows.in_memory and rows.y is not None and (rows.y >= 0).all():
            found = self._maximize(state, total(expect_known, rows, state), rows.n_empty)
            return found, Report(float(total(score_known, rows, found)), done=True)
        if self.method == "direct":
            if set(self.params) < set("st" + self._letters):
                raise DataError(
                    f"params={self.params!r} holds some of the parameters, and method='direct' learns all of them; "
                    "use method='em'."
                )
            found, objective, gradient = climb(self, rows, state)
            return found, Report(objective, certificate=gradient, done=True)
        expected = self._expect(rows, state)
        objective = float(expected.log_p) + self._log_prior(state)
        return self._maximize(state, expected, rows.n_empty), objective

    def _expect(self, rows: Rows, state: HiddenChain) -> Any:
        partial = expect_hard if self.method == "hard" else expect
        if rows.in_memory and len(rows.lengths) == 1:  # threads then share the rows of the one sequence
            return partial(next(iter(rows.chunks())), state)
        return total(partial, rows, state)

    def _maximize(self, chain: HiddenChain, expected: Any, n_empty: int = 0) -> HiddenChain:
        """M-step: normalized expected counts, with Dirichlet priors."""
        trans, end = chain.trans, chain.end
        counts = np.maximum(expected.trans + np.asarray(self.transmat_prior) - 1.0, 0.0) * self._mask()
        if "t" in self.params:
            if self.start == "stationary":
                trans = maximize_transitions(trans, counts, expected.start, self._mask())
            elif end is None:
                trans = normalized_rows(counts, trans)
            else:
                joined = normalized_rows(
                    np.column_stack([counts, expected.end]), np.column_stack([trans, end])
                )
                trans, end = joined[:, :-1], joined[:, -1]
        start = chain.start
        if self.start == "stationary":
            start = stationary(trans)
        elif self.start == "free" and "s" in self.params:
            heads = np.maximum(expected.start + np.asarray(self.startprob_prior) - 1.0, 0.0)
            share = expected.start.sum() / (expected.start.sum() + n_empty)
            start = share * normalized_rows(heads, start / start.sum())
        emission = chain.emission
        if set(self._letters) & set(self.params):
            emission = self._maximize_emission(emission, expected.emission)
        return HiddenChain(start, trans, end, emission)

    def _log_prior(self, chain: HiddenChain) -> float:
        """Log-density of the Dirichlet priors and of the emission's, up to constants."""
        value = self._emission_log_prior(chain.emission)
        for prior, p, active in (
            (self.startprob_prior, chain.start, self.start == "free"),
            (self.transmat_prior, chain.trans, True),
        ):
            extra = np.broadcast_to(np.asarray(prior, dtype=float) - 1.0, p.shape)
            if active and extra.any():
                value += float(
                    np.where((extra != 0) & (p > 0), extra * np.log(np.where(p > 0, p, 1.0)), 0.0).sum()
                )
        return value

    def _attributes(self, state: HiddenChain) -> dict[str, Any]:
        found = {"startprob_": state.start, "transmat_": state.trans}
        if self.end:
            found |= {"endprob_": state.end, "empty_prob_": max(0.0, 1.0 - float(state.start.sum()))}
        return {
            **found,
            **self._emission_attributes(state.emission),
            "n_parameters_": self._count_free(state),
        }

    def _count_free(self, chain: HiddenChain) -> int:
        """Free numbers: open transitions less one a row (the stop among them), starts, emissions."""
        K, mask = self.n_components, self._mask()
        moves = int(mask.sum()) + (K if self.end else 0) - K
        return moves + (K - 1 if self.start == "free" else 0) + chain.emission.parameter_count()

    def _learned(self, run: Run) -> dict[str, Any]:
        found = super()._learned(run)
        history = deque(run.trace.objective.tolist())
        own = Monitor(self.tol, self.n_iter, len(history), run.converged, history, self.verbose)
        return {**found, "monitor_": own_monitor(self) or own}

    def _converged(self, report: Report, objective: float, previous: float, tol: float) -> bool:
        own = own_monitor(self)
        if own is None:
            return super()._converged(report, objective, previous, tol)
        own.report(objective)
        return bool(own.converged)

    def _learn(self, rows: Rows, **given: Any) -> Self:
        if own_monitor(self) is not None and hasattr(self.monitor_, "_reset"):
            self.monitor_._reset()
        with one_blas_thread():  # many small matrices, which threads of BLAS would only slow down
            return super()._learn(rows, **given)

    def _limit(self) -> int:
        return int(self.n_iter)

    def _finish(self, rows: Rows, state: HiddenChain) -> HiddenChain:
        """Polish stationary models, whose M-step has no closed form, by quasi-Newton ascent."""
        known = rows.in_memory and rows.y is not None
        if self.start != "stationary" or self.method != "em" or known or form_of(state.emission) is None:
            return state
        if self._log_prior(state) != 0.0 or set(self.params) != set("st" + self._letters):
            return state
        found, objective, _ = climb(self, rows, state)
        return found if objective > float(self._expect(rows, state).log_p) else state

    def _warn_not_converged(self, run: Run) -> None:
        if self.tol > 0 and len(run.trace) > 0:
            last = abs(run.trace[-1] - run.trace[-2]) if len(run.trace) > 1 else np.inf
            warn(
                f"{type(self).__name__} did not converge in n_iter={self.n_iter} steps: the last change "
                f"of the objective was "
                f"{last:.3g}, and tol={self.tol:g}. Raise n_iter or tol.",
                ConvergenceWarning,
            )

    def _chain(self) -> HiddenChain:
        """The model behind the attributes, whoever set them, checked."""
        K = self.n_components
        end = self._given("endprob_", (K,)) if self.end else None
        trans, start = self._given("transmat_", (K, K)), self._given("startprob_", (K,))
        probabilities(trans if end is None else np.column_stack([trans, end]), name="transmat_")
        probabilities(
            np.append(start, getattr(self, "empty_prob_", 0.0)) if self.end else start, name="startprob_"
        )
        emission = self._emission()
        if emission.n_components != K:
            raise DegenerateError(
                f"the emissions describe {emission.n_components} states, not n_components={K}."
            )
        return HiddenChain(start, trans, end, emission)
