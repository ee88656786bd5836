"""Moving in a process: episodes drawn from its chances, here or as a Gymnasium environment."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.linalg import Array
from gnomon.core.randomness import draw_seed, generator
from gnomon.core.world import Process
from gnomon.decide.policies import tables_in_time
from gnomon.loops import worlds

STEP = np.dtype(
    [
        ("episode", np.int64),
        ("t", np.int64),
        ("state", np.int64),
        ("action", np.int64),
        ("reward", np.float64),
        ("next_state", np.int64),
        ("terminated", np.bool_),
        ("truncated", np.bool_),
    ]
)


class Sampler(NamedTuple):
    """What compiled loops need to move in a process."""

    offsets: Array
    leads_to: Array
    pays: Array
    keep: Array
    other: Array
    noise: float


class Moving(Process):
    """What plays in a process."""

    rows_: Any
    start_: Array
    reward_noise: float
    _pays: Array
    _ends: Array
    _end_pays: Array

    @cached_property
    def _sampler(self) -> Sampler:
        """Alias tables of all outcomes; an end is an outcome too."""
        rows = self.rows_
        ending = (self._ends > 0).ravel()
        offsets = np.concatenate([[0], np.cumsum(np.diff(rows.indptr) + ending)]).astype(np.int64)
        at = np.arange(rows.nnz) + np.repeat(offsets[:-1] - rows.indptr[:-1], np.diff(rows.indptr))
        last = offsets[1:][ending] - 1
        leads_to, pays, chances = np.full(offsets[-1], -1), np.empty(offsets[-1]), np.empty(offsets[-1])
        leads_to[at], pays[at], chances[at] = rows.indices, self._pays, rows.data
        pays[last], chances[last] = self._end_pays.ravel()[ending], self._ends.ravel()[ending]
        keep, other = np.empty(offsets[-1]), np.empty(offsets[-1], dtype=np.int64)
        worlds.alias_tables(offsets, chances, keep, other)
        return Sampler(offsets, leads_to, pays, keep, other, self.reward_noise)

    @cached_property
    def _cumulative_start(self) -> Array:
        return np.cumsum(self.start_)

    def simulate(
        self,
        policy: Any,
        n_episodes: int = 1,
        max_steps: int = 1000,
        *,
        start: int | None = None,
        random_state: Any = None,
    ) -> Array:
        """Play episodes; return a structured array with a row for every step.

        Parameters
        ----------
        policy : (S,) actions, (S, A) chances, (H, S) actions by steps to go, or Policy
        n_episodes, max_steps : int
        start : int, optional
            Where every episode begins; drawn from the start distribution by default.
        random_state : int, Generator or None

        Returns
        -------
        structured array
            episode, t, state, action, reward, next_state (−1 after an end), terminated, truncated.
        """
        tables = tables_in_time(policy, self)
        if tables.shape[0] > 1:
            max_steps = min(max_steps, tables.shape[0])
        seed, room = draw_seed(generator(random_state)), max(64, 16 * n_episodes)
        first = -1 if start is None else int(start)
        while True:
            steps, rewards = np.empty((room, 6), dtype=np.int64), np.empty(room)
            written = worlds.play(
                *self._sampler,
                self._cumulative_start,
                tables,
                first,
                seed,
                0,
                n_episodes,
                max_steps,
                steps,
                rewards,
            )
            if written >= 0:
                return _as_steps(steps[:written], rewards[:written])
            room *= 4

    def to_env(self, max_steps: int | None = None) -> Any:
        """Return a Gymnasium environment with Discrete spaces that moves as this process does.

        Parameters
        ----------
        max_steps : int, optional
            Truncate episodes after so many steps.
        """
        from gnomon.decide.environments import MDPEnv

        return MDPEnv(self, max_steps)


def _as_steps(steps: Array, rewards: Array) -> Array:
    found = np.empty(len(steps), dtype=STEP)
    for at, name in enumerate(("episode", "t", "state", "action", "next_state")):
        found[name] = steps[:, at]
    found["reward"], found["truncated"] = rewards, steps[:, 5] == 1
    found["terminated"] = steps[:, 4] < 0
    return found
