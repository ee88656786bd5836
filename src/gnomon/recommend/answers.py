"""What a fitted factorization can be asked: newcomers, distributions, reasons."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError
from gnomon.core.ids import codes_of
from gnomon.core.linalg import Array
from gnomon.core.ratings import ById
from gnomon.core.threads import one_blas_thread
from gnomon.recommend.alternating import as_ratings, ridge_of, side_of, solve_side
from gnomon.recommend.factored import Factored, central_interval


class FactorAnswers(Factored):
    """Answers of a model of users' and items' vectors, with the settings of `MatrixFactorization`."""

    def _lambda(self) -> float:
        raise NotImplementedError

    def _scaling(self) -> str:
        raise NotImplementedError

    def _offsets(self, users: Array, items: Array) -> Any:
        if not self.biases:
            return 0.0
        return self.global_mean_ + self.user_bias_[users] + self.item_bias_[items]

    def fold_in(self, ratings: Any) -> Array:
        """Return the vector of a new user from some ratings, the items held fixed.

        Parameters
        ----------
        ratings : dict item -> rating, or pairs (item, rating)
            What the new user has said; items the model does not know are left out.

        Returns
        -------
        array of shape (k,)
            ``model.item_factors_ @ vector`` are the predictions (plus `_offsets` with biases: the user's own
            is that of
            the ridge regression with λ).
        """
        vector, _ = self._folded(ratings)
        return vector

    @one_blas_thread()
    def predict_new(self, ratings: Any, items: Any = None) -> Array:
        """Return predictions for a new user with these ratings, for some items or for all."""
        vector, bias = self._folded(ratings)
        codes = np.arange(len(self.items_)) if items is None else codes_of(items, self.items_)
        found = self.item_factors_[codes] @ vector
        if self.biases:
            found = found + self.global_mean_ + bias + self.item_bias_[codes]
        return np.where(codes >= 0, found, self.global_mean_)

    def _item_vectors_of_starts(self) -> list[Array]:
        """Return the items' vectors of every start that is averaged; of a single one all of them."""
        return np.split(self.item_factors_, self.item_factors_.shape[1] // int(self.factors), axis=1)

    def _folded(self, ratings: Any) -> tuple[Array, float]:
        check_is_fitted(self)
        codes, values = as_ratings(ratings, self.items_)
        if len(np.unique(codes)) < len(codes):
            raise DataError("a new user has rated an item more than once; give one rating of each.")
        lam = self._lambda()
        if self.biases:
            values = values - self.global_mean_ - self.item_bias_[codes]
        runs = ById(np.array([0, len(codes)]), codes.astype(np.int32), values)
        side = side_of(runs)
        ridge = ridge_of(side, lam, self._scaling())
        found = []
        for V in self._item_vectors_of_starts():
            if self.biases:
                V = np.hstack([V, np.ones((len(V), 1), dtype=V.dtype)])
            found.append(solve_side(side, np.ascontiguousarray(V), ridge, what="user")[0])
        if not self.biases:
            return np.concatenate(found) / len(found), 0.0
        vector = np.concatenate([one[:-1] for one in found]) / len(found)
        return vector, float(np.mean([one[-1] for one in found]))

    @one_blas_thread()
    def predict_distribution(self, X: Any) -> tuple[Array, Array]:
        r"""Return mean and standard deviation of the rating of every pair, the items held at their MAP values.

        The vector of a user is Gaussian then, and the variance of a rating :math:`v_i^T Λ_a^{-1} v_i + σ^2`
        with
        :math:`Λ_a = τ I + \sum_{j ∈ D_a} v_j v_j^T / σ^2`. Needs `noise_variance` and `prior_precision`. A
        new user has the
        prior's variance; a new item that of the observed ratings.

        Parameters
        ----------
        X : (user, item) pairs
            Whom and what to ask about.

        Returns
        -------
        mean, std : arrays
        """
        if self.noise_variance is None or self.prior_precision is None:
            raise DataError("predict_distribution needs noise_variance and prior_precision.")
        known = self._known(X)
        mean = self._answer(known, False)[0]
        sigma2, tau = float(self.noise_variance), float(self.prior_precision)
        variance = np.full(len(mean), float(self.ratings_.data.var()) + sigma2)
        for a in np.unique(known.users):
            here = (known.users == a) & (known.items >= 0)
            of_starts = []
            for vectors in self._item_vectors_of_starts():
                V = vectors[known.items[here]].astype(np.float64)
                L = tau * np.eye(V.shape[1])
                if a >= 0:
                    low, high = self.ratings_.indptr[a : a + 2]
                    seen = vectors[self.ratings_.indices[low:high]].astype(np.float64)
                    L = L + seen.T @ seen / sigma2
                of_starts.append(np.einsum("ik,ik->i", V, np.linalg.solve(L, V.T).T))
            variance[here] = np.mean(of_starts, axis=0) + sigma2
        return mean, np.sqrt(variance)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Return the lower and upper end of the central interval of every rating, by `predict_distribution`."""
        return central_interval(*self.predict_distribution(X), level)

    @one_blas_thread()
    def explain(self, user: Any, item: Any, N: int = 5) -> tuple[Array, Array]:
        r"""Return the rated items that speak most for a proposal ("because you liked"), and what each adds.

        With the items held fixed a prediction is linear in the user's ratings,
        :math:`u_a \cdot v_i = \sum_j w_{ij} Y_{aj}`;
        the terms of the sum are returned, largest first.
        """
        known = self._known([(user, item)])
        a, i = int(known.users[0]), int(known.items[0])
        if a < 0 or i < 0:
            return self.items_[:0], np.zeros(0)
        low, high = self.ratings_.indptr[a : a + 2]
        codes, values = self.ratings_.indices[low:high], self.ratings_.data[low:high]
        if self.biases:
            values = values - self.global_mean_ - self.user_bias_[a] - self.item_bias_[codes]
        ridge = self._lambda() * (len(codes) if self._scaling() == "rating" else 1.0)
        shares = []
        for vectors in self._item_vectors_of_starts():
            seen = vectors[codes].astype(np.float64)
            A = seen.T @ seen + ridge * np.eye(seen.shape[1])
            shares.append(seen @ np.linalg.lstsq(A, vectors[i].astype(np.float64), rcond=None)[0])
        parts = np.mean(shares, axis=0) * values
        order = np.argsort(-parts, kind="stable")[:N]
        return self.items_[codes[order]], parts[order]
