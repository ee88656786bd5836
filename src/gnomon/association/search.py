"""How frequent sets are searched for, and put in order."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.association.baskets import Baskets, ancestors_of
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.threads import in_order

MAX_SETS = 10_000_000  # found sets, unless the caller says more
STRIDES = 16  # first items are dealt out to so many pieces of work
BLOCK_BYTES = 2**25  # of bits that Apriori counts in at a time


class Ranked(NamedTuple):
    """The frequent items of baskets, rarest first, and both ways to look at them."""

    starts: Array  # of baskets in `items`
    items: Array  # ranks, ascending in every basket
    basket_starts: Array  # of items in `baskets`
    baskets: Array
    columns: Array  # rank -> column
    least: int  # the count that is frequent
    n_items: int  # frequent or not


class Found(NamedTuple):
    """Sets of one size and their counts."""

    sets: Array  # (n, k) columns, ascending in a row; rows in lexicographic order
    counts: Array


def least_count(n: int, min_support: Any, min_count: Any) -> int:
    """Return the smallest count that is frequent: ⌈N t⌉, decided so that 7 of 100 is 0.07."""
    if min_count is not None:
        if not isinstance(min_count, Integral) or min_count < 1:
            raise DataError(f"min_count must be a positive integer; got {min_count!r}.")
        return int(min_count)
    if not isinstance(min_support, Real) or not 0 < min_support <= 1:
        raise DataError(f"min_support must lie in (0, 1]; got {min_support!r}. Use min_count for counts.")
    return max(1, math.ceil(n * float(min_support) - 1e-9))


def ranked(baskets: Baskets, least: int) -> Ranked:
    """Return the frequent items from rarest to most frequent, ties by column."""
    counts = np.bincount(baskets.items, minlength=len(baskets.names))
    frequent = np.flatnonzero(counts >= least)
    columns = frequent[np.argsort(counts[frequent], kind="stable")]
    rank = np.full(len(counts), -1, dtype=np.int32)
    rank[columns] = np.arange(len(columns))
    codes = rank[baskets.items] if len(baskets.items) else np.zeros(0, dtype=np.int32)
    rows = np.repeat(np.arange(baskets.n), np.diff(baskets.starts))[codes >= 0]
    codes = codes[codes >= 0]
    table = sparse.csr_array(
        (np.ones(len(codes), dtype=np.int8), (rows, codes)), shape=(baskets.n, len(columns))
    )
    table.sort_indices()
    turned = table.tocsc()
    return Ranked(
        table.indptr.astype(np.int64),
        table.indices.astype(np.int32),
        turned.indptr.astype(np.int64),
        turned.indices.astype(np.int32),
        columns,
        least,
        len(baskets.names),
    )


# the four ways to search


def search_eclat(data: Ranked, longest: int, limit: int) -> list[Found]:
    """Depth first: intersections of bit sets over the baskets that hold the first item."""
    from gnomon.loops.itemsets import frequent_sets

    def piece(begin: int) -> Any:
        return frequent_sets(
            begin,
            STRIDES,
            data.starts,
            data.items,
            data.basket_starts,
            data.baskets,
            data.least,
            longest,
            limit,
        )

    parts, total = [], 0
    for part in in_order(piece, range(min(STRIDES, len(data.columns)))):
        total += len(part[0])
        _check_limit(total, limit)
        parts.append(part)
    return by_size(parts, data.columns)


def search_fpgrowth(data: Ranked, longest: int, limit: int) -> list[Found]:
    """Prefix trees, and trees of the baskets that hold an item."""
    from gnomon.loops.fptree import fp_growth

    found = fp_growth(data.starts, data.items, len(data.columns), data.least, longest, limit)
    _check_limit(len(found[0]), limit)
    return by_size([found], data.columns)


class Level(NamedTuple):
    """What Apriori did at one size."""

    size: int
    generated: int
    pruned: int
    counted: int
    kept: int


def search_apriori(
    data: Ranked, longest: int, limit: int, candidates: str
) -> tuple[list[Found], list[Level]]:
    """Level by level: candidates from the sets of the level below, counted in one look at the baskets."""
    from gnomon.loops.levels import joined

    order = np.argsort(data.columns)  # sets are of columns here, so that their order is the caller's
    singles = np.arange(len(order), dtype=np.int32)[:, None]
    counts = np.diff(data.basket_starts)[order]
    place = np.argsort(order).astype(np.int32)
    items = place[data.items] if len(data.items) else data.items
    found = [Found(singles, counts)] if len(singles) else []
    levels = [Level(1, data.n_items, 0, data.n_items, len(singles))]
    total = len(singles)
    while found and len(found) < longest and len(found[-1].sets):
        level = np.ascontiguousarray(found[-1].sets)
        if candidates == "prefix":
            tried, generated = joined(level, limit)
        else:
            tried, generated = extended(level, singles[:, 0])
        _check_limit(total + len(tried) if len(tried) > limit else total, limit)
        counted = count_in_blocks(data.starts, items, len(singles), tried)
        keep = counted >= data.least
        levels.append(Level(len(found) + 1, generated, generated - len(tried), len(tried), int(keep.sum())))
        if not keep.any():
            break
        found.append(Found(tried[keep], counted[keep]))
        total += int(keep.sum())
        _check_limit(total, limit)
    columns = np.sort(data.columns)
    return [Found(columns[one.sets], one.counts) for one in found], levels


def extended(level: Array, singles: Array) -> tuple[Array, int]:
    """Every set of the level with every frequent item that it lacks, each once."""
    n, k = level.shape
    sets = np.repeat(level, len(singles), axis=0)
    new = np.tile(singles, n)
    fresh = ~(sets == new[:, None]).any(axis=1)
    made = np.sort(np.column_stack([sets[fresh], new[fresh]]), axis=1)
    made = np.unique(made, axis=0) if len(made) else made.reshape(0, k + 1)
    return np.ascontiguousarray(made), len(made)


def count_in_blocks(starts: Array, items: Array, p: int, sets: Array) -> Array:
    """Return in how many baskets each set is; bits of a block of baskets at a time."""
    from gnomon.loops.levels import count_sets, fill_bits

    counts = np.zeros(len(sets), dtype=np.int64)
    n = len(starts) - 1
    if not len(sets):
        return counts
    words = max(1, min((n + 63) // 64, BLOCK_BYTES // (8 * max(1, p))))

    def block(first: int) -> Array:
        last = min(n, first + 64 * words)
        bits = np.zeros((p, (last - first + 63) // 64), dtype=np.uint64)
        fill_bits(starts, items, first, last, bits)
        mine = np.zeros(len(sets), dtype=np.int64)
        count_sets(bits, sets, mine)
        return mine

    for part in in_order(block, range(0, n, 64 * words)):
        counts += part
    return counts


def search_closed(data: Ranked, maximal: bool, limit: int) -> list[Found]:
    """Closed sets by prefix-preserving closure extension; of those the maximal, if asked for."""
    from gnomon.loops.itemsets import closed_sets

    def piece(begin: int) -> Any:
        return closed_sets(
            begin,
            STRIDES,
            data.starts,
            data.items,
            data.basket_starts,
            data.baskets,
            data.least,
            maximal,
            limit,
        )

    parts, total = [], 0
    for part in in_order(piece, range(min(STRIDES, len(data.columns)))):
        total += len(part[0])
        _check_limit(total, limit)
        parts.append(part)
    lengths, members, counts = (np.concatenate(column) for column in zip(*parts)) if parts else ([], [], [])
    return _sizes_of(lengths, members, counts, data.columns)


def _sizes_of(lengths: Any, members: Any, counts: Any, columns: Array) -> list[Found]:
    found = []
    if not len(lengths):
        return found
    begins = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    for k in np.unique(lengths):
        chosen = np.flatnonzero(lengths == k)
        sets = columns[members[begins[chosen][:, None] + np.arange(k)]]
        found.append(in_lexicographic_order(sets, counts[chosen]))
    return found


# the answer


def by_size(parts: list[Any], columns: Array) -> list[Found]:
    """Return the sets of a search tree, size by size."""
    found: list[Found] = []
    if not parts:
        return found
    offset, pieces = 0, []
    for parents, added, counts in parts:
        pieces.append((np.where(parents < 0, -1, parents + offset), added, counts))
        offset += len(parents)
    parents, added, counts = (np.concatenate(column) for column in zip(*pieces))
    items = columns[added].astype(np.int32)
    nodes = np.flatnonzero(parents < 0)
    sets = items[nodes][:, None]
    place = np.full(len(parents), -1, dtype=np.int64)
    while len(nodes):
        found.append(in_lexicographic_order(sets, counts[nodes]))
        place[nodes] = np.arange(len(nodes))
        waiting = np.flatnonzero(parents >= 0)
        below = waiting[place[parents[waiting]] >= 0]
        above = sets[place[parents[below]]]
        parents[below] = -1
        place[nodes] = -1
        nodes, sets = below, np.column_stack([above, items[below]])
    return found


def in_lexicographic_order(sets: Array, counts: Array) -> Found:
    """Return the sets with sorted rows in sorted order."""
    sets = np.sort(sets, axis=1)
    order = np.lexsort(sets.T[::-1])
    return Found(sets[order], counts[order])


def _check_limit(total: int, limit: int) -> None:
    if total > limit:
        raise DataError(
            f"there are more than max_sets={limit:,} sets. Raise min_support, set max_len, or ask for "
            "fpmax or eclat(kind='closed'), which say the same in fewer sets."
        )


def check_size(data: Ranked, longest: int, limit: int) -> None:
    """Raise when a frequent set of L items is found at once whose subsets alone are too many."""
    from gnomon.loops.itemsets import greedy_length

    p = len(data.columns)
    if p == 0:
        return
    sizes = [
        int(greedy_length(first, data.starts, data.items, data.basket_starts, data.baskets, data.least))
        for first in sorted({p - 1, p // 2, 0})
    ]
    L = max(sizes)
    subsets = sum(math.comb(L, k) for k in range(1, min(L, longest) + 1)) if min(L, longest) < 64 else 2**64
    if subsets > limit:
        many = f"{subsets:,}" if subsets < 10**15 else f"2^{L} or so"
        raise DataError(
            f"a frequent set of {L} items has {many} subsets, all frequent, more than max_sets={limit:,}. "
            "Raise min_support, set max_len, or ask for fpmax or eclat(kind='closed')."
        )


def frame_of(found: list[Found], baskets: Baskets, named: bool, **attributes: Any) -> Any:
    """Return the sets as mlxtend's frame, with their counts."""
    import pandas as pd

    sets: list[frozenset[Any]] = []
    for one in found:
        rows = one.sets.tolist()
        if named:
            name = baskets.names.__getitem__
            sets.extend(frozenset(map(name, row)) for row in rows)
        else:
            sets.extend(map(frozenset, rows))
    counts = np.concatenate([one.counts for one in found]) if found else np.zeros(0, dtype=np.int64)
    column = np.empty(len(sets), dtype=object)
    column[:] = sets
    frame = pd.DataFrame(
        {"support": counts / max(1, baskets.n), "itemsets": column, "count": counts.astype(np.int64)}
    )
    frame.attrs.update({"n_baskets": baskets.n, **attributes})
    return frame


def without_lineage(found: list[Found], baskets: Baskets, hierarchy: Any) -> list[Found]:
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
