"""What mixtures bring to a comparison: groups, and densities."""

from typing import Any

COST = 2  # the cheap go first

COUNTS = [1, 2, 3, 4, 6]

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {
    "cluster": {"GaussianMixture": {"n_components": [2, 3, 4, 6]}},
    "density": {
        "GaussianMixture": {"n_components": COUNTS, "covariance_type": ["full", "diag"]},
        "BayesianGaussianMixture": {"n_components": [4, 8]},
    },
    "density of counts": {"PoissonMixture": {"n_components": COUNTS}},
}
