"""Tables of ratings: which column is the user, which the item and which the rating, and pairs for the models."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from gnomon.core.errors import DataError
from gnomon.report.columns import OUT, Column, column_named

ID = "id"  # the kind of the two columns that name users and items
USER = ("user", "customer", "viewer", "reader", "reviewer", "member", "client", "account", "person")
ITEM = (
    "item",
    "movie",
    "film",
    "product",
    "book",
    "isbn",
    "song",
    "artist",
    "title",
    "restaurant",
    "article",
)
RATING = ("rating", "star", "score", "value", "overall", "grade")


class PairEncoder(BaseEstimator):  # type: ignore[misc]
    """The (user, item) pairs of a table of ratings.

    Parameters
    ----------
    user, item : str
        The two columns.
    """

    def __init__(self, user: str = "user", item: str = "item") -> None:
        self.user, self.item = user, item

    def fit(self, frame: Any, y: Any = None) -> Self:
        """Remember the ids of these rows."""
        self.known_ = {name: sorted(set(_ids(frame, name))) for name in self.columns()}
        return self

    def transform(self, frame: Any) -> Any:
        """Return the pairs of a table that has both columns."""
        pairs = np.empty((len(frame), 2), dtype=object)
        for place, name in enumerate(self.columns()):
            pairs[:, place] = _ids(frame, name)
        return pairs

    def fit_transform(self, frame: Any, y: Any = None) -> Any:
        """Learn from a table and return what the models see of it."""
        return self.fit(frame, y).transform(frame)

    def columns(self) -> list[str]:
        """Return the names of the columns that are read."""
        return [self.user, self.item]

    def names(self) -> list[str]:
        """Return what the models see: the two ids."""
        return self.columns()

    def unseen(self, frame: Any) -> dict[str, int]:
        """Return how many cells hold an id that was not there: the models answer them by a mean."""
        counts = {
            name: sum(one not in set(self.known_[name]) for one in set(_ids(frame, name)))
            for name in self.columns()
        }
        return {name: count for name, count in counts.items() if count}


def _ids(frame: Any, name: str) -> list[Any]:
    """Return ids as whole numbers where they are, else as words."""
    if name not in frame.columns:
        raise DataError(f"the table has no column {name!r}, which the model needs. Add it.")
    column = frame[name]
    if column.null_count():
        row = int(column.is_null().arg_true()[0])
        raise DataError(f"column {name!r} is empty in row {row + 1}; every rating needs a user and an item.")
    return column.to_list() if column.dtype.is_integer() else column.cast(str).to_list()


def pose_ratings(frame: Any, target: str | None) -> tuple[Any, Any, list[Column], str, list[str]]:
    """Return the (user, item) columns, the ratings, what became of every column, the target, and what was inferred."""
    user, item, rating = _roles(frame, target)
    said = [f"{user} is the user, {item} the item and {rating} the rating."]
    if not frame[rating].dtype.is_numeric():
        raise DataError(
            f"column {rating!r} must hold numbers to be the ratings; it holds {frame[rating].dtype}. Name the "
            "column of the ratings with --target."
        )
    whole = frame.drop_nulls([user, item, rating])
    if len(whole) < len(frame):
        said.append(f"{len(frame) - len(whole)} rows without a user, an item or a rating were left out.")
    once = whole.unique([user, item], keep="last", maintain_order=True)
    if len(once) < len(whole):
        said.append(f"pairs rated again: {len(whole) - len(once)}; the last rating of each counts.")
    y = once[rating].cast(float).to_numpy()
    if not np.isfinite(y).all():
        raise DataError(f"column {rating!r} has a rating that is infinite. Mend it.")
    users, items = once[user].n_unique(), once[item].n_unique()
    if len(once) in (users, items):
        which, name = ("user", user) if users == len(once) else ("item", item)
        raise DataError(
            f"column {name!r} differs in every row, so no {which} has two ratings and nothing can be learned of one. "
            "The table must have a row for every rating."
        )
    said.append(
        f"{len(once)} ratings of {items} items by {users} users: "
        f"{len(once) / (users * items):.2%} of the table is filled."
    )
    done = {user: "the user", item: "the item"}
    columns = [
        Column(
            name,
            ID if name in done else OUT,
            frame[name].null_count(),
            frame[name].n_unique(),
            done.get(name, "not used"),
        )
        for name in frame.columns
        if name != rating
    ]
    return once.select(user, item), y, columns, rating, said


def _roles(frame: Any, target: str | None) -> tuple[str, str, str]:
    """Return the columns of users, items and ratings: by their names, else the first ones that are left."""
    if frame.width < 3:
        raise DataError(
            f"ratings need three columns, user, item and rating; the table has {frame.width}: "
            f"{', '.join(frame.columns)}. For baskets use --task rules."
        )
    if target is not None:
        column_named(frame, target, "target")
    left = [name for name in frame.columns if name != target]
    found: dict[str, str] = {} if target is None else {"rating": target}
    for role, words in (("user", USER), ("item", ITEM), ("rating", RATING)):
        if role not in found:
            match = next((name for name in left if name.lower().startswith(words)), None)
            if match is not None:
                found[role] = match
                left.remove(match)
    for role in ("user", "item", "rating"):
        if role not in found:
            found[role] = left.pop(0)
    return found["user"], found["item"], found["rating"]
