"""What networks bring to a comparison: the classifier, its numbers put into bins."""

from typing import Any

COST = 3  # counts of pairs of states
ROWS = {"BayesianNetworkClassifier": 200_000}  # the pairs are counted from one-hot rows

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {
    "classification": {"BayesianNetworkClassifier": {"n_bins": [4, 8], "structure": ["tan", "naive"]}},
}
