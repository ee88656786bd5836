"""Ids of any type (of users and items, categories, states, symbols), and the codes that stand for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.linalg import Array


def shown(name: Any) -> str:
    """Return an id as a person would write it."""
    return repr(name.item() if isinstance(name, np.generic) else name)


def is_many(ids: Any) -> bool:
    """Tell whether several ids are asked for, or one: words and tuples are ids themselves.

    >>> is_many([3, 4]), is_many("ann"), is_many(("ann", 3))
    (True, False, False)
    """
    single = isinstance(ids, str | bytes | tuple | frozenset) or getattr(ids, "ndim", 1) == 0
    return not single and (hasattr(ids, "__len__") or hasattr(ids, "to_numpy"))


def column_of(values: Any) -> Array:
    """Return ids as a vector: numbers or strings as they are, anything else as objects."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype != object:
        return values
    listed = list(values)
    kinds = {type(one) for one in listed}
    words = all(issubclass(kind, str) for kind in kinds)
    numbers = all(issubclass(kind, int | np.integer) for kind in kinds) and bool not in kinds
    if kinds and (words or numbers):
        return np.array(listed)
    objects = np.empty(len(listed), dtype=object)
    objects[:] = listed
    return objects


def coded(values: Array, names: Any, what: str) -> tuple[Array, Array]:
    """Return the sorted ids and the code of every value; with `names` given these are the ids."""
    if names is not None:
        known = column_of(names)
        if len(set(known.tolist())) < len(known):
            raise DataError(f"{what}_names must be unique.")
        codes = codes_of(values, known)
        if (codes < 0).any():
            raise DataError(f"{what} {shown(values[codes < 0][0])} is not among {what}_names.")
        return known, codes
    if values.dtype != object:
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise DataError(f"the {what} id of a rating is NaN; every rating needs one.")
        found, codes = np.unique(values, return_inverse=True)
        return found, codes.reshape(-1)
    distinct = list(dict.fromkeys(values.tolist()))
    if any(one is None or one != one for one in distinct):
        raise DataError(f"the {what} id of a rating is missing; every rating needs one.")
    try:
        ordered = sorted(distinct)
    except TypeError:
        ordered = sorted(distinct, key=lambda one: (type(one).__name__, repr(one)))
    known = column_of(ordered)
    return known, codes_of(values, known)


def codes_of(values: Any, names: Array) -> Array:
    """Return the place of each value among the ids, -1 for one that is not there."""
    column = column_of(values)
    if not len(names) or not len(column):
        return np.full(len(column), -1, dtype=np.int64)
    plain = names.dtype != object and column.dtype != object
    if plain and (names.dtype.kind in "biuf") != (column.dtype.kind in "biuf"):
        return np.full(len(column), -1, dtype=np.int64)
    if plain and _is_range(names):
        whole = column.astype(np.int64) if column.dtype.kind != "f" else np.where(column % 1 == 0, column, -1)
        return np.where((whole >= 0) & (whole < len(names)), whole, -1).astype(np.int64)
    if plain:
        order = None if (names[:-1] < names[1:]).all() else np.argsort(names, kind="stable")
        place = np.minimum(np.searchsorted(names, column, sorter=order), len(names) - 1)
        place = place if order is None else order[place]
        return np.where(names[place] == column, place, -1).astype(np.int64)
    table = {name: code for code, name in enumerate(names.tolist())}
    try:
        return np.fromiter((table.get(one, -1) for one in column.tolist()), dtype=np.int64, count=len(column))
    except TypeError as error:
        raise DataError(f"ids must be strings, numbers or the like: {error}.") from None


def _is_range(names: Array) -> bool:
    return bool(
        names.dtype.kind in "iu"
        and names[0] == 0
        and names[-1] == len(names) - 1
        and (len(names) == 1 or (np.diff(names) == 1).all())
    )


def pair_columns(X: Any) -> tuple[Any, Any]:
    """Return the users and the items of (user, item) pairs: an array, a list of tuples or a frame."""
    if hasattr(X, "columns") and hasattr(X, "shape"):
        if X.shape[1] < 2:
            raise DataError(f"X must have two columns, user and item; its shape is {tuple(X.shape)}.")
        return X[X.columns[0]], X[X.columns[1]]
    if isinstance(X, np.ndarray):
        if X.ndim != 2 or X.shape[1] != 2:
            raise DataError(f"X must have two columns, user and item; its shape is {X.shape}.")
        return X[:, 0], X[:, 1]
    if isinstance(X, str | bytes) or not isinstance(X, Iterable):
        raise DataError(f"X must hold (user, item) pairs; got {type(X).__name__}.")
    listed = list(X)
    try:
        if any(isinstance(pair, str | bytes) or len(pair) != 2 for pair in listed):
            raise TypeError
    except TypeError:
        raise DataError("X must hold (user, item) pairs: two ids in every row.") from None
    return [pair[0] for pair in listed], [pair[1] for pair in listed]
