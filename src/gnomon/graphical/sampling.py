"""Drawing from networks: ancestral, by rejection, weighted by likelihood, by Gibbs sweeps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gnomon.core.errors import DataError, DegenerateError
from gnomon.core.linalg import Array
from gnomon.graphical.evidence import impossible
from gnomon.graphical.inference import possible
from gnomon.graphical.net import Net
from gnomon.graphical.offsets import starts
from gnomon.loops import factor_gibbs as gibbs_loops
from gnomon.loops import junction as loops


def family_rows(net: Net, v: int, codes: Array) -> Array:
    """Return the parent configuration of every row, as a mixed-radix number."""
    row = np.zeros(len(codes), dtype=np.int64)
    for p in net.parents[v]:
        row = row * net.cards[p] + codes[:, p]
    return row


def ancestral(net: Net, n: int, rng: np.random.Generator, seen: Mapping[int, int]) -> tuple[Array, Array]:
    """Draw n rows, parents first; observed nodes are kept, and weigh ln P(observed | drawn parents)."""
    codes = np.empty((n, len(net)), dtype=np.int64, order="F")
    log_weights = np.zeros(n)
    for v in net.order:
        table = net.tables[v].reshape(-1, net.cards[v])
        row = family_rows(net, v, codes)
        if v in seen:
            codes[:, v] = seen[v]
            with np.errstate(divide="ignore"):
                log_weights += np.log(table[row, seen[v]])
        else:
            loops.draw(np.cumsum(table, axis=1), row, rng.random(n), codes[:, v])
    return codes, log_weights


def rejection(
    net: Net, n: int, rng: np.random.Generator, seen: Mapping[int, int], max_tries: int
) -> tuple[Array, float]:
    """Draw from the network and keep what agrees with the evidence; returns rows and the acceptance rate."""
    kept, found, tries = [], 0, 0
    while found < n:
        if tries >= max_tries:
            raise DegenerateError(
                f"rejection kept {found} of {tries} draws and {n} were asked for: the evidence is rare. Raise "
                "max_tries, or use method='exact' or 'likelihood_weighting'."
            )
        m = int(min(max(4096, 1.2 * (n - found) * max(tries, 1) / max(found, 1)), 2**20, max_tries - tries))
        codes, _ = ancestral(net, m, rng, {})
        good = np.ones(m, dtype=bool)
        for v, code in seen.items():
            good &= codes[:, v] == code
        kept.append(codes[good])
        found, tries = found + int(good.sum()), tries + m
    if not kept:  # nothing was asked for
        return np.empty((0, len(net)), dtype=np.int64), 1.0
    return np.concatenate(kept)[:n], found / tries


def weighted(net: Net, n: int, rng: np.random.Generator, seen: Mapping[int, int]) -> tuple[Array, Array]:
    """Draw n rows with the evidence held fixed; returns them with their weights (largest 1)."""
    codes, log_weights = ancestral(net, n, rng, seen)
    top = log_weights.max()
    if top == -np.inf:
        if not possible(net, net, seen):
            raise impossible(net, seen, lambda some: possible(net, net, some))
        raise DegenerateError(
            f"none of {n} weighted samples agrees with the evidence, which is possible but rare. Draw more, or use "
            "an exact method."
        )
    return codes, log_weights


class Sweeps(NamedTuple):
    """Factors as the Gibbs loop reads them."""

    cards: Array
    scope_start: Array  # by factor
    scope: Array
    strides: Array
    table_start: Array
    member_start: Array  # by variable
    member: Array  # the factors that hold it


def sweep_arrays(
    scopes: Sequence[Sequence[int]], tables: Sequence[Array], cards: Sequence[int]
) -> tuple[Sweeps, Array]:
    """Return the arrays of the Gibbs loop and the logarithms of all entries."""
    steps = []
    members: list[list[int]] = [[] for _ in cards]
    for f, scope in enumerate(scopes):
        sizes = [cards[u] for u in scope]
        steps += [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
        for u in scope:
            members[u].append(f)
    with np.errstate(divide="ignore"):
        logs = np.log(np.concatenate([np.ravel(table) for table in tables]))
    arrays = Sweeps(
        np.array(cards, dtype=np.int64),
        starts([len(scope) for scope in scopes]),
        np.array([u for scope in scopes for u in scope], dtype=np.int64),
        np.array(steps, dtype=np.int64),
        starts([table.size for table in tables]),
        starts([len(own) for own in members]),
        np.array([f for own in members for f in own], dtype=np.int64),
    )
    return arrays, logs


def first_rows(net: Net, chains: int, rng: np.random.Generator, seen: Mapping[int, int]) -> Array:
    """Return rows that agree with the evidence and are possible, to begin sweeps from."""
    codes, log_weights = weighted(net, max(1000, 50 * chains), rng, seen)
    shares = np.exp(log_weights - log_weights.max())
    return np.ascontiguousarray(codes[rng.choice(len(codes), size=chains, p=shares / shares.sum())])


def check_connected(net: Net, seen: Mapping[int, int], force: bool) -> None:
    """Refuse Gibbs sweeps where zeros in the tables may keep the chain in one part of the space."""
    if force:
        return
    for v in range(len(net)):
        if v in seen and all(p in seen for p in net.parents[v]):
            continue
        if (net.tables[v] == 0).any():
            raise DegenerateError(
                f"the table of {net.variables[v]!r} has zeros, so changing one variable at a time may never leave "
                "part of the space and the answer would be wrong. Use method='exact' or 'likelihood_weighting', or "
                "force=True if you know that all states can be reached."
            )


def sweep(
    arrays: Sweeps, logs: Array, codes: Array, rng: np.random.Generator, free: Array, times: int
) -> None:
    """Redraw every free variable of every chain `times` times, given its Markov blanket; codes are changed."""
    for _ in range(times):
        gibbs_loops.sweep(arrays, logs, codes, free, rng.random((len(codes), len(free))))


def gibbs(
    net: Net,
    n: int,
    rng: np.random.Generator,
    seen: Mapping[int, int],
    *,
    burn_in: int,
    thin: int,
    chains: int,
    force: bool,
) -> Array:
    """Draw n rows from `chains` chains after `burn_in` sweeps, one row every `thin` sweeps."""
    if burn_in < 0 or thin < 1 or chains < 1:
        raise DataError(
            f"burn_in must be at least 0, thin and chains at least 1; got {burn_in}, {thin}, {chains}."
        )
    check_connected(net, seen, force)
    arrays, logs = sweep_arrays([net.family(v) for v in range(len(net))], net.tables, net.cards)
    codes = first_rows(net, chains, rng, seen)
    free = np.array([v for v in range(len(net)) if v not in seen], dtype=np.int64)
    sweep(arrays, logs, codes, rng, free, burn_in)
    kept = []
    for _ in range(-(-n // chains)):
        sweep(arrays, logs, codes, rng, free, thin)
        kept.append(codes.copy())
    return np.concatenate(kept)[:n] if kept else codes[:0]


def log_probabilities(net: Net, codes: Array) -> Array:
    """Return ln P of complete rows of codes."""
    total = np.zeros(len(codes))
    for v in range(len(net)):
        with np.errstate(divide="ignore"):
            logs = np.log(net.tables[v].reshape(-1, net.cards[v]))
        total += logs[family_rows(net, v, codes), codes[:, v]]
    return total
