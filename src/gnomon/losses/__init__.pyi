# Written by scripts/stubs from the package's `attach` call; do not edit.
from .base import Loss as Loss
from .margin import Exponential as Exponential
from .margin import Hinge as Hinge
from .margin import Logistic as Logistic
from .margin import ModifiedHuber as ModifiedHuber
from .margin import Perceptron as Perceptron
from .margin import SigmoidSquared as SigmoidSquared
from .margin import SquaredHinge as SquaredHinge
from .margin import SquaredMargin as SquaredMargin
from .margin import ZeroOne as ZeroOne
from .penalties import ElasticNet as ElasticNet
from .penalties import GroupL2 as GroupL2
from .penalties import L1 as L1
from .penalties import L2 as L2
from .penalties import Lp as Lp
from .penalties import lp_norm as lp_norm
from .residual import Absolute as Absolute
from .residual import EpsilonInsensitive as EpsilonInsensitive
from .residual import Gamma as Gamma
from .residual import Huber as Huber
from .residual import Pinball as Pinball
from .residual import Poisson as Poisson
from .residual import SquaredEpsilonInsensitive as SquaredEpsilonInsensitive
from .residual import SquaredError as SquaredError
from .residual import StudentT as StudentT
from .scores import MulticlassHinge as MulticlassHinge
from .scores import SoftmaxCrossEntropy as SoftmaxCrossEntropy

__all__ = ["Absolute", "ElasticNet", "EpsilonInsensitive", "Exponential", "Gamma", "GroupL2", "Hinge", "Huber", "L1", "L2", "Logistic", "Loss", "Lp", "ModifiedHuber", "MulticlassHinge", "Perceptron", "Pinball", "Poisson", "SigmoidSquared", "SoftmaxCrossEntropy", "SquaredEpsilonInsensitive", "SquaredError", "SquaredHinge", "SquaredMargin", "StudentT", "ZeroOne", "lp_norm"]
