"""What recommenders of clicks and counts share: implicit's methods."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.ids import codes_of, is_many
from gnomon.core.linalg import Array
from gnomon.core.ratings import RatingMatrix, read_ratings
from gnomon.core.settings import check_parameters
from gnomon.core.threads import in_order, threads
from gnomon.recommend.base import BLOCK_SCORES, Recommender, check_length, cosines, largest
from gnomon.recommend.newcomers import as_rows


class ImplicitRecommender(Recommender):
    """A recommender of interactions: what is stored was clicked, so many times; the rest is not known."""

    def fit(self, user_items: Any, y: Any = None, show_progress: bool = True, callback: Any = None) -> Self:
        """Learn from interactions.

        Parameters
        ----------
        user_items : sparse matrix, RatingMatrix, or (user, item) pairs with y
            Counts or weights, users in rows. Zeros are no interactions; pairs that come twice are added up.
        y : array, optional
            The count of every pair.
        show_progress : bool
            Kept for implicit; nothing is printed. `set_callbacks` takes scikit-learn's progress bar.
        callback : function, optional
            Called after every sweep as implicit calls it: with the number of the sweep, its seconds, and the loss
            (None where it is not calculated), or for ranking the shares that were correct and skipped.

        Returns
        -------
        self
            The fitted recommender.
        """
        R = self._read_ratings(user_items, y)
        if callback is None:
            return self._learn(R, X=user_items, y=y)
        self._after_sweep = callback
        try:
            return self._learn(R, X=user_items, y=y)
        finally:
            del self._after_sweep

    def _tell(self, sweep: int, begin: float, *numbers: Any) -> None:
        """Tell implicit's callback of a sweep that began at this second of the clock."""
        callback = getattr(self, "_after_sweep", None)
        if callback is not None:
            callback(sweep, time.perf_counter() - begin, *numbers)

    def iterate(self, user_items: Any, y: Any = None) -> Iterator[Self]:
        """Yield a fitted copy of the model at the start and after every step."""
        yield from self._iterate(self._read_ratings(user_items, y))

    def _read_ratings(self, X: Any, y: Any = None) -> RatingMatrix:
        check_parameters(self)
        R = read_ratings(X, y, explicit_zeros=False, duplicates="sum")
        if sparse.issparse(X):  # implicit's kind of numbers, which its compiled functions ask for
            R.user_names, R.item_names = R.user_names.astype(np.int32), R.item_names.astype(np.int32)
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
            For whom. A user who is new or has nothing gets the most popular items.
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
            One row per user where several are asked for; where fewer than N items are left, the row ends in what the
            user has, with scores of −inf.
        """
        check_is_fitted(self)
        check_length(N)
        many = is_many(userid)
        codes = codes_of(userid if many else [userid], self.users_)
        given = user_items if filter_already_liked_items or recalculate_user else None
        rows = self._rows_for(codes, given)
        allowed = np.flatnonzero(self._allowed(filter_items, items))
        whole = len(allowed) == len(self.items_)
        size = max(1, BLOCK_SCORES // max(1, len(self.items_)))

        def block(begin: int) -> tuple[Array, Array]:
            mine = rows[begin : begin + size]
            scores = self._score_rows(codes[begin : begin + size], mine, recalculate_user)
            if filter_already_liked_items:
                scores[np.repeat(np.arange(mine.shape[0]), np.diff(mine.indptr)), mine.indices] = -np.inf
            found, best = largest(scores if whole else scores[:, allowed], N)
            return allowed[found], best

        parts = list(in_order(block, range(0, len(codes), size)))
        n = min(N, len(allowed))
        parts = parts or [(np.zeros((0, n), dtype=np.int64), np.zeros((0, n)))]
        found, scores = (np.concatenate(column) for column in zip(*parts))
        if many:
            return self.items_[found], scores
        kept = np.isfinite(scores[0])
        return self.items_[found[0][kept]], scores[0][kept]

    def _rows_for(self, codes: Array, user_items: Any) -> sparse.csr_array:
        if user_items is not None:
            rows = as_rows(user_items, len(self.items_), "user")
            if rows.shape[0] != len(codes):
                raise DataError(
                    f"user_items must have one row per user asked for ({len(codes)}); it has {rows.shape[0]}."
                )
            return rows
        if (codes >= 0).all():
            return sparse.csr_array(self.ratings_[codes])
        empty = sparse.csr_array((1, len(self.items_)), dtype=self.ratings_.dtype)
        known = sparse.csr_array(sparse.vstack([self.ratings_, empty]))
        return sparse.csr_array(known[codes])

    def _allowed(self, filter_items: Any, items: Any) -> Array:
        return self._chosen(self.items_, filter_items, items)

    def _score_rows(self, codes: Array, rows: sparse.csr_array, again: bool) -> Array:
        """Return scores of all items for some users, given what they have."""
        raise NotImplementedError

    def recalculate_user(self, userid: Any, user_items: Any) -> Array:
        """Return the vectors of users with these interactions, the items held fixed."""
        raise NotImplementedError(f"{type(self).__name__} cannot make vectors of users without a new fit.")

    def recalculate_item(self, itemid: Any, item_users: Any) -> Array:
        """Return the vectors of items with these interactions, the users held fixed."""
        raise NotImplementedError(f"{type(self).__name__} cannot make vectors of items without a new fit.")

    def similar_items(
        self,
        itemid: Any,
        N: int = 10,
        recalculate_item: bool = False,
        item_users: Any = None,
        filter_items: Any = None,
        items: Any = None,
    ) -> tuple[Array, Array]:
        """Return the items most like one or several (itself first) and how alike they are.

        Parameters
        ----------
        itemid : id, or list or array of ids
            Like what; several give one row each.
        N : int
            How many; an item that is like fewer gives fewer, and in rows of several scores of −inf.
        recalculate_item : bool
            Whether to make the items' vectors anew from `item_users`; not for `ItemItemRecommender`.
        item_users : sparse matrix, optional
            The interactions of these items, a row each.
        filter_items, items : ids, optional
            Leave these out; choose only of these.

        Returns
        -------
        ids, scores : arrays
            Scores are cosines: of vectors, or of what `ItemItemRecommender` compares.
        """
        check_is_fitted(self)
        check_length(N)
        if recalculate_item and item_users is None:
            raise DataError("recalculate_item=True needs item_users, a row of interactions for every item.")
        asked = self.recalculate_item(itemid, item_users) if recalculate_item else None
        return self._items_like(itemid, N, self._allowed(filter_items, items), asked)

    def _items_like(self, itemid: Any, N: int, allowed: Array, asked: Any) -> tuple[Array, Array]:
        """Return the N items of those allowed that are most like some, or like the vectors `asked`."""
        raise NotImplementedError

    def similar_users(
        self, userid: Any, N: int = 10, filter_users: Any = None, users: Any = None
    ) -> tuple[Array, Array]:
        """Return the users most like one or several (itself first) and the cosines of their vectors.

        Parameters
        ----------
        userid : id, or list or array of ids
            Like whom; several give one row each.
        N : int
            How many.
        filter_users, users : ids, optional
            Leave these out; choose only of these.

        Returns
        -------
        ids, cosines : arrays
        """
        allowed = self._chosen(self.users_, filter_users, users)
        return self._nearest(userid, N, self.users_, self._user_vectors(), allowed)

    def _nearest(
        self, one: Any, N: int, names: Array, vectors: Any, allowed: Array, asked: Any = None
    ) -> tuple[Array, Array]:
        """Return the rows most like some (or like the vectors `asked`), of those that are allowed."""
        check_is_fitted(self)
        check_length(N)
        many = is_many(one)
        codes = codes_of(one if many else [one], names)
        if asked is None and (codes < 0).any():
            raise DataError(f"{one!r} was not in the interactions; there is nothing to compare it by.")
        columns = np.flatnonzero(allowed)
        found, values = largest(cosines(vectors[columns], vectors[codes] if asked is None else asked), N)
        found = columns[found]
        return (names[found], values) if many else (names[found[0]], values[0])

    # files, under implicit's names

    def save(self, fileobj_or_path: Any) -> None:
        """Write the model to a file, as `gnomon.save` does; an open file will do."""
        from gnomon.core.saving import save

        if not hasattr(fileobj_or_path, "write"):
            return save(self, fileobj_or_path)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.gnomon"
            save(self, path)
            fileobj_or_path.write(path.read_bytes())

    @classmethod
    def load(cls, fileobj_or_path: Any) -> Self:
        """Read a model from a file, as `gnomon.load` does; it must be of this class."""
        from gnomon.core.saving import load

        if hasattr(fileobj_or_path, "read"):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "model.gnomon"
                path.write_bytes(fileobj_or_path.read())
                return cls.load(path)
        found = load(fileobj_or_path)
        if not isinstance(found, cls):
            raise ModelFileError(f"{fileobj_or_path} holds a {type(found).__name__}, not a {cls.__name__}.")
        return found


class ImplicitFactors(ImplicitRecommender):
    """A recommender of interactions with a vector for every user and item."""

    num_threads: int

    def _threads(self) -> Any:
        return threads(int(self.num_threads)) if self.num_threads else nullcontext()

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
        starts = self.ratings_.indptr
        new = np.flatnonzero((codes < 0) | (starts[codes + 1] == starts[codes])) if not again else []
        if len(new):
            scores[new] = self._newcomer_scores()
        return scores

    def _items_like(self, itemid: Any, N: int, allowed: Array, asked: Any) -> tuple[Array, Array]:
        return self._nearest(itemid, N, self.items_, self.item_factors_, allowed, asked)

    def _check_arrays(self) -> None:
        super()._check_arrays()
        U, V = self.user_factors_, self.item_factors_
        if U.ndim != 2 or len(U) != len(self.users_) or V.shape != (len(self.items_), U.shape[1]):
            raise ModelFileError("its factors do not fit its users and items; save the model again.")

    def _user_vectors(self) -> Any:
        return self.user_factors_
