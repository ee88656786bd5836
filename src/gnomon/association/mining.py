"""Frequent sets of items: Apriori, FP-growth and Eclat; closed and maximal sets."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gnomon.association.baskets import Baskets, ancestors_of, baskets_of
from gnomon.core.errors import DataError
from gnomon.core.linalg import Array
from gnomon.core.threads import in_order, threads

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
            "fpmax or closed_itemsets, which say the same in fewer sets."
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
            "Raise min_support, set max_len, or ask for fpmax or closed_itemsets."
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


def _mine(
    df: Any,
    min_support: Any,
    use_colnames: Any,
    max_len: Any,
    min_count: Any,
    hierarchy: Any,
    max_sets: Any,
    search: Callable[..., Any],
    *,
    guard: bool = True,
) -> Any:
    """Read, search, and return the frame: what all of the functions below have in common."""
    if max_len is not None and (not isinstance(max_len, Integral) or max_len < 1):
        raise DataError(f"max_len must be a positive integer or None; got {max_len!r}.")
    baskets = baskets_of(df, hierarchy=hierarchy)
    least = least_count(baskets.n, min_support, min_count)
    data = ranked(baskets, least)
    longest = int(max_len) if max_len is not None else 2**31
    limit = MAX_SETS if max_sets is None else int(max_sets)
    if guard:
        check_size(data, longest, limit)
    found = search(data, longest, limit)
    attributes: dict[str, Any] = {"min_count": least}
    if isinstance(found, tuple):
        found, levels = found
        attributes["levels"] = [level._asdict() for level in levels]
    if hierarchy:
        found = without_lineage(found, baskets, hierarchy)
        attributes["hierarchy"] = dict(hierarchy)
    named = bool(use_colnames) or (baskets.named and not hasattr(df, "columns"))
    return frame_of(found, baskets, named, **attributes)


def apriori(
    df: Any,
    min_support: float = 0.5,
    use_colnames: bool = False,
    max_len: int | None = None,
    verbose: int = 0,
    low_memory: bool = False,
    n_jobs: int | None = None,
    *,
    min_count: int | None = None,
    candidates: str = "prefix",
    hierarchy: Any = None,
    max_sets: int | None = None,
) -> Any:
    r"""Find all frequent sets of items, level by level (Agrawal and Srikant, 1994).

    A set K is frequent when at least a share t of the N baskets hold all of it,

    .. math:: \#\{n : K \subseteq X_n\} \ge \lceil N t \rceil .

    A part of a frequent set is frequent, so candidates of k items are unions of two frequent (k − 1)-sets that
    share all but their last item, and those with an infrequent part are never counted. Counting goes through
    bit sets, 64 baskets a word. `eclat` and `fpgrowth` find the same sets, usually sooner; this one tells what
    it did at every level. Where there are long frequent sets the answer itself is huge: see `estimate_work`,
    and
    `fpmax` and `closed_itemsets`, which say the same in fewer sets.

    Parameters
    ----------
    df : DataFrame of booleans, array, sparse matrix, list of lists, or path
        The baskets. Lists of items need no encoding. Sparse tables stay sparse.
    min_support : float in (0, 1]
        Share of the baskets; the boundary counts as frequent, and is decided in integers.
    use_colnames : bool
        Whether sets hold column names rather than numbers; items of lists are always names.
    max_len : int, optional
        Items in a set at most.
    verbose, low_memory
        Kept for mlxtend; nothing is printed, and memory is always small.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    min_count : int, optional
        The threshold as a count, instead of `min_support`.
    candidates : {"prefix", "basic"}
        "basic": the textbook's extension of every frequent set by every frequent item, without pruning.
    hierarchy : dict, optional
        Item -> its parent, or a list of parents. Baskets then also hold what is above their items; sets of an
        item and what is above it are left out.
    max_sets : int, optional
        An error when there are more sets than this (10 million); tells so at once where it can.

    Returns
    -------
    DataFrame
        Columns ``support``, ``itemsets`` (frozensets) and ``count``, by size and then in order of the columns.
        ``frame.attrs["levels"]`` says what was generated, pruned, counted and kept at each size.

    Examples
    --------
    >>> baskets = [["bread", "milk"], ["bread", "beer"], ["bread", "milk", "beer"], ["milk"]]
    >>> found = apriori(baskets, min_support=0.5)
    >>> [(sorted(items), count) for items, count in zip(found.itemsets, found["count"])]
    [(['beer'], 2), (['bread'], 3), (['milk'], 3), (['beer', 'bread'], 2), (['bread', 'milk'], 2)]
    """
    if candidates not in ("prefix", "basic"):
        raise DataError(f"candidates must be 'prefix' or 'basic'; got {candidates!r}.")

    def search(data: Ranked, longest: int, limit: int) -> Any:
        return search_apriori(data, longest, limit, candidates)

    with _jobs(n_jobs):
        return _mine(df, min_support, use_colnames, max_len, min_count, hierarchy, max_sets, search)


def _jobs(n_jobs: int | None) -> Any:
    return threads(n_jobs) if isinstance(n_jobs, int) and n_jobs > 0 else nullcontext()


def eclat(
    df: Any,
    min_support: float = 0.5,
    use_colnames: bool = False,
    max_len: int | None = None,
    *,
    min_count: int | None = None,
    hierarchy: Any = None,
    max_sets: int | None = None,
) -> Any:
    """Find all frequent sets of items, depth first (Zaki, 2000).

    For every item, from the rarest on, the baskets that hold it are cut out and written as bit sets; longer
    sets
    are intersections. Memory is that of the baskets, one such cut and the answer. The fastest of the three.

    Parameters
    ----------
    df, min_support, use_colnames, max_len, min_count, hierarchy, max_sets
        As in `apriori`.

    Returns
    -------
    DataFrame
        As `apriori` returns.

    Examples
    --------
    >>> eclat([["bread", "milk"], ["bread"], ["milk", "bread"]], min_count=2)["count"].tolist()
    [3, 2, 2]
    """
    return _mine(df, min_support, use_colnames, max_len, min_count, hierarchy, max_sets, search_eclat)


def fpgrowth(
    df: Any,
    min_support: float = 0.5,
    null_values: bool = False,
    use_colnames: bool = False,
    max_len: int | None = None,
    verbose: int = 0,
    *,
    min_count: int | None = None,
    hierarchy: Any = None,
    max_sets: int | None = None,
) -> Any:
    """Find all frequent sets of items by prefix trees (Han, Pei and Yin, 2000).

    The baskets, their items from most to least frequent, share their beginnings in a tree; the baskets that
    hold an item are a smaller tree, and so on; a tree that is one path gives all its subsets at once. Good when
    many baskets are alike.

    Parameters
    ----------
    df, min_support, use_colnames, max_len, min_count, hierarchy, max_sets
        As in `apriori`.
    null_values : bool
        Whether NaN cells are unknown: a basket with an unknown cell in a set leaves that set's count and its
        denominator, as in mlxtend. Only sets that could be frequent with every unknown cell set are looked at.
    verbose : int
        Kept for mlxtend; nothing is printed.

    Returns
    -------
    DataFrame
        As `apriori` returns.

    Examples
    --------
    >>> fpgrowth([["bread", "milk"], ["bread"], ["milk", "bread"]], min_support=0.6).itemsets.map(
    ...     sorted
    ... ).tolist()
    [['bread'], ['milk'], ['bread', 'milk']]
    """
    if null_values:
        from gnomon.association.unknown import mine_with_unknown

        return mine_with_unknown(df, min_support, use_colnames, max_len)
    return _mine(df, min_support, use_colnames, max_len, min_count, hierarchy, max_sets, search_fpgrowth)


def closed_itemsets(
    df: Any,
    min_support: float = 0.5,
    use_colnames: bool = False,
    *,
    min_count: int | None = None,
    max_sets: int | None = None,
) -> Any:
    """Find the closed frequent sets: those that no further item can join without losing a basket.

    They determine all frequent sets and their counts: the count of a set is the largest count of a closed set
    around
    it. Each is found once, by prefix-preserving closure extension (Uno, Asai, Uchida and Arimura, 2004), in
    time
    that grows with their number rather than with that of all frequent sets.

    Parameters
    ----------
    df, min_support, use_colnames, min_count, max_sets
        As in `apriori`.

    Returns
    -------
    DataFrame
        As `apriori` returns.

    Examples
    --------
    >>> closed_itemsets([["bread", "milk"], ["bread"], ["milk", "bread"]], min_count=2).itemsets.map(
    ...     sorted
    ... ).tolist()
    [['bread'], ['bread', 'milk']]
    """

    def search(data: Ranked, longest: int, limit: int) -> list[Found]:
        return search_closed(data, False, limit)

    return _mine(df, min_support, use_colnames, None, min_count, None, max_sets, search, guard=False)


def fpmax(
    df: Any,
    min_support: float = 0.5,
    null_values: bool = False,
    use_colnames: bool = False,
    max_len: int | None = None,
    verbose: int = 0,
    *,
    min_count: int | None = None,
    max_sets: int | None = None,
) -> Any:
    """Find the maximal frequent sets: those that are part of no other frequent set.

    Their subsets are all frequent sets there are, without their counts.

    Parameters
    ----------
    df, min_support, use_colnames, min_count, max_sets
        As in `apriori`.
    null_values : bool
        Must be False: with unknown cells a part of a frequent set need not be frequent.
    max_len : int, optional
        Maximal sets of more items are left out, as in mlxtend.
    verbose : int
        Kept for mlxtend; nothing is printed.

    Returns
    -------
    DataFrame
        As `apriori` returns.

    Examples
    --------
    >>> fpmax([["bread", "milk"], ["bread"], ["milk", "bread"]], min_count=2).itemsets.map(sorted).tolist()
    [['bread', 'milk']]
    """
    if null_values:
        raise DataError("fpmax cannot take null_values=True; fill the unknown cells, or use fpgrowth.")

    def search(data: Ranked, longest: int, limit: int) -> list[Found]:
        return [one for one in search_closed(data, True, limit) if one.sets.shape[1] <= longest]

    return _mine(df, min_support, use_colnames, max_len, min_count, None, max_sets, search, guard=False)
