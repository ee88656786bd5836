"""Journeys: observations with the actions between them, and the recursions along one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.data import Data, digest_of
from gnomon.core.errors import DataError, ZeroEvidenceError
from gnomon.core.linalg import Array


class Journeys(Data):
    """Sequences of observations with the actions between them."""

    def __init__(self, journeys: list[tuple[Array, Array]]) -> None:
        self.journeys = journeys

    def digest(self) -> str:
        """Name all observations and actions."""
        return digest_of(*[part for one in self.journeys for part in one])

    def __len__(self) -> int:
        return len(self.journeys)

    def take(self, units: Any) -> Journeys:
        """Return some of the journeys."""
        return Journeys([self.journeys[int(i)] for i in np.asarray(units)])


class Chances(NamedTuple):
    """The parameters of the model."""

    start: Array  # (S,)
    moves: Array  # (A, S, S)
    shows: Array  # (S, O) or (A, S, O)


class Passage(NamedTuple):
    """Scaled recursions over one journey."""

    filtered: Array  # (T, S)
    smoothed: Array  # (T, S)
    pairs: Array  # (A, S, S) expected moves by action
    log_likelihood: float


def are_pairs(journeys: Any) -> bool:
    """Return whether this is a list of pairs (observations, actions)."""
    return isinstance(journeys, list) and all(isinstance(one, tuple) and len(one) == 2 for one in journeys)


def taken_apart(journeys: Any) -> tuple[list[Any], list[Any]]:
    """Return the observations and the actions of a list of pairs."""
    if not are_pairs(journeys) or not journeys:
        raise DataError("without actions, give a list of pairs (observations, actions), at least one.")
    return [one[0] for one in journeys], [one[1] for one in journeys]


def shown(chances: Chances, action: int) -> Array:
    """Return the chances of the observations in every state, after an action."""
    return chances.shows[action] if chances.shows.ndim == 3 else chances.shows


def normalized(counts: Array, before: Array) -> Array:
    """Rows divided by their sums; rows that were never used stay as they were."""
    sums = counts.sum(axis=-1, keepdims=True)
    return np.where(sums > 0, counts / np.where(sums > 0, sums, 1.0), before)


def passage(chances: Chances, o: Array, a: Array) -> Passage:
    """Return the scaled forward and backward recursions of one journey."""
    T, S = len(o), len(chances.start)
    alpha, beta, scale = np.empty((T, S)), np.ones((T, S)), np.empty(T)
    row = chances.start
    for t in range(T):
        action = a[t - 1] if t else 0
        row = row * shown(chances, action)[:, o[t]]
        scale[t] = row.sum()
        if scale[t] <= 0:
            raise ZeroEvidenceError(
                f"observation {o[t]} at time {t} has probability zero after those before it."
            )
        alpha[t] = row / scale[t]
        row = alpha[t] @ chances.moves[a[t]] if t < T - 1 else row
    pairs = np.zeros_like(chances.moves)
    for t in range(T - 1, 0, -1):
        weight = shown(chances, a[t - 1])[:, o[t]] * beta[t] / scale[t]
        pairs[a[t - 1]] += alpha[t - 1][:, None] * chances.moves[a[t - 1]] * weight
        beta[t - 1] = chances.moves[a[t - 1]] @ weight
    return Passage(alpha, alpha * beta, pairs, float(np.log(scale).sum()))
