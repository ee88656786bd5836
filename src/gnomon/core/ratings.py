"""Ratings: who gave what how much, and when; the data of recommenders.

Ids are of any type. They become codes in sorted order, and ratings are kept by user and then by item, so the
order in which they came changes nothing.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from gnomon.core.dask_rows import is_dask
from gnomon.core.data import Data, digest_of
from gnomon.core.errors import DataError
from gnomon.core.ids import coded, column_of, pair_columns, shown
from gnomon.core.linalg import Array
from gnomon.core.randomness import Seed, generator
from gnomon.core.rating_columns import numbers_of, plain, table_of, times_of
from gnomon.core.rating_splits import check_split, held_out


class ById(NamedTuple):
    """Ratings in runs: those of one user (or item) after those of the one before."""

    starts: Array  # (n + 1,) int64
    others: Array  # int32 codes of the other side
    values: Array  # float64


class RatingMatrix(Data):
    """A mostly empty table of ratings, users by items.

    Parameters
    ----------
    users, items : sequences
        Ids of any type: strings, integers, tuples. A pair is one rating.
    ratings : sequence of numbers
        Finite. Zero is a rating like any other.
    times : sequence of numbers or dates, optional
        When each was given; `split` can then respect it.
    user_names, item_names : sequences, optional
        All ids there are, also those without ratings.
    scale : sequence of numbers, optional
        The ratings that are allowed; any other is an error.
    duplicates : {"error", "last", "mean", "sum"}
        What to do with a pair that comes more than once: refuse it, keep the latest (by time, else by order),
        or take the mean or the sum.

    Attributes
    ----------
    n_users, n_items, n_ratings : int
    density : float
        Share of the table that is filled.
    users, items : arrays of int
        Codes into `user_names` and `item_names`, by user and then by item.
    values : array of float
        The ratings.

    Examples
    --------
    >>> R = RatingMatrix(["ann", "bob", "ann"], ["jaws", "jaws", "alien"], [5, 3, 1])
    >>> R.n_users, R.n_items, R.n_ratings, R.density
    (2, 2, 3, 0.75)
    >>> R.to_dense()
    array([[ 1.,  5.],
           [nan,  3.]])
    """

    n_parts = 0  # partitions of the Dask collection that they came in

    def __init__(
        self,
        users: Any,
        items: Any,
        ratings: Any,
        *,
        times: Any = None,
        user_names: Any = None,
        item_names: Any = None,
        scale: Any = None,
        duplicates: str = "error",
    ) -> None:
        values = numbers_of(ratings)
        self.user_names, rows = coded(column_of(users), user_names, "user")
        self.item_names, columns = coded(column_of(items), item_names, "item")
        if not len(rows) == len(columns) == len(values):
            raise DataError(
                f"users, items and ratings must be of one length; got {len(rows)}, {len(columns)} and "
                f"{len(values)}."
            )
        when = None if times is None else times_of(times, len(values))
        self.scale = None if scale is None else np.unique(np.asarray(scale, dtype=np.float64))
        if self.scale is not None and not np.isin(values, self.scale).all():
            odd = values[~np.isin(values, self.scale)][0]
            raise DataError(f"rating {odd:g} is not on the scale {self.scale.tolist()}.")
        self._order(rows, columns, values, when, duplicates)

    def _order(self, rows: Array, columns: Array, values: Array, when: Array | None, duplicates: str) -> None:
        if duplicates not in ("error", "last", "mean", "sum"):
            raise DataError(f"duplicates must be 'error', 'last', 'mean' or 'sum'; got {duplicates!r}.")
        in_order = (rows[1:] > rows[:-1]) | ((rows[1:] == rows[:-1]) & (columns[1:] >= columns[:-1]))
        if when is not None or not in_order.all():
            order = np.lexsort((columns, rows) if when is None else (when, columns, rows))
            rows, columns, values = rows[order], columns[order], values[order]
            when = None if when is None else when[order]
        again = np.zeros(len(rows), dtype=bool)
        again[1:] = (rows[1:] == rows[:-1]) & (columns[1:] == columns[:-1])
        if again.any():
            rows, columns, values, when = self._merged(rows, columns, values, when, again, duplicates)
        self.users, self.items = rows.astype(np.int32), columns.astype(np.int32)
        self.values, self.times = np.ascontiguousarray(values), when

    def _merged(
        self, rows: Array, columns: Array, values: Array, when: Array | None, again: Array, rule: str
    ) -> tuple[Array, Array, Array, Array | None]:
        if rule == "error":
            i = int(np.flatnonzero(again)[0])
            raise DataError(
                f"user {shown(self.user_names[rows[i]])} has rated item {shown(self.item_names[columns[i]])} "
                "more than once; "
                "pass duplicates='last', 'mean' or 'sum'."
            )
        first = np.flatnonzero(~again)
        last = np.append(first[1:], len(rows)) - 1
        if rule == "last":
            kept = values[last]
        else:
            kept = np.add.reduceat(values, first)
            if rule == "mean":
                kept = kept / (last - first + 1)
        return rows[first], columns[first], kept, None if when is None else when[last]

    # other ways to make one

    @classmethod
    def from_dense(cls, Y: Any, **options: Any) -> Self:
        """Make one from a table in which NaN means no rating; a data frame gives the names."""
        names = {}
        if hasattr(Y, "index") and hasattr(Y, "columns"):
            names = {"user_names": list(Y.index), "item_names": list(Y.columns)}
        try:
            table = np.asarray(Y)
            if table.dtype.kind == "c":
                raise TypeError
            table = table.astype(np.float64, copy=False)
        except (TypeError, ValueError):
            raise DataError(
                "a dense table of ratings must hold numbers, NaN where there is no rating. Pass (user, item) pairs "
                "with y, and a table with a row for every rating to RatingMatrix.from_frame."
            ) from None
        if table.ndim != 2:
            raise DataError(f"a dense table of ratings must have two dimensions; its shape is {table.shape}.")
        rows, columns = np.nonzero(~np.isnan(table))
        return cls._from_codes(rows, columns, table[rows, columns], table.shape, {**names, **options})

    @classmethod
    def from_sparse(cls, S: Any, *, explicit_zeros: bool = True, **options: Any) -> Self:
        """Make one from a sparse matrix: what is stored is a rating, zeros too unless told otherwise."""
        A = sparse.coo_array(S)
        rows, columns, values = A.row, A.col, A.data
        if not explicit_zeros:
            rows, columns, values = rows[values != 0], columns[values != 0], values[values != 0]
        return cls._from_codes(rows, columns, values, A.shape, options)

    @classmethod
    def from_frame(
        cls, df: Any, user: Any = None, item: Any = None, rating: Any = None, time: Any = None, **options: Any
    ) -> Self:
        """Make one from a long table (pandas, polars, Arrow, Dask, or a Parquet or CSV file), a row for every rating.

        Columns are named by `user`, `item`, `rating` and `time`, else they are the first three. The ratings of a Dask
        frame come here, 16 bytes each; learners that sum over ratings deal them out to the workers again.
        """
        if is_dask(df):
            made = cls.from_frame(df.compute(), user, item, rating, time, **options)
            made.n_parts = df.npartitions
            return made
        table = table_of(df)
        names = list(table.columns)
        if len(names) < 3:
            raise DataError(f"a table of ratings needs columns for user, item and rating; it has {names}.")
        chosen = [given if given is not None else names[i] for i, given in enumerate((user, item, rating))]
        for name in (*chosen, *([] if time is None else [time])):
            if name not in names:
                raise DataError(f"there is no column {name!r}; the columns are {names}.")
        users, items, ratings = (plain(table[name]) for name in chosen)
        return cls(users, items, ratings, times=None if time is None else plain(table[time]), **options)

    @classmethod
    def _from_codes(cls, rows: Any, columns: Any, values: Any, shape: Any, options: dict[str, Any]) -> Self:
        names = {
            "user_names": options.pop("user_names", None),
            "item_names": options.pop("item_names", None),
        }
        made = cls(
            rows, columns, values, user_names=np.arange(shape[0]), item_names=np.arange(shape[1]), **options
        )
        for name, given in names.items():
            if given is not None:
                if len(given) != len(getattr(made, name)):
                    raise DataError(f"{name} has {len(given)} names for {len(getattr(made, name))} codes.")
                setattr(made, name, column_of(given))
        return made

    # what it is

    @property
    def n_users(self) -> int:
        """How many users there are, with ratings or without."""
        return len(self.user_names)

    @property
    def n_items(self) -> int:
        """How many items there are, with ratings or without."""
        return len(self.item_names)

    @property
    def n_ratings(self) -> int:
        """How many ratings there are."""
        return len(self.values)

    @property
    def density(self) -> float:
        """The share of the table that is filled."""
        return self.n_ratings / max(1, self.n_users * self.n_items)

    def __len__(self) -> int:
        return self.n_ratings

    def __repr__(self) -> str:
        return f"RatingMatrix({self.n_ratings} ratings of {self.n_items} items by {self.n_users} users)"

    def facts(self) -> dict[str, Any]:
        """Return what a fitted recommender keeps: the ids, the ratings by user, and their means."""
        return {
            "users_": self.user_names,
            "items_": self.item_names,
            "ratings_": self.to_csr(),
            "user_means_": self.user_mean(),
            "item_means_": self.item_mean(),
            "global_mean_": self.global_mean(),
        }

    def digest(self) -> str:
        """Return a name for the ratings, their ids and times."""
        return digest_of(self.user_names, self.item_names, self.users, self.items, self.values, self.times)

    def take(self, units: Any) -> Self:
        """Return these ratings alone; all users and items stay known."""
        kept = np.sort(np.arange(self.n_ratings)[units])
        made = object.__new__(type(self))
        made.user_names, made.item_names, made.scale = self.user_names, self.item_names, self.scale
        made.users, made.items, made.values = self.users[kept], self.items[kept], self.values[kept]
        made.times = None if self.times is None else self.times[kept]
        made.n_parts = self.n_parts
        return made

    def pairs(self) -> tuple[Array, Array]:
        """Return (user, item) ids and ratings, as scikit-learn's tools take them."""
        pairs = np.empty((self.n_ratings, 2), dtype=object)
        pairs[:, 0], pairs[:, 1] = self.user_names[self.users], self.item_names[self.items]
        return pairs, self.values.copy()

    def to_csr(self) -> sparse.csr_array:
        """Return the ratings as a sparse matrix; a rating of zero is stored."""
        one = self.by_user()
        return sparse.csr_array((one.values, one.others, one.starts), shape=(self.n_users, self.n_items))

    def to_dense(self) -> Array:
        """Return the table, NaN where there is no rating."""
        table = np.full((self.n_users, self.n_items), np.nan)
        table[self.users, self.items] = self.values
        return table

    def by_user(self) -> ById:
        """Return the ratings of each user in turn."""
        return ById(_starts(self.users, self.n_users), self.items, self.values)

    def by_item(self) -> ById:
        """Return the ratings of each item in turn."""
        order = np.argsort(self.items, kind="stable")
        return ById(_starts(self.items[order], self.n_items), self.users[order], self.values[order])

    # numbers and parts

    def global_mean(self) -> float:
        """Return the mean of all ratings; NaN without any."""
        return float(self.values.mean()) if self.n_ratings else float("nan")

    def user_mean(self) -> Array:
        """Return the mean rating of every user; NaN where there is none."""
        return _means(self.users, self.values, self.n_users)

    def item_mean(self) -> Array:
        """Return the mean rating of every item; NaN where there is none."""
        return _means(self.items, self.values, self.n_items)

    def shift(self, c: float) -> Self:
        """Return the same ratings minus a constant, such as the middle of the scale."""
        made = self.take(slice(None))
        made.values = made.values - float(c)
        made.scale = None if made.scale is None else made.scale - float(c)
        return made

    def unconstrained_fit(self, regularization: float) -> Array:
        r"""Return the table that fits the ratings best without any structure: why structure is needed.

        The minimizer of :math:`\sum_D \tfrac12 (Y - X)^2 + \tfrac\lambda2 \sum X^2` is :math:`Y / (1 + \lambda)` where
        there is a rating and 0 elsewhere: it says nothing about the rest.

        >>> RatingMatrix.from_dense([[5, np.nan, 7], [1, 2, np.nan]]).unconstrained_fit(1.0)
        array([[2.5, 0. , 3.5],
               [0.5, 1. , 0. ]])
        """
        return np.nan_to_num(self.to_dense()) / (1.0 + float(regularization))

    def split(self, test: float = 0.1, *, by: str = "random", random_state: Seed = None) -> tuple[Self, Self]:
        """Part the ratings into training and test ratings.

        Parameters
        ----------
        test : float in (0, 1)
            The share to test on.
        by : {"random", "user", "leave_one_out", "time", "user_time"}
            "random": any ratings. "user": that share of every user's ratings. "leave_one_out": one rating of
            every user with at least two: the latest, or a random one without times. "time": the latest ratings of
            all. "user_time": the latest of every user.
        random_state : int, RandomState, Generator or None
            Where the randomness comes from.

        Returns
        -------
        train, test : RatingMatrix
            Both know all users and items.

        Examples
        --------
        >>> R = RatingMatrix([1, 1, 2, 2], [1, 2, 1, 2], [5, 4, 3, 2], times=[1, 2, 3, 4])
        >>> train, test = R.split(0.5, by="time")
        >>> test.values.tolist()
        [3.0, 2.0]
        """
        check_split(test, by, self.times)
        held = held_out(self.users, self.times, test, by, generator(random_state))
        return self.take(~held), self.take(held)


def read_ratings(
    X: Any, y: Any = None, *, explicit_zeros: bool = True, duplicates: str = "error"
) -> RatingMatrix:
    """Return ratings from a RatingMatrix, pairs and y, a sparse matrix, a table with NaN, or a long Dask frame."""
    if isinstance(X, RatingMatrix):
        found = X
    elif is_dask(X) and y is not None:
        users, items = pair_columns(X.compute())
        found = RatingMatrix(users, items, y.compute() if is_dask(y) else y, duplicates=duplicates)
        found.n_parts = X.npartitions
    elif is_dask(X):
        found = RatingMatrix.from_frame(X, duplicates=duplicates)
    elif sparse.issparse(X):
        found = RatingMatrix.from_sparse(X, explicit_zeros=explicit_zeros, duplicates=duplicates)
    elif y is not None:
        users, items = pair_columns(X)
        found = RatingMatrix(users, items, y, duplicates=duplicates)
    elif isinstance(X, str | os.PathLike):
        found = RatingMatrix.from_frame(X, duplicates=duplicates)
    elif X is None:
        raise DataError("X is None; give ratings: pairs and y, a sparse matrix, or a RatingMatrix.")
    else:
        found = RatingMatrix.from_dense(X, duplicates=duplicates)
    if not found.n_ratings:
        raise DataError("there are no ratings; at least one is needed. X has no entries.")
    return found


def _starts(codes: Array, n: int) -> Array:
    return np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=n))]).astype(np.int64)


def _means(codes: Array, values: Array, n: int) -> Array:
    counts = np.bincount(codes, minlength=n)
    sums = np.bincount(codes, weights=values, minlength=n)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
