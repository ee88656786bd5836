"""Neural networks: dense, convolutional, recurrent and generative, as estimators that can be watched."""

from gnomon._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Activation": "functions",
        "Augmentation": "augmentation",
        "Autoencoder": "autoencoders",
        "ConvNetClassifier": "convnets",
        "ConvNetRegressor": "convnets",
        "FeedForwardLanguageModel": "language",
        "GenerativeAdversarialNetwork": "adversarial",
        "MLPClassifier": "mlp",
        "MLPRegressor": "mlp_regression",
        "Network": "network",
        "NetworkEnsemble": "committee",
        "NeuralTuringMachine": "turing",
        "RecurrentClassifier": "recurrent",
        "RecurrentLanguageModel": "language",
        "RecurrentRegressor": "recurrent",
        "Value": "differentiation",
        "VariationalAutoencoder": "variational_autoencoder",
        "architecture": "named",
        "check_gradients": "gradient_tools",
        "gradient_flow": "gradient_tools",
        "jacobian": "differentiation",
        "layers": "namespaces",
        "sigmoid_staircase": "approximation",
        "sweep": "approximation",
    },
)
