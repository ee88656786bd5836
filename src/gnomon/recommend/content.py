"""Content: one ridge regression per user on what items are like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from gnomon.core.closed_form import OneStep
from gnomon.core.data import Data, digest_of
from gnomon.core.errors import DataError
from gnomon.core.ids import codes_of, column_of
from gnomon.core.linalg import Array
from gnomon.core.parameters import StrOptions
from gnomon.core.ratings import RatingMatrix
from gnomon.core.validate import NOT_NEGATIVE, NUMBER, warn
from gnomon.recommend.alternating import side_of, solve_side
from gnomon.recommend.base import RatingRecommender


class Described(Data):
    """Ratings, with features of items and users beside them."""

    def __init__(self, ratings: RatingMatrix, items: Array | None, users: Array | None = None) -> None:
        self.ratings, self.item_features, self.user_features = ratings, items, users

    def facts(self) -> dict[str, Any]:
        """Return what the ratings tell."""
        return self.ratings.facts()

    def digest(self) -> str:
        """Return a name for ratings and features."""
        return digest_of(self.ratings.digest(), self.item_features, self.user_features)

    def __len__(self) -> int:
        return len(self.ratings)


def features_by_id(features: Any, names: Array, what: str) -> Array:
    """Return one row of features per id: from a frame with ids as index, a dict, or an array that ids index."""
    if hasattr(features, "index") and hasattr(features, "columns"):
        features = features_of_frame(features, what)
    if isinstance(features, dict):
        known = names.tolist()
        missing = [name for name in known if name not in features]
        if missing:
            raise DataError(f"{what} has no row for {missing[0]!r}.")
        rows = [feature_row(features[name], f"{what} of {name!r}") for name in known]
        for row, name in zip(rows, known):
            if len(row) != len(rows[0]):
                raise DataError(
                    f"{what} of {name!r} has {len(row)} numbers, that of {known[0]!r} {len(rows[0])}; all need as many."
                )
        return np.array(rows)
    every = features.toarray() if sparse.issparse(features) else features
    try:
        every = np.asarray(every, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what} must hold numbers alone.") from None
    ids = column_of(names)
    if every.ndim != 2 or ids.dtype.kind not in "iu":
        raise DataError(
            f"{what} must be a frame or dict by id, or a table whose rows are numbered by integer ids."
        )
    if len(ids) and not (0 <= ids.min() and ids.max() < len(every)):
        raise DataError(f"{what} has {len(every)} rows; id {ids.max()} is not among them.")
    table = every[ids]
    if not np.isfinite(table).all():
        raise DataError(f"{what} has NaN or infinite entries.")
    return np.ascontiguousarray(table)


def features_of_frame(frame: Any, what: str) -> dict[Any, Array]:
    """Return the rows of a frame by its index."""
    try:
        return dict(zip(frame.index, frame.to_numpy(dtype=np.float64)))
    except (TypeError, ValueError):
        raise DataError(f"{what} must hold numbers alone; encode columns of text first.") from None


def feature_row(values: Any, what: str) -> Array:
    """Return the features of one id as a vector of finite numbers."""
    try:
        row = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        raise DataError(f"{what} must be numbers; got {values!r}.") from None
    if row.ndim != 1 or not np.isfinite(row).all():
        raise DataError(f"{what} must be a vector of numbers, without NaN or infinite entries.")
    return row


class ContentBasedRecommender(RatingRecommender, OneStep):
    r"""Predict a user's ratings from the features of the items, by ridge regression on the user's own ratings.

    .. math:: \min_\theta \sum_{i \in D_a} \tfrac12 (Y_{ai} - \theta_a \cdot \phi_i)^2 + \tfrac\lambda2 \lVert
    \theta_a \rVert^2

    No intercept: add a column of ones, or take an offset. New items are no trouble, they have features; users
    do not learn
    from each other, and one with no ratings gets the mean.

    Parameters
    ----------
    regularization : float
        λ; with 0 and fewer ratings than features the smallest solution is taken, with a warning.
    offset : {"none", "shift", "user_mean"}
        What is subtracted before and added after: nothing, `shift`, or the mean of the user's ratings.
    shift : float
        The constant, such as the middle of the scale.
    binary : bool
        Whether ratings are labels (0 and 1, or −1 and 1): predict 1 where θ·φ is above the middle, else the
        other.
    threshold : float, optional
        Ratings of at least this are 1 and the rest 0, before a binary fit.

    Attributes
    ----------
    coef_ : array of shape (n_users, d)
        θ.
    offset_ : array of shape (n_users,)
        What is added to θ·φ.
    item_features_ : array of shape (n_items, d)
    users_, items_ : arrays
        Ids, sorted.

    Examples
    --------
    >>> features = np.array([[1.0, 0], [1, 1], [0, 1], [2, 1]])
    >>> model = ContentBasedRecommender().fit([[5, 3, 1, np.nan]], item_features=features)
    >>> model.coef_, model.predict([(0, 3)])
    (array([[2.5, 0.5]]), array([5.5]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "regularization": [NOT_NEGATIVE],
        "offset": [StrOptions({"none", "shift", "user_mean"})],
        "shift": [NUMBER],
        "binary": ["boolean"],
        "threshold": [NUMBER, None],
    }

    def __init__(
        self,
        *,
        regularization: float = 1.0,
        offset: str = "none",
        shift: float = 3.0,
        binary: bool = False,
        threshold: float | None = None,
    ) -> None:
        self.regularization = regularization
        self.offset = offset
        self.shift = shift
        self.binary = binary
        self.threshold = threshold

    def fit(self, X: Any, y: Any = None, item_features: Any = None) -> Self:
        """Learn from ratings and the features of the items.

        Parameters
        ----------
        X, y
            Ratings, as every recommender takes them.
        item_features : frame or dict by item id, or table whose rows are numbered by integer ids
            Must cover the items; more may be in it, and can be predicted. Without any, an item is described
            by itself
            alone.

        Returns
        -------
        self
            The fitted recommender.
        """
        return self._learn(self._described(X, y, item_features), X=X, y=y)

    def iterate(self, X: Any, y: Any = None, item_features: Any = None) -> Iterator[Self]:
        """Yield a fitted copy of the model after its only step."""
        yield from self._iterate(self._described(X, y, item_features))

    def _described(self, X: Any, y: Any, item_features: Any) -> Described:
        R = self._read_ratings(X, y)
        if item_features is None:
            return Described(R, np.eye(R.n_items))
        return Described(R, features_by_id(item_features, R.item_names, "item_features"))

    def _solve(self, data: Described) -> dict[str, Any]:
        R, features = data.ratings, data.item_features
        values = R.values
        if self.threshold is not None:
            values = (values >= self.threshold).astype(np.float64)
        if self.binary and not (np.isin(values, (0, 1)).all() or np.isin(values, (-1, 1)).all()):
            raise DataError("binary=True needs ratings 0 and 1, or -1 and 1; set threshold to make them so.")
        offset = np.zeros(R.n_users)
        if self.offset == "shift":
            offset[:] = self.shift
        elif self.offset == "user_mean":
            counts = np.bincount(R.users, minlength=R.n_users)
            offset = np.bincount(R.users, values, minlength=R.n_users) / np.maximum(counts, 1)
        side = side_of(R.by_user()._replace(values=values - offset[R.users]))
        lam = float(self.regularization)
        if lam > 0:
            coef = solve_side(side, features, np.full(R.n_users, lam), what="user")
        else:
            coef = self._least_norm(side, features)
        lowest = float(values.min()) if self.binary else 0.0
        return {"coef_": coef, "offset_": offset, "item_features_": features, "lowest_": lowest}

    def _least_norm(self, side: Any, features: Array) -> Array:
        coef, short = np.zeros((len(side.counts), features.shape[1])), 0
        for a in np.flatnonzero(side.counts > 0):
            low, high = side.runs.starts[a : a + 2]
            found = np.linalg.lstsq(
                features[side.runs.others[low:high]], side.runs.values[low:high], rcond=None
            )
            coef[a] = found[0]
            short += found[2] < features.shape[1]
        if short:
            warn(
                f"{short} users have too few ratings to determine {features.shape[1]} weights; the smallest "
                "solutions were taken. Raise regularization above 0."
            )
        return coef

    def _scores(self, users: Array, items: Array) -> Array:
        return self._labels(
            self.offset_[users] + np.einsum("ed,ed->e", self.coef_[users], self.item_features_[items]), users
        )

    def _labels(self, raw: Array, users: Array) -> Array:
        if not self.binary:
            return raw
        middle = 0.5 if self.lowest_ == 0 else 0.0
        return np.where(raw > middle, 1.0, self.lowest_)

    def _with_ratings(self, known: Any) -> Any:
        users, _ = super()._with_ratings(known)
        return known._replace(users=users)  # an item needs no ratings, it has features

    def predict_items(self, user: Any, features: Any) -> Array:
        """Return what a user would give to items of these features, known or new; the global mean for a new user."""
        table = np.atleast_2d(np.asarray(features, dtype=np.float64))
        code = int(codes_of([user], self.users_)[0])
        if code < 0 or np.isnan(self.user_means_[code]):
            return np.full(len(table), self.global_mean_)
        return self._labels(self.offset_[code] + table @ self.coef_[code], code)

    def explain(self, user: Any, item: Any) -> Array:
        """Return what each feature adds to the prediction, θ_j φ_j; with the offset they sum to it."""
        known = self._known([(user, item)])
        if known.users[0] < 0 or known.items[0] < 0:
            return np.zeros(self.coef_.shape[1])
        return self.coef_[known.users[0]] * self.item_features_[known.items[0]]

    def _item_vectors(self) -> Any:
        return self.item_features_

    def _user_vectors(self) -> Any:
        return self.coef_
