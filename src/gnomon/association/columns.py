"""A column of item sets for pandas: codes in memory, frozensets when somebody looks at them.

A search finds sets as numbers. A frozenset of nine items takes some 700 bytes and two microseconds to make, so
for large answers making them all takes longer than finding them, and most are never looked at.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count
from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray, ExtensionDtype, register_extension_dtype, take
from pandas.api.indexers import check_array_indexer

from gnomon.core.collector import collector_paused
from gnomon.core.linalg import Array


class Pool:
    """Sets of codes one after another, and the frozensets that were made of them so far."""

    def __init__(self, starts: Array, codes: Array, names: Array, objects: Array | None = None) -> None:
        self.starts = starts  # (n + 1,) int64
        self.codes = codes  # ascending in a set
        self.names = names  # code -> item, an array of objects
        self.objects = np.empty(len(starts) - 1, dtype=object) if objects is None else objects
        self.made = np.full(len(starts) - 1, objects is not None)

    def __reduce__(self) -> Any:
        return Pool, (self.starts, self.codes, self.names)

    def of(self, which: Array) -> Array:
        """Return the frozensets with these numbers."""
        missing = which[~self.made[which]]
        if len(missing):
            self._make(np.unique(missing))
        return self.objects[which]

    def _make(self, which: Array) -> None:
        begins = self.starts[which]
        lengths = self.starts[which + 1] - begins
        with collector_paused():
            for k in np.unique(lengths):
                mine = lengths == k
                columns = [self.names[self.codes[begins[mine] + c]].tolist() for c in range(k)]
                sets = map(frozenset, zip(*columns)) if k else iter([frozenset()] * mine.sum())
                self.objects[which[mine]] = np.fromiter(sets, dtype=object, count=mine.sum())
        self.made[which] = True

    def equal_to(self, items: frozenset[Any]) -> int:
        """Return the number of the set with these items; -1 when it is not there."""
        wanted = np.array([name in items for name in self.names], dtype=bool)
        if wanted.sum() != len(items):
            return -1
        held = np.concatenate([[0], np.cumsum(wanted[self.codes])])
        lengths = np.diff(self.starts)
        same = (lengths == len(items)) & (np.diff(held[self.starts]) == lengths)
        return int(np.argmax(same)) if same.any() else -1


def pool_of(sets: Sequence[Any]) -> tuple[Pool, Array]:
    """Return the distinct sets among some frozensets, and which of them each is; a missing one is -1."""
    from gnomon.loops.rules import sort_sets

    places: dict[Any, int] = defaultdict(count().__next__)
    if set(map(type, sets)) <= {frozenset}:
        index = np.fromiter(map(places.__getitem__, sets), np.int64, len(sets))
    else:
        index = np.array([-1 if _is_missing(one) else places[one] for one in sets], dtype=np.int64)
    distinct = np.empty(len(places), dtype=object)
    distinct[:] = list(places)
    if not set(map(type, distinct)) <= {frozenset}:
        raise TypeError("a column of item sets holds frozensets alone.")
    code: dict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(code.__getitem__, chain.from_iterable(distinct)), dtype=np.int64)
    names = np.empty(len(code), dtype=object)
    names[:] = list(code)
    starts = np.zeros(len(distinct) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, distinct), np.int64, len(distinct)), out=starts[1:])
    sort_sets(starts, codes)
    return Pool(starts, codes, names, distinct), index


def _is_missing(one: Any) -> bool:
    return one is None or one is pd.NA or (isinstance(one, float) and one != one)


def _shown(one: Any) -> str:
    return f"({', '.join(map(str, one))})" if isinstance(one, frozenset) else str(one)


@register_extension_dtype
class ItemsetDtype(ExtensionDtype):  # type: ignore[misc]
    """The kind of a column of item sets; ``astype(object)`` turns it into a plain column of frozensets."""

    name = "itemset"
    type = np.object_  # so that pandas puts a set into a cell as a whole, as in a column of objects
    na_value = np.nan

    @classmethod
    def construct_array_type(cls) -> Any:
        """Return the array that holds such a column."""
        return ItemsetArray


def _elementwise(operation: Callable[[Any, Any], Any], *, truth: bool) -> Any:
    """Return a method that compares or joins the sets one by one, with one set or with as many."""

    def method(self: ItemsetArray, other: Any) -> Any:
        if isinstance(other, pd.Series | pd.Index | pd.DataFrame):
            return NotImplemented  # pandas puts the rows in line and asks again
        mine = np.asarray(self, dtype=object)
        if isinstance(other, set | frozenset | str | bytes) or not isinstance(other, Iterable):
            others = [other] * len(mine)
        else:
            others = list(other)
            if len(others) != len(mine):
                raise ValueError(f"lengths must match: there are {len(mine)} sets and {len(others)} others.")
        found = [operation(one, another) for one, another in zip(mine, others)]
        return np.array(found, dtype=bool) if truth else ItemsetArray._from_sequence(found)

    return method


class ItemsetArray(ExtensionArray):  # type: ignore[misc]
    """Item sets as numbers of a pool. An element is a frozenset, made when it is asked for and then kept."""

    def __init__(self, pool: Pool, index: Array) -> None:
        self.pool, self.index = pool, index

    @classmethod
    def _from_sequence(cls, scalars: Any, *, dtype: Any = None, copy: bool = False) -> Self:
        if isinstance(scalars, cls):
            return cls(scalars.pool, scalars.index.copy() if copy else scalars.index)
        return cls(*pool_of(list(scalars)))

    @classmethod
    def _from_factorized(cls, values: Any, original: Any) -> Self:
        return cls._from_sequence(values)

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[Self]) -> Self:
        if all(one.pool is to_concat[0].pool for one in to_concat):
            return cls(to_concat[0].pool, np.concatenate([one.index for one in to_concat]))
        return cls._from_sequence(chain.from_iterable(to_concat))

    @property
    def dtype(self) -> ItemsetDtype:
        """The kind of the column."""
        return ItemsetDtype()

    @property
    def nbytes(self) -> int:
        """Bytes of the codes, without frozensets that were made of them."""
        return int(self.index.nbytes + self.pool.codes.nbytes + self.pool.starts.nbytes)

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[Any]:
        return iter(np.asarray(self, dtype=object))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        there = self.index >= 0
        if there.all():
            return self.pool.of(self.index)
        found = np.full(len(self), np.nan, dtype=object)
        found[there] = self.pool.of(self.index[there])
        return found

    def __getitem__(self, item: Any) -> Any:
        where = check_array_indexer(self, item)
        if isinstance(where, int | np.integer):
            number = self.index[where]
            return self.pool.of(np.array([number]))[0] if number >= 0 else np.nan
        if isinstance(where, tuple):  # an ellipsis, or one of several axes
            where = where[0] if len(where) == 1 else tuple(one for one in where if one is not Ellipsis)
        return type(self)(self.pool, self.index[where])

    def __setitem__(self, key: Any, value: Any) -> None:
        where = check_array_indexer(self, key)
        one = isinstance(value, frozenset) or _is_missing(value)
        both = self._concat_same_type([self, self._from_sequence([value] if one else value)])
        self.pool, self.index, put = both.pool, both.index[: len(self)].copy(), both.index[len(self) :]
        self.index[where] = put[0] if one else put

    def isna(self) -> Array:
        """Tell which sets are missing."""
        return self.index < 0

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: Any = None) -> Self:
        """Return the sets at these places; with `allow_fill`, -1 is a missing one."""
        fill = -1 if allow_fill else None
        return type(self)(self.pool, take(self.index, indices, fill_value=fill, allow_fill=allow_fill))

    def copy(self) -> Self:
        """Return an array that can be changed without changing this one."""
        return type(self)(self.pool, self.index.copy())

    def _formatter(self, boxed: bool = False) -> Callable[[Any], str | None]:
        return _shown if boxed else repr

    def _explode(self) -> tuple[Any, Array]:
        sets = [sorted(one, key=str) if isinstance(one, frozenset) and one else [np.nan] for one in self]
        return np.array(list(chain.from_iterable(sets)), dtype=object), np.array(list(map(len, sets)))

    def __eq__(self, other: Any) -> Any:
        if isinstance(other, set | frozenset):
            found = self.pool.equal_to(frozenset(other))
            return (self.index == found) & (found >= 0)
        return self._same(other)

    def __ne__(self, other: Any) -> Any:
        found = self == other
        return found if found is NotImplemented else ~found

    __hash__ = None  # type: ignore[assignment]
    _same = _elementwise(operator.eq, truth=True)
    __lt__ = _elementwise(operator.lt, truth=True)
    __le__ = _elementwise(operator.le, truth=True)
    __gt__ = _elementwise(operator.gt, truth=True)
    __ge__ = _elementwise(operator.ge, truth=True)
    __and__ = __rand__ = _elementwise(operator.and_, truth=False)
    __or__ = __ror__ = _elementwise(operator.or_, truth=False)
    __xor__ = __rxor__ = _elementwise(operator.xor, truth=False)
    __sub__ = _elementwise(operator.sub, truth=False)
