"""What a hidden layer can represent, and how settings change a fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone

STEEP = 1e12  # a logistic unit so steep is a step


def sigmoid_staircase(
    f: Callable[[Any], Any],
    low: float,
    high: float,
    n_steps: int,
    steepness: float = np.inf,
    *,
    grid: int = 10_001,
) -> tuple[Any, float]:
    r"""Approximate a function of one number by a hidden layer of steps.

    With knots x_j = low + jh, h = (high − low)/n_steps:

    .. math:: f(x_0) + \sum_j [f(x_j) - f(x_{j-1})]\,\sigma\big(k(x - \tfrac{x_{j-1}+x_j}{2})\big)

    Continuous functions are met as closely as one likes by more units: the error is at most half the largest
    rise between knots.

    Parameters
    ----------
    f : callable
        Of an array.
    low, high : float
    n_steps : int
        Hidden units.
    steepness : float, default=inf
        k; infinite: hard steps.
    grid : int, default=10001
        Points at which the error is looked at.

    Returns
    -------
    network : MLPRegressor
        With these weights.
    error : float
        Largest distance to f on the grid, the steps' ends included.

    Examples
    --------
    >>> round(sigmoid_staircase(lambda x: x**2, 0.0, 1.0, 10)[1], 6)
    0.0975
    """
    from gnomon.neural.mlp_regression import MLPRegressor

    if n_steps < 1:
        raise ValueError(f"n_steps must be at least 1; got {n_steps}.")
    if not low < high:
        raise ValueError(f"low must be below high; got {low} and {high}.")
    if not steepness > 0:
        raise ValueError(f"steepness must be above 0; got {steepness}.")
    knots = np.linspace(low, high, n_steps + 1)
    heights = np.asarray(f(knots), dtype=float)
    middles, rises = (knots[1:] + knots[:-1]) / 2, np.diff(heights)
    k = min(float(steepness), STEEP)
    network = MLPRegressor(hidden_layer_sizes=(n_steps,), activation="logistic").set_weights(
        [np.full((1, n_steps), k), rises[:, None]], [-k * middles, heights[:1]]
    )
    x = np.linspace(low, high, grid)
    if np.isinf(steepness):
        x = np.sort(np.concatenate([x, np.nextafter(middles, -np.inf), np.nextafter(middles, np.inf)]))
        said = heights[np.searchsorted(middles, x)]
    else:
        said = heights[0] + expit(k * (x[:, None] - middles)) @ rises
    return network, float(np.abs(said - f(x)).max())


def sweep(model: Any, X: Any, y: Any = None, /, **values: Sequence[Any]) -> dict[Any, Any]:
    """Fit a model once for every value of one parameter: widths, learning rates, penalties.

    Parameters
    ----------
    model : estimator
        It is cloned.
    X, y : data as in `fit`
    **values : one parameter
        Its values: ``hidden_layer_sizes=[10, 100, 500]`` or ``learning_rate_init=[0.001, 0.01, 0.1]``.

    Returns
    -------
    dict
        The fitted model of every value; draw their ``trace_`` or `gnomon.plot.decision_regions` side by side.

    Examples
    --------
    >>> from gnomon.neural import MLPClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> fits = sweep(MLPClassifier(solver="lbfgs", random_state=0), X, y, hidden_layer_sizes=[1, 8])
    >>> float(fits[8].score(X, y)), bool(fits[1].score(X, y) < 1.0)
    (1.0, True)
    """
    if len(values) != 1:
        raise ValueError(
            f"give one parameter with its values, such as alpha=[0.1, 1.0]; got {sorted(values)}."
        )
    ((name, several),) = values.items()
    found = {}
    for value in several:
        key = tuple(value) if isinstance(value, list) else value
        found[key] = clone(model).set_params(**{name: value})
        found[key].fit(X) if y is None else found[key].fit(X, y)
    return found
