"""Kernels: similarities that are inner products, what is made of them, and learners that need no more."""

from gnomon._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Chi2": "inner",
        "ConstantKernel": "stationary",
        "Cosine": "inner",
        "DotProduct": "inner",
        "ExpSineSquared": "stationary",
        "Exponential": "inner",
        "Exponentiation": "algebra",
        "FeatureMapKernel": "given",
        "FunctionKernel": "given",
        "Kernel": "base",
        "Laplacian": "stationary",
        "Linear": "inner",
        "Matern": "stationary",
        "Polynomial": "inner",
        "PolynomialSum": "inner",
        "Precomputed": "given",
        "Product": "algebra",
        "RBF": "stationary",
        "RationalQuadratic": "stationary",
        "Sigmoid": "inner",
        "Sum": "algebra",
        "WhiteKernel": "stationary",
    },
)
