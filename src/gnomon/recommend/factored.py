"""What models with a vector for every user and item share: scores, lists, maps, newcomers with ratings."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.linalg import Array, fix_signs
from gnomon.core.threads import one_blas_thread
from gnomon.recommend.alternating import predictions
from gnomon.recommend.base import RatingRecommender


def central_interval(mean: Array, std: Array, level: float) -> tuple[Array, Array]:
    """Return the ends of the interval that holds a Gaussian with probability `level`."""
    from scipy.stats import norm

    if not 0 < level < 1:
        raise DataError(f"level must lie between 0 and 1; got {level}.")
    z = float(norm.ppf(0.5 + level / 2))
    return mean - z * std, mean + z * std


def finite_factors(init: Any, kind: Any) -> tuple[Array, Array]:
    """Return a pair of user and item factors to start from; they must be finite."""
    U, V = (np.array(part, dtype=kind, order="C") for part in init)
    if not (np.isfinite(U).all() and np.isfinite(V).all()):
        raise DataError("init must hold finite numbers; some are NaN or infinite.")
    return U, V


class Factored(RatingRecommender):
    """A model with `user_factors_` and `item_factors_`; an offset for each pair from `_offsets`."""

    @property
    def user_factors(self) -> Array:
        """The vectors of the users, under implicit's name."""
        return self.user_factors_

    @property
    def item_factors(self) -> Array:
        """The vectors of the items, under implicit's name."""
        return self.item_factors_

    def _check_arrays(self) -> None:
        super()._check_arrays()
        n, m = len(self.users_), len(self.items_)
        U, V = self.user_factors_, self.item_factors_
        if U.ndim != 2 or len(U) != n or V.shape != (m, U.shape[1]):
            raise ModelFileError("its factors do not fit its users and items; save the model again.")

    def _offsets(self, users: Array, items: Array) -> Any:
        """Return what is added to u · v of every pair; arrays that broadcast."""
        return 0.0

    def _scores(self, users: Array, items: Array) -> Array:
        return self._offsets(users, items) + predictions(users, items, self.user_factors_, self.item_factors_)

    def _score_table(self, codes: Array) -> Array:
        known = (codes >= 0) & ~np.isnan(self.user_means_[codes])
        if known.all():
            return self._known_scores(codes)
        table = np.empty((len(codes), len(self.items_)))
        table[~known] = self._newcomer_scores()
        table[known] = self._known_scores(codes[known])
        return table

    def _known_scores(self, users: Array) -> Array:
        """Return the scores of all items for users with ratings; an item without ratings gets the user's mean."""
        scores = np.asarray(self.user_factors_[users] @ self.item_factors_.T, dtype=np.float64)
        scores += self._offsets(users[:, None], np.arange(len(self.items_))[None, :])
        new = np.isnan(self.item_means_)
        if new.any():
            scores[:, new] = self.user_means_[users][:, None]
        return scores

    def _item_vectors(self) -> Any:
        return self.item_factors_

    def _user_vectors(self) -> Any:
        return self.user_factors_

    @one_blas_thread()
    def item_map(self, n: int = 2) -> Array:
        """Return items in n dimensions: their vectors on the principal axes, largest spread first."""
        V = self.item_factors_ - self.item_factors_.mean(axis=0)
        _, _, axes = np.linalg.svd(V, full_matrices=False)
        found = V @ fix_signs(axes.T)[:, :n]
        return np.pad(found, ((0, 0), (0, n - found.shape[1])))

    @one_blas_thread()
    def user_map(self, n: int = 2) -> Array:
        """Return users on the axes of `item_map`."""
        V = self.item_factors_ - self.item_factors_.mean(axis=0)
        _, _, axes = np.linalg.svd(V, full_matrices=False)
        found = (self.user_factors_ - self.item_factors_.mean(axis=0)) @ fix_signs(axes.T)[:, :n]
        return np.pad(found, ((0, 0), (0, n - found.shape[1])))

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the items, and the users, in the plane of `item_map`."""
        from gnomon.plot.recommend import item_map

        return item_map(self, ax=ax, **options)
