"""What neighbors bring to a comparison. Columns come standardized."""

from typing import Any

COST = 2  # a look at every row for every query, or a tree

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {
    "classification": {
        "KNeighborsClassifier": {"n_neighbors": [1, 5, 15, 45], "weights": ["uniform", "distance"]},
    },
    "regression": {
        "KNeighborsRegressor": {"n_neighbors": [3, 5, 15, 45], "weights": ["uniform", "distance"]},
    },
}

ROWS = {"KNeighborsClassifier": 200_000, "KNeighborsRegressor": 200_000}
