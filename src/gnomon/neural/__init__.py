"""Neural networks: dense, convolutional, recurrent and generative, as estimators that can be watched."""

from gnomon._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Activation": "functions",
        "MLPClassifier": "mlp",
        "MLPRegressor": "mlp",
        "Network": "network",
        "architecture": "named",
        "describe": "network",
        "layers": "namespaces",
        "output_size": "layer_base",
    },
)
