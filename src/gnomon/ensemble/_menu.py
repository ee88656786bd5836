"""What ensembles bring to a comparison: they do well as they come, and tuning them would take most of the time."""

from typing import Any

COST = 3  # the cheap go first

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {
    "classification": {
        "RandomForestClassifier": {},
        "HistGradientBoostingClassifier": {},
        "GradientBoostingClassifier": {},
    },
    "regression": {
        "RandomForestRegressor": {},
        "HistGradientBoostingRegressor": {},
        "GradientBoostingRegressor": {},
    },
}
