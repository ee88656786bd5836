"""Rankings learn from games, links and a few labels, not from tables of features: no comparison."""

from typing import Any

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {}
