"""Neighbors: ask those who rate alike."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from gnomon.core.closed_form import OneStep
from gnomon.core.errors import DataError, ModelFileError
from gnomon.core.ids import codes_of
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.ratings import RatingMatrix
from gnomon.core.threads import in_order
from gnomon.core.validate import COUNT, NOT_NEGATIVE
from gnomon.recommend.base import RatingRecommender, check_length, largest
from gnomon.recommend.similarities import KINDS, similarity_table

PIECE = 4096  # pairs at a time
MOST_COMPARED = 50_000  # users or items: a table of 20 GB


class KNNRecommender(RatingRecommender, OneStep):
    r"""Predict from the k most similar users among those who have rated the item.

    .. math:: \hat Y_{ai} = \bar Y_a + \frac{\sum_{b \in \mathrm{KNN}(a, i)} \mathrm{sim}(a, b)\,(Y_{bi} -
        \bar Y_b)}{\sum_b |\mathrm{sim}(a, b)|}

    with means over all ratings of a user, and the k neighbors of largest (signed) similarity. Items with
    ``mode="item"`` exchange roles. Easy to explain; says nothing of an item that no neighbor has rated, and a
    user of mixed tastes is compared as a whole: factorization cures that. The table of similarities has n² entries.

    Parameters
    ----------
    k : int
        Neighbors at most.
    mode : {"user", "item"}
        Who is compared.
    similarity : {"pearson", "cosine", "adjusted_cosine", "msd", "jaccard"}
        As in `gnomon.recommend.similarity`.
    min_common : int
        Ratings in common, at least, to be a neighbor.
    shrinkage : float
        β of c / (c + β): trust neighbors with little in common less.
    include_self : bool
        Whether a known rating counts, with similarity 1: with ``k=1`` it is returned.

    Attributes
    ----------
    similarities_ : array of shape (n, n)
        NaN where two have too little in common.
    means_ : array
        Mean rating of each user (or item).
    users_, items_ : arrays
        Ids, sorted.
    ratings_ : CSR array
        What was learned from.

    Examples
    --------
    >>> R = [[5, 3, 4, 1, np.nan], [4, 2, 5, 2, 3], [1, 5, 2, 4, 4], [np.nan, 3, 4, 2, 1]]
    >>> KNNRecommender(2).fit(R).predict([(0, 4)]).round(4)
    array([2.3122])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "k": [COUNT],
        "mode": [StrOptions({"user", "item"})],
        "similarity": [StrOptions(set(KINDS))],
        "min_common": [COUNT],
        "shrinkage": [NOT_NEGATIVE],
        "include_self": ["boolean"],
    }

    def __init__(
        self,
        k: int = 10,
        *,
        mode: str = "user",
        similarity: str = "pearson",
        min_common: int = 2,
        shrinkage: float = 0.0,
        include_self: bool = False,
    ) -> None:
        self.k = k
        self.mode = mode
        self.similarity = similarity
        self.min_common = min_common
        self.shrinkage = shrinkage
        self.include_self = include_self

    def _solve(self, R: RatingMatrix) -> dict[str, Any]:
        table = R.to_csr() if self.mode == "user" else sparse.csr_array(R.to_csr().T)
        if table.shape[0] > MOST_COMPARED:
            raise DataError(
                f"mode={self.mode!r} compares {table.shape[0]} {self.mode}s; their table of similarities would take "
                f"{8e-9 * table.shape[0] ** 2:.0f} GB; at most {MOST_COMPARED} are compared. Try the other mode, or "
                "MatrixFactorization."
            )
        return {
            "similarities_": similarity_table(
                table, self.similarity, int(self.min_common), float(self.shrinkage)
            ),
            "means_": R.user_mean() if self.mode == "user" else R.item_mean(),
        }

    def _check_arrays(self) -> None:
        super()._check_arrays()
        n = len(self.users_ if self.mode == "user" else self.items_)
        if self.similarities_.shape != (n, n) or self.means_.shape != (n,):
            raise ModelFileError("its similarities do not fit its users and items; save the model again.")

    def _scores(self, users: Array, items: Array) -> Array:
        from gnomon.loops.neighbors import neighbor_means

        ours, theirs = (users, items) if self.mode == "user" else (items, users)
        runs = self._raters()

        def piece(begin: int) -> Array:
            out = np.empty(len(ours[begin : begin + PIECE]))
            neighbor_means(
                ours[begin : begin + PIECE],
                theirs[begin : begin + PIECE],
                *runs,
                self.similarities_,
                self.means_,
                int(self.k),
                self.include_self,
                out,
            )
            return out

        return np.concatenate(list(in_order(piece, range(0, len(ours), PIECE))))

    def _raters(self) -> tuple[Array, Array, Array]:
        """Return the ratings by what is rated: starts, who, how much."""
        table = sparse.csc_array(self.ratings_) if self.mode == "user" else sparse.csr_array(self.ratings_)
        return table.indptr.astype(np.int64), table.indices.astype(np.int64), table.data.astype(np.float64)

    def neighbors(self, user: Any, item: Any) -> tuple[Array, Array]:
        """Return who speaks for a pair, most similar first, and the similarities that weigh them.

        Parameters
        ----------
        user, item : ids
            The pair.

        Returns
        -------
        ids, weights : arrays
            Users, or with ``mode="item"`` items of the user; empty where there are none or an id is new.
        """
        check_is_fitted(self)
        names = self.users_ if self.mode == "user" else self.items_
        a, i = int(codes_of([user], self.users_)[0]), int(codes_of([item], self.items_)[0])
        if a < 0 or i < 0:
            return names[:0], np.zeros(0)
        ours, theirs = (a, i) if self.mode == "user" else (i, a)
        starts, who, _ = self._raters()
        raters = who[starts[theirs] : starts[theirs + 1]]
        alike = self.similarities_[ours, raters].copy()
        alike[raters == ours] = 1.0 if self.include_self else np.nan
        raters, alike = raters[~np.isnan(alike)], alike[~np.isnan(alike)]
        order = np.lexsort((raters, -alike))[: int(self.k)]
        return names[raters[order]], alike[order]

    def _similar(self, one: Any, N: int, names: Array, vectors: Any) -> tuple[Array, Array]:
        check_length(N)
        same = names is (self.users_ if self.mode == "user" else self.items_)
        code = int(codes_of([one], names)[0])
        if not same or code < 0:
            return super()._similar(one, N, names, vectors)
        scores = np.nan_to_num(self.similarities_[[code]], nan=-np.inf)
        scores[0, code] = 1.0 if np.isfinite(scores).any() else 0.0
        found, values = largest(scores, N)
        kept = np.isfinite(values[0])
        return names[found[0][kept]], values[0][kept]
