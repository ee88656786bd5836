"""How frequent sets are searched for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from gnomon.association.found import Found, by_mask, by_size, cut_by_size, of_lengths, sorted_sizes
from gnomon.association.ranks import Ranked
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.threads import in_order, shared

MAX_SETS = 10_000_000  # found sets, unless the caller says more
STRIDES = 16  # first items are dealt out to so many pieces of work
FEW_ENTRIES = 2**18  # of baskets; with no more of them
FEW_FIRST = 128  # frequent items to begin with, and
FEW_SETS = 2**14  # at most are looked for in one piece, without threads
FEW_ITEMS = 58  # frequent ones; a set of so many is one word
MOST_NODES = 0.05  # of a prefix tree per entry of the baskets; with more the tree is not worth its links
SHORT_ROWS = (
    2**11
)  # baskets; for no more than this a row of bits is soon looked through, and no tree is grown
FIRST_PART = 8  # of the baskets, one of so many, is tried first: its tree may have twice as many nodes
BLOCK_BYTES = 2**25  # of bits that Apriori counts in at a time
PIECE_SETS = 2**13  # that a thread joins at least
PIECE_WORDS = 2**19  # of bits that a thread looks through at least


# the four ways to search


def search_eclat(data: Ranked, longest: int, limit: int) -> Iterator[Found]:
    """Depth first: intersections of bit sets over the baskets that hold the first item."""
    from gnomon.loops.setsearch import WHOLE, frequent_sets, whole_rows

    if not len(data.columns):
        return iter(())
    table, whole = data.outline, data.bits
    if whole is None:
        table = data.table
        whole = whole_rows(table, int(np.searchsorted(data.sizes, data.n / WHOLE)))

    def piece(begin: int, step: int, most: int) -> Any:
        return frequent_sets(begin, step, table, whole, data.least, longest, most)

    return _gathered(piece, data, limit)


def search_fpgrowth(data: Ranked, longest: int, limit: int) -> Iterator[Found]:
    """A prefix tree, and the paths above the nodes of an item as bit sets with weights.

    Where baskets hardly ever begin alike, the paths are the baskets again; then they are searched as they are.
    """
    from gnomon.loops.fptree import fp_growth, nodes_by_item, prefix_tree

    if not len(data.columns):
        return iter(())
    if data.n <= SHORT_ROWS:
        return search_eclat(data, longest, limit)
    for part, most in ((FIRST_PART, 2 * MOST_NODES), (1, MOST_NODES)):
        starts = data.starts[: 1 + data.n // part]
        tree = prefix_tree(starts, data.items[: starts[-1]])
        if len(tree[0]) > 1 + most * starts[-1]:
            return search_eclat(data, longest, limit)
    starts, nodes = nodes_by_item(tree[0], np.argsort(-tree[2]), len(data.columns))

    def piece(begin: int, step: int, most: int) -> Any:
        return fp_growth(begin, step, tree, starts, nodes, data.sizes, data.least, longest, most)

    return _gathered(piece, data, limit)


def _pieces(
    piece: Callable[[int, int, int], Any], data: Ranked, limit: int, number: Callable[[Any], int]
) -> list[Any]:
    """Return what a search finds from every first item on: at once where that is little, else in pieces on threads.

    `piece(begin, step, most)` takes every step-th first item and ends early above `most` sets.
    """
    if data.n_entries <= FEW_ENTRIES and len(data.columns) <= FEW_FIRST:
        few = min(limit, FEW_SETS)
        part = piece(0, 1, few)
        if number(part) <= few:
            return [part]
    parts, total = [], 0
    strides = min(STRIDES, len(data.columns))
    for part in in_order(lambda begin: piece(begin, STRIDES, limit), range(strides)):
        total += number(part)
        check_limit(total, limit)
        parts.append(part)
    return parts


def _gathered(piece: Callable[[int, int, int], Any], data: Ranked, limit: int) -> Iterator[Found]:
    """Yield what pieces of the work find, size by size and in order."""
    few = len(data.columns) <= FEW_ITEMS

    def laid_out(begin: int, step: int, most: int) -> tuple[int, Any]:
        parents, added, sizes, n = piece(begin, step, most)
        if n > most:
            return n, None
        if few and step == 1:  # all of them
            return n, by_mask(parents, added, sizes, data.columns)
        return n, by_size(parents, data.columns[added], sizes)

    parts = [part for _, part in _pieces(laid_out, data, limit, lambda part: int(part[0]))]
    return iter(parts[0]) if isinstance(parts[0], list) else sorted_sizes(parts)


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
    if candidates == "prefix" and 0 < len(data.columns) <= FEW_ITEMS and data.n_entries <= FEW_ENTRIES:
        few = few_levels(data, longest, min(limit, FEW_SETS))
        if few is not None:
            return few
    columns = np.sort(data.columns)
    order = np.argsort(data.columns)  # sets are of columns here, so that their order is the caller's
    singles = np.arange(len(order), dtype=np.int32)[:, None]
    place = np.argsort(order).astype(np.int32)
    items = place[data.items] if len(data.items) else data.items
    count = counter(data.starts, items, len(singles))
    sizes = data.sizes[order]
    found = [Found(singles, sizes)] if len(singles) else []
    free = sizes < data.n
    levels = [Level(1, data.n_items, 0, data.n_items, len(singles))]
    total = len(singles)
    while found and len(found) < longest and len(found[-1].sets):
        if (
            candidates == "prefix" and len(found) == 1
        ):  # all pairs are candidates: none has to be written down
            generated = counted = math.comb(len(singles), 2)
            new = frequent_pairs(data, columns, limit)
            free = new.counts < np.minimum(*sizes[new.sets.T])
        elif candidates == "prefix":
            new, free, generated, counted = next_level(found[-1], free, data.least, total, limit, count)
        else:
            tried, generated = extended(found[-1].sets, singles[:, 0])
            counted = generated
            new = frequent(Found(tried, count(tried)), data.least)
        levels.append(Level(len(found) + 1, generated, generated - counted, counted, len(new.sets)))
        if not len(new.sets):
            break
        found.append(new)
        total += len(new.sets)
        check_limit(total, limit)
    return [Found(columns[one.sets], one.counts) for one in found], levels


def few_levels(data: Ranked, longest: int, limit: int) -> tuple[list[Found], list[Level]] | None:
    """Return the levels of a few items, with a word for each set; None when there are more sets than `limit`."""
    from gnomon.loops.masks import levels_of_masks, unfolded

    order = np.argsort(data.columns)
    masks, counts, figures, n = levels_of_masks(data.all_bits()[order], data.n, data.least, longest, limit)
    if n > limit:
        return None
    kept = np.concatenate([[len(order)], figures[1:, 2]])
    flat = unfolded(masks, data.columns[order], int(kept @ np.arange(1, len(kept) + 1)))
    levels = [Level(1, data.n_items, 0, data.n_items, len(order))]
    for size, (generated, counted, new) in enumerate(figures[1:].tolist(), 2):
        levels.append(Level(size, generated, generated - counted, counted, new))
    return cut_by_size(flat, counts, kept), levels


def frequent(tried: Found, least: int) -> Found:
    """Return the sets that are frequent."""
    enough = tried.counts >= least
    return Found(np.ascontiguousarray(tried.sets[enough]), tried.counts[enough])


def next_level(
    level: Found, free: Array, least: int, total: int, limit: int, count: Callable[[Array], Array]
) -> tuple[Found, Array, int, int]:
    """Return the frequent sets of one item more, which of them are free, and how many were generated and left to count.

    A set is free when no part of it is in as few baskets. Where a part of a candidate is not free, some item follows
    from others, and the candidate is in as many baskets as the rarest of its parts: it need not be counted (Bastide et
    al., 2000).
    """
    from gnomon.loops.levels import joined, prefix_edges, row_keys
    from gnomon.loops.rules import hash_table

    edges, keys = prefix_edges(level.sets), row_keys(level.sets)
    table = hash_table(keys)
    marks = np.searchsorted(edges, np.arange(0, len(keys), PIECE_SETS))
    ranges = list(zip(marks, [*(marks[1:] + 1), len(edges)]))

    def piece(part: tuple[int, int]) -> Any:
        return joined(edges[slice(*part)], level.sets, keys, table, level.counts, free, limit)

    parts = shared(piece, ranges) if len(ranges) > 1 else [piece(ranges[0])]
    tried, smallest, derived = (np.concatenate([part[c] for part in parts]) for c in range(3))
    generated = sum(part[3] for part in parts)
    check_limit(total + len(tried) if len(tried) > limit else total, limit)
    counts = smallest.copy()
    counts[~derived] = count(np.ascontiguousarray(tried[~derived]))
    enough = counts >= least
    new = Found(np.ascontiguousarray(tried[enough]), counts[enough])
    return new, (counts < smallest)[enough], generated, len(tried)


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


def counter(starts: Array, items: Array, p: int) -> Callable[[Array], Array]:
    """Return a function that counts in how many baskets sets are; bits of a block of baskets at a time."""
    from gnomon.loops.levels import count_sets, fill_bits

    n = len(starts) - 1
    words = max(1, min((n + 63) // 64, BLOCK_BYTES // (8 * max(1, p))))
    kept: list[Array] = []  # the bits of the only block

    def filled(first: int) -> Array:
        if kept:
            return kept[0]
        last = min(n, first + 64 * words)
        bits = np.zeros((p, (last - first + 63) // 64), dtype=np.uint64)
        fill_bits(starts, items, first, last, bits)
        if n <= 64 * words:
            kept.append(bits)
        return bits

    def count(sets: Array) -> Array:
        counts = np.zeros(len(sets), dtype=np.int64)
        each = max(-(-len(sets) // STRIDES), PIECE_WORDS // words)
        for first in range(0, n if len(sets) else 0, 64 * words):
            bits = filled(first)

            def share(begin: int, bits: Array = bits) -> None:
                count_sets(bits, sets[begin : begin + each], counts[begin : begin + each])

            if each < len(sets):
                shared(share, range(0, len(sets), each))
            else:
                share(0)
        return counts

    return count


def search_closed(data: Ranked, maximal: bool, limit: int) -> list[Found]:
    """Closed sets by prefix-preserving closure extension, or maximal sets by branches that look ahead."""
    from gnomon.loops.closedsets import closed_sets
    from gnomon.loops.maximalsets import maximal_sets
    from gnomon.loops.setsearch import WHOLE

    dense = maximal and data.least * WHOLE >= data.n and len(data.columns)
    whole = data.all_bits() if dense else np.zeros((0, 0), dtype=np.uint64)
    table = (data.outline if dense else data.table)[:4]

    def piece(begin: int, step: int, most: int) -> Any:
        if maximal:
            return maximal_sets(begin, step, *table, whole, data.least, most)
        return closed_sets(begin, step, *table, data.least, most)

    parts = _pieces(piece, data, limit, lambda part: len(part[0]))
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

    p, n = len(data.columns), data.n
    if p == 0 or _subsets(p, longest) <= limit:
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
