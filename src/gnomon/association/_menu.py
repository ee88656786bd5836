"""Nothing here learns from tables of features: no comparison."""

from typing import Any

COST = 3  # the cheap go first

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {}
