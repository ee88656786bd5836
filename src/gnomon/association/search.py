"""How frequent sets are searched for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from gnomon.association.baskets import Baskets
from gnomon.association.found import Found, by_size, of_lengths, sorted_sizes
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.threads import in_order

MAX_SETS = 10_000_000  # found sets, unless the caller says more
STRIDES = 16  # first items are dealt out to so many pieces of work
MOST_NODES = 0.5  # of a prefix tree per entry of the baskets; with more the tree is not worth its links
BLOCK_BYTES = 2**25  # of bits that Apriori counts in at a time


class Ranked(NamedTuple):
    """The frequent items of baskets, rarest first, and both ways to look at them."""

    starts: Array  # of baskets in `items`
    items: Array  # ranks, ascending in every basket
    basket_starts: Array  # of items in `baskets`
    baskets: Array
    entries: Array  # where in `items` the item of a basket stands
    columns: Array  # rank -> column
    least: int  # the count that is frequent
    n_items: int  # frequent or not

    @property
    def table(self) -> tuple[Array, ...]:
        """The arrays that the loops read."""
        return tuple(self[:5])


def least_count(n: int, min_support: Any, min_count: Any) -> int:
    """Return the smallest count that is frequent: ⌈N t⌉, decided so that 7 of 100 is 0.07."""
    if min_count is not None:
        if not isinstance(min_count, Integral) or isinstance(min_count, bool) or min_count < 1:
            raise DataError(f"min_count must be a positive integer; got {min_count!r}.")
        return int(min_count)
    if not isinstance(min_support, Real) or isinstance(min_support, bool) or not 0 < min_support <= 1:
        raise DataError(f"min_support must lie in (0, 1]; got {min_support!r}. Use min_count for counts.")
    return max(1, math.ceil(n * float(min_support) - 1e-9))


def ranked(baskets: Baskets, least: int) -> Ranked:
    """Return the frequent items from rarest to most frequent, ties by column."""
    from gnomon.loops.setorder import turned

    counts = np.bincount(baskets.items, minlength=len(baskets.names))
    frequent = np.flatnonzero(counts >= least)
    columns = frequent[np.argsort(counts[frequent], kind="stable")]
    rank = np.full(len(counts), -1, dtype=np.int32)
    rank[columns] = np.arange(len(columns))
    return Ranked(
        *turned(baskets.starts, baskets.items, len(columns), rank), columns, least, len(baskets.names)
    )


# the four ways to search


def search_eclat(data: Ranked, longest: int, limit: int) -> Iterator[Found]:
    """Depth first: intersections of bit sets over the baskets that hold the first item."""
    from gnomon.loops.setsearch import WHOLE, frequent_sets, whole_rows

    if not len(data.columns):
        return iter(())
    sizes = np.diff(data.basket_starts)
    whole = whole_rows(data.table, int(np.searchsorted(sizes, (len(data.starts) - 1) / WHOLE)))

    def piece(begin: int) -> Any:
        return frequent_sets(begin, STRIDES, data.table, whole, data.least, longest, limit)

    return _gathered(piece, data.columns, limit)


def search_fpgrowth(data: Ranked, longest: int, limit: int) -> Iterator[Found]:
    """A prefix tree, and the paths above the nodes of an item as bit sets with weights.

    Where baskets hardly ever begin alike, the paths are the baskets again; then they are searched as they are.
    """
    from gnomon.loops.fptree import fp_growth, nodes_by_item, prefix_tree

    if not len(data.columns):
        return iter(())
    tree = prefix_tree(data.starts, data.items)
    if len(tree[0]) > MOST_NODES * len(data.items):
        return search_eclat(data, longest, limit)
    starts, nodes = nodes_by_item(tree[0], len(data.columns))
    sizes = np.diff(data.basket_starts)

    def piece(begin: int) -> Any:
        return fp_growth(begin, STRIDES, tree, starts, nodes, sizes, data.least, longest, limit)

    return _gathered(piece, data.columns, limit)


def _gathered(piece: Callable[[int], Any], columns: Array, limit: int) -> Iterator[Found]:
    """Yield what pieces of the work find, size by size and in order."""

    def laid_out(begin: int) -> tuple[int, Any]:
        parents, added, sizes, n = piece(begin)
        return n, by_size(parents, columns[added], sizes) if n <= limit else None

    parts, total = [], 0
    for n, part in in_order(laid_out, range(min(STRIDES, len(columns)))):
        total += n
        check_limit(total, limit)
        parts.append(part)
    return sorted_sizes(parts)


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

    columns = np.sort(data.columns)
    order = np.argsort(data.columns)  # sets are of columns here, so that their order is the caller's
    singles = np.arange(len(order), dtype=np.int32)[:, None]
    place = np.argsort(order).astype(np.int32)
    items = place[data.items] if len(data.items) else data.items
    found = [Found(singles, np.diff(data.basket_starts)[order])] if len(singles) else []
    levels = [Level(1, data.n_items, 0, data.n_items, len(singles))]
    total = len(singles)
    while found and len(found) < longest and len(found[-1].sets):
        level = np.ascontiguousarray(found[-1].sets)
        if (
            candidates == "prefix" and len(found) == 1
        ):  # all pairs are candidates: none has to be written down
            generated = counted = math.comb(len(singles), 2)
            new = frequent_pairs(data, columns, limit)
        else:
            by_prefix = candidates == "prefix"
            tried, generated = joined(level, limit) if by_prefix else extended(level, singles[:, 0])
            check_limit(total + len(tried) if len(tried) > limit else total, limit)
            counts, counted = count_in_blocks(data.starts, items, len(singles), tried), len(tried)
            new = Found(tried[counts >= data.least], counts[counts >= data.least])
        levels.append(Level(len(found) + 1, generated, generated - counted, counted, len(new.sets)))
        if not len(new.sets):
            break
        found.append(new)
        total += len(new.sets)
        check_limit(total, limit)
    return [Found(columns[one.sets], one.counts) for one in found], levels


def frequent_pairs(data: Ranked, columns: Array, limit: int) -> Found:
    """Return the frequent sets of two items, as places in the sorted columns."""
    sizes = list(search_eclat(data, 2, limit))
    if len(sizes) < 2:
        return Found(np.zeros((0, 2), dtype=np.int32), np.zeros(0, dtype=np.int64))
    return Found(np.searchsorted(columns, sizes[1].sets).astype(np.int32), sizes[1].counts)


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
    each = -(-len(sets) // STRIDES)

    def share(first: int) -> Array:
        mine = np.zeros(min(each, len(sets) - first), dtype=np.int64)
        count_sets(bits, sets[first : first + each], mine)
        return mine

    for first in range(0, n, 64 * words):
        last = min(n, first + 64 * words)
        bits = np.zeros((p, (last - first + 63) // 64), dtype=np.uint64)
        fill_bits(starts, items, first, last, bits)
        counts += np.concatenate(list(in_order(share, range(0, len(sets), each))))
    return counts


def search_closed(data: Ranked, maximal: bool, limit: int) -> list[Found]:
    """Closed sets by prefix-preserving closure extension; of those the maximal, if asked for."""
    from gnomon.loops.closedsets import closed_sets

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
        check_limit(total, limit)
        parts.append(part)
    lengths, members, counts = (np.concatenate(column) for column in zip(*parts)) if parts else ([], [], [])
    return of_lengths(lengths, members, counts, data.columns)


# guards


def check_limit(total: int, limit: int) -> None:
    """Raise when there are more sets than the caller wants."""
    if total > limit:
        raise DataError(
            f"there are more than max_sets={limit:,} sets. Raise min_support, set max_len, or ask for "
            "fpmax or eclat(kind='closed'), which say the same in fewer sets."
        )


def check_size(data: Ranked, longest: int, limit: int) -> None:
    """Raise when a frequent set of L items is found at once whose subsets alone are too many."""
    from gnomon.loops.closedsets import greedy_length

    p, n = len(data.columns), len(data.starts) - 1
    if p == 0:
        return
    lengths = np.diff(data.starts)
    bound = min(p, int(np.partition(lengths, n - data.least)[n - data.least]))  # so many baskets hold as much
    if _subsets(bound, longest) <= limit:
        return
    sizes = [
        int(greedy_length(first, data.starts, data.items, data.basket_starts, data.baskets, data.least))
        for first in sorted({p - 1, p // 2, 0})
    ]
    L = max(sizes)
    subsets = _subsets(L, longest)
    if subsets > limit:
        many = f"{subsets:,}" if subsets < 10**15 else f"2^{L} or so"
        raise DataError(
            f"a frequent set of {L} items has {many} subsets, all frequent, more than max_sets={limit:,}. "
            "Raise min_support, set max_len, or ask for fpmax or eclat(kind='closed')."
        )


def _subsets(L: int, longest: int) -> int:
    """Return how many subsets of at most so many items a set of L items has; 2^64 for all that is beyond reading."""
    most = min(L, longest)
    return sum(math.comb(L, k) for k in range(1, most + 1)) if most < 64 else 2**64
