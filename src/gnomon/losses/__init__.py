"""Losses and penalties: what a discriminative model minimizes, apart from how."""

from gnomon._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Loss": "base",
        "ZeroOne": "margin",
        "Perceptron": "margin",
        "Hinge": "margin",
        "SquaredHinge": "margin",
        "ModifiedHuber": "margin",
        "Logistic": "margin",
        "Exponential": "margin",
        "SquaredMargin": "margin",
        "SigmoidSquared": "margin",
        "SquaredError": "residual",
        "Absolute": "residual",
        "Huber": "residual",
        "EpsilonInsensitive": "residual",
        "SquaredEpsilonInsensitive": "residual",
        "Pinball": "residual",
        "StudentT": "residual",
        "Poisson": "residual",
        "Gamma": "residual",
        "SoftmaxCrossEntropy": "scores",
        "MulticlassHinge": "scores",
        "L1": "penalties",
        "L2": "penalties",
        "ElasticNet": "penalties",
        "GroupL2": "penalties",
        "Lp": "penalties",
        "lp_norm": "penalties",
    },
)
