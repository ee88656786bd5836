"""What support vector machines bring to a comparison, for tables of up to some thousands of rows."""

from typing import Any

COST = 3  # the cheap go first
ROWS = {"SVC": 10_000, "SVR": 10_000}  # the kernel matrix grows with the square of the rows

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {
    "classification": {"SVC": {"C": [0.1, 1.0, 10.0], "gamma": ["scale", 0.01]}},
    "regression": {"SVR": {"C": [0.1, 1.0, 10.0], "epsilon": [0.01, 0.1]}},
}
