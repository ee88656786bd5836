"""Whole episodes played side by side, and what their moves were worth."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.linalg import Array
from gnomon.decide import environments as play
from gnomon.decide.networks import (
    Sight,
)
from gnomon.decide.tabular import episode_keys


class Batch(NamedTuple):
    """Whole episodes, laid end to end."""

    seen: Array  # (n, d)
    actions: Array
    rewards: Array
    begins: Array  # where episodes begin, with the end last
    last: Array  # (episodes, d): what was seen at the end
    terminated: Array  # (episodes,)

    def returns(self) -> Array:
        """Return the sum of rewards of every episode."""
        return np.add.reduceat(self.rewards, self.begins[:-1])


class Work(NamedTuple):
    """Where the agent acts, and how it sees."""

    world: Any
    envs: list[Any]
    sight: Sight
    n_actions: int


class Runner:
    """An episode under way."""

    def __init__(self, env: Any, sight: Sight, seed: int, episode: int) -> None:
        reset, key = episode_keys(seed, episode)
        self.env, self.sight, self.draws, self.episode = env, sight, play.Stream(key), episode
        self.seen = [sight.vector(play.reset(env, reset))]
        self.actions: list[int] = []
        self.rewards: list[float] = []
        self.terminated = False

    def move(self, chances: Array, max_steps: int) -> bool:
        """Act once; return whether the episode is over."""
        a = int(min((np.cumsum(chances) <= self.draws.random()).sum(), len(chances) - 1))
        shown, reward, self.terminated, truncated = play.step(self.env, a)
        self.seen.append(self.sight.vector(shown))
        self.actions.append(a)
        self.rewards.append(reward)
        return self.terminated or truncated or len(self.actions) >= max_steps


def play_batch(
    work: Work,
    chances: Any,
    seed: int,
    first: int,
    max_steps: int,
    n_steps: int | None,
    n_episodes: int | None,
    most: int | None = None,
) -> Batch:
    """Play whole episodes side by side until there are enough moves or episodes; after `most` moves all are cut off."""
    done: list[Runner] = []
    running: list[Runner] = []
    free, following, made = list(work.envs), first, 0

    def wanted() -> bool:
        if n_episodes is not None:
            return following < first + n_episodes
        return made + sum(len(one.actions) for one in running) < (n_steps or 1)

    while True:
        while free and wanted():
            running.append(Runner(free.pop(), work.sight, seed, following))
            following += 1
        if not running:
            break
        left = len(running) if most is None else most - made - sum(len(one.actions) for one in running)
        if left <= 0:
            done += [one for one in running if one.actions]
            break
        moving, still = running[:left], running[left:]
        table = chances(np.array([one.seen[-1] for one in moving]))
        for one, row in zip(moving, table, strict=True):
            if one.move(row, max_steps):
                done.append(one)
                free.append(one.env)
                made += len(one.actions)
            else:
                still.append(one)
        running = still
    done.sort(key=lambda one: one.episode)
    begins = np.concatenate([[0], np.cumsum([len(one.actions) for one in done])])
    return Batch(
        np.concatenate([one.seen[:-1] for one in done]),
        np.concatenate([one.actions for one in done]),
        np.concatenate([one.rewards for one in done]),
        begins,
        np.array([one.seen[-1] for one in done]),
        np.array([one.terminated for one in done]),
    )


def returns_to_go(batch: Batch, discount: float) -> Array:
    """Return the discounted return from every step on; nothing follows the end of an episode."""
    out = np.empty(len(batch.rewards))
    for i, j in zip(batch.begins[:-1], batch.begins[1:], strict=True):
        total = 0.0
        for t in range(j - 1, i - 1, -1):
            total = batch.rewards[t] + discount * total
            out[t] = total
    return out


def advantages(batch: Batch, values: Array, last: Array, discount: float, decay: float) -> Array:
    """Return generalized advantage estimates (Schulman et al. 2016); `last` are values of the last observations."""
    out = np.empty(len(batch.rewards))
    for e, (i, j) in enumerate(zip(batch.begins[:-1], batch.begins[1:], strict=True)):
        after, total = 0.0 if batch.terminated[e] else last[e], 0.0
        for t in range(j - 1, i - 1, -1):
            off = batch.rewards[t] + discount * after - values[t]
            total = off + discount * decay * total
            out[t] = total
            after = values[t]
    return out
