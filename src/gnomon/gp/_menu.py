"""What Gaussian processes bring to a comparison. Columns and numeric targets come standardized."""

from typing import Any

from gnomon.kernels import RBF, ConstantKernel, Matern, WhiteKernel

COST = 7  # the cube of the rows, for every step of the climb

KERNELS = [
    ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(0.1),
    ConstantKernel(1.0) * Matern(1.0, nu=1.5) + WhiteKernel(0.1),
]

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {
    "classification": {"GaussianProcessClassifier": {"kernel": [ConstantKernel(1.0) * RBF(1.0)]}},
    "regression": {"GaussianProcessRegressor": {"kernel": KERNELS}},
}

ROWS = {"GaussianProcessClassifier": 300, "GaussianProcessRegressor": 1000}
