"""Logged moves: what agents learn from without a world."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.world import Process


class Log(Process):
    """A world of which only moves were seen."""

    def __init__(self, S: int, A: int) -> None:
        self.n_states, self.n_actions = S, A
        self.available = np.ones((S, A), dtype=bool)
        self._ends = np.ones((S, A))


def read_log(transitions: Any, needs_next: bool = False) -> dict[str, Array]:
    """Return the columns of logged moves."""
    names = getattr(getattr(transitions, "dtype", None), "names", None) or getattr(
        transitions, "columns", None
    )
    if names is not None:
        columns = {str(name): np.asarray(transitions[name]) for name in names}
    else:
        rows = [tuple(row) for row in transitions]
        if not rows:
            raise DataError("transitions are empty; give at least one move.")
        width = len(rows[0])
        order = {
            4: ("state", "action", "reward", "next_state"),
            5: ("state", "action", "reward", "next_state", "next_action" if needs_next else "terminated"),
            6: ("state", "action", "reward", "next_state", "next_action", "terminated"),
        }.get(width)
        if order is None or any(len(row) != width for row in rows):
            raise DataError(
                "transitions must be (state, action, reward, next_state[, next_action][, terminated]), all alike."
            )
        columns = {
            name: np.array(column) for name, column in zip(order, zip(*rows, strict=True), strict=True)
        }
    n = len(columns["state"])
    found = {name: np.asarray(columns[name], dtype=np.int64) for name in ("state", "action", "next_state")}
    found["reward"] = np.asarray(columns["reward"], dtype=np.float64)
    over = np.asarray(columns.get("terminated", np.zeros(n)), dtype=bool)
    cut = np.asarray(columns.get("truncated", np.zeros(n)), dtype=bool)
    follow = columns.get("next_action")
    if follow is None and needs_next:
        same = columns.get("episode", np.zeros(n))
        follow = np.append(found["action"][1:], -1)
        cut = cut | np.append(same[1:] != same[:-1], True)
        keep = over | ~cut  # the action after the last move of a cut episode is not known
        found = {name: values[keep] for name, values in found.items()}
        over, cut, follow = over[keep], cut[keep], follow[keep]
        n = len(over)
    found["next_action"] = (
        np.full(n, -1) if follow is None else np.maximum(np.asarray(follow, dtype=np.int64), 0)
    )
    return {**found, "terminated": over, "ended": over | cut}


def check_log(log: dict[str, Array], S: int, A: int) -> None:
    """Refuse moves from, to or by what does not exist, and rewards that are no numbers."""
    for name, count in (("state", S), ("action", A)):
        bad = np.flatnonzero((log[name] < 0) | (log[name] >= count))
        if len(bad):
            raise DataError(
                f"move {bad[0]} has {name} {log[name][bad[0]]}; there are {count}, numbered from 0."
            )
    bad = np.flatnonzero((log["next_state"] >= S) | ((log["next_state"] < 0) & ~log["terminated"]))
    if len(bad):
        raise DataError(
            f"move {bad[0]} leads to state {log['next_state'][bad[0]]}; there are {S}, numbered from 0."
        )
    bad = np.flatnonzero(~np.isfinite(log["reward"]))
    if len(bad):
        raise DataError(f"move {bad[0]} has reward {log['reward'][bad[0]]}; rewards must be finite.")
