"""Grids: the settings of a model on the menu, those with a choice and those without."""

from __future__ import annotations

from typing import Any


def fixed(candidate: Any) -> dict[str, Any]:
    """Return the settings of a menu that have one value."""
    return {name: values[0] for name, values in candidate.grid.items() if len(values) == 1}


def settings_of(candidate: Any) -> dict[str, list[Any]]:
    """Return the settings of a menu among which there is a choice."""
    return {name: values for name, values in candidate.grid.items() if len(values) > 1}


def usual(candidate: Any) -> dict[str, Any]:
    """Return the settings before any is chosen: the model's own where the menu has them, else the middle ones."""
    own = candidate.model.get_params()
    chosen = {}
    for name, values in settings_of(candidate).items():
        same = [value for value in values if repr(value) == repr(own.get(name))]
        chosen[name] = same[0] if same else values[len(values) // 2]
    return {**fixed(candidate), **chosen}
