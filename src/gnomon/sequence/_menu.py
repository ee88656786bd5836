"""What models of sequences bring to a comparison."""

from typing import Any

COST = 2  # the cheap go first

STATES = [2, 3, 4]

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {
    "sequence": {
        "GaussianHMM": {"n_components": STATES, "covariance_type": ["diag", "full"], "n_iter": [50]},
        "GMMHMM": {"n_components": STATES, "n_mix": [2], "n_iter": [50]},
    },
    "sequence of counts": {"PoissonHMM": {"n_components": STATES, "n_iter": [100]}},
}
