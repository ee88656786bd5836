"""What every recommender does: read ratings, answer for pairs, propose lists, and say what it does for newcomers."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.ids import codes_of, is_many, pair_columns
from gnomon.core.linalg import Array
from gnomon.core.ratings import ById, RatingMatrix, read_ratings
from gnomon.core.settings import check_parameters
from gnomon.core.steps import Learner
from gnomon.core.threads import in_order, one_blas_thread
from gnomon.recommend.lists import rerank_mmr, round_ratings

BLOCK_SCORES = 2**21  # of a block of users, all items
DAMPING = 5.0  # ratings of the global mean that a newcomer's list adds to every item
LONG_LIST = 256  # entries; longer lists are sorted whole
CHUNK_ENTRIES = 2**13  # ratings in a piece of work

SOURCES = np.array(["model", "item mean", "user mean", "global mean"])


class Known(NamedTuple):
    """Codes of pairs, -1 where the model has not met the id."""

    users: Array
    items: Array


class Recommender(Learner):
    """The methods that all recommenders share.

    Subclasses write `_scores(users, items)` for codes that both have ratings; NaN means that they cannot say.
    Everything
    else is answered by a mean: of the item for a new user, of the user for a new item, of all when both are
    new.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from ratings.

        Parameters
        ----------
        X : RatingMatrix, (user, item) pairs, sparse matrix, or table with NaN for what is not rated
            The ratings, or with `y` the pairs that were rated.
        y : array, optional
            The rating of every pair.

        Returns
        -------
        self
            The fitted recommender.
        """
        return self._learn(self._read_ratings(X, y), X=X, y=y)

    def iterate(self, X: Any, y: Any = None) -> Iterator[Self]:
        """Yield a fitted copy of the model at the start and after every step."""
        yield from self._iterate(self._read_ratings(X, y))

    def _read_ratings(self, X: Any, y: Any = None) -> RatingMatrix:
        check_parameters(self)
        return read_ratings(X, y)

    def _first_state(self, work: Any, seed: int, index: int) -> Any:
        with one_blas_thread():
            return super()._first_state(work, seed, index)

    def _steps(self, work: Any, state: Any, recorder: Any) -> Iterator[Any]:
        """Keep BLAS on one thread in every step: how it shares a product out changes the last digits."""
        moments = super()._steps(work, state, recorder)
        while True:
            with one_blas_thread():
                moment = next(moments, None)
            if moment is None:
                return
            yield moment

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags

    def _check_loaded(self) -> None:
        if hasattr(self, "users_"):
            try:
                check_parameters(self)  # loops take `k` at its word
            except (ValueError, TypeError) as error:
                raise ModelFileError(f"its settings cannot be: {error}") from None
            self._check_arrays()

    def _check_arrays(self) -> None:
        """Refuse a file whose ratings and ids do not belong together."""
        n, m = len(self.users_), len(self.items_)
        R = self.ratings_
        bad = R.shape != (n, m) or len(R.indices) != len(R.data) or len(R.indptr) != n + 1
        bad = bad or R.indptr[0] != 0 or R.indptr[-1] != len(R.data) or (np.diff(R.indptr) < 0).any()
        if bad or (len(R.indices) and not 0 <= R.indices.min() <= R.indices.max() < m):
            raise ModelFileError("its ratings do not fit its users and items; save the model again.")
        for name, size in (("user_means_", n), ("item_means_", m), ("user_bias_", n), ("item_bias_", m)):
            if np.shape(getattr(self, name, np.zeros(size))) != (size,):
                raise ModelFileError(f"its {name} does not fit its users and items; save the model again.")

    # pairs

    def predict(self, X: Any, *, round: bool = False) -> Array:
        """Return the rating expected of every (user, item) pair; ids need not be known.

        Parameters
        ----------
        X : array or list of (user, item) pairs, or data frame with two columns
            Whom and what to ask about.
        round : bool
            Whether to go to the nearest rating of ``rating_options``, or of those that occur in the training.

        Returns
        -------
        array
            One number per pair.
        """
        return self._answer(self._known(X), round)[0]

    def predict_source(self, X: Any) -> Array:
        """Return who answers for each pair: "model", "item mean" (new user), "user mean" (new item), "global mean"."""
        return SOURCES[self._answer(self._known(X), False)[1]]

    def predict_matrix(self, users: Any = None, items: Any = None, *, round: bool = False) -> Array:
        """Return the table of predictions for some users and items, or for all that the model knows."""
        check_is_fitted(self)
        rows = np.arange(len(self.users_)) if users is None else codes_of(users, self.users_)
        columns = np.arange(len(self.items_)) if items is None else codes_of(items, self.items_)
        grid = Known(np.repeat(rows, len(columns)), np.tile(columns, len(rows)))
        return self._answer(grid, round)[0].reshape(len(rows), len(columns))

    def _known(self, X: Any) -> Known:
        check_is_fitted(self)
        users, items = pair_columns(X)
        return Known(codes_of(users, self.users_), codes_of(items, self.items_))

    def _answer(self, known: Known, round: bool) -> tuple[Array, Array]:
        """Return predictions and the number of the rule behind each."""
        users, items = self._with_ratings(known)
        both = (users >= 0) & (items >= 0)
        found = np.full(len(users), np.nan)
        if both.any():
            found[both] = self._scores(users[both], items[both])
        source = np.where(np.isnan(found), 3, 0)
        means = self._means()
        for rule, codes, mean in ((1, items, means.item), (2, users, means.user)):
            value = np.where(codes >= 0, mean[codes], np.nan)  # NaN: met, but without a rating
            here = (source == 3) & ~np.isnan(value)
            found[here], source[here] = value[here], rule
        found[source == 3] = means.whole
        if round:
            found = round_ratings(found, self._options())
        return found, source

    def _with_ratings(self, known: Known) -> Known:
        """Return the codes, -1 also for ids that came without any rating."""
        means = self._means()
        users = np.where(known.users >= 0, known.users, -1)
        items = np.where(known.items >= 0, known.items, -1)
        users[(users >= 0) & np.isnan(means.user[users])] = -1
        items[(items >= 0) & np.isnan(means.item[items])] = -1
        return Known(users, items)

    def _options(self) -> Array:
        given = getattr(self, "rating_options", None)
        return np.unique(self.ratings_.data) if given is None else np.asarray(given, dtype=np.float64)

    def _means(self) -> Means:
        return Means(self.user_means_, self.item_means_, self.global_mean_)

    def _scores(self, users: Array, items: Array) -> Array:
        """Return the model's answers for codes of known users and items."""
        raise NotImplementedError

    # lists

    def recommend(
        self,
        userid: Any,
        N: int = 10,
        *,
        filter_already_liked_items: bool = True,
        filter_items: Any = None,
        items: Any = None,
        diversity: float = 0.0,
    ) -> tuple[Array, Array]:
        """Return the best items for a user, and their scores.

        Parameters
        ----------
        userid : id, or list or array of ids
            For whom; several give one row each. A new user gets the items with the best damped means.
        N : int
            How many; fewer where there are no more.
        filter_already_liked_items : bool
            Whether what the user has rated is left out.
        filter_items : ids, optional
            Never propose these.
        items : ids, optional
            Propose only of these.
        diversity : float in [0, 1)
            Above 0 the list is re-ranked by maximal marginal relevance (`rerank_mmr`) with trade-off 1 −
            diversity.

        Returns
        -------
        ids, scores : arrays
            Best first; ties go to the item that comes first. For several users, a row where fewer than N items are
            left ends in what the user has rated, with scores of −inf.
        """
        check_is_fitted(self)
        check_length(N)
        if not 0 <= diversity < 1:
            raise DataError(f"diversity must lie in [0, 1); got {diversity}.")
        many = is_many(userid)
        codes = codes_of(userid if many else [userid], self.users_)
        allowed = self._chosen(self.items_, filter_items, items)
        found, scores = self._top(codes, N, allowed, filter_already_liked_items, diversity)
        if many:
            return self.items_[found], scores
        kept = np.isfinite(scores[0])
        return self.items_[found[0][kept]], scores[0][kept]

    def _chosen(self, names: Array, dropped: Any, chosen: Any) -> Array:
        """Return which ids may be answered with; those that are not known are ignored."""
        allowed = np.ones(len(names), dtype=bool)
        if chosen is not None:
            allowed[:] = False
            codes = codes_of(chosen, names)
            allowed[codes[codes >= 0]] = True
        if dropped is not None:
            codes = codes_of(dropped, names)
            allowed[codes[codes >= 0]] = False
        return allowed

    def _top(
        self, codes: Array, N: int, allowed: Array, unseen: bool, diversity: float
    ) -> tuple[Array, Array]:
        """Return the N best items of every user, block by block."""
        columns = np.flatnonzero(allowed)
        whole = len(columns) == len(allowed)
        size = max(1, BLOCK_SCORES // max(1, len(self.items_)))

        def block(begin: int) -> tuple[Array, Array]:
            mine = codes[begin : begin + size]
            scores = self._score_table(mine)
            if unseen:
                known = np.flatnonzero(mine >= 0)
                seen = self.ratings_[mine[known]]
                scores[np.repeat(known, np.diff(seen.indptr)), seen.indices] = -np.inf
            if diversity:
                scores[:, ~allowed] = -np.inf
                return self._diverse(scores, N, diversity)
            found, best = largest(scores if whole else scores[:, columns], N)
            return columns[found], best

        parts = list(in_order(block, range(0, len(codes), size)))
        n = min(N, len(self.items_) if diversity else len(columns))
        empty = np.zeros((0, n), dtype=np.int64), np.zeros((0, n))
        return tuple(np.concatenate(column) for column in zip(empty, *parts))  # type: ignore[return-value]

    def _score_table(self, codes: Array) -> Array:
        """Return scores of all items for these users; newcomers get damped means."""
        m = len(self.items_)
        table = np.tile(self._newcomer_scores(), (len(codes), 1))
        rows = np.flatnonzero(codes >= 0)
        if len(rows):
            grid = Known(np.repeat(codes[rows], m), np.tile(np.arange(m), len(rows)))
            table[rows] = self._answer(grid, False)[0].reshape(len(rows), m)
        return table

    def _newcomer_scores(self) -> Array:
        R = self.ratings_
        counts = np.bincount(R.indices, minlength=R.shape[1])
        sums = np.bincount(R.indices, weights=R.data, minlength=R.shape[1])
        return (sums + DAMPING * self._means().whole) / (counts + DAMPING)

    def _diverse(self, scores: Array, N: int, diversity: float) -> tuple[Array, Array]:
        best, values = largest(scores, max(5 * N, 50))
        rows, kept = [], []
        for codes, value in zip(best, values):
            codes = codes[np.isfinite(value)]
            value = value[np.isfinite(value)]
            least = value.min(initial=np.inf)  # relevance goes from 0 to 1, as likeness does
            spread = value.max(initial=-np.inf) - least
            relevance = (value - least) / (spread if spread > 0 else 1.0)
            order = rerank_mmr(relevance, self._alike(codes), N, 1 - diversity)
            rows.append(np.pad(codes[order], (0, min(N, len(self.items_)) - len(order))))
            kept.append(np.pad(value[order], (0, len(rows[-1]) - len(order)), constant_values=-np.inf))
        return np.array(rows), np.array(kept)

    # likeness

    def similar_items(self, itemid: Any, N: int = 10) -> tuple[Array, Array]:
        """Return the items most like one (itself first) and how alike they are, by the cosine of their vectors."""
        return self._similar(itemid, N, self.items_, self._item_vectors())

    def similar_users(self, userid: Any, N: int = 10) -> tuple[Array, Array]:
        """Return the users most like one (itself first) and how alike they are, by the cosine of their vectors."""
        return self._similar(userid, N, self.users_, self._user_vectors())

    def _similar(self, one: Any, N: int, names: Array, vectors: Any) -> tuple[Array, Array]:
        check_is_fitted(self)
        check_length(N)
        code = int(codes_of([one], names)[0])
        if code < 0:
            raise DataError(f"{one!r} was not in the ratings; there is nothing to compare it by.")
        found, scores = largest(cosines(vectors, vectors[[code]]), N)
        return names[found[0]], scores[0]

    def _alike(self, codes: Array) -> Array:
        vectors = self._item_vectors()[codes]
        return cosines(vectors, vectors)

    def _item_vectors(self) -> Any:
        return sparse.csr_array(self.ratings_.T)

    def _user_vectors(self) -> Any:
        return self.ratings_


class RatingRecommender(RegressorMixin, Recommender):
    """A recommender that predicts ratings: scikit-learn's tools take it for a regressor."""


class Means(NamedTuple):
    """Mean ratings; NaN where there is none."""

    user: Array
    item: Array
    whole: float


def check_length(N: Any) -> None:
    """Raise when the length of a list that is asked for is no positive integer."""
    if not isinstance(N, Integral) or isinstance(N, bool) or N < 1:
        raise DataError(f"N must be an integer of at least 1; got {N!r}.")


def largest(scores: Array, N: int) -> tuple[Array, Array]:
    """Return the columns of the N largest scores of every row and the scores; ties go to the lower column."""
    n = min(N, scores.shape[1])
    if n > LONG_LIST or n == 0:
        columns = np.argsort(-scores, axis=1, kind="stable")[:, :n]
        return columns, np.take_along_axis(scores, columns, axis=1)
    from gnomon.loops.top_rows import top_columns

    columns, values = np.zeros((len(scores), n), dtype=np.int64), np.empty((len(scores), n), scores.dtype)
    top_columns(np.ascontiguousarray(scores), columns, values)
    return columns, values


@one_blas_thread()
def cosines(A: Any, B: Any) -> Array:
    """Return the cosines of rows of B with rows of A, shape (len(B), len(A)); a zero row has cosine 0 with all."""
    if sparse.issparse(A):
        products = (sparse.csr_array(B) @ sparse.csr_array(A).T).toarray()
        a, b = (np.sqrt(sparse.csr_array(M).multiply(M).sum(axis=1)) for M in (A, B))
    else:
        products = np.asarray(B, dtype=np.float64) @ np.asarray(A, dtype=np.float64).T
        a, b = (np.linalg.norm(np.asarray(M, dtype=np.float64), axis=1) for M in (A, B))
    scale = np.outer(b, a)
    return np.where(scale > 0, products / np.where(scale > 0, scale, 1.0), 0.0)


def pieces_of(runs: ById) -> list[tuple[int, int]]:
    """Return ranges of rows with about as many ratings each; borders depend on the data alone."""
    n = len(runs.starts) - 1
    marks = np.arange(0, runs.starts[-1] + 1, CHUNK_ENTRIES)[1:]
    edges = np.unique(np.concatenate([[0], np.searchsorted(runs.starts, marks), [n]]))
    edges = edges[edges <= n]
    return list(zip(edges[:-1].tolist(), edges[1:].tolist()))
