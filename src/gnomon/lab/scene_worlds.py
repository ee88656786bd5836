"""Scenes of worlds: values and policy on a grid, and an episode that follows them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.lab.material import Material
from gnomon.lab.panels import Panel, answer_or_none, matrix


def world_panels(model: Any, material: Material) -> list[Panel]:
    """Return the values and the policy of a grid world, and an episode that follows it."""
    world = material.X
    if not hasattr(world, "as_grid"):
        return []
    values = getattr(model, "V_", None)
    action_values = getattr(model, "Q_", None)
    if values is None and action_values is not None:
        values = np.max(np.asarray(action_values), axis=-1)
    policy = getattr(model, "policy_", None)
    values = np.zeros(world.n_states) if values is None else np.asarray(values)[: world.n_states]
    grid = np.asarray(world.as_grid(values), dtype=float)
    arrows = answer_or_none(lambda: world.arrows(policy).splitlines()) if policy is not None else None
    marks = None if arrows is None else [list(row) for row in arrows]
    panel = matrix(
        "values and policy", grid, marks=marks, path=_episode(policy, world), diverging=True, square=True
    )
    panels = [panel]
    if action_values is not None and np.shape(action_values) == (world.n_states, world.n_actions):
        panels.append(
            matrix(
                "value of every action",
                np.asarray(action_values).T,
                world.action_names,
                diverging=True,
            )
        )
    return panels


def _episode(policy: Any, world: Any) -> list[list[int]]:
    """Return the cells of an episode that follows the policy, drawn with a fixed seed."""
    played = None if policy is None else answer_or_none(lambda: world.simulate(policy, 1, 40, random_state=0))
    if played is None or not len(played):
        return []
    states = [int(played["state"][0]), *[int(s) for s in played["next_state"] if s >= 0]]
    return [[int(part) for part in world.cell(state)] for state in states]
