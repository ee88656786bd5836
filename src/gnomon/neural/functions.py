"""Activation functions: what a unit does with its sum."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, softmax

from gnomon.core.errors import nearest
from gnomon.core.linalg import Array
from gnomon.loops import codes_of_dense as codes
from gnomon.neural.layer_base import Layer, Shape

NAMES = ("identity", "logistic", "tanh", "relu", "leaky_relu", "elu", "sign", "rbf", "maxout", "softmax")
CODES = {
    "identity": codes.IDENTITY,
    "logistic": codes.LOGISTIC,
    "tanh": codes.TANH,
    "relu": codes.RELU,
    "leaky_relu": codes.LEAKY_RELU,
    "elu": codes.ELU,
    "rbf": codes.RBF,
    "maxout": codes.MAXOUT,
    "sign": codes.SIGN,
}


class Activation(Layer):
    r"""An activation function by name, with its derivative.

    ================  =======================================  ============================================
    name              value                                    derivative
    ================  =======================================  ============================================
    ``identity``      z                                        1
    ``logistic``      :math:`\sigma(z) = 1/(1+e^{-z})`         :math:`\sigma(1-\sigma)`
    ``tanh``          tanh z                                   :math:`1-\tanh^2 z`
    ``relu``          max(0, z)                                1 for z > 0, else 0
    ``leaky_relu``    max(z/10, z)                             1 for z > 0, else 1/10
    ``elu``           z for z > 0, else :math:`e^z-1`          1 for z > 0, else :math:`e^z`
    ``sign``          +1 for z ≥ 0, else −1                    0: cannot be trained by gradients
    ``rbf``           :math:`e^{-z^2}`                         :math:`-2ze^{-z^2}`
    ``maxout``        the largest of `pieces` linear forms     1 for the winner, the first of equals
    ``softmax``       :math:`e^{z_k}/\sum_j e^{z_j}`           :math:`p_k(\delta_{kj}-p_j)`, a matrix
    ================  =======================================  ============================================

    In a list of layers it stands for itself: ``[Dense(20), Activation("relu"), Dense(3)]``.

    Parameters
    ----------
    name : str
        One of the table. The leak of ``leaky_relu`` is 0.1 here; most libraries have 0.01.
    pieces : int, default=2
        How many neighboring entries of the last axis compete, for ``maxout``.

    Examples
    --------
    >>> import numpy as np
    >>> Activation("leaky_relu").value([-2.0, -0.5, 0.0, 2.0])
    array([-0.2 , -0.05,  0.  ,  2.  ])
    >>> Activation("elu").value([-2.0]).round(6), Activation("rbf").derivative([1.0]).round(6)
    (array([-0.864665]), array([-0.735759]))
    """

    kind: ClassVar[str] = "activation"

    def __init__(self, name: str, *, pieces: int = 2) -> None:
        if name not in NAMES:
            raise ValueError(f"activation must be one of {NAMES}; got {name!r}.{nearest(name, NAMES)}")
        if pieces < 2:
            raise ValueError(f"pieces must be at least 2; got {pieces}.")
        self.name, self.pieces = name, pieces

    def __repr__(self) -> str:
        return f"Activation({self.name!r})"

    def shape(self, before: Shape) -> Shape:
        """Return the shape after it: maxout of channels keeps one of every `pieces`."""
        return (before[0] // self.pieces, *before[1:]) if self.name == "maxout" else before

    def build(self, before: Shape) -> Any:
        """Return the torch module."""
        from gnomon.neural.torch_parts import activation_module

        return activation_module(self.name, self.pieces)

    def value(self, z: Any) -> Array:
        """Return f(z)."""
        z = np.asarray(z, dtype=float)
        if self.name == "softmax":
            return softmax(z, axis=-1)
        if self.name == "maxout":
            return self._grouped(z).max(axis=-1)
        return _VALUES[self.name](z)

    def derivative(self, z: Any) -> Array:
        """Return f′(z); for softmax the matrix ∂p_k/∂z_j along two last axes, for maxout ones at the winners."""
        z = np.asarray(z, dtype=float)
        if self.name == "softmax":
            p = softmax(z, axis=-1)
            return p[..., :, None] * (np.eye(z.shape[-1]) - p[..., None, :])
        if self.name == "maxout":
            groups = self._grouped(z)
            won = np.arange(self.pieces) == groups.argmax(axis=-1)[..., None]
            return won.astype(float).reshape(z.shape)
        return _SLOPES[self.name](z)

    def _grouped(self, z: Array) -> Array:
        if z.shape[-1] % self.pieces:
            raise ValueError(
                f"maxout of {self.pieces} pieces needs a last axis divisible by {self.pieces}; it has "
                f"{z.shape[-1]} entries. Its layer owns that many linear forms for every unit."
            )
        return z.reshape(*z.shape[:-1], -1, self.pieces)

    def plot(self, ax: Any = None) -> Any:
        """Draw value and derivative; return the Axes."""
        z = np.linspace(-4.0, 4.0, 401)
        if self.name in ("softmax", "maxout"):
            raise ValueError(f"{self.name} is no function of one number; there is no curve to draw.")
        curves = np.column_stack([self.value(z), self.derivative(z)])
        from gnomon.plot import path

        return path(z, curves, [self.name, f"{self.name}, derivative"], ax, x_label="z", y_label="")


_VALUES = {
    "identity": lambda z: z,
    "logistic": expit,
    "tanh": np.tanh,
    "relu": lambda z: np.maximum(z, 0.0),
    "leaky_relu": lambda z: np.where(z > 0.0, z, codes.LEAK * z),
    "elu": lambda z: np.where(z > 0.0, z, np.expm1(np.minimum(z, 0.0))),
    "sign": lambda z: np.where(z >= 0.0, 1.0, -1.0),
    "rbf": lambda z: np.exp(-(z**2)),
}
_SLOPES = {
    "identity": np.ones_like,
    "logistic": lambda z: expit(z) * expit(-z),
    "tanh": lambda z: 1.0 - np.tanh(z) ** 2,
    "relu": lambda z: (z > 0.0).astype(float),
    "leaky_relu": lambda z: np.where(z > 0.0, 1.0, codes.LEAK),
    "elu": lambda z: np.where(z > 0.0, 1.0, np.exp(np.minimum(z, 0.0))),
    "sign": np.zeros_like,
    "rbf": lambda z: -2.0 * z * np.exp(-(z**2)),
}
