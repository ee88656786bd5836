"""What the family brings to a comparison of models on a table: nothing that stands beside the others there."""

from typing import Any

COST = 9  # last

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {}
