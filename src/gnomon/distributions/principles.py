"""Maximum likelihood, MAP, posterior mean and predictive estimation by one interface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from gnomon.core.errors import DataError, nearest
from gnomon.distributions.base import Array, Family
from gnomon.distributions.conjugate import Conjugate

METHODS = ("ml", "map", "mean", "predictive")


def estimate(
    family: Family,
    X: ArrayLike,
    method: str = "ml",
    prior: Any = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    r"""Fit a family by the principle of your choice.

    .. math:: \hat\theta = \arg\max_\theta \sum_i \ln p(x_i \mid \theta) \; (+ \ln p(\theta))

    Parameters
    ----------
    family : family
        What to fit.
    X : array-like
        The rows.
    method : {"ml", "map", "mean", "predictive"}
        Maximum likelihood (the family closest to the empirical distribution in cross-entropy), most probable
        parameter, expected parameter, or the distribution of the next row with the parameter averaged out.
    prior : distribution, optional
        Conjugate prior; "map" without one is maximum likelihood, the flat prior.
    sample_weight : array-like of shape (n,), optional
        Repetitions of the rows.

    Examples
    --------
    >>> from gnomon.distributions import Bernoulli, Beta
    >>> [estimate(Bernoulli(), [1, 1], m, Beta(2, 2)).p.item() for m in ("ml", "map", "mean")]
    [1.0, 0.75, 0.6666666666666666]
    """
    if method not in METHODS:
        raise DataError(
            f"method must be one of {', '.join(METHODS)}; got {method!r}.{nearest(method, METHODS)}"
        )
    if method == "ml" or (method == "map" and prior is None):
        return family.fit(X, sample_weight)
    if prior is None:
        raise DataError(f"method {method!r} needs a prior.")
    belief = Conjugate(family, prior).update(X, sample_weight)
    return getattr(belief, method)()


class Maximum(NamedTuple):
    """Where a likelihood is largest."""

    parameters: Array
    log_likelihood: float
    gradient: Array  # by finite differences, at the solution
    converged: bool


def maximum_likelihood(
    log_density: Callable[[Array, Array], Array],
    X: ArrayLike,
    start: ArrayLike,
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
) -> Maximum:
    """Maximize Σ ln p(x_i; θ) numerically, for a density that no family covers.

    ``log_density(X, θ)`` returns one number per row. The maximum found is local: start near the answer.

    >>> found = maximum_likelihood(
    ...     lambda x, t: np.log(t[0]) - t[0] * x, [1.0, 2.0, 6.0], [1.0], [(1e-9, None)]
    ... )
    >>> found.parameters.round(5)
    array([0.33333])
    """
    X = np.asarray(X, dtype=np.float64)

    def cost(theta: Array) -> float:
        return -float(np.sum(log_density(X, theta)))

    start = np.atleast_1d(np.asarray(start, dtype=np.float64))
    found = minimize(cost, start, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9})
    if not np.all(np.isfinite(found.x)) or not np.isfinite(found.fun):
        raise DataError("maximum_likelihood: the log-density is not finite at the start; choose another one.")
    step = 1e-6 * np.maximum(1.0, np.abs(found.x))
    slopes = [(cost(found.x - e) - cost(found.x + e)) / (2 * e.sum()) for e in np.diag(step)]
    return Maximum(found.x, -float(found.fun), np.array(slopes), bool(found.success))
