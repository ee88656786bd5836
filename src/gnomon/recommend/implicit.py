"""What recommenders of clicks and counts share: implicit's methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError
from gnomon.core.ids import codes_of
from gnomon.core.linalg import Array
from gnomon.core.ratings import RatingMatrix, read_ratings
from gnomon.core.threads import in_order
from gnomon.core.validate import check_parameters
from gnomon.recommend.base import BLOCK_SCORES, Recommender, cosines, largest


class ImplicitRecommender(Recommender):
    """A recommender of interactions: what is stored was clicked, so many times; the rest is not known."""

    def fit(self, user_items: Any, y: Any = None, show_progress: bool = True) -> Self:
        """Learn from interactions.

        Parameters
        ----------
        user_items : sparse matrix, RatingMatrix, or (user, item) pairs with y
            Counts or weights, users in rows. Zeros are no interactions; pairs that come twice are added up.
        y : array, optional
            The count of every pair.
        show_progress : bool
            Kept for implicit; nothing is printed. Use callbacks.

        Returns
        -------
        self
            The fitted recommender.
        """
        return self._learn(self._read_ratings(user_items, y), X=user_items, y=y)

    def iterate(self, user_items: Any, y: Any = None) -> Iterator[Self]:
        """Yield a fitted copy of the model at the start and after every step."""
        yield from self._iterate(self._read_ratings(user_items, y))

    def _read_ratings(self, X: Any, y: Any = None) -> RatingMatrix:
        check_parameters(self)
        R = read_ratings(X, y, explicit_zeros=False, duplicates="sum")
        if (R.values < 0).any():
            low = float(R.values.min())
            raise DataError(
                f"interactions must not be negative; the smallest is {low:g}. Leave dislikes out of X."
            )
        if (R.values == 0).any():
            R = R.take(R.values > 0)
        if not R.n_ratings:
            raise DataError("there are no interactions; all entries of X are zero.")
        return R

    def _answer(self, known: Any, round: bool) -> tuple[Array, Array]:
        """Newcomers: the share of users who have the item; an item that nobody has gets 0."""
        users, items = self._with_ratings(known)
        both = (users >= 0) & (items >= 0)
        counts = np.bincount(self.ratings_.indices, minlength=len(self.items_)) / max(1, len(self.users_))
        found = np.where(items >= 0, counts[items], 0.0)
        if both.any():
            found[both] = self._scores(users[both], items[both])
        return found, np.where(both, 0, np.where(items >= 0, 1, 3))

    def _newcomer_scores(self) -> Array:
        return np.bincount(self.ratings_.indices, minlength=len(self.items_)) / max(1, len(self.users_))

    def recommend(
        self,
        userid: Any,
        user_items: Any = None,
        N: int = 10,
        filter_already_liked_items: bool = True,
        filter_items: Any = None,
        recalculate_user: bool = False,
        items: Any = None,
    ) -> tuple[Array, Array]:
        """Return the best items for one user or several, and their scores, as implicit does.

        Parameters
        ----------
        userid : id, or list or array of ids
            For whom. A new user gets the most popular items.
        user_items : sparse matrix, optional
            The interactions of these users, a row each; those of the fit by default.
        N : int
            How many.
        filter_already_liked_items : bool
            Whether what the user has is left out.
        filter_items, items : ids, optional
            Never propose these; propose only of these.
        recalculate_user : bool
            Whether to make the users' vectors anew from `user_items`.

        Returns
        -------
        ids, scores : arrays
            One row per user where several are asked for.
        """
        check_is_fitted(self)
        many = isinstance(userid, list | np.ndarray) or hasattr(userid, "to_numpy")
        codes = codes_of(userid if many else [userid], self.users_)
        rows = self._rows_for(codes, user_items)
        allowed = self._allowed(filter_items, items)
        size = max(1, BLOCK_SCORES // max(1, len(self.items_)))

        def block(begin: int) -> tuple[Array, Array]:
            mine = rows[begin : begin + size]
            scores = self._score_rows(codes[begin : begin + size], mine, recalculate_user)
            scores[:, ~allowed] = -np.inf
            if filter_already_liked_items:
                scores[np.repeat(np.arange(mine.shape[0]), np.diff(mine.indptr)), mine.indices] = -np.inf
            return largest(scores, N)

        parts = list(in_order(block, range(0, len(codes), size)))
        found, scores = (np.concatenate(column) for column in zip(*parts))
        if many:
            return self.items_[found], scores
        kept = np.isfinite(scores[0])
        return self.items_[found[0][kept]], scores[0][kept]

    def _rows_for(self, codes: Array, user_items: Any) -> sparse.csr_array:
        if user_items is not None:
            rows = sparse.csr_array(user_items)
            if rows.shape != (len(codes), len(self.items_)):
                raise DataError(
                    f"user_items must have one row per user asked for and {len(self.items_)} columns; its shape is "
                    f"{rows.shape}."
                )
            return rows
        empty = sparse.csr_array((1, len(self.items_)), dtype=self.ratings_.dtype)
        known = sparse.csr_array(sparse.vstack([self.ratings_, empty]))
        return sparse.csr_array(known[codes])

    def _allowed(self, filter_items: Any, items: Any) -> Array:
        allowed = np.ones(len(self.items_), dtype=bool)
        if items is not None:
            allowed[:] = False
            chosen = codes_of(items, self.items_)
            allowed[chosen[chosen >= 0]] = True
        if filter_items is not None:
            dropped = codes_of(filter_items, self.items_)
            allowed[dropped[dropped >= 0]] = False
        return allowed

    def _score_rows(self, codes: Array, rows: sparse.csr_array, again: bool) -> Array:
        """Return scores of all items for some users, given what they have."""
        raise NotImplementedError


class ImplicitFactors(ImplicitRecommender):
    """A recommender of interactions with a vector for every user and item."""

    @property
    def user_factors(self) -> Array:
        """The vectors of the users, under implicit's name."""
        return self.user_factors_

    @property
    def item_factors(self) -> Array:
        """The vectors of the items, under implicit's name."""
        return self.item_factors_

    def _scores(self, users: Array, items: Array) -> Array:
        from gnomon.recommend.alternating import predictions

        return predictions(users, items, self.user_factors_, self.item_factors_)

    def _score_rows(self, codes: Array, rows: sparse.csr_array, again: bool) -> Array:
        if again:
            vectors = self.recalculate_user(None, rows)
        else:
            vectors = self.user_factors_[codes]
        scores = np.asarray(vectors @ self.item_factors_.T, dtype=vectors.dtype)
        new = np.flatnonzero(codes < 0) if not again else np.zeros(0, dtype=np.int64)
        if len(new):
            scores[new] = self._newcomer_scores()
        return scores

    def recalculate_user(self, userid: Any, user_items: Any) -> Array:
        """Return the vectors of users with these interactions, the items held fixed."""
        raise DataError(f"{type(self).__name__} cannot make vectors of users without a new fit.")

    def similar_items(
        self, itemid: Any, N: int = 10, filter_items: Any = None, items: Any = None
    ) -> tuple[Array, Array]:
        """Return the items most like one or several (itself first) and the cosines of their vectors."""
        return self._nearest(
            itemid, N, self.items_, self._likeness_of_items(), self._allowed(filter_items, items)
        )

    def similar_users(self, userid: Any, N: int = 10) -> tuple[Array, Array]:
        """Return the users most like one or several (itself first) and the cosines of their vectors."""
        return self._nearest(
            userid, N, self.users_, self.user_factors_, np.ones(len(self.users_), dtype=bool)
        )

    def _likeness_of_items(self) -> Array:
        return self.item_factors_

    def _nearest(self, one: Any, N: int, names: Array, vectors: Array, allowed: Array) -> tuple[Array, Array]:
        check_is_fitted(self)
        many = isinstance(one, list | np.ndarray)
        codes = codes_of(one if many else [one], names)
        if (codes < 0).any():
            raise DataError(f"{one!r} was not in the interactions; there is nothing to compare it by.")
        scores = cosines(vectors, vectors[codes])
        scores[:, ~allowed] = -np.inf
        found, values = largest(scores, N)
        if many:
            return names[found], values
        kept = np.isfinite(values[0])
        return names[found[0][kept]], values[0][kept]
