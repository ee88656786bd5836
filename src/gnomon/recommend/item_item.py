"""Items that are clicked by the same users."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.ids import codes_of, is_many
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.ratings import ById, RatingMatrix
from gnomon.core.threads import shared
from gnomon.core.validate import COUNT, NOT_NEGATIVE
from gnomon.recommend.base import largest, pieces_of
from gnomon.recommend.implicit import ImplicitRecommender


def weighted(X: sparse.csr_array, kind: str, K1: float = 100.0, B: float = 0.8) -> sparse.csr_array:
    """Return the user × item weights: as they are, tf-idf, or BM25; users play the documents' words.

    tf-idf is √value · (ln N − ln(1 + n_u)), BM25 is value (K1 + 1)/(K1 (1 − B + B len/mean len) + value) ·
    idf, with N the
    items, n_u the items of the user, and len the total of the item.
    """
    if kind == "cosine":
        return X
    N = X.shape[1]
    users = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    rare = np.log(N) - np.log1p(np.bincount(users, minlength=X.shape[0]))
    if kind == "tfidf":
        data = np.sqrt(X.data) * rare[users]
    else:
        length = np.bincount(X.indices, X.data, minlength=N)
        norm = (1 - B) + B * length / length.mean()
        data = X.data * (K1 + 1) / (K1 * norm[X.indices] + X.data) * rare[users]
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


class ItemItemRecommender(ImplicitRecommender, OneStep):
    """Propose items that go with what a user has: cosines of weighted columns, the K largest of every item.

    Quick, hard to beat where there are few items, and easy to explain. Names and meaning are those of implicit.

    Parameters
    ----------
    K : int
        Likenesses kept of every item, itself included.
    similarity : {"cosine", "tfidf", "bm25"}
        Of the counts; of √count · idf, which trusts users with few items more; or of BM25 weights, which also
        level out
        popular items.
    K1, B : float
        Of BM25.

    Attributes
    ----------
    similarity_ : CSR array of shape (n_items, n_items)
    users_, items_ : arrays
        Ids, sorted.
    ratings_ : CSR array
        The interactions.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> clicks = csr_array([[1.0, 1, 0], [1, 1, 1], [0, 1, 0]])
    >>> ids, scores = ItemItemRecommender(3).fit(clicks).similar_items(0)
    >>> ids.tolist(), scores.round(4).tolist()
    ([0, 1, 2], [1.0, 0.8165, 0.7071])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "K": [COUNT],
        "similarity": [StrOptions({"cosine", "tfidf", "bm25"})],
        "K1": [NOT_NEGATIVE],
        "B": [NOT_NEGATIVE],
    }

    def __init__(self, K: int = 20, similarity: str = "cosine", *, K1: float = 100.0, B: float = 0.8) -> None:
        self.K = K
        self.similarity = similarity
        self.K1 = K1
        self.B = B

    def fit(self, user_items: Any, y: Any = None, show_progress: bool = True, callback: Any = None) -> Self:
        """Learn from interactions, as every recommender of them does; there are no sweeps to tell a callback of."""
        if callback is not None:
            raise NotImplementedError("ItemItemRecommender has no sweeps to tell a callback of.")
        return super().fit(user_items, y, show_progress)

    def _solve(self, R: RatingMatrix) -> dict[str, Any]:
        from gnomon.loops.item_item import top_products

        X = weighted(R.to_csr(), self.similarity, float(self.K1), float(self.B))
        m = X.shape[1]
        norms = np.sqrt(np.bincount(X.indices, X.data**2, minlength=m))
        scaled = sparse.csr_array(
            (X.data / np.where(norms > 0, norms, 1.0)[X.indices], X.indices, X.indptr), shape=X.shape
        )
        turned = scaled.tocsc()
        K = min(int(self.K), m)
        columns, values = np.full((m, K), -1, dtype=np.int32), np.zeros((m, K))
        starts, row_starts = turned.indptr.astype(np.int64), scaled.indptr.astype(np.int64)

        def piece(edges: tuple[int, int]) -> None:
            top_products(
                *edges,
                starts,
                turned.indices,
                turned.data,
                row_starts,
                scaled.indices,
                scaled.data,
                columns,
                values,
            )

        shared(piece, pieces_of(ById(starts, turned.indices, turned.data)))
        kept = columns >= 0
        ends = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
        table = sparse.csr_array((values[kept], columns[kept], ends), shape=(m, m))
        return {"similarity_": table}

    def _check_arrays(self) -> None:
        super()._check_arrays()
        if self.similarity_.shape != (len(self.items_), len(self.items_)):
            raise ModelFileError("its likenesses do not fit its items; save the model again.")

    def _score_rows(self, codes: Array, rows: sparse.csr_array, again: bool) -> Array:
        scores = (sparse.csr_array(rows, dtype=np.float64) @ self.similarity_).toarray()
        empty = np.flatnonzero(np.diff(rows.indptr) == 0)
        if len(empty):
            scores[empty] = self._newcomer_scores()
        return scores

    def _scores(self, users: Array, items: Array) -> Array:
        found = np.empty(len(users))
        for a in np.unique(users):
            here = users == a
            found[here] = self._score_rows(np.array([a]), self.ratings_[[a]], False)[0, items[here]]
        return found

    def _items_like(self, itemid: Any, N: int, allowed: Array, asked: Any) -> tuple[Array, Array]:
        many = is_many(itemid)
        codes = codes_of(itemid if many else [itemid], self.items_)
        if (codes < 0).any():
            raise DataError(f"{itemid!r} was not in the interactions; there is nothing to compare it by.")
        table = self.similarity_[codes]
        scores = np.full(table.shape, -np.inf)
        scores[np.repeat(np.arange(len(codes)), np.diff(table.indptr)), table.indices] = table.data
        scores[:, ~allowed] = -np.inf
        found, values = largest(scores, N)
        if many:
            return self.items_[found], values
        kept = np.isfinite(values[0])
        return self.items_[found[0][kept]], values[0][kept]
