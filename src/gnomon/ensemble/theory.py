"""What averaging can and cannot do: correlation of members, and Monte-Carlo experiments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from gnomon.core.errors import DataError
from gnomon.core.randomness import draw_seed, generator, stream

Array = np.ndarray


def average_variance(sigma2: float, rho: float, m: int) -> float:
    r"""Return the variance of the mean of m members with variance σ² and pairwise correlation ρ.

    .. math:: \frac{(1-\rho)\sigma^2}{m} + \rho\sigma^2

    Examples
    --------
    >>> round(average_variance(1.0, 0.5, 10), 6)
    0.55
    """
    if m < 1 or not (-1 / (m - 1) if m > 1 else -np.inf) - 1e-12 <= rho <= 1 + 1e-12:
        raise DataError(f"rho must lie between -1/(m-1) and 1 for m={m} members; got {rho}.")
    return (1 - rho) * sigma2 / m + rho * sigma2


class Correlation(NamedTuple):
    """How alike the members of an ensemble are."""

    correlation: float  # mean over pairs of members and places
    variance: float  # mean variance of one member
    limit: float  # the variance that no number of members gets below


def ensemble_correlation(predictions: Any) -> Correlation:
    r"""Return the mean pairwise correlation of members over repeated training sets.

    The average of m members has variance :math:`\rho\sigma^2 + (1-\rho)\sigma^2/m`, so :math:`\rho\sigma^2`
    is the limit.

    Parameters
    ----------
    predictions : array of shape (repeats, members, places)
        What member m, trained on data set r, says at place x.

    Examples
    --------
    >>> same = np.random.default_rng(0).normal(size=(200, 1, 4)).repeat(3, axis=1)
    >>> round(ensemble_correlation(same).correlation, 6)
    1.0
    """
    P = np.asarray(predictions, dtype=np.float64)
    if P.ndim != 3 or P.shape[0] < 2 or P.shape[1] < 2:
        raise DataError(
            "predictions must have the shape (repeats, members, places), two or more of the first two."
        )
    centered = P - P.mean(axis=0)
    variance = float((centered**2).mean())
    m = P.shape[1]
    together = (centered.sum(axis=1) ** 2).mean()  # m sigma^2 + m (m - 1) covariance
    covariance = float((together - m * variance) / (m * (m - 1)))
    return Correlation(covariance / variance if variance > 0 else 1.0, variance, covariance)


class Experiment(NamedTuple):
    """Squared bias and variance of one member and of the average, over all places."""

    bias2_single: float
    variance_single: float
    bias2_average: float
    variance_average: float
    correlation: float


def ensemble_experiment(
    make_data: Callable[[np.random.Generator], tuple[Array, Array]],
    estimator: Any,
    x_grid: Any,
    truth: Any,
    *,
    n_repeats: int = 50,
    n_models: int = 10,
    bootstrap: bool = True,
    random_state: Any = None,
) -> Experiment:
    """Compare a single model with an average of many, over repeated training sets.

    Members see bootstrap samples of one data set (``bootstrap=True``) or a data set of their own each.

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeRegressor
    >>> def make_data(rng):
    ...     x = rng.uniform(0, 1, (40, 1))
    ...     return x, np.sin(6 * x[:, 0]) + rng.normal(0, 0.3, 40)
    >>> grid = np.linspace(0.1, 0.9, 9)[:, None]
    >>> found = ensemble_experiment(
    ...     make_data, DecisionTreeRegressor(), grid, np.sin(6 * grid[:, 0]), n_repeats=20, random_state=0
    ... )
    >>> bool(found.variance_average < found.variance_single)
    True
    """
    grid, truth = np.asarray(x_grid, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    seed = draw_seed(generator(random_state))
    P = np.empty((n_repeats, n_models, len(grid)))
    for r in range(n_repeats):
        rng = stream(seed, r)
        X, y = make_data(rng)
        for m in range(n_models):
            if not bootstrap and m:
                X, y = make_data(rng)
            chosen = rng.integers(0, len(X), len(X)) if bootstrap else np.arange(len(X))
            P[r, m] = clone(estimator).fit(X[chosen], y[chosen]).predict(grid)
    average = P.mean(axis=1)
    return Experiment(
        float(((P[:, 0].mean(axis=0) - truth) ** 2).mean()),
        float(P[:, 0].var(axis=0).mean()),
        float(((average.mean(axis=0) - truth) ** 2).mean()),
        float(average.var(axis=0).mean()),
        ensemble_correlation(P).correlation,
    )


def hypothesis_space_demo(n: int = 20, n_models: int = 1000, random_state: Any = None) -> tuple[Array, float]:
    r"""Show that an average can leave the class of its members.

    Every member is :math:`wx` with :math:`w \in \{-1, 1\}` fitted to pure noise, :math:`w =
    \operatorname{sign} \sum x t`; returns the members' slopes and the slope of their average, which is near 0
    and no member's.

    Examples
    --------
    >>> slopes, average = hypothesis_space_demo(random_state=0)
    >>> sorted(set(slopes.tolist())), abs(average) < 0.1
    ([-1.0, 1.0], True)
    """
    rng = generator(random_state)
    x, t = rng.uniform(-3, 3, (n_models, n)), rng.normal(size=(n_models, n))
    slopes = np.where((x * t).sum(axis=1) >= 0, 1.0, -1.0)
    return slopes, float(slopes.mean())
