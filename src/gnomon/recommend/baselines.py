"""Baselines: means, biases, popularity, and a fit that cannot generalize."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from gnomon.core.closed_form import OneStep
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.ratings import RatingMatrix
from gnomon.core.threads import one_blas_thread
from gnomon.core.validate import NOT_NEGATIVE, NUMBER
from gnomon.recommend.base import RatingRecommender


@one_blas_thread()
def fit_biases(R: RatingMatrix, regularization: float) -> tuple[Array, Array]:
    """Return the user and item biases that minimize Σ(Y − μ − b_a − b_i)² + λ(Σb_a² + Σb_i²), μ the mean."""
    n, m = R.n_users, R.n_items
    rest = R.values - R.global_mean()
    right = np.concatenate([np.bincount(R.users, rest, minlength=n), np.bincount(R.items, rest, minlength=m)])
    counts = np.concatenate([np.bincount(R.users, minlength=n), np.bincount(R.items, minlength=m)])
    diagonal = counts + regularization

    def product(b: Array) -> Array:
        users, items = b[:n], b[n:]
        cross = np.concatenate(
            [
                np.bincount(R.users, items[R.items], minlength=n),
                np.bincount(R.items, users[R.users], minlength=m),
            ]
        )
        return diagonal * b + cross

    safe = np.where(diagonal > 0, diagonal, 1.0)
    A = LinearOperator((n + m, n + m), matvec=product, dtype=np.float64)
    inverse = LinearOperator((n + m, n + m), matvec=lambda b: b / safe, dtype=np.float64)
    found, _ = cg(A, right, rtol=1e-13, atol=0.0, maxiter=10 * (n + m), M=inverse)
    found = np.where(counts > 0, found, 0.0)
    return found[:n], found[n:]


class MeanRecommender(RatingRecommender, OneStep):
    r"""Predict means: of the user, of the item, of all, or a global mean plus biases.

    With ``level="biases"`` the prediction is :math:`\mu + b_a + b_i` with

    .. math:: \min_b \sum_D (Y_{ai} - \mu - b_a - b_i)^2 + \lambda \Big(\sum_a b_a^2 + \sum_i b_i^2\Big),

    :math:`\mu` the mean of all ratings; solved exactly. Every other model has to beat this one. A new user is
    answered
    by the item's mean, a new item by the user's, both by the global mean.

    Parameters
    ----------
    level : {"user", "item", "global", "biases"}
        Which mean.
    regularization : float
        λ of the biases.

    Attributes
    ----------
    global_mean_ : float
    user_bias_, item_bias_ : arrays
        Zero unless ``level="biases"``.
    users_, items_ : arrays
        Ids, sorted.
    ratings_ : CSR array
        What was learned from.

    Examples
    --------
    >>> R = [[5, 3, np.nan], [4, np.nan, 1]]
    >>> MeanRecommender("user").fit(R).predict([(0, 2), (1, 1), (7, 0)])
    array([4. , 2.5, 4.5])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "level": [StrOptions({"user", "item", "global", "biases"})],
        "regularization": [NOT_NEGATIVE],
    }

    def __init__(self, level: str = "user", *, regularization: float = 0.0) -> None:
        self.level = level
        self.regularization = regularization

    def _solve(self, R: RatingMatrix) -> dict[str, Any]:
        users, items = np.zeros(R.n_users), np.zeros(R.n_items)
        if self.level == "biases":
            users, items = fit_biases(R, float(self.regularization))
        return {"user_bias_": users, "item_bias_": items}

    def _scores(self, users: Array, items: Array) -> Array:
        if self.level == "biases":
            return self.global_mean_ + self.user_bias_[users] + self.item_bias_[items]
        means = self._means()
        if self.level == "global":
            return np.full(len(users), means.whole)
        return means.user[users] if self.level == "user" else means.item[items]


class PopularityRecommender(RatingRecommender, OneStep):
    """Propose what most people have rated; predict the mean of the item.

    Ties of popularity go to the better mean, then to the item that comes first.

    Parameters
    ----------
    threshold : float, optional
        Count only ratings of at least this; all by default.

    Attributes
    ----------
    counts_ : array
        Ratings of every item that count.
    users_, items_ : arrays
        Ids, sorted.
    ratings_ : CSR array
        What was learned from.

    Examples
    --------
    >>> R = [[5, 3, np.nan], [4, np.nan, 1], [np.nan, np.nan, 2]]
    >>> PopularityRecommender().fit(R).recommend(1, 2)
    (array([1]), array([1.]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"threshold": [NUMBER, None]}

    def __init__(self, *, threshold: float | None = None) -> None:
        self.threshold = threshold

    def _solve(self, R: RatingMatrix) -> dict[str, Any]:
        counted = R.values >= (-np.inf if self.threshold is None else self.threshold)
        return {"counts_": np.bincount(R.items[counted], minlength=R.n_items)}

    def _scores(self, users: Array, items: Array) -> Array:
        return self._means().item[items]

    def _score_table(self, codes: Array) -> Array:
        means = np.nan_to_num(self._means().item, nan=-np.inf)
        order = np.lexsort((np.arange(len(means)), -means, -self.counts_))
        scores = self.counts_.astype(np.float64)
        place = np.empty(len(order))
        place[order] = np.arange(len(order))
        return np.tile(scores - place / (4.0 * max(1, len(order)) * 10.0), (len(codes), 1))

    def _top(
        self, codes: Array, N: int, allowed: Array, unseen: bool, diversity: float
    ) -> tuple[Array, Array]:
        found, scores = super()._top(codes, N, allowed, unseen, diversity)
        return found, np.where(np.isfinite(scores), self.counts_[found].astype(np.float64), -np.inf)
