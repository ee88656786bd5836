"""Active learning: which point to measure next, by the variance of its prediction."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, nearest
from gnomon.core.linalg import Array
from gnomon.core.randomness import generator
from gnomon.core.validate import matrix


class Queries(NamedTuple):
    """Points of a pool in the order in which to measure them."""

    order: Array
    variances: Array  # predictive variance of each when it is asked
    entropy_drops: Array  # what its answer takes off the posterior entropy


def select_queries(model: Any, pool: Any, n_queries: int | None = None) -> Queries:
    r"""Return the greedy order of maximum predictive variance.

    .. math:: q = \arg\max_i\; \sigma^2 + x_i^\top\Sigma x_i, \qquad
        \Sigma \leftarrow \Sigma - \frac{\Sigma x_q x_q^\top\Sigma}{\sigma^2 + x_q^\top\Sigma x_q}

    The order does not depend on the answers, so it can be planned ahead. Each query also takes the most off
    the entropy of the coefficients, ½ ln(1 + xᵀΣx/σ²). Ties go to the lowest index.

    Parameters
    ----------
    model : BayesianLinearRegression
        Fitted, or a prior: ``BayesianLinearRegression(fit_intercept=False).prior(d)``.
    pool : matrix
        The points that may be measured.
    n_queries : int, default=None
        How many to choose; None orders the whole pool.

    Examples
    --------
    >>> from gnomon.linear import BayesianLinearRegression
    >>> prior = BayesianLinearRegression(fit_intercept=False).prior(2)
    >>> select_queries(prior, [[1.0, 0.0], [2.0, 0.0], [0.0, 1.5]]).order
    array([1, 2, 0])
    """
    X = matrix(pool, name="pool").astype(np.float64)
    count = len(X) if n_queries is None else int(n_queries)
    if not 0 < count <= len(X):
        raise DataError(f"n_queries must lie in 1..{len(X)}, the size of the pool; got {n_queries}.")
    if model.fit_intercept or model.noise != "known":
        raise DataError("plan queries with known noise and fit_intercept=False; a ones column has a prior.")
    noise, Q = float(model.noise_variance), X @ model.covariance_  # rows Σx
    spread = np.einsum("ij,ij->i", Q, X)
    order, variances, open_ = [], [], np.ones(len(X), bool)
    for _ in range(count):
        k = int(np.argmax(np.where(open_, spread, -np.inf)))
        open_[k] = False
        order.append(k)
        variances.append(noise + spread[k])
        shared = X @ Q[k]
        spread = spread - shared**2 / variances[-1]
        Q = Q - np.outer(shared, Q[k]) / variances[-1]
    asked = np.array(variances)
    return Queries(np.array(order), asked, 0.5 * np.log(asked / noise))


class ActiveLearner:
    """Ask, measure, learn, ask again.

    Parameters
    ----------
    model : BayesianLinearRegression
        Fitted, or a prior. It is copied.
    pool : matrix
    criterion : {"variance", "random"}
        ``"random"`` is the yardstick.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    model : BayesianLinearRegression
        What is believed now.
    history_ : list of (index, y, variance)
        What was asked and answered, with the predictive variance before the answer.

    Examples
    --------
    >>> from gnomon.linear import BayesianLinearRegression
    >>> learner = ActiveLearner(BayesianLinearRegression(fit_intercept=False).prior(1), [[1.0], [3.0]])
    >>> learner.next()
    1
    >>> learner.tell(1, 6.0).model.coef_.round(3)
    array([1.8])
    """

    def __init__(
        self, model: Any, pool: Any, *, criterion: str = "variance", random_state: Any = None
    ) -> None:
        if criterion not in ("variance", "random"):
            hint = nearest(criterion, ["variance", "random"])
            raise ValueError(f"criterion must be 'variance' or 'random'; got {criterion!r}.{hint}")
        self.model = deepcopy(model)
        self.pool = matrix(pool, name="pool").astype(np.float64)
        self.criterion = criterion
        self.history_: list[tuple[int, float, float]] = []
        self._rng = generator(random_state)

    def next(self) -> int:
        """Return the index of the point to measure."""
        left = self._left()
        if not len(left):
            raise DataError("every point of the pool has been measured.")
        if self.criterion == "random":
            return int(self._rng.choice(left))
        return int(left[np.argmax(self.model.predict_distribution(self.pool[left]).var())])

    def tell(self, index: int, y: float) -> ActiveLearner:
        """Learn the value measured at a point of the pool."""
        if index not in self._left():
            raise DataError(f"point {index} was measured before, or is not in the pool.")
        x = self.pool[index : index + 1]
        variance = float(self.model.predict_distribution(x).var()[0])
        self.model.partial_fit(x, [y])
        self.history_.append((int(index), float(y), variance))
        return self

    def _left(self) -> Array:
        asked = [index for index, *_ in self.history_]
        return np.setdiff1d(np.arange(len(self.pool)), asked)
