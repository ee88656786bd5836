"""Replay: a memory of the last moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.linalg import Array


class Replay:
    """The last moves, in a ring."""

    def __init__(self, size: int, width: int, dtype: str = "float64") -> None:
        self.size, self.count, self.at = size, 0, 0
        self.seen, self.then = np.zeros((size, width), dtype), np.zeros((size, width), dtype)
        self.actions, self.rewards = np.zeros(size, dtype=np.int64), np.zeros(size, dtype)
        self.over = np.zeros(size, dtype)

    def add(self, seen: Array, action: int, reward: float, then: Array, over: bool) -> None:
        """Keep a move in place of the oldest."""
        i = self.at
        self.seen[i], self.actions[i], self.rewards[i], self.then[i], self.over[i] = (
            seen,
            action,
            reward,
            then,
            over,
        )
        self.at = (i + 1) % self.size
        self.count = min(self.count + 1, self.size)

    def tree(self) -> tuple[Any, ...]:
        """Return what is kept, for a checkpoint."""
        n = self.count
        return self.at, n, self.seen[:n], self.actions[:n], self.rewards[:n], self.then[:n], self.over[:n]

    def fill(self, tree: Any) -> None:
        """Take over what a checkpoint kept."""
        self.at, n, *parts = tree
        self.count = n
        for mine, theirs in zip(
            (self.seen, self.actions, self.rewards, self.then, self.over), parts, strict=True
        ):
            mine[:n] = theirs
