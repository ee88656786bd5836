# Written by scripts/stubs from the package's `attach` call; do not edit.
from .adversarial import GenerativeAdversarialNetwork as GenerativeAdversarialNetwork
from .approximation import sigmoid_staircase as sigmoid_staircase
from .approximation import sweep as sweep
from .augmentation import Augmentation as Augmentation
from .autoencoders import Autoencoder as Autoencoder
from .committee import NetworkEnsemble as NetworkEnsemble
from .convnets import ConvNetClassifier as ConvNetClassifier
from .convnets import ConvNetRegressor as ConvNetRegressor
from .differentiation import Value as Value
from .differentiation import jacobian as jacobian
from .functions import Activation as Activation
from .gradient_tools import check_gradients as check_gradients
from .gradient_tools import gradient_flow as gradient_flow
from .language import FeedForwardLanguageModel as FeedForwardLanguageModel
from .language import RecurrentLanguageModel as RecurrentLanguageModel
from .mlp import MLPClassifier as MLPClassifier
from .mlp_regression import MLPRegressor as MLPRegressor
from .named import architecture as architecture
from .namespaces import layers as layers
from .network import Network as Network
from .recurrent import RecurrentClassifier as RecurrentClassifier
from .recurrent import RecurrentRegressor as RecurrentRegressor
from .turing import NeuralTuringMachine as NeuralTuringMachine
from .variational_autoencoder import VariationalAutoencoder as VariationalAutoencoder

__all__ = ["Activation", "Augmentation", "Autoencoder", "ConvNetClassifier", "ConvNetRegressor", "FeedForwardLanguageModel", "GenerativeAdversarialNetwork", "MLPClassifier", "MLPRegressor", "Network", "NetworkEnsemble", "NeuralTuringMachine", "RecurrentClassifier", "RecurrentLanguageModel", "RecurrentRegressor", "Value", "VariationalAutoencoder", "architecture", "check_gradients", "gradient_flow", "jacobian", "layers", "sigmoid_staircase", "sweep"]
