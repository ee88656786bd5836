"""The forms in which a decision process may be given, brought into one: stacked CSR rows and rewards beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array

LAYOUTS = ("sas", "ass", "rows")
REWARDS_ON = ("action", "state", "next_state")


class Outcomes(NamedTuple):
    """A process as a list: what may happen after each action, one entry per outcome."""

    rows: Array  # state * n_actions + action
    next_states: Array
    chances: Array
    rewards: Array
    ends: Array  # bool: the episode is over


def stacked_rows(transitions: Any, layout: str | None) -> tuple[Any, int]:
    """Return the (S·A, S) CSR array of all transition rows and the number of actions."""
    if layout is not None and layout not in LAYOUTS:
        raise DataError(f"layout must be one of {LAYOUTS} or None; got {layout!r}.{nearest(layout, LAYOUTS)}")
    if sparse.issparse(transitions):
        return _from_rows(transitions, layout)
    if isinstance(transitions, Sequence) and len(transitions) and all(map(sparse.issparse, transitions)):
        return _from_matrices(transitions, layout)
    T = np.asarray(transitions, dtype=np.float64)
    if layout == "rows" and T.ndim == 2:
        return _from_rows(T, layout)
    if T.ndim != 3:
        raise DataError(
            f"transitions must be (S, A, S), (A, S, S), stacked rows (S·A, S) or a list of sparse S×S "
            f"matrices; its shape is {T.shape}."
        )
    layout = layout or _guessed(T.shape)
    if layout == "ass":
        T = T.transpose(1, 0, 2)
    S, A, last = T.shape
    if S != last:
        raise DataError(
            f"transitions of shape {T.shape} do not lead from S states to S states; layout is {layout!r}."
        )
    return sparse.csr_array(T.reshape(S * A, S)), A


def _guessed(shape: tuple[int, ...]) -> str:
    first, second, last = shape
    if first == second == last:
        raise DataError(
            f"transitions of shape {shape} could be (S, A, S) or (A, S, S); say which with "
            f"layout='sas' or layout='ass'."
        )
    if first == last:
        return "sas"
    if second == last:
        return "ass"
    raise DataError(f"transitions of shape {shape} are neither (S, A, S) nor (A, S, S).")


def _from_rows(rows: Any, layout: str | None) -> tuple[Any, int]:
    rows = sparse.csr_array(rows)
    if layout not in (None, "rows") or rows.shape[1] == 0 or rows.shape[0] % rows.shape[1]:
        raise DataError(
            f"stacked rows must be (S·A, S), row s·A + a for state s and action a, with "
            f"layout='rows'; got shape {rows.shape}."
        )
    return rows, rows.shape[0] // rows.shape[1]


def _from_matrices(matrices: Sequence[Any], layout: str | None) -> tuple[Any, int]:
    if layout not in (None, "ass"):
        raise DataError(f"a list of sparse matrices has layout='ass', one matrix an action; got {layout!r}.")
    S, A = matrices[0].shape[0], len(matrices)
    if any(matrix.shape != (S, S) for matrix in matrices):
        raise DataError(f"every matrix of transitions must be {S}×{S}; got {[m.shape for m in matrices]}.")
    stacked = sparse.vstack([sparse.csr_array(matrix) for matrix in matrices], format="csr")
    order = (np.arange(A) * S + np.arange(S)[:, None]).ravel()  # row s·A + a is row a·S + s of the stack
    return sparse.csr_array(stacked[order]), A


def canonical(rows: Any) -> Any:
    """Return rows as float64 CSR with sorted 32-bit indices and neither duplicates nor zeros."""
    rows = sparse.csr_array(rows, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return with_short_indices(rows)


def with_short_indices(rows: Any) -> Any:
    """Return CSR with 32-bit indices where they suffice, as loops are compiled for: SciPy's own vary."""
    if rows.indices.dtype == rows.indptr.dtype == np.int32 or max(rows.shape[1], rows.nnz) >= 2**31:
        return rows
    parts = rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return sparse.csr_array(parts, shape=rows.shape)


def entry_rewards(
    rewards: Any, reward_on: str, rows: Any, S: int, A: int
) -> tuple[Array, Array, Array | None]:
    """Return what every entry of the rows pays, what the end of an episode pays in (S, A), and r(s, a) where it
    was given.
    """
    if reward_on not in REWARDS_ON:
        raise DataError(
            f"reward_on must be one of {REWARDS_ON}; got {reward_on!r}.{nearest(reward_on, REWARDS_ON)}"
        )
    if sparse.issparse(rewards):
        given = sparse.csr_array(rewards)
        if given.shape != rows.shape:
            raise DataError(
                f"sparse rewards must have the shape of the stacked rows {rows.shape}; got {given.shape}."
            )
        _finite(given.data)
        return _at_entries(given, rows), np.zeros((S, A)), None
    R = np.asarray(rewards, dtype=np.float64)
    _finite(R)
    if R.ndim == 0:
        R = np.full((S, A), float(R))
    if R.ndim == 1:
        return _per_state(R, reward_on, rows, S, A)
    if R.shape == (S, A):
        return np.repeat(R.ravel(), np.diff(rows.indptr)), R.copy(), R.copy()
    if R.shape == (S, A, S):
        at = np.repeat(np.arange(S * A), np.diff(rows.indptr))
        return R.reshape(S * A, S)[at, rows.indices], np.zeros((S, A)), None
    raise DataError(
        f"rewards must be a number, ({S},) with reward_on, ({S}, {A}) or ({S}, {A}, {S}); their shape is {R.shape}."
    )


def _per_state(R: Array, reward_on: str, rows: Any, S: int, A: int) -> tuple[Array, Array, Array | None]:
    if reward_on == "action":
        raise DataError(
            "rewards have one number a state; say with reward_on='state' or 'next_state' whether it "
            "is paid on leaving or on arrival."
        )
    if len(R) != S:
        raise DataError(f"rewards have {len(R)} numbers, and there are {S} states.")
    if reward_on == "next_state":
        return R[rows.indices], np.zeros((S, A)), None
    table = np.repeat(R[:, None], A, axis=1)
    return np.repeat(table.ravel(), np.diff(rows.indptr)), table, table.copy()


def _finite(values: Array) -> None:
    if not np.isfinite(values).all():
        place = np.argwhere(~np.isfinite(values))[0].tolist()
        raise DataError(f"rewards must be finite; the entry at {place} is {values[tuple(place)]}.")


def _at_entries(given: Any, rows: Any) -> Array:
    """Return the numbers of one sparse matrix at the entries of another."""
    if np.array_equal(given.indptr, rows.indptr) and np.array_equal(given.indices, rows.indices):
        return np.asarray(given.data, dtype=np.float64)
    at = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    return np.asarray(given[at, rows.indices], dtype=np.float64).ravel()


def outcomes_of_table(table: Any) -> tuple[Outcomes, int, int]:
    """Return the outcomes of ``{state: {action: [(chance, next state, reward, ends), ...]}}``, as Gymnasium keeps
    them.
    """
    S = len(table)
    A = max(len(table[s]) for s in range(S)) if S else 0
    flat = [
        (s * A + a, int(to), float(p), float(reward), bool(ends))
        for s in range(S)
        for a in range(A)
        for p, to, reward, ends in table[s][a]
    ]
    return _outcomes(flat), S, A


def outcomes_of_function(function: Callable[[int, int], Iterable[Any]], S: int, A: int) -> Outcomes:
    """Return the outcomes that ``function(state, action)`` lists as (chance, next state, reward[, ends])."""
    flat = []
    for s in range(S):
        for a in range(A):
            for told in function(s, a):
                p, to, reward, *ends = told
                flat.append((s * A + a, int(to), float(p), float(reward), bool(ends[0]) if ends else False))
    return _outcomes(flat)


def _outcomes(flat: list[tuple[int, int, float, float, bool]]) -> Outcomes:
    columns = list(zip(*flat, strict=True)) or [()] * 5
    kinds = (np.int64, np.int64, np.float64, np.float64, np.bool_)
    return Outcomes(*(np.array(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True)))


def merged(found: Outcomes, S: int, A: int) -> tuple[Any, Array, Array, Array]:
    """Return rows, what their entries pay, the chance of an end in (S, A) and what it pays; outcomes that agree
    are added.
    """
    outside = found.next_states[(found.next_states < 0) | (found.next_states >= S)]
    if len(outside):
        raise DataError(f"an outcome leads to state {outside[0]}, and there are {S} states.")
    on = ~found.ends & (found.chances != 0)
    shape = (S * A, S)
    places = (found.rows[on], found.next_states[on])
    rows = canonical(sparse.coo_array((found.chances[on], places), shape=shape))
    worth = sparse.csr_array(sparse.coo_array((found.chances[on] * found.rewards[on], places), shape=shape))
    pays = _at_entries(worth, rows) / rows.data
    ends = np.bincount(found.rows[found.ends], found.chances[found.ends], minlength=S * A)
    paid = np.bincount(
        found.rows[found.ends], found.chances[found.ends] * found.rewards[found.ends], minlength=S * A
    )
    end_pays = np.divide(paid, ends, out=np.zeros(S * A), where=ends > 0)
    return rows, pays, ends.reshape(S, A), end_pays.reshape(S, A)
