"""What linear models bring to a comparison. Columns and numeric targets come standardized."""

from typing import Any

COST = 1  # the cheap go first

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {
    "classification": {
        "LogisticRegression": {"C": [0.01, 0.1, 1.0, 10.0]},
        "LinearSVC": {"C": [0.01, 0.1, 1.0]},
    },
    "regression": {
        "LinearRegression": {},
        "Ridge": {"alpha": [0.1, 1.0, 10.0, 100.0]},
        "Lasso": {"alpha": [0.001, 0.01, 0.1]},
        "HuberRegressor": {},
    },
}
