"""Recommenders in comparisons of ratings, and the settings that are tried."""

from typing import Any

COST = 3  # the cheap go first

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {
    "recommend": {
        "MeanRecommender": {"level": ["biases"], "regularization": [1.0, 5.0]},
        "KNNRecommender": {"mode": ["item", "user"], "k": [20], "shrinkage": [10.0]},
        "MatrixFactorization": {
            "factors": [4, 10],
            "biases": [True],
            "regularization": [2.0, 8.0],
            "iterations": [30],
            "tol": [1e-3],
        },
        "GreedyFactorization": {"max_factors": [8]},
    },
}

ROWS = {"KNNRecommender": 2_000_000, "GreedyFactorization": 100_000}
