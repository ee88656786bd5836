"""What networks bring to a comparison. Columns and numeric targets come standardized."""

from typing import Any

COST = 6  # many passes over the rows

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {
    "classification": {
        "MLPClassifier": {
            "hidden_layer_sizes": [(50,), (100, 50)],
            "alpha": [1e-4, 1e-1],
            "early_stopping": [True],
        },
    },
    "regression": {
        "MLPRegressor": {
            "hidden_layer_sizes": [(50,), (100, 50)],
            "alpha": [1e-4, 1e-1],
            "early_stopping": [True],
        },
    },
}
