"""Starting weights of dense networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import warn
from gnomon.neural.dense_plan import Stack

INITS = ("glorot", "fan_in", "he", "uniform", "zeros")


def starting_weights(
    stack: Stack, init: Any, scale: float, draws: np.random.RandomState
) -> tuple[list[Array], list[Array]]:
    """Return coefs and intercepts.

    "glorot": uniform within √(6/(n_in+n_out)) (2 for logistic units), biases too, drawn in scikit-learn's order;
    "fan_in": N(0, 1/n_in); "he": N(0, 2/n_in); "uniform": within ±scale; "zeros"; or the arrays themselves.
    """
    if not isinstance(init, str):
        return given_weights(stack, *init)
    if init == "zeros" and len(stack.sizes) > 2:
        warn("init='zeros': every unit of a hidden layer gets the same gradient, and with ReLU none but the output "
             "bias. Use init='fan_in' to learn.")  # fmt: skip
    names = [*stack.activations, stack.activations[-1] if stack.activations else "identity"]
    coefs, intercepts = [], []
    for (n_in, n_out), name in zip(stack.shapes(), names):
        W, b = _layer(init, n_in, n_out, name, scale, draws)
        coefs.append(W)
        intercepts.append(b)
    return coefs, intercepts


def _layer(init, n_in, n_out, name, scale, draws):
    if init in ("glorot", "uniform"):
        factor = 2.0 if name == "logistic" else 6.0
        bound = np.sqrt(factor / (n_in + n_out)) if init == "glorot" else scale
        return draws.uniform(-bound, bound, (n_in, n_out)), draws.uniform(-bound, bound, n_out)
    if init == "zeros":
        return np.zeros((n_in, n_out)), np.zeros(n_out)
    spread = np.sqrt((2.0 if init == "he" else 1.0) / n_in)
    return draws.normal(0.0, spread, (n_in, n_out)), np.zeros(n_out)


def given_weights(stack: Stack, coefs: Any, intercepts: Any) -> tuple[list[Array], list[Array]]:
    """Return weights that a user gave, after a look at their shapes."""
    coefs = [np.array(W, dtype=float) for W in coefs]
    intercepts = [np.array(b, dtype=float) for b in intercepts]
    shapes = stack.shapes()
    if [W.shape for W in coefs] != shapes or [b.shape for b in intercepts] != [(n,) for _, n in shapes]:
        raise DataError(
            f"init must hold weights of shapes {shapes} and biases of lengths {[n for _, n in shapes]}; got "
            f"{[W.shape for W in coefs]} and {[b.shape for b in intercepts]}."
        )
    return coefs, intercepts
