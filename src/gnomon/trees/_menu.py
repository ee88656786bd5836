"""What trees bring to a comparison."""

from typing import Any

COST = 2  # the cheap go first

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {
    "classification": {"DecisionTreeClassifier": {"max_depth": [2, 4, 8]}},
    "regression": {"DecisionTreeRegressor": {"max_depth": [2, 4, 8]}},
}
