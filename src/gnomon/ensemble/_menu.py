"""What ensembles bring to a comparison. They need little tuning; only the slow learner is tuned for depth."""

from typing import Any

COST = 3  # the cheap go first

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {
    "classification": {
        "RandomForestClassifier": {},
        "HistGradientBoostingClassifier": {},
        "GradientBoostingClassifier": {"max_depth": [1, 3]},
    },
    "regression": {
        "RandomForestRegressor": {},
        "HistGradientBoostingRegressor": {},
        "GradientBoostingRegressor": {"max_depth": [1, 3]},
    },
}
