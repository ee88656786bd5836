"""Forward–backward, Viterbi and the E-step of hidden Markov chains, over whole chunks of sequences.

Log-densities of the emissions come in as a (T, K) table; sequences lie end to end and `offsets` say where
each begins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, ZeroEvidenceError
from gnomon.core.linalg import Array
from gnomon.core.rows import Chunk
from gnomon.core.threads import in_order
from gnomon.loops import both_ends
from gnomon.loops import chains as loops
from gnomon.sequence.statistics import BLOCK_ROWS, gather_statistics, row_blocks, tabulate


class HiddenChain(NamedTuple):
    """Start (K,), transitions (K, K) or (T, K, K), probability of stopping (K,) or None, and the
    emissions.
    """

    start: Array
    trans: Array
    end: Array | None
    emission: Any

    def stops(self) -> Array:
        return np.ones(len(self.start)) if self.end is None else self.end


class Posterior(NamedTuple):
    """What forward–backward finds: ln p of every sequence, posteriors (T, K), expected transitions (K, K)."""

    log_p: Array
    states: Array
    counts: Array


class Expected(NamedTuple):
    """Sums over sequences that Baum–Welch needs."""

    log_p: Any
    start: Array  # (K,)
    trans: Array  # (K, K)
    end: Array  # (K,)
    emission: Any

    def merge(self, other: Expected) -> Expected:
        from gnomon.core.sums import merge

        return Expected(*(merge(a, b) for a, b in zip(self, other, strict=True)))


def log(p: Array) -> Array:
    """ln p, with ln 0 = −inf and no warning."""
    with np.errstate(divide="ignore"):
        return np.log(p)


def offsets_of(chunk: Chunk) -> Array:
    """Where the sequences of a chunk begin, and where the last one ends."""
    if chunk.lengths is None:
        raise DataError("rows of a table form sequences only by a column: pass its name as lengths.")
    return np.concatenate([[0], np.cumsum(chunk.lengths)]).astype(np.int64)


def log_densities(chunk: Chunk, emission: Any) -> Array:
    """ln p(x_t | state), (T, K), by blocks of rows; known states (chunk.y ≥ 0) exclude the others."""
    table = tabulate(emission, chunk.X)
    if chunk.y is not None:
        clamp(table, chunk.y)
    return table


def clamp(table: Array, states: Array) -> None:
    """Exclude all but the known state; −1 is unknown."""
    known = np.flatnonzero(states >= 0)
    kept = table[known, states[known].astype(int)]
    table[known] = -np.inf
    table[known, states[known].astype(int)] = kept


def scaled(table: Array) -> tuple[Array, Array]:
    """Divide densities by their row maximum; return exp of the table (in place) and the logs taken out."""
    shift = np.empty(len(table))

    def scale(rows: slice) -> None:
        loops.shift_rows(table[rows], shift[rows])
        np.exp(table[rows], out=table[rows])

    for _ in in_order(scale, row_blocks(len(table))):
        pass
    return table, shift


def _as_stack(A: Array) -> Array:
    return np.ascontiguousarray(A if A.ndim == 3 else A[None])


def sum_by_sequence(values: Array, offsets: Array) -> Array:
    """Sum values over the rows of every sequence."""
    sums = np.zeros(len(offsets) - 1)
    full = np.diff(offsets) > 0
    if full.any():
        sums[full] = np.add.reduceat(values, offsets[:-1][full])
    return sums


def forward(chain: HiddenChain, table: Array, offsets: Array) -> tuple[Array, Array, Array]:
    """Return filtered probabilities (T, K), ln of their normalizers (T,), and ln p of every sequence."""
    A = _as_stack(chain.trans)
    B, shift = scaled(np.array(table))
    alpha, scale = np.empty_like(B), np.empty(len(B))
    if loops.filter_states(chain.start, A, B, offsets, alpha, scale) < 0:
        steps = np.log(scale) + shift
    else:
        alpha = _log_forward(chain, table, offsets)
        top = alpha.max(axis=1, keepdims=True)
        norm = np.log(np.exp(alpha - top).sum(axis=1)) + top[:, 0]
        alpha = np.exp(alpha - norm[:, None])
        steps = norm - np.where(np.isin(np.arange(len(norm)), offsets[:-1]), 0.0, np.roll(norm, 1))
    log_p = sum_by_sequence(steps, offsets)
    if chain.end is not None:
        log_p += log(alpha[offsets[1:] - 1] @ chain.end)
    return alpha, steps, log_p


def _log_forward(chain: HiddenChain, table: Array, offsets: Array) -> Array:
    alpha = np.empty_like(table)
    row = loops.log_filter(log(chain.start), log(_as_stack(chain.trans)), table, offsets, alpha)
    if row >= 0:
        _impossible(row, offsets)
    return alpha


def _impossible(row: int, offsets: Array) -> None:
    n = int(np.searchsorted(offsets, row, side="right")) - 1
    raise ZeroEvidenceError(
        f"sequence {n} is impossible at position {row - int(offsets[n])} under the current parameters; "
        "smooth the probabilities or start elsewhere."
    )


def smooth(chain: HiddenChain, densities: Callable[[], Array], offsets: Array) -> Posterior:
    """Forward–backward over all sequences; where scaling vanishes it is done again in logs.

    `densities` makes the table of log-densities; it is used up, so logs ask for it once more.
    """
    K, A = len(chain.start), _as_stack(chain.trans)
    B, shift = scaled(densities())
    if len(offsets) == 2 and len(A) == 1 and len(B) > BLOCK_ROWS:
        found = smooth_from_both_ends(chain, B, shift)
        return _smooth_in_logs(chain, densities(), offsets) if found is None else found
    alpha, scale, counts, mass = (
        np.empty_like(B),
        np.empty(len(B)),
        np.zeros((K, K)),
        np.empty(len(offsets) - 1),
    )
    failed = loops.filter_states(chain.start, A, B, offsets, alpha, scale)
    if failed < 0:
        failed = loops.smooth_states(A, chain.stops(), B, offsets, alpha, scale, counts, mass)
    if failed >= 0:
        return _smooth_in_logs(chain, densities(), offsets)
    counts = counts * A[0] if len(A) == 1 else counts
    return Posterior(sum_by_sequence(np.log(scale) + shift, offsets) + np.log(mass), alpha, counts)


def smooth_from_both_ends(chain: HiddenChain, B: Array, shift: Array) -> Posterior | None:
    """Forward–backward over one long sequence on two threads; None where scaling vanishes.

    One side filters the first half forward, the other the second half backward. Where they meet each has
    what the other needs to smooth the half it has not seen.
    """
    T, K = B.shape
    half = T // 2
    A, back = _as_stack(chain.trans), np.ascontiguousarray(chain.trans.T)
    table, scale, mass = np.empty_like(B), np.empty(T), np.empty(1)
    counts = np.zeros((2, K + 8, K))[:, :K]  # the sums of two threads on cache lines of their own
    front = np.array([0, half])
    sides: list[Callable[[], int]] = [
        lambda: loops.filter_states(chain.start, A, B, front, table, scale),
        lambda: both_ends.filter_back(back, chain.stops(), B, half, table, scale),
    ]
    if not _done(sides):
        return None
    belief, ahead = table[half - 1].copy(), (B[half] * table[half]) @ back
    sides = [
        lambda: both_ends.smooth_ahead(A[0], belief, B, half, table, counts[1]),
        lambda: loops.smooth_states(A, ahead, B, front, table, scale, counts[0], mass),
    ]
    if not _done(sides):
        return None
    log_p = np.log(scale).sum() + shift.sum() + np.log(mass)
    return Posterior(log_p, table, (counts[0] + counts[1]) * A[0])


def _done(sides: list[Callable[[], int]]) -> bool:
    """Run both sides, each on a thread; tell whether neither vanished at some row."""
    return max(in_order(lambda side: side(), sides)) < 0


def _smooth_in_logs(chain: HiddenChain, table: Array, offsets: Array) -> Posterior:
    K = len(chain.start)
    alpha, counts, log_p = _log_forward(chain, table, offsets), np.zeros((K, K)), np.empty(len(offsets) - 1)
    A = log(_as_stack(chain.trans))
    row = loops.log_smooth(A, log(chain.stops()), table, offsets, alpha, counts, log_p)
    if row >= 0:
        _impossible(row, offsets)
    return Posterior(log_p, alpha, counts)


def viterbi(chain: HiddenChain, table: Array, offsets: Array, *, lean: bool = False) -> tuple[Array, Array]:
    """Return the joint log-probability of the best path of every sequence, and all paths end to end."""
    path, score = np.empty(len(table), dtype=np.int64), np.empty(len(offsets) - 1)
    A, start, end = log(_as_stack(chain.trans)), log(chain.start), log(chain.stops())
    if lean:
        loops.best_paths_lean(start, A, end, table, offsets, path, score)
    else:
        longest = int(np.diff(offsets).max(initial=0))
        back = np.empty((longest, len(start)), dtype=np.int16 if len(start) < 2**15 else np.int32)
        loops.best_paths(start, A, end, table, offsets, path, back, score)
    if not np.isfinite(score).all():
        _log_forward(chain, table, offsets)  # names the row at which everything became impossible
        _impossible(int(offsets[1 + np.flatnonzero(~np.isfinite(score))[0]]) - 1, offsets)
    return score, path


def expect(chunk: Chunk, chain: HiddenChain, *, hard: bool = False) -> Expected:
    """E-step of a chunk: expected (or, when hard, most probable) starts, transitions, stops and
    emission statistics.
    """
    offsets = offsets_of(chunk)
    K = len(chain.start)
    if hard:
        log_p, path = viterbi(chain, log_densities(chunk, chain.emission), offsets)
        found = Posterior(log_p, np.eye(K)[path], path_counts(path, offsets, K))
    else:
        found = smooth(chain, lambda: log_densities(chunk, chain.emission), offsets)
    emission = gather_statistics(chain.emission, chunk.X, found.states)
    heads, tails = found.states[offsets[:-1]], found.states[offsets[1:] - 1]
    return Expected(found.log_p.sum(), heads.sum(axis=0), found.counts, tails.sum(axis=0), emission)


def expect_hard(chunk: Chunk, chain: HiddenChain) -> Expected:
    """`expect` with the single best path."""
    return expect(chunk, chain, hard=True)


def path_counts(path: Array, offsets: Array, K: int) -> Array:
    """Count transitions along known paths."""
    inside = np.ones(len(path), dtype=bool)
    inside[offsets[:-1]] = False
    t = np.flatnonzero(inside)
    return np.bincount(path[t - 1] * K + path[t], minlength=K * K).reshape(K, K).astype(np.float64)


def expect_known(chunk: Chunk, chain: HiddenChain) -> Expected:
    """The same sums where every state is known: plain counts."""
    offsets, K = offsets_of(chunk), len(chain.start)
    path = np.asarray(chunk.y, dtype=np.int64)
    known = np.eye(K)[path]
    heads, tails = known[offsets[:-1]].sum(axis=0), known[offsets[1:] - 1].sum(axis=0)
    emission = gather_statistics(chain.emission, chunk.X, known)
    return Expected(0.0, heads, path_counts(path, offsets, K), tails, emission)


def joint_log_probability(chain: HiddenChain, table: Array, path: Array, offsets: Array) -> Array:
    """ln p(x, s) of every sequence; `table` holds log-densities."""
    A = log(_as_stack(chain.trans))
    t = np.arange(len(path))
    steps = table[t, path]
    inside = np.ones(len(path), dtype=bool)
    inside[offsets[:-1]] = False
    t = t[inside]
    steps[t] += A[t if len(A) > 1 else 0, path[t - 1], path[t]]
    steps[~inside] += log(chain.start)[path[~inside]]
    return sum_by_sequence(steps, offsets) + log(chain.stops())[path[offsets[1:] - 1]]


def score_known(chunk: Chunk, chain: HiddenChain) -> Any:
    """Joint log-probability of rows and known states, summed over the chunk."""
    path = np.asarray(chunk.y, dtype=np.int64)
    table = np.asarray(chain.emission.log_density(chunk.X))
    return joint_log_probability(chain, table, path, offsets_of(chunk)).sum()
