"""Soft neighbors: every training row votes, the near ones more."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from gnomon.core.closed_form import OneStep
from gnomon.core.decoding import check_shapes
from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.validate import POSITIVE, Reads, check_fitted
from gnomon.loops.distances import METRICS
from gnomon.neighbors.kernel_weights import (
    KERNELS,
    candidate_gammas,
    in_blocks,
    log_kernel,
    normalized,
    squared_distances,
)


class SoftNeighborsClassifier(ClassifierMixin, OneStep):  # type: ignore[misc]
    r"""Classification where every training row votes with a weight that falls with its distance.

    .. math:: p_i(x) = \frac{e^{-\gamma d(x,x_i)^2}}{\sum_j e^{-\gamma d(x,x_j)^2}},\qquad
        P(c\mid x) = \sum_{i:\,y_i=c} p_i(x)

    γ → ∞ is the nearest neighbor (equally near rows share), γ → 0 the share of the classes. Weights are computed in
    logs, so a query far from everything still gets an answer: its nearest rows'. Smooth probabilities where
    `KNeighborsClassifier` jumps; every query costs a look at every row.

    Parameters
    ----------
    gamma : float or "loo", default=1.0
        How fast votes fall; "loo": the value with the smallest leave-one-out log-loss on a grid.
    kernel : {"rbf", "epanechnikov", "tricube", "tophat"} or callable, default="rbf"
        A function of :math:`u=\sqrt\gamma\,d`; compact ones end at u = 1, and a query that none reaches gets the
        shares of the classes.
    metric : str, default="euclidean"
        A metric of `pairwise_distances` on numbers.
    n_jobs : int, optional
        Threads; all by default.

    Attributes
    ----------
    classes_ : array
    gamma_ : float
    loo_path_ : array of shape (m, 2)
        With ``gamma="loo"``: each γ and its log-loss.

    Examples
    --------
    >>> model = SoftNeighborsClassifier(1.0).fit([[0.0], [1.0], [2.0], [5.0]], [-1, -1, 1, 1])
    >>> model.decision_function([[1.6], [1.4]]).round(7)
    array([ 0.0474283, -0.1746773])
    """

    _reads: ClassVar[Reads] = Reads(y="class")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "gamma": [POSITIVE, StrOptions({"loo"})],
        "kernel": [StrOptions(set(KERNELS)), callable],
        "metric": [StrOptions(set(METRICS) - {"nan_euclidean"})],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self, gamma: Any = 1.0, *, kernel: Any = "rbf", metric: str = "euclidean", n_jobs: int | None = None
    ) -> None:
        self.gamma = gamma
        self.kernel = kernel
        self.metric = metric
        self.n_jobs = n_jobs

    def _solve(self, rows: Any) -> dict[str, Any]:
        X, y, weight = rows.X, rows.y, rows.weight
        if rows.weighted:
            keep = weight > 0
            X, y, weight = X[keep], y[keep], weight[keep]
        shares = np.bincount(y, weights=weight, minlength=len(rows.classes))
        found: dict[str, Any] = {
            "fit_X_": X,
            "targets_": y,
            "log_weight_": np.log(weight / weight.max()),
            "class_share_": shares / shares.sum(),
            "gamma_": self.gamma,
        }
        if self.gamma == "loo":
            path = np.array([[g, self._loo_loss(X, y, weight, g)] for g in candidate_gammas(X, self.metric)])
            found.update(gamma_=float(path[path[:, 1].argmin(), 0]), loo_path_=path)
        return found

    def _loo_loss(self, X: Array, y: Array, weight: Array, gamma: float) -> float:
        """Return the mean of −ln P(y_i | x_i) when one copy of the row itself is left out."""
        if len(X) < 2 and weight.sum() <= 1:
            raise DataError("gamma='loo' needs at least two rows: one is left out.")
        with np.errstate(divide="ignore"):
            own, logs = np.log(np.maximum(weight - 1.0, 0.0)), np.log(weight)

        def loss(part: slice) -> float:
            table = log_kernel(squared_distances(X[part], X, self.metric), gamma, self.kernel) + logs
            at = np.arange(part.stop - part.start)
            table[at, np.arange(part.start, part.stop)] += own[part] - logs[part]
            p = normalized(table)
            right = (p * (y[part][:, None] == y)).sum(axis=1)
            return float(-(weight[part] * np.log(np.maximum(right, 1e-300))).sum())

        return sum(in_blocks(loss, len(X), len(X))) / float(weight.sum())

    def _blocks(self, X: Any, finish: Any) -> Array:
        Q = self._rows(X).X

        def work(part: slice) -> Array:
            squares = squared_distances(Q[part], self.fit_X_, self.metric)
            return finish(normalized(log_kernel(squares, self.gamma_, self.kernel) + self.log_weight_))

        with self._threads():
            return np.concatenate(list(in_blocks(work, len(Q), len(self.fit_X_))))

    def weights(self, X: Any) -> Array:
        """Return how much every training row counts for every query: (n, rows that count), each row sums to 1."""
        return self._blocks(X, lambda p: p)

    def _check_loaded(self) -> None:
        if "targets_" in vars(self):
            n, K = len(self.fit_X_), len(self.classes_)
            check_shapes(self, {"log_weight_": (n,), "class_share_": (K,)})
            check_shapes(self, {"targets_": (n,)}, kinds="iu")
            if n == 0 or not 0 <= int(self.targets_.min()) <= int(self.targets_.max()) < K:
                raise ModelFileError("its targets_ do not fit its classes. Get a new copy.")

    def predict_proba(self, X: Any) -> Array:
        """Return P(c | x), (n, K)."""
        check_fitted(self)
        members = np.zeros((len(self.targets_), len(self.classes_)))
        members[np.arange(len(members)), self.targets_] = 1.0

        def shares(p: Array) -> Array:
            P = p @ members
            total = P.sum(axis=1, keepdims=True)
            return np.where(total > 0, P / np.where(total > 0, total, 1.0), self.class_share_)

        return self._blocks(X, shares)

    def predict(self, X: Any) -> Array:
        """Return the most probable class; of equals the first."""
        P = self.predict_proba(X)
        return self.classes_[P.argmax(axis=1)]

    def decision_function(self, X: Any) -> Array:
        """Return P(second class) − P(first class) for two classes, the probabilities for more."""
        P = self.predict_proba(X)
        return P[:, 1] - P[:, 0] if P.shape[1] == 2 else P[:, 0] if P.shape[1] == 1 else P
