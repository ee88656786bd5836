"""What a search found, put in order and handed out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gnomon.association.baskets import Baskets, Table
from gnomon.association.hierarchies import ancestors_of
from gnomon.core.frames import import_pandas
from gnomon.core.linalg import Array
from gnomon.core.threads import in_order


class Found(NamedTuple):
    """Sets of one size and their counts."""

    sets: Array  # (n, k) columns, ascending in a row; rows in lexicographic order
    counts: Array


def by_size(parents: Array, items: Array, sizes: Array) -> dict[int, Found]:
    """Return the sets of a search tree, size by size, in the order of the tree."""
    from gnomon.loops.setorder import lay_out, lengths_of

    lengths = lengths_of(parents)
    number = np.bincount(lengths)
    begins, flat, places, counts = lay_out(parents, items.astype(np.int32), sizes, lengths, number)
    return {
        k: Found(flat[begins[k] : begins[k + 1]].reshape(-1, k), counts[places[k] : places[k + 1]])
        for k in range(1, len(number))
    }


def by_mask(parents: Array, ranks: Array, sizes: Array, columns: Array) -> list[Found]:
    """Return the sets of a search tree over at most 58 items, size by size, in lexicographic order."""
    from gnomon.loops.masks import mask_keys

    order = np.argsort(columns)
    return _of_keys(mask_keys(parents, np.argsort(order)[ranks], len(columns)), sizes, columns[order])


def _of_keys(keys: Array, counts: Array, columns: Array) -> list[Found]:
    from gnomon.loops.masks import LENGTH, masks_of, unfolded

    order = np.argsort(keys)
    keys = keys.take(order)
    number = np.bincount((keys >> np.uint64(LENGTH)).astype(np.int64))[1:]
    flat = unfolded(masks_of(keys), columns, int(number @ np.arange(1, len(number) + 1)))
    return cut_by_size(flat, counts.take(order), number)


def cut_by_size(flat: Array, counts: Array, number: Array) -> list[Found]:
    """Return sets that lie one after another, number[0] of one item, number[1] of two and so on."""
    found: list[Found] = []
    begin = low = 0
    for k, n in enumerate(number.tolist(), 1):
        if n:
            found.append(Found(flat[begin : begin + k * n].reshape(n, k), counts[low : low + n]))
        begin, low = begin + k * n, low + n
    return found


def sorted_sizes(parts: list[dict[int, Found]]) -> Iterator[Found]:
    """Yield the sets of several parts of a search, size by size, each in lexicographic order."""
    longest = max((max(part, default=0) for part in parts), default=0)

    def of_size(k: int) -> Found:
        mine = [part[k] for part in parts if k in part]
        return in_lexicographic_order(*(np.concatenate(column) for column in zip(*mine)))

    sizes = range(1, longest + 1)
    return in_order(of_size, sizes) if len(parts) > 1 else map(of_size, sizes)


def of_lengths(lengths: Any, members: Any, counts: Any, columns: Array) -> list[Found]:
    """Return sets of ranks that lie one after another, size by size and in lexicographic order."""
    from gnomon.loops.masks import LENGTH, list_keys

    if not len(lengths):
        return []
    if len(columns) <= LENGTH:
        order = np.argsort(columns)
        return _of_keys(list_keys(lengths, np.argsort(order)[members], len(columns)), counts, columns[order])
    found: list[Found] = []
    begins = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    for k in np.unique(lengths):
        chosen = np.flatnonzero(lengths == k)
        sets = columns[members[begins[chosen][:, None] + np.arange(k)]]
        found.append(in_lexicographic_order(np.sort(sets, axis=1), counts[chosen]))
    return found


def in_lexicographic_order(sets: Array, counts: Array) -> Found:
    """Return sets, each with ascending columns, in sorted order."""
    from gnomon.loops.setorder import pack, refine

    bits = max(1, int(sets.max(initial=0)).bit_length())
    words = np.empty((-(-sets.shape[1] // (64 // bits)), len(sets)), dtype=np.uint64)
    pack(sets, bits, words)
    order = np.argsort(words[0])
    for w in range(1, len(words)):
        refine(order, words[:w], words[w])
    return Found(sets.take(order, axis=0), counts.take(order))


def frame_of(found: Iterable[Found], baskets: Baskets | Table, named: bool, **attributes: Any) -> Any:
    """Return the sets as mlxtend's frame, with their counts; frozensets are made when they are looked at."""
    pd = import_pandas()

    from gnomon.association.columns import ItemsetArray, Pool

    names = np.empty(len(baskets.names), dtype=object)
    names[:] = baskets.names if named else range(len(names))
    parts = list(found)
    lengths = np.repeat([one.sets.shape[1] for one in parts], [len(one.sets) for one in parts])
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    codes = np.concatenate([np.zeros(0, dtype=np.int32), *(np.ravel(one.sets) for one in parts)])
    sets = ItemsetArray(Pool(starts, codes, names), np.arange(len(lengths)))
    count = np.concatenate([np.zeros(0, dtype=np.int64), *(one.counts for one in parts)]).astype(np.int64)
    frame = pd.DataFrame({0: count / max(1, baskets.n), 1: sets, 2: count}, copy=False)
    frame.columns = _columns().copy()  # a copy: the caller may name it
    frame.attrs.update({"n_baskets": baskets.n, **attributes})
    return frame


@lru_cache(maxsize=1)
def _columns() -> Any:
    """Return the names of the columns; making them takes as long as a small frame does."""
    return import_pandas().Index(["support", "itemsets", "count"])


def without_lineage(found: Iterable[Found], baskets: Baskets, hierarchy: Any) -> list[Found]:
    """Drop sets that hold an item together with what is above it: their support says nothing new."""
    above = ancestors_of(hierarchy)
    place = {name: code for code, name in enumerate(baskets.names)}
    pairs = np.zeros((len(place), len(place)), dtype=bool)
    for name, others in above.items():
        for other in others:
            if name in place and other in place:
                pairs[place[name], place[other]] = pairs[place[other], place[name]] = True
    kept = []
    for one in found:
        k = one.sets.shape[1]
        kin = np.zeros(len(one.sets), dtype=bool)
        for i in range(k):
            for j in range(i):
                kin |= pairs[one.sets[:, i], one.sets[:, j]]
        kept.append(Found(one.sets[~kin], one.counts[~kin]))
    return [one for one in kept if len(one.sets)]
