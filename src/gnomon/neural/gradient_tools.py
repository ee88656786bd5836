"""Seeing and checking gradients of fitted networks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.validate import check_fitted
from gnomon.neural import dense_plan
from gnomon.neural.mlp_base import DenseLearner

HEALTHY = (1e-3, 1e3)  # of the norm of the first layer's gradient over the last one's


class LayerCheck(NamedTuple):
    """What a check of one layer's slopes found."""

    layer: str
    max_error: float
    max_relative_error: float
    checked: int
    skipped: int  # entries whose step crosses a kink
    passed: bool


def check_gradients(
    model: Any, X: Any, y: Any, *, eps: float = 1e-5, tol: float = 1e-6, skip_kinks: bool = True,
    max_entries: int = 200, random_state: int = 0,
) -> list[LayerCheck]:  # fmt: skip
    """Compare the slopes of a fitted dense network with central differences, layer by layer.

    Parameters
    ----------
    model : fitted MLPClassifier or MLPRegressor
        Or one with ``set_weights``.
    X, y : arrays
    eps : float, default=1e-5
        Step of the differences.
    tol : float, default=1e-6
        Largest relative error that passes.
    skip_kinks : bool, default=True
        Leave out entries whose step moves some unit, or the hinge, across its corner; they are counted.
    max_entries : int, default=200
        Entries that are looked at in every array, drawn at random.
    random_state : int

    Returns
    -------
    list of LayerCheck

    Examples
    --------
    >>> from gnomon.neural import MLPClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.5], [0.3, 0.2]], [0, 1, 1]
    >>> model = MLPClassifier((4,), "tanh", max_iter=1, random_state=0).fit(X, y)
    >>> all(row.passed for row in check_gradients(model, X, y))
    True
    """
    _dense(model)
    work = model._prepare(model._read(X, y, None, reset=False))
    stack, params = work.stack._replace(dropout=()), model._params().astype(float)
    T, weight = work.T.astype(float), work.weight.astype(float)
    block = dense_plan.dense_rows(work.X, None, float)

    def value(theta: Array) -> tuple[float, Array]:
        return dense_plan.objective(stack, theta, block, T, weight, *model._strength())

    gradient, rng, rows, at = value(params)[1], np.random.default_rng(random_state), [], 0
    for number, (n_in, columns) in enumerate(stack.shapes()):
        for kind, size in (("weights", n_in * columns), ("biases", columns)):
            places = at + np.sort(rng.permutation(size)[:max_entries])
            errors, skipped = [], 0
            for place in places:
                up, down = params.copy(), params.copy()
                up[place] += eps
                down[place] -= eps
                if skip_kinks and _crosses(stack, up, down, block, T):
                    skipped += 1
                    continue
                slope = (value(up)[0] - value(down)[0]) / (2.0 * eps)
                errors.append((abs(slope - gradient[place]), abs(slope) + abs(gradient[place])))
            rows.append(_row(f"layer {number + 1} {kind}", errors, skipped, tol))
            at += size
    return rows


def _row(name: str, errors: list[tuple[float, float]], skipped: int, tol: float) -> LayerCheck:
    worst = max((error for error, _ in errors), default=0.0)
    relative = max((error / max(size, 1e-4) for error, size in errors), default=0.0)
    return LayerCheck(name, worst, relative, len(errors), skipped, relative <= tol)


def _crosses(stack: Any, up: Array, down: Array, X: Array, T: Array) -> bool:
    """Tell whether some unit, or a hinge, is on different sides of its corner at two points."""
    above, below = (dense_plan.layer_values(stack, theta, X)[0] for theta in (up, down))
    for number, name in enumerate(stack.activations):
        if name in ("relu", "leaky_relu", "elu") and ((above[number] > 0) != (below[number] > 0)).any():
            return True
        if name == "maxout":
            groups = [
                part[number].reshape(len(X), -1, stack.pieces).argmax(axis=2) for part in (above, below)
            ]
            if (groups[0] != groups[1]).any():
                return True
    F, G = above[-1], below[-1]
    if stack.loss in ("hinge_binary", "perceptron"):
        corner = 1.0 if stack.loss == "hinge_binary" else 0.0
        return bool(((F * T > corner) != (G * T > corner)).any())
    if stack.loss == "absolute_error":
        return bool(((F > T) != (G > T)).any())
    if stack.loss == "hinge_multiclass":
        own = T[:, 0].astype(int)
        sides = [
            part - part[np.arange(len(part)), own][:, None] + stack.loss_parameter > 0 for part in (F, G)
        ]
        return bool((sides[0] != sides[1]).any())
    return False


class GradientFlow(NamedTuple):
    """How a loss's slopes change on their way from the output to the first layer."""

    weight_norms: Array  # ‖∂L/∂W_l‖, first layer first
    signal_norms: Array  # mean over rows of ‖∂L/∂z_l‖
    ratio: float  # of the first layer's signal to the last one's
    bound: float  # product over layers of ‖W_l‖ times the largest slope: the ratio is at most this
    verdict: str  # "healthy", "vanishing" or "exploding"
    advice: str


def gradient_flow(model: Any, X: Any, y: Any) -> GradientFlow:
    r"""Say whether gradients vanish or explode on their way back through a dense network.

    The slope at layer l−1 is :math:`\delta_{l-1} = (\delta_lW_l^\top)\odot f'(z_{l-1})`, so its norm changes by
    at most
    ‖W‖ max|f′| a layer: a product of many such factors goes to zero or to infinity.

    Parameters
    ----------
    model : fitted MLPClassifier or MLPRegressor
    X, y : arrays

    Returns
    -------
    GradientFlow

    Examples
    --------
    >>> from gnomon.neural import MLPClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.5], [0.3, 0.2]], [0, 1, 1]
    >>> deep = MLPClassifier((5,) * 12, "logistic", max_iter=1, random_state=0).fit(X, y)
    >>> gradient_flow(deep, X, y).verdict
    'vanishing'
    """
    _dense(model)
    work = model._prepare(model._read(X, y, None, reset=False))
    stack, params = work.stack._replace(dropout=()), model._params().astype(float)
    block = dense_plan.dense_rows(work.X, None, float)
    weights, signals = _signals(stack, params, block, work.T.astype(float), work.weight.astype(float))
    top = {"logistic": 0.25, "rbf": np.sqrt(2.0) * np.exp(-0.5)}
    factors = [
        np.linalg.norm(W, 2) * top.get(name, 1.0) for W, name in zip(model.coefs_[1:], stack.activations)
    ]
    ratio = float(signals[0] / signals[-1]) if signals[-1] > 0 else 0.0
    low, high = HEALTHY
    verdict = "vanishing" if ratio < low else "exploding" if ratio > high else "healthy"
    advice = {
        "healthy": "nothing to do",
        "vanishing": "use relu or tanh units, init='he' or 'fan_in', fewer layers, residual blocks, or a gated cell",
        "exploding": "use smaller starting weights (init='fan_in'), a lower learning rate, or clip_norm",
    }[verdict]
    return GradientFlow(weights, signals, ratio, float(np.prod(factors)), verdict, advice)


def _signals(stack: Any, params: Array, X: Array, T: Array, weight: Array) -> tuple[Array, Array]:
    """Return the norms of ∂L/∂W and of ∂L/∂z, layer by layer, by the buffers of one backward pass."""
    from gnomon.loops import dense

    plan, room = stack.plan(), dense_plan.buffers(stack, len(X), float)
    grads, look = np.empty_like(params), dense.Rule(-1, 0.0, False, 0.9, 0.999, 1e-8, False, 0.0, 0.0, 0.0)
    norms, once = np.zeros(len(plan.n_in)), np.zeros(1)
    dense.train_rows(
        X, T, weight, len(X), plan, look, params, grads, params, params, *room, once, 0, 0, norms
    )
    signals = [
        np.linalg.norm(room.E[len(X) * z : len(X) * (z + columns)].reshape(len(X), columns), axis=1).mean()
        for z, (_, columns) in zip(plan.z_at, stack.shapes())
    ]
    return norms, np.array(signals)


def _dense(model: Any) -> None:
    if not isinstance(model, DenseLearner):
        raise DataError(
            f"{type(model).__name__} is no dense network; give a fitted MLPClassifier or MLPRegressor."
        )
    check_fitted(model)
