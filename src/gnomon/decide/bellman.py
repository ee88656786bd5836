"""Bellman's operator: backups in chunks of states, bounds on the optimal value, chains of policies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.threads import shared
from gnomon.core.validate import warn
from gnomon.decide.forms import with_short_indices
from gnomon.loops import planning, worlds

CHUNK = 2**14  # states that one thread sweeps at once


class Contraction(NamedTuple):
    """The largest and the smallest factor by which a backup shrinks a difference: γ times a row sum."""

    high: float
    low: float


def check_discount(discount: Any) -> float:
    """Return γ after checking that it lies in [0, 1]."""
    g = float(discount)
    if not 0.0 <= g <= 1.0:
        raise DataError(f"discount must be between 0 and 1; got {discount!r}.")
    return g


def discount_of(mdp: Any, discount: float | None) -> float:
    """Return the discount to use: the one given, else that of the process; two that differ are refused."""
    if discount is None:
        if mdp.discount is None:
            raise DataError(
                "there is no discount: give it to the MDP or to the planner (discount=0.95, say)."
            )
        return float(mdp.discount)
    g = check_discount(discount)
    if mdp.discount is not None and mdp.discount != g:
        raise DataError(
            f"the planner's discount {g:g} differs from the process's {mdp.discount:g}; give one, or "
            f"use mdp.with_discount({g:g})."
        )
    return g


def check_values(V: Any, S: int, name: str = "V") -> Array:
    """Return a value function as float64 after checking length and entries."""
    values = np.array(V, dtype=np.float64)
    if values.shape != (S,):
        raise DataError(
            f"{name} must have one number for each of the {S} states; its shape is {values.shape}."
        )
    if not np.isfinite(values).all():
        raise DataError(f"{name} has NaN or infinite entries.")
    return values


def arrays(mdp: Any) -> tuple[Any, ...]:
    """Return what the compiled sweeps take first."""
    rows = mdp.rows_
    return rows.indptr, rows.indices, rows.data, mdp.expected_rewards_


def over_states(function: Callable[[int, int], Any], S: int) -> list[Any]:
    """Return ``function(begin, end)`` for chunks of states, on all threads; borders depend on S alone."""
    if S <= CHUNK:
        return [function(0, S)]
    return shared(lambda begin: function(begin, min(begin + CHUNK, S)), range(0, S, CHUNK))


def q_values(mdp: Any, V: Array, discount: float) -> Array:
    """Return r + γTV as (S, A)."""
    Q = np.empty((mdp.n_states, mdp.n_actions))
    alive = mdp.available.view(np.uint8)
    parts = arrays(mdp)
    over_states(lambda i, j: planning.action_values(*parts, alive, V, discount, i, j, Q), mdp.n_states)
    return Q


def backup(
    mdp: Any, V: Array, discount: float, alive: Array, margin: float = np.inf
) -> tuple[Array, Array, float, float]:
    """Return BV, its actions, and the smallest and largest entry of BV − V; actions behind by more than `margin`
    die.
    """
    S = mdp.n_states
    best, choice, parts = np.empty(S), np.empty(S, dtype=np.int64), arrays(mdp)
    found = over_states(
        lambda i, j: planning.backup_states(*parts, alive, V, discount, i, j, margin, best, choice), S
    )
    return best, choice, min(low for low, _ in found), max(high for _, high in found)


def sweep_policy(mdp: Any, policy: Array, V: Array, discount: float, times: int = 1) -> Array:
    """Return V after so many sweeps V ← r_π + γP_πV of a deterministic policy."""
    P, r = induced(mdp, policy)
    for _ in range(times):
        V = sweep_chain(P, r, V, discount)
    return V


def sweep_chain(P: Any, r: Array, V: Array, discount: float) -> Array:
    """Return r + γPV."""
    out = np.empty(len(r))
    P = with_short_indices(P)
    parts = P.indptr, P.indices, P.data, r
    over_states(lambda i, j: planning.sweep_chain(*parts, discount, i, j, V, out), len(r))
    return out


def contraction(mdp: Any, discount: float) -> Contraction:
    """Return the factors of a process at a discount."""
    return Contraction(discount * mdp.max_row_sum_, discount * mdp.min_row_sum_)


def offsets(low: float, high: float, c: Contraction) -> tuple[float, float]:
    """Return what is to be added to BV for the lower and the upper bound, from min and max of BV − V."""
    if c.high >= 1.0:
        return -np.inf, np.inf
    below = low * (c.high / (1.0 - c.high) if low < 0 else c.low / (1.0 - c.low))
    above = high * (c.high / (1.0 - c.high) if high > 0 else c.low / (1.0 - c.low))
    return below, above


def value_bounds(mdp: Any, V: Array, discount: float) -> tuple[Array, Array]:
    """Return lower and upper bounds of the optimal values."""
    best, _, low, high = backup(mdp, V, discount, mdp.available.view(np.uint8))
    c = contraction(mdp, discount)
    if c.high >= 1.0:
        warn("value bounds need a discount below 1 or an end in every row: they are infinite here.")
    below, above = offsets(low, high, c)
    return best + below, best + above


def induced(mdp: Any, policy: Any) -> tuple[Any, Array]:
    """Return P_π as CSR and r_π."""
    from gnomon.decide.policies import as_table

    table = as_table(policy, mdp)
    S, A = mdp.n_states, mdp.n_actions
    if table.ndim == 1:
        pick = np.arange(S) * A + table
        return sparse.csr_array(mdp.rows_[pick]), mdp.expected_rewards_.ravel()[pick]
    weights = sparse.csr_array(
        (table.ravel(), np.arange(S * A), np.arange(0, S * A + 1, A)), shape=(S, S * A)
    )
    return sparse.csr_array(weights @ mdp.rows_), (table * mdp.expected_rewards_).sum(axis=1)


def sampled_targets(
    mdp: Any, V: Array, discount: float, n_samples: int, seed: int, rows: Array | None = None
) -> tuple[Array, Array]:
    """Return the mean of sampled targets R + γV(s′) of every row, and its standard error."""
    if n_samples < 1:
        raise DataError(f"n_samples must be at least 1; got {n_samples}.")
    which = np.arange(mdp.n_states * mdp.n_actions) if rows is None else rows
    mean, error = np.empty(len(which)), np.empty(len(which))
    worlds.sample_targets(*mdp._sampler, V, discount, which, n_samples, seed, mean, error)
    return mean, error


def state_graph(mdp: Any) -> Any:
    """Return which state can lead to which under some available action, as CSR of counts."""
    S, A = mdp.n_states, mdp.n_actions
    rows = mdp.rows_
    merged = sparse.csr_array((np.ones(rows.nnz), rows.indices.copy(), rows.indptr[::A].copy()), shape=(S, S))
    merged.sum_duplicates()
    return merged


def reachable(graph: Any, begin: Array) -> Array:
    """Return which nodes of a square CSR graph can be reached from some."""
    S = graph.shape[0]
    seen, queue = np.zeros(S, dtype=np.uint8), np.empty(S + len(begin), dtype=np.int64)
    first = np.unique(begin)
    seen[first], queue[: len(first)] = 1, first
    planning.reach(graph.indptr, graph.indices, seen, queue, len(first))
    return seen.astype(bool)


def check_can_end(mdp: Any) -> None:
    """Refuse an undiscounted process in which some state can never come to an end."""
    ending = np.flatnonzero(((mdp._ends > 0) & mdp.available).any(axis=1))
    ends = (
        reachable(sparse.csr_array(state_graph(mdp).T), ending)
        if len(ending)
        else np.zeros(mdp.n_states, bool)
    )
    if not ends.all():
        s = int(np.argmin(ends))
        raise DataError(
            f"discount is 1 and no end can be reached from state {s} (nor from "
            f"{int((~ends).sum()) - 1} others): the sum of rewards "
            "may be infinite. Give a discount below 1, a terminal state or termination, or use FiniteHorizon."
        )
