"""Linear models: regression and classification by weighted sums of features."""

from gnomon._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "LinearRegression": "least_squares",
        "LinearSums": "moments",
        "Ridge": "ridge",
    },
)
