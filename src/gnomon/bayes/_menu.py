"""What Bayes classifiers bring to a comparison."""

from typing import Any

COST = 1  # the cheap go first

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {
    "classification": {
        "GaussianNB": {},
        "LinearDiscriminantAnalysis": {},
        "QuadraticDiscriminantAnalysis": {"reg_param": [0.01, 0.1, 0.5]},
    },
}
